// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products on buffers become loops around the library's register-tile kernels. What runs how is decided in
// ContractionPlan, how it is written in ContractionEmitter. What the planner cannot decide, because an extent is
// dynamic, the program does: each of its questions becomes an scf.if, with a product planned for either answer.
//
// In:  cpu.contract on buffers.
// Out: scf.forall tasks (sequential loops for small products of static shape), scf.for, scf.if, vector code for the
//      epilogues, and cpu.library_call. Scratch is memref.alloc at the head of a task, or before the loops of a
//      sequential product; nothing frees it, its memory is planned. No cpu.contract is left.

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

static bool isStatic(cpu::ContractOp op) {
  return llvm::all_of(op->getOperandTypes(), [](Type type) {
    auto buffer = dyn_cast<MemRefType>(type);
    return !buffer ||
           (buffer.hasStaticShape() && llvm::none_of(buffer.getStridesAndOffset().first, ShapedType::isDynamic));
  });
}

// Writes the product for these answers, and for both answers to what is left open. Fails, with a reason, where there is
// no plan.
static LogicalResult emitProduct(cpu::ContractOp op, const target::Target &target,
                                 SmallVectorImpl<cpu::PlanQuestion> &answers, OpBuilder &builder, std::string &reason) {
  std::optional<cpu::PlanQuestion> open;
  if (!isStatic(op)) {
    // What a plan computes that is not used is written elsewhere.
    OwningOpRef<ModuleOp> aside(ModuleOp::create(builder, op.getLoc()));
    OpBuilder writer = OpBuilder::atBlockBegin(aside->getBody());
    if (failed(cpu::planContraction(op, target, answers, writer, open, reason)))
      return failure();
  }
  if (!open) {
    FailureOr<cpu::ContractionPlan> plan = cpu::planContraction(op, target, answers, builder, open, reason);
    if (failed(plan))
      return failure();
    cpu::ContractionEmitter(op, *plan, builder).emit();
    return success();
  }
  Location loc = op.getLoc();
  auto predicate = open->isExact ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sle;
  Value answer = arith::CmpIOp::create(builder, loc, predicate, open->size.materialize(builder, loc),
                                       arith::ConstantIndexOp::create(builder, loc, open->bound));
  auto branch = scf::IfOp::create(builder, loc, answer, /*withElseRegion=*/true);
  for (bool yes : {true, false}) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(yes ? branch.thenYield() : branch.elseYield());
    answers.push_back(*open);
    answers.back().answer = yes;
    LogicalResult result = emitProduct(op, target, answers, builder, reason);
    answers.pop_back();
    if (failed(result))
      return failure();
  }
  return success();
}

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
        SmallVector<cpu::PlanQuestion> answers;
        if (failed(emitProduct(op, *target, answers, rewriter, reason))) {
          op.emitRemark() << "this product runs in plain loops, because " << reason;
          cpu::emitContractionLoops(op, rewriter);
        }
      }
      rewriter.eraseOp(op);
    }
  }
};
} // namespace
