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
#include "latewood/compiler/Engines/CPU/StableHLOToLinalgPattern.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

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
std::pair<Value, Type> decodeBytes(Builder &b, Value tensor, Type element, ArrayRef<OpFoldResult> extents) {
  if (!cpu::isByteFloat(element))
    return {tensor, element};
  auto type = cast<RankedTensorType>(tensor.getType()).clone(b.getF32Type());
  Value decoded = cpu::makeParallel(b, type, cpu::makeEmpty(b, type, extents), tensor,
                                    b.getMultiDimIdentityMap(type.getRank()), [&](Builder &inner, ValueRange elements) {
                                      Value loaded = cpu::loadElement(inner, elements.front(), element);
                                      return cpu::decodeByteFloat(inner, loaded, cast<FloatType>(element));
                                    });
  return {decoded, b.getF32Type()};
}

/// Rounds the sums to the result's type, where they were made in another one.
Value roundSums(Builder &b, Value sums, Type from, Type to, RankedTensorType type, ArrayRef<OpFoldResult> extents) {
  if (from == to)
    return sums;
  return cpu::makeParallel(b, type, cpu::makeEmpty(b, type, extents), sums, b.getMultiDimIdentityMap(type.getRank()),
                           [&](Builder &inner, ValueRange elements) {
                             Value loaded = cpu::loadElement(inner, elements.front(), from);
                             return cpu::storeElement(inner, cpu::convertElement(inner, loaded, from, to), to);
                           });
}

Value makeZeros(Builder &b, RankedTensorType type, ArrayRef<OpFoldResult> extents) {
  Value zero = arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(type.getElementType())));
  return cpu::makeUniform(b, type, zero, extents);
}

/// Sums of products over the loops that `sumsMap` does not have, on top of `zeros`.
Value makeContraction(Builder &b, const Factor &lhs, const Factor &rhs, AffineMap sumsMap,
                      ArrayRef<utils::IteratorType> iterators, Value zeros, Type sum) {
  // A sum of nothing.
  auto isEmpty = [](Value value) { return llvm::is_contained(cast<RankedTensorType>(value.getType()).getShape(), 0); };
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

struct DotGeneralToGeneric : cpu::ToLinalgPattern<stablehlo::DotGeneralOp> {
  using ToLinalgPattern::ToLinalgPattern;

  Value makeResult(stablehlo::DotGeneralOp op, OpAdaptor adaptor, RankedTensorType type,
                   ConversionPatternRewriter &rewriter) const override {
    Builder b(op.getLoc(), rewriter);
    stablehlo::DotDimensionNumbersAttr numbers = op.getDotDimensionNumbers();
    auto lhsType = cast<RankedTensorType>(adaptor.getLhs().getType());
    auto rhsType = cast<RankedTensorType>(adaptor.getRhs().getType());

    // Loops in the order of the result's dimensions, the contracted ones last.
    SmallVector<AffineExpr> lhsPosition(lhsType.getRank()), rhsPosition(rhsType.getRank());
    cpu::Extents extents = cpu::getExtents(rewriter, op->getResults());
    unsigned loops = 0;
    auto addFree = [&] { return b.getAffineDimExpr(loops++); };
    for (auto [lhsDim, rhsDim] :
         llvm::zip_equal(numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions()))
      lhsPosition[lhsDim] = rhsPosition[rhsDim] = addFree();
    auto isContracted = [](ArrayRef<int64_t> contracted, int64_t dim) { return llvm::is_contained(contracted, dim); };
    for (int64_t dim = 0; dim < lhsType.getRank(); ++dim)
      if (!lhsPosition[dim] && !isContracted(numbers.getLhsContractingDimensions(), dim))
        lhsPosition[dim] = addFree();
    for (int64_t dim = 0; dim < rhsType.getRank(); ++dim)
      if (!rhsPosition[dim] && !isContracted(numbers.getRhsContractingDimensions(), dim))
        rhsPosition[dim] = addFree();
    unsigned freeLoops = loops;
    for (auto [lhsDim, rhsDim] :
         llvm::zip_equal(numbers.getLhsContractingDimensions(), numbers.getRhsContractingDimensions()))
      lhsPosition[lhsDim] = rhsPosition[rhsDim] = b.getAffineDimExpr(loops++);

    auto [lhsTensor, lhsElement] =
        decodeBytes(b, adaptor.getLhs(), cpu::getElement(op.getLhs()), cpu::getExtents(rewriter, op.getLhs()));
    auto [rhsTensor, rhsElement] =
        decodeBytes(b, adaptor.getRhs(), cpu::getElement(op.getRhs()), cpu::getExtents(rewriter, op.getRhs()));
    Factor lhs = {lhsTensor, lhsElement, AffineMap::get(loops, 0, lhsPosition, b.getContext())};
    Factor rhs = {rhsTensor, rhsElement, AffineMap::get(loops, 0, rhsPosition, b.getContext())};
    Type element = cpu::getElement(op.getType()), sum = getAccumulationType(b, element);
    if (loops == freeLoops) {
      return cpu::makeParallel(
          b, type, cpu::makeEmpty(b, type, extents), {lhs.tensor, rhs.tensor}, {lhs.map, rhs.map},
          [&](Builder &inner, ValueRange elements) {
            Value product = emitProduct(inner, lhs.load(inner, elements[0], sum), rhs.load(inner, elements[1], sum));
            return cpu::storeElement(inner, cpu::convertElement(inner, product, sum, element), element);
          });
    }
    SmallVector<utils::IteratorType> iterators(freeLoops, utils::IteratorType::parallel);
    iterators.append(loops - freeLoops, utils::IteratorType::reduction);
    AffineMap sumsMap = cpu::getLeadingDims(b, loops, freeLoops);
    Value zeros = makeZeros(b, RankedTensorType::get(type.getShape(), cpu::getStorageType(sum)), extents);
    Value sums = makeContraction(b, lhs, rhs, sumsMap, iterators, zeros, sum);
    return roundSums(b, sums, sum, element, type, extents);
  }
};

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

/// A tensor and its extents.
struct Shaped {
  Value tensor;
  cpu::Extents extents;

  Value reshape(Builder &b, ArrayRef<OpFoldResult> to) const {
    return cpu::makeReshape(b, cpu::getTypeOf(to, cpu::getElement(tensor)), tensor, extents, to);
  }
};

/// `extents` with dimension `dim` split into (groups, extent / groups).
cpu::Extents splitGroups(Builder &b, ArrayRef<OpFoldResult> extents, int64_t dim, int64_t groups) {
  cpu::Extents split(extents);
  split[dim] = cpu::divIndices(b, split[dim], b.getIndexAttr(groups));
  split.insert(split.begin() + dim, b.getIndexAttr(groups));
  return split;
}

Shaped splitGroups(Builder &b, const Shaped &whole, int64_t dim, int64_t groups) {
  cpu::Extents split = splitGroups(b, whole.extents, dim, groups);
  return {whole.reshape(b, split), split};
}

/// Drops the dimensions of `whole` that `position` has no index for: they have extent 1.
Shaped dropUnindexed(Builder &b, const Shaped &whole, SmallVectorImpl<AffineExpr> &position) {
  cpu::Extents kept;
  for (auto [extent, index] : llvm::zip_equal(whole.extents, position))
    if (index)
      kept.push_back(extent);
  llvm::erase_if(position, [](AffineExpr index) { return !index; });
  return {whole.reshape(b, kept), kept};
}

/// The extent of each loop of a convolution: of the sums' dimensions, then as the kernel's positions say.
cpu::Extents getLoopExtents(Builder &b, ArrayRef<OpFoldResult> sums, ArrayRef<OpFoldResult> kernel,
                            ArrayRef<AffineExpr> kernelPosition, unsigned loops) {
  cpu::Extents extents(sums);
  extents.resize(loops, b.getIndexAttr(1));
  for (auto [extent, index] : llvm::zip_equal(kernel, kernelPosition))
    extents[cast<AffineDimExpr>(index).getPosition()] = extent;
  return extents;
}

/// Whether a convolution is faster as a matrix product of copied windows: there must be something to multiply (a
/// convolution of each channel for itself has nothing), and the copy must not be huge. Extents that are not known may
/// be large where something is multiplied, and are taken for moderate where it is copied.
bool isWorthCopying(ArrayRef<OpFoldResult> extents, unsigned freeLoops, unsigned feature) {
  constexpr int64_t fewestColumns = 4, fewestProducts = 32, mostElements = int64_t(1) << 27;
  int64_t depth = 1, copied = 1;
  for (auto [loop, extent] : llvm::enumerate(extents)) {
    std::optional<int64_t> known = getConstantIntValue(extent);
    if (loop >= freeLoops)
      depth *= known.value_or(fewestProducts);
    if (loop != feature)
      copied *= known.value_or(1);
  }
  int64_t columns = getConstantIntValue(extents[feature]).value_or(fewestColumns);
  return columns >= fewestColumns && columns * depth >= fewestProducts && copied > 0 && copied <= mostElements;
}

/// Copies what each window of `input` covers into a row of its own, so that the convolution is a matrix product. On the
/// way in `map` says where the input is read, on the way out where the copy is.
Value copyWindows(Builder &b, Value input, ArrayRef<OpFoldResult> extents, unsigned freeLoops, unsigned feature,
                  bool featuresAreInner, AffineMap &map) {
  unsigned loops = extents.size(), inputFeature = freeLoops;
  cpu::Extents shape;
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
  RankedTensorType type = cpu::getTypeOf(shape, cpu::getElement(input));
  AffineMap readMap = map.replaceDimsAndSymbols(places, {}, order.size(), 0);
  map = AffineMap::get(loops, 0, position, b.getContext());
  return cpu::makeParallel(b, type, cpu::makeEmpty(b, type, shape), input, readMap,
                           [](Builder &, ValueRange elements) { return elements.front(); });
}

/// Loops: the result's dimensions in order (with groups, one more in front of the feature), then the kernel's input
/// feature and its taps. The input is padded beforehand, so that a window is `position * stride + tap * dilation`. With
/// enough to multiply, the windows are copied first and the convolution is a matrix product of them.
template <typename OpTy>
struct ConvolutionToGeneric : cpu::ToLinalgPattern<OpTy> {
  using cpu::ToLinalgPattern<OpTy>::ToLinalgPattern;

  Value makeResult(OpTy op, typename OpTy::Adaptor adaptor, RankedTensorType type,
                   ConversionPatternRewriter &rewriter) const override {
    Builder b(op.getLoc(), rewriter);
    stablehlo::ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
    int64_t rank = type.getRank(), spatial = rank - 2;
    SmallVector<int64_t> strides = op.getStrides(), kernelDilations = op.getKernelDilations();
    ArrayRef<int64_t> inputSpatial = numbers.getInputSpatialDimensions();
    ArrayRef<int64_t> kernelSpatial = numbers.getKernelSpatialDimensions();
    ArrayRef<int64_t> outputSpatial = numbers.getOutputSpatialDimensions();

    cpu::Extents nothing(rank, b.getIndexAttr(0));
    cpu::Padding padding = {nothing, nothing, nothing};
    for (int64_t i = 0; i < spatial; ++i) {
      std::tie(padding.low[inputSpatial[i]], padding.high[inputSpatial[i]]) = getPadding(rewriter, op, i);
      padding.interior[inputSpatial[i]] = b.getIndexAttr(op.getInputDilations()[i] - 1);
    }
    cpu::Extents inputExtents = cpu::getExtents(rewriter, op.getLhs());
    cpu::Extents kernelExtents = cpu::getExtents(rewriter, op.getRhs());
    auto [whole, inputElement] = decodeBytes(b, adaptor.getLhs(), cpu::getElement(op.getLhs()), inputExtents);
    auto [wholeKernel, kernelElement] = decodeBytes(b, adaptor.getRhs(), cpu::getElement(op.getRhs()), kernelExtents);
    Value zero = arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(cpu::getElement(whole))));
    cpu::Extents padded = cpu::getPaddedExtents(b, inputExtents, padding);
    Shaped input = {cpu::makePadded(b, whole, inputExtents, zero, padding, padded), padded};
    Shaped kernel = {wholeKernel, kernelExtents};
    // A kernel that is read backwards is an index where its last position is known, else a copy.
    SmallVector<bool> reversals(op.getReversals());
    SmallVector<int64_t> reversed;
    for (int64_t i = 0; i < spatial; ++i)
      if (reversals[i] && isa<Value>(kernelExtents[kernelSpatial[i]])) {
        reversed.push_back(kernelSpatial[i]);
        reversals[i] = false;
      }
    if (!reversed.empty())
      kernel.tensor = cpu::makeReversed(b, kernel.tensor, kernelExtents, reversed);

    // A group dimension is split off: from the input's features or batch, and from the kernel's output features.
    int64_t featureGroups = op.getFeatureGroupCount(), batchGroups = op.getBatchGroupCount();
    int64_t groups = std::max(featureGroups, batchGroups);
    bool isGrouped = groups > 1;
    int64_t inputGroupDim = featureGroups > 1 ? numbers.getInputFeatureDimension() : numbers.getInputBatchDimension();
    int64_t kernelGroupDim = numbers.getKernelOutputFeatureDimension();
    int64_t outputGroupDim = numbers.getOutputFeatureDimension();
    cpu::Extents resultExtents = cpu::getExtents(rewriter, op->getResults()), sumsExtents = resultExtents;
    if (isGrouped) {
      input = splitGroups(b, input, inputGroupDim, groups);
      kernel = splitGroups(b, kernel, kernelGroupDim, groups);
      sumsExtents = splitGroups(b, resultExtents, outputGroupDim, groups);
    }
    // Where a dimension stands after the split.
    auto shifted = [&](int64_t dim, int64_t groupDim) { return isGrouped && dim >= groupDim ? dim + 1 : dim; };

    // A tap of a kernel of extent 1 needs no loop.
    int64_t freeLoops = sumsExtents.size(), loops = freeLoops + 1;
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
      OpFoldResult taps = kernelExtents[kernelSpatial[i]];
      if (!cpu::isKnown(taps, 1)) {
        AffineExpr tap = b.getAffineDimExpr(loops++);
        kernelPosition[shifted(kernelSpatial[i], kernelGroupDim)] = tap;
        position = position + (reversals[i] ? *getConstantIntValue(taps) - 1 - tap : tap) * kernelDilations[i];
      }
      inputPosition[shifted(inputSpatial[i], inputGroupDim)] = position;
    }
    kernel = dropUnindexed(b, kernel, kernelPosition);
    AffineMap inputMap = AffineMap::get(loops, 0, inputPosition, b.getContext());
    cpu::Extents extents = getLoopExtents(b, sumsExtents, kernel.extents, kernelPosition, loops);
    unsigned featureLoop = cast<AffineDimExpr>(feature).getPosition();
    bool featuresAreInner = spatial == 0 || numbers.getInputFeatureDimension() > inputSpatial.back();
    if (!inputMap.isProjectedPermutation() && isWorthCopying(extents, freeLoops, featureLoop))
      input.tensor = copyWindows(b, input.tensor, extents, freeLoops, featureLoop, featuresAreInner, inputMap);

    Factor lhs = {input.tensor, inputElement, inputMap};
    Factor rhs = {kernel.tensor, kernelElement, AffineMap::get(loops, 0, kernelPosition, b.getContext())};
    Type element = cpu::getElement(op.getType()), sum = getAccumulationType(b, element);
    SmallVector<utils::IteratorType> iterators(freeLoops, utils::IteratorType::parallel);
    iterators.append(loops - freeLoops, utils::IteratorType::reduction);
    Value zeros = makeZeros(b, cpu::getTypeOf(sumsExtents, cpu::getStorageType(sum)), sumsExtents);
    AffineMap sumsMap = cpu::getLeadingDims(b, loops, freeLoops);
    Value sums = makeContraction(b, lhs, rhs, sumsMap, iterators, zeros, sum);
    RankedTensorType sumsType = cpu::getTypeOf(sumsExtents, type.getElementType());
    Shaped result = {roundSums(b, sums, sum, element, sumsType, sumsExtents), sumsExtents};
    return result.reshape(b, resultExtents);
  }

private:
  /// The padding in front of and behind spatial dimension `i`.
  static std::pair<OpFoldResult, OpFoldResult> getPadding(ConversionPatternRewriter &rewriter, OpTy op, int64_t i) {
    if constexpr (std::is_same_v<OpTy, stablehlo::DynamicConvOp>) {
      SmallVector<OpFoldResult> padding = cpu::getIndices(rewriter, op.getLoc(), op.getPadding());
      return {padding[2 * i], padding[2 * i + 1]};
    } else {
      auto [low, high] = op.getPaddingPairs()[i];
      return {rewriter.getIndexAttr(low), rewriter.getIndexAttr(high)};
    }
  }
};

} // namespace

void cpu::populateContractionToLinalg(const TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<ConvolutionToGeneric<stablehlo::ConvolutionOp>, ConvolutionToGeneric<stablehlo::DynamicConvOp>,
               DotGeneralToGeneric>(types, patterns.getContext());
}
