// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folders and canonicalizations of the ops that make tensors or move their elements. Elements are only moved, so all
// element types fold. A splat stays a splat; other constants are written out only while they are small.
#include "latewood/compiler/Dialect/StableHLO/ConstantFolding.h"
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace latewood::stablehlo;

static OpFoldResult ifTyped(Value value, Type type) {
  return value.getType() == type ? OpFoldResult(value) : OpFoldResult();
}

/// A splat constant of another shape; null if `attribute` is no splat.
static Attribute resizeSplat(Attribute attribute, RankedTensorType type) {
  auto constant = dyn_cast_or_null<SplatElementsAttr>(attribute);
  return constant && type.hasStaticShape() && constant.getElementType() == type.getElementType()
             ? constant.resizeSplat(type)
             : Attribute();
}

static bool isAll(ArrayRef<int64_t> list, int64_t value) {
  return llvm::all_of(list, [=](int64_t entry) { return entry == value; });
}

static bool isIdentity(ArrayRef<int64_t> dimensions) {
  return llvm::all_of(llvm::enumerate(dimensions),
                      [](auto entry) { return entry.value() == static_cast<int64_t>(entry.index()); });
}

/// A small constant whose element at each index is the source's element at `locate(index)`.
template <typename Locate>
static Attribute moveElements(Attribute source, RankedTensorType type, Locate locate) {
  auto constant = dyn_cast_or_null<DenseElementsAttr>(source);
  if (!constant || !isFoldableShape(type) || type.getNumElements() == 0 ||
      constant.getElementType() != type.getElementType())
    return {};
  auto values = constant.getValues<Attribute>();
  SmallVector<int64_t> sourceStrides = computeSuffixProduct(constant.getType().getShape());
  SmallVector<Attribute> moved;
  SmallVector<int64_t> strides = computeSuffixProduct(type.getShape());
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    SmallVector<int64_t> index = locate(delinearize(i, strides));
    moved.push_back(values[index.empty() ? 0 : linearize(index, sourceStrides)]);
  }
  return DenseElementsAttr::get(type, moved);
}

//===----------------------------------------------------------------------===//
// constant, iota, get_dimension_size
//===----------------------------------------------------------------------===//

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

OpFoldResult IotaOp::fold(FoldAdaptor) {
  RankedTensorType type = getType();
  if (!type.hasStaticShape() || type.getDimSize(getIotaDimension()) != 1 || !type.getElementType().isIntOrFloat())
    return {};
  return DenseElementsAttr::get(type, Builder(getContext()).getZeroAttr(type.getElementType()));
}

OpFoldResult GetDimensionSizeOp::fold(FoldAdaptor) {
  int64_t extent = getOperand().getType().getDimSize(getDimension());
  if (ShapedType::isDynamic(extent) || extent > INT32_MAX)
    return {};
  return splatInteger(getType(), extent);
}

//===----------------------------------------------------------------------===//
// broadcast_in_dim, reshape, transpose, reverse
//===----------------------------------------------------------------------===//

OpFoldResult BroadcastInDimOp::fold(FoldAdaptor adaptor) {
  if (isIdentity(getBroadcastDimensions()) && getOperand().getType() == getType() && getType().hasStaticShape())
    return getOperand();
  return resizeSplat(adaptor.getOperand(), getType());
}

/// broadcast_in_dim of broadcast_in_dim is one, with composed dimensions.
static LogicalResult composeBroadcasts(BroadcastInDimOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<BroadcastInDimOp>();
  if (!inner)
    return failure();
  SmallVector<int64_t> dimensions = llvm::map_to_vector(
      inner.getBroadcastDimensions(), [&](int64_t dimension) { return op.getBroadcastDimensions()[dimension]; });
  rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, op.getType(), inner.getOperand(), dimensions);
  return success();
}

void BroadcastInDimOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(composeBroadcasts);
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  // Two dynamic types may be written alike and still stand for a change of shape.
  if (getOperand().getType() == getType() && (getType().hasStaticShape() || getType().getRank() == 1))
    return getOperand();
  if (auto constant = dyn_cast_or_null<DenseElementsAttr>(adaptor.getOperand()))
    if (getType().hasStaticShape() && constant.getElementType() == getType().getElementType())
      return constant.reshape(getType());
  return {};
}

/// reshape of reshape is one.
static LogicalResult composeReshapes(ReshapeOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<ReshapeOp>();
  if (!inner)
    return failure();
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getOperand());
  return success();
}

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(composeReshapes);
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (isIdentity(getPermutation()))
    return ifTyped(getOperand(), getType());
  if (Attribute splat = resizeSplat(adaptor.getOperand(), getType()))
    return splat;
  return moveElements(adaptor.getOperand(), getType(), [&](SmallVector<int64_t> index) {
    SmallVector<int64_t> source(index.size());
    for (auto [to, from] : llvm::enumerate(getPermutation()))
      source[from] = index[to];
    return source;
  });
}

/// transpose of transpose is one, with composed permutations.
static LogicalResult composeTransposes(TransposeOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<TransposeOp>();
  if (!inner)
    return failure();
  SmallVector<int64_t> permutation =
      llvm::map_to_vector(op.getPermutation(), [&](int64_t dimension) { return inner.getPermutation()[dimension]; });
  rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), inner.getOperand(), permutation);
  return success();
}

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(composeTransposes);
}

OpFoldResult ReverseOp::fold(FoldAdaptor adaptor) {
  if (llvm::all_of(getDimensions(), [&](int64_t dimension) { return getType().getDimSize(dimension) == 1; }))
    return ifTyped(getOperand(), getType());
  if (Attribute splat = resizeSplat(adaptor.getOperand(), getType()))
    return splat;
  return moveElements(adaptor.getOperand(), getType(), [&](SmallVector<int64_t> index) {
    for (int64_t dimension : getDimensions())
      index[dimension] = getType().getDimSize(dimension) - 1 - index[dimension];
    return index;
  });
}

//===----------------------------------------------------------------------===//
// slice, concatenate, pad
//===----------------------------------------------------------------------===//

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  // With a static shape equal to the operand's, each range must be the whole dimension, in steps that leave nothing
  // out.
  if (getType().hasStaticShape() && getOperand().getType() == getType())
    return getOperand();
  if (Attribute splat = resizeSplat(adaptor.getOperand(), getType()))
    return splat;
  return moveElements(adaptor.getOperand(), getType(), [&](SmallVector<int64_t> index) {
    for (auto [entry, start, stride] : llvm::zip(index, getStartIndices(), getStrides()))
      entry = start + entry * stride;
    return index;
  });
}

/// slice of slice is one.
static LogicalResult composeSlices(SliceOp op, PatternRewriter &rewriter) {
  auto inner = op.getOperand().getDefiningOp<SliceOp>();
  if (!inner)
    return failure();
  SmallVector<int64_t> starts, limits, strides;
  for (auto [index, start, limit, stride] :
       llvm::enumerate(op.getStartIndices(), op.getLimitIndices(), op.getStrides())) {
    int64_t innerStart = inner.getStartIndices()[index], innerStride = inner.getStrides()[index];
    starts.push_back(innerStart + start * innerStride);
    strides.push_back(stride * innerStride);
    // The last element that is taken lies inside; one past it is a limit in bounds.
    int64_t count = llvm::divideCeil(limit - start, stride);
    limits.push_back(count == 0 ? starts.back() : starts.back() + (count - 1) * strides.back() + 1);
    if (count == 0)
      starts.back() = limits.back() = 0;
  }
  rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), inner.getOperand(), starts, limits, strides);
  return success();
}

void SliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) { patterns.add(composeSlices); }

OpFoldResult ConcatenateOp::fold(FoldAdaptor adaptor) {
  if (getInputs().size() == 1)
    return ifTyped(getInputs().front(), getType());
  if (llvm::all_of(adaptor.getInputs(), [&](Attribute input) {
        auto constant = dyn_cast_or_null<SplatElementsAttr>(input);
        auto first = dyn_cast_or_null<SplatElementsAttr>(adaptor.getInputs().front());
        return constant && first && constant.getSplatValue<Attribute>() == first.getSplatValue<Attribute>();
      }))
    return resizeSplat(adaptor.getInputs().front(), getType());
  if (!isFoldableShape(getType()) || getType().getNumElements() == 0)
    return {};
  SmallVector<DenseElementsAttr> constants;
  for (Attribute input : adaptor.getInputs()) {
    constants.push_back(dyn_cast_or_null<DenseElementsAttr>(input));
    if (!constants.back() || constants.back().getElementType() != getType().getElementType())
      return {};
  }
  // Row-major: for each index outside of the dimension, the rows of all inputs in turn.
  int64_t outer = 1;
  for (int64_t extent : getType().getShape().take_front(getDimension()))
    outer *= extent;
  SmallVector<Attribute> values;
  for (int64_t row = 0; row < outer; ++row)
    for (DenseElementsAttr constant : constants) {
      int64_t length = constant.getNumElements() / outer;
      auto elements = constant.getValues<Attribute>();
      for (int64_t i = 0; i < length; ++i)
        values.push_back(elements[row * length + i]);
    }
  return DenseElementsAttr::get(getType(), values);
}

/// Drops inputs without elements along the dimension.
static LogicalResult dropEmptyInputs(ConcatenateOp op, PatternRewriter &rewriter) {
  SmallVector<Value> inputs = llvm::filter_to_vector(op.getInputs(), [&](Value input) {
    return cast<RankedTensorType>(input.getType()).getDimSize(op.getDimension()) != 0;
  });
  if (inputs.empty() || inputs.size() == op.getInputs().size())
    return failure();
  rewriter.replaceOpWithNewOp<ConcatenateOp>(op, op.getType(), inputs, op.getDimension());
  return success();
}

void ConcatenateOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(dropEmptyInputs);
}

OpFoldResult PadOp::fold(FoldAdaptor adaptor) {
  if (isAll(getEdgePaddingLow(), 0) && isAll(getEdgePaddingHigh(), 0) && isAll(getInteriorPadding(), 0))
    return ifTyped(getOperand(), getType());
  // A splat padded with its own value.
  auto operand = dyn_cast_or_null<SplatElementsAttr>(adaptor.getOperand());
  auto value = dyn_cast_or_null<SplatElementsAttr>(adaptor.getPaddingValue());
  if (operand && value && operand.getSplatValue<Attribute>() == value.getSplatValue<Attribute>())
    return resizeSplat(operand, getType());
  return {};
}

/// Padding of an operand without elements is a broadcast of the value.
static LogicalResult padOfNothing(PadOp op, PatternRewriter &rewriter) {
  RankedTensorType from = op.getOperand().getType();
  if (!from.hasStaticShape() || from.getNumElements() != 0 || !op.getType().hasStaticShape())
    return failure();
  rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, op.getType(), op.getPaddingValue(), ArrayRef<int64_t>());
  return success();
}

void PadOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) { patterns.add(padOfNothing); }

//===----------------------------------------------------------------------===//
// dynamic_slice, dynamic_update_slice
//===----------------------------------------------------------------------===//

OpFoldResult DynamicSliceOp::fold(FoldAdaptor) {
  // A slice of the whole tensor starts at 0 wherever it is asked to start.
  if (getType().hasStaticShape() && getOperand().getType() == getType())
    return getOperand();
  return {};
}

/// dynamic_slice at constant start indices is a slice, at the clamped indices.
static LogicalResult sliceAtConstant(DynamicSliceOp op, PatternRewriter &rewriter) {
  RankedTensorType from = op.getOperand().getType();
  if (!from.hasStaticShape())
    return failure();
  SmallVector<int64_t> starts, limits, strides(from.getRank(), 1);
  for (auto [index, start, size] : llvm::enumerate(op.getStartIndices(), op.getSliceSizes())) {
    DenseIntElementsAttr constant;
    if (!matchPattern(start, m_Constant(&constant)))
      return failure();
    APInt value = constant.getSplatValue<APInt>();
    bool isUnsigned = constant.getElementType().isUnsignedInteger();
    int64_t last = from.getDimSize(index) - size;
    int64_t wanted = isUnsigned ? static_cast<int64_t>(value.getLimitedValue(INT64_MAX)) : value.getSExtValue();
    starts.push_back(std::clamp<int64_t>(wanted, 0, last));
    limits.push_back(starts.back() + size);
  }
  rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), op.getOperand(), starts, limits, strides);
  return success();
}

void DynamicSliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(sliceAtConstant);
}

OpFoldResult DynamicUpdateSliceOp::fold(FoldAdaptor) {
  // An update of the whole tensor replaces it; one without elements changes nothing.
  RankedTensorType update = getUpdate().getType();
  if (update == getType() && update.hasStaticShape())
    return getUpdate();
  if (llvm::is_contained(update.getShape(), 0))
    return ifTyped(getOperand(), getType());
  return {};
}

//===----------------------------------------------------------------------===//
// Dynamic forms whose result type is static
//===----------------------------------------------------------------------===//

static LogicalResult makeBroadcastStatic(DynamicBroadcastInDimOp op, PatternRewriter &rewriter) {
  if (!op.getType().hasStaticShape() || !op.getOperand().getType().hasStaticShape())
    return failure();
  rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, op.getType(), op.getOperand(), op.getBroadcastDimensions());
  return success();
}

void DynamicBroadcastInDimOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(makeBroadcastStatic);
}

static LogicalResult makeReshapeStatic(DynamicReshapeOp op, PatternRewriter &rewriter) {
  if (!op.getType().hasStaticShape())
    return failure();
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getOperand());
  return success();
}

void DynamicReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(makeReshapeStatic);
}

static LogicalResult makeIotaStatic(DynamicIotaOp op, PatternRewriter &rewriter) {
  if (!op.getType().hasStaticShape())
    return failure();
  rewriter.replaceOpWithNewOp<IotaOp>(op, op.getType(), op.getIotaDimension());
  return success();
}

void DynamicIotaOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(makeIotaStatic);
}
