// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Lua backend of the host program: executor functions become Lua 5.4 source that the runtime interprets. The image
// then holds the engines' functions only, each behind a thunk with one signature for all, since an interpreter cannot
// make calls of any signature.
#pragma once
#include "latewood/compiler/Translate/ExecutorToLLVM.h"

namespace latewood::translate {

/// The host program as source.
struct LuaProgram {
  std::string source;
  /// The public functions and the globals that they are.
  std::vector<Entry> entries;
  /// The engine functions that are launched, and the symbols of their thunks.
  struct Kernel {
    mlir::SymbolRefAttr callee;
    std::string symbol;
  };
  std::vector<Kernel> kernels;
};

/// Writes the host functions of `module` as Lua. The module is not changed.
mlir::FailureOr<LuaProgram> convertExecutorToLua(mlir::ModuleOp module);

/// Replaces the host functions of `module` by the thunks that the program launches, and makes the module flat. A thunk
/// is `void thunk(lw_call *call, const int64_t *words)`: one word per operand, an address or a sign-extended integer,
/// and the workspace.
mlir::LogicalResult createLaunchThunks(mlir::ModuleOp module, const LuaProgram &program);

} // namespace latewood::translate
