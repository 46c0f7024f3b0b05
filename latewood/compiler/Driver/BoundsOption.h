// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The option `bounds`: limits of arguments' extents and of small integers in them, as a user writes them.
//
//   x:0=1:32:512       dimension 0 of argument x (its name, or its number): smallest, typical, largest
//   2:value=0:10:100   the integer that argument 2 is; value[1] is an element
//   x:0=1:4:8|9:64:512 for several profiles of engines that have such
//
// Several are separated by commas. They are for the function `main`, or for the only one.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace latewood::driver {

/// Whether the text is well-formed; the error says which part is not.
llvm::Error checkBoundsOption(llvm::StringRef text);

/// Writes the limits on the function's arguments. Reports a part that names what does not exist.
mlir::LogicalResult applyBoundsOption(mlir::ModuleOp module, llvm::StringRef text);

} // namespace latewood::driver
