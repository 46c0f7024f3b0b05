// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that make, move or select elements by position.
//
//   broadcast_in_dim, transpose   a generic whose input map drops or permutes dimensions: fuses into consumers
//   reshape                       tensor.collapse_shape, tensor.expand_shape: a view
//   slice                         tensor.extract_slice: a view
//   concatenate, pad              tensor.insert_slice into one tensor
//   iota                          a generic over linalg.index
//   reverse                       a generic whose input map mirrors dimensions
//
// A broadcast of a uniform tensor is uniform.

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalg.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace latewood;

namespace {

struct IotaToGeneric : OpConversionPattern<stablehlo::IotaOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::IotaOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    if (!type || !type.hasStaticShape())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type element = cpu::getElement(op.getType());
    Value result =
        cpu::makeParallel(b, type, cpu::makeEmpty(b, type), {}, {}, [&](ImplicitLocOpBuilder &inner, ValueRange) {
          Value position = linalg::IndexOp::create(inner, op.getIotaDimension());
          // Positions are not negative, and fit into 32 bits but for very long dimensions.
          bool isShort = type.getDimSize(op.getIotaDimension()) <= (int64_t(1) << 31);
          Type counter = inner.getIntegerType(isShort ? 32 : 64);
          position = arith::IndexCastOp::create(inner, counter, position);
          return cpu::storeElement(inner, cpu::convertElement(inner, position, counter, element), element);
        });
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct BroadcastToGeneric : OpConversionPattern<stablehlo::BroadcastInDimOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::BroadcastInDimOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    if (!type || !type.hasStaticShape())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value operand = adaptor.getOperand();
    if (Value uniform = cpu::getUniform(b, operand)) {
      rewriter.replaceOp(op, cpu::makeUniform(b, type, uniform));
      return success();
    }

    // Dimensions of extent 1 that are repeated are dropped from the operand: the map of what is left permutes and
    // projects.
    auto from = cast<RankedTensorType>(operand.getType());
    SmallVector<int64_t> kept;
    SmallVector<AffineExpr> position;
    for (auto [dim, target] : llvm::enumerate(op.getBroadcastDimensions())) {
      if (from.getDimSize(dim) == 1 && type.getDimSize(target) != 1)
        continue;
      kept.push_back(from.getDimSize(dim));
      position.push_back(b.getAffineDimExpr(target));
    }
    operand = cpu::makeReshape(b, RankedTensorType::get(kept, type.getElementType()), operand);
    if (kept.empty()) {
      rewriter.replaceOp(op, cpu::makeUniform(b, type, cpu::getUniform(b, operand)));
      return success();
    }
    AffineMap map = AffineMap::get(type.getRank(), 0, position, b.getContext());
    Value result = cpu::makeParallel(b, type, cpu::makeEmpty(b, type), operand, map,
                                     [](ImplicitLocOpBuilder &, ValueRange elements) { return elements.front(); });
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct TransposeToGeneric : OpConversionPattern<stablehlo::TransposeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::TransposeOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    if (!type)
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    ArrayRef<int64_t> permutation = op.getPermutation();
    SmallVector<Value> extents;
    for (auto [dim, source] : llvm::enumerate(permutation))
      if (type.isDynamicDim(dim))
        extents.push_back(cpu::getExtent(b, adaptor.getOperand(), source));
    if (Value uniform = cpu::getUniform(b, adaptor.getOperand())) {
      rewriter.replaceOp(op, cpu::makeUniform(b, type, uniform, extents));
      return success();
    }
    SmallVector<AffineExpr> position(type.getRank());
    for (auto [dim, source] : llvm::enumerate(permutation))
      position[source] = b.getAffineDimExpr(dim);
    AffineMap map = AffineMap::get(type.getRank(), 0, position, b.getContext());
    Value result = cpu::makeParallel(b, type, cpu::makeEmpty(b, type, extents), adaptor.getOperand(), map,
                                     [](ImplicitLocOpBuilder &, ValueRange elements) { return elements.front(); });
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct ReshapeToViews : OpConversionPattern<stablehlo::ReshapeOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::ReshapeOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    auto from = cast<RankedTensorType>(adaptor.getOperand().getType());
    if (!type || !type.hasStaticShape() || !from.hasStaticShape())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if (Value uniform = cpu::getUniform(b, adaptor.getOperand()))
      rewriter.replaceOp(op, cpu::makeUniform(b, type, uniform));
    else if (type.getRank() == 0)
      rewriter.replaceOp(op, cpu::makeUniform(b, type, cpu::getOnlyElement(b, adaptor.getOperand())));
    else
      rewriter.replaceOp(op, cpu::makeReshape(b, type, adaptor.getOperand()));
    return success();
  }
};

struct SliceToExtractSlice : OpConversionPattern<stablehlo::SliceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::SliceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    if (!type || !type.hasStaticShape())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if (type.getNumElements() == 0) {
      rewriter.replaceOp(op, cpu::makeEmpty(b, type));
      return success();
    }
    if (Value uniform = cpu::getUniform(b, adaptor.getOperand())) {
      rewriter.replaceOp(op, cpu::makeUniform(b, type, uniform));
      return success();
    }
    SmallVector<OpFoldResult> offsets = getAsIndexOpFoldResult(b.getContext(), op.getStartIndices());
    SmallVector<OpFoldResult> sizes = getAsIndexOpFoldResult(b.getContext(), type.getShape());
    SmallVector<OpFoldResult> strides = getAsIndexOpFoldResult(b.getContext(), op.getStrides());
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(op, type, adaptor.getOperand(), offsets, sizes, strides);
    return success();
  }
};

struct ReverseToGeneric : OpConversionPattern<stablehlo::ReverseOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::ReverseOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    if (!type || !type.hasStaticShape())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<AffineExpr> position;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      AffineExpr index = b.getAffineDimExpr(dim);
      bool isReversed = llvm::is_contained(op.getDimensions(), dim);
      position.push_back(isReversed ? type.getDimSize(dim) - 1 - index : index);
    }
    AffineMap map = AffineMap::get(type.getRank(), 0, position, b.getContext());
    Value result = cpu::makeParallel(b, type, cpu::makeEmpty(b, type), adaptor.getOperand(), map,
                                     [](ImplicitLocOpBuilder &, ValueRange elements) { return elements.front(); });
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct ConcatenateToInsertSlice : OpConversionPattern<stablehlo::ConcatenateOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::ConcatenateOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    if (!type || !type.hasStaticShape())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value result = cpu::makeEmpty(b, type);
    SmallVector<int64_t> offset(type.getRank(), 0), stride(type.getRank(), 1);
    for (Value input : adaptor.getInputs()) {
      auto inputType = cast<RankedTensorType>(input.getType());
      if (inputType.getNumElements() != 0)
        result = tensor::InsertSliceOp::create(b, input, result, getAsIndexOpFoldResult(b.getContext(), offset),
                                               getAsIndexOpFoldResult(b.getContext(), inputType.getShape()),
                                               getAsIndexOpFoldResult(b.getContext(), stride));
      offset[op.getDimension()] += inputType.getDimSize(op.getDimension());
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct PadToInsertSlice : OpConversionPattern<stablehlo::PadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::PadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!op.getType().hasStaticShape() || !op.getOperand().getType().hasStaticShape())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value value = cpu::getOnlyElement(b, adaptor.getPaddingValue());
    rewriter.replaceOp(op, cpu::makePadded(b, adaptor.getOperand(), value, op.getEdgePaddingLow(),
                                           op.getEdgePaddingHigh(), op.getInteriorPadding()));
    return success();
  }
};

/// Element types of different widths: the wider element is a row of narrower ones, lowest bits first.
struct BitcastConvertToGeneric : OpConversionPattern<stablehlo::BitcastConvertOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::BitcastConvertOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    Type from = cpu::getElement(op.getOperand().getType()), to = cpu::getElement(op.getType());
    auto fromType = cast<RankedTensorType>(adaptor.getOperand().getType());
    if (!type || !type.hasStaticShape() || !fromType.hasStaticShape() || cpu::isScalarOp(op))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    unsigned fromBits = from.getIntOrFloatBitWidth(), toBits = to.getIntOrFloatBitWidth();
    Type fromInteger = b.getIntegerType(fromBits), toInteger = b.getIntegerType(toBits);
    // Between an integer and the compute type of the same width.
    auto bitcast = [](ImplicitLocOpBuilder &inner, Type target, Value value) -> Value {
      return value.getType() == target ? value : Value(arith::BitcastOp::create(inner, target, value));
    };
    Value operand = adaptor.getOperand();
    Value result;
    if (fromBits > toBits) {
      // One more dimension in the result: the part's number.
      AffineMap map = cpu::getLeadingDims(b, type.getRank(), type.getRank() - 1);
      result = cpu::makeParallel(
          b, type, cpu::makeEmpty(b, type), operand, map, [&](ImplicitLocOpBuilder &inner, ValueRange elements) {
            Value bits = bitcast(inner, fromInteger, cpu::loadElement(inner, elements.front(), from));
            Value part = linalg::IndexOp::create(inner, type.getRank() - 1);
            Value width = arith::ConstantIndexOp::create(inner, toBits);
            Value shift = arith::IndexCastOp::create(inner, fromInteger, arith::MulIOp::create(inner, part, width));
            bits = arith::TruncIOp::create(inner, toInteger, arith::ShRUIOp::create(inner, bits, shift));
            return cpu::storeElement(inner, bitcast(inner, cpu::getComputeType(to), bits), to);
          });
    } else {
      // The parts are slices of the operand, each an input.
      int64_t parts = toBits / fromBits, rank = fromType.getRank();
      SmallVector<Value> inputs;
      for (int64_t part = 0; part < parts; ++part) {
        SmallVector<int64_t> offsets(rank, 0), sizes(fromType.getShape()), strides(rank, 1);
        offsets[rank - 1] = part;
        sizes[rank - 1] = 1;
        inputs.push_back(tensor::ExtractSliceOp::create(
            b, RankedTensorType::get(fromType.getShape().drop_back(), fromType.getElementType()), operand,
            getAsIndexOpFoldResult(b.getContext(), offsets), getAsIndexOpFoldResult(b.getContext(), sizes),
            getAsIndexOpFoldResult(b.getContext(), strides)));
      }
      SmallVector<AffineMap> maps(parts, b.getMultiDimIdentityMap(type.getRank()));
      result = cpu::makeParallel(
          b, type, cpu::makeEmpty(b, type), inputs, maps, [&](ImplicitLocOpBuilder &inner, ValueRange elements) {
            Value bits;
            for (auto [part, element] : llvm::enumerate(elements)) {
              Value value = bitcast(inner, fromInteger, cpu::loadElement(inner, element, from));
              value = arith::ExtUIOp::create(inner, toInteger, value);
              Value shift = arith::ConstantOp::create(inner, inner.getIntegerAttr(toInteger, part * fromBits));
              value = arith::ShLIOp::create(inner, value, shift);
              bits = bits ? Value(arith::OrIOp::create(inner, bits, value)) : value;
            }
            return cpu::storeElement(inner, bitcast(inner, cpu::getComputeType(to), bits), to);
          });
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void cpu::populateShapeToLinalg(const TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<BitcastConvertToGeneric, BroadcastToGeneric, ConcatenateToInsertSlice, IotaToGeneric, PadToInsertSlice,
               ReshapeToViews, ReverseToGeneric, SliceToExtractSlice, TransposeToGeneric>(types, patterns.getContext());
}
