// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass RaiseTensorRTPatterns: what programs write out, and TensorRT has one layer for, becomes that layer: softmax,
// normalization, GELU, attention, and quantization.
//
// Formulas come in many orders of factors. Products are taken apart into factors and one number, so that GELU is found
// however it was written. Each pattern checks all that it relies on; what differs stays as it is, and is computed all
// the same.
#include "latewood/compiler/Engines/TensorRT/LayerBuilder.h"
#include "latewood/compiler/Engines/TensorRT/Passes.h"
#include "latewood/compiler/Engines/TensorRT/StableHLOToTensorRT.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <cmath>
#include <numbers>

namespace latewood::tensorrt {
#define GEN_PASS_DEF_RAISETENSORRTPATTERNSPASS
#include "latewood/compiler/Engines/TensorRT/Passes.h.inc"
} // namespace latewood::tensorrt

using namespace mlir;
using namespace latewood;
using namespace latewood::tensorrt;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The number that all elements of a value are, through broadcasts.
std::optional<double> numberOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<BroadcastOp, UnsqueezeOp, SqueezeOp, tensorrt::ReshapeOp, IdentityOp>(op))
      break;
    value = op->getOperand(0);
  }
  DenseElementsAttr elements = getConstant(value);
  if (!elements || !elements.isSplat() || !isa<FloatType>(elements.getElementType()))
    return std::nullopt;
  return elements.getSplatValue<APFloat>().convertToDouble();
}

ElementWiseOp binaryOf(Value value, ElementWiseOperation operation) {
  auto op = value.getDefiningOp<ElementWiseOp>();
  return op && op.getElementwiseOperation() == operation ? op : ElementWiseOp();
}

UnaryOp unaryOf(Value value, UnaryOperation operation) {
  auto op = value.getDefiningOp<UnaryOp>();
  return op && op.getUnaryOperation() == operation ? op : UnaryOp();
}

bool isClose(double x, double y, double tolerance = 1e-3) { return std::abs(x - y) <= tolerance * std::abs(y); }

/// A product as factors and a number.
struct Product {
  double number = 1;
  SmallVector<Value> factors;

  static Product of(Value value, int depth = 6) {
    Product result;
    if (std::optional<double> number = numberOf(value)) {
      result.number = *number;
    } else if (auto product = binaryOf(value, ElementWiseOperation::kPROD); product && depth > 0) {
      result = of(product.getInput1(), depth - 1);
      Product right = of(product.getInput2(), depth - 1);
      result.number *= right.number;
      llvm::append_range(result.factors, right.factors);
    } else if (auto quotient = binaryOf(value, ElementWiseOperation::kDIV);
               quotient && depth > 0 && numberOf(quotient.getInput2())) {
      result = of(quotient.getInput1(), depth - 1);
      result.number /= *numberOf(quotient.getInput2());
    } else if (auto negated = unaryOf(value, UnaryOperation::kNEG); negated && depth > 0) {
      result = of(negated.getInput(), depth - 1);
      result.number = -result.number;
    } else {
      result.factors.push_back(value);
    }
    return result;
  }
};

/// A sum or difference of two terms, the second with its sign.
std::optional<std::tuple<Value, Value, double>> termsOf(Value value) {
  if (auto sum = binaryOf(value, ElementWiseOperation::kSUM))
    return std::tuple(sum.getInput1(), sum.getInput2(), 1.0);
  if (auto difference = binaryOf(value, ElementWiseOperation::kSUB))
    return std::tuple(difference.getInput1(), difference.getInput2(), -1.0);
  return std::nullopt;
}

/// What is added to 1 in `value`, as a product.
std::optional<Product> besidesOne(Value value) {
  auto terms = termsOf(value);
  if (!terms)
    return std::nullopt;
  auto [first, second, sign] = *terms;
  if (std::optional<double> one = numberOf(first); one && *one == 1) {
    Product rest = Product::of(second);
    rest.number *= sign;
    return rest;
  }
  if (std::optional<double> one = numberOf(second); one && *one == 1 && sign > 0)
    return Product::of(first);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// GELU
//===----------------------------------------------------------------------===//

struct RaiseGELU : OpRewritePattern<ElementWiseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ElementWiseOp op, PatternRewriter &rewriter) const override {
    Product product = Product::of(op.getResult());
    if (product.factors.size() != 2)
      return failure();
    for (unsigned i = 0; i < 2; ++i) {
      Value x = product.factors[1 - i];
      std::optional<ActivationType> type = typeOfGELU(product.factors[i], x, product.number);
      if (type && x.getType() == op.getResult().getType()) {
        rewriter.replaceOpWithNewOp<ActivationOp>(op, op.getResult().getType(), x, *type, FloatAttr(), FloatAttr());
        return success();
      }
    }
    return failure();
  }

  /// Which GELU `scale` * x * factor is, if any.
  static std::optional<ActivationType> typeOfGELU(Value factor, Value x, double scale) {
    std::optional<Product> rest = besidesOne(factor);
    if (!rest || rest->factors.size() != 1 || !isClose(scale * std::abs(rest->number), 0.5) || !isClose(scale, 0.5))
      return std::nullopt;
    double sign = rest->number;
    Value function = rest->factors[0];
    if (auto erf = unaryOf(function, UnaryOperation::kERF)) {
      Product argument = Product::of(erf.getInput());
      if (argument.factors.size() == 1 && argument.factors[0] == x &&
          isClose(argument.number * sign, std::numbers::sqrt2 / 2))
        return ActivationType::kGELU_ERF;
      return std::nullopt;
    }
    auto tanh = function.getDefiningOp<ActivationOp>();
    if (!tanh || tanh.getActivationType() != ActivationType::kTANH || sign < 0)
      return std::nullopt;
    // sqrt(2 / pi) * (x + 0.044715 * x^3)
    Product argument = Product::of(tanh.getInput());
    if (argument.factors.size() != 1 || !isClose(argument.number, std::sqrt(2 / std::numbers::pi)))
      return std::nullopt;
    auto sum = binaryOf(argument.factors[0], ElementWiseOperation::kSUM);
    if (!sum)
      return std::nullopt;
    for (auto [linear, cubic] :
         {std::pair(sum.getInput1(), sum.getInput2()), std::pair(sum.getInput2(), sum.getInput1())}) {
      Product third = Product::of(cubic);
      if (linear == x && isClose(third.number, 0.044715) && third.factors.size() == 3 &&
          llvm::all_of(third.factors, [&](Value value) { return value == x; }))
        return ActivationType::kGELU_TANH;
    }
    return std::nullopt;
  }
};

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// The value that is repeated along `axes` of `type` alone (each reduced before), or null.
Value reducedBehind(Value value, RankedTensorType type, ArrayRef<int64_t> axes) {
  if (auto broadcast = value.getDefiningOp<BroadcastOp>()) {
    Value input = broadcast.getInput();
    // Repeated along the axes: as dimensions that are new, or that had an extent of 1.
    SmallVector<int64_t> kept;
    for (int64_t i = 0; i < type.getRank(); ++i)
      if (!llvm::is_contained(axes, i))
        kept.push_back(i);
    if (llvm::equal(broadcast.getBroadcastDims(), kept))
      return input;
    if (typeOf(input).getRank() != type.getRank())
      return {};
    Operation *inner = input.getDefiningOp();
    if (isa_and_nonnull<UnsqueezeOp, tensorrt::ReshapeOp>(inner))
      return inner->getOperand(0);
    // One more broadcast, which keeps extents of 1.
    if (auto again = dyn_cast_or_null<BroadcastOp>(inner); again && llvm::equal(again.getBroadcastDims(), kept))
      return again.getInput();
    return input;
  }
  return {};
}

/// A reduction of `x` by `operation`, looking through what changes nothing.
tensorrt::ReduceOp reductionOf(Value value, ReduceOperation operation) {
  if (auto max = binaryOf(value, ElementWiseOperation::kMAX); max && operation == ReduceOperation::kMAX)
    for (auto [number, other] :
         {std::pair(max.getInput1(), max.getInput2()), std::pair(max.getInput2(), max.getInput1())})
      if (std::optional<double> known = numberOf(number); known && std::isinf(*known) && *known < 0)
        return reductionOf(other, operation);
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<UnsqueezeOp, tensorrt::ReshapeOp>(op))
    return reductionOf(op->getOperand(0), operation);
  // A dimension of extent 1 that is written as a broadcast.
  if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op);
      broadcast && typeOf(broadcast.getInput()).hasStaticShape() && broadcast.getType().hasStaticShape() &&
      typeOf(broadcast.getInput()).getNumElements() == broadcast.getType().getNumElements())
    return reductionOf(broadcast.getInput(), operation);
  auto reduce = dyn_cast_or_null<tensorrt::ReduceOp>(op);
  return reduce && reduce.getReduceOperation() == operation ? reduce : tensorrt::ReduceOp();
}

struct RaiseSoftmax : OpRewritePattern<ElementWiseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ElementWiseOp op, PatternRewriter &rewriter) const override {
    if (op.getElementwiseOperation() != ElementWiseOperation::kDIV)
      return failure();
    auto power = unaryOf(op.getInput1(), UnaryOperation::kEXP);
    RankedTensorType type = op.getResult().getType();
    if (!power || typeOf(power.getResult()) != type)
      return failure();
    auto difference = binaryOf(power.getInput(), ElementWiseOperation::kSUB);
    if (!difference || difference.getInput1().getType() != type)
      return failure();
    for (int64_t axis = type.getRank() - 1; axis >= 0; --axis) {
      Value sums = reducedBehind(op.getInput2(), type, {axis}),
            largest = reducedBehind(difference.getInput2(), type, {axis});
      if (!sums || !largest)
        continue;
      tensorrt::ReduceOp sum = reductionOf(sums, ReduceOperation::kSUM),
                         max = reductionOf(largest, ReduceOperation::kMAX);
      if (!sum || !max || sum.getInput() != power.getResult() || max.getInput() != difference.getInput1() ||
          sum.getReduceAxes() != ArrayRef<int64_t>{axis} || max.getReduceAxes() != ArrayRef<int64_t>{axis})
        continue;
      rewriter.replaceOpWithNewOp<SoftMaxOp>(op, type, difference.getInput1(), axis);
      return success();
    }
    return failure();
  }
};

//===----------------------------------------------------------------------===//
// Normalization
//===----------------------------------------------------------------------===//

/// The reduction that a mean, repeated to the shape of `type`, comes from; its axes become `axes`.
Value meanOf(Value value, RankedTensorType type, SmallVectorImpl<int64_t> &axes) {
  // Repeated sum / n and sum repeated / n are the same.
  double divisor = 1;
  for (int depth = 0; depth < 8; ++depth) {
    if (auto quotient = binaryOf(value, ElementWiseOperation::kDIV); quotient && numberOf(quotient.getInput2())) {
      divisor *= *numberOf(quotient.getInput2());
      value = quotient.getInput1();
      continue;
    }
    if (auto product = binaryOf(value, ElementWiseOperation::kPROD)) {
      if (std::optional<double> number = numberOf(product.getInput2())) {
        divisor /= *number;
        value = product.getInput1();
        continue;
      }
      return {};
    }
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<BroadcastOp, UnsqueezeOp, tensorrt::ReshapeOp, SqueezeOp>(op)) {
      value = op->getOperand(0);
      continue;
    }
    break;
  }
  auto reduce = value.getDefiningOp<tensorrt::ReduceOp>();
  if (!reduce || typeOf(reduce.getInput()) != type || !type.hasStaticShape())
    return {};
  double count = 1;
  for (int64_t axis : reduce.getReduceAxes())
    count *= static_cast<double>(type.getDimSize(axis));
  bool isMean = reduce.getReduceOperation() == ReduceOperation::kAVG
                    ? divisor == 1
                    : reduce.getReduceOperation() == ReduceOperation::kSUM && isClose(divisor, count, 1e-5);
  if (!isMean)
    return {};
  axes.assign(reduce.getReduceAxes().begin(), reduce.getReduceAxes().end());
  return reduce.getInput();
}

/// Whether `value` holds one number for each slice along `axes`, repeated to the shape of `type` in that order.
bool isRepeatedAlong(Value value, RankedTensorType type, ArrayRef<int64_t> axes) {
  if (typeOf(value) != type)
    return typeOf(value).getRank() == type.getRank();
  return static_cast<bool>(reducedBehind(value, type, axes));
}

/// (x - mean) * rsqrt(variance + eps), or the quotient by the square root.
struct RaiseNormalization : OpRewritePattern<ElementWiseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ElementWiseOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getResult().getType();
    Value centered, root;
    if (op.getElementwiseOperation() == ElementWiseOperation::kPROD) {
      for (auto [l, r] : {std::pair(op.getInput1(), op.getInput2()), std::pair(op.getInput2(), op.getInput1())})
        if (Value inverse = under(r, UnaryOperation::kRECIP)) {
          centered = l;
          root = inverse;
        }
    } else if (op.getElementwiseOperation() == ElementWiseOperation::kDIV) {
      centered = op.getInput1();
      root = op.getInput2();
    }
    if (!centered || !root)
      return failure();
    Value variance = under(root, UnaryOperation::kSQRT);
    auto difference = binaryOf(centered, ElementWiseOperation::kSUB);
    if (!variance || !difference || difference.getInput1().getType() != type)
      return failure();
    Value x = difference.getInput1();
    // variance + eps, both repeated or not.
    variance = throughMoves(variance);
    auto sum = binaryOf(variance, ElementWiseOperation::kSUM);
    if (!sum || !numberOf(sum.getInput2()))
      return failure();
    double eps = *numberOf(sum.getInput2());
    SmallVector<int64_t> axes, meanAxes;
    if (meanOf(difference.getInput2(), type, meanAxes) != x)
      return failure();
    Value squares = meanOf(sum.getInput1(), type, axes);
    if (!squares || axes != meanAxes)
      return failure();
    Product square = Product::of(squares, 1);
    if (square.number != 1 || square.factors.size() != 2 || square.factors[0] != square.factors[1] ||
        !isCentered(square.factors[0], x, type, axes))
      return failure();
    if (!isRepeatedAlong(difference.getInput2(), type, axes))
      return failure();
    LayerBuilder b(op.getLoc(), rewriter.getContext());
    b.setInsertionPoint(op);
    b.setListener(rewriter.getListener());
    SmallVector<int64_t> shape(type.getRank(), 1);
    for (int64_t axis : axes)
      shape[axis] = type.getDimSize(axis);
    auto weights = RankedTensorType::get(shape, type.getElementType());
    rewriter.replaceOpWithNewOp<NormalizationOp>(
        op, type, x, b.splat(weights, 1), b.splat(weights, 0), rewriter.getDenseI64ArrayAttr(axes),
        rewriter.getF32FloatAttr(static_cast<float>(eps)), rewriter.getI64IntegerAttr(1));
    return success();
  }

  static Value throughMoves(Value value) {
    while (isa_and_nonnull<BroadcastOp, UnsqueezeOp, tensorrt::ReshapeOp, SqueezeOp>(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    return value;
  }

  /// The input of a function, through broadcasts.
  static Value under(Value value, UnaryOperation operation) {
    auto op = unaryOf(throughMoves(value), operation);
    return op ? op.getInput() : Value();
  }

  static bool isCentered(Value value, Value x, RankedTensorType type, ArrayRef<int64_t> axes) {
    auto difference = binaryOf(value, ElementWiseOperation::kSUB);
    SmallVector<int64_t> meanAxes;
    return difference && difference.getInput1() == x && meanOf(difference.getInput2(), type, meanAxes) == x &&
           ArrayRef<int64_t>(meanAxes) == axes;
  }
};

/// A product with, or a sum of, constants that are repeated along all but the normalized dimensions belongs to the
/// normalization.
struct WeightsIntoNormalization : OpRewritePattern<ElementWiseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ElementWiseOp op, PatternRewriter &rewriter) const override {
    bool isProduct = op.getElementwiseOperation() == ElementWiseOperation::kPROD,
         isSum = op.getElementwiseOperation() == ElementWiseOperation::kSUM;
    if (!isProduct && !isSum)
      return failure();
    for (auto [l, r] : {std::pair(op.getInput1(), op.getInput2()), std::pair(op.getInput2(), op.getInput1())}) {
      auto normalization = l.getDefiningOp<NormalizationOp>();
      auto broadcast = r.getDefiningOp<BroadcastOp>();
      if (!normalization || !broadcast || !normalization->hasOneUse() || op.getType() != normalization.getType())
        continue;
      std::optional<double> bias = numberOf(normalization.getBias()), scale = numberOf(normalization.getScale());
      if (!bias || *bias != 0 || (isProduct && (!scale || *scale != 1)))
        continue;
      // The weights vary along normalized dimensions only, and along all of them.
      SmallVector<int64_t> axes(normalization.getAxis());
      llvm::sort(axes);
      RankedTensorType weights = normalization.getBias().getType();
      Value input = broadcast.getInput();
      SmallVector<int64_t> placed(weights.getRank(), 1);
      for (auto [i, dim] : llvm::enumerate(broadcast.getBroadcastDims()))
        placed[dim] = typeOf(input).getDimSize(i);
      if (weights.getShape() != ArrayRef<int64_t>(placed) || !typeOf(input).hasStaticShape())
        continue;
      rewriter.setInsertionPoint(op);
      Value shaped = typeOf(input) == weights
                         ? input
                         : Value(tensorrt::ReshapeOp::create(rewriter, op.getLoc(), weights, input, Value()));
      rewriter.replaceOpWithNewOp<NormalizationOp>(
          op, op.getType(), normalization.getInput(), isProduct ? shaped : normalization.getScale(),
          isProduct ? normalization.getBias() : shaped, normalization.getAxisAttr(), normalization.getEpsAttr(),
          normalization.getNumGroupsAttr());
      return success();
    }
    return failure();
  }
};

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

struct RaiseAttention : OpRewritePattern<MatrixMultiplyOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatrixMultiplyOp op, PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getResult().getType();
    if (type.getRank() != 4 || op.getOp0() == MatrixOperation::kVECTOR || op.getOp1() == MatrixOperation::kVECTOR)
      return failure();
    // scores * value, or (value^T * scores^T), which is its transpose.
    auto softmax = op.getInput0().getDefiningOp<SoftMaxOp>();
    bool isFlipped = !softmax || op.getOp0() != MatrixOperation::kNONE;
    if (isFlipped)
      softmax = op.getOp1() == MatrixOperation::kTRANSPOSE ? op.getInput1().getDefiningOp<SoftMaxOp>() : SoftMaxOp();
    if (!softmax || softmax.getAxis() != 3 || !softmax->hasOneUse())
      return failure();
    // In loops and conditionals the builder does not find an attention's inputs.
    if (!isa<func::FuncOp>(op->getParentOp()))
      return failure();
    Value value = isFlipped ? op.getInput0() : op.getInput1();
    bool isValueTransposed =
        isFlipped ? op.getOp0() == MatrixOperation::kNONE : op.getOp1() == MatrixOperation::kTRANSPOSE;
    LayerBuilder b(op.getLoc(), rewriter.getContext());
    b.setInsertionPoint(op);
    b.setListener(rewriter.getListener());

    Value scores = softmax.getInput(), mask;
    RankedTensorType scoreType = typeOf(scores);
    Value chosen, added;
    if (auto select = scores.getDefiningOp<tensorrt::SelectOp>()) {
      std::optional<double> hidden = numberOf(select.getElseInput());
      if (!hidden || *hidden > -1e9 || select.getThenInput().getType() != scoreType)
        return failure();
      chosen = select.getCondition();
      scores = select.getThenInput();
    } else if (auto sum = binaryOf(scores, ElementWiseOperation::kSUM)) {
      // The product of query and key is on either side.
      for (auto [l, r] : {std::pair(sum.getInput1(), sum.getInput2()), std::pair(sum.getInput2(), sum.getInput1())})
        if (Product left = Product::of(l);
            !added && left.factors.size() == 1 && left.factors[0].getDefiningOp<MatrixMultiplyOp>()) {
          scores = l;
          added = r;
        }
      if (!added)
        return failure();
    }
    Product product = Product::of(scores);
    if (product.factors.size() != 1)
      return failure();
    auto multiply = product.factors[0].getDefiningOp<MatrixMultiplyOp>();
    if (!multiply || multiply.getType() != scoreType || multiply.getOp0() == MatrixOperation::kVECTOR ||
        multiply.getOp1() == MatrixOperation::kVECTOR)
      return failure();
    Value query = multiply.getInput0(), key = multiply.getInput1();
    for (Value input : {query, key, value})
      if (!typeOf(input).hasStaticShape())
        return failure();
    // Only heads broadcast, which the layer does in its own way.
    if (typeOf(query).getShape().take_front(2) != typeOf(key).getShape().take_front(2) ||
        typeOf(key).getShape().take_front(2) != typeOf(value).getShape().take_front(2))
      return failure();
    auto sizeOf = [](Value input, bool isTransposed) { return typeOf(input).getDimSize(isTransposed ? 2 : 3); };
    if (sizeOf(query, multiply.getOp0() == MatrixOperation::kTRANSPOSE) != sizeOf(value, isValueTransposed))
      return failure();
    mask = chosen ? chosen : added;
    if (mask && (typeOf(mask).getRank() != 4 || !broadcastsOnto(typeOf(mask).getShape(), scoreType.getShape())))
      return failure();
    if (multiply.getOp0() == MatrixOperation::kTRANSPOSE)
      query = b.transpose(query, {0, 1, 3, 2});
    if (multiply.getOp1() == MatrixOperation::kNONE)
      key = b.transpose(key, {0, 1, 3, 2});
    if (isValueTransposed)
      value = b.transpose(value, {0, 1, 3, 2});
    if (product.number != 1)
      query = b.mul(query, b.like(query, product.number));
    auto attention =
        b.layer<AttentionOp>(1, query, key, value, mask, Value(), Value(), Value(), AttentionNormalizationOp::kSOFTMAX,
                             CausalMaskKind::kNONE, AttentionIOForm::kPADDED_BHND, AttentionIOForm::kPADDED_BHND,
                             /*decomposable=*/true, TypeAttr());
    if (!attention)
      return failure();
    rewriter.replaceOp(op, isFlipped ? b.transpose(attention.getResult(), {0, 1, 3, 2}) : attention.getResult());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Quantization
//===----------------------------------------------------------------------===//

/// A scalar constant scale from one that is repeated, or null.
Value scalarScale(LayerBuilder &b, Value value) {
  std::optional<double> number = numberOf(value);
  if (!number || !(*number > 0))
    return {};
  return b.splat(RankedTensorType::get({}, typeOf(value).getElementType()), *number);
}

/// cast(clamp(round(x / scale), -128, 127)) to i8.
struct RaiseQuantize : OpRewritePattern<CastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CastOp op, PatternRewriter &rewriter) const override {
    if (!typeOf(op.getResult()).getElementType().isSignlessInteger(8) || typeOf(op.getResult()).getRank() == 0)
      return failure();
    auto high = binaryOf(op.getInput(), ElementWiseOperation::kMIN);
    auto low = high ? binaryOf(high.getInput1(), ElementWiseOperation::kMAX) : ElementWiseOp();
    if (!low || numberOf(high.getInput2()) != 127.0 || numberOf(low.getInput2()) != -128.0)
      return failure();
    auto round = unaryOf(low.getInput1(), UnaryOperation::kROUND);
    auto quotient = round ? binaryOf(round.getInput(), ElementWiseOperation::kDIV) : ElementWiseOp();
    if (!quotient || quotient.getInput1().getType() != round.getType())
      return failure();
    LayerBuilder b(op.getLoc(), rewriter.getContext());
    b.setInsertionPoint(op);
    b.setListener(rewriter.getListener());
    Value scale = scalarScale(b, quotient.getInput2());
    if (!scale)
      return failure();
    rewriter.replaceOpWithNewOp<QuantizeOp>(op, op.getType(), quotient.getInput1(), scale, IntegerAttr());
    return success();
  }
};

/// cast(x of i8) * scale.
struct RaiseDequantize : OpRewritePattern<ElementWiseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ElementWiseOp op, PatternRewriter &rewriter) const override {
    if (op.getElementwiseOperation() != ElementWiseOperation::kPROD)
      return failure();
    LayerBuilder b(op.getLoc(), rewriter.getContext());
    b.setInsertionPoint(op);
    b.setListener(rewriter.getListener());
    for (auto [l, r] : {std::pair(op.getInput1(), op.getInput2()), std::pair(op.getInput2(), op.getInput1())}) {
      auto cast = l.getDefiningOp<CastOp>();
      if (!cast || !typeOf(cast.getInput()).getElementType().isSignlessInteger(8) || cast.getType() != op.getType() ||
          typeOf(cast.getInput()).getRank() == 0)
        continue;
      Value scale = scalarScale(b, r);
      if (!scale)
        continue;
      rewriter.replaceOpWithNewOp<DequantizeOp>(op, op.getType(), cast.getInput(), scale, IntegerAttr());
      return success();
    }
    return failure();
  }
};

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

struct RaiseTensorRTPatternsPass : tensorrt::impl::RaiseTensorRTPatternsPassBase<RaiseTensorRTPatternsPass> {
  using RaiseTensorRTPatternsPassBase::RaiseTensorRTPatternsPassBase;

  void runOnOperation() override {
    if (!isForTensorRT(getOperation()))
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<RaiseGELU, RaiseSoftmax, RaiseNormalization, WeightsIntoNormalization, RaiseQuantize, RaiseDequantize>(
        &getContext());
    if (attention)
      patterns.add<RaiseAttention>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
