// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Type inference of the ops that broadcast their operands. A `?` that meets a known extent other than 1 has that
// extent; one that meets 1 or another `?` stays unknown.
#include "latewood/compiler/Dialect/CHLO/CHLO.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::chlo;

/// The extent that two broadcast to, or nothing if they do not fit.
static std::optional<int64_t> broadcastExtents(int64_t lhs, int64_t rhs) {
  if (lhs == 1)
    return rhs;
  if (rhs == 1 || lhs == rhs)
    return lhs;
  if (ShapedType::isDynamic(lhs))
    return rhs;
  return ShapedType::isDynamic(rhs) ? std::optional(lhs) : std::nullopt;
}

LogicalResult chlo::inferBroadcasting(StringRef op, std::optional<Location> location, Type lhs, Type rhs,
                                      std::optional<ArrayRef<int64_t>> dimensions, BroadcastResult result,
                                      SmallVectorImpl<Type> &types) {
  auto high = cast<RankedTensorType>(lhs), low = cast<RankedTensorType>(rhs);
  if (high.getElementType() != low.getElementType()) // C3
    return stablehlo::emitConstraint(location, op, "C3", "requires one element type, but got ", lhs, " and ", rhs);
  if (high.getRank() < low.getRank())
    std::swap(high, low);
  SmallVector<int64_t> numpy = llvm::to_vector(llvm::seq(high.getRank() - low.getRank(), high.getRank()));
  ArrayRef<int64_t> places = dimensions.value_or(numpy);
  if (static_cast<int64_t>(places.size()) != low.getRank() || !stablehlo::areInRange(places, high.getRank()) ||
      !llvm::is_sorted(places) || !stablehlo::areUnique(places)) // C1
    return stablehlo::emitConstraint(location, op, "C1", "requires broadcast_dimensions of ", low.getRank(),
                                     " ascending dimensions of a tensor of rank ", high.getRank());
  SmallVector<int64_t> shape(high.getShape());
  for (auto [place, extent] : llvm::zip(places, low.getShape())) {
    auto merged = broadcastExtents(shape[place], extent);
    if (!merged) // C2
      return stablehlo::emitConstraint(location, op, "C2", "requires shapes that broadcast, but got ", lhs, " and ",
                                       rhs);
    shape[place] = *merged;
  }
  Type element = high.getElementType();
  if (result == BroadcastResult::Complex)
    element = ComplexType::get(element);
  else if (result == BroadcastResult::Predicate)
    element = IntegerType::get(element.getContext(), 1);
  types.push_back(RankedTensorType::get(shape, element)); // C4
  return success();
}

LogicalResult BroadcastSelectOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                                  SmallVectorImpl<Type> &types) {
  auto onTrue = cast<RankedTensorType>(adaptor.getOnTrue().getType());
  if (getElementTypeOrSelf(adaptor.getOnFalse()) != onTrue.getElementType()) // C2
    return stablehlo::emitConstraint(location, getOperationName(), "C2", "requires one element type, but got ", onTrue,
                                     " and ", adaptor.getOnFalse().getType());
  SmallVector<int64_t> shape;
  for (Value operand : adaptor.getOperands()) {
    SmallVector<int64_t> other(cast<RankedTensorType>(operand.getType()).getShape());
    size_t rank = std::max(shape.size(), other.size());
    shape.insert(shape.begin(), rank - shape.size(), 1);
    other.insert(other.begin(), rank - other.size(), 1);
    for (auto [extent, more] : llvm::zip(shape, other)) {
      auto merged = broadcastExtents(extent, more);
      if (!merged) // C1
        return stablehlo::emitConstraint(location, getOperationName(), "C1", "requires shapes that broadcast, but got ",
                                         adaptor.getPred().getType(), ", ", onTrue, " and ",
                                         adaptor.getOnFalse().getType());
      extent = *merged;
    }
  }
  types.push_back(RankedTensorType::get(shape, onTrue.getElementType())); // C3
  return success();
}

LogicalResult ConstantLikeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  Type element = adaptor.getValue().getType();
  if (!element.isIntOrFloat() && !isa<ComplexType>(element)) // C2
    return stablehlo::emitConstraint(location, getOperationName(), "C2", "requires a number, but got a value of type ",
                                     element);
  types.push_back(cast<RankedTensorType>(adaptor.getOperand().getType()).clone(element)); // C1
  return success();
}
