// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The native backend of the host program: executor functions become LLVM functions of the type `lw_function`
// (format/abi.h).
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace latewood::translate {

/// A public function and its symbol: what the image exports for it, or the global of the Lua source.
struct Entry {
  std::string name;
  std::string symbol;
};

/// Converts all host functions of `module` in place, and moves the functions of the engines' nested modules beside
/// them, so that the module can be translated to LLVM IR as a whole. Constants keep the order in which they stand:
/// constant number i is `lw_call::constants[i]`.
mlir::FailureOr<std::vector<Entry>> convertExecutorToLLVM(mlir::ModuleOp module);

/// Moves the functions of nested modules to the top, and erases what is in the file in another form: the constants.
mlir::LogicalResult flattenEngineModules(mlir::ModuleOp module);

} // namespace latewood::translate
