// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Complex numbers at the borders of a program.
//
// Phase Input computes with real and imaginary parts; complex tensors are left as arguments and results only. In memory such
// a tensor is pairs of floats, so it is held as a tensor of floats with a last dimension of 2, and
//
//   real, imag   tensor.extract_slice of one element of that dimension: a view with stride 2
//   complex      tensor.insert_slice of both parts: they are computed where the pairs are
//
// No other operation on complex elements comes here.

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace latewood;

namespace {

/// Where one part of all pairs is: offsets, sizes, strides.
struct PartSlice {
  PartSlice(MLIRContext *context, ArrayRef<int64_t> pairs, int64_t part) {
    int64_t rank = pairs.size();
    SmallVector<int64_t> offset(rank, 0), size(pairs), stride(rank, 1);
    offset.back() = part;
    size.back() = 1;
    offsets = getAsIndexOpFoldResult(context, offset);
    sizes = getAsIndexOpFoldResult(context, size);
    strides = getAsIndexOpFoldResult(context, stride);
  }
  SmallVector<OpFoldResult> offsets, sizes, strides;
};

template <typename OpTy, int64_t part> struct PartToExtractSlice : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;

  LogicalResult matchAndRewrite(OpTy op, typename OpTy::Adaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto pairs = cast<RankedTensorType>(adaptor.getOperand().getType());
    if (!isa<ComplexType>(cpu::getElement(op.getOperand().getType())) || !pairs.hasStaticShape())
      return failure();
    PartSlice slice(rewriter.getContext(), pairs.getShape(), part);
    auto type = RankedTensorType::get(pairs.getShape().drop_back(), pairs.getElementType());
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(op, type, adaptor.getOperand(), slice.offsets, slice.sizes,
                                                        slice.strides);
    return success();
  }
};

struct ComplexToInsertSlice : OpConversionPattern<stablehlo::ComplexOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::ComplexOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    if (!type || !type.hasStaticShape())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value result = cpu::makeEmpty(b, type);
    for (auto [part, value] : llvm::enumerate(adaptor.getOperands())) {
      PartSlice slice(b.getContext(), type.getShape(), part);
      result = tensor::InsertSliceOp::create(b, value, result, slice.offsets, slice.sizes, slice.strides);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void cpu::populateComplexToSlices(const TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<PartToExtractSlice<stablehlo::RealOp, 0>, PartToExtractSlice<stablehlo::ImagOp, 1>, ComplexToInsertSlice>(
      types, patterns.getContext());
}
