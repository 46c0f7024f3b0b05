// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Phase Input.

#include "latewood/compiler/Input/Pipeline.h"
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Input/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace latewood;

void input::buildInputPipeline(OpPassManager &pm) {
  // First, because annotations stand between operations that the later passes want to see side by side.
  pm.addPass(createDropPartitioningPass());
  // Before inlining: decompositions become calls.
  pm.addPass(createExpandCompositesPass());
  // Before anything folds or moves operations: what is behind knows integers only. Calls still tie functions together,
  // so their signatures change with the operands.
  pm.addPass(createExpandQuantizedPass());
  // Engines take whole functions, so there must be one function per entry point.
  pm.addPass(createInlineCallsPass());
  // When a value that is trimmed is seen to be a result. Before the functions go that it may need.
  pm.addPass(createTrimResultsPass());
  // What was inlined everywhere has no caller left, nor has the decomposition of a composite that became an operation.
  pm.addPass(createSymbolDCEPass());
  // After inlining, so that assertions stand in public functions, where the host can run them.
  pm.addPass(createExpandChecksPass());
  // After inlining, which brings shapes together with what they are used for; before expansions, of which many are for
  // static shapes only.
  pm.addNestedPass<func::FuncOp>(createRefineShapesPass());
  // After inlining, so that a computation that a call names is not taken for an entry point; before the simplification,
  // which sees what the operations are made of.
  pm.addPass(createExpandOperationsPass());
  // After that, which reports what a program does with tokens.
  pm.addPass(createFlattenValuesPass());
  // After the expansions, which compute on complex numbers themselves.
  pm.addNestedPass<func::FuncOp>(createSplitComplexPass());
  // Equal constants and broadcasts must be one value before patterns compare operands.
  pm.addNestedPass<func::FuncOp>(createCSEPass());
  // Before patterns that take a first element for granted.
  pm.addNestedPass<func::FuncOp>(createFoldEmptyTensorsPass());
  pm.addNestedPass<func::FuncOp>(createSimplifyStableHLOPass());
  // The simplification makes equal operations out of different ones.
  pm.addNestedPass<func::FuncOp>(createCSEPass());
}

LogicalResult input::verifyInputPostcondition(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op)) {
      op->emitError() << "function '" << call.getCallee()
                      << "' could not be inlined: it has no body, or one of several blocks";
      return WalkResult::interrupt();
    }
    if (isa<stablehlo::CompositeOp>(op) || op->getName().getDialectNamespace() == "sdy" ||
        op->getName().getDialectNamespace() == "check") {
      op->emitError() << "'" << op->getName() << "' is left after phase input";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
