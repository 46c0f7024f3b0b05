// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call, in order: take the session, match arguments and given results against their plans, fill the call frame, run
// the function, settle the output slots. Everything that a call needs is in the session and sized for the function
// beforehand; the frame is the `lw_call` that compiled code sees, with the runtime's own part behind it.

#include "latewood/runtime/Session.h"

#include "latewood/runtime/BinaryLock.h"
#include "latewood/runtime/CallClock.h"
#include "latewood/runtime/EngineCalls.h"
#include "latewood/runtime/Exceptions.h"
#include "latewood/runtime/ExecutableState.h"
#include "latewood/runtime/FloatingPoint.h"
#include "latewood/runtime/LuaHost.h"
#include "latewood/runtime/OutputSlots.h"
#include "latewood/runtime/ResultMaker.h"
#include "latewood/runtime/ThreadPool.h"
#include "latewood/runtime/TraceEvents.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <mutex>

// The layout that compiled code was built against.
static_assert(sizeof(lw_call) == 40 && offsetof(lw_call, arguments) == 8 && offsetof(lw_call, argument_shapes) == 16 &&
              offsetof(lw_call, constants) == 24 && offsetof(lw_call, workspace) == 32);
static_assert(offsetof(lw_api, parallel_for) == 8 && offsetof(lw_api, request) == 16 && offsetof(lw_api, shape) == 24 &&
              offsetof(lw_api, allocate) == 32 && offsetof(lw_api, release) == 40 && offsetof(lw_api, fail) == 48 &&
              offsetof(lw_api, fail_format) == 56 && offsetof(lw_api, enqueue) == 64 &&
              offsetof(lw_api, enqueue_alloc) == 72 && offsetof(lw_api, has_failed) == 80 &&
              offsetof(lw_api, allocate_device) == 88);

namespace latewood::runtime {

namespace {
/// One function, prepared: everything a call needs, in its final size.
struct FunctionState {
  FunctionState(const FunctionSignature &signature, lw_function entry, ResultPool &pool)
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

  /// An argument that calls take from the caller, and the result that may get its memory.
  struct Donation {
    uint32_t argument;
    uint32_t result;
    bool isInPlace;
  };

  const FunctionSignature &signature;
  lw_function entry;
  OutputSlots slots;
  std::vector<ValuePlan> argumentPlans;
  std::vector<Donation> donations;
  std::vector<const void *> data;
  std::vector<int64_t> bytes;
  std::vector<const int64_t *> shapes;
};

/// What compiled code sees, and what the callbacks need behind it.
struct CallFrame : lw_call {
  FunctionState *function = nullptr;
  ResultPool *pool = nullptr;
  ThreadPool *threads = nullptr;
  /// Knows the names of functions; null where the program launches nothing.
  const Image *image = nullptr;
  /// The executable's engines, and what this session runs them with.
  std::span<const std::unique_ptr<Engine>> engines;
  std::span<const std::unique_ptr<EngineContext>> engineContexts;
  /// What the session has of their device; null where there are no engines.
  EngineDevice *device = nullptr;
  /// Blocks that compiled code has allocated and not released.
  PooledStorage *temporaries = nullptr;
  std::atomic<int64_t> scratchBytes{0};
  /// Set by the first failure, which then owns `failure`: tasks of a parallel loop may fail at the same time.
  std::atomic<bool> hasFailed{false};
  Status failure;

  /// `make` gives the status, and may run out of memory on the way.
  template <typename Make>
  void fail(Make make) noexcept {
    Status status = withoutExceptions(make);
    if (!hasFailed.exchange(true))
      failure = std::move(status);
  }
};

//===--- What compiled code calls --------------------------------------------------------------------------------===//

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

constexpr lw_api api = {
    LATEWOOD_ABI_VERSION, sizeof(lw_api), parallelForCallback, requestCallback, shapeCallback,        allocateCallback,
    releaseCallback,      failCallback,   failFormatCallback,  enqueueCallback, enqueueAllocCallback,
    hasFailedCallback,    allocateDeviceCallback,
};

} // namespace

struct Session::State {
  Ref<Client> client;
  Ref<Executable> executable;
  RuntimeSessionOptions options;
  Ref<ResultPool> pool;
  std::vector<std::unique_ptr<FunctionState>> functions;
  /// The interpreter, where the host program is Lua source.
  std::unique_ptr<LuaState> lua;
  // Behind the contexts, which use it to their end.
  std::unique_ptr<EngineDevice> device;
  std::vector<std::unique_ptr<EngineContext>> engineContexts;
  Ref<Storage> workspace;
  int64_t workspaceBytes = 0;
  CallFrame frame{};
  /// One call at a time.
  BinaryLock busy;
  uint64_t calls = 0, failedCalls = 0;
  CallClock clock;
  uint64_t argumentBytes = 0, resultBytes = 0;

  /// The state of a function of the session's executable.
  StatusOr<FunctionState *> find(const FunctionSignature &function);
  Status growWorkspace(int64_t bytes);
  void releaseTemporaries();
  Status run(FunctionState &function, std::span<Value *const> arguments, std::span<Ref<Value>> results);
  /// `run` as one call: locked, counted, without exceptions.
  Status runLocked(FunctionState &function, std::span<Value *const> arguments, std::span<Ref<Value>> results);
};

Session::Session() : state(std::make_unique<State>()) {}

Session::~Session() {
  if (state->pool)
    state->pool->close();
}

StatusOr<Ref<Session>> Session::create(Ref<Client> client, Ref<Executable> executable,
                                       const RuntimeSessionOptions &options) {
  return withoutExceptions([&]() -> StatusOr<Ref<Session>> {
    if (!client || !executable)
      return invalidArgument("a session needs a client and an executable");
    if (options.deviceCount < 1 || options.deviceId < 0 || options.deviceId >= options.deviceCount)
      return invalidArgument("session options: device " + std::to_string(options.deviceId) + " of " +
                             std::to_string(options.deviceCount) + " does not exist");
    for (const std::string &feature : options.features)
      if (feature != "core" && feature != "cpu")
        return unavailable("session options: module '" + feature +
                           "' is not part of this runtime; there are 'core' and 'cpu'");
    if (!executable->internals().isLoaded)
      return failedPrecondition("the executable was opened for inspection only");
    trace::Span span("session", "create session");
    auto session = Ref<Session>::adopt(new Session);
    State &state = *session->state;
    state.pool = Ref<ResultPool>::adopt(new ResultPool(client->memoryCounters()));
    if (const LuaProgram *program = executable->internals().luaProgram.get()) {
      LATEWOOD_ASSIGN_OR_RETURN(state.lua, LuaState::create(*program));
    }
    for (const std::unique_ptr<Engine> &engine : executable->internals().engines) {
      if (!state.device) {
        LATEWOOD_ASSIGN_OR_RETURN(state.device, engine->module().createDevice());
      }
      LATEWOOD_ASSIGN_OR_RETURN(auto context, engine->createContext(*state.device));
      state.engineContexts.push_back(std::move(context));
    }
    for (const FunctionSignature &function : executable->functions())
      state.functions.push_back(
          std::make_unique<FunctionState>(function, executable->internals().entries[function.index], *state.pool));
    state.frame.api = &api;
    state.frame.constants = executable->internals().constantData.data();
    state.frame.pool = state.pool.get();
    state.frame.threads = &client->threads();
    state.frame.image = executable->internals().image.get();
    state.frame.engines = executable->internals().engines;
    state.frame.engineContexts = state.engineContexts;
    state.frame.device = state.device.get();
    state.client = std::move(client);
    state.executable = std::move(executable);
    state.options = options;
    return session;
  });
}

StatusOr<FunctionState *> Session::State::find(const FunctionSignature &function) {
  if (function.index >= functions.size() || &functions[function.index]->signature != &function) [[unlikely]]
    return invalidArgument("function '" + function.name + "' is not one of this session's executable");
  return functions[function.index].get();
}

/// One block serves all functions, since they run one at a time.
Status Session::State::growWorkspace(int64_t bytes) {
  workspace.reset();
  workspaceBytes = 0;
  LATEWOOD_ASSIGN_OR_RETURN(workspace, Storage::allocate(bytes, client->memoryCounters()));
  frame.workspace = workspace->data();
  workspaceBytes = bytes;
  return okStatus();
}

namespace {
/// Checks arguments. The function's state is only read: a call may be running.
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

/// Checks the memrefs that were given for results.
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

/// Waits for values that calls on streams are going to write.
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
} // namespace

namespace {
/// The donations of one call: taken before it runs, and given back if it fails and the memory is untouched.
class DonationScope {
public:
  DonationScope(const FunctionState &function, std::span<Value *const> arguments, std::span<Ref<Value>> results)
      : function(function), arguments(arguments), results(results) {}

  ~DonationScope() {
    if (!isCommitted)
      giveBack();
  }

  /// Takes the donated arguments, and puts values on their memory into the results that may have it.
  Status take() {
    taken.reserve(function.donations.size());
    filled.reserve(function.donations.size());
    for (const FunctionState::Donation &donation : function.donations)
      if (Status status = take(donation); !status.isOk())
        return std::move(status).withContext("function '" + function.signature.name + "', argument " +
                                             std::to_string(donation.argument));
    return okStatus();
  }

  /// The call succeeded, or is certain to run.
  void commit() { isCommitted = true; }

private:
  void giveBack() {
    for (MemRefValue *value : taken)
      value->undoDonation();
    for (uint32_t result : filled)
      results[result].reset();
  }

  Status take(const FunctionState::Donation &donation) {
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

  const FunctionState &function;
  std::span<Value *const> arguments;
  std::span<Ref<Value>> results;
  std::vector<MemRefValue *> taken;
  std::vector<uint32_t> filled;
  bool isCommitted = false;
};
} // namespace

/// Bytes of a value's elements.
static uint64_t bytesIn(Value &value) {
  MemRefValue *memref = asMemRef(&value);
  return static_cast<uint64_t>(memref ? memref->sizeInBytes() : bytesOf(value.elementType()));
}

void Session::State::releaseTemporaries() {
  while (PooledStorage *block = frame.temporaries) {
    frame.temporaries = block->next;
    block->release();
  }
  if (device)
    device->releaseAll();
}

/// Arguments and results have been checked, and are ready.
Status Session::State::run(FunctionState &function, std::span<Value *const> arguments, std::span<Ref<Value>> results) {
  if (workspaceBytes < function.signature.workspaceBytes) [[unlikely]]
    LATEWOOD_RETURN_IF_ERROR(growWorkspace(function.signature.workspaceBytes));
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (MemRefValue *memref = asMemRef(arguments[i])) [[likely]] {
      function.data[i] = memref->data();
      function.bytes[i] = memref->sizeInBytes();
      function.shapes[i] = memref->rank() ? memref->shape().data() : nullptr;
    } else {
      // Nothing can overlap a scalar.
      function.data[i] = asScalar(arguments[i])->data();
      function.bytes[i] = 0;
      function.shapes[i] = nullptr;
    }
  }
  function.slots.begin(function.data.data(), function.bytes.data(), function.data.size(), results);

  frame.function = &function;
  frame.arguments = const_cast<void *const *>(reinterpret_cast<const void *const *>(function.data.data()));
  frame.argument_shapes = function.shapes.data();
  int32_t code;
  {
    DefaultFloatingPoint floatingPoint;
    code = function.entry ? function.entry(&frame) : lua->call(function.signature.index, &frame, arguments.size());
  }
  releaseTemporaries();
  if (code == 0 && !frame.hasFailed.load(std::memory_order_relaxed)) [[likely]]
    return function.slots.finish(results);
  function.slots.abandon();
  if (!frame.hasFailed.exchange(false))
    return internalError("function '" + function.signature.name + "' failed with code " + std::to_string(code) +
                         " and without a message");
  return std::exchange(frame.failure, okStatus());
}

Status Session::State::runLocked(FunctionState &function, std::span<Value *const> arguments,
                                 std::span<Ref<Value>> results) {
  std::lock_guard lock(busy);
  trace::Span span("call", function.signature.name);
  Status status;
  uint64_t begin = CallClock::now();
  try {
    status = run(function, arguments, results);
  } catch (...) {
    releaseTemporaries();
    function.slots.abandon();
    frame.hasFailed.store(false);
    frame.failure = okStatus();
    status = Status::noMemory();
  }
  clock.add(begin);
  if (!status.isOk()) [[unlikely]] {
    ++failedCalls;
    return status;
  }
  ++calls;
  for (Value *argument : arguments)
    argumentBytes += bytesIn(*argument);
  for (const Ref<Value> &result : results)
    resultBytes += bytesIn(*result);
  return status;
}

Status Session::call(const FunctionSignature &signature, std::span<Value *const> arguments,
                     std::span<Ref<Value>> results, Stream *stream) {
  return withoutExceptions([&]() -> Status {
    LATEWOOD_ASSIGN_OR_RETURN(FunctionState * function, state->find(signature));
    LATEWOOD_RETURN_IF_ERROR(checkArguments(*function, arguments));
    LATEWOOD_RETURN_IF_ERROR(checkResults(*function, results));
    // Before anything is locked: what is waited for may need this session.
    LATEWOOD_RETURN_IF_ERROR(waitForValues(*function, arguments, results));
    auto run = [&] {
      if (stream) [[unlikely]]
        return stream->runInOrder([&] { return state->runLocked(*function, arguments, results); });
      return state->runLocked(*function, arguments, results);
    };
    if (function->donations.empty()) [[likely]]
      return run();
    DonationScope donations(*function, arguments, results);
    LATEWOOD_RETURN_IF_ERROR(donations.take());
    Status status = run();
    if (status.isOk())
      donations.commit();
    return status;
  });
}

Status Session::enqueue(const FunctionSignature &signature, std::span<Value *const> arguments,
                        std::span<Ref<Value>> results, Stream &stream) {
  return withoutExceptions([&]() -> Status {
    LATEWOOD_ASSIGN_OR_RETURN(FunctionState * function, state->find(signature));
    LATEWOOD_RETURN_IF_ERROR(checkArguments(*function, arguments));
    LATEWOOD_RETURN_IF_ERROR(checkResults(*function, results));
    const std::vector<ValuePlan> &plans = function->slots.plans();
    trace::Span span("enqueue", signature.name);
    for (size_t i = 0; i < plans.size(); ++i)
      if (!results[i] && !plans[i].isStatic)
        return call(signature, arguments, results, &stream);

    /// What the call needs until it has run.
    struct Pending {
      Ref<Session> session;
      std::vector<Ref<Value>> arguments, results;
      /// Held as well: no later call may take the memory by donation before this one has read it.
      std::vector<Ref<Storage>> inUse;
      /// Argument i waits for this event, as of now: later calls may write the memory again.
      std::vector<std::pair<size_t, Ref<Event>>> writers;
      Ref<Event> done = Event::create();
    };
    for (size_t i = 0; i < arguments.size(); ++i)
      if (MemRefValue *memref = asMemRef(arguments[i]); memref && memref->isDonated())
        return memref->waitUntilReady().withContext("function '" + signature.name + "', argument " + std::to_string(i));
    // On a stream a donated value is gone at once, even if the call fails later.
    DonationScope donations(*function, arguments, results);
    LATEWOOD_RETURN_IF_ERROR(donations.take());
    auto pending = std::make_shared<Pending>();
    pending->session = Ref<Session>::share(this);
    for (size_t i = 0; i < arguments.size(); ++i) {
      pending->arguments.push_back(Ref<Value>::share(arguments[i]));
      if (MemRefValue *memref = asMemRef(arguments[i])) {
        pending->inUse.push_back(memref->storage());
        if (Ref<Event> writer = memref->storage()->writer())
          pending->writers.emplace_back(i, std::move(writer));
      }
    }
    for (size_t i = 0; i < plans.size(); ++i) {
      if (results[i]) {
        pending->results.push_back(results[i]);
        continue;
      }
      PooledStorage *block = state->pool->take(plans[i].bytes, memoryAlignment, Purpose::result);
      if (!block)
        return outOfMemory("function '" + signature.name + "', result " + std::to_string(i) + ": cannot allocate " +
                           std::to_string(plans[i].bytes) + " bytes");
      pending->results.push_back(
          ResultMaker::make(Ref<Storage>::adopt(block), plans[i].type, plans[i].shape, plans[i].rank));
    }

    auto runNow = [function](Pending &pending) -> Status {
      for (auto &[index, writer] : pending.writers)
        if (Status status = writer->wait(); !status.isOk())
          return std::move(status).withContext("function '" + function->signature.name + "', argument " +
                                               std::to_string(index) + ": the call that writes this memory failed");
      std::vector<Value *> values;
      for (const Ref<Value> &argument : pending.arguments)
        values.push_back(argument.get());
      return pending.session->state->runLocked(*function, values, pending.results);
    };
    // Made before anybody is told to wait for it.
    std::function<Status()> run = [pending, runNow]() -> Status {
      // Whatever happens, `done` is completed: others wait for it.
      Status status = withoutExceptions([&] { return runNow(*pending); });
      pending->done->complete(status);
      if (status.isOk())
        for (const Ref<Value> &result : pending->results)
          asMemRef(result.get())->storage()->clearWriter(*pending->done);
      return status;
    };
    for (const Ref<Value> &result : pending->results)
      asMemRef(result.get())->storage()->setWriter(pending->done);
    if (Status status = stream.enqueue(std::move(run)); !status.isOk()) {
      pending->done->complete(status);
      return status;
    }
    donations.commit();
    std::copy(pending->results.begin(), pending->results.end(), results.begin());
    return okStatus();
  });
}

StatusOr<std::vector<Ref<Value>>> Session::execute(std::string_view name, std::span<const Ref<Value>> arguments,
                                                   std::span<const Ref<Value>> outputs, Stream *stream) {
  return withoutExceptions([&]() -> StatusOr<std::vector<Ref<Value>>> {
    LATEWOOD_ASSIGN_OR_RETURN(const FunctionSignature *function, state->executable->getFunction(name));
    if (!outputs.empty() && outputs.size() != function->results.size())
      return invalidArgument("function '" + function->name + "' has " + std::to_string(function->results.size()) +
                             " results, got " + std::to_string(outputs.size()) + " output arguments");
    std::vector<Value *> values;
    values.reserve(arguments.size());
    for (const Ref<Value> &argument : arguments)
      values.push_back(argument.get());
    std::vector<Ref<Value>> results(outputs.begin(), outputs.end());
    results.resize(function->results.size());
    LATEWOOD_RETURN_IF_ERROR(call(*function, values, results, stream));
    return results;
  });
}

const Ref<Client> &Session::client() const { return state->client; }
const Ref<Executable> &Session::executable() const { return state->executable; }
const RuntimeSessionOptions &Session::options() const { return state->options; }

SessionStatistics Session::statistics() const {
  std::lock_guard lock(state->busy);
  SessionStatistics statistics;
  statistics.calls = state->calls;
  statistics.failedCalls = state->failedCalls;
  statistics.callNanoseconds = state->clock.total();
  statistics.longestCallNanoseconds = state->clock.longest();
  statistics.argumentBytes = state->argumentBytes;
  statistics.resultBytes = state->resultBytes;
  state->pool->readStatistics(statistics);
  statistics.workspaceBytes = state->workspaceBytes;
  if (state->device)
    statistics.engines = state->device->counters();
  statistics.scratchBytesPerThread = state->frame.scratchBytes.load(std::memory_order_relaxed);
  return statistics;
}

void Session::releaseCachedMemory() {
  std::lock_guard lock(state->busy);
  state->pool->releaseCached();
}

} // namespace latewood::runtime
