// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors that the conversion builds: empty, uniform, parallel, padded, reversed. All take and give storage types.

#include "latewood/compiler/Engines/CPU/StableHLOToLinalg.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace latewood;

Value cpu::makeEmpty(ImplicitLocOpBuilder &b, RankedTensorType type, ArrayRef<OpFoldResult> extents) {
  SmallVector<Value> scalars;
  for (auto [dim, extent] : llvm::enumerate(extents))
    if (type.isDynamicDim(dim))
      scalars.push_back(toValue(b, extent));
  return tensor::EmptyOp::create(b, type.getShape(), type.getElementType(), scalars);
}

Value cpu::makeBuffer(ImplicitLocOpBuilder &b, RankedTensorType type, ArrayRef<OpFoldResult> extents) {
  SmallVector<Value> scalars;
  for (auto [dim, extent] : llvm::enumerate(extents))
    if (type.isDynamicDim(dim))
      scalars.push_back(toValue(b, extent));
  return bufferization::AllocTensorOp::create(b, type, scalars);
}

Value cpu::makeUniform(ImplicitLocOpBuilder &b, RankedTensorType type, Value stored, ArrayRef<OpFoldResult> extents) {
  Value empty = makeEmpty(b, type, extents);
  if (llvm::is_contained(type.getShape(), 0))
    return empty;
  return linalg::FillOp::create(b, stored, empty).getResult(0);
}

Value cpu::getUniform(ImplicitLocOpBuilder &b, Value tensor) {
  DenseElementsAttr value;
  if (matchPattern(tensor, m_Constant(&value)) && value.isSplat())
    return arith::ConstantOp::create(b, cast<TypedAttr>(value.getSplatValue<Attribute>()));
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    return fill.getInputs().front();
  if (cast<RankedTensorType>(tensor.getType()).getRank() == 0)
    return tensor::ExtractOp::create(b, tensor, ValueRange());
  return {};
}

Value cpu::getOnlyElement(ImplicitLocOpBuilder &b, Value tensor) {
  if (Value uniform = getUniform(b, tensor))
    return uniform;
  Value zero = arith::ConstantIndexOp::create(b, 0);
  SmallVector<Value> indices(cast<RankedTensorType>(tensor.getType()).getRank(), zero);
  return tensor::ExtractOp::create(b, tensor, indices);
}

AffineMap cpu::getLeadingDims(Builder &b, unsigned loops, unsigned count) {
  SmallVector<AffineExpr> dims;
  for (unsigned dim = 0; dim < count; ++dim)
    dims.push_back(b.getAffineDimExpr(dim));
  return AffineMap::get(loops, 0, dims, b.getContext());
}

Value cpu::makeParallel(ImplicitLocOpBuilder &b, RankedTensorType type, Value init, ValueRange inputs,
                        ArrayRef<AffineMap> inputMaps, function_ref<Value(ImplicitLocOpBuilder &, ValueRange)> body) {
  // Loops that do nothing are not made: later passes need not know them.
  if (llvm::is_contained(type.getShape(), 0))
    return init;
  SmallVector<AffineMap> maps(inputMaps);
  maps.push_back(b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(b, type, inputs, ValueRange{init}, maps, iterators,
                                           [&](OpBuilder &nested, Location loc, ValueRange arguments) {
                                             ImplicitLocOpBuilder inner(loc, nested);
                                             linalg::YieldOp::create(inner, body(inner, arguments.drop_back()));
                                           });
  return generic.getResult(0);
}

cpu::Extents cpu::getPaddedExtents(ImplicitLocOpBuilder &b, ArrayRef<OpFoldResult> extents, const Padding &padding) {
  Extents padded;
  for (auto [extent, low, high, interior] : llvm::zip_equal(extents, padding.low, padding.high, padding.interior)) {
    // max(extent * step - interior, 0), where nothing is between the elements of nothing.
    OpFoldResult spread = extent;
    if (!isKnown(interior, 0)) {
      OpFoldResult step = addIndices(b, interior, b.getIndexAttr(1));
      spread = subIndices(b, mulIndices(b, extent, step), interior);
      spread = maxIndices(b, spread, b.getIndexAttr(0));
    }
    padded.push_back(addIndices(b, spread, addIndices(b, low, high)));
  }
  return padded;
}

Value cpu::makePadded(ImplicitLocOpBuilder &b, Value tensor, ArrayRef<OpFoldResult> extents, Value stored,
                      const Padding &padding, ArrayRef<OpFoldResult> padded) {
  auto isZero = [](OpFoldResult value) { return isKnown(value, 0); };
  auto isNotPositive = [](OpFoldResult value) {
    return llvm::dyn_cast<Attribute>(value) && *getConstantIntValue(value) <= 0;
  };
  auto isNotNegative = [](OpFoldResult value) {
    return llvm::dyn_cast<Attribute>(value) && *getConstantIntValue(value) >= 0;
  };
  if (llvm::all_of(padding.low, isZero) && llvm::all_of(padding.high, isZero) && llvm::all_of(padding.interior, isZero))
    return tensor;
  Type element = getElement(tensor);
  RankedTensorType type = getTypeOf(padded, element);
  if (isKnownEmpty(extents))
    return makeUniform(b, type, stored, padded);
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  SmallVector<OpFoldResult> ones(extents.size(), one);

  // The number of elements that fall off one end: as many as it takes to make up for a negative padding.
  auto countCut = [&](OpFoldResult pad, OpFoldResult interior, OpFoldResult step) {
    if (isNotNegative(pad))
      return zero;
    OpFoldResult missing = maxIndices(b, subIndices(b, zero, pad), zero);
    return divIndices(b, addIndices(b, missing, interior), step);
  };
  // Element j comes to low + j * step; those from `first` on, `count` of them, stay inside.
  SmallVector<OpFoldResult> first, count, target, step;
  bool isCut = false;
  for (auto [extent, low, high, interior] : llvm::zip_equal(extents, padding.low, padding.high, padding.interior)) {
    step.push_back(addIndices(b, interior, one));
    first.push_back(countCut(low, interior, step.back()));
    OpFoldResult cut = addIndices(b, first.back(), countCut(high, interior, step.back()));
    count.push_back(subIndices(b, extent, cut));
    if (!isZero(cut))
      count.back() = maxIndices(b, count.back(), zero);
    isCut |= !isZero(cut);
    target.push_back(addIndices(b, low, mulIndices(b, first.back(), step.back())));
  }
  if (isKnownEmpty(count))
    return makeUniform(b, type, stored, padded);
  if (llvm::all_of(padding.low, isNotPositive) && llvm::all_of(padding.high, isNotPositive) &&
      llvm::all_of(padding.interior, isZero))
    return tensor::ExtractSliceOp::create(b, type, tensor, first, padded, ones);
  if (isCut)
    tensor = tensor::ExtractSliceOp::create(b, getTypeOf(count, element), tensor, first, count, ones);
  Value surrounding = makeUniform(b, type, stored, padded);
  return tensor::InsertSliceOp::create(b, tensor, surrounding, target, count, step);
}

Value cpu::makeReversed(ImplicitLocOpBuilder &b, Value tensor, ArrayRef<OpFoldResult> extents, ArrayRef<int64_t> dims) {
  auto type = cast<RankedTensorType>(tensor.getType());
  auto isReversed = [&](int64_t dim) { return llvm::is_contained(dims, dim); };
  if (llvm::none_of(dims, [&](int64_t dim) { return type.isDynamicDim(dim); })) {
    SmallVector<AffineExpr> position;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      AffineExpr index = b.getAffineDimExpr(dim);
      position.push_back(isReversed(dim) ? type.getDimSize(dim) - 1 - index : index);
    }
    AffineMap map = AffineMap::get(type.getRank(), 0, position, b.getContext());
    return makeParallel(b, type, makeEmpty(b, type, extents), tensor, map,
                        [](ImplicitLocOpBuilder &, ValueRange elements) { return elements.front(); });
  }
  // The last position is a value, which an indexing map cannot have.
  SmallVector<Value> last(type.getRank());
  for (int64_t dim : dims)
    last[dim] = toValue(b, subIndices(b, extents[dim], b.getIndexAttr(1)));
  return makeParallel(b, type, makeEmpty(b, type, extents), {}, {},
                      [&](ImplicitLocOpBuilder &inner, ValueRange) -> Value {
                        SmallVector<Value> position;
                        for (int64_t dim = 0; dim < type.getRank(); ++dim) {
                          Value index = linalg::IndexOp::create(inner, dim);
                          position.push_back(last[dim] ? Value(arith::SubIOp::create(inner, last[dim], index)) : index);
                        }
                        return tensor::ExtractOp::create(inner, tensor, position);
                      });
}

llvm::DenseMap<Value, Value> cpu::readCaptured(ConversionPatternRewriter &rewriter, Block &block) {
  llvm::DenseMap<Value, Value> captured;
  for (Operation &op : block)
    for (Value operand : op.getOperands()) {
      if (operand.getParentBlock() == &block || captured.contains(operand))
        continue;
      ImplicitLocOpBuilder b(op.getLoc(), rewriter);
      captured[operand] = loadElement(b, getOnlyElement(b, rewriter.getRemappedValue(operand)), getElement(operand));
    }
  return captured;
}

Value cpu::clampIndex(ImplicitLocOpBuilder &b, Value index, Type element, OpFoldResult extent, OpFoldResult size) {
  Value zero = arith::ConstantIndexOp::create(b, 0);
  if (extent == size)
    return zero;
  Value limit = toValue(b, subIndices(b, extent, size));
  if (element.isUnsignedInteger() || element.isInteger(1)) {
    Value position = b.createOrFold<arith::IndexCastUIOp>(b.getIndexType(), index);
    return b.createOrFold<arith::MinUIOp>(position, limit);
  }
  Value position = b.createOrFold<arith::IndexCastOp>(b.getIndexType(), index);
  position = b.createOrFold<arith::MinSIOp>(position, limit);
  return b.createOrFold<arith::MaxSIOp>(position, zero);
}
