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
// A broadcast of a uniform tensor is uniform. The forms with computed shapes are the same operations: the extents of
// their results are scalars. Only whether a dimension of a broadcast's operand is repeated may be open until it runs.

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalgPattern.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace latewood;

namespace {

template <typename OpTy>
struct IotaToGeneric : cpu::ToLinalgPattern<OpTy> {
  using cpu::ToLinalgPattern<OpTy>::ToLinalgPattern;

  Value makeResult(OpTy op, typename OpTy::Adaptor, RankedTensorType type,
                   ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type element = cpu::getElement(op.getType());
    int64_t dim = op.getIotaDimension();
    // Positions are not negative, and fit into 32 bits but for very long dimensions; narrow integers wrap anyway.
    bool isShort = type.isDynamicDim(dim) ? element.isIntOrIndex() && element.getIntOrFloatBitWidth() <= 32
                                          : type.getDimSize(dim) <= (int64_t(1) << 31);
    Value empty = cpu::makeEmpty(b, type, cpu::getExtents(rewriter, op->getResults()));
    return cpu::makeParallel(b, type, empty, {}, {}, [&](ImplicitLocOpBuilder &inner, ValueRange) {
      Value position = linalg::IndexOp::create(inner, dim);
      Type counter = inner.getIntegerType(isShort ? 32 : 64);
      position = arith::IndexCastOp::create(inner, counter, position);
      return cpu::storeElement(inner, cpu::convertElement(inner, position, counter, element), element);
    });
  }
};

/// How a dimension of the operand of a broadcast is read.
enum class Repeat {
  Never,  // it has the result's extent
  Always, // it has extent 1
  IfOne   // whether it has extent 1 is known when the program runs
};

bool isListed(std::optional<ArrayRef<int64_t>> dims, int64_t dim) { return dims && llvm::is_contained(*dims, dim); }

template <typename OpTy>
struct BroadcastToGeneric : cpu::ToLinalgPattern<OpTy> {
  using cpu::ToLinalgPattern<OpTy>::ToLinalgPattern;

  Value makeResult(OpTy op, typename OpTy::Adaptor adaptor, RankedTensorType type,
                   ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value operand = adaptor.getOperand();
    cpu::Extents extents = cpu::getExtents(rewriter, op->getResults());
    if (Value uniform = cpu::getUniform(b, operand))
      return cpu::makeUniform(b, type, uniform, extents);
    cpu::Extents from = cpu::getExtents(rewriter, op.getOperand());
    SmallVector<Repeat> repeats;
    for (auto [dim, target] : llvm::enumerate(op.getBroadcastDimensions()))
      repeats.push_back(findRepeat(op, dim, from[dim], extents[target]));
    return llvm::is_contained(repeats, Repeat::IfOne)
               ? readAtComputedPlaces(b, type, operand, op.getBroadcastDimensions(), from, extents, repeats)
               : readByMap(b, type, operand, op.getBroadcastDimensions(), from, extents, repeats);
  }

private:
  static Repeat findRepeat(OpTy op, int64_t dim, OpFoldResult from, OpFoldResult to) {
    if (from == to)
      return Repeat::Never;
    if (isa<Attribute>(from))
      return cpu::isKnown(from, 1) ? Repeat::Always : Repeat::Never;
    if constexpr (std::is_same_v<OpTy, stablehlo::DynamicBroadcastInDimOp>) {
      if (isListed(op.getKnownExpandingDimensions(), dim))
        return Repeat::Always;
      if (isListed(op.getKnownNonexpandingDimensions(), dim))
        return Repeat::Never;
    }
    return cpu::isKnown(to, 1) ? Repeat::Always : Repeat::IfOne;
  }

  /// Dimensions of extent 1 that are repeated are dropped from the operand: the map of what is left permutes and
  /// projects.
  static Value readByMap(ImplicitLocOpBuilder &b, RankedTensorType type, Value operand, ArrayRef<int64_t> targets,
                         ArrayRef<OpFoldResult> from, ArrayRef<OpFoldResult> extents, ArrayRef<Repeat> repeats) {
    cpu::Extents kept;
    SmallVector<AffineExpr> position;
    for (auto [extent, target, repeat] : llvm::zip_equal(from, targets, repeats)) {
      if (repeat == Repeat::Always)
        continue;
      kept.push_back(extent);
      position.push_back(b.getAffineDimExpr(target));
    }
    if (kept.empty())
      return cpu::makeUniform(b, type, cpu::getOnlyElement(b, operand), extents);
    operand = cpu::makeReshape(b, cpu::getTypeOf(kept, type.getElementType()), operand, from, kept);
    AffineMap map = AffineMap::get(type.getRank(), 0, position, b.getContext());
    return cpu::makeParallel(b, type, cpu::makeEmpty(b, type, extents), operand, map,
                             [](ImplicitLocOpBuilder &, ValueRange elements) { return elements.front(); });
  }

  /// Each dimension that may have extent 1 is read in steps of 0 or 1.
  static Value readAtComputedPlaces(ImplicitLocOpBuilder &b, RankedTensorType type, Value operand,
                                    ArrayRef<int64_t> targets, ArrayRef<OpFoldResult> from,
                                    ArrayRef<OpFoldResult> extents, ArrayRef<Repeat> repeats) {
    SmallVector<Value> steps(from.size());
    Value one = arith::ConstantIndexOp::create(b, 1);
    for (auto [dim, repeat] : llvm::enumerate(repeats))
      if (repeat == Repeat::IfOne) {
        Value repeated = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, cpu::toValue(b, from[dim]), one);
        steps[dim] = arith::IndexCastUIOp::create(b, b.getIndexType(), repeated);
      }
    return cpu::makeParallel(b, type, cpu::makeEmpty(b, type, extents), {}, {},
                             [&](ImplicitLocOpBuilder &inner, ValueRange) -> Value {
                               SmallVector<Value> position;
                               for (auto [step, target, repeat] : llvm::zip_equal(steps, targets, repeats)) {
                                 if (repeat == Repeat::Always) {
                                   position.push_back(arith::ConstantIndexOp::create(inner, 0));
                                   continue;
                                 }
                                 position.push_back(linalg::IndexOp::create(inner, target));
                                 if (step)
                                   position.back() = arith::MulIOp::create(inner, position.back(), step);
                               }
                               return tensor::ExtractOp::create(inner, operand, position);
                             });
  }
};

struct TransposeToGeneric : cpu::ToLinalgPattern<stablehlo::TransposeOp> {
  using ToLinalgPattern::ToLinalgPattern;

  Value makeResult(stablehlo::TransposeOp op, OpAdaptor adaptor, RankedTensorType type,
                   ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    ArrayRef<int64_t> permutation = op.getPermutation();
    cpu::Extents extents = cpu::getExtents(rewriter, op->getResults());
    if (Value uniform = cpu::getUniform(b, adaptor.getOperand()))
      return cpu::makeUniform(b, type, uniform, extents);
    SmallVector<AffineExpr> position(type.getRank());
    for (auto [dim, source] : llvm::enumerate(permutation))
      position[source] = b.getAffineDimExpr(dim);
    AffineMap map = AffineMap::get(type.getRank(), 0, position, b.getContext());
    return cpu::makeParallel(b, type, cpu::makeEmpty(b, type, extents), adaptor.getOperand(), map,
                             [](ImplicitLocOpBuilder &, ValueRange elements) { return elements.front(); });
  }
};

template <typename OpTy>
struct ReshapeToViews : cpu::ToLinalgPattern<OpTy> {
  using cpu::ToLinalgPattern<OpTy>::ToLinalgPattern;

  Value makeResult(OpTy op, typename OpTy::Adaptor adaptor, RankedTensorType type,
                   ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    cpu::Extents from = cpu::getExtents(rewriter, op.getOperand());
    cpu::Extents extents = cpu::getExtents(rewriter, op->getResults());
    if (Value uniform = cpu::getUniform(b, adaptor.getOperand()))
      return cpu::makeUniform(b, type, uniform, extents);
    if (type.getRank() == 0)
      return cpu::makeUniform(b, type, cpu::getOnlyElement(b, adaptor.getOperand()));
    return cpu::makeReshape(b, type, adaptor.getOperand(), from, extents);
  }
};

struct SliceToExtractSlice : cpu::ToLinalgPattern<stablehlo::SliceOp> {
  using ToLinalgPattern::ToLinalgPattern;

  Value makeResult(stablehlo::SliceOp op, OpAdaptor adaptor, RankedTensorType type,
                   ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    cpu::Extents sizes = cpu::getExtents(rewriter, op->getResults());
    if (cpu::isKnownEmpty(sizes))
      return cpu::makeEmpty(b, type, sizes);
    if (Value uniform = cpu::getUniform(b, adaptor.getOperand()))
      return cpu::makeUniform(b, type, uniform, sizes);
    SmallVector<OpFoldResult> offsets = getAsIndexOpFoldResult(b.getContext(), op.getStartIndices());
    SmallVector<OpFoldResult> strides = getAsIndexOpFoldResult(b.getContext(), op.getStrides());
    return tensor::ExtractSliceOp::create(rewriter, op.getLoc(), type, adaptor.getOperand(), offsets, sizes, strides);
  }
};

struct ReverseToGeneric : cpu::ToLinalgPattern<stablehlo::ReverseOp> {
  using ToLinalgPattern::ToLinalgPattern;

  Value makeResult(stablehlo::ReverseOp op, OpAdaptor adaptor, RankedTensorType,
                   ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    cpu::Extents extents = cpu::getExtents(rewriter, op.getOperand());
    return cpu::makeReversed(b, adaptor.getOperand(), extents, op.getDimensions());
  }
};

struct ConcatenateToInsertSlice : cpu::ToLinalgPattern<stablehlo::ConcatenateOp> {
  using ToLinalgPattern::ToLinalgPattern;

  Value makeResult(stablehlo::ConcatenateOp op, OpAdaptor adaptor, RankedTensorType type,
                   ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value result = cpu::makeEmpty(b, type, cpu::getExtents(rewriter, op->getResults()));
    SmallVector<OpFoldResult> offset(type.getRank(), b.getIndexAttr(0)), stride(type.getRank(), b.getIndexAttr(1));
    for (auto [input, original] : llvm::zip_equal(adaptor.getInputs(), op.getInputs())) {
      cpu::Extents sizes = cpu::getExtents(rewriter, original);
      if (!cpu::isKnownEmpty(sizes))
        result = tensor::InsertSliceOp::create(b, input, result, offset, sizes, stride);
      OpFoldResult &end = offset[op.getDimension()];
      end = cpu::addIndices(b, end, sizes[op.getDimension()]);
    }
    return result;
  }
};

struct PadToInsertSlice : cpu::ToLinalgPattern<stablehlo::PadOp> {
  using ToLinalgPattern::ToLinalgPattern;

  Value makeResult(stablehlo::PadOp op, OpAdaptor adaptor, RankedTensorType,
                   ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value value = cpu::getOnlyElement(b, adaptor.getPaddingValue());
    cpu::Padding padding = {getAsIndexOpFoldResult(b.getContext(), op.getEdgePaddingLow()),
                            getAsIndexOpFoldResult(b.getContext(), op.getEdgePaddingHigh()),
                            getAsIndexOpFoldResult(b.getContext(), op.getInteriorPadding())};
    return cpu::makePadded(b, adaptor.getOperand(), cpu::getExtents(rewriter, op.getOperand()), value, padding,
                           cpu::getExtents(rewriter, op->getResults()));
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
    if (!type || cpu::isScalarOp(op))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    unsigned fromBits = from.getIntOrFloatBitWidth(), toBits = to.getIntOrFloatBitWidth();
    Type fromInteger = b.getIntegerType(fromBits), toInteger = b.getIntegerType(toBits);
    // Between an integer and the compute type of the same width.
    auto bitcast = [](ImplicitLocOpBuilder &inner, Type target, Value value) -> Value {
      return value.getType() == target ? value : Value(arith::BitcastOp::create(inner, target, value));
    };
    Value operand = adaptor.getOperand();
    Value empty = cpu::makeEmpty(b, type, cpu::getExtents(rewriter, op->getResults()));
    Value result;
    if (fromBits > toBits) {
      // One more dimension in the result: the part's number.
      AffineMap map = cpu::getLeadingDims(b, type.getRank(), type.getRank() - 1);
      result = cpu::makeParallel(b, type, empty, operand, map, [&](ImplicitLocOpBuilder &inner, ValueRange elements) {
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
        SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)), strides(rank, b.getIndexAttr(1));
        cpu::Extents sizes = cpu::getExtents(rewriter, op.getOperand());
        offsets.back() = b.getIndexAttr(part);
        sizes.back() = b.getIndexAttr(1);
        inputs.push_back(tensor::ExtractSliceOp::create(
            b, RankedTensorType::get(fromType.getShape().drop_back(), fromType.getElementType()), operand, offsets,
            sizes, strides));
      }
      SmallVector<AffineMap> maps(parts, b.getMultiDimIdentityMap(type.getRank()));
      result = cpu::makeParallel(b, type, empty, inputs, maps, [&](ImplicitLocOpBuilder &inner, ValueRange elements) {
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
  patterns.add<BitcastConvertToGeneric, BroadcastToGeneric<stablehlo::BroadcastInDimOp>,
               BroadcastToGeneric<stablehlo::DynamicBroadcastInDimOp>, ConcatenateToInsertSlice,
               IotaToGeneric<stablehlo::IotaOp>, IotaToGeneric<stablehlo::DynamicIotaOp>, PadToInsertSlice,
               ReshapeToViews<stablehlo::ReshapeOp>, ReshapeToViews<stablehlo::DynamicReshapeOp>, ReverseToGeneric,
               SliceToExtractSlice, TransposeToGeneric>(types, patterns.getContext());
}
