// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call, in order: take the session, match arguments and given results against their plans, fill the call frame, run
// the function, settle the output slots. Everything that a call needs is in the session and sized for the function
// beforehand.

#include "latewood/runtime/Session.h"

#include "latewood/runtime/CallValues.h"
#include "latewood/runtime/ExecutableState.h"
#include "latewood/runtime/FloatingPoint.h"
#include "latewood/runtime/SessionState.h"
#include "latewood/runtime/TraceEvents.h"

#include <mutex>

namespace latewood::runtime {

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
    state.frame.api = &callbacks;
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
