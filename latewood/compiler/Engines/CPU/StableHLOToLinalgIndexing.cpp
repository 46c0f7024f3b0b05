// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Access at computed positions: dynamic_slice, dynamic_update_slice, real_dynamic_slice, gather.
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
#include "latewood/compiler/Engines/CPU/StableHLOToLinalgPattern.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace latewood;

/// Clamped offsets of a slice of `sizes` in a tensor of `extents`. `starts` are 0-dimensional.
static SmallVector<OpFoldResult> clampStarts(ImplicitLocOpBuilder &b, ArrayRef<OpFoldResult> extents, ValueRange starts,
                                             Type element, ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> offsets;
  for (auto [extent, start, size] : llvm::zip_equal(extents, starts, sizes))
    offsets.push_back(getAsOpFoldResult(cpu::clampIndex(b, cpu::getOnlyElement(b, start), element, extent, size)));
  return offsets;
}

namespace {

struct DynamicSliceToExtractSlice : cpu::ToLinalgPattern<stablehlo::DynamicSliceOp> {
  using ToLinalgPattern::ToLinalgPattern;

  Value makeResult(stablehlo::DynamicSliceOp op, OpAdaptor adaptor, RankedTensorType type,
                   ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if (type.getRank() == 0)
      return adaptor.getOperand();
    SmallVector<OpFoldResult> sizes = getAsIndexOpFoldResult(b.getContext(), op.getSliceSizes());
    SmallVector<OpFoldResult> offsets =
        clampStarts(b, cpu::getExtents(rewriter, op.getOperand()), adaptor.getStartIndices(),
                    cpu::getElement(op.getStartIndices().front()), sizes);
    SmallVector<OpFoldResult> strides(type.getRank(), b.getIndexAttr(1));
    // Sizes are attributes, so the type is that of the slice whatever the result is declared to be.
    Value slice = tensor::ExtractSliceOp::create(b, cpu::getTypeOf(sizes, type.getElementType()), adaptor.getOperand(),
                                                 offsets, sizes, strides);
    return slice.getType() == type ? slice : Value(tensor::CastOp::create(b, type, slice));
  }
};

struct DynamicUpdateSliceToInsertSlice : cpu::ToLinalgPattern<stablehlo::DynamicUpdateSliceOp> {
  using ToLinalgPattern::ToLinalgPattern;

  Value makeResult(stablehlo::DynamicUpdateSliceOp op, OpAdaptor adaptor, RankedTensorType,
                   ConversionPatternRewriter &rewriter) const override {
    cpu::Extents sizes = cpu::getExtents(rewriter, op.getUpdate());
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if (sizes.empty() || cpu::isKnownEmpty(sizes))
      return sizes.empty() ? adaptor.getUpdate() : adaptor.getOperand();
    SmallVector<OpFoldResult> offsets =
        clampStarts(b, cpu::getExtents(rewriter, op.getOperand()), adaptor.getStartIndices(),
                    cpu::getElement(op.getStartIndices().front()), sizes);
    SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
    return tensor::InsertSliceOp::create(rewriter, op.getLoc(), adaptor.getUpdate(), adaptor.getOperand(), offsets,
                                         sizes, strides);
  }
};

/// A slice of computed starts, limits and strides. Its extents are those of the result.
struct RealDynamicSliceToExtractSlice : cpu::ToLinalgPattern<stablehlo::RealDynamicSliceOp> {
  using ToLinalgPattern::ToLinalgPattern;

  Value makeResult(stablehlo::RealDynamicSliceOp op, OpAdaptor adaptor, RankedTensorType type,
                   ConversionPatternRewriter &rewriter) const override {
    cpu::Extents sizes = cpu::getExtents(rewriter, op->getResults());
    if (sizes.empty())
      return adaptor.getOperand();
    // Of no elements there is no first one that the slice could begin at.
    if (llvm::is_contained(cast<RankedTensorType>(adaptor.getOperand().getType()).getShape(), 0))
      return tensor::EmptyOp::create(rewriter, op.getLoc(), sizes, type.getElementType());
    SmallVector<OpFoldResult> offsets = cpu::getIndices(rewriter, op.getLoc(), op.getStartIndices());
    SmallVector<OpFoldResult> strides = cpu::getIndices(rewriter, op.getLoc(), op.getStrides());
    return tensor::ExtractSliceOp::create(rewriter, op.getLoc(), type, adaptor.getOperand(), offsets, sizes, strides);
  }
};

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

template <typename OpTy>
struct GatherToGeneric : cpu::ToLinalgPattern<OpTy> {
  using cpu::ToLinalgPattern<OpTy>::ToLinalgPattern;

  Value makeResult(OpTy op, typename OpTy::Adaptor adaptor, RankedTensorType type,
                   ConversionPatternRewriter &rewriter) const override {
    auto operandType = cast<RankedTensorType>(adaptor.getOperand().getType());
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    stablehlo::GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
    ArrayRef<int64_t> startMap = numbers.getStartIndexMap();
    cpu::Extents extents = cpu::getExtents(rewriter, op->getResults());
    cpu::Extents operandExtents = cpu::getExtents(rewriter, op.getOperand());
    SmallVector<OpFoldResult> sizes = getSliceSizes(b, op, operandExtents, extents);
    Type indexElement = cpu::getElement(op.getStartIndices());
    Value operand = adaptor.getOperand(), indices = adaptor.getStartIndices();

    // The dimensions of the result: those of the slices, and the others ("batch"), which are those of the indices.
    SmallVector<int64_t> batchDims;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (!llvm::is_contained(numbers.getOffsetDims(), dim))
        batchDims.push_back(dim);
    SmallVector<Value> components = splitIndices(b, indices, cpu::getExtents(rewriter, op.getStartIndices()),
                                                 numbers.getIndexVectorDim(), startMap.size());

    if (batchDims.empty()) {
      Value zero = arith::ConstantIndexOp::create(b, 0);
      SmallVector<Value> offsets(operandType.getRank(), zero);
      for (auto [component, dim] : llvm::zip_equal(components, startMap))
        offsets[dim] =
            cpu::clampIndex(b, cpu::getOnlyElement(b, component), indexElement, operandExtents[dim], sizes[dim]);
      if (type.hasStaticShape() && type.getNumElements() == 1) {
        Value element = tensor::ExtractOp::create(b, operand, offsets);
        return cpu::makeUniform(b, type, element);
      }
      // The sizes as the result's type has them.
      for (auto [offset, dim] : llvm::zip_equal(numbers.getOffsetDims(), getOffsetOperandDims(numbers, sizes.size())))
        sizes[dim] = extents[offset];
      for (int64_t dim : numbers.getCollapsedSliceDims())
        sizes[dim] = b.getIndexAttr(1);
      SmallVector<OpFoldResult> strides(operandType.getRank(), b.getIndexAttr(1));
      return tensor::ExtractSliceOp::create(rewriter, op.getLoc(), type, operand,
                                            getAsOpFoldResult(ValueRange(offsets)), sizes, strides);
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

    // The last place that a slice may start at, where that is a value.
    SmallVector<OpFoldResult> starts(startMap.size());
    for (auto [i, dim] : llvm::enumerate(startMap))
      starts[i] = cpu::subIndices(b, operandExtents[dim], sizes[dim]);

    Value empty = cpu::makeEmpty(b, type, extents);
    return cpu::makeParallel(
        b, type, empty, inputs, maps, [&](ImplicitLocOpBuilder &inner, ValueRange elements) -> Value {
          SmallVector<Value> place(operandType.getRank());
          // Position in the slice: the result's offset dimensions, for the operand's dimensions that are not dropped.
          for (auto [offset, dim] :
               llvm::zip_equal(numbers.getOffsetDims(), getOffsetOperandDims(numbers, operandType.getRank())))
            place[dim] = linalg::IndexOp::create(inner, offset);
          // Batching dimensions: the same dimension of the indices' batch.
          for (auto [dim, indicesDim] :
               llvm::zip_equal(numbers.getOperandBatchingDims(), numbers.getStartIndicesBatchingDims())) {
            int64_t batch = indicesDim < numbers.getIndexVectorDim() ? indicesDim : indicesDim - 1;
            place[dim] = linalg::IndexOp::create(inner, batchDims[batch]);
          }
          unsigned next = 0;
          for (auto [i, dim] : llvm::enumerate(startMap)) {
            Value index = uniform[i] ? uniform[i] : elements[next++];
            bool startsAtZero = cpu::isKnown(starts[i], 0);
            Value start = cpu::clampIndex(inner, index, indexElement, starts[i], inner.getIndexAttr(0));
            if (!place[dim])
              place[dim] = start;
            else if (!startsAtZero)
              place[dim] = cpu::isKnown(sizes[dim], 1) ? start : Value(arith::AddIOp::create(inner, start, place[dim]));
          }
          for (Value &index : place)
            if (!index)
              index = arith::ConstantIndexOp::create(inner, 0);
          return tensor::ExtractOp::create(inner, operand, place);
        });
  }

private:
  /// The extents of a slice. Those that are computed are the result's, and 1 in dimensions that the result does not
  /// have. What is sliced as a whole has the extent of the operand, so that it is known to start at 0.
  static SmallVector<OpFoldResult> getSliceSizes(Builder &b, OpTy op, ArrayRef<OpFoldResult> operandExtents,
                                                 ArrayRef<OpFoldResult> extents) {
    constexpr bool isStatic = std::is_same_v<OpTy, stablehlo::GatherOp>;
    SmallVector<OpFoldResult> sizes(operandExtents.size(), b.getIndexAttr(1));
    if constexpr (isStatic)
      sizes = getAsIndexOpFoldResult(b.getContext(), op.getSliceSizes());
    stablehlo::GatherDimensionNumbersAttr numbers = op.getDimensionNumbers();
    for (auto [offset, dim] : llvm::zip_equal(numbers.getOffsetDims(), getOffsetOperandDims(numbers, sizes.size())))
      if (!isStatic || (isa<Value>(extents[offset]) && extents[offset] == operandExtents[dim]))
        sizes[dim] = extents[offset];
    return sizes;
  }

  /// The operand's dimensions that the result's offset dimensions belong to.
  static SmallVector<int64_t> getOffsetOperandDims(stablehlo::GatherDimensionNumbersAttr numbers, int64_t rank) {
    return llvm::filter_to_vector(llvm::seq<int64_t>(rank), [&](int64_t dim) {
      return !llvm::is_contained(numbers.getCollapsedSliceDims(), dim) &&
             !llvm::is_contained(numbers.getOperandBatchingDims(), dim);
    });
  }

  /// One tensor of the batch's shape for each component of the index vectors.
  static SmallVector<Value> splitIndices(ImplicitLocOpBuilder &b, Value indices, ArrayRef<OpFoldResult> extents,
                                         int64_t vectorDim, size_t count) {
    int64_t rank = extents.size();
    if (vectorDim == rank)
      return {indices};
    cpu::Extents batch = cpu::withoutDim(extents, vectorDim);
    RankedTensorType batchType = cpu::getTypeOf(batch, cpu::getElement(indices));
    SmallVector<Value> components;
    for (size_t component = 0; component < count; ++component) {
      if (count == 1) {
        // The index vectors have one component: a view without the dimension.
        components.push_back(batch.empty() ? cpu::makeUniform(b, batchType, cpu::getOnlyElement(b, indices))
                                           : cpu::makeReshape(b, batchType, indices, extents, batch));
        continue;
      }
      SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)), sizes(extents), strides(rank, b.getIndexAttr(1));
      offsets[vectorDim] = b.getIndexAttr(component);
      sizes[vectorDim] = b.getIndexAttr(1);
      components.push_back(tensor::ExtractSliceOp::create(b, batchType, indices, offsets, sizes, strides));
    }
    return components;
  }
};

} // namespace

void cpu::populateIndexingToLinalg(const TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<DynamicSliceToExtractSlice, DynamicUpdateSliceToInsertSlice, GatherToGeneric<stablehlo::GatherOp>,
               GatherToGeneric<stablehlo::DynamicGatherOp>, RealDynamicSliceToExtractSlice>(types,
                                                                                            patterns.getContext());
}
