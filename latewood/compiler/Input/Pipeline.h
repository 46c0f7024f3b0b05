// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Phase Input: from what a framework exported to public functions on plain, simplified StableHLO.
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace latewood::input {

void buildInputPipeline(mlir::OpPassManager &pm);

/// Functions are not called, composites are expanded, nothing speaks of other devices.
mlir::LogicalResult verifyInputPostcondition(mlir::ModuleOp module);

} // namespace latewood::input
