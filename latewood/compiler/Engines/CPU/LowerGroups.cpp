// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups, single linalg operations and copies, all on buffers, become loops over vectors.
//
// In: buffers; no operation on tensors except inside the regions of cpu.group. Out: scf, vector, arith, math and
// memref; what runs in parallel is an scf.forall without results. The work is done by LoopProgram (what is computed,
// and the choices) and ProgramEmitter (the code); this pass finds the operations and reports what could not be
// vectorized.

#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Engines/CPU/Passes.h"
#include "latewood/compiler/Engines/CPU/ProgramEmitter.h"
#include "latewood/compiler/Engines/CPU/TargetOf.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace latewood::cpu {
#define GEN_PASS_DEF_LOWERGROUPSPASS
#include "latewood/compiler/Engines/CPU/Passes.h.inc"
} // namespace latewood::cpu

using namespace mlir;
using namespace latewood;
using namespace latewood::cpu;

namespace {

/// Scalar loops shorter than this are not worth a remark.
constexpr int64_t remarkableIterations = 256;

void remarkScalars(const Program &program) {
  for (const Statement &statement : program.statements) {
    if (statement.width > 1 || statement.iterations() < remarkableIterations)
      continue;
    bool rowScalar = statement.isRowScalar() && !statement.hasReduction();
    if (rowScalar && statement.notVectorizable.empty())
      continue;
    std::string reason = statement.notVectorizable;
    if (reason.empty())
      reason = statement.combiner.kind == Combiner::Kind::None && statement.hasReduction()
                   ? "the order of the reduction is fixed"
                   : "no loop walks through memory without gaps";
    const_cast<Statement &>(statement).op.emitRemark("not vectorized: ") << reason;
  }
}

struct LowerGroupsPass : cpu::impl::LowerGroupsPassBase<LowerGroupsPass> {
  void runOnOperation() override {
    FailureOr<target::Target> target = getTargetOf(getOperation());
    if (failed(target))
      return signalPassFailure();
    SmallVector<Operation *> ops;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<GroupOp, linalg::LinalgOp, memref::CopyOp>(op)) {
        ops.push_back(op);
        return WalkResult::skip();
      }
      return WalkResult::advance();
    });
    for (Operation *op : ops)
      if (failed(lower(op, *target)))
        return signalPassFailure();
  }

  LogicalResult lower(Operation *op, const target::Target &target) {
    IRRewriter rewriter(op);
    bool parallel = !op->getParentOfType<scf::ForallOp>();
    auto emit = [&](FailureOr<Program> program) -> LogicalResult {
      if (failed(program))
        return failure();
      remarkScalars(*program);
      ProgramEmitter(rewriter, op->getLoc(), *program).emit(parallel);
      return success();
    };
    if (auto group = dyn_cast<GroupOp>(op)) {
      if (failed(emit(buildProgram(group, target))))
        return failure();
      rewriter.eraseOp(op);
      return success();
    }
    if (auto copy = dyn_cast<memref::CopyOp>(op)) {
      auto type = dyn_cast<MemRefType>(copy.getTarget().getType());
      if (!type || !isa<MemRefType>(copy.getSource().getType()))
        return copy.emitError("cannot copy a buffer of unknown rank");
      if (copy.getSource() == copy.getTarget()) {
        rewriter.eraseOp(op);
        return success();
      }
      SmallVector<AffineMap> maps(2, rewriter.getMultiDimIdentityMap(type.getRank()));
      SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
      auto generic = linalg::GenericOp::create(
          rewriter, op->getLoc(), ValueRange(copy.getSource()), ValueRange(copy.getTarget()), maps, iterators,
          [](OpBuilder &b, Location loc, ValueRange args) { linalg::YieldOp::create(b, loc, args.front()); });
      rewriter.setInsertionPoint(op);
      LogicalResult result = emit(buildProgram(generic, target));
      rewriter.eraseOp(generic);
      rewriter.eraseOp(op);
      return result;
    }
    auto linalgOp = cast<linalg::LinalgOp>(op);
    if (!linalgOp.hasPureBufferSemantics())
      return op->emitError("is on tensors where buffers are expected");
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic) {
      FailureOr<linalg::GenericOp> generalized = linalg::generalizeNamedOp(rewriter, linalgOp);
      if (failed(generalized))
        return op->emitError("has no form as linalg.generic");
      generic = *generalized;
    }
    rewriter.setInsertionPoint(generic);
    op = generic;
    LogicalResult result = emit(buildProgram(generic, target));
    rewriter.eraseOp(generic);
    return result;
  }
};

} // namespace
