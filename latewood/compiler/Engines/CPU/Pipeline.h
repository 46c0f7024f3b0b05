// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU engine: cluster functions on tensors become LLVM functions.
#pragma once

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace latewood::cpu {

/// Adds the engine's passes. `nestedModule` runs on the module of the cluster functions.
void buildCPUPipeline(mlir::OpPassManager &nestedModule);

} // namespace latewood::cpu
