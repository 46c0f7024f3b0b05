// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers, type inference and formats of the ops that make tensors or move their elements. Inference runs on operands
// of checked type, but before any check of attributes: lists are never indexed before their length is known.
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace latewood::stablehlo;

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

//===----------------------------------------------------------------------===//
// constant
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getValue().getType()); // C1
  return success();
}

bool ConstantOp::isCompatibleReturnTypes(TypeRange l, TypeRange r) {
  auto value = dyn_cast<RankedTensorType>(l.front()), result = dyn_cast<RankedTensorType>(r.front());
  return value && result && areCompatible(value, result.clone(getStorageType(result.getElementType()))); // C1, C2
}

void ConstantOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getOutput(), isa<IntegerType>(getType().getElementType()) ? "c" : "cst");
}

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &state) {
  if (succeeded(parser.parseOptionalLParen())) {
    FunctionType type;
    if (parser.parseRParen() || parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type))
      return failure();
    state.addTypes(type.getResults());
    return success();
  }
  ElementsAttr value;
  if (parser.parseOptionalAttrDict(state.attributes) || parser.parseAttribute(value))
    return failure();
  state.getOrAddProperties<Properties>().value = value;
  state.addTypes(value.getType());
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  if (getValue().getType() != getType()) {
    printer << "()";
    printer.printOptionalAttrDict((*this)->getAttrs());
    printer << " : ";
    printer.printFunctionalType(*this);
    return;
  }
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
  printer << ' ' << getValueAttr();
}

//===----------------------------------------------------------------------===//
// iota, broadcast_in_dim, reshape
//===----------------------------------------------------------------------===//

LogicalResult IotaOp::verify() {
  int64_t dimension = static_cast<int64_t>(getIotaDimension());
  if (!areInRange(dimension, getType().getRank())) // C1
    return emitOpError("(C1) requires a dimension of the result, but got ") << dimension << " for " << getType();
  return success();
}

/// A per-axis quantized element type along another dimension, its parameters repeated if there is one of each only.
static Type getRepeated(Type elementType, int64_t dimension, int64_t extent) {
  auto type = cast<quant::UniformQuantizedPerAxisType>(withQuantizedDimension(elementType, dimension));
  if (type.getScales().size() != 1 || ShapedType::isDynamic(extent))
    return type;
  SmallVector<double> scales(extent, type.getScales().front());
  SmallVector<int64_t> zeroPoints(extent, type.getZeroPoints().front());
  return quant::UniformQuantizedPerAxisType::get(type.getFlags(), type.getStorageType(), type.getExpressedType(),
                                                 scales, zeroPoints, type.getQuantizedDimension(),
                                                 type.getStorageTypeMin(), type.getStorageTypeMax());
}

LogicalResult BroadcastInDimOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  ArrayRef<int64_t> dimensions = getBroadcastDimensions();
  auto axis = getQuantizedDimension(from.getElementType());
  if (!axis && from.getElementType() != to.getElementType()) // C1
    return emitOpError("(C1) requires one element type, but got ")
           << from.getElementType() << " and " << to.getElementType();
  if (failed(verifyBroadcast(*this, from, to, dimensions))) // C2 to C5
    return failure();
  if (axis && getRepeated(from.getElementType(), dimensions[*axis], to.getDimSize(dimensions[*axis])) !=
                  to.getElementType()) // C6
    return emitOpError("(C6) requires the operand's scales and zero points along dimension ")
           << dimensions[*axis] << ", but got " << from.getElementType() << " and " << to.getElementType();
  return success();
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType from = getOperand().getType(), to = getType();
  auto axis = getQuantizedDimension(from.getElementType()), toAxis = getQuantizedDimension(to.getElementType());
  if (from.getElementType() != (axis ? withQuantizedDimension(to.getElementType(), *axis) : to.getElementType())) // C1
    return emitOpError("(C1) requires one element type, but got ")
           << from.getElementType() << " and " << to.getElementType();
  if (axis && from.hasStaticShape() && to.hasStaticShape()) {
    auto product = [](ArrayRef<int64_t> extents) { return llvm::product_of(extents); };
    if (product(from.getShape().take_front(*axis)) != product(to.getShape().take_front(*toAxis)) ||
        from.getDimSize(*axis) != to.getDimSize(*toAxis)) // C3
      return emitOpError("(C3) requires equally many elements before and along the quantized dimension, but got ")
             << from << " and " << to;
  }
  if (from.hasStaticShape() && to.hasStaticShape() && from.getNumElements() != to.getNumElements()) // C2
    return emitOpError("(C2) requires equally many elements, but got ") << from << " and " << to;
  return success();
}

//===----------------------------------------------------------------------===//
// transpose, reverse, slice, concatenate, pad
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType from = tensorType(adaptor.getOperand());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  if (static_cast<int64_t>(permutation.size()) != from.getRank() || !areInRange(permutation, from.getRank()) ||
      !areUnique(permutation)) // C2
    return emitConstraint(location, getOperationName(), "C2", "requires a permutation of the operand's ",
                          from.getRank(), " dimensions");
  SmallVector<int64_t> shape; // C3
  for (int64_t dimension : permutation)
    shape.push_back(from.getDimSize(dimension));
  Type element = from.getElementType();
  if (auto axis = getQuantizedDimension(element)) // C4
    element = withQuantizedDimension(element, llvm::find(permutation, *axis) - permutation.begin());
  types.push_back(RankedTensorType::get(shape, element)); // C1
  return success();
}

LogicalResult ReverseOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  if (!areUnique(adaptor.getDimensions())) // C2
    return emitConstraint(location, getOperationName(), "C2", "requires dimensions that are all different");
  if (!areInRange(adaptor.getDimensions(), tensorType(adaptor.getOperand()).getRank())) // C3
    return emitConstraint(location, getOperationName(), "C3", "requires dimensions of the operand, ",
                          adaptor.getOperand().getType());
  types.push_back(adaptor.getOperand().getType()); // C1
  return success();
}

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  RankedTensorType from = tensorType(adaptor.getOperand());
  ArrayRef<int64_t> starts = adaptor.getStartIndices(), limits = adaptor.getLimitIndices(),
                    strides = adaptor.getStrides();
  size_t rank = from.getRank();
  if (starts.size() != rank || limits.size() != rank || strides.size() != rank) // C2
    return emitConstraint(location, getOperationName(), "C2",
                          "requires one start, limit and stride for each of the operand's ", rank, " dimensions");
  SmallVector<int64_t> shape;
  for (auto [index, start, limit, stride] : llvm::enumerate(starts, limits, strides)) {
    int64_t extent = from.getDimSize(index);
    if (start < 0 || limit < start || (!ShapedType::isDynamic(extent) && limit > extent)) // C3
      return emitConstraint(location, getOperationName(), "C3", "requires 0 <= start <= limit <= extent in dimension ",
                            index, ", but got ", start, ":", limit, " of ", from);
    if (stride <= 0) // C4
      return emitConstraint(location, getOperationName(), "C4", "requires positive strides, but got ", stride,
                            " in dimension ", index);
    shape.push_back(llvm::divideCeil(limit - start, stride)); // C5
  }
  types.push_back(RankedTensorType::get(shape, from.getElementType())); // C1
  return success();
}

LogicalResult ConcatenateOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  if (adaptor.getInputs().empty()) // C3
    return emitConstraint(location, getOperationName(), "C3", "requires at least one input");
  RankedTensorType first = tensorType(adaptor.getInputs().front());
  int64_t dimension = static_cast<int64_t>(adaptor.getDimension());
  if (!areInRange(dimension, first.getRank())) // C4
    return emitConstraint(location, getOperationName(), "C4", "requires a dimension of the inputs, but got ", dimension,
                          " for ", first);
  SmallVector<int64_t> shape(first.getShape());
  for (Value input : adaptor.getInputs().drop_front()) {
    RankedTensorType type = tensorType(input);
    if (type.getElementType() != first.getElementType()) // C1
      return emitConstraint(location, getOperationName(), "C1", "requires inputs of one element type, but got ", first,
                            " and ", type);
    SmallVector<int64_t> other(type.getShape());
    int64_t extent = ShapedType::kDynamic;
    if (other.size() == shape.size()) {
      if (!ShapedType::isDynamic(other[dimension]) && !ShapedType::isDynamic(shape[dimension]))
        extent = saturate(static_cast<__int128>(other[dimension]) + shape[dimension]);
      other[dimension] = shape[dimension] = ShapedType::kDynamic;
    }
    if (failed(mergeShape(shape, other))) // C2
      return emitConstraint(location, getOperationName(), "C2", "requires inputs that agree outside of dimension ",
                            dimension, ", but got ", first, " and ", type);
    shape[dimension] = extent; // C6
  }
  types.push_back(RankedTensorType::get(shape, first.getElementType())); // C5
  return success();
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  RankedTensorType from = tensorType(adaptor.getOperand());
  ArrayRef<int64_t> low = adaptor.getEdgePaddingLow(), high = adaptor.getEdgePaddingHigh(),
                    interior = adaptor.getInteriorPadding();
  if (from.getElementType() != tensorType(adaptor.getPaddingValue()).getElementType()) // C1
    return emitConstraint(location, getOperationName(), "C1",
                          "requires operand and padding value of one element type, but got ", from, " and ",
                          adaptor.getPaddingValue().getType());
  size_t rank = from.getRank();
  if (low.size() != rank || high.size() != rank || interior.size() != rank) // C2
    return emitConstraint(location, getOperationName(), "C2",
                          "requires one low, high and interior padding for each of the operand's ", rank,
                          " dimensions");
  SmallVector<int64_t> shape;
  for (auto [index, extent] : llvm::enumerate(from.getShape())) {
    if (interior[index] < 0) // C3
      return emitConstraint(location, getOperationName(), "C3",
                            "requires interior padding that is not negative, but got ", interior[index]);
    shape.push_back(ShapedType::kDynamic);
    if (ShapedType::isDynamic(extent))
      continue;
    __int128 between = static_cast<__int128>(std::max<int64_t>(extent - 1, 0)) * interior[index];
    shape.back() = saturate(between + low[index] + extent + high[index]); // C4
    if (shape.back() < 0)
      return emitConstraint(location, getOperationName(), "C4", "requires an extent that is not negative, but got ",
                            shape.back(), " in dimension ", index);
  }
  types.push_back(RankedTensorType::get(shape, from.getElementType()));
  return success();
}

//===----------------------------------------------------------------------===//
// get_dimension_size, set_dimension_size
//===----------------------------------------------------------------------===//

LogicalResult GetDimensionSizeOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                                   Adaptor adaptor, SmallVectorImpl<Type> &types) {
  int64_t dimension = static_cast<int64_t>(adaptor.getDimension());
  if (!areInRange(dimension, tensorType(adaptor.getOperand()).getRank())) // C1
    return emitConstraint(location, getOperationName(), "C1", "requires a dimension of the operand, but got ",
                          dimension, " for ", adaptor.getOperand().getType());
  types.push_back(RankedTensorType::get({}, IntegerType::get(context, 32)));
  return success();
}

LogicalResult SetDimensionSizeOp::verify() {
  int64_t dimension = static_cast<int64_t>(getDimension());
  RankedTensorType from = getOperand().getType(), to = getType();
  if (!areInRange(dimension, from.getRank())) // C1
    return emitOpError("(C1) requires a dimension of the operand, but got ") << dimension << " for " << from;
  SmallVector<int64_t> shape(from.getShape());
  shape[dimension] = ShapedType::kDynamic;
  if (from.getElementType() != to.getElementType() || failed(verifyCompatibleShape(shape, to.getShape())))
    return emitOpError("requires the operand's type outside of dimension ")
           << dimension << ", but got " << from << " and " << to;
  return success();
}
