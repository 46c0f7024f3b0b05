// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalars that the host computes. Nothing here traps or has an effect, which is why it may stand further out than what
// it serves.
//
// In:  requests for arithmetic on scalars, in program order.
// Out: each distinct value once, dominating everything that asked for it.

#include "latewood/compiler/Cluster/HostScalars.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace latewood::cluster {

Value HostScalars::constant(Type type, const APInt &value) {
  auto attribute = IntegerAttr::get(type, value);
  Value &result = constants[attribute];
  if (!result) {
    OpBuilder atEntry = OpBuilder::atBlockBegin(&function.getBody().front());
    result = arith::ConstantOp::create(atEntry, function.getLoc(), attribute);
  }
  return result;
}

Value HostScalars::index(int64_t value) { return constant(builder.getIndexType(), APInt(64, value, true)); }

std::optional<int64_t> HostScalars::getConstant(Value value) {
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)))
    return std::nullopt;
  return number.getSExtValue();
}

Operation *HostScalars::getHostAnchor() const {
  Operation *result = anchor;
  while (!hostBlocks.contains(result->getBlock()))
    result = result->getParentOp();
  return result;
}

Operation *HostScalars::getOutermostAnchor(ValueRange operands) const {
  Operation *result = anchor;
  auto isInside = [](Value value, Operation *op) { return op->isAncestor(value.getParentBlock()->getParentOp()); };
  while (result->getParentOp() != function.getOperation() &&
         llvm::none_of(operands, [&](Value value) { return isInside(value, result->getParentOp()); }))
    result = result->getParentOp();
  return result;
}

Value HostScalars::settle(Operation *op) {
  SmallVector<OpFoldResult> folded;
  // A fold in place has no results: it has put the operands in order, which another one may wait for.
  for (int tries = 0; tries < 2 && folded.empty(); ++tries)
    if (failed(op->fold(folded)))
      break;
  if (folded.size() == 1) {
    Value result = dyn_cast<Value>(folded.front());
    if (!result)
      if (auto number = dyn_cast<IntegerAttr>(cast<Attribute>(folded.front())))
        result = constant(op->getResult(0).getType(), number.getValue());
    if (result) {
      op->erase();
      return result;
    }
  }
  op->moveBefore(getOutermostAnchor(op->getOperands()));
  llvm::hash_code hash =
      OperationEquivalence::computeHash(op, OperationEquivalence::directHashValue,
                                        OperationEquivalence::ignoreHashValue, OperationEquivalence::IgnoreLocations);
  SmallVector<Operation *, 1> &equal = known[hash];
  for (Operation *other : equal)
    if (OperationEquivalence::isEquivalentTo(op, other, OperationEquivalence::exactValueMatch, nullptr,
                                             OperationEquivalence::IgnoreLocations) &&
        other->getBlock()->findAncestorOpInBlock(*op)) {
      op->erase();
      return other->getResult(0);
    }
  equal.push_back(op);
  return op->getResult(0);
}

Value HostScalars::toIndex(Value number, bool isUnsigned) {
  if (number.getType().isIndex())
    return number;
  // Casts that keep the value: a 32-bit extent is checked to fit where it is made.
  for (Value source = number; Operation *op = source.getDefiningOp();) {
    if (!isa<arith::ExtSIOp, arith::IndexCastOp>(op))
      break;
    source = op->getOperand(0);
    if (source.getType().isIndex())
      return source;
  }
  if (isUnsigned)
    return get<arith::IndexCastUIOp>(builder.getIndexType(), number);
  return get<arith::IndexCastOp>(builder.getIndexType(), number);
}

bool HostScalars::isNonNegative(Value value) const {
  if (nonNegative.contains(value))
    return true;
  if (std::optional<int64_t> number = getConstant(value))
    return *number >= 0;
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<tensor::DimOp>(op))
    return true;
  // Extents are far from the largest number; a product that wraps gives a size that no memory has.
  if (isa<arith::AddIOp, arith::MulIOp, arith::MinSIOp>(op))
    return isNonNegative(op->getOperand(0)) && isNonNegative(op->getOperand(1));
  if (isa<arith::MaxSIOp>(op))
    return isNonNegative(op->getOperand(0)) || isNonNegative(op->getOperand(1));
  if (isa<arith::DivSIOp>(op))
    return isNonNegative(op->getOperand(0)) && getConstant(op->getOperand(1)).value_or(0) > 0;
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return isNonNegative(select.getTrueValue()) && isNonNegative(select.getFalseValue());
  return false;
}

} // namespace latewood::cluster
