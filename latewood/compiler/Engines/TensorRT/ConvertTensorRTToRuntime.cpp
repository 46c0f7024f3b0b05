// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Behind the builder: who called a network runs its engine, in the same of the two ways. An allocating run gets no
// slots yet: phase Bufferize knows which of its results the program returns.
//
// In:  networks with their engines beside them, and calls of networks.
// Out: runs of engines, and no networks.

#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Dialect/TensorRT/TensorRT.h"
#include "latewood/compiler/Dialect/TensorRTRuntime/TensorRTRuntime.h"
#include "latewood/compiler/Engines/TensorRT/Passes.h"

using namespace mlir;

namespace latewood::tensorrt {

#define GEN_PASS_DEF_CONVERTTENSORRTTORUNTIMEPASS
#include "latewood/compiler/Engines/TensorRT/Passes.h.inc"

namespace {

class ConvertTensorRTToRuntimePass : public impl::ConvertTensorRTToRuntimePassBase<ConvertTensorRTToRuntimePass> {
public:
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    WalkResult result = getOperation().walk([&](Operation *op) -> WalkResult {
      if (auto call = dyn_cast<CallOp>(op))
        return convert(call, call.getCallee(), call.getInputs(), call.getOuts(), symbols);
      if (auto call = dyn_cast<CallAllocOp>(op))
        return convert(call, call.getCallee(), call.getInputs(), {}, symbols);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    for (auto networks : llvm::make_early_inc_range(getOperation().getOps<ModuleOp>()))
      networks.erase();
  }

private:
  static LogicalResult convert(Operation *op, SymbolRefAttr callee, OperandRange inputs, ValueRange outs,
                               SymbolTable &symbols) {
    if (!symbols.lookup<tensorrt_runtime::EngineOp>(callee.getLeafReference()))
      return op->emitOpError() << "calls " << callee << ", for which no engine has been built";
    auto engine = FlatSymbolRefAttr::get(callee.getLeafReference());
    OpBuilder builder(op);
    Operation *run;
    if (isa<CallAllocOp>(op))
      run = tensorrt_runtime::EnqueueAllocOp::create(
          builder, op->getLoc(), op->getResultTypes(), engine, inputs,
          builder.getDenseI64ArrayAttr(SmallVector<int64_t>(op->getNumResults(), -1)));
    else
      run = tensorrt_runtime::EnqueueOp::create(builder, op->getLoc(), op->getResultTypes(), engine, inputs, outs);
    op->replaceAllUsesWith(run);
    op->erase();
    return success();
  }
};

} // namespace
} // namespace latewood::tensorrt
