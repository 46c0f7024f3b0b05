// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass SimplifyStableHLO: exact rewrites, each one for the sake of fusion.
//
// The first idea: a dimension of extent 1 is bookkeeping of the framework. Keeping it in elementwise work hides that
// the values of a column are the values of a vector, and a broadcast of the column cannot be a plain map. So what only
// inserts such dimensions is a reshape, reshapes move towards results, and broadcasts swallow them. The second: a
// permutation of dimensions is free for a contraction, which reads its operands through maps anyway, but costs a pass
// over memory when it stands alone.
//
// In: StableHLO with static or dynamic shapes (rewrites that need extents look at static ones only). Out: the same
// function.

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Input/Passes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace latewood::input {
#define GEN_PASS_DEF_SIMPLIFYSTABLEHLOPASS
#include "latewood/compiler/Input/Passes.h.inc"
} // namespace latewood::input

using namespace mlir;
using namespace latewood;
using Dims = SmallVector<int64_t>;

static RankedTensorType getTensor(Value value) { return cast<RankedTensorType>(value.getType()); }

/// If `to` is `from` with dimensions of extent 1 inserted: where each dimension of `from` stands in `to`.
static std::optional<Dims> getInsertion(RankedTensorType from, RankedTensorType to) {
  if (!from.hasStaticShape() || !to.hasStaticShape() || from.getRank() >= to.getRank())
    return std::nullopt;
  Dims places;
  for (int64_t dim = 0; dim < to.getRank(); ++dim) {
    int64_t next = places.size();
    if (next < from.getRank() && from.getDimSize(next) == to.getDimSize(dim))
      places.push_back(dim);
    else if (to.getDimSize(dim) != 1)
      return std::nullopt;
  }
  return static_cast<int64_t>(places.size()) == from.getRank() ? std::optional<Dims>(places) : std::nullopt;
}

/// The value that is broadcast without regard to position: a splat constant, or a 0-dimensional operand of a broadcast.
static bool isUniform(Value value) {
  if (matchPattern(value, m_Constant())) {
    DenseElementsAttr elements;
    return matchPattern(value, m_Constant(&elements)) && elements.isSplat();
  }
  auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>();
  return broadcast && getTensor(broadcast.getOperand()).getRank() == 0;
}

/// `value`, which is uniform, with another shape.
static Value reshapeUniform(PatternRewriter &rewriter, Value value, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, getTensor(value).getElementType());
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)))
    return stablehlo::ConstantOp::create(rewriter, value.getLoc(), elements.resizeSplat(type));
  auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>();
  return stablehlo::BroadcastInDimOp::create(rewriter, value.getLoc(), type, broadcast.getOperand(),
                                             ArrayRef<int64_t>());
}

namespace {

//===----------------------------------------------------------------------===//
// Dimensions of extent 1
//===----------------------------------------------------------------------===//

/// A broadcast that repeats nothing and keeps the order only inserts dimensions of extent 1.
struct BroadcastIsReshape : OpRewritePattern<stablehlo::BroadcastInDimOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(stablehlo::BroadcastInDimOp op, PatternRewriter &rewriter) const override {
    RankedTensorType from = getTensor(op.getOperand()), to = getTensor(op.getResult());
    if (!from.hasStaticShape() || !to.hasStaticShape() || from.getNumElements() != to.getNumElements() ||
        from.getRank() == 0 || from.getNumElements() == 0)
      return failure();
    Dims order;
    for (auto [dim, target] : llvm::enumerate(op.getBroadcastDimensions()))
      if (from.getDimSize(dim) != 1)
        order.push_back(target);
    if (!llvm::is_sorted(order))
      return failure();
    rewriter.replaceOpWithNewOp<stablehlo::ReshapeOp>(op, to, op.getOperand());
    return success();
  }
};

/// A transpose that moves only dimensions of extent 1.
struct TransposeIsReshape : OpRewritePattern<stablehlo::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(stablehlo::TransposeOp op, PatternRewriter &rewriter) const override {
    RankedTensorType from = getTensor(op.getOperand()), to = getTensor(op.getResult());
    if (!from.hasStaticShape() || !to.hasStaticShape())
      return failure();
    Dims order;
    for (int64_t source : op.getPermutation())
      if (from.getDimSize(source) != 1)
        order.push_back(source);
    if (!llvm::is_sorted(order))
      return failure();
    rewriter.replaceOpWithNewOp<stablehlo::ReshapeOp>(op, to, op.getOperand());
    return success();
  }
};

/// broadcast_in_dim(reshape(x)), where the reshape inserts dimensions: broadcast_in_dim(x).
struct BroadcastOfReshape : OpRewritePattern<stablehlo::BroadcastInDimOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(stablehlo::BroadcastInDimOp op, PatternRewriter &rewriter) const override {
    auto reshape = op.getOperand().getDefiningOp<stablehlo::ReshapeOp>();
    if (!reshape)
      return failure();
    std::optional<Dims> places = getInsertion(getTensor(reshape.getOperand()), getTensor(reshape.getResult()));
    if (!places)
      return failure();
    Dims dims;
    for (int64_t place : *places)
      dims.push_back(op.getBroadcastDimensions()[place]);
    rewriter.replaceOpWithNewOp<stablehlo::BroadcastInDimOp>(op, op.getType(), reshape.getOperand(), dims);
    return success();
  }
};

struct BroadcastOfBroadcast : OpRewritePattern<stablehlo::BroadcastInDimOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(stablehlo::BroadcastInDimOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<stablehlo::BroadcastInDimOp>();
    if (!inner || !getTensor(inner.getOperand()).hasStaticShape() || !getTensor(inner.getResult()).hasStaticShape())
      return failure();
    Dims dims;
    for (int64_t dim : inner.getBroadcastDimensions())
      dims.push_back(op.getBroadcastDimensions()[dim]);
    rewriter.replaceOpWithNewOp<stablehlo::BroadcastInDimOp>(op, op.getType(), inner.getOperand(), dims);
    return success();
  }
};

/// broadcast_in_dim whose operand has dimensions of extent 1 that are repeated: they are dropped, so that the operand's
/// shape says what varies.
struct BroadcastDropsUnitDims : OpRewritePattern<stablehlo::BroadcastInDimOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(stablehlo::BroadcastInDimOp op, PatternRewriter &rewriter) const override {
    RankedTensorType from = getTensor(op.getOperand()), to = getTensor(op.getResult());
    if (!from.hasStaticShape() || !to.hasStaticShape())
      return failure();
    Dims shape, dims;
    for (auto [dim, target] : llvm::enumerate(op.getBroadcastDimensions())) {
      if (from.getDimSize(dim) == 1 && to.getDimSize(target) != 1)
        continue;
      shape.push_back(from.getDimSize(dim));
      dims.push_back(target);
    }
    if (static_cast<int64_t>(shape.size()) == from.getRank())
      return failure();
    auto type = RankedTensorType::get(shape, from.getElementType());
    Value operand = stablehlo::ReshapeOp::create(rewriter, op.getLoc(), type, op.getOperand());
    rewriter.replaceOpWithNewOp<stablehlo::BroadcastInDimOp>(op, to, operand, dims);
    return success();
  }
};

struct ReshapeOfReshape : OpRewritePattern<stablehlo::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(stablehlo::ReshapeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<stablehlo::ReshapeOp>();
    if (!inner)
      return failure();
    rewriter.replaceOpWithNewOp<stablehlo::ReshapeOp>(op, op.getType(), inner.getOperand());
    return success();
  }
};

/// elementwise(reshape(x), reshape(y), uniform, broadcast): the reshapes, which insert dimensions of extent 1, move
/// behind.
struct ElementwiseOfReshapes : RewritePattern {
  explicit ElementwiseOfReshapes(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!op->hasTrait<stablehlo::ElementwiseTrait>() || op->getNumResults() != 1)
      return failure();
    // Complex numbers have been split: nothing may come behind what puts them together again.
    if (isa<stablehlo::ComplexOp>(op))
      return failure();
    RankedTensorType type = getTensor(op->getResult(0));
    // The shape to compute in: the source of a reshape.
    RankedTensorType from;
    std::optional<Dims> places;
    for (Value operand : op->getOperands())
      if (auto reshape = operand.getDefiningOp<stablehlo::ReshapeOp>()) {
        from = getTensor(reshape.getOperand());
        places = getInsertion(from, getTensor(operand));
        if (places && getTensor(operand).getShape() == type.getShape())
          break;
        places.reset();
      }
    if (!places || from.getRank() == 0)
      return failure();
    for (Value operand : op->getOperands())
      if (!canDrop(operand, from, type))
        return failure();

    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(drop(rewriter, operand, from, *places));
    OperationState state(op->getLoc(), op->getName());
    state.addOperands(operands);
    state.addTypes(RankedTensorType::get(from.getShape(), type.getElementType()));
    state.addAttributes(op->getDiscardableAttrDictionary().getValue());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    Operation *smaller = rewriter.create(state);
    rewriter.replaceOpWithNewOp<stablehlo::ReshapeOp>(op, type, smaller->getResult(0));
    return success();
  }

private:
  static bool canDrop(Value operand, RankedTensorType from, RankedTensorType to) {
    if (getTensor(operand).getRank() == 0 || isUniform(operand))
      return true;
    if (auto reshape = operand.getDefiningOp<stablehlo::ReshapeOp>())
      return getTensor(reshape.getOperand()).getShape() == from.getShape();
    auto broadcast = operand.getDefiningOp<stablehlo::BroadcastInDimOp>();
    return broadcast && getTensor(broadcast.getOperand()).hasStaticShape() &&
           getTensor(operand).getShape() == to.getShape();
  }

  static Value drop(PatternRewriter &rewriter, Value operand, RankedTensorType from, ArrayRef<int64_t> places) {
    if (getTensor(operand).getRank() == 0)
      return operand;
    if (isUniform(operand))
      return reshapeUniform(rewriter, operand, from.getShape());
    if (auto reshape = operand.getDefiningOp<stablehlo::ReshapeOp>())
      return reshape.getOperand();
    // A broadcast into the smaller shape: inserted dimensions have extent 1 in its operand too, and are dropped there.
    auto broadcast = operand.getDefiningOp<stablehlo::BroadcastInDimOp>();
    RankedTensorType source = getTensor(broadcast.getOperand());
    Dims shape, dims;
    for (auto [dim, target] : llvm::enumerate(broadcast.getBroadcastDimensions())) {
      auto place = llvm::find(places, target);
      if (place == places.end())
        continue;
      shape.push_back(source.getDimSize(dim));
      dims.push_back(place - places.begin());
    }
    Value value = broadcast.getOperand();
    if (static_cast<int64_t>(shape.size()) != source.getRank())
      value = stablehlo::ReshapeOp::create(rewriter, operand.getLoc(),
                                           RankedTensorType::get(shape, source.getElementType()), value);
    auto type = RankedTensorType::get(from.getShape(), source.getElementType());
    return stablehlo::BroadcastInDimOp::create(rewriter, operand.getLoc(), type, value, dims);
  }
};

/// A reduction over dimensions of extent 1 by one operation combines each element with the initial value.
struct ReduceOfUnitDims : OpRewritePattern<stablehlo::ReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(stablehlo::ReduceOp op, PatternRewriter &rewriter) const override {
    Block &body = op.getBody().front();
    if (op.getInputs().size() != 1 || !llvm::hasNItems(body, 2))
      return failure();
    RankedTensorType from = getTensor(op.getInputs().front()), to = getTensor(op.getResult(0));
    Operation &combiner = body.front();
    bool isPlain = combiner.hasTrait<stablehlo::ElementwiseTrait>() && combiner.getNumOperands() == 2 &&
                   combiner.getOperand(0) == body.getArgument(0) && combiner.getOperand(1) == body.getArgument(1) &&
                   body.getTerminator()->getOperand(0) == combiner.getResult(0);
    bool isUnit = llvm::all_of(op.getDimensions(), [&](int64_t dim) { return from.getDimSize(dim) == 1; });
    if (!isPlain || !isUnit || op.getDimensions().empty() || !to.hasStaticShape() ||
        from.getElementType() != to.getElementType() ||
        getTensor(combiner.getResult(0)).getElementType() != to.getElementType())
      return failure();
    Value init =
        stablehlo::BroadcastInDimOp::create(rewriter, op.getLoc(), to, op.getInitValues().front(), ArrayRef<int64_t>());
    Value input = stablehlo::ReshapeOp::create(rewriter, op.getLoc(), to, op.getInputs().front());
    OperationState state(combiner.getLoc(), combiner.getName());
    state.addOperands({init, input});
    state.addTypes(to);
    state.propertiesAttr = combiner.getPropertiesAsAttribute();
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Operations that change nothing
//===----------------------------------------------------------------------===//

/// maximum(x, -inf) and minimum(x, inf) are x, a NaN included: frameworks guard reductions with them.
template <typename OpTy>
struct ExtremumOfInfinity : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    for (auto [value, other] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
      DenseElementsAttr elements;
      if (!matchPattern(other, m_Constant(&elements)) || !elements.isSplat() ||
          !isa<FloatType>(elements.getElementType()))
        continue;
      APFloat limit = elements.getSplatValue<APFloat>();
      if (!limit.isInfinity() || limit.isNegative() != std::is_same_v<OpTy, stablehlo::MaxOp> ||
          value.getType() != op.getType())
        continue;
      rewriter.replaceOp(op, value);
      return success();
    }
    return failure();
  }
};

/// select(p, true, false) is p.
struct SelectOfBooleans : OpRewritePattern<stablehlo::SelectOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(stablehlo::SelectOp op, PatternRewriter &rewriter) const override {
    DenseElementsAttr onTrue, onFalse;
    if (op.getPred().getType() != op.getType() || !matchPattern(op.getOnTrue(), m_Constant(&onTrue)) ||
        !matchPattern(op.getOnFalse(), m_Constant(&onFalse)) || !onTrue.isSplat() || !onFalse.isSplat())
      return failure();
    if (!onTrue.getSplatValue<bool>() || onFalse.getSplatValue<bool>())
      return failure();
    rewriter.replaceOp(op, op.getPred());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Permutations
//===----------------------------------------------------------------------===//

struct TransposeOfTranspose : OpRewritePattern<stablehlo::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(stablehlo::TransposeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<stablehlo::TransposeOp>();
    if (!inner)
      return failure();
    Dims permutation;
    for (int64_t dim : op.getPermutation())
      permutation.push_back(inner.getPermutation()[dim]);
    rewriter.replaceOpWithNewOp<stablehlo::TransposeOp>(op, op.getType(), inner.getOperand(), permutation);
    return success();
  }
};

/// dot_general(transpose(x), y): the dimension numbers name x's dimensions instead. The result's free dimensions come
/// in the order of the operand's, so that order must not change.
struct DotOfTranspose : OpRewritePattern<stablehlo::DotGeneralOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(stablehlo::DotGeneralOp op, PatternRewriter &rewriter) const override {
    stablehlo::DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
    Dims lhsBatching(numbers.getLhsBatchingDimensions()), lhsContracting(numbers.getLhsContractingDimensions());
    Dims rhsBatching(numbers.getRhsBatchingDimensions()), rhsContracting(numbers.getRhsContractingDimensions());
    Value lhs = absorb(op.getLhs(), lhsBatching, lhsContracting),
          rhs = absorb(op.getRhs(), rhsBatching, rhsContracting);
    if (lhs == op.getLhs() && rhs == op.getRhs())
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.getLhsMutable().assign(lhs);
      op.getRhsMutable().assign(rhs);
      op.setDotDimensionNumbersAttr(stablehlo::DotDimensionNumbersAttr::get(op.getContext(), lhsBatching, rhsBatching,
                                                                            lhsContracting, rhsContracting));
    });
    return success();
  }

private:
  static Value absorb(Value operand, Dims &batching, Dims &contracting) {
    auto transpose = operand.getDefiningOp<stablehlo::TransposeOp>();
    if (!transpose)
      return operand;
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    Dims free;
    for (auto [dim, source] : llvm::enumerate(permutation))
      if (!llvm::is_contained(batching, static_cast<int64_t>(dim)) &&
          !llvm::is_contained(contracting, static_cast<int64_t>(dim)))
        free.push_back(source);
    if (!llvm::is_sorted(free))
      return operand;
    for (Dims *dims : {&batching, &contracting})
      for (int64_t &dim : *dims)
        dim = permutation[dim];
    return transpose.getOperand();
  }
};

/// An elementwise operation on operands that are permuted alike is permuted as a whole; with one operand that means
/// that the transpose moves towards a contraction that absorbs it.
struct UnaryOfTranspose : RewritePattern {
  explicit UnaryOfTranspose(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!op->hasTrait<stablehlo::ElementwiseTrait>() || op->getNumOperands() != 1 || op->getNumResults() != 1)
      return failure();
    auto transpose = op->getOperand(0).getDefiningOp<stablehlo::TransposeOp>();
    bool feedsContraction =
        llvm::all_of(op->getUsers(), llvm::IsaPred<stablehlo::DotGeneralOp, stablehlo::TransposeOp>);
    if (!transpose || !feedsContraction)
      return failure();
    OperationState state(op->getLoc(), op->getName());
    state.addOperands(transpose.getOperand());
    state.addTypes(RankedTensorType::get(getTensor(transpose.getOperand()).getShape(),
                                         getTensor(op->getResult(0)).getElementType()));
    state.addAttributes(op->getDiscardableAttrDictionary().getValue());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    Operation *permuted = rewriter.create(state);
    rewriter.replaceOpWithNewOp<stablehlo::TransposeOp>(op, op->getResult(0).getType(), permuted->getResult(0),
                                                        transpose.getPermutation());
    return success();
  }
};

struct SimplifyStableHLOPass : input::impl::SimplifyStableHLOPassBase<SimplifyStableHLOPass> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add<BroadcastDropsUnitDims, BroadcastIsReshape, BroadcastOfBroadcast, BroadcastOfReshape, DotOfTranspose,
            ElementwiseOfReshapes, ExtremumOfInfinity<stablehlo::MaxOp>, ExtremumOfInfinity<stablehlo::MinOp>,
            ReduceOfUnitDims, ReshapeOfReshape, SelectOfBooleans, TransposeIsReshape, TransposeOfTranspose,
            UnaryOfTranspose>(context);
    for (RegisteredOperationName name : context->getRegisteredOperations())
      if (name.getDialectNamespace() == "stablehlo" || name.getDialectNamespace() == "chlo")
        name.getCanonicalizationPatterns(set, context);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    if (failed(applyPatternsGreedily(getOperation(), patterns)))
      getOperation().emitWarning("simplification did not reach a fixed point");
  }

  FrozenRewritePatternSet patterns;
};

} // namespace
