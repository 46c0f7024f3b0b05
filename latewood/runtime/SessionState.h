// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a session holds. Internal: Session.cpp has what a session does, SessionStreams.cpp how calls are put into
// streams.

#ifndef LATEWOOD_RUNTIME_SESSIONSTATE_H
#define LATEWOOD_RUNTIME_SESSIONSTATE_H

#include "latewood/runtime/BinaryLock.h"
#include "latewood/runtime/CallClock.h"
#include "latewood/runtime/CallFrame.h"
#include "latewood/runtime/LuaHost.h"
#include "latewood/runtime/Session.h"

namespace latewood::runtime {

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

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_SESSIONSTATE_H
