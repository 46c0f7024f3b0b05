// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Phase Cluster.

#include "latewood/compiler/Cluster/Pipeline.h"
#include "latewood/compiler/Cluster/Passes.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Dialect/TensorRT/TensorRT.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace latewood;

void cluster::buildClusterPipeline(OpPassManager &pipeline, const std::vector<std::string> &engines,
                                   const std::vector<std::string> &allocating) {
  // First, so that engines are asked about operations whose extents are scalars.
  pipeline.addNestedPass<func::FuncOp>(createMaterializeShapesPass());
  pipeline.addNestedPass<func::FuncOp>(createPropagateBoundsPass());
  // While it is visible of what extents are made.
  pipeline.addPass(createCreateShapeFunctionsPass());
  FormClustersPassOptions options;
  options.engines.assign(engines.begin(), engines.end());
  pipeline.addNestedPass<func::FuncOp>(createFormClustersPass(options));
  CreateClosedRegionsPassOptions closing;
  closing.allocating.assign(allocating.begin(), allocating.end());
  pipeline.addNestedPass<func::FuncOp>(createCreateClosedRegionsPass(closing));
  // Constants and shapes that were copied into clusters have no use left in the host.
  pipeline.addNestedPass<func::FuncOp>(createCSEPass());
  pipeline.addPass(createOutlineClustersPass());
}

LogicalResult cluster::verifyPostcondition(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    WalkResult result = function.getBody().walk([](Operation *op) -> WalkResult {
      if (isa<plan::AssertOp, plan::CallOp, plan::CallAllocOp, plan::WithShapeOp, tensor::DimOp, tensor::EmptyOp,
              tensor::ExtractOp, tensor::InsertOp, tensorrt::CallOp, tensorrt::CallAllocOp, func::ReturnOp>(op) ||
          isa<arith::ArithDialect, scf::SCFDialect>(op->getDialect()) || op->hasTrait<OpTrait::ConstantLike>())
        return WalkResult::advance();
      return op->emitError() << "'" << op->getName() << "' is left in a host function after clustering";
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}
