// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Takes tensors without elements out of the program. What computes nothing is a constant; what reads nothing reads only
// its other operands. So no later pass meets a slice that begins behind the end of a tensor, or a loop that never runs
// around code that was made for at least one iteration.
//
// In:  StableHLO in which some extents are 0.
// Out: the same results; tensors without elements are constants, and arguments.

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Input/Passes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace latewood::input {

#define GEN_PASS_DEF_FOLDEMPTYTENSORSPASS
#include "latewood/compiler/Input/Passes.h.inc"

namespace {

bool isEmpty(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && llvm::is_contained(tensor.getShape(), 0) && tensor.hasStaticShape();
}

Value createEmpty(OpBuilder &builder, Location loc, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return stablehlo::ConstantOp::create(builder, loc, tensor, DenseElementsAttr::get(tensor, ArrayRef<Attribute>()));
}

// An operation without side effects whose results have no elements.
struct FoldEmptyResults : RewritePattern {
  FoldEmptyResults(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/2, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (op->getNumResults() == 0 || op->hasTrait<OpTrait::ConstantLike>() ||
        !llvm::all_of(op->getResultTypes(), isEmpty) || !isMemoryEffectFree(op))
      return failure();
    SmallVector<Value> constants;
    for (Type type : op->getResultTypes())
      constants.push_back(createEmpty(rewriter, op->getLoc(), type));
    rewriter.replaceOp(op, constants);
    return success();
  }
};

// Pieces without elements add nothing.
struct DropEmptyPieces : OpRewritePattern<stablehlo::ConcatenateOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(stablehlo::ConcatenateOp op, PatternRewriter &rewriter) const override {
    SmallVector<Value> pieces(llvm::make_filter_range(op.getInputs(), [](Value v) { return !isEmpty(v.getType()); }));
    if (pieces.size() == op.getInputs().size() || pieces.empty())
      return failure();
    if (pieces.size() == 1 && pieces.front().getType() == op.getType())
      rewriter.replaceOp(op, pieces.front());
    else
      rewriter.replaceOpWithNewOp<stablehlo::ConcatenateOp>(op, op.getType(), pieces, op.getDimension());
    return success();
  }
};

// Around nothing there is only padding.
struct PadNothing : OpRewritePattern<stablehlo::PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(stablehlo::PadOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    if (!isEmpty(op.getOperand().getType()) || !type.hasStaticShape())
      return failure();
    rewriter.replaceOpWithNewOp<stablehlo::BroadcastInDimOp>(op, type, op.getPaddingValue(), ArrayRef<int64_t>());
    return success();
  }
};

// Writing nothing changes nothing.
struct UpdateByNothing : OpRewritePattern<stablehlo::DynamicUpdateSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(stablehlo::DynamicUpdateSliceOp op, PatternRewriter &rewriter) const override {
    if (!isEmpty(op.getUpdate().getType()) || op.getOperand().getType() != op.getType())
      return failure();
    rewriter.replaceOp(op, op.getOperand());
    return success();
  }
};

struct ScatterNothing : OpRewritePattern<stablehlo::ScatterOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(stablehlo::ScatterOp op, PatternRewriter &rewriter) const override {
    if (!isEmpty(op.getUpdates().front().getType()) || op.getInputs().getTypes() != op.getResultTypes())
      return failure();
    rewriter.replaceOp(op, op.getInputs());
    return success();
  }
};

class FoldEmptyTensorsPass : public impl::FoldEmptyTensorsPassBase<FoldEmptyTensorsPass> {
public:
  void runOnOperation() override {
    // Most programs have none, and need no search for patterns.
    WalkResult any = getOperation().walk([](Operation *op) {
      return llvm::any_of(op->getOperandTypes(), isEmpty) || llvm::any_of(op->getResultTypes(), isEmpty)
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (!any.wasInterrupted())
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldEmptyResults, DropEmptyPieces, PadNothing, UpdateByNothing, ScatterNothing>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace latewood::input
