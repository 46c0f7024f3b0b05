// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// while, if and case become scf.while, scf.if and scf.index_switch.
//
// A 0-dimensional value that a loop carries or a branch yields is a scalar of scf, not a tensor: loop counters and
// conditions live in registers, and upstream's transformation of counted loops recognises them. Inside, the scalar is a
// fill, which its readers look through.

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalg.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace latewood;

/// The type that a converted tensor has as a value of scf.
static Type getCarriedType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getRank() == 0 ? tensor.getElementType() : type;
}

static SmallVector<Value> toCarried(ImplicitLocOpBuilder &b, ValueRange tensors) {
  return llvm::map_to_vector(tensors, [&](Value tensor) {
    return getCarriedType(tensor.getType()) == tensor.getType() ? tensor : cpu::getOnlyElement(b, tensor);
  });
}

/// The tensors that carried values stand for; `types` are theirs.
static SmallVector<Value> fromCarried(ImplicitLocOpBuilder &b, ValueRange carried, ArrayRef<Type> types) {
  SmallVector<Value> tensors;
  for (auto [value, type] : llvm::zip_equal(carried, types))
    tensors.push_back(value.getType() == type ? value : cpu::makeUniform(b, cast<RankedTensorType>(type), value));
  return tensors;
}

/// Moves the only block of `from` to a new block of `to` whose arguments are carried values.
static void moveRegion(ConversionPatternRewriter &rewriter, Location loc, Region &from, Region &to,
                       ArrayRef<Type> types) {
  SmallVector<Type> carried = llvm::map_to_vector(types, getCarriedType);
  Block *block = rewriter.createBlock(&to, to.end(), carried, SmallVector<Location>(carried.size(), loc));
  rewriter.setInsertionPointToStart(block);
  ImplicitLocOpBuilder b(loc, rewriter);
  SmallVector<Value> tensors = fromCarried(b, block->getArguments(), types);
  rewriter.inlineBlockBefore(&from.front(), block, block->end(), tensors);
}

namespace {

struct WhileToSCF : OpConversionPattern<stablehlo::WhileOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::WhileOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Type> carried = llvm::map_to_vector(types, getCarriedType);
    auto loop = scf::WhileOp::create(b, carried, toCarried(b, adaptor.getOperand()));
    {
      OpBuilder::InsertionGuard guard(rewriter);
      moveRegion(rewriter, op.getLoc(), op.getCond(), loop.getBefore(), types);
      moveRegion(rewriter, op.getLoc(), op.getBody(), loop.getAfter(), types);
    }
    b.setInsertionPointAfter(loop);
    rewriter.replaceOp(op, fromCarried(b, loop.getResults(), types));
    return success();
  }
};

struct IfToSCF : OpConversionPattern<stablehlo::IfOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::IfOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value condition = cpu::loadElement(b, cpu::getOnlyElement(b, adaptor.getPred()), cpu::getElement(op.getPred()));
    SmallVector<Type> carried = llvm::map_to_vector(types, getCarriedType);
    auto branch = scf::IfOp::create(b, carried, condition, /*addThenBlock=*/false, /*addElseBlock=*/false);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      moveRegion(rewriter, op.getLoc(), op.getTrueBranch(), branch.getThenRegion(), {});
      moveRegion(rewriter, op.getLoc(), op.getFalseBranch(), branch.getElseRegion(), {});
    }
    b.setInsertionPointAfter(branch);
    rewriter.replaceOp(op, fromCarried(b, branch.getResults(), types));
    return success();
  }
};

/// An index out of range takes the last branch, which is the default of scf.index_switch.
struct CaseToSCF : OpConversionPattern<stablehlo::CaseOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::CaseOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value index = cpu::getOnlyElement(b, adaptor.getIndex());
    index = arith::IndexCastOp::create(b, b.getIndexType(), index);
    SmallVector<Type> carried = llvm::map_to_vector(types, getCarriedType);
    unsigned last = op.getBranches().size() - 1;
    auto branch = scf::IndexSwitchOp::create(b, carried, index, llvm::to_vector(llvm::seq<int64_t>(0, last)), last);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      for (unsigned i = 0; i < last; ++i)
        moveRegion(rewriter, op.getLoc(), op.getBranches()[i], branch.getCaseRegions()[i], {});
      moveRegion(rewriter, op.getLoc(), op.getBranches()[last], branch.getDefaultRegion(), {});
    }
    b.setInsertionPointAfter(branch);
    rewriter.replaceOp(op, fromCarried(b, branch.getResults(), types));
    return success();
  }
};

/// Terminators are converted where they have been moved to.
struct ReturnToYield : OpConversionPattern<stablehlo::ReturnOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::ReturnOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto loop = dyn_cast<scf::WhileOp>(op->getParentOp());
    if (loop && op->getParentRegion() == &loop.getBefore()) {
      Value condition = cpu::loadElement(b, cpu::getOnlyElement(b, adaptor.getResults().front()), b.getI1Type());
      rewriter.replaceOpWithNewOp<scf::ConditionOp>(op, condition, op->getBlock()->getArguments());
      return success();
    }
    if (!loop && !isa<scf::IfOp, scf::IndexSwitchOp>(op->getParentOp()))
      return failure();
    SmallVector<Value> carried = toCarried(b, adaptor.getResults());
    rewriter.replaceOpWithNewOp<scf::YieldOp>(op, carried);
    return success();
  }
};

/// A barrier orders nothing that the generated code could reorder: its operands are values.
struct BarrierToOperands : OpConversionPattern<stablehlo::OptimizationBarrierOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::OptimizationBarrierOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getOperand());
    return success();
  }
};

} // namespace

void cpu::populateControlFlowToSCF(const TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<BarrierToOperands, CaseToSCF, IfToSCF, ReturnToYield, WhileToSCF>(types, patterns.getContext());
}
