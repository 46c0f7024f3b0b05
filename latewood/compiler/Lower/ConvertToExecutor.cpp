// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From buffers to the host program. The workspace of a function has two parts: the buffers that pass from one cluster to another,
// each with a place of its own, and behind them the scratch memory of the cluster that runs, sized by the largest.
//
// In:  host functions of memref operations and cluster calls; engine functions lowered to LLVM.
// Out: host functions of executor operations.

#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Lower/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace latewood::lower {

#define GEN_PASS_DEF_CONVERTTOEXECUTORPASS
#include "latewood/compiler/Lower/Passes.h.inc"

namespace {

constexpr int64_t alignment = 64;

class ConvertToExecutorPass : public impl::ConvertToExecutorPassBase<ConvertToExecutorPass> {
public:
  void runOnOperation() override {
    SymbolTableCollection symbols;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(convert(function, symbols)))
        return signalPassFailure();
  }

private:
  // Bytes of scratch memory that the callee of `call` needs.
  FailureOr<int64_t> getScratchBytes(plan::CallOp call, SymbolTableCollection &symbols) {
    auto callee = symbols.lookupNearestSymbolFrom<LLVM::LLVMFuncOp>(call, call.getCallee());
    if (!callee)
      return call.emitError() << "callee " << call.getCallee() << " has not been compiled by its engine";
    auto bytes = callee->getAttrOfType<IntegerAttr>("cpu.workspace_bytes");
    return bytes ? bytes.getInt() : 0;
  }

  LogicalResult convert(func::FuncOp function, SymbolTableCollection &symbols) {
    IRRewriter rewriter(&getContext());
    int64_t bufferBytes = 0, scratchBytes = 0;
    SmallVector<plan::CallOp> calls;
    for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
      rewriter.setInsertionPoint(&op);
      if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
        auto bytes = executor::getByteSize(alloc.getType());
        if (failed(bytes))
          return op.emitError() << "a buffer between clusters needs a static shape, got " << alloc.getType();
        rewriter.replaceOpWithNewOp<executor::WorkspaceOp>(&op, alloc.getType(), bufferBytes);
        bufferBytes = llvm::alignTo(bufferBytes + *bytes, alignment);
      } else if (isa<memref::DeallocOp>(op)) {
        rewriter.eraseOp(&op);
      } else if (auto copy = dyn_cast<memref::CopyOp>(op)) {
        if (copy.getSource().getType() != copy.getTarget().getType())
          return op.emitError() << "copies " << copy.getSource().getType() << " to " << copy.getTarget().getType()
                                << "; the host copies whole buffers of one type";
        rewriter.replaceOpWithNewOp<executor::CopyOp>(&op, copy.getSource(), copy.getTarget());
      } else if (auto call = dyn_cast<plan::CallOp>(op)) {
        auto bytes = getScratchBytes(call, symbols);
        if (failed(bytes))
          return failure();
        scratchBytes = std::max(scratchBytes, *bytes);
        calls.push_back(call);
      } else if (!isa<executor::ExecutorDialect>(op.getDialect()) && !isa<func::ReturnOp>(op)) {
        return op.emitError() << "'" << op.getName() << "' has no form in the host program";
      }
    }
    // Only now is it known where the scratch memory begins.
    for (plan::CallOp call : calls) {
      rewriter.setInsertionPoint(call);
      int64_t bytes = *getScratchBytes(call, symbols);
      Value scratch;
      if (bytes != 0)
        scratch = executor::WorkspaceOp::create(rewriter, call.getLoc(),
                                                MemRefType::get({bytes}, rewriter.getI8Type()), bufferBytes);
      executor::LaunchOp::create(rewriter, call.getLoc(), call.getCallee(), llvm::to_vector(call.getOperands()), scratch);
      rewriter.eraseOp(call);
    }
    function->setAttr(executor::ExecutorDialect::getWorkspaceBytesAttrName(),
                      rewriter.getI64IntegerAttr(bufferBytes + scratchBytes));
    return success();
  }
};

} // namespace
} // namespace latewood::lower
