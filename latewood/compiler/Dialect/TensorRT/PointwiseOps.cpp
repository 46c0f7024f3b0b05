// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers and type inference of layers that compute element by element, and of normalizations.
#include "latewood/compiler/Dialect/TensorRT/ConstraintReport.h"
#include "latewood/compiler/Dialect/TensorRT/TensorRT.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::tensorrt;
using stablehlo::emitConstraint;

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }
static bool isBool(Type type) { return type.isInteger(1); }

/// Broadcasts the operands (C1: element types of those from `first` on; C2: shapes).
static LogicalResult inferBroadcast(StringRef op, std::optional<Location> location, ValueRange operands, unsigned first,
                                    Type element, SmallVectorImpl<Type> &types) {
  for (Value operand : operands.drop_front(first))
    if (getElementTypeOrSelf(operand) != getElementTypeOrSelf(operands[first])) // C1
      return emitConstraint(location, op, "C1", "requires operands of one element type, but got ",
                            operands[first].getType(), " and ", operand.getType());
  auto shapes = llvm::map_to_vector(operands, [](Value operand) { return tensorType(operand).getShape(); });
  std::optional<SmallVector<int64_t>> shape = broadcastShapes(shapes);
  if (!shape) { // C2
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::interleaveComma(operands.getTypes(), stream);
    return emitConstraint(location, op, "C2", "requires operands of one rank whose extents are equal or 1, but got ",
                          text);
  }
  types.push_back(RankedTensorType::get(*shape, element ? element : getElementTypeOrSelf(operands[first])));
  return success();
}

static LogicalResult checkAxis(StringRef op, std::optional<Location> location, RankedTensorType input, int64_t axis) {
  if (axis < 0 || axis >= input.getRank()) // C1
    return emitConstraint(location, op, "C1", "requires an axis of ", input, ", but got ", axis);
  return success();
}

//===----------------------------------------------------------------------===//
// Functions of elements
//===----------------------------------------------------------------------===//

/// How many of alpha and beta a function has.
static std::pair<bool, bool> parametersOf(ActivationType type) {
  switch (type) {
  case ActivationType::kLEAKY_RELU:
  case ActivationType::kELU:
  case ActivationType::kTHRESHOLDED_RELU:
    return {true, false};
  case ActivationType::kSELU:
  case ActivationType::kSOFTPLUS:
  case ActivationType::kCLIP:
  case ActivationType::kHARD_SIGMOID:
  case ActivationType::kSCALED_TANH:
    return {true, true};
  default:
    return {false, false};
  }
}

LogicalResult ActivationOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput());
  ActivationType type = adaptor.getActivationType();
  if (input.getElementType().isInteger() && type != ActivationType::kRELU) // C1
    return emitConstraint(location, getOperationName(), "C1", "requires floats for ", stringifyActivationType(type),
                          ", but got ", input);
  auto [alpha, beta] = parametersOf(type);
  if ((adaptor.getAlpha() && !alpha) || (adaptor.getBeta() && !beta)) // C2
    return emitConstraint(location, getOperationName(), "C2", "requires no parameter that ",
                          stringifyActivationType(type), " does not have");
  types.push_back(input);
  return success();
}

LogicalResult UnaryOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput());
  Type element = input.getElementType();
  UnaryOperation operation = adaptor.getUnaryOperation();
  bool isTaken = isa<FloatType>(element);
  switch (operation) {
  case UnaryOperation::kNOT:
    isTaken = isBool(element);
    break;
  case UnaryOperation::kABS:
  case UnaryOperation::kNEG:
  case UnaryOperation::kSIGN:
    isTaken = !isBool(element);
    break;
  default:
    break;
  }
  if (!isTaken) // C1
    return emitConstraint(location, getOperationName(), "C1", "requires an element type that ",
                          stringifyUnaryOperation(operation), " takes, but got ", input);
  if (operation == UnaryOperation::kISINF || operation == UnaryOperation::kISNAN) // C2
    element = IntegerType::get(context, 1);
  types.push_back(RankedTensorType::get(input.getShape(), element));
  return success();
}

LogicalResult ElementWiseOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  ElementWiseOperation operation = adaptor.getElementwiseOperation();
  Type element = getElementTypeOrSelf(adaptor.getInput1());
  bool isLogical = operation == ElementWiseOperation::kAND || operation == ElementWiseOperation::kOR ||
                   operation == ElementWiseOperation::kXOR;
  bool isComparison = operation == ElementWiseOperation::kEQUAL || operation == ElementWiseOperation::kGREATER ||
                      operation == ElementWiseOperation::kLESS;
  bool isTaken = operation == ElementWiseOperation::kEQUAL || isBool(element) == isLogical;
  if (!isTaken || (operation == ElementWiseOperation::kPOW && element.isInteger(8))) // C3
    return emitConstraint(location, getOperationName(), "C3", "requires an element type that ",
                          stringifyElementWiseOperation(operation), " takes, but got ", adaptor.getInput1().getType());
  return inferBroadcast(getOperationName(), location, adaptor.getOperands(), 0,
                        isComparison ? IntegerType::get(context, 1) : Type(), types); // C1, C2, C4
}

LogicalResult SelectOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  return inferBroadcast(getOperationName(), location, adaptor.getOperands(), 1, Type(), types); // C1, C2
}

LogicalResult CastOp::verify() {
  RankedTensorType input = getInput().getType(), result = getResult().getType();
  if (!stablehlo::haveCompatibleShapes(input, result)) // C1
    return emitOpError("(C1) requires input and result of one shape, but got ") << input << " and " << result;
  auto isByte = [](RankedTensorType type) { return type.getElementType().isUnsignedInteger(8); };
  auto convertsToByte = [](RankedTensorType type) { return isa<FloatType>(type.getElementType()); };
  if (input.getElementType() != result.getElementType() &&
      ((isByte(input) && !convertsToByte(result)) || (isByte(result) && !convertsToByte(input)))) // C2
    return emitOpError("(C2) requires floats on the other side of ui8, but got ") << input << " and " << result;
  return success();
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  return getInput().getType() == getType() ? OpFoldResult(getInput()) : nullptr;
}

LogicalResult IdentityOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getInput().getType());
  return success();
}

OpFoldResult IdentityOp::fold(FoldAdaptor) {
  return getInput().getType() == getType() ? OpFoldResult(getInput()) : nullptr;
}

LogicalResult ParametricReLUOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                                 SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput()), slope = tensorType(adaptor.getSlope());
  if (input.getElementType() != slope.getElementType()) // C1
    return emitConstraint(location, getOperationName(), "C1", "requires operands of one element type, but got ", input,
                          " and ", slope);
  if (!broadcastsOnto(slope.getShape(), input.getShape())) // C2
    return emitConstraint(location, getOperationName(), "C2", "requires slopes that broadcast to ", input, ", but got ",
                          slope);
  types.push_back(input);
  return success();
}

//===----------------------------------------------------------------------===//
// Along axes
//===----------------------------------------------------------------------===//

LogicalResult ScaleOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput());
  auto axis = static_cast<int64_t>(adaptor.getChannelAxis());
  if (input.getRank() < 4) // C1
    return emitConstraint(location, getOperationName(), "C1", "requires an input of at least 4 dimensions, but got ",
                          input);
  if (axis < 0 || axis >= input.getRank()) // C2
    return emitConstraint(location, getOperationName(), "C2", "requires a channel axis of ", input, ", but got ", axis);
  int64_t count = 1;
  if (adaptor.getMode() == ScaleMode::kCHANNEL)
    count = input.getDimSize(axis);
  else if (adaptor.getMode() == ScaleMode::kELEMENTWISE)
    for (int64_t extent : input.getShape().drop_front(axis))
      count = ShapedType::isDynamic(extent) || ShapedType::isDynamic(count) ? ShapedType::kDynamic : count * extent;
  for (std::optional<ElementsAttr> coefficients : {adaptor.getShift(), adaptor.getScale(), adaptor.getPower()}) // C3
    if (coefficients && (coefficients->getElementType() != input.getElementType() ||
                         !stablehlo::extentsAgree(coefficients->getNumElements(), count)))
      return emitConstraint(location, getOperationName(), "C3", "requires ", count, " coefficients of type ",
                            input.getElementType(), ", but got ", coefficients->getType());
  types.push_back(input);
  return success();
}

LogicalResult LRNOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput());
  if (input.getRank() < 3) // C1
    return emitConstraint(location, getOperationName(), "C1", "requires an input of at least 3 dimensions, but got ",
                          input);
  auto window = static_cast<int64_t>(adaptor.getWindow());
  if (window < 1 || window > 15 || window % 2 == 0) // C2
    return emitConstraint(location, getOperationName(), "C2", "requires an odd window from 1 to 15, but got ", window);
  types.push_back(input);
  return success();
}

LogicalResult SoftMaxOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getInput().getType());
  return checkAxis(getOperationName(), location, tensorType(adaptor.getInput()), adaptor.getAxis()); // C1
}

LogicalResult RaggedSoftMaxOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput()), bounds = tensorType(adaptor.getBounds());
  if (input.getRank() != 3 || bounds.getRank() != 3) // C1
    return emitConstraint(location, getOperationName(), "C1", "requires operands of 3 dimensions, but got ", input,
                          " and ", bounds);
  if (!stablehlo::extentsAgree(input.getDimSize(0), bounds.getDimSize(0)) ||
      !stablehlo::extentsAgree(input.getDimSize(1), bounds.getDimSize(1)) ||
      !stablehlo::extentsAgree(bounds.getDimSize(2), 1)) // C2
    return emitConstraint(location, getOperationName(), "C2", "requires one bound a sequence of ", input, ", but got ",
                          bounds);
  types.push_back(input);
  return success();
}

LogicalResult NormalizationOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput()), scale = tensorType(adaptor.getScale()),
                   bias = tensorType(adaptor.getBias());
  ConstraintReport fail{location, getOperationName()};
  if (input.getElementType() != scale.getElementType() || input.getElementType() != bias.getElementType()) // C1
    return fail("C1", "requires operands of one element type, but got ", input, ", ", scale, " and ", bias);
  ArrayRef<int64_t> axes = adaptor.getAxis();
  if (axes.empty() || !stablehlo::areInRange(axes, input.getRank()) || !stablehlo::areUnique(axes)) // C2
    return fail("C2", "requires different dimensions of ", input, " as axes, at least one");
  if (!broadcastsOnto(scale.getShape(), input.getShape())) // C3
    return fail("C3", "requires a scale that broadcasts to ", input, ", but got ", scale);
  if (!broadcastsOnto(bias.getShape(), input.getShape())) // C3
    return fail("C3", "requires a bias that broadcasts to ", input, ", but got ", bias);
  auto groups = static_cast<int64_t>(adaptor.getNumGroups());
  if (groups != 1) { // C4
    if (groups < 1 || input.getRank() < 3 || (!input.isDynamicDim(1) && input.getDimSize(1) % groups != 0))
      return fail("C4", "requires groups that divide the channels of ", input, ", but got ", groups);
    if (toAxisMask(axes) != ((1u << input.getRank()) - 4))
      return fail("C4", "requires all dimensions behind the channels of ", input, " as axes of groups");
  }
  if (failed(verifyCompatibleShape(scale, bias))) // C5
    return fail("C5", "requires scale and bias of one shape, but got ", scale, " and ", bias);
  types.push_back(input);
  return success();
}

LogicalResult CumulativeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getInput().getType());
  return checkAxis(getOperationName(), location, tensorType(adaptor.getInput()), adaptor.getAxis()); // C1
}
