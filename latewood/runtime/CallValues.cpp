// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that a call makes of its caller's values; what is wrong is said with the number of the argument or result.

#include "latewood/runtime/CallValues.h"

#include "latewood/runtime/ResultMaker.h"

namespace latewood::runtime {

Status checkArguments(const FunctionState &function, std::span<Value *const> arguments) {
  size_t count = function.argumentPlans.size();
  if (arguments.size() != count) [[unlikely]]
    return invalidArgument("function '" + function.signature.name + "' expects " + std::to_string(count) +
                           " arguments, got " + std::to_string(arguments.size()));
  for (size_t i = 0; i < count; ++i) {
    const ValuePlan &plan = function.argumentPlans[i];
    Value *value = arguments[i];
    if (MemRefValue *memref = asMemRef(value); memref && plan.matches(*memref)) [[likely]] {
      if (!plan.hasValueBounds) [[likely]]
        continue;
      // What a call on a stream is still going to write cannot be looked at before.
      if (Status status = memref->waitUntilReady(); !status.isOk())
        return std::move(status).withContext("function '" + function.signature.name + "', argument " +
                                             std::to_string(i));
      if (plan.areValuesInBounds(memref->data()))
        continue;
      return explainValues(plan, memref->data())
          .withContext("function '" + function.signature.name + "', argument " + std::to_string(i));
    }
    if (ScalarValue *scalar = asScalar(value); scalar && plan.rank == 0 && scalar->elementType() == plan.type) {
      if (!plan.hasValueBounds || plan.areValuesInBounds(scalar->data()))
        continue;
      return explainValues(plan, scalar->data())
          .withContext("function '" + function.signature.name + "', argument " + std::to_string(i));
    }
    return explainMismatch(plan, value, /*takesScalars=*/true)
        .withContext("function '" + function.signature.name + "', argument " + std::to_string(i));
  }
  return okStatus();
}

Status checkResults(const FunctionState &function, std::span<Ref<Value>> results) {
  const std::vector<ValuePlan> &plans = function.slots.plans();
  if (results.size() != plans.size()) [[unlikely]]
    return invalidArgument("function '" + function.signature.name + "' has " + std::to_string(plans.size()) +
                           " results, got places for " + std::to_string(results.size()));
  for (size_t i = 0; i < plans.size(); ++i) {
    Value *value = results[i].get();
    if (!value)
      continue;
    MemRefValue *memref = asMemRef(value);
    Status status;
    if (!memref || !plans[i].matches(*memref)) [[unlikely]]
      status = explainMismatch(plans[i], value, /*takesScalars=*/false);
    else if (memref->isReadOnly()) [[unlikely]]
      status = invalidArgument("the memref to write is read-only");
    if (!status.isOk()) [[unlikely]]
      return std::move(status).withContext("function '" + function.signature.name + "', result " + std::to_string(i));
  }
  return okStatus();
}

Status waitForValues(const FunctionState &function, std::span<Value *const> arguments, std::span<Ref<Value>> results) {
  for (size_t i = 0; i < arguments.size(); ++i)
    if (MemRefValue *memref = asMemRef(arguments[i]); memref && !memref->isReady()) [[unlikely]]
      if (Status status = memref->waitUntilReady(); !status.isOk())
        return std::move(status).withContext("function '" + function.signature.name + "', argument " +
                                             std::to_string(i));
  for (Ref<Value> &result : results)
    // What an earlier call made of a buffer that is written anew does not matter.
    if (MemRefValue *memref = asMemRef(result.get()); memref && !memref->isReady()) [[unlikely]]
      if (!memref->waitUntilReady().isOk())
        memref->storage()->setWriter(nullptr);
  return okStatus();
}

Status DonationScope::take() {
  taken.reserve(function.donations.size());
  filled.reserve(function.donations.size());
  for (const FunctionState::Donation &donation : function.donations)
    if (Status status = take(donation); !status.isOk())
      return std::move(status).withContext("function '" + function.signature.name + "', argument " +
                                           std::to_string(donation.argument));
  return okStatus();
}

void DonationScope::giveBack() {
  for (MemRefValue *value : taken)
    value->undoDonation();
  for (uint32_t result : filled)
    results[result].reset();
}

Status DonationScope::take(const FunctionState::Donation &donation) {
  MemRefValue *value = asMemRef(arguments[donation.argument]);
  if (!value || value->storage()->isView())
    return okStatus();
  auto begin = static_cast<uint8_t *>(value->data()), end = begin + value->sizeInBytes();
  for (size_t i = 0; i < arguments.size(); ++i) {
    MemRefValue *other = asMemRef(arguments[i]);
    if (i == donation.argument || !other)
      continue;
    auto otherBegin = static_cast<uint8_t *>(other->data());
    if (other == value || (begin < otherBegin + other->sizeInBytes() && otherBegin < end))
      return invalidArgument("the argument is donated, and argument " + std::to_string(i) + " shares its memory");
  }
  const ValuePlan &plan = function.slots.plans()[donation.result];
  Ref<Value> &result = results[donation.result];
  // The value itself holds one reference to its storage.
  bool isMoved = donation.isInPlace && value->storage()->referenceCount() == 1 && !result && plan.isStatic &&
                 plan.bytes == value->sizeInBytes() && value->offsetInBytes() == 0;
  Ref<Value> moved;
  if (isMoved)
    moved = ResultMaker::make(value->storage(), plan.type, plan.shape, plan.rank);
  if (!value->donate())
    return value->waitUntilReady();
  if (isMoved) {
    result = std::move(moved);
    filled.push_back(donation.result);
    // It may be overwritten from now on: it is gone whatever becomes of the call.
  } else {
    taken.push_back(value);
  }
  return okStatus();
}

} // namespace latewood::runtime
