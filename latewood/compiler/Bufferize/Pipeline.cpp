// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Phase Bufferize.

#include "latewood/compiler/Bufferize/Pipeline.h"
#include "latewood/compiler/Bufferize/Passes.h"
#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace latewood;

void bufferize::buildBufferizePipeline(OpPassManager &pipeline) {
  // Before the slots are requested, so that a constant that is returned is already one of the file.
  pipeline.addPass(createOutlineConstantsPass());
  pipeline.addNestedPass<func::FuncOp>(createRequestSlotsPass());
  // Bufferization then leaves control flow alone.
  pipeline.addNestedPass<func::FuncOp>(createCarryBuffersPass());
  // Identity layouts at the boundary: arguments and results are canonical by contract.
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  pipeline.addPass(bufferization::createOneShotBufferizePass(options));
  // Before anything is simplified: a branch that chooses among buffers chooses between copies.
  pipeline.addNestedPass<func::FuncOp>(createOwnBuffersPass());
  // Bufferization leaves casts and copies of a buffer onto itself; only after CSE are the latter visible.
  pipeline.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  pipeline.addNestedPass<func::FuncOp>(createCSEPass());
  pipeline.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  pipeline.addNestedPass<func::FuncOp>(createFinishSlotsPass());
  // When nothing is copied into slots any more.
  pipeline.addNestedPass<func::FuncOp>(createKeepOnDevicePass());
}

LogicalResult bufferize::verifyPostcondition(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.getNumResults() != 0)
      return function.emitError() << "still returns values after bufferization";
    WalkResult result = function.walk([&](Operation *op) -> WalkResult {
      auto isTensor = [](Type type) { return isa<TensorType>(type); };
      if (llvm::any_of(op->getResultTypes(), isTensor) || llvm::any_of(op->getOperandTypes(), isTensor))
        return op->emitError("still works on tensors after bufferization");
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}
