// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The TensorRT engine's answers to the clustering passes.
#pragma once

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace latewood::tensorrt {

/// Attaches EngineAttrInterface to #plan.tensorrt_engine.
void registerEngineModel(mlir::DialectRegistry &registry);

} // namespace latewood::tensorrt
