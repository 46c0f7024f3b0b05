// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations on lanes: see LaneBuilder.h.

#include "latewood/compiler/Engines/CPU/LaneBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace latewood::cpu;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Index LaneBuilder::add(Index lhs, Index rhs) {
  Index sum(lhs.constant + rhs.constant);
  if (lhs.value && rhs.value)
    sum.value = arith::AddIOp::create(b, loc, lhs.value, rhs.value);
  else
    sum.value = lhs.value ? lhs.value : rhs.value;
  return sum;
}

Index LaneBuilder::index(const SymbolicSize &size) {
  if (size.isConstant())
    return Index(size.getConstant());
  Index result((size - size.getConstantPart()).materialize(b, loc));
  result.constant = size.getConstantPart();
  return result;
}

Index LaneBuilder::mul(Index index, const SymbolicSize &symbolic) {
  if (!symbolic.isConstant()) {
    // In two parts, of which the second one is the same for all lanes and steps.
    Index product = mul(this->index(symbolic), index.constant);
    if (index.value)
      product = add(Index(Value(arith::MulIOp::create(b, loc, index.value, symbolic.materialize(b, loc)))), product);
    return product;
  }
  int64_t factor = symbolic.getConstant();
  Index product(index.constant * factor);
  if (!index.value || factor == 0)
    return product;
  product.value = index.value;
  if (factor != 1)
    product.value = arith::MulIOp::create(b, loc, index.value, arith::ConstantIndexOp::create(b, loc, factor));
  return product;
}

Index LaneBuilder::multiple(Index index, int64_t unit) {
  if (index.isConstant())
    return Index(index.constant / unit * unit);
  return Index(Value(arith::AndIOp::create(b, loc, materialize(index), arith::ConstantIndexOp::create(b, loc, -unit))));
}

Value LaneBuilder::materialize(Index index) {
  if (!index.value)
    return arith::ConstantIndexOp::create(b, loc, index.constant);
  if (index.constant == 0)
    return index.value;
  return arith::AddIOp::create(b, loc, index.value, arith::ConstantIndexOp::create(b, loc, index.constant));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

VectorType LaneBuilder::vectorOf(Type type) const { return VectorType::get({width}, type); }

Value LaneBuilder::constant(Attribute value) {
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    value = dense.getSplatValue<Attribute>();
  return arith::ConstantOp::create(b, loc, cast<TypedAttr>(value));
}

/// 0, 1, 2… in lanes of `type`, an integer or index.
static Value laneNumbers(OpBuilder &b, Location loc, VectorType type, int64_t stride = 1) {
  SmallVector<Attribute> numbers;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    numbers.push_back(b.getIntegerAttr(type.getElementType(), i * stride));
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, numbers));
}

/// 0, `stride`, 2 * `stride`… as indices.
static Value laneIndices(OpBuilder &b, Location loc, VectorType type, const SymbolicSize &stride) {
  if (stride.isConstant())
    return laneNumbers(b, loc, type, stride.getConstant());
  Value factor = vector::BroadcastOp::create(b, loc, type, stride.materialize(b, loc));
  return arith::MulIOp::create(b, loc, laneNumbers(b, loc, type), factor);
}

Lanes LaneBuilder::linear(Index index, const SymbolicSize &stride) {
  Value first = materialize(index);
  if (width == 1 || stride == 0)
    return uniform(first);
  if (stride == 1)
    return {Lanes::Kind::Iota, first};
  VectorType type = vectorOf(b.getIndexType());
  Value lanes = laneIndices(b, loc, type, stride);
  return {Lanes::Kind::Vector, arith::AddIOp::create(b, loc, vector::BroadcastOp::create(b, loc, type, first), lanes)};
}

Value LaneBuilder::widen(Lanes lanes) {
  if (width == 1 || lanes.kind == Lanes::Kind::Vector)
    return lanes.value;
  VectorType type = vectorOf(lanes.value.getType());
  Attribute attr;
  if (lanes.isUniform() && matchPattern(lanes.value, m_Constant(&attr)))
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, attr));
  Value splat = vector::BroadcastOp::create(b, loc, type, lanes.value);
  if (lanes.isUniform())
    return splat;
  return arith::AddIOp::create(b, loc, splat, laneNumbers(b, loc, type));
}

SmallVector<Lanes> LaneBuilder::apply(Operation *op, ArrayRef<Lanes> operands) {
  auto cloneWith = [&](ArrayRef<Value> values) {
    Operation *clone = b.clone(*op);
    clone->setOperands(values);
    return clone;
  };
  SmallVector<Value> values;
  SmallVector<Lanes> results;
  bool allUniform = llvm::all_of(operands, [](const Lanes &lanes) { return lanes.isUniform(); });
  if (width == 1 || allUniform) {
    for (const Lanes &lanes : operands)
      values.push_back(lanes.value);
    for (Value result : cloneWith(values)->getResults())
      results.push_back(uniform(result));
    return results;
  }
  // An iota stays one under the addition of a uniform value, and in any integer type that holds it.
  auto isIota = [&](unsigned i) { return operands[i].kind == Lanes::Kind::Iota; };
  bool keepsIota =
      (isa<arith::AddIOp>(op) && ((isIota(0) && operands[1].isUniform()) || (isIota(1) && operands[0].isUniform()))) ||
      (isa<arith::SubIOp>(op) && isIota(0) && operands[1].isUniform()) ||
      (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp>(op) && isIota(0)) ||
      (isa<arith::TruncIOp>(op) && isIota(0));
  // Extending 8-bit lane numbers after they wrapped would differ; such a chain is rare, widen it.
  if (keepsIota && isa<arith::ExtSIOp, arith::ExtUIOp>(op))
    keepsIota = false;
  if (keepsIota) {
    for (const Lanes &lanes : operands)
      values.push_back(lanes.value);
    results.push_back({Lanes::Kind::Iota, cloneWith(values)->getResult(0)});
    // Lane numbers must fit.
    Type type = results[0].value.getType();
    if (type.isInteger() && type.getIntOrFloatBitWidth() < 16)
      results[0] = {Lanes::Kind::Vector, widen(results[0])};
    return results;
  }
  bool scalarCondition = isa<arith::SelectOp>(op) && operands[0].isUniform();
  for (auto [i, lanes] : llvm::enumerate(operands))
    values.push_back(i == 0 && scalarCondition ? lanes.value : widen(lanes));
  Operation *clone = cloneWith(values);
  for (OpResult result : clone->getResults()) {
    result.setType(vectorOf(result.getType()));
    results.push_back({Lanes::Kind::Vector, result});
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value LaneBuilder::fullMask() {
  if (mask)
    return mask;
  VectorType type = vectorOf(b.getI1Type());
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, true));
}

Value LaneBuilder::passThrough(VectorType type) { return arith::ConstantOp::create(b, loc, b.getZeroAttr(type)); }

Value LaneBuilder::laneOffsets(const SymbolicSize &symbolic) {
  if (!symbolic.isConstant())
    return laneIndices(b, loc, vectorOf(b.getIndexType()), symbolic);
  int64_t stride = symbolic.getConstant();
  bool narrow = std::abs(stride) < (int64_t(1) << 24);
  return laneNumbers(b, loc, vectorOf(narrow ? b.getI32Type() : b.getI64Type()), stride);
}

Lanes LaneBuilder::load(Value flat, Index address, const SymbolicSize &stride) {
  Type element = cast<MemRefType>(flat.getType()).getElementType();
  if (width == 1 || stride == 0)
    return uniform(memref::LoadOp::create(b, loc, flat, materialize(address)));
  VectorType type = vectorOf(element);
  if (stride == 1) {
    Value at = materialize(address);
    if (mask)
      return vector(vector::MaskedLoadOp::create(b, loc, type, flat, at, mask, passThrough(type)));
    return vector(vector::LoadOp::create(b, loc, type, flat, at));
  }
  if (stride == -1 && !mask) {
    Value forward = vector::LoadOp::create(b, loc, type, flat, materialize(add(address, Index(1 - width))));
    SmallVector<int64_t> reversed;
    for (int64_t i = width - 1; i >= 0; --i)
      reversed.push_back(i);
    return vector(vector::ShuffleOp::create(b, loc, forward, forward, reversed));
  }
  return vector(vector::GatherOp::create(b, loc, type, flat, materialize(address), laneOffsets(stride), fullMask(),
                                         passThrough(type)));
}

Lanes LaneBuilder::gather(Value flat, Lanes address) {
  Type element = cast<MemRefType>(flat.getType()).getElementType();
  if (width == 1 || address.isUniform())
    return uniform(memref::LoadOp::create(b, loc, flat, address.value));
  if (address.kind == Lanes::Kind::Iota)
    return load(flat, Index(address.value), 1);
  VectorType type = vectorOf(element);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  return vector(vector::GatherOp::create(b, loc, type, flat, zero, address.value, fullMask(), passThrough(type)));
}

void LaneBuilder::store(Lanes value, Value flat, Index address, const SymbolicSize &stride) {
  Value at = materialize(address);
  if (width == 1 || stride == 0) {
    memref::StoreOp::create(b, loc, value.value, flat, at);
    return;
  }
  Value lanes = widen(value);
  if (stride != 1)
    vector::ScatterOp::create(b, loc, Type(), flat, at, laneOffsets(stride), fullMask(), lanes);
  else if (mask)
    vector::MaskedStoreOp::create(b, loc, flat, at, mask, lanes);
  else
    vector::StoreOp::create(b, loc, lanes, flat, at);
}

void LaneBuilder::scatter(Lanes value, Value flat, Lanes address) {
  if (width == 1)
    memref::StoreOp::create(b, loc, value.value, flat, address.value);
  else if (address.kind == Lanes::Kind::Iota)
    store(value, flat, Index(address.value), 1);
  else
    vector::ScatterOp::create(b, loc, Type(), flat, Value(arith::ConstantIndexOp::create(b, loc, 0)), widen(address),
                              fullMask(), widen(value));
}
