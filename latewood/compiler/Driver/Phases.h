// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The phases of a compilation, in order, and what a module satisfies at the end of each.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"
#include <string>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace latewood::driver {

struct StableHLOToExecutableOptions;

struct Phase {
  llvm::StringLiteral name;
  llvm::StringLiteral summary;
  /// Adds the phase's passes, without the finish-phase pass.
  void (*build)(mlir::OpPassManager &pipeline, const StableHLOToExecutableOptions &options);
  /// Reports what breaks the postcondition.
  mlir::LogicalResult (*verify)(mlir::ModuleOp module);
};

/// All phases of the pass pipeline, in order: import, input, cluster, engines, bufferize, lower.
llvm::ArrayRef<Phase> getPhases();

/// The phase of this name, or null.
const Phase *findPhase(llvm::StringRef name);

/// Registers each phase as a pass pipeline of its own, `latewood-<phase>{…}`, with the options that it depends on.
/// Called by registerPasses.
void registerPhasePipelines();

/// The pipeline that names whole phases: `builtin.module(latewood-import{…},latewood-input,…)`.
std::string getPhasesText(const StableHLOToExecutableOptions &options);

/// Name of the module attribute that holds the last finished phase.
inline constexpr llvm::StringLiteral phaseAttrName = "latewood.phase";
/// Name of the module attribute that holds the canonical options.
inline constexpr llvm::StringLiteral optionsAttrName = "latewood.options";

} // namespace latewood::driver
