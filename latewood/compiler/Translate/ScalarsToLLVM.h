// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalar operations of the host program in the LLVM dialect.
#pragma once
#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

namespace latewood::translate {

/// The LLVM type of a scalar: itself, or i64 for `index`.
mlir::Type getLLVMScalarType(mlir::Type type);

/// Builds what `op`, a scalar operation of the executor dialect, computes from `operands`. Null if it is none.
mlir::Value convertScalarToLLVM(mlir::OpBuilder &builder, mlir::Operation *op, mlir::ValueRange operands);

} // namespace latewood::translate
