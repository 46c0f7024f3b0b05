// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// dot_general and convolution as linalg.generic contractions.
//
// A contraction is a generic over the loops (batch..., lhs..., rhs..., contracted...) with projected permutations as
// maps and
//   %p = arith.mulf %a, %b fastmath<contract>
//   %s = arith.addf %acc, %p fastmath<reassoc, contract>
// as body, after the operands were widened to the type of the accumulation. Narrow floats are accumulated in f32; a
// generic of its own then rounds to the result's type, and fuses as an epilogue. Booleans are combined by "and" and
// "or".
//
// A dot_general without contracted dimensions is an elementwise product of two broadcasts, and no reduction.

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalg.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace latewood;

namespace {

using Builder = ImplicitLocOpBuilder;

arith::FastMathFlagsAttr getFlags(Builder &b, arith::FastMathFlags flags) {
  return arith::FastMathFlagsAttr::get(b.getContext(), flags);
}

/// The type that products of a result of type `element` are summed in.
Type getAccumulationType(Builder &b, Type element) {
  return isa<Float16Type, BFloat16Type>(element) || cpu::isByteFloat(element) ? b.getF32Type() : element;
}

Value emitProduct(Builder &b, Value lhs, Value rhs) {
  if (isa<FloatType>(lhs.getType()))
    return arith::MulFOp::create(b, lhs, rhs, getFlags(b, arith::FastMathFlags::contract));
  if (lhs.getType().isInteger(1))
    return arith::AndIOp::create(b, lhs, rhs);
  return arith::MulIOp::create(b, lhs, rhs);
}

Value emitSum(Builder &b, Value sum, Value product) {
  if (isa<FloatType>(sum.getType()))
    return arith::AddFOp::create(b, sum, product,
                                 getFlags(b, arith::FastMathFlags::contract | arith::FastMathFlags::reassoc));
  if (sum.getType().isInteger(1))
    return arith::OrIOp::create(b, sum, product);
  return arith::AddIOp::create(b, sum, product);
}

/// One operand of a contraction.
struct Factor {
  Value tensor;
  Type element;
  AffineMap map;

  Value load(Builder &b, Value stored, Type sum) const {
    return cpu::convertElement(b, cpu::loadElement(b, stored, element), element, sum);
  }
};

/// `tensor` with elements that kernels know: floats of 8 bits and fewer are decoded beforehand, once an element.
std::pair<Value, Type> decodeBytes(Builder &b, Value tensor, Type element) {
  if (!cpu::isByteFloat(element))
    return {tensor, element};
  auto type = cast<RankedTensorType>(tensor.getType()).clone(b.getF32Type());
  Value decoded = cpu::makeParallel(b, type, cpu::makeEmpty(b, type, tensor), tensor,
                                    b.getMultiDimIdentityMap(type.getRank()), [&](Builder &inner, ValueRange elements) {
                                      Value loaded = cpu::loadElement(inner, elements.front(), element);
                                      return cpu::decodeByteFloat(inner, loaded, cast<FloatType>(element));
                                    });
  return {decoded, b.getF32Type()};
}

/// Rounds the sums to the result's type, where they were made in another one.
Value roundSums(Builder &b, Value sums, Type from, Type to, RankedTensorType type) {
  if (from == to)
    return sums;
  return cpu::makeParallel(b, type, cpu::makeEmpty(b, type, sums), sums, b.getMultiDimIdentityMap(type.getRank()),
                           [&](Builder &inner, ValueRange elements) {
                             Value loaded = cpu::loadElement(inner, elements.front(), from);
                             return cpu::storeElement(inner, cpu::convertElement(inner, loaded, from, to), to);
                           });
}

Value makeZeros(Builder &b, RankedTensorType type, ValueRange extents) {
  Value zero = arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(type.getElementType())));
  return cpu::makeUniform(b, type, zero, extents);
}

/// Sums of products over the loops that `sumsMap` does not have, on top of `zeros`.
Value makeContraction(Builder &b, const Factor &lhs, const Factor &rhs, AffineMap sumsMap,
                      ArrayRef<utils::IteratorType> iterators, Value zeros, Type sum) {
  // A sum of nothing.
  auto isEmpty = [](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    return type.hasStaticShape() && type.getNumElements() == 0;
  };
  if (isEmpty(lhs.tensor) || isEmpty(rhs.tensor))
    return zeros;
  SmallVector<AffineMap> maps = {lhs.map, rhs.map, sumsMap};
  auto generic = linalg::GenericOp::create(
      b, zeros.getType(), ValueRange{lhs.tensor, rhs.tensor}, ValueRange{zeros}, maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange elements) {
        Builder inner(loc, nested);
        Value product = emitProduct(inner, lhs.load(inner, elements[0], sum), rhs.load(inner, elements[1], sum));
        Value total = emitSum(inner, cpu::loadElement(inner, elements[2], sum), product);
        linalg::YieldOp::create(inner, cpu::storeElement(inner, total, sum));
      });
  return generic.getResult(0);
}

struct DotGeneralToGeneric : OpConversionPattern<stablehlo::DotGeneralOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::DotGeneralOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    if (!type)
      return failure();
    Builder b(op.getLoc(), rewriter);
    stablehlo::DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
    auto lhsType = cast<RankedTensorType>(adaptor.getLhs().getType());
    auto rhsType = cast<RankedTensorType>(adaptor.getRhs().getType());

    // Loops in the order of the result's dimensions, the contracted ones last.
    SmallVector<AffineExpr> lhsPosition(lhsType.getRank()), rhsPosition(rhsType.getRank());
    SmallVector<Value> extents;
    unsigned loops = 0;
    auto addFree = [&](Value tensor, int64_t dim) {
      if (cast<RankedTensorType>(tensor.getType()).isDynamicDim(dim))
        extents.push_back(cpu::getExtent(b, tensor, dim));
      return b.getAffineDimExpr(loops++);
    };
    for (auto [lhsDim, rhsDim] :
         llvm::zip_equal(numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions()))
      lhsPosition[lhsDim] = rhsPosition[rhsDim] = addFree(adaptor.getLhs(), lhsDim);
    auto isContracted = [](ArrayRef<int64_t> contracted, int64_t dim) { return llvm::is_contained(contracted, dim); };
    for (int64_t dim = 0; dim < lhsType.getRank(); ++dim)
      if (!lhsPosition[dim] && !isContracted(numbers.getLhsContractingDimensions(), dim))
        lhsPosition[dim] = addFree(adaptor.getLhs(), dim);
    for (int64_t dim = 0; dim < rhsType.getRank(); ++dim)
      if (!rhsPosition[dim] && !isContracted(numbers.getRhsContractingDimensions(), dim))
        rhsPosition[dim] = addFree(adaptor.getRhs(), dim);
    unsigned freeLoops = loops;
    for (auto [lhsDim, rhsDim] :
         llvm::zip_equal(numbers.getLhsContractingDimensions(), numbers.getRhsContractingDimensions()))
      lhsPosition[lhsDim] = rhsPosition[rhsDim] = b.getAffineDimExpr(loops++);

    auto [lhsTensor, lhsElement] = decodeBytes(b, adaptor.getLhs(), cpu::getElement(op.getLhs()));
    auto [rhsTensor, rhsElement] = decodeBytes(b, adaptor.getRhs(), cpu::getElement(op.getRhs()));
    Factor lhs = {lhsTensor, lhsElement, AffineMap::get(loops, 0, lhsPosition, b.getContext())};
    Factor rhs = {rhsTensor, rhsElement, AffineMap::get(loops, 0, rhsPosition, b.getContext())};
    Type element = cpu::getElement(op.getType()), sum = getAccumulationType(b, element);
    if (loops == freeLoops) {
      Value result = cpu::makeParallel(
          b, type, cpu::makeEmpty(b, type, extents), {lhs.tensor, rhs.tensor}, {lhs.map, rhs.map},
          [&](Builder &inner, ValueRange elements) {
            Value product = emitProduct(inner, lhs.load(inner, elements[0], sum), rhs.load(inner, elements[1], sum));
            return cpu::storeElement(inner, cpu::convertElement(inner, product, sum, element), element);
          });
      rewriter.replaceOp(op, result);
      return success();
    }
    SmallVector<utils::IteratorType> iterators(freeLoops, utils::IteratorType::parallel);
    iterators.append(loops - freeLoops, utils::IteratorType::reduction);
    AffineMap sumsMap = cpu::getLeadingDims(b, loops, freeLoops);
    Value zeros = makeZeros(b, RankedTensorType::get(type.getShape(), cpu::getStorageType(sum)), extents);
    Value sums = makeContraction(b, lhs, rhs, sumsMap, iterators, zeros, sum);
    rewriter.replaceOp(op, roundSums(b, sums, sum, element, type));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

/// Splits dimension `dim` into (groups, extent / groups).
Value splitGroups(Builder &b, Value tensor, int64_t dim, int64_t groups) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= groups;
  shape.insert(shape.begin() + dim, groups);
  return cpu::makeReshape(b, RankedTensorType::get(shape, type.getElementType()), tensor);
}

/// Drops the dimensions of `tensor` that `position` has no index for: they have extent 1.
Value dropUnindexed(Builder &b, Value tensor, SmallVectorImpl<AffineExpr> &position) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape;
  for (auto [extent, index] : llvm::zip_equal(type.getShape(), position))
    if (index)
      shape.push_back(extent);
  llvm::erase_if(position, [](AffineExpr index) { return !index; });
  return cpu::makeReshape(b, type.clone(shape), tensor);
}

/// The extent of each loop of a convolution: of the sums' dimensions, then as the kernel's positions say.
SmallVector<int64_t> getLoopExtents(RankedTensorType sums, Value kernel, ArrayRef<AffineExpr> kernelPosition,
                                    unsigned loops) {
  SmallVector<int64_t> extents(sums.getShape());
  extents.resize(loops, 1);
  for (auto [extent, index] : llvm::zip_equal(cast<RankedTensorType>(kernel.getType()).getShape(), kernelPosition))
    extents[cast<AffineDimExpr>(index).getPosition()] = extent;
  return extents;
}

/// Whether a convolution is faster as a matrix product of copied windows: there must be something to multiply (a
/// convolution of each channel for itself has nothing), and the copy must not be huge.
bool isWorthCopying(ArrayRef<int64_t> extents, unsigned freeLoops, unsigned feature) {
  constexpr int64_t fewestColumns = 4, fewestProducts = 32, mostElements = int64_t(1) << 27;
  int64_t depth = 1, copied = 1;
  for (auto [loop, extent] : llvm::enumerate(extents)) {
    if (loop >= freeLoops)
      depth *= extent;
    if (loop != feature)
      copied *= extent;
  }
  int64_t columns = extents[feature];
  return columns >= fewestColumns && columns * depth >= fewestProducts && copied > 0 && copied <= mostElements;
}

/// Copies what each window of `input` covers into a row of its own, so that the convolution is a matrix product. On the
/// way in `map` says where the input is read, on the way out where the copy is.
Value copyWindows(Builder &b, Value input, ArrayRef<int64_t> extents, unsigned freeLoops, unsigned feature,
                  bool featuresAreInner, AffineMap &map) {
  unsigned loops = extents.size(), inputFeature = freeLoops;
  SmallVector<int64_t> shape;
  // All loops but the one over the result's features; contiguous elements of the input stay together.
  SmallVector<unsigned> order;
  for (unsigned loop = 0; loop < inputFeature; ++loop)
    if (loop != feature)
      order.push_back(loop);
  if (!featuresAreInner)
    order.push_back(inputFeature);
  for (unsigned loop = inputFeature + 1; loop < loops; ++loop)
    order.push_back(loop);
  if (featuresAreInner)
    order.push_back(inputFeature);

  SmallVector<AffineExpr> places(loops, b.getAffineConstantExpr(0)), position;
  for (auto [place, loop] : llvm::enumerate(order)) {
    shape.push_back(extents[loop]);
    places[loop] = b.getAffineDimExpr(place);
    position.push_back(b.getAffineDimExpr(loop));
  }
  auto type = cast<RankedTensorType>(input.getType()).clone(shape);
  AffineMap readMap = map.replaceDimsAndSymbols(places, {}, order.size(), 0);
  map = AffineMap::get(loops, 0, position, b.getContext());
  return cpu::makeParallel(b, type, cpu::makeEmpty(b, type), input, readMap,
                           [](Builder &, ValueRange elements) { return elements.front(); });
}

/// Loops: the result's dimensions in order (with groups, one more in front of the feature), then the kernel's input
/// feature and its taps. The input is padded beforehand, so that a window is `position * stride + tap * dilation`. With
/// enough to multiply, the windows are copied first and the convolution is a matrix product of them.
struct ConvolutionToGeneric : OpConversionPattern<stablehlo::ConvolutionOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::ConvolutionOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    if (!type || !type.hasStaticShape() || !op.getLhs().getType().hasStaticShape() ||
        !op.getRhs().getType().hasStaticShape())
      return failure();
    Builder b(op.getLoc(), rewriter);
    stablehlo::ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
    int64_t rank = type.getRank(), spatial = rank - 2;
    SmallVector<int64_t> strides = op.getStrides(), kernelDilations = op.getKernelDilations();
    ArrayRef<int64_t> inputSpatial = numbers.getInputSpatialDimensions();
    ArrayRef<int64_t> kernelSpatial = numbers.getKernelSpatialDimensions();
    ArrayRef<int64_t> outputSpatial = numbers.getOutputSpatialDimensions();

    SmallVector<int64_t> low(rank, 0), high(rank, 0), interior(rank, 0);
    for (int64_t i = 0; i < spatial; ++i) {
      auto [before, after] = op.getPaddingPairs()[i];
      low[inputSpatial[i]] = before;
      high[inputSpatial[i]] = after;
      interior[inputSpatial[i]] = op.getInputDilations()[i] - 1;
    }
    auto [input, inputElement] = decodeBytes(b, adaptor.getLhs(), cpu::getElement(op.getLhs()));
    auto [kernel, kernelElement] = decodeBytes(b, adaptor.getRhs(), cpu::getElement(op.getRhs()));
    Value zero = arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(cpu::getElement(input))));
    input = cpu::makePadded(b, input, zero, low, high, interior);

    // A group dimension is split off: from the input's features or batch, and from the kernel's output features.
    int64_t featureGroups = op.getFeatureGroupCount(), batchGroups = op.getBatchGroupCount();
    int64_t groups = std::max(featureGroups, batchGroups);
    bool isGrouped = groups > 1;
    int64_t inputGroupDim = featureGroups > 1 ? numbers.getInputFeatureDimension() : numbers.getInputBatchDimension();
    int64_t kernelGroupDim = numbers.getKernelOutputFeatureDimension();
    int64_t outputGroupDim = numbers.getOutputFeatureDimension();
    RankedTensorType sumsShape = type;
    if (isGrouped) {
      input = splitGroups(b, input, inputGroupDim, groups);
      kernel = splitGroups(b, kernel, kernelGroupDim, groups);
      SmallVector<int64_t> shape(type.getShape());
      shape[outputGroupDim] /= groups;
      shape.insert(shape.begin() + outputGroupDim, groups);
      sumsShape = RankedTensorType::get(shape, type.getElementType());
    }
    // Where a dimension stands after the split.
    auto shifted = [&](int64_t dim, int64_t groupDim) { return isGrouped && dim >= groupDim ? dim + 1 : dim; };

    // A tap of a kernel of extent 1 needs no loop.
    int64_t freeLoops = sumsShape.getRank(), loops = freeLoops + 1;
    AffineExpr group = isGrouped ? b.getAffineDimExpr(outputGroupDim) : AffineExpr();
    AffineExpr batch = b.getAffineDimExpr(shifted(numbers.getOutputBatchDimension(), outputGroupDim));
    AffineExpr feature = b.getAffineDimExpr(shifted(outputGroupDim, outputGroupDim));
    AffineExpr inputFeature = b.getAffineDimExpr(freeLoops);
    SmallVector<AffineExpr> inputPosition(freeLoops), kernelPosition(freeLoops);
    inputPosition[shifted(numbers.getInputBatchDimension(), inputGroupDim)] = batch;
    inputPosition[shifted(numbers.getInputFeatureDimension(), inputGroupDim)] = inputFeature;
    kernelPosition[shifted(numbers.getKernelInputFeatureDimension(), kernelGroupDim)] = inputFeature;
    kernelPosition[shifted(kernelGroupDim, kernelGroupDim)] = feature;
    if (isGrouped)
      inputPosition[inputGroupDim] = kernelPosition[kernelGroupDim] = group;
    for (int64_t i = 0; i < spatial; ++i) {
      AffineExpr position = b.getAffineDimExpr(shifted(outputSpatial[i], outputGroupDim)) * strides[i];
      int64_t last = op.getRhs().getType().getDimSize(kernelSpatial[i]) - 1;
      if (last > 0) {
        AffineExpr tap = b.getAffineDimExpr(loops++);
        kernelPosition[shifted(kernelSpatial[i], kernelGroupDim)] = tap;
        position = position + (op.getReversals()[i] ? last - tap : tap) * kernelDilations[i];
      }
      inputPosition[shifted(inputSpatial[i], inputGroupDim)] = position;
    }
    kernel = dropUnindexed(b, kernel, kernelPosition);
    AffineMap inputMap = AffineMap::get(loops, 0, inputPosition, b.getContext());
    SmallVector<int64_t> extents = getLoopExtents(sumsShape, kernel, kernelPosition, loops);
    unsigned featureLoop = cast<AffineDimExpr>(feature).getPosition();
    bool featuresAreInner = spatial == 0 || numbers.getInputFeatureDimension() > inputSpatial.back();
    if (!inputMap.isProjectedPermutation() && isWorthCopying(extents, freeLoops, featureLoop))
      input = copyWindows(b, input, extents, freeLoops, featureLoop, featuresAreInner, inputMap);

    Factor lhs = {input, inputElement, inputMap};
    Factor rhs = {kernel, kernelElement, AffineMap::get(loops, 0, kernelPosition, b.getContext())};
    Type element = cpu::getElement(op.getType()), sum = getAccumulationType(b, element);
    SmallVector<utils::IteratorType> iterators(freeLoops, utils::IteratorType::parallel);
    iterators.append(loops - freeLoops, utils::IteratorType::reduction);
    Value zeros = makeZeros(b, RankedTensorType::get(sumsShape.getShape(), cpu::getStorageType(sum)), {});
    AffineMap sumsMap = cpu::getLeadingDims(b, loops, freeLoops);
    Value sums = makeContraction(b, lhs, rhs, sumsMap, iterators, zeros, sum);
    Value result = roundSums(b, sums, sum, element, sumsShape);
    rewriter.replaceOp(op, cpu::makeReshape(b, type, result));
    return success();
  }
};

} // namespace

void cpu::populateContractionToLinalg(const TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<ConvolutionToGeneric, DotGeneralToGeneric>(types, patterns.getContext());
}
