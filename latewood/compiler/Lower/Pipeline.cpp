// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Phase Lower.

#include "latewood/compiler/Lower/Pipeline.h"
#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "latewood/compiler/Lower/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace latewood;

void lower::buildLowerPipeline(OpPassManager &pipeline) {
  pipeline.addPass(createConvertToExecutorPass());
  // Equal views of constants and workspace become one, so that the program reads well.
  pipeline.addNestedPass<func::FuncOp>(createCSEPass());
  pipeline.addNestedPass<func::FuncOp>(createAllowSameAddressPass());
}

LogicalResult lower::verifyPostcondition(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    WalkResult result = function.getBody().walk([](Operation *op) -> WalkResult {
      if (isa<executor::ExecutorDialect, scf::SCFDialect>(op->getDialect()) || isa<func::ReturnOp>(op))
        return WalkResult::advance();
      return op->emitError() << "'" << op->getName() << "' is left in the host program";
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}
