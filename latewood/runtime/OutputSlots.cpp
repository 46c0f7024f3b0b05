// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The life of a slot: begin (what did the caller give, what may be written in place), request, shape, and at the end
// finish (copies, results) or abandon.

#include "latewood/runtime/OutputSlots.h"

#include "latewood/runtime/ResultMaker.h"
#include "latewood/runtime/TraceEvents.h"

#include <algorithm>
#include <cstring>

namespace latewood::runtime {

OutputSlots::OutputSlots(const FunctionSignature &signature, ResultPool &pool) : signature(signature), pool(pool) {
  slots.resize(signature.results.size());
  givenResults.reserve(slots.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    resultPlans.emplace_back(signature.results[i]);
    slots[i].firstExtent = extents.size();
    extents.insert(extents.end(), signature.results[i].shape.begin(), signature.results[i].shape.end());
  }
}

void OutputSlots::begin(const void *const *arguments, const int64_t *argumentBytes, size_t argumentCount,
                        std::span<const Ref<Value>> given) {
  givenResults.clear();
  for (size_t i = 0; i < slots.size(); ++i) {
    Slot &slot = slots[i];
    slot.given = static_cast<MemRefValue *>(given[i].get());
    slot.memory = nullptr;
    slot.block = nullptr;
    slot.isStaged = false;
    slot.hasShape = resultPlans[i].isStatic;
    if (slot.given && slot.given->elementCount() != 0)
      givenResults.push_back(static_cast<uint32_t>(i));
  }
  if (!givenResults.empty())
    markOverlaps(arguments, argumentBytes, argumentCount);
}

bool OutputSlots::mayBeSameAddress(size_t argument, size_t result) const {
  return std::any_of(signature.aliases.begin(), signature.aliases.end(), [&](const AliasSignature &alias) {
    return alias.kind == AliasSignature::Kind::sameAddress && alias.argument == argument && alias.result == result;
  });
}

bool OutputSlots::overlapsArgument(size_t result, const void *const *arguments, const int64_t *argumentBytes,
                                   size_t argumentCount) const {
  auto begin = reinterpret_cast<uintptr_t>(slots[result].given->data());
  int64_t bytes = slots[result].given->sizeInBytes();
  uintptr_t end = begin + static_cast<uintptr_t>(bytes);
  for (size_t a = 0; a < argumentCount; ++a) {
    auto argumentBegin = reinterpret_cast<uintptr_t>(arguments[a]);
    if (begin >= argumentBegin + static_cast<uintptr_t>(argumentBytes[a]) || argumentBegin >= end)
      continue;
    if (argumentBegin != begin || argumentBytes[a] != bytes || !mayBeSameAddress(a, result))
      return true;
  }
  return false;
}

void OutputSlots::markOverlaps(const void *const *arguments, const int64_t *argumentBytes, size_t argumentCount) {
  // Few values: every pair. Many: sort by address, and look closely only at results that touch a neighbour.
  constexpr size_t fewPairs = 2048;
  if (givenResults.size() * (argumentCount + givenResults.size()) <= fewPairs) {
    for (size_t k = 0; k < givenResults.size(); ++k) {
      Slot &slot = slots[givenResults[k]];
      if (overlapsArgument(givenResults[k], arguments, argumentBytes, argumentCount))
        slot.isStaged = true;
      auto begin = reinterpret_cast<uintptr_t>(slot.given->data());
      uintptr_t end = begin + static_cast<uintptr_t>(slot.given->sizeInBytes());
      for (size_t m = 0; m < k; ++m) {
        Slot &other = slots[givenResults[m]];
        auto otherBegin = reinterpret_cast<uintptr_t>(other.given->data());
        if (begin < otherBegin + static_cast<uintptr_t>(other.given->sizeInBytes()) && otherBegin < end)
          slot.isStaged = other.isStaged = true;
      }
    }
    return;
  }

  struct Region {
    uintptr_t begin, end;
    int64_t result;
  };
  std::vector<Region> regions;
  regions.reserve(argumentCount + givenResults.size());
  for (size_t a = 0; a < argumentCount; ++a)
    if (argumentBytes[a] != 0) {
      auto begin = reinterpret_cast<uintptr_t>(arguments[a]);
      regions.push_back({begin, begin + static_cast<uintptr_t>(argumentBytes[a]), -1});
    }
  for (uint32_t result : givenResults) {
    auto begin = reinterpret_cast<uintptr_t>(slots[result].given->data());
    regions.push_back({begin, begin + static_cast<uintptr_t>(slots[result].given->sizeInBytes()), result});
  }
  std::sort(regions.begin(), regions.end(), [](const Region &a, const Region &b) { return a.begin < b.begin; });
  // In this order a region overlaps an earlier one if it begins before the furthest end so far, and a later one if its
  // successor begins before its own end.
  uintptr_t argumentEnd = 0, resultEnd = 0;
  for (size_t k = 0; k < regions.size(); ++k) {
    Region &region = regions[k];
    if (region.result >= 0) {
      bool touchesArgument = region.begin < argumentEnd, touchesResult = region.begin < resultEnd;
      for (size_t m = k + 1; m < regions.size() && regions[m].begin < region.end; ++m)
        (regions[m].result < 0 ? touchesArgument : touchesResult) = true;
      auto result = static_cast<size_t>(region.result);
      slots[result].isStaged =
          touchesResult || (touchesArgument && overlapsArgument(result, arguments, argumentBytes, argumentCount));
    }
    uintptr_t &furthest = region.result < 0 ? argumentEnd : resultEnd;
    furthest = std::max(furthest, region.end);
  }
}

Status OutputSlots::named(size_t result, Status status) const {
  return std::move(status).withContext("function '" + signature.name + "', result " + std::to_string(result));
}

void *OutputSlots::request(int64_t result, int64_t bytes, int64_t alignment, const int64_t *shape, Status &failure) {
  if (result < 0 || static_cast<size_t>(result) >= slots.size()) {
    failure = internalError("function '" + signature.name + "' requested " + std::to_string(bytes) +
                            " bytes for result " + std::to_string(result) + " of " + std::to_string(slots.size()));
    return nullptr;
  }
  auto index = static_cast<size_t>(result);
  Slot &slot = slots[index];
  const ValuePlan &plan = resultPlans[index];
  if (plan.isStatic) {
    if (bytes < plan.bytes) {
      failure = named(
          index, internalError("requested " + std::to_string(bytes) + " of " + std::to_string(plan.bytes) + " bytes"));
      return nullptr;
    }
  } else if (shape && !setShape(result, shape, failure)) {
    return nullptr;
  }
  if (bytes < 0) {
    failure = named(index, internalError("requested " + std::to_string(bytes) + " bytes"));
    return nullptr;
  }
  if (slot.given && !slot.isStaged && slot.hasShape && bytes <= slot.given->sizeInBytes())
    return slot.memory = static_cast<uint8_t *>(slot.given->data());

  if (slot.block) {
    slot.block->release();
    slot.block = nullptr;
  }
  slot.block =
      pool.take(bytes, std::max<int64_t>(alignment, memoryAlignment), slot.given ? Purpose::staging : Purpose::result);
  if (!slot.block) {
    failure = named(index, outOfMemory("cannot allocate " + std::to_string(bytes) + " bytes"));
    return slot.memory = nullptr;
  }
  return slot.memory = slot.block->data();
}

bool OutputSlots::setShape(int64_t result, const int64_t *shape, Status &failure) {
  if (result < 0 || static_cast<size_t>(result) >= slots.size()) {
    failure = internalError("function '" + signature.name + "' gave a shape for result " + std::to_string(result) +
                            " of " + std::to_string(slots.size()));
    return false;
  }
  auto index = static_cast<size_t>(result);
  Slot &slot = slots[index];
  const ValuePlan &plan = resultPlans[index];
  std::span<const int64_t> computed(shape, static_cast<size_t>(plan.rank));
  bool isNegative = std::any_of(computed.begin(), computed.end(), [](int64_t extent) { return extent < 0; });
  if (isNegative || !plan.matchesShape(shape)) {
    failure = named(index, explainShape(plan, computed));
    return false;
  }
  if (slot.given && !std::equal(computed.begin(), computed.end(), slot.given->shape().begin())) {
    failure = named(index, invalidArgument("Runtime shape mismatch: the result has shape " + shapeText(computed) +
                                           ", but the given memref has shape " + shapeText(slot.given->shape())));
    return false;
  }
  std::copy(computed.begin(), computed.end(), extents.begin() + static_cast<ptrdiff_t>(slot.firstExtent));
  slot.hasShape = true;
  return true;
}

int64_t OutputSlots::bytesOfResult(size_t result) const {
  const ValuePlan &plan = resultPlans[result];
  if (plan.isStatic)
    return plan.bytes;
  int64_t bytes = bytesOf(plan.type);
  for (int64_t d = 0; d < plan.rank; ++d)
    bytes *= extents[slots[result].firstExtent + static_cast<size_t>(d)];
  return bytes;
}

Status OutputSlots::finish(std::span<Ref<Value>> results) {
  try {
    return finishSlots(results);
  } catch (...) {
    for (size_t i = 0; i < slots.size(); ++i)
      if (!slots[i].given)
        results[i].reset();
    abandon();
    return Status::noMemory();
  }
}

Status OutputSlots::finishSlots(std::span<Ref<Value>> results) {
  for (size_t i = 0; i < slots.size(); ++i) {
    const Slot &slot = slots[i];
    const char *problem = !slot.memory     ? "the function returned without requesting memory for it"
                          : !slot.hasShape ? "the function returned without giving its shape"
                          : slot.block && bytesOfResult(i) > slot.block->sizeInBytes()
                              ? "its shape needs more memory than was requested"
                              : nullptr;
    if (problem) {
      Status status = named(i, internalError(problem));
      abandon();
      return status;
    }
  }
  for (size_t i = 0; i < slots.size(); ++i) {
    Slot &slot = slots[i];
    if (!slot.block)
      continue;
    if (!slot.given) {
      Ref<Storage> storage = Ref<Storage>::adopt(std::exchange(slot.block, nullptr));
      results[i] = ResultMaker::make(std::move(storage), resultPlans[i].type, extents.data() + slot.firstExtent,
                                     resultPlans[i].rank);
      continue;
    }
    trace::Span span("copy", "copy result", {"result", static_cast<int64_t>(i)}, {"bytes", slot.given->sizeInBytes()});
    if (slot.memory == slot.block->data())
      std::memcpy(slot.given->data(), slot.block->data(), static_cast<size_t>(slot.given->sizeInBytes()));
    std::exchange(slot.block, nullptr)->release();
  }
  return okStatus();
}

void OutputSlots::abandon() {
  for (Slot &slot : slots)
    if (PooledStorage *block = std::exchange(slot.block, nullptr))
      block->release();
}

} // namespace latewood::runtime
