// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pairs of processes, as collective_permute, send and recv list them.

#ifndef LATEWOOD_COMPILER_DIALECT_STABLEHLO_SOURCETARGETPAIRS_H
#define LATEWOOD_COMPILER_DIALECT_STABLEHLO_SOURCETARGETPAIRS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace latewood::stablehlo {

/// Checks constraints C1 to C4, which the three ops share: pairs; sources and targets each once; no negative number.
mlir::LogicalResult verifySourceTargetPairs(mlir::Operation *op, mlir::DenseIntElementsAttr pairs);

} // namespace latewood::stablehlo

#endif // LATEWOOD_COMPILER_DIALECT_STABLEHLO_SOURCETARGETPAIRS_H
