// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Everything that a pipeline's text may name. The tools and the library register the same set, so that a pipeline
// printed by one runs in the other.
#pragma once

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace latewood::driver {

/// Adds our dialects, the upstream dialects that the pipeline uses, and their interface models, engines included.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers our passes and the upstream passes that the pipeline names, once per process. Thread-safe.
void registerPasses();

} // namespace latewood::driver
