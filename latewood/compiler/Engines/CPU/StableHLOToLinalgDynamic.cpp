// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a program says about its own shapes.
//
//   plan.with_shape, plan.with_values   their operands: the scalars have been read by whoever needed them
//   get_dimension_size                  the scalar
//   set_dimension_size                  the slice of the elements that are left
//   dynamic_pad                         as pad
//
// The dynamic forms of other operations stand with their static forms: in Shape, Indexing and Contraction.

#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalgPattern.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace latewood;

namespace {

template <typename OpTy>
struct ToOperand : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;

  LogicalResult matchAndRewrite(OpTy op, typename OpTy::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getOperand());
    return success();
  }
};

struct GetDimensionSizeToScalar : cpu::ToLinalgPattern<stablehlo::GetDimensionSizeOp> {
  using ToLinalgPattern::ToLinalgPattern;

  Value makeResult(stablehlo::GetDimensionSizeOp op, OpAdaptor, RankedTensorType type,
                   ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    OpFoldResult extent = cpu::getExtents(rewriter, op.getOperand())[op.getDimension()];
    Value size = arith::IndexCastOp::create(b, type.getElementType(), cpu::toValue(b, extent));
    return cpu::makeUniform(b, type, size);
  }
};

struct SetDimensionSizeToSlice : cpu::ToLinalgPattern<stablehlo::SetDimensionSizeOp> {
  using ToLinalgPattern::ToLinalgPattern;

  Value makeResult(stablehlo::SetDimensionSizeOp op, OpAdaptor adaptor, RankedTensorType type,
                   ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    cpu::Extents sizes = cpu::getExtents(rewriter, op->getResults());
    if (sizes == cpu::getExtents(rewriter, op.getOperand()))
      return adaptor.getOperand();
    SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)), strides(sizes.size(), b.getIndexAttr(1));
    return tensor::ExtractSliceOp::create(rewriter, op.getLoc(), type, adaptor.getOperand(), offsets, sizes, strides);
  }
};

struct DynamicPadToInsertSlice : cpu::ToLinalgPattern<stablehlo::DynamicPadOp> {
  using ToLinalgPattern::ToLinalgPattern;

  Value makeResult(stablehlo::DynamicPadOp op, OpAdaptor adaptor, RankedTensorType,
                   ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    cpu::Padding padding = {cpu::getIndices(rewriter, op.getLoc(), op.getEdgePaddingLow()),
                            cpu::getIndices(rewriter, op.getLoc(), op.getEdgePaddingHigh()),
                            cpu::getIndices(rewriter, op.getLoc(), op.getInteriorPadding())};
    Value value = cpu::getOnlyElement(b, adaptor.getPaddingValue());
    return cpu::makePadded(b, adaptor.getOperand(), cpu::getExtents(rewriter, op.getOperand()), value, padding,
                           cpu::getExtents(rewriter, op->getResults()));
  }
};

} // namespace

void cpu::populateDynamicToLinalg(const TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<DynamicPadToInsertSlice, GetDimensionSizeToScalar, SetDimensionSizeToSlice, ToOperand<plan::WithShapeOp>,
               ToOperand<plan::WithValuesOp>>(types, patterns.getContext());
}
