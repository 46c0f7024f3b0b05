// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How compiled code comes back to the runtime: memory, output slots, threads, failures, engines. No exception passes
// through compiled code, and the first failure of a call is the one that is reported.

#include "latewood/runtime/CallFrame.h"

#include "latewood/runtime/EngineCalls.h"
#include "latewood/runtime/TraceEvents.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

// The layout that compiled code was built against.
static_assert(sizeof(lw_call) == 40 && offsetof(lw_call, arguments) == 8 && offsetof(lw_call, argument_shapes) == 16 &&
              offsetof(lw_call, constants) == 24 && offsetof(lw_call, workspace) == 32);
static_assert(offsetof(lw_api, parallel_for) == 8 && offsetof(lw_api, request) == 16 && offsetof(lw_api, shape) == 24 &&
              offsetof(lw_api, allocate) == 32 && offsetof(lw_api, release) == 40 && offsetof(lw_api, fail) == 48 &&
              offsetof(lw_api, fail_format) == 56 && offsetof(lw_api, enqueue) == 64 &&
              offsetof(lw_api, enqueue_alloc) == 72 && offsetof(lw_api, has_failed) == 80 &&
              offsetof(lw_api, allocate_device) == 88);

namespace latewood::runtime {

FunctionState::FunctionState(const FunctionSignature &signature, lw_function entry, ResultPool &pool)
    : signature(signature), entry(entry), slots(signature, pool), data(signature.arguments.size()),
      bytes(signature.arguments.size()), shapes(signature.arguments.size()) {
  for (const ValueSignature &argument : signature.arguments)
    argumentPlans.emplace_back(argument);
  for (const AliasSignature &alias : signature.aliases) {
    if (alias.kind != AliasSignature::Kind::donated)
      continue;
    bool isInPlace = std::any_of(signature.aliases.begin(), signature.aliases.end(), [&](const auto &other) {
      return other.kind == AliasSignature::Kind::sameAddress && other.argument == alias.argument &&
             other.result == alias.result;
    });
    donations.push_back({alias.argument, alias.result, isInPlace});
  }
}

namespace {

void parallelForCallback(lw_call *call, lw_body body, void *frame, int64_t tasks, int64_t scratchBytes) noexcept {
  auto &self = static_cast<CallFrame &>(*call);
  if (scratchBytes > self.scratchBytes.load(std::memory_order_relaxed))
    self.scratchBytes.store(scratchBytes, std::memory_order_relaxed);
  const void *code = reinterpret_cast<const void *>(body);
  if (trace::isOn() && self.image && trace::needsName(code))
    trace::nameCode(code, self.image->nameOf(code));
  trace::Span span("loop", "parallel loop", code, {"tasks", tasks}, {"scratch bytes", scratchBytes});
  if (!self.threads->parallelFor(body, frame, tasks, scratchBytes))
    self.fail([&] {
      return outOfMemory("cannot allocate " + std::to_string(scratchBytes) + " bytes of scratch memory for a thread");
    });
}

void *requestCallback(lw_call *call, int64_t result, int64_t bytes, int64_t alignment, const int64_t *shape) noexcept {
  auto &self = static_cast<CallFrame &>(*call);
  trace::instant("host", "request", {"result", result}, {"bytes", bytes});
  void *memory = nullptr;
  Status failure;
  Status status = withoutExceptions([&] {
    memory = self.function->slots.request(result, bytes, alignment, shape, failure);
    return std::move(failure);
  });
  if (!status.isOk()) {
    self.fail([&] { return std::move(status); });
    return nullptr;
  }
  return memory;
}

int32_t shapeCallback(lw_call *call, int64_t result, const int64_t *extents) noexcept {
  auto &self = static_cast<CallFrame &>(*call);
  Status failure;
  Status status = withoutExceptions([&] {
    self.function->slots.setShape(result, extents, failure);
    return std::move(failure);
  });
  if (status.isOk())
    return 0;
  self.fail([&] { return std::move(status); });
  return 1;
}

void *allocateCallback(lw_call *call, int64_t bytes, int64_t alignment) noexcept {
  auto &self = static_cast<CallFrame &>(*call);
  trace::instant("host", "allocate", {"bytes", bytes});
  PooledStorage *block = self.pool->take(bytes, std::max<int64_t>(alignment, memoryAlignment), Purpose::temporary);
  if (!block) {
    self.fail([&] {
      return outOfMemory("function '" + self.function->signature.name + "': cannot allocate " + std::to_string(bytes) +
                         " bytes of temporary memory");
    });
    return nullptr;
  }
  block->next = self.temporaries;
  self.temporaries = block;
  return block->data();
}

void releaseCallback(lw_call *call, void *memory) noexcept {
  auto &self = static_cast<CallFrame &>(*call);
  if (self.device && self.device->release(memory))
    return;
  for (PooledStorage **link = &self.temporaries; *link; link = &(*link)->next)
    if ((*link)->data() == memory) {
      PooledStorage *block = *link;
      *link = block->next;
      block->release();
      return;
    }
}

int32_t failCallback(lw_call *call, int32_t code, const char *message, int64_t length) noexcept {
  auto &self = static_cast<CallFrame &>(*call);
  bool isKnown = code > static_cast<int32_t>(StatusCode::ok) && code <= static_cast<int32_t>(StatusCode::internal);
  self.fail([&] {
    std::string text(message ? message : "", message && length > 0 ? static_cast<size_t>(length) : 0);
    return Status(isKnown ? static_cast<StatusCode>(code) : StatusCode::internal,
                  "function '" + self.function->signature.name + "': " + text);
  });
  return code != 0 ? code : 1;
}

/// The message of an assertion, with its values.
std::string formatMessage(std::string_view format, const int64_t *values, int64_t count) {
  std::string text;
  // {0}, {1} ...; any other brace is text.
  for (size_t brace; (brace = format.find('{')) != std::string_view::npos;) {
    text += format.substr(0, brace);
    format.remove_prefix(brace);
    size_t digits = format.find_first_not_of("0123456789", 1);
    int64_t number = count;
    if (digits != std::string_view::npos && digits > 1 && format[digits] == '}')
      std::from_chars(format.data() + 1, format.data() + digits, number);
    bool isValue = number < count;
    text += isValue ? std::to_string(values[number]) : "{";
    format.remove_prefix(isValue ? digits + 1 : 1);
  }
  return text.append(format);
}

int32_t failFormatCallback(lw_call *call, const char *message, int64_t length, const int64_t *values,
                           int64_t count) noexcept {
  auto &self = static_cast<CallFrame &>(*call);
  std::string_view format(message, static_cast<size_t>(length));
  self.fail([&] {
    return invalidArgument("function '" + self.function->signature.name + "': " + formatMessage(format, values, count));
  });
  return static_cast<int32_t>(StatusCode::invalidArgument);
}

int32_t enqueueCallback(lw_call *call, int64_t engine, const lw_operand *inputs, int64_t inputCount,
                        const lw_operand *outputs, int64_t outputCount) noexcept {
  auto &self = static_cast<CallFrame &>(*call);
  auto number = static_cast<size_t>(engine);
  trace::Span span("engine", self.engines[number]->name(), {"inputs", inputCount}, {"results", outputCount});
  return runEngine(call, *self.engines[number], *self.engineContexts[number], *self.device,
                   {inputs, static_cast<size_t>(inputCount)}, {outputs, static_cast<size_t>(outputCount)});
}

int32_t enqueueAllocCallback(lw_call *call, int64_t engine, const lw_operand *inputs, int64_t inputCount,
                             const int64_t *slots, lw_operand *results, int64_t resultCount) noexcept {
  auto &self = static_cast<CallFrame &>(*call);
  auto number = static_cast<size_t>(engine);
  trace::Span span("engine", self.engines[number]->name(), {"inputs", inputCount}, {"allocated results", resultCount});
  return runAllocatingEngine(call, *self.engines[number], *self.engineContexts[number],
                             {inputs, static_cast<size_t>(inputCount)}, slots,
                             {results, static_cast<size_t>(resultCount)});
}

int32_t hasFailedCallback(lw_call *call) noexcept {
  return static_cast<CallFrame &>(*call).hasFailed.load(std::memory_order_relaxed) ? 1 : 0;
}

void *allocateDeviceCallback(lw_call *call, int64_t bytes) noexcept {
  auto &self = static_cast<CallFrame &>(*call);
  trace::instant("host", "allocate on the device", {"bytes", bytes});
  void *memory = nullptr;
  Status status = withoutExceptions([&]() -> Status {
    if (!self.device)
      return dataCorruption("the program allocates on a device, but has no engines");
    LATEWOOD_ASSIGN_OR_RETURN(memory, self.device->allocate(bytes));
    return okStatus();
  });
  if (!status.isOk())
    self.fail([&] { return std::move(status); });
  return memory;
}

} // namespace

const lw_api callbacks = {
    LATEWOOD_ABI_VERSION, sizeof(lw_api),    parallelForCallback,    requestCallback,    shapeCallback,
    allocateCallback,     releaseCallback,   failCallback,           failFormatCallback, enqueueCallback,
    enqueueAllocCallback, hasFailedCallback, allocateDeviceCallback,
};

} // namespace latewood::runtime
