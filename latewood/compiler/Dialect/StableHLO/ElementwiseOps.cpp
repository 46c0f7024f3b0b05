// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers and type inference of the elementwise ops. What most of them need is `inferElementwise`; here stand the ops
// whose result type differs from the operands' or that have attributes to check.
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace latewood::stablehlo;

/// The tensor type with the shape of `like` and another element type.
static Type withElementType(Type like, Type elementType) { return cast<RankedTensorType>(like).clone(elementType); }

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

LogicalResult AbsOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  Type type = adaptor.getOperand().getType();
  types.push_back(withElementType(type, getRealType(getElementTypeOrSelf(type)))); // C1, C2
  return success();
}

LogicalResult RealOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  Type type = adaptor.getOperand().getType();
  types.push_back(withElementType(type, getRealType(getElementTypeOrSelf(type)))); // C1, C2
  return success();
}

LogicalResult ImagOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  Type type = adaptor.getOperand().getType();
  types.push_back(withElementType(type, getRealType(getElementTypeOrSelf(type)))); // C1, C2
  return success();
}

LogicalResult IsFiniteOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(withElementType(adaptor.getX().getType(), IntegerType::get(context, 1))); // C1
  return success();
}

void ConvertOp::build(OpBuilder &builder, OperationState &state, Value operand, Type elementType) {
  build(builder, state, isa<ShapedType>(elementType) ? elementType : withElementType(operand.getType(), elementType),
        ValueRange(operand));
}

LogicalResult ConvertOp::verify() {
  if (!haveCompatibleShapes(getOperand().getType(), getType())) // C1
    return emitOpError("(C1) requires operand and result of one shape, but got ")
           << getOperand().getType() << " and " << getType();
  return success();
}

LogicalResult BitcastConvertOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  if (isa<ComplexType>(from.getElementType()) != isa<ComplexType>(to.getElementType())) // C2
    return emitOpError("(C2) requires complex element types on both sides or on none");
  auto bits = [](Type type) {
    type = getStorageType(type);
    unsigned width = getRealType(type).getIntOrFloatBitWidth();
    return isa<ComplexType>(type) ? 2 * width : width;
  };
  int64_t fromBits = bits(from.getElementType()), toBits = bits(to.getElementType());

  // C1. The tensor of narrower elements has one more dimension, the minor one, which holds the parts of one element.
  ArrayRef<int64_t> wide = fromBits >= toBits ? from.getShape() : to.getShape();
  ArrayRef<int64_t> narrow = fromBits >= toBits ? to.getShape() : from.getShape();
  int64_t ratio = std::max(fromBits, toBits) / std::min(fromBits, toBits);
  if (fromBits != toBits) {
    if (narrow.size() != wide.size() + 1 || std::max(fromBits, toBits) % std::min(fromBits, toBits) != 0 ||
        !extentsAgree(narrow.back(), ratio))
      return emitOpError("(C1) requires a minor dimension of extent ")
             << ratio << " on the side of the narrower elements, but got " << from << " and " << to;
    narrow = narrow.drop_back();
  }
  if (failed(verifyCompatibleShape(wide, narrow)))
    return emitOpError("(C1) requires shapes that agree, but got ") << from << " and " << to;
  return success();
}

LogicalResult UniformQuantizeOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  if (failed(verifyCompatibleShape(from, to))) // C1
    return emitOpError("(C1) requires operand and result of one shape, but got ") << from << " and " << to;
  if (getExpressedType(from.getElementType()) != getExpressedType(to.getElementType())) // C2
    return emitOpError("(C2) requires a result that expresses ")
           << getExpressedType(from.getElementType()) << ", but got " << to;
  return success();
}

LogicalResult UniformDequantizeOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                                    SmallVectorImpl<Type> &types) {
  Type type = adaptor.getOperand().getType();
  types.push_back(withElementType(type, getExpressedType(getElementTypeOrSelf(type)))); // C1, C2
  return success();
}

LogicalResult ReducePrecisionOp::verify() {
  if (static_cast<int32_t>(getExponentBits()) < 1) // C2
    return emitOpError("(C2) requires at least one exponent bit");
  if (static_cast<int32_t>(getMantissaBits()) < 0) // C3
    return emitOpError("(C3) requires a number of mantissa bits that is not negative");
  return success();
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

LogicalResult AddOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  auto lhs = cast<RankedTensorType>(adaptor.getLhs().getType()),
       rhs = cast<RankedTensorType>(adaptor.getRhs().getType());
  if (!isQuantized(lhs) || !isQuantized(rhs))
    return inferElementwise(getOperationName(), location, {lhs, rhs}, types); // C1, C2
  SmallVector<int64_t> shape(lhs.getShape());
  if (failed(mergeShape(shape, rhs.getShape()))) // C1
    return emitConstraint(location, getOperationName(), "C1", "requires operands of one shape, but got ", lhs, " and ",
                          rhs);
  // C5 leaves a choice only where both are quantized per tensor.
  types.push_back(RankedTensorType::get(shape, getQuantizedDimension(lhs.getElementType()) ? lhs.getElementType()
                                                                                           : rhs.getElementType()));
  return success();
}

LogicalResult AddOp::verify() {
  Type lhs = getLhs().getType().getElementType(), rhs = getRhs().getType().getElementType(),
       result = getType().getElementType();
  if (!isQuantized(lhs))
    return success();
  auto fail = [&](StringRef constraint) { return emitOpError("(") << constraint << ") requires "; };
  if (!isQuantized(result)) // C2
    return fail("C2") << "a quantized result, but got " << getType();
  if (getStorageType(lhs) != getStorageType(rhs) || getStorageType(lhs) != getStorageType(result)) // C3
    return fail("C3") << "one storage type, but got " << lhs << ", " << rhs << " and " << result;
  if (getExpressedType(lhs) != getExpressedType(rhs) || getExpressedType(lhs) != getExpressedType(result)) // C4
    return fail("C4") << "types that express one type, but got " << lhs << ", " << rhs << " and " << result;
  auto lhsDimension = getQuantizedDimension(lhs), rhsDimension = getQuantizedDimension(rhs),
       dimension = getQuantizedDimension(result);
  if ((lhsDimension || rhsDimension) != dimension.has_value()) // C5
    return fail("C5") << "a result quantized per axis if and only if an operand is, but got " << result;
  if (lhsDimension && lhsDimension != dimension) // C6
    return fail("C6") << "a result quantized along dimension " << *lhsDimension << ", but got " << result;
  if (rhsDimension && rhsDimension != dimension) // C7
    return fail("C7") << "a result quantized along dimension " << *rhsDimension << ", but got " << result;
  return success();
}

LogicalResult ComplexOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  if (failed(inferElementwise(getOperationName(), location, adaptor.getOperands().getTypes(), types))) // C1
    return failure();
  types[0] = withElementType(types[0], ComplexType::get(getElementTypeOrSelf(types[0]))); // C2, C3
  return success();
}

void CompareOp::build(OpBuilder &builder, OperationState &state, Value lhs, Value rhs, ComparisonDirection direction) {
  build(builder, state, lhs, rhs, ComparisonDirectionAttr::get(builder.getContext(), direction), ComparisonTypeAttr());
}

LogicalResult CompareOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  SmallVector<Type, 1> operandType;
  if (failed(inferElementwise(getOperationName(), location, adaptor.getOperands().getTypes(), operandType))) // C1, C2
    return failure();
  types.push_back(
      RankedTensorType::get(cast<RankedTensorType>(operandType[0]).getShape(), IntegerType::get(context, 1)));
  return success();
}

/// What an element type implies for a comparison.
static ComparisonType getImpliedCompareType(Type elementType) {
  if (auto integer = dyn_cast<IntegerType>(elementType))
    return integer.isUnsigned() || integer.getWidth() == 1 ? ComparisonType::UNSIGNED : ComparisonType::SIGNED;
  return ComparisonType::FLOAT;
}

ComparisonType CompareOp::getEffectiveCompareType() {
  auto type = getCompareType();
  return type && *type != ComparisonType::NOTYPE ? *type : getImpliedCompareType(getLhs().getType().getElementType());
}

LogicalResult CompareOp::verify() {
  Type elementType = getLhs().getType().getElementType();
  ComparisonType given = getEffectiveCompareType(), implied = getImpliedCompareType(elementType);
  if (given == implied || (given == ComparisonType::TOTALORDER && isa<FloatType>(elementType)))
    return success();
  return emitOpError("(C3) requires compare_type ") // C3
         << stringifyComparisonType(implied) << (isa<FloatType>(elementType) ? " or TOTALORDER" : "") << " for "
         << elementType << ", but got " << stringifyComparisonType(given);
}

//===----------------------------------------------------------------------===//
// Ternary
//===----------------------------------------------------------------------===//

LogicalResult SelectOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto pred = cast<RankedTensorType>(adaptor.getPred().getType());
  auto onTrue = cast<RankedTensorType>(adaptor.getOnTrue().getType());
  auto onFalse = cast<RankedTensorType>(adaptor.getOnFalse().getType());
  SmallVector<int64_t> shape(onTrue.getShape());
  if (!haveSameBaseline(onTrue.getElementType(), onFalse.getElementType()) ||
      failed(mergeShape(shape, onFalse.getShape()))) // C2
    return emitConstraint(location, getOperationName(), "C2", "requires on_true and on_false of one type, but got ",
                          onTrue, " and ", onFalse);
  if (pred.getRank() != 0 && failed(mergeShape(shape, pred.getShape()))) // C1
    return emitConstraint(location, getOperationName(), "C1",
                          "requires a predicate of rank 0 or of the shape of on_true, but got ", pred, " and ", onTrue);
  types.push_back(RankedTensorType::get(shape, onTrue.getElementType()));
  return success();
}

LogicalResult ClampOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  SmallVector<int64_t> shape(operand.getShape());
  for (auto [bound, name, constraint] :
       {std::tuple(adaptor.getMin(), "min", "C1"), std::tuple(adaptor.getMax(), "max", "C2")}) {
    auto type = cast<RankedTensorType>(bound.getType());
    if (type.getRank() != 0 && failed(mergeShape(shape, type.getShape()))) // C1, C2
      return emitConstraint(location, getOperationName(), constraint, "requires ", name,
                            " of rank 0 or of the operand's shape, but got ", type, " and ", operand);
    if (!haveSameBaseline(type.getElementType(), operand.getElementType())) // C3
      return emitConstraint(location, getOperationName(), "C3", "requires one element type, but got ",
                            type.getElementType(), " and ", operand.getElementType());
  }
  types.push_back(RankedTensorType::get(shape, operand.getElementType())); // C4
  return success();
}
