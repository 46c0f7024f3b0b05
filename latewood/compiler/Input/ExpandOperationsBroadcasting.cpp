// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operations of CHLO that broadcast their operands: each operand becomes a tensor of the result's shape, and the
// operation of the same name without `broadcast_` does the rest.

#include "latewood/compiler/Dialect/CHLO/CHLO.h"
#include "latewood/compiler/Input/ExpandOperations.h"

using namespace mlir;

namespace latewood::input {

using Results = FailureOr<SmallVector<Value>>;
using Builder = ImplicitLocOpBuilder;

namespace {

/// `value` in a shape, of whose dimensions `dims` are its own.
Value broadcastTo(Builder &b, Value value, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape)
    return value;
  return stablehlo::BroadcastInDimOp::create(b, type.clone(shape), value, b.getDenseI64ArrayAttr(dims));
}

/// The last dimensions of a shape, as many as a value has.
SmallVector<int64_t> lastDims(Value value, int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(rank - cast<RankedTensorType>(value.getType()).getRank(), rank));
}

template <typename From>
std::pair<Value, Value> broadcastOperands(Builder &b, From op) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getType()).getShape();
  int64_t rank = shape.size();
  auto place = [&](Value value) {
    bool isLower = cast<RankedTensorType>(value.getType()).getRank() < rank;
    return broadcastTo(b, value, shape,
                       isLower && op.getBroadcastDimensions() ? SmallVector<int64_t>(*op.getBroadcastDimensions())
                                                              : lastDims(value, rank));
  };
  return {place(op.getLhs()), place(op.getRhs())};
}

template <typename From, typename To>
Results expandBinary(Builder &b, Operation *op) {
  auto [lhs, rhs] = broadcastOperands(b, cast<From>(op));
  return SmallVector<Value>{To::create(b, op->getResult(0).getType(), lhs, rhs)};
}

Results expandCompare(Builder &b, Operation *op) {
  auto compare = cast<chlo::BroadcastCompareOp>(op);
  auto [lhs, rhs] = broadcastOperands(b, compare);
  auto type = compare.getCompareType();
  return SmallVector<Value>{stablehlo::CompareOp::create(
      b, op->getResult(0).getType(), lhs, rhs, compare.getComparisonDirection(),
      type ? stablehlo::ComparisonTypeAttr::get(b.getContext(), *type) : stablehlo::ComparisonTypeAttr())};
}

Results expandSelect(Builder &b, Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto place = [&](Value value) { return broadcastTo(b, value, type.getShape(), lastDims(value, type.getRank())); };
  SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), place);
  return SmallVector<Value>{stablehlo::SelectOp::create(b, type, operands[0], operands[1], operands[2])};
}

Results expandConstantLike(Builder &b, Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Attribute value = cast<chlo::ConstantLikeOp>(op).getValueAttr();
  auto one = RankedTensorType::get({}, type.getElementType());
  if (type.hasStaticShape())
    return SmallVector<Value>{
        stablehlo::ConstantOp::create(b, DenseElementsAttr::get(type, ArrayRef<Attribute>(value)))};
  Tensor number(b, stablehlo::ConstantOp::create(b, DenseElementsAttr::get(one, ArrayRef<Attribute>(value))));
  return SmallVector<Value>{broadcastLike(number, Tensor(b, op->getOperand(0)), {})};
}

} // namespace

void addBroadcastingExpansions(ExpansionTable &table) {
  table.add<chlo::BroadcastAddOp>(expandBinary<chlo::BroadcastAddOp, stablehlo::AddOp>);
  table.add<chlo::BroadcastAndOp>(expandBinary<chlo::BroadcastAndOp, stablehlo::AndOp>);
  table.add<chlo::BroadcastAtan2Op>(expandBinary<chlo::BroadcastAtan2Op, stablehlo::Atan2Op>);
  table.add<chlo::BroadcastCompareOp>(expandCompare);
  table.add<chlo::BroadcastComplexOp>(expandBinary<chlo::BroadcastComplexOp, stablehlo::ComplexOp>);
  table.add<chlo::BroadcastDivOp>(expandBinary<chlo::BroadcastDivOp, stablehlo::DivOp>);
  table.add<chlo::BroadcastMaxOp>(expandBinary<chlo::BroadcastMaxOp, stablehlo::MaxOp>);
  table.add<chlo::BroadcastMinOp>(expandBinary<chlo::BroadcastMinOp, stablehlo::MinOp>);
  table.add<chlo::BroadcastMulOp>(expandBinary<chlo::BroadcastMulOp, stablehlo::MulOp>);
  table.add<chlo::BroadcastNextAfterOp>(expandBinary<chlo::BroadcastNextAfterOp, chlo::NextAfterOp>);
  table.add<chlo::BroadcastOrOp>(expandBinary<chlo::BroadcastOrOp, stablehlo::OrOp>);
  table.add<chlo::BroadcastPolygammaOp>(expandBinary<chlo::BroadcastPolygammaOp, chlo::PolygammaOp>);
  table.add<chlo::BroadcastPowOp>(expandBinary<chlo::BroadcastPowOp, stablehlo::PowOp>);
  table.add<chlo::BroadcastRemOp>(expandBinary<chlo::BroadcastRemOp, stablehlo::RemOp>);
  table.add<chlo::BroadcastSelectOp>(expandSelect);
  table.add<chlo::BroadcastShiftLeftOp>(expandBinary<chlo::BroadcastShiftLeftOp, stablehlo::ShiftLeftOp>);
  table.add<chlo::BroadcastShiftRightArithmeticOp>(
      expandBinary<chlo::BroadcastShiftRightArithmeticOp, stablehlo::ShiftRightArithmeticOp>);
  table.add<chlo::BroadcastShiftRightLogicalOp>(
      expandBinary<chlo::BroadcastShiftRightLogicalOp, stablehlo::ShiftRightLogicalOp>);
  table.add<chlo::BroadcastSubOp>(expandBinary<chlo::BroadcastSubOp, stablehlo::SubtractOp>);
  table.add<chlo::BroadcastXorOp>(expandBinary<chlo::BroadcastXorOp, stablehlo::XorOp>);
  table.add<chlo::BroadcastZetaOp>(expandBinary<chlo::BroadcastZetaOp, chlo::ZetaOp>);
  table.add<chlo::ConstantLikeOp>(expandConstantLike, Dynamic::All);
}

} // namespace latewood::input
