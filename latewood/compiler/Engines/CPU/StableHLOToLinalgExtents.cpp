// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Extents that the conversion from StableHLO to linalg works with, and arithmetic on them.
//
// In: each tensor with `?` in its type has a user plan.with_shape, or is the result of one; its scalars are the
// extents. A shape operand is a constant or plan.with_values. Out: extents that are attributes where the type knows
// them and index values elsewhere: never the other way round, so that types of slices follow from their sizes.
//
// Arithmetic folds what is known, so that a static program gets the constants that it would be written with. What
// remains is arith on indices in one form for one meaning: equal extents are equal values after CSE.

#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalg.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace latewood;
using cpu::Extents;

//===----------------------------------------------------------------------===//
// Where extents come from
//===----------------------------------------------------------------------===//

/// The operation that says the extents of `value`, or null.
static plan::WithShapeOp findShape(Value value) {
  if (auto shape = value.getDefiningOp<plan::WithShapeOp>())
    return shape;
  for (Operation *user : value.getUsers())
    if (auto shape = dyn_cast<plan::WithShapeOp>(user))
      return shape;
  return {};
}

static bool isDynamic(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && !type.hasStaticShape();
}

bool cpu::hasKnownExtents(ValueRange values) {
  return llvm::all_of(values, [](Value value) { return !isDynamic(value); }) ||
         llvm::any_of(values, [](Value value) { return isDynamic(value) && findShape(value); });
}

Extents cpu::getExtents(ConversionPatternRewriter &rewriter, ValueRange values) {
  Value value = values.front();
  plan::WithShapeOp shape;
  for (Value candidate : values) {
    if (shape || !isDynamic(candidate))
      continue;
    shape = findShape(candidate);
    value = candidate;
  }
  SmallVector<Value> scalars;
  if (shape)
    for (Value scalar : shape.getExtents())
      scalars.push_back(rewriter.getRemappedValue(scalar));
  return getMixedValues(cast<RankedTensorType>(value.getType()).getShape(), scalars, rewriter);
}

/// The constant that a small integer tensor is, behind plan.with_values or not.
static DenseIntElementsAttr getConstant(Value value) {
  DenseIntElementsAttr constant;
  return matchPattern(value, m_Constant(&constant)) ? constant : DenseIntElementsAttr();
}

bool cpu::hasKnownValues(Value value) { return getConstant(value) || value.getDefiningOp<plan::WithValuesOp>(); }

SmallVector<OpFoldResult> cpu::getIndices(ConversionPatternRewriter &rewriter, Location loc, Value value) {
  bool isUnsigned = getElement(value).isUnsignedInteger();
  SmallVector<OpFoldResult> indices;
  if (DenseIntElementsAttr constant = getConstant(value)) {
    for (const APInt &number : constant.getValues<APInt>())
      indices.push_back(rewriter.getIndexAttr(isUnsigned ? number.getZExtValue() : number.getSExtValue()));
    return indices;
  }
  for (Value scalar : value.getDefiningOp<plan::WithValuesOp>().getElements()) {
    APInt number;
    if (matchPattern(scalar, m_ConstantInt(&number))) {
      indices.push_back(rewriter.getIndexAttr(isUnsigned ? number.getZExtValue() : number.getSExtValue()));
      continue;
    }
    scalar = rewriter.getRemappedValue(scalar);
    if (scalar.getType().isIndex())
      indices.push_back(scalar);
    else if (isUnsigned)
      indices.push_back(rewriter.createOrFold<arith::IndexCastUIOp>(loc, rewriter.getIndexType(), scalar));
    else
      indices.push_back(rewriter.createOrFold<arith::IndexCastOp>(loc, rewriter.getIndexType(), scalar));
  }
  return indices;
}

std::optional<Extents> cpu::findExtents(ImplicitLocOpBuilder &b, Value converted) {
  auto type = dyn_cast<RankedTensorType>(converted.getType());
  if (!type)
    return std::nullopt;
  if (type.hasStaticShape())
    return getAsIndexOpFoldResult(b.getContext(), type.getShape());
  Operation *op = converted.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return empty.getMixedSizes();
  if (auto buffer = dyn_cast<bufferization::AllocTensorOp>(op))
    return getMixedValues(type.getShape(), buffer.getDynamicSizes(), b);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return expand.getMixedOutputShape();
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return findExtents(b, insert.getDest());
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    return findExtents(b, destination.getTiedOpOperand(cast<OpResult>(converted))->get());
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

RankedTensorType cpu::getTypeOf(ArrayRef<OpFoldResult> extents, Type element) {
  SmallVector<int64_t> shape;
  SmallVector<Value> scalars;
  dispatchIndexOpFoldResults(extents, scalars, shape);
  return RankedTensorType::get(shape, element);
}

Extents cpu::withoutDim(ArrayRef<OpFoldResult> extents, int64_t dim) {
  Extents rest(extents);
  rest.erase(rest.begin() + dim);
  return rest;
}

/// Only what the types know: a scalar that happens to be constant stays one, as its dimension stays `?`.
static std::optional<int64_t> getKnown(OpFoldResult index) {
  auto attribute = dyn_cast<Attribute>(index);
  return attribute ? std::optional(cast<IntegerAttr>(attribute).getInt()) : std::nullopt;
}

bool cpu::isKnown(OpFoldResult index, int64_t value) { return getKnown(index) == value; }

bool cpu::isKnownEmpty(ArrayRef<OpFoldResult> extents) {
  return llvm::any_of(extents, [](OpFoldResult extent) { return isKnown(extent, 0); });
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value cpu::toValue(ImplicitLocOpBuilder &b, OpFoldResult index) {
  return getValueOrCreateConstantIndexOp(b, b.getLoc(), index);
}

SmallVector<Value> cpu::toValues(ImplicitLocOpBuilder &b, ArrayRef<OpFoldResult> indices) {
  return llvm::map_to_vector(indices, [&](OpFoldResult index) { return toValue(b, index); });
}

/// The result of `fold` on known indices, else of the operation.
template <typename OpTy, typename Fold>
static OpFoldResult compute(ImplicitLocOpBuilder &b, OpFoldResult x, OpFoldResult y, Fold fold) {
  auto left = getKnown(x), right = getKnown(y);
  if (left && right)
    return b.getIndexAttr(fold(*left, *right));
  return b.createOrFold<OpTy>(cpu::toValue(b, x), cpu::toValue(b, y));
}

OpFoldResult cpu::addIndices(ImplicitLocOpBuilder &b, OpFoldResult x, OpFoldResult y) {
  if (isKnown(x, 0))
    return y;
  if (isKnown(y, 0))
    return x;
  return compute<arith::AddIOp>(b, x, y, std::plus<int64_t>());
}

OpFoldResult cpu::subIndices(ImplicitLocOpBuilder &b, OpFoldResult x, OpFoldResult y) {
  if (isKnown(y, 0))
    return x;
  if (x == y)
    return b.getIndexAttr(0);
  return compute<arith::SubIOp>(b, x, y, std::minus<int64_t>());
}

OpFoldResult cpu::mulIndices(ImplicitLocOpBuilder &b, OpFoldResult x, OpFoldResult y) {
  if (isKnown(x, 1) || isKnown(y, 0))
    return y;
  if (isKnown(y, 1) || isKnown(x, 0))
    return x;
  return compute<arith::MulIOp>(b, x, y, std::multiplies<int64_t>());
}

OpFoldResult cpu::divIndices(ImplicitLocOpBuilder &b, OpFoldResult x, OpFoldResult y) {
  if (isKnown(y, 1))
    return x;
  return compute<arith::DivUIOp>(b, x, y, std::divides<int64_t>());
}

OpFoldResult cpu::maxIndices(ImplicitLocOpBuilder &b, OpFoldResult x, OpFoldResult y) {
  if (x == y)
    return x;
  return compute<arith::MaxSIOp>(b, x, y, [](int64_t left, int64_t right) { return std::max(left, right); });
}

OpFoldResult cpu::multiplyAll(ImplicitLocOpBuilder &b, ArrayRef<OpFoldResult> extents) {
  // Known factors first: one multiplication for all of them.
  int64_t known = 1;
  OpFoldResult product = b.getIndexAttr(1);
  for (OpFoldResult extent : extents)
    if (auto value = getKnown(extent))
      known *= *value;
    else
      product = mulIndices(b, product, extent);
  return mulIndices(b, product, b.getIndexAttr(known));
}
