// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From clusters of the engine `tensorrt`, as phase Cluster leaves them, to networks and calls of networks. A cluster
// function takes what engines of the CPU need, too: its destinations, and the extents of its arguments as scalars. A
// network finds extents by itself, and TensorRT is told about destinations when it runs.
//
// In:  nested modules of the engine `tensorrt`, whose functions hold the `tensorrt` dialect; calls of them.
// Out: a tensorrt.module for each, under its name; tensorrt.call and tensorrt.call_alloc.

#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Dialect/TensorRT/TensorRT.h"
#include "latewood/compiler/Engines/TensorRT/EngineBuilder.h"
#include "latewood/compiler/Engines/TensorRT/Passes.h"

using namespace mlir;

namespace latewood::tensorrt {

#define GEN_PASS_DEF_CONVERTPLANTOTENSORRTPASS
#include "latewood/compiler/Engines/TensorRT/Passes.h.inc"

namespace {

class ConvertPlanToTensorRTPass : public impl::ConvertPlanToTensorRTPassBase<ConvertPlanToTensorRTPass> {
public:
  void runOnOperation() override {
    taken.clear();
    for (auto module : llvm::make_early_inc_range(getOperation().getOps<mlir::ModuleOp>())) {
      auto engine = module->getAttrOfType<plan::EngineAttrInterface>(plan::PlanDialect::getEngineAttrName());
      if (engine && engine.getEngineName() == "tensorrt" && module.getSymName())
        convertModule(module);
    }
    if (taken.empty())
      return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      function.walk([&](Operation *op) {
        if (auto call = dyn_cast<plan::CallOp>(op))
          convertCall(op, call.getCallee(), call.getInputs(), call.getOuts(), false);
        else if (auto call = dyn_cast<plan::CallAllocOp>(op))
          convertCall(op, call.getCallee(), call.getInputs(), {}, true);
      });
  }

private:
  void convertModule(mlir::ModuleOp module) {
    OpBuilder builder(module);
    auto networks = ModuleOp::create(builder, module.getLoc(), *module.getSymName());
    Block &body = networks.getBodyRegion().front();
    for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
      op.moveBefore(&body, body.end());
      if (auto function = dyn_cast<func::FuncOp>(op))
        taken[{module.getSymNameAttr(), function.getSymNameAttr()}] = keepInputs(function);
    }
    module.erase();
  }

  /// Gives the function the arguments of its network, and says which they were.
  static SmallVector<unsigned> keepInputs(func::FuncOp function) {
    SmallVector<unsigned> inputs = getNetworkInputs(function);
    BitVector others(function.getNumArguments(), true);
    for (unsigned i : inputs)
      others.reset(i);
    (void)function.eraseArguments(others);
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      function.removeArgAttr(i, plan::PlanDialect::getExtentsAttrName());
    return inputs;
  }

  void convertCall(Operation *op, SymbolRefAttr callee, OperandRange inputs, ValueRange outs, bool allocates) {
    auto known = taken.find({callee.getRootReference(), callee.getLeafReference()});
    if (known == taken.end())
      return;
    SmallVector<Value> kept = llvm::map_to_vector(known->second, [&](unsigned i) -> Value { return inputs[i]; });
    OpBuilder builder(op);
    Operation *call =
        allocates ? CallAllocOp::create(builder, op->getLoc(), op->getResultTypes(), callee, kept).getOperation()
                  : CallOp::create(builder, op->getLoc(), op->getResultTypes(), callee, kept, outs).getOperation();
    op->replaceAllUsesWith(call);
    op->erase();
  }

  /// By module and function: which arguments of the cluster function the network has.
  DenseMap<std::pair<StringAttr, StringAttr>, SmallVector<unsigned>> taken;
};

} // namespace
} // namespace latewood::tensorrt
