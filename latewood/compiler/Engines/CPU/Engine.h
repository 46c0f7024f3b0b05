// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU engine's answers to the clustering passes.
#pragma once

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace latewood::cpu {

/// Attaches EngineAttrInterface to #plan.cpu_engine.
void registerEngineModel(mlir::DialectRegistry &registry);

} // namespace latewood::cpu
