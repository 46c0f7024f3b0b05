// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Phase Bufferize: host functions on tensors become host functions on buffers.
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace latewood::bufferize {

void buildBufferizePipeline(mlir::OpPassManager &pipeline);

/// No tensor is left in host functions, and their results are in slots.
mlir::LogicalResult verifyPostcondition(mlir::ModuleOp module);

} // namespace latewood::bufferize
