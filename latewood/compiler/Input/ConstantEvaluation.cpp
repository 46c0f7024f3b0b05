// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folds what computes a value, without changing the program.

#include "latewood/compiler/Input/ConstantEvaluation.h"
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace latewood::input {

namespace {

/// Folds operations from their operands on. Each value is looked at once.
class Evaluation {
public:
  Attribute evaluate(Value value, unsigned depth = 64) {
    Attribute constant;
    if (matchPattern(value, m_Constant(&constant)))
      return constant;
    Operation *op = value.getDefiningOp();
    if (!op || depth == 0 || op->getNumRegions() != 0)
      return {};
    auto [known, isNew] = values.try_emplace(value);
    if (!isNew)
      return known->second;
    Attribute result = fold(cast<OpResult>(value), depth);
    values[value] = result;
    return result;
  }

private:
  Attribute fold(OpResult value, unsigned depth) {
    Operation *op = value.getOwner();
    SmallVector<Attribute> operands =
        llvm::map_to_vector(op->getOperands(), [&](Value operand) { return evaluate(operand, depth - 1); });
    SmallVector<OpFoldResult> folded;
    // A fold may change the operation in place, which computes the same and returns no result.
    if (failed(op->fold(operands, folded)) || folded.empty())
      return {};
    OpFoldResult result = folded[value.getResultNumber()];
    if (Attribute attribute = dyn_cast<Attribute>(result))
      return attribute;
    return evaluate(cast<Value>(result), depth - 1);
  }

  DenseMap<Value, Attribute> values;
};

int64_t countElements(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

/// An element by the element that it is computed from, where that is simpler than the tensor.
/// Looks at no more than `budget` values.
std::optional<int64_t> evaluateElement(Value value, int64_t index, unsigned &budget) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || !type.getElementType().isIntOrIndex() || index >= type.getNumElements() ||
      budget == 0)
    return std::nullopt;
  --budget;
  DenseIntElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant))) {
    APInt number = constant.getValues<APInt>()[index];
    return type.getElementType().isUnsignedInteger() ? static_cast<int64_t>(number.getZExtValue())
                                                     : number.getSExtValue();
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  auto operandAt = [&](unsigned operand) { return evaluateElement(op->getOperand(operand), index, budget); };
  if (isa<stablehlo::ReshapeOp, stablehlo::DynamicReshapeOp, stablehlo::ConvertOp>(op))
    return operandAt(0);
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op))
    return countElements(broadcast.getOperand()) == 1 ? evaluateElement(broadcast.getOperand(), 0, budget)
                                                      : std::nullopt;
  if (auto size = dyn_cast<stablehlo::GetDimensionSizeOp>(op)) {
    int64_t extent = size.getOperand().getType().getDimSize(size.getDimension());
    return ShapedType::isDynamic(extent) ? std::nullopt : std::optional(extent);
  }
  if (auto slice = dyn_cast<stablehlo::SliceOp>(op); slice && type.getRank() == 1)
    return evaluateElement(slice.getOperand(), slice.getStartIndices()[0] + index * slice.getStrides()[0], budget);
  if (auto concatenate = dyn_cast<stablehlo::ConcatenateOp>(op); concatenate && concatenate.getDimension() == 0) {
    for (Value input : concatenate.getInputs()) {
      if (!cast<RankedTensorType>(input.getType()).hasStaticShape())
        return std::nullopt;
      if (index < countElements(input))
        return evaluateElement(input, index, budget);
      index -= countElements(input);
    }
    return std::nullopt;
  }
  if (isa<stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::MulOp, stablehlo::MaxOp, stablehlo::MinOp>(op)) {
    std::optional<int64_t> lhs = operandAt(0), rhs = operandAt(1);
    if (!lhs || !rhs)
      return std::nullopt;
    if (isa<stablehlo::MaxOp>(op))
      return std::max(*lhs, *rhs);
    if (isa<stablehlo::MinOp>(op))
      return std::min(*lhs, *rhs);
    __int128 x = *lhs, y = *rhs;
    __int128 result = isa<stablehlo::AddOp>(op) ? x + y : isa<stablehlo::SubtractOp>(op) ? x - y : x * y;
    // Arithmetic that wraps is left to the folders.
    unsigned width = type.getElementType().getIntOrFloatBitWidth();
    if (width > 63 ? result == static_cast<int64_t>(result) : llvm::isIntN(width, static_cast<int64_t>(result)))
      return static_cast<int64_t>(result);
  }
  return std::nullopt;
}

} // namespace

Attribute evaluate(Value value) { return Evaluation().evaluate(value); }

std::optional<SmallVector<int64_t>> evaluateIntegers(Value value) {
  auto elements = dyn_cast_or_null<DenseIntElementsAttr>(evaluate(value));
  if (!elements) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape())
      return std::nullopt;
    SmallVector<int64_t> numbers;
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      std::optional<int64_t> number = evaluateElement(value, i);
      if (!number)
        return std::nullopt;
      numbers.push_back(*number);
    }
    return numbers;
  }
  bool isUnsigned = elements.getElementType().isUnsignedInteger();
  return llvm::map_to_vector(elements.getValues<APInt>(), [&](const APInt &number) {
    return isUnsigned ? static_cast<int64_t>(number.getZExtValue()) : number.getSExtValue();
  });
}

std::optional<int64_t> evaluateElement(Value value, int64_t index) {
  unsigned budget = 256;
  if (std::optional<int64_t> element = evaluateElement(value, index, budget))
    return element;
  auto elements = dyn_cast_or_null<DenseIntElementsAttr>(evaluate(value));
  if (!elements || index >= elements.getNumElements())
    return std::nullopt;
  APInt number = elements.getValues<APInt>()[index];
  return elements.getElementType().isUnsignedInteger() ? static_cast<int64_t>(number.getZExtValue())
                                                       : number.getSExtValue();
}

SmallVector<int64_t> evaluateExtents(Value value, int64_t count) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> extents(count, ShapedType::kDynamic);
  if (!type.hasStaticShape() || type.getNumElements() != count)
    return extents;
  for (auto [i, extent] : llvm::enumerate(extents))
    extent = evaluateElement(value, i).value_or(ShapedType::kDynamic);
  return extents;
}

} // namespace latewood::input
