// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products on buffers become loops around the library's register-tile kernels. What runs how is decided in
// ContractionPlan, how it is written in ContractionEmitter.
//
// In:  cpu.contract on buffers.
// Out: scf.forall tasks (sequential loops for small products), scf.for, vector code for the epilogues, and
//      cpu.library_call. Scratch is memref.alloc at the head of a task, or before the loops of a sequential product;
//      nothing frees it, its memory is planned. No cpu.contract is left.

#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Engines/CPU/ContractionEmitter.h"
#include "latewood/compiler/Engines/CPU/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"

namespace latewood::cpu {
#define GEN_PASS_DEF_LOWERCONTRACTIONSPASS
#include "latewood/compiler/Engines/CPU/Passes.h.inc"
} // namespace latewood::cpu

using namespace mlir;
using namespace latewood;

namespace {
class LowerContractionsPass : public cpu::impl::LowerContractionsPassBase<LowerContractionsPass> {
  void runOnOperation() override {
    SmallVector<cpu::ContractOp> contractions;
    getOperation().walk([&](cpu::ContractOp op) { contractions.push_back(op); });
    if (contractions.empty())
      return;

    plan::TargetAttr attribute = plan::getTarget(getOperation());
    if (!attribute) {
      getOperation().emitError() << "is in no module with the attribute '" << plan::PlanDialect::getTargetAttrName()
                                 << "': products are compiled for a target";
      return signalPassFailure();
    }
    llvm::Expected<target::Target> target = target::Target::resolve(attribute.getCpu());
    if (!target) {
      getOperation().emitError() << llvm::toString(target.takeError());
      return signalPassFailure();
    }

    IRRewriter rewriter(&getContext());
    for (cpu::ContractOp op : contractions) {
      if (!isa<MemRefType>(op.getInit().getType())) {
        op.emitOpError() << "must be on buffers here: it runs after bufferization";
        return signalPassFailure();
      }
      rewriter.setInsertionPoint(op);
      auto isEmpty = [](Value buffer) {
        auto type = cast<MemRefType>(buffer.getType());
        return type.hasStaticShape() && type.getNumElements() == 0;
      };
      std::string reason;
      if (isEmpty(op.getInit())) {
        // There is nothing to compute.
      } else if (isEmpty(op.getLhs()) || isEmpty(op.getRhs())) {
        cpu::emitContractionLoops(op, rewriter);
      } else {
        FailureOr<cpu::ContractionPlan> plan = cpu::planContraction(op, *target, reason);
        if (succeeded(plan)) {
          cpu::ContractionEmitter(op, *plan, rewriter).emit();
        } else {
          op.emitRemark() << "this product runs in plain loops, because " << reason;
          cpu::emitContractionLoops(op, rewriter);
        }
      }
      rewriter.eraseOp(op);
    }
  }
};
} // namespace
