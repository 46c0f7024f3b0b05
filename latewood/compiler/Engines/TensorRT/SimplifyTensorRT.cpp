// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass SimplifyTensorRT: layers that only move elements disappear, into each other, into matrix products, and into
// the broadcasting that elementwise layers do themselves.
//
// In: a network as the conversion wrote it. Out: an equal one, with fewer and smaller layers. Quantized values stay
// next to the layers that use them: nothing is moved across quantize and dequantize.
#include "latewood/compiler/Engines/TensorRT/LayerBuilder.h"
#include "latewood/compiler/Engines/TensorRT/Passes.h"
#include "latewood/compiler/Engines/TensorRT/StableHLOToTensorRT.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace latewood::tensorrt {
#define GEN_PASS_DEF_SIMPLIFYTENSORRTPASS
#include "latewood/compiler/Engines/TensorRT/Passes.h.inc"
} // namespace latewood::tensorrt

using namespace mlir;
using namespace latewood;
using namespace latewood::tensorrt;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

//===----------------------------------------------------------------------===//
// Transposes and reshapes
//===----------------------------------------------------------------------===//

namespace {

struct MergeTransposes : OpRewritePattern<tensorrt::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensorrt::TransposeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<tensorrt::TransposeOp>();
    if (!inner)
      return failure();
    SmallVector<int64_t> both =
        llvm::map_to_vector(op.getPermutation(), [&](int64_t i) { return inner.getPermutation()[i]; });
    if (isIdentity(both) && inner.getInput().getType() == op.getType()) {
      rewriter.replaceOp(op, inner.getInput());
      return success();
    }
    rewriter.replaceOpWithNewOp<tensorrt::TransposeOp>(op, op.getType(), inner.getInput(), both);
    return success();
  }
};

/// A transpose that moves no dimension of more than one element past another is a reshape, which costs nothing.
struct TransposeOfUnits : OpRewritePattern<tensorrt::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensorrt::TransposeOp op, PatternRewriter &rewriter) const override {
    if (!typeOf(op.getInput()).hasStaticShape())
      return failure();
    SmallVector<int64_t> moved;
    for (int64_t dim : op.getPermutation())
      if (typeOf(op.getInput()).getDimSize(dim) != 1)
        moved.push_back(dim);
    if (!llvm::is_sorted(moved))
      return failure();
    rewriter.replaceOpWithNewOp<tensorrt::ReshapeOp>(op, op.getType(), op.getInput(), Value());
    return success();
  }
};

/// What an operation reshapes without computing anything, if it is of known shape.
Value reshapedBy(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<tensorrt::ReshapeOp, SqueezeOp, UnsqueezeOp>(op) || !typeOf(op->getOperand(0)).hasStaticShape())
    return {};
  return op->getOperand(0);
}

/// Reshapes of reshapes; squeezes and unsqueezes count as such.
template <typename Op>
struct MergeReshapes : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Value input = op->getOperand(0);
    RankedTensorType type = op.getResult().getType();
    if (!type.hasStaticShape())
      return failure();
    if (input.getType() == type) {
      rewriter.replaceOp(op, input);
      return success();
    }
    if (DenseElementsAttr constant = getConstant(input); constant && input.getDefiningOp<tensorrt::ConstantOp>()) {
      rewriter.replaceOpWithNewOp<tensorrt::ConstantOp>(op, type, constant.reshape(type));
      return success();
    }
    Value source = reshapedBy(input);
    if (!source)
      return failure();
    rewriter.replaceOpWithNewOp<tensorrt::ReshapeOp>(op, type, source, Value());
    return success();
  }
};

/// A product reads a matrix the other way instead of transposing it.
struct TransposeIntoProduct : OpRewritePattern<MatrixMultiplyOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatrixMultiplyOp op, PatternRewriter &rewriter) const override {
    auto absorb = [&](Value &input, MatrixOperation &operation) {
      auto transpose = input.getDefiningOp<tensorrt::TransposeOp>();
      if (!transpose || operation == MatrixOperation::kVECTOR)
        return false;
      SmallVector<int64_t> swapped(transpose.getPermutation());
      size_t rank = swapped.size();
      std::swap(swapped[rank - 2], swapped[rank - 1]);
      if (!isIdentity(swapped))
        return false;
      input = transpose.getInput();
      operation = operation == MatrixOperation::kNONE ? MatrixOperation::kTRANSPOSE : MatrixOperation::kNONE;
      return true;
    };
    Value lhs = op.getInput0(), rhs = op.getInput1();
    MatrixOperation lhsOp = op.getOp0(), rhsOp = op.getOp1();
    bool changed = absorb(lhs, lhsOp);
    changed |= absorb(rhs, rhsOp);
    if (!changed)
      return failure();
    rewriter.replaceOpWithNewOp<MatrixMultiplyOp>(op, op.getType(), lhs, rhs, lhsOp, rhsOp);
    return success();
  }
};

/// A transpose, a reshape and a transpose are one shuffle. Done last, when everything else is settled.
struct FormShuffles : OpRewritePattern<tensorrt::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensorrt::ReshapeOp op, PatternRewriter &rewriter) const override {
    auto before = op.getInput().getDefiningOp<tensorrt::TransposeOp>();
    tensorrt::TransposeOp after;
    if (op->hasOneUse())
      after = dyn_cast<tensorrt::TransposeOp>(*op->user_begin());
    if ((!before && !after) || op.getShape() || !op.getType().hasStaticShape())
      return failure();
    // A product takes a transpose in rather than a shuffle.
    if (before && !before->hasOneUse())
      before = {};
    if (!before && !after)
      return failure();
    Operation *last = after ? after.getOperation() : op.getOperation();
    auto permutation = [&](tensorrt::TransposeOp transpose) {
      return transpose ? transpose.getPermutationAttr() : DenseI64ArrayAttr();
    };
    auto type = cast<RankedTensorType>(last->getResult(0).getType());
    rewriter.setInsertionPoint(last);
    rewriter.replaceOpWithNewOp<ShuffleOp>(last, type, before ? before.getInput() : op.getInput(), Value(),
                                           permutation(before), rewriter.getDenseI64ArrayAttr(op.getType().getShape()),
                                           permutation(after), rewriter.getBoolAttr(false));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Broadcasts
//===----------------------------------------------------------------------===//

/// What broadcasts to the value `value` by itself: of the same rank, with extents of 1 where it is repeated. Null if it
/// is no broadcast.
Value unrepeated(PatternRewriter &rewriter, Value value) {
  RankedTensorType type = typeOf(value);
  if (DenseElementsAttr constant = getConstant(value);
      constant && constant.isSplat() && type.hasStaticShape() && type.getNumElements() > 1) {
    auto small = RankedTensorType::get(SmallVector<int64_t>(type.getRank(), 1), type.getElementType());
    return tensorrt::ConstantOp::create(rewriter, value.getLoc(), small, constant.resizeSplat(small));
  }
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  if (!broadcast)
    return {};
  SmallVector<int64_t> axes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (!llvm::is_contained(broadcast.getBroadcastDims(), i))
      axes.push_back(i);
  Value input = broadcast.getInput();
  if (axes.empty())
    return input;
  LayerBuilder b(value.getLoc(), rewriter.getContext());
  b.setInsertionPoint(rewriter.getInsertionBlock(), rewriter.getInsertionPoint());
  b.setListener(rewriter.getListener());
  if (DenseElementsAttr constant = getConstant(input)) {
    SmallVector<int64_t> shape(type.getRank(), 1);
    for (auto [i, dim] : llvm::enumerate(broadcast.getBroadcastDims()))
      shape[dim] = typeOf(input).getDimSize(i);
    return b.constant(constant.reshape(RankedTensorType::get(shape, type.getElementType())));
  }
  return b.unsqueeze(input, axes);
}

/// Operands are not repeated where the layer does it itself.
template <typename Op>
struct BroadcastIntoElementwise : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    SmallVector<Value> operands(op->getOperands());
    RankedTensorType type = op.getResult().getType();
    // One after the other, as long as the others still have all extents of the result.
    bool changed = false;
    for (Value &operand : operands) {
      auto isRepeated = [](Value value) {
        DenseElementsAttr constant = getConstant(value);
        return value.getDefiningOp<BroadcastOp>() ||
               (constant && constant.isSplat() && typeOf(value).getNumElements() > 1);
      };
      if (!isRepeated(operand))
        continue;
      SmallVector<int64_t> small(type.getRank(), 1);
      if (auto broadcast = operand.getDefiningOp<BroadcastOp>())
        for (auto [i, dim] : llvm::enumerate(broadcast.getBroadcastDims()))
          small[dim] = typeOf(broadcast.getInput()).getDimSize(i);
      SmallVector<ArrayRef<int64_t>> shapes{small};
      for (Value &other : operands)
        if (&other != &operand)
          shapes.push_back(typeOf(other).getShape());
      std::optional<SmallVector<int64_t>> shape = broadcastShapes(shapes);
      if (!shape || ArrayRef<int64_t>(*shape) != type.getShape())
        continue;
      operand = unrepeated(rewriter, operand);
      changed = true;
    }
    if (!changed)
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op->setOperands(operands); });
    return success();
  }
};

/// Functions of repeated values repeat their result instead.
template <typename Op>
struct BroadcastBehind : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto broadcast = op.getInput().template getDefiningOp<BroadcastOp>();
    if (!broadcast)
      return failure();
    RankedTensorType type = op.getResult().getType();
    Operation *small = rewriter.clone(*op);
    small->setOperand(0, broadcast.getInput());
    small->getResult(0).setType(RankedTensorType::get(typeOf(broadcast.getInput()).getShape(), type.getElementType()));
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, type, small->getResult(0), broadcast.getShape(),
                                             broadcast.getBroadcastDims());
    return success();
  }
};

/// Elementwise layers on values that are all repeated in the same way compute once, and repeat the result.
struct BroadcastBehindBinary : OpRewritePattern<ElementWiseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ElementWiseOp op, PatternRewriter &rewriter) const override {
    auto lhs = op.getInput1().getDefiningOp<BroadcastOp>(), rhs = op.getInput2().getDefiningOp<BroadcastOp>();
    BroadcastOp one = lhs ? lhs : rhs;
    if (!one || one.getInput().getType().getRank() == 0)
      return failure();
    RankedTensorType type = op.getResult().getType();
    auto sameOrScalar = [&](Value value, BroadcastOp broadcast) {
      if (broadcast)
        return broadcast.getBroadcastDims() == one.getBroadcastDims() &&
               broadcast.getInput().getType().getShape() == one.getInput().getType().getShape() &&
               broadcast.getShape() == one.getShape();
      DenseElementsAttr constant = getConstant(value);
      return constant && constant.isSplat();
    };
    if (!sameOrScalar(op.getInput1(), lhs) || !sameOrScalar(op.getInput2(), rhs) ||
        one.getType().getShape() != type.getShape())
      return failure();
    RankedTensorType small = one.getInput().getType();
    auto take = [&](Value value, BroadcastOp broadcast) -> Value {
      if (broadcast)
        return broadcast.getInput();
      auto scalar = RankedTensorType::get(SmallVector<int64_t>(small.getRank(), 1), typeOf(value).getElementType());
      return tensorrt::ConstantOp::create(rewriter, op.getLoc(), scalar, getConstant(value).resizeSplat(scalar));
    };
    Value left = take(op.getInput1(), lhs), right = take(op.getInput2(), rhs);
    Value result =
        ElementWiseOp::create(rewriter, op.getLoc(), RankedTensorType::get(small.getShape(), type.getElementType()),
                              left, right, op.getElementwiseOperation());
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, type, result, one.getShape(), one.getBroadcastDims());
    return success();
  }
};

struct MergeBroadcasts : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<BroadcastOp>();
    if (!inner)
      return failure();
    SmallVector<int64_t> dims =
        llvm::map_to_vector(inner.getBroadcastDims(), [&](int64_t i) { return op.getBroadcastDims()[i]; });
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), inner.getInput(), op.getShape(), dims);
    return success();
  }
};

/// Sums along a repeated dimension, and such, stay; a broadcast to the shape that is there is nothing.
struct EraseBroadcast : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op, PatternRewriter &rewriter) const override {
    if (op.getInput().getType() != op.getType() || !op.getType().hasStaticShape())
      return failure();
    rewriter.replaceOp(op, op.getInput());
    return success();
  }
};

/// A bias that is added to a convolution belongs to it.
struct BiasIntoConvolution : OpRewritePattern<ElementWiseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ElementWiseOp op, PatternRewriter &rewriter) const override {
    if (op.getElementwiseOperation() != ElementWiseOperation::kSUM)
      return failure();
    Value sum = op.getInput1(), bias = op.getInput2();
    if (!sum.getDefiningOp<tensorrt::ConvolutionOp>())
      std::swap(sum, bias);
    auto convolution = sum.getDefiningOp<tensorrt::ConvolutionOp>();
    DenseElementsAttr constant = getConstant(bias);
    if (!convolution || !convolution->hasOneUse() || convolution.getBias() || !constant)
      return failure();
    RankedTensorType type = typeOf(sum);
    int64_t maps = type.getDimSize(1);
    SmallVector<int64_t> channelwise(type.getRank(), 1);
    channelwise[1] = maps;
    if (ShapedType::isDynamic(maps) || typeOf(bias).getShape() != ArrayRef<int64_t>(channelwise))
      return failure();
    Value vector =
        tensorrt::ConstantOp::create(rewriter, op.getLoc(), RankedTensorType::get({maps}, type.getElementType()),
                                     constant.reshape(RankedTensorType::get({maps}, type.getElementType())));
    auto biased = cast<tensorrt::ConvolutionOp>(rewriter.clone(*convolution));
    biased.getBiasMutable().assign(vector);
    biased.getResult().setType(op.getResult().getType());
    rewriter.replaceOp(op, biased);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

struct SimplifyTensorRTPass : tensorrt::impl::SimplifyTensorRTPassBase<SimplifyTensorRTPass> {
  using SimplifyTensorRTPassBase::SimplifyTensorRTPassBase;

  void runOnOperation() override {
    if (!isForTensorRT(getOperation()))
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<MergeTransposes, TransposeOfUnits, MergeReshapes<tensorrt::ReshapeOp>, MergeReshapes<SqueezeOp>,
                 MergeReshapes<UnsqueezeOp>, TransposeIntoProduct, BroadcastIntoElementwise<ElementWiseOp>,
                 BroadcastIntoElementwise<tensorrt::SelectOp>, BroadcastBehind<UnaryOp>, BroadcastBehind<ActivationOp>,
                 BroadcastBehindBinary, MergeBroadcasts, EraseBroadcast, BiasIntoConvolution>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    RewritePatternSet last(&getContext());
    last.add<FormShuffles>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(last))))
      signalPassFailure();
  }
};

} // namespace
