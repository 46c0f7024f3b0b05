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

/// A value, and the dimensions of a result that are its own.
struct Placed {
  Tensor value;
  SmallVector<int64_t> dims;
};

/// The extent of dimension `dim` of what all of `operands` are broadcast to: that of any operand that has not extent 1.
Tensor findExtent(Builder &b, ArrayRef<Placed> operands, int64_t dim) {
  SmallVector<Tensor> computed;
  for (const Placed &operand : operands)
    for (auto [own, target] : llvm::enumerate(operand.dims)) {
      if (target != dim)
        continue;
      int64_t extent = operand.value.extent(own);
      if (!isDynamic(extent) && extent != 1)
        return scalar(b, b.getI32Type(), extent);
      if (isDynamic(extent))
        computed.push_back(extentOf(operand.value, own));
    }
  if (computed.empty())
    return scalar(b, b.getI32Type(), 1);
  Tensor found = computed.front();
  for (const Tensor &other : ArrayRef(computed).drop_front())
    found = select(found == found.likeInteger(1), other, found);
  return found;
}

/// The operands in the shape of a result.
SmallVector<Value> broadcastTogether(Builder &b, ArrayRef<Placed> operands, ArrayRef<int64_t> shape) {
  SmallVector<Tensor> extents;
  auto isStatic = [](const Placed &operand) { return operand.value.type().hasStaticShape(); };
  bool allStatic = llvm::none_of(shape, isDynamic) && llvm::all_of(operands, isStatic);
  for (int64_t dim = 0, rank = shape.size(); !allStatic && dim < rank; ++dim)
    extents.push_back(reshape(findExtent(b, operands, dim), {1}));
  return llvm::map_to_vector(operands, [&](const Placed &operand) -> Value {
    if (allStatic || shape.empty())
      return broadcast(operand.value, shape, operand.dims);
    return stablehlo::DynamicBroadcastInDimOp::create(b, operand.value.type().clone(shape), operand.value,
                                                      concatenate(extents, 0), operand.dims, nullptr, nullptr);
  });
}

/// The last dimensions of a shape, as many as a value has.
SmallVector<int64_t> lastDims(Value value, int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(rank - cast<RankedTensorType>(value.getType()).getRank(), rank));
}

template <typename From>
std::pair<Value, Value> broadcastOperands(Builder &b, From op) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getType()).getShape();
  int64_t rank = shape.size();
  auto place = [&](Value value) -> Placed {
    bool isLower = cast<RankedTensorType>(value.getType()).getRank() < rank;
    return {Tensor(b, value), isLower && op.getBroadcastDimensions()
                                  ? SmallVector<int64_t>(*op.getBroadcastDimensions())
                                  : lastDims(value, rank)};
  };
  SmallVector<Value> values = broadcastTogether(b, {place(op.getLhs()), place(op.getRhs())}, shape);
  return {values[0], values[1]};
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
  SmallVector<Placed> placed = llvm::map_to_vector(
      op->getOperands(), [&](Value value) -> Placed { return {Tensor(b, value), lastDims(value, type.getRank())}; });
  SmallVector<Value> operands = broadcastTogether(b, placed, type.getShape());
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
  table.add<chlo::BroadcastAddOp>(expandBinary<chlo::BroadcastAddOp, stablehlo::AddOp>, Dynamic::All);
  table.add<chlo::BroadcastAndOp>(expandBinary<chlo::BroadcastAndOp, stablehlo::AndOp>, Dynamic::All);
  table.add<chlo::BroadcastAtan2Op>(expandBinary<chlo::BroadcastAtan2Op, stablehlo::Atan2Op>, Dynamic::All);
  table.add<chlo::BroadcastCompareOp>(expandCompare, Dynamic::All);
  table.add<chlo::BroadcastComplexOp>(expandBinary<chlo::BroadcastComplexOp, stablehlo::ComplexOp>, Dynamic::All);
  table.add<chlo::BroadcastDivOp>(expandBinary<chlo::BroadcastDivOp, stablehlo::DivOp>, Dynamic::All);
  table.add<chlo::BroadcastMaxOp>(expandBinary<chlo::BroadcastMaxOp, stablehlo::MaxOp>, Dynamic::All);
  table.add<chlo::BroadcastMinOp>(expandBinary<chlo::BroadcastMinOp, stablehlo::MinOp>, Dynamic::All);
  table.add<chlo::BroadcastMulOp>(expandBinary<chlo::BroadcastMulOp, stablehlo::MulOp>, Dynamic::All);
  table.add<chlo::BroadcastNextAfterOp>(expandBinary<chlo::BroadcastNextAfterOp, chlo::NextAfterOp>, Dynamic::All);
  table.add<chlo::BroadcastOrOp>(expandBinary<chlo::BroadcastOrOp, stablehlo::OrOp>, Dynamic::All);
  table.add<chlo::BroadcastPolygammaOp>(expandBinary<chlo::BroadcastPolygammaOp, chlo::PolygammaOp>, Dynamic::All);
  table.add<chlo::BroadcastPowOp>(expandBinary<chlo::BroadcastPowOp, stablehlo::PowOp>, Dynamic::All);
  table.add<chlo::BroadcastRemOp>(expandBinary<chlo::BroadcastRemOp, stablehlo::RemOp>, Dynamic::All);
  table.add<chlo::BroadcastSelectOp>(expandSelect, Dynamic::All);
  table.add<chlo::BroadcastShiftLeftOp>(expandBinary<chlo::BroadcastShiftLeftOp, stablehlo::ShiftLeftOp>, Dynamic::All);
  table.add<chlo::BroadcastShiftRightArithmeticOp>(
      expandBinary<chlo::BroadcastShiftRightArithmeticOp, stablehlo::ShiftRightArithmeticOp>, Dynamic::All);
  table.add<chlo::BroadcastShiftRightLogicalOp>(
      expandBinary<chlo::BroadcastShiftRightLogicalOp, stablehlo::ShiftRightLogicalOp>, Dynamic::All);
  table.add<chlo::BroadcastSubOp>(expandBinary<chlo::BroadcastSubOp, stablehlo::SubtractOp>, Dynamic::All);
  table.add<chlo::BroadcastXorOp>(expandBinary<chlo::BroadcastXorOp, stablehlo::XorOp>, Dynamic::All);
  table.add<chlo::BroadcastZetaOp>(expandBinary<chlo::BroadcastZetaOp, chlo::ZetaOp>, Dynamic::All);
  table.add<chlo::ConstantLikeOp>(expandConstantLike, Dynamic::All);
}

} // namespace latewood::input
