// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Type inference of batch normalization.
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"

using namespace mlir;
using namespace latewood::stablehlo;

namespace {
/// A vector of one entry a feature, with the number of the constraint that says so.
struct FeatureVector {
  Value value;
  StringRef name;
  StringRef constraint;
};
} // namespace

/// Checks operands, and gives the type of a vector of one entry a feature.
static FailureOr<RankedTensorType> checkFeatures(StringRef op, std::optional<Location> location, Value operand,
                                                 int64_t featureIndex, ArrayRef<FeatureVector> vectors) {
  auto type = cast<RankedTensorType>(operand.getType());
  if (!areInRange(featureIndex, type.getRank()))
    return emitConstraint(location, op, "C1", "requires feature_index to be a dimension of the operand, but got ",
                          featureIndex, " for ", type);
  SmallVector<int64_t> shape{type.getDimSize(featureIndex)};
  for (auto [value, name, constraint] : vectors) {
    auto vector = cast<RankedTensorType>(value.getType());
    if (!haveSameBaseline(vector.getElementType(), type.getElementType()))
      return emitConstraint(location, op, "C2", "requires ", name, " of the operand's element type, but got ", vector,
                            " and ", type);
    if (failed(mergeShape(shape, vector.getShape())))
      return emitConstraint(location, op, constraint, "requires ", name, " of one entry a feature, but got ", vector,
                            " for ", type);
  }
  return RankedTensorType::get(shape, type.getElementType());
}

LogicalResult BatchNormInferenceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                                     SmallVectorImpl<Type> &types) {
  if (failed(checkFeatures(getOperationName(), location, adaptor.getOperand(), adaptor.getFeatureIndexAttr().getInt(),
                           {{adaptor.getScale(), "scale", "C3"},
                            {adaptor.getOffset(), "offset", "C4"},
                            {adaptor.getMean(), "mean", "C5"},
                            {adaptor.getVariance(), "variance", "C6"}}))) // C1, C2, C3, C4, C5, C6
    return failure();
  types.push_back(adaptor.getOperand().getType()); // C7
  return success();
}

LogicalResult BatchNormTrainingOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                                    SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> vector =
      checkFeatures(getOperationName(), location, adaptor.getOperand(), adaptor.getFeatureIndexAttr().getInt(),
                    {{adaptor.getScale(), "scale", "C3"}, {adaptor.getOffset(), "offset", "C4"}}); // C1, C2, C3, C4
  if (failed(vector))
    return failure();
  types.push_back(adaptor.getOperand().getType()); // C7
  types.append(2, *vector);                        // C5, C6
  return success();
}

LogicalResult BatchNormGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> vector =
      checkFeatures(getOperationName(), location, adaptor.getOperand(), adaptor.getFeatureIndexAttr().getInt(),
                    {{adaptor.getScale(), "scale", "C5"},
                     {adaptor.getMean(), "mean", "C4"},
                     {adaptor.getVariance(), "variance", "C4"}}); // C1, C2, C4, C5
  if (failed(vector))
    return failure();
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  auto gradient = cast<RankedTensorType>(adaptor.getGradOutput().getType());
  if (!haveSameBaseline(operand.getElementType(), gradient.getElementType()))
    return emitConstraint(location, getOperationName(), "C2",
                          "requires grad_output of the operand's element type, but got ", gradient, " and ", operand);
  SmallVector<int64_t> shape(operand.getShape());
  if (failed(mergeShape(shape, gradient.getShape()))) // C3
    return emitConstraint(location, getOperationName(), "C3", "requires grad_output of the operand's shape, but got ",
                          gradient, " and ", operand);
  types.push_back(RankedTensorType::get(shape, operand.getElementType())); // C3
  types.append(2, *vector);                                                // C4
  return success();
}
