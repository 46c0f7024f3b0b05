// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// complex<f64> at the borders of a program.
//
// Phase Input computes with real and imaginary parts; complex tensors are left as arguments and results only. In memory
// such a tensor is pairs of floats. A pair of f32 is held as one i64, and taken apart by shifts (see
// StableHLOToLinalgScalar.cpp): reading and writing stay contiguous. A pair of f64 is wider than what registers shift,
// so it is held as a last dimension of two i64:
//
//   real, imag   tensor.extract_slice of one element of that dimension, and a generic that reads the bits as f64
//   complex      a generic for the bits of each part, and tensor.insert_slice of both: they are computed where the
//   pairs are
//
// The elements are integers so that these generics are never nothing but copies, which would be removed: whoever gets a
// part without computing with it must not get a view with a stride.
//
// No other operation on complex elements comes here.

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace latewood;

namespace {

/// Where one part of all pairs is: offsets, sizes, strides. `extents` are those of the complex tensor.
struct PartSlice {
  PartSlice(Builder &b, ArrayRef<OpFoldResult> extents, int64_t part)
      : offsets(extents.size(), b.getIndexAttr(0)), sizes(extents), strides(extents.size() + 1, b.getIndexAttr(1)) {
    offsets.push_back(b.getIndexAttr(part));
    sizes.push_back(b.getIndexAttr(1));
  }
  SmallVector<OpFoldResult> offsets, sizes, strides;
};

Value makeBitcast(ImplicitLocOpBuilder &b, Value tensor, Type element, ArrayRef<OpFoldResult> extents) {
  auto type = cast<RankedTensorType>(tensor.getType()).clone(element);
  return cpu::makeParallel(b, type, cpu::makeEmpty(b, type, extents), tensor, b.getMultiDimIdentityMap(type.getRank()),
                           [&](ImplicitLocOpBuilder &inner, ValueRange elements) -> Value {
                             return arith::BitcastOp::create(inner, element, elements.front());
                           });
}

template <typename OpTy, int64_t part>
struct PartToExtractSlice : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;

  LogicalResult matchAndRewrite(OpTy op, typename OpTy::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto pairs = cast<RankedTensorType>(adaptor.getOperand().getType());
    if (!isa<ComplexType>(cpu::getElement(op.getOperand())) || cpu::isScalarOp(op))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    cpu::Extents extents = cpu::getExtents(rewriter, op.getOperand());
    PartSlice slice(rewriter, extents, part);
    auto type = RankedTensorType::get(pairs.getShape().drop_back(), pairs.getElementType());
    Value view =
        tensor::ExtractSliceOp::create(b, type, adaptor.getOperand(), slice.offsets, slice.sizes, slice.strides);
    rewriter.replaceOp(op, makeBitcast(b, view, cpu::getElement(op.getType()), extents));
    return success();
  }
};

struct ComplexToInsertSlice : OpConversionPattern<stablehlo::ComplexOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::ComplexOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    if (!type || cpu::isScalarOp(op))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    cpu::Extents extents = cpu::getExtents(rewriter, op->getResults()), pairs(extents);
    pairs.push_back(b.getIndexAttr(2));
    Value result = cpu::makeEmpty(b, type, pairs);
    for (auto [part, value] : llvm::enumerate(adaptor.getOperands())) {
      PartSlice slice(b, extents, part);
      Value bits = makeBitcast(b, value, type.getElementType(), extents);
      result = tensor::InsertSliceOp::create(b, bits, result, slice.offsets, slice.sizes, slice.strides);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void cpu::populateComplexToSlices(const TypeConverter &types, RewritePatternSet &patterns) {
  patterns
      .add<PartToExtractSlice<stablehlo::RealOp, 0>, PartToExtractSlice<stablehlo::ImagOp, 1>, ComplexToInsertSlice>(
          types, patterns.getContext());
}
