// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of the ops whose extents, paddings or bounds are operands, and of random number generation.
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"

using namespace mlir;
using namespace latewood::stablehlo;

/// Checks that a vector of extents has one entry a dimension.
static LogicalResult checkExtentCount(Operation *op, RankedTensorType extents, int64_t rank, StringRef name,
                                      StringRef constraint) {
  if (extentsAgree(extents.getDimSize(0), rank))
    return success();
  return op->emitOpError("(") << constraint << ") requires one entry of " << name << " for each of the " << rank
                              << " dimensions, but got " << extents;
}

LogicalResult DynamicBroadcastInDimOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  ArrayRef<int64_t> dimensions = getBroadcastDimensions();
  auto axis = getQuantizedDimension(from.getElementType());
  if (!axis && from.getElementType() != to.getElementType()) // C1
    return emitOpError("(C1) requires one element type, but got ") << from << " and " << to;
  if (failed(verifyBroadcast(*this, from, to, dimensions))) // C2 to C5
    return failure();
  if (axis && getQuantizedDimension(to.getElementType()) != dimensions[*axis]) // C6
    return emitOpError("(C6) requires a result quantized along dimension ") << dimensions[*axis] << ", but got " << to;
  if (failed(checkExtentCount(*this, getOutputDimensions().getType(), to.getRank(), "output_dimensions", "C7"))) // C7
    return failure();
  ArrayRef<int64_t> expanding = getKnownExpandingDimensions().value_or(ArrayRef<int64_t>());
  ArrayRef<int64_t> nonexpanding = getKnownNonexpandingDimensions().value_or(ArrayRef<int64_t>());
  if (!areUnique(expanding, nonexpanding)) // C8
    return emitOpError("(C8) requires known expanding and nonexpanding dimensions that are all different");
  if (!areInRange(expanding, from.getRank())) // C9
    return emitOpError("(C9) requires known expanding dimensions of the operand, ") << from;
  if (!areInRange(nonexpanding, from.getRank())) // C10
    return emitOpError("(C10) requires known nonexpanding dimensions of the operand, ") << from;
  return success();
}

LogicalResult DynamicReshapeOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  auto axis = getQuantizedDimension(from.getElementType());
  if (from.getElementType() != (axis ? withQuantizedDimension(to.getElementType(), *axis) : to.getElementType())) // C1
    return emitOpError("(C1) requires one element type, but got ") << from << " and " << to;
  if (from.hasStaticShape() && to.hasStaticShape() && from.getNumElements() != to.getNumElements()) // C2
    return emitOpError("(C2) requires equally many elements, but got ") << from << " and " << to;
  return checkExtentCount(*this, getOutputShape().getType(), to.getRank(), "output_shape", "C4"); // C4
}

LogicalResult DynamicIotaOp::verify() {
  int64_t dimension = getIotaDimensionAttr().getInt();
  if (!areInRange(dimension, getType().getRank())) // C1
    return emitOpError("(C1) requires a dimension of the result, but got ") << dimension << " for " << getType();
  return checkExtentCount(*this, getOutputShape().getType(), getType().getRank(), "output_shape", "C2"); // C2
}

LogicalResult DynamicPadOp::verify() {
  RankedTensorType from = getOperand().getType();
  if (from.getElementType() != getPaddingValue().getType().getElementType() ||
      from.getElementType() != getType().getElementType()) // C1
    return emitOpError("(C1) requires operand, padding value and result of one element type, but got ")
           << from << ", " << getPaddingValue().getType() << " and " << getType();
  if (from.getRank() != getType().getRank()) // C4
    return emitOpError("(C4) requires operand and result of one rank, but got ") << from << " and " << getType();
  for (auto [list, name] :
       {std::pair(getEdgePaddingLow(), "edge_padding_low"), std::pair(getEdgePaddingHigh(), "edge_padding_high"),
        std::pair(getInteriorPadding(), "interior_padding")})
    if (failed(checkExtentCount(*this, list.getType(), from.getRank(), name, "C2"))) // C2
      return failure();
  return success();
}

LogicalResult RealDynamicSliceOp::verify() {
  RankedTensorType from = getOperand().getType();
  if (from.getElementType() != getType().getElementType() || from.getRank() != getType().getRank()) // C1
    return emitOpError("(C1) requires operand and result of one element type and rank, but got ")
           << from << " and " << getType();
  for (auto [list, name] : {std::pair(getStartIndices(), "start_indices"),
                            std::pair(getLimitIndices(), "limit_indices"), std::pair(getStrides(), "strides")})
    if (failed(checkExtentCount(*this, list.getType(), from.getRank(), name, "C2"))) // C2
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

void RngOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  // Hidden state: two equal ops give different numbers, so neither may be merged with or moved over the other.
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

LogicalResult RngOp::verify() {
  Type elementType = getType().getElementType();
  if (getA().getType().getElementType() != elementType || getB().getType().getElementType() != elementType) // C1
    return emitOpError("(C1) requires one element type, but got ")
           << getA().getType() << ", " << getB().getType() << " and " << getType();
  if (getRngDistribution() == RngDistribution::NORMAL && !isa<FloatType>(elementType)) // C2
    return emitOpError("(C2) requires floating-point elements for NORMAL, but got ") << elementType;
  return checkExtentCount(*this, getShape().getType(), getType().getRank(), "shape", "C3"); // C3
}

void RngBitGeneratorOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getOutputState(), "output_state");
  setName(getOutput(), "output");
}

LogicalResult RngBitGeneratorOp::verify() {
  RankedTensorType state = getInitialState().getType();
  if (!areCompatible(state, getOutputState().getType())) // C1
    return emitOpError("(C1) requires a state that keeps its type, but got ")
           << state << " and " << getOutputState().getType();
  int64_t size = state.getRank() == 1 ? state.getDimSize(0) : 0;
  bool fits = getRngAlgorithm() == RngAlgorithm::DEFAULT || ShapedType::isDynamic(size) || size == 2 ||
              (getRngAlgorithm() == RngAlgorithm::PHILOX && size == 3);
  if (!fits) // C2
    return emitOpError("(C2) requires a state that ")
           << stringifyRngAlgorithm(getRngAlgorithm()) << " can use, but got " << state;
  return success();
}
