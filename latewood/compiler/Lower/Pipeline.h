// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Phase Lower: buffers and cluster calls become the host program in the executor dialect.
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace latewood::lower {

void buildLowerPipeline(mlir::OpPassManager &pipeline);

/// Public functions hold executor operations, structured control flow and their return, nothing else.
mlir::LogicalResult verifyPostcondition(mlir::ModuleOp module);

} // namespace latewood::lower
