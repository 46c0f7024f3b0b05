// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The postcondition of the engine: nothing but LLVM functions, and nothing in them that LLVM would turn into a call
// that an image cannot make.

#include "latewood/compiler/Dialect/CPU/CPU.h"
#include "latewood/compiler/Engines/CPU/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace latewood::cpu {
#define GEN_PASS_DEF_CHECKCPUCODEPASS
#include "latewood/compiler/Engines/CPU/Passes.h.inc"
} // namespace latewood::cpu

using namespace mlir;
using namespace latewood;
using namespace latewood::cpu;

namespace {

struct CheckCPUCodePass : cpu::impl::CheckCPUCodePassBase<CheckCPUCodePass> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
      if (op == getOperation().getOperation())
        return WalkResult::advance();
      if (isa<UnrealizedConversionCastOp>(op))
        return op->emitError("a conversion between ") << op->getOperandTypes() << " and " << op->getResultTypes()
                                                      << " is left over: one of its users was not lowered";
      if (!isa<LLVM::LLVMDialect>(op->getDialect()))
        return op->emitOpError("is left over after lowering to the LLVM dialect: the CPU engine has no form for it");
      if (isa<LLVM::ExpOp, LLVM::Exp2Op, LLVM::LogOp, LLVM::Log2Op, LLVM::Log10Op, LLVM::SinOp, LLVM::CosOp,
              LLVM::PowOp, LLVM::PowIOp, LLVM::FRemOp, LLVM::TanOp, LLVM::ATan2Op, LLVM::TanhOp>(op))
        return op->emitOpError("would call the C library, which an image does not have");
      if (auto call = dyn_cast<LLVM::CallOp>(op))
        if (std::optional<StringRef> callee = call.getCallee();
            callee && (*callee == "malloc" || *callee == "free" || *callee == "memrefCopy"))
          return op->emitOpError("allocates or copies at run time: memory planning did not cover it");
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (!function.isExternal() && !function.isPrivate() && function.getLinkage() == LLVM::Linkage::External &&
          !function->hasAttr(ParallelForOp::getWorkspaceAttrName())) {
        function.emitError("has no planned workspace");
        return signalPassFailure();
      }
  }
};

} // namespace
