// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of the regions that ops of this dialect carry. They run after the ops inside were verified.

#ifndef LATEWOOD_COMPILER_DIALECT_STABLEHLO_REGIONS_H
#define LATEWOOD_COMPILER_DIALECT_STABLEHLO_REGIONS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/TypeRange.h"

namespace latewood::stablehlo {

/// Checks that `region` takes `arguments` and returns `results`, up to `?`. `what` names the region in messages.
mlir::LogicalResult verifyRegionType(mlir::Operation *op, mlir::Region &region, llvm::StringRef what,
                                     mlir::TypeRange arguments, mlir::TypeRange results, llvm::StringRef constraint);

/// Checks a reducer: for inputs of element types E, accumulator types A (each E promotable to its A), it must take
/// (tensor<A>..., tensor<A>...) and return (tensor<A>...), and the op's results must have the element types A.
mlir::LogicalResult verifyReducer(mlir::Operation *op, mlir::Region &region, mlir::TypeRange inputs,
                                  mlir::TypeRange results, llvm::StringRef regionConstraint,
                                  llvm::StringRef resultConstraint);

} // namespace latewood::stablehlo

#endif // LATEWOOD_COMPILER_DIALECT_STABLEHLO_REGIONS_H
