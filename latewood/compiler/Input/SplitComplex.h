// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Complex numbers as pairs of tensors, and the functions of complex analysis on them. What a function does near its
// branch cuts and at infinity follows C's Annex G where that says something.
#pragma once

#include "latewood/compiler/Input/TensorExpression.h"

namespace latewood::input {

struct Complex {
  Tensor re, im;
};

/// What elementwise `op` computes of complex `operands`: one tensor for a real result, two for the parts of a complex
/// one. None when the function is not known.
llvm::SmallVector<Tensor, 2> computeComplex(mlir::ImplicitLocOpBuilder &b, mlir::Operation *op,
                                            llvm::ArrayRef<Complex> operands);

} // namespace latewood::input
