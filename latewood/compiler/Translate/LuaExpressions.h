// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lua text for numbers, names and scalar operations of the host program.
#pragma once
#include "mlir/IR/Operation.h"
#include <string>

namespace latewood::translate::lua {

/// A string literal with these bytes.
std::string quote(llvm::StringRef text);

/// Whether this may be the name of a field or a variable.
bool isIdentifier(llvm::StringRef name);

/// A number, in parentheses if it is negative.
std::string literal(int64_t value);

/// The expression of a scalar operation of the executor dialect whose operands have these names; empty if `op` is none,
/// or is a constant.
std::string scalarExpression(mlir::Operation *op, llvm::function_ref<std::string(mlir::Value)> nameOf);

} // namespace latewood::translate::lua
