// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer arithmetic of host functions in the executor dialect.
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace latewood::lower {

/// Replaces `op` if it is an operation on integers or i1 that the host computes. False: it is none. Where arith leaves
/// the result open (division by zero, oversized shifts), the executor's definition is one of the results that arith
/// allows.
bool convertScalarToExecutor(mlir::RewriterBase &rewriter, mlir::Operation *op);

} // namespace latewood::lower
