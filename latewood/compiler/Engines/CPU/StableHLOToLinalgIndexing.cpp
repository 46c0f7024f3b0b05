// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Access at computed positions: dynamic_slice, dynamic_update_slice, gather.
//
// Start indices are clamped, so that every access is inside. A slice at one computed position is a
// tensor.extract_slice, an update of one a tensor.insert_slice. A gather of many slices is a generic over the result:
//
//   ins  one tensor of indices per gathered dimension, each a projected permutation of the result's dimensions
//   body clamp the indices, add the position in the slice, tensor.extract from the operand
//
// The operand's position in a dimension that the slices take whole is the result's own index: a lookup of rows reads
// contiguous elements in the innermost loop.

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalg.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace latewood;

/// Clamped offsets of a slice of `sizes` in `tensor`. `starts` are 0-dimensional.
static SmallVector<OpFoldResult> clampStarts(ImplicitLocOpBuilder &b, Value tensor, ValueRange starts, Type element,
                                             ArrayRef<int64_t> sizes) {
  SmallVector<OpFoldResult> offsets;
  for (auto [dim, start] : llvm::enumerate(starts)) {
    Value index =
        cpu::clampIndex(b, cpu::getOnlyElement(b, start), element, cpu::getExtentOrAttr(b, tensor, dim), sizes[dim]);
    offsets.push_back(getAsOpFoldResult(index));
  }
  return offsets;
}

namespace {

struct DynamicSliceToExtractSlice : OpConversionPattern<stablehlo::DynamicSliceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::DynamicSliceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    if (!type)
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if (type.getRank() == 0) {
      rewriter.replaceOp(op, adaptor.getOperand());
      return success();
    }
    SmallVector<OpFoldResult> offsets = clampStarts(b, adaptor.getOperand(), adaptor.getStartIndices(),
                                                    cpu::getElement(op.getStartIndices().front()), op.getSliceSizes());
    SmallVector<OpFoldResult> sizes = getAsIndexOpFoldResult(b.getContext(), op.getSliceSizes());
    SmallVector<OpFoldResult> strides(type.getRank(), b.getIndexAttr(1));
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(op, type, adaptor.getOperand(), offsets, sizes, strides);
    return success();
  }
};

struct DynamicUpdateSliceToInsertSlice : OpConversionPattern<stablehlo::DynamicUpdateSliceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::DynamicUpdateSliceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto updateType = cast<RankedTensorType>(adaptor.getUpdate().getType());
    if (!updateType.hasStaticShape())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if (updateType.getRank() == 0 || updateType.getNumElements() == 0) {
      rewriter.replaceOp(op, updateType.getRank() == 0 ? adaptor.getUpdate() : adaptor.getOperand());
      return success();
    }
    SmallVector<OpFoldResult> offsets =
        clampStarts(b, adaptor.getOperand(), adaptor.getStartIndices(), cpu::getElement(op.getStartIndices().front()),
                    updateType.getShape());
    SmallVector<OpFoldResult> sizes = getAsIndexOpFoldResult(b.getContext(), updateType.getShape());
    SmallVector<OpFoldResult> strides(updateType.getRank(), b.getIndexAttr(1));
    rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(op, adaptor.getUpdate(), adaptor.getOperand(), offsets, sizes,
                                                       strides);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

struct GatherToGeneric : OpConversionPattern<stablehlo::GatherOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::GatherOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    auto operandType = cast<RankedTensorType>(adaptor.getOperand().getType());
    auto indicesType = cast<RankedTensorType>(adaptor.getStartIndices().getType());
    if (!type || !type.hasStaticShape() || !operandType.hasStaticShape() || !indicesType.hasStaticShape())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    stablehlo::GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
    ArrayRef<int64_t> sizes = op.getSliceSizes(), startMap = numbers.getStartIndexMap();
    Type indexElement = cpu::getElement(op.getStartIndices());
    Value operand = adaptor.getOperand(), indices = adaptor.getStartIndices();

    // The dimensions of the result: those of the slices, and the others ("batch"), which are those of the indices.
    SmallVector<int64_t> batchDims;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (!llvm::is_contained(numbers.getOffsetDims(), dim))
        batchDims.push_back(dim);
    SmallVector<Value> components = splitIndices(b, indices, numbers.getIndexVectorDim(), startMap.size());

    if (batchDims.empty()) {
      Value zero = arith::ConstantIndexOp::create(b, 0);
      SmallVector<Value> offsets(operandType.getRank(), zero);
      for (auto [component, dim] : llvm::zip_equal(components, startMap))
        offsets[dim] = cpu::clampIndex(b, cpu::getOnlyElement(b, component), indexElement,
                                       b.getIndexAttr(operandType.getDimSize(dim)), sizes[dim]);
      if (type.getNumElements() == 1) {
        Value element = tensor::ExtractOp::create(b, operand, offsets);
        rewriter.replaceOp(op, cpu::makeUniform(b, type, element));
        return success();
      }
      SmallVector<OpFoldResult> strides(operandType.getRank(), b.getIndexAttr(1));
      rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(op, type, operand, getAsOpFoldResult(ValueRange(offsets)),
                                                          getAsIndexOpFoldResult(b.getContext(), sizes), strides);
      return success();
    }

    // Uniform indices are no inputs.
    SmallVector<Value> uniform, inputs;
    SmallVector<AffineMap> maps;
    SmallVector<AffineExpr> position;
    for (int64_t dim : batchDims)
      position.push_back(b.getAffineDimExpr(dim));
    AffineMap map = AffineMap::get(type.getRank(), 0, position, b.getContext());
    for (Value component : components) {
      uniform.push_back(cpu::getUniform(b, component));
      if (uniform.back())
        continue;
      inputs.push_back(component);
      maps.push_back(map);
    }

    Value result = cpu::makeParallel(
        b, type, cpu::makeEmpty(b, type), inputs, maps, [&](ImplicitLocOpBuilder &inner, ValueRange elements) -> Value {
          SmallVector<Value> place(operandType.getRank());
          // Position in the slice: the result's offset dimensions, for the operand's dimensions that are not dropped.
          unsigned offset = 0;
          for (int64_t dim = 0; dim < operandType.getRank(); ++dim) {
            bool isDropped = llvm::is_contained(numbers.getCollapsedSliceDims(), dim) ||
                             llvm::is_contained(numbers.getOperandBatchingDims(), dim);
            if (!isDropped)
              place[dim] = linalg::IndexOp::create(inner, numbers.getOffsetDims()[offset++]);
          }
          // Batching dimensions: the same dimension of the indices' batch.
          for (auto [dim, indicesDim] :
               llvm::zip_equal(numbers.getOperandBatchingDims(), numbers.getStartIndicesBatchingDims())) {
            int64_t batch = indicesDim < numbers.getIndexVectorDim() ? indicesDim : indicesDim - 1;
            place[dim] = linalg::IndexOp::create(inner, batchDims[batch]);
          }
          unsigned next = 0;
          for (auto [i, dim] : llvm::enumerate(startMap)) {
            Value index = uniform[i] ? uniform[i] : elements[next++];
            Value start = cpu::clampIndex(inner, index, indexElement, inner.getIndexAttr(operandType.getDimSize(dim)),
                                          sizes[dim]);
            bool startsAtZero = sizes[dim] == operandType.getDimSize(dim);
            if (!place[dim])
              place[dim] = start;
            else if (!startsAtZero)
              place[dim] = sizes[dim] == 1 ? start : Value(arith::AddIOp::create(inner, start, place[dim]));
          }
          for (Value &index : place)
            if (!index)
              index = arith::ConstantIndexOp::create(inner, 0);
          return tensor::ExtractOp::create(inner, operand, place);
        });
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  /// One tensor of the batch's shape for each component of the index vectors.
  static SmallVector<Value> splitIndices(ImplicitLocOpBuilder &b, Value indices, int64_t vectorDim, size_t count) {
    auto type = cast<RankedTensorType>(indices.getType());
    if (vectorDim == type.getRank())
      return {indices};
    SmallVector<int64_t> batchShape(type.getShape());
    batchShape.erase(batchShape.begin() + vectorDim);
    auto batchType = RankedTensorType::get(batchShape, type.getElementType());
    SmallVector<Value> components;
    for (size_t component = 0; component < count; ++component) {
      if (count == 1) {
        // The index vectors have one component: a view without the dimension.
        components.push_back(batchShape.empty() ? cpu::makeUniform(b, batchType, cpu::getOnlyElement(b, indices))
                                                : cpu::makeReshape(b, batchType, indices));
        continue;
      }
      SmallVector<int64_t> offsets(type.getRank(), 0), sizes(type.getShape()), strides(type.getRank(), 1);
      offsets[vectorDim] = component;
      sizes[vectorDim] = 1;
      components.push_back(tensor::ExtractSliceOp::create(
          b, batchType, indices, getAsIndexOpFoldResult(b.getContext(), offsets),
          getAsIndexOpFoldResult(b.getContext(), sizes), getAsIndexOpFoldResult(b.getContext(), strides)));
    }
    return components;
  }
};

} // namespace

void cpu::populateIndexingToLinalg(const TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<DynamicSliceToExtractSlice, DynamicUpdateSliceToInsertSlice, GatherToGeneric>(types,
                                                                                             patterns.getContext());
}
