// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers, type inference and folders of layers that make tensors or move their elements.
#include "latewood/compiler/Dialect/TensorRT/ConstraintReport.h"
#include "latewood/compiler/Dialect/TensorRT/TensorRT.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::tensorrt;
using stablehlo::emitConstraint;

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Whether `vector` can hold one number for each of `rank` dimensions.
static bool hasLength(Value vector, int64_t rank) {
  return stablehlo::extentsAgree(tensorType(vector).getDimSize(0), rank);
}

static bool isPermutation(ArrayRef<int64_t> list, int64_t rank) {
  return static_cast<int64_t>(list.size()) == rank && stablehlo::areInRange(list, rank) && stablehlo::areUnique(list);
}

static SmallVector<int64_t> permute(ArrayRef<int64_t> shape, ArrayRef<int64_t> permutation) {
  return llvm::map_to_vector(permutation, [&](int64_t dimension) { return shape[dimension]; });
}

/// The number of elements, if it is known.
static std::optional<int64_t> countElements(ArrayRef<int64_t> shape) {
  return ShapedType::isDynamicShape(shape) ? std::nullopt : std::optional(ShapedType::getNumElements(shape));
}

//===----------------------------------------------------------------------===//
// constant, shape
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getWeights().getType());
  return success();
}

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &state) {
  ElementsAttr weights;
  if (parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseAttribute(weights, getWeightsAttrName(state.name), state.attributes))
    return failure();
  state.addTypes(weights.getType());
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDict((*this)->getAttrs(), {"weights"});
  printer << ' ' << getWeights();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getWeights(); }

LogicalResult ShapeOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get({tensorType(adaptor.getInput()).getRank()}, IntegerType::get(context, 64)));
  return success();
}

OpFoldResult ShapeOp::fold(FoldAdaptor) {
  RankedTensorType input = getInput().getType(), type = getResult().getType();
  if (!input.hasStaticShape() || !type.hasStaticShape())
    return nullptr;
  return DenseElementsAttr::get(type, input.getShape());
}

//===----------------------------------------------------------------------===//
// Another order or shape of the same elements
//===----------------------------------------------------------------------===//

LogicalResult ShuffleOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput());
  ConstraintReport fail{location, getOperationName()};
  SmallVector<int64_t> shape(input.getShape());
  if (std::optional<ArrayRef<int64_t>> first = adaptor.getFirstTranspose()) {
    if (!isPermutation(*first, input.getRank())) // C1
      return fail("C1", "requires a permutation of the dimensions of ", input, " as first transpose");
    shape = permute(shape, *first);
  }
  std::optional<ArrayRef<int64_t>> reshape = adaptor.getReshape();
  if (Value dynamic = adaptor.getDynamicReshape()) {
    if (reshape) // C2
      return fail("C2", "requires the new shape as an attribute or as an operand, but got both");
    int64_t rank = tensorType(dynamic).getDimSize(0);
    if (ShapedType::isDynamic(rank) || rank > kMaxRank) // C6
      return fail("C6", "requires a new shape of known length up to ", kMaxRank, ", but got ", dynamic.getType());
    std::optional<SmallVector<int64_t>> known;
    if (std::optional<SmallVector<int64_t>> constant = getConstantInts(dynamic))
      known = resolveReshape(shape, *constant, adaptor.getZeroIsPlaceholder());
    shape = known ? *known : SmallVector<int64_t>(rank, ShapedType::kDynamic);
  } else if (reshape) {
    std::optional<SmallVector<int64_t>> resolved = resolveReshape(shape, *reshape, adaptor.getZeroIsPlaceholder());
    if (!resolved) // C3, C4, C5
      return fail("C5", "requires a new shape that the elements of ", input, " fill, but got [", *reshape, "]");
    if (static_cast<int64_t>(resolved->size()) > kMaxRank) // C6
      return fail("C6", "requires a new shape of at most ", kMaxRank, " dimensions");
    shape = *resolved;
  }
  if (std::optional<ArrayRef<int64_t>> second = adaptor.getSecondTranspose()) {
    if (!isPermutation(*second, shape.size())) // C1
      return fail("C1", "requires a permutation of ", shape.size(), " dimensions as second transpose");
    shape = permute(shape, *second);
  }
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput());
  if (!isPermutation(adaptor.getPermutation(), input.getRank())) // C1
    return emitConstraint(location, getOperationName(), "C1", "requires a permutation of the dimensions of ", input);
  types.push_back(RankedTensorType::get(permute(input.getShape(), adaptor.getPermutation()), input.getElementType()));
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  bool isIdentity = llvm::equal(getPermutation(), llvm::seq<int64_t>(0, getPermutation().size()));
  return isIdentity && getInput().getType() == getType() ? OpFoldResult(getInput()) : nullptr;
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType input = getInput().getType(), result = getResult().getType();
  if (input.getElementType() != result.getElementType()) // C1
    return emitOpError("(C1) requires input and result of one element type, but got ") << input << " and " << result;
  std::optional<int64_t> before = countElements(input.getShape()), after = countElements(result.getShape());
  if (before && after && *before != *after) // C2
    return emitOpError("(C2) requires equally many elements, but got ") << input << " and " << result;
  if (!getShape() && result.getNumDynamicDims() > 1) // C3
    return emitOpError("(C3) requires 'shape' for a result of more than one unknown extent, but got ") << result;
  if (getShape() && !hasLength(getShape(), result.getRank())) // C4
    return emitOpError("(C4) requires one element of 'shape' a dimension of ")
           << result << ", but got " << getShape().getType();
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  RankedTensorType type = getResult().getType();
  if (getInput().getType() == type && type.hasStaticShape())
    return getInput();
  if (DenseElementsAttr constant = getConstant(getInput()); constant && type.hasStaticShape())
    return constant.reshape(type);
  return nullptr;
}

LogicalResult SqueezeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput());
  ArrayRef<int64_t> axes = adaptor.getAxes();
  if (!stablehlo::areInRange(axes, input.getRank()) || !stablehlo::areUnique(axes)) // C1
    return emitConstraint(location, getOperationName(), "C1", "requires different dimensions of ", input, " as axes");
  SmallVector<int64_t> shape;
  for (auto [i, extent] : llvm::enumerate(input.getShape()))
    if (!llvm::is_contained(axes, static_cast<int64_t>(i)))
      shape.push_back(extent);
    else if (!stablehlo::extentsAgree(extent, 1)) // C2
      return emitConstraint(location, getOperationName(), "C2", "requires dimensions of extent 1, but dimension ", i,
                            " of ", input, " is not");
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

LogicalResult UnsqueezeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput());
  ArrayRef<int64_t> axes = adaptor.getAxes();
  auto rank = static_cast<int64_t>(input.getRank() + axes.size());
  if (!stablehlo::areInRange(axes, rank) || !stablehlo::areUnique(axes)) // C1
    return emitConstraint(location, getOperationName(), "C1", "requires different dimensions of a result of ", rank,
                          " dimensions as axes");
  if (rank > kMaxRank) // C2
    return emitConstraint(location, getOperationName(), "C2", "requires a result of at most ", kMaxRank, " dimensions");
  SmallVector<int64_t> shape;
  for (int64_t i = 0, from = 0; i < rank; ++i)
    shape.push_back(llvm::is_contained(axes, i) ? 1 : input.getDimSize(from++));
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

LogicalResult BroadcastOp::verify() {
  RankedTensorType input = getInput().getType(), result = getResult().getType();
  ArrayRef<int64_t> dims = getBroadcastDims();
  if (input.getElementType() != result.getElementType()) // C1
    return emitOpError("(C1) requires input and result of one element type, but got ") << input << " and " << result;
  if (static_cast<int64_t>(dims.size()) != input.getRank() || !stablehlo::areInRange(dims, result.getRank()) ||
      !stablehlo::areUnique(dims) || !llvm::is_sorted(dims)) // C2
    return emitOpError("(C2) requires one dimension of ")
           << result << " for each of " << input << ", in ascending order";
  for (auto [i, dim] : llvm::enumerate(dims)) // C3
    if (input.getDimSize(i) != 1 && !stablehlo::extentsAgree(input.getDimSize(i), result.getDimSize(dim)))
      return emitOpError("(C3) requires extents that are 1 or the result's, but dimension ")
             << i << " of " << input << " is neither 1 nor that of dimension " << dim << " of " << result;
  if (getShape() ? !hasLength(getShape(), result.getRank()) : !result.hasStaticShape()) // C4
    return emitOpError("(C4) requires 'shape', of one element a dimension, for a result of unknown shape, but got ")
           << result;
  return success();
}

LogicalResult PaddingOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput());
  ArrayRef<int64_t> pre = adaptor.getPrePadding(), post = adaptor.getPostPadding();
  if (input.getRank() < 4) // C1
    return emitConstraint(location, getOperationName(), "C1", "requires an input of at least 4 dimensions, but got ",
                          input);
  if (pre.size() != 2 || post.size() != 2) // C2
    return emitConstraint(location, getOperationName(), "C2", "requires paddings of 2 dimensions");
  SmallVector<int64_t> shape(input.getShape());
  for (int64_t i = 0; i < 2; ++i) {
    int64_t &extent = shape[input.getRank() - 2 + i];
    if (ShapedType::isDynamic(extent))
      continue;
    extent += pre[i] + post[i];
    if (extent < 0) // C3
      return emitConstraint(location, getOperationName(), "C3",
                            "requires extents that do not become negative, but got ", extent);
  }
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

LogicalResult ConcatenationOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  ConstraintReport fail{location, getOperationName()};
  if (adaptor.getInputs().empty()) // C1
    return fail("C1", "requires an input");
  RankedTensorType first = tensorType(adaptor.getInputs().front());
  auto axis = static_cast<int64_t>(adaptor.getAxis());
  if (axis < 0 || axis >= first.getRank()) // C2
    return fail("C2", "requires an axis of ", first, ", but got ", axis);
  SmallVector<int64_t> shape(first.getShape());
  int64_t sum = shape[axis];
  shape[axis] = ShapedType::kDynamic;
  for (Value input : adaptor.getInputs().drop_front()) {
    RankedTensorType type = tensorType(input);
    if (type.getElementType() != first.getElementType() || type.getRank() != first.getRank()) // C1
      return fail("C1", "requires inputs of one element type and rank, but got ", first, " and ", type);
    SmallVector<int64_t> other(type.getShape());
    sum = ShapedType::isDynamic(sum) || type.isDynamicDim(axis) ? ShapedType::kDynamic : sum + other[axis];
    other[axis] = ShapedType::kDynamic;
    if (failed(stablehlo::mergeShape(shape, other))) // C3
      return fail("C3", "requires equal extents outside of axis ", axis, ", but got ", first, " and ", type);
  }
  shape[axis] = sum;
  types.push_back(RankedTensorType::get(shape, first.getElementType()));
  return success();
}

LogicalResult ReverseSequenceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                                  SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput()), lengths = tensorType(adaptor.getSequenceLens());
  auto batch = static_cast<int64_t>(adaptor.getBatchAxis()), sequence = static_cast<int64_t>(adaptor.getSequenceAxis());
  if (!stablehlo::areInRange({batch, sequence}, input.getRank()) || batch == sequence) // C1
    return emitConstraint(location, getOperationName(), "C1", "requires two dimensions of ", input, ", but got ", batch,
                          " and ", sequence);
  if (!stablehlo::extentsAgree(lengths.getDimSize(0), input.getDimSize(batch))) // C2
    return emitConstraint(location, getOperationName(), "C2", "requires one length a slice of ", input, ", but got ",
                          lengths);
  types.push_back(input);
  return success();
}

//===----------------------------------------------------------------------===//
// slice
//===----------------------------------------------------------------------===//

void SliceOp::build(OpBuilder &builder, OperationState &state, Value input, ArrayRef<int64_t> start,
                    ArrayRef<int64_t> size, ArrayRef<int64_t> stride, SampleMode mode, Value fill) {
  auto type = RankedTensorType::get(size, getElementTypeOrSelf(input));
  build(builder, state, type, input, {}, {}, {}, fill, builder.getDenseI64ArrayAttr(start),
        builder.getDenseI64ArrayAttr(size), builder.getDenseI64ArrayAttr(stride),
        SampleModeAttr::get(builder.getContext(), mode));
}

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput());
  int64_t rank = input.getRank();
  ConstraintReport fail{location, getOperationName()};
  auto hasOne = [&](Value dynamic, std::optional<ArrayRef<int64_t>> known) {
    return dynamic ? !known && hasLength(dynamic, rank) : known && static_cast<int64_t>(known->size()) == rank;
  };
  std::optional<ArrayRef<int64_t>> starts = adaptor.getStaticStart(), sizes = adaptor.getStaticSize(),
                                   strides = adaptor.getStaticStride();
  if (!hasOne(adaptor.getStart(), starts) || !hasOne(adaptor.getSize(), sizes) ||
      !hasOne(adaptor.getStride(), strides)) // C1
    return fail("C1", "requires start, size and stride as attribute or as operand, with one entry a dimension of ",
                input);
  SmallVector<int64_t> shape(rank, ShapedType::kDynamic);
  if (sizes)
    shape.assign(sizes->begin(), sizes->end());
  else if (std::optional<SmallVector<int64_t>> constant = getConstantInts(adaptor.getSize());
           constant && static_cast<int64_t>(constant->size()) == rank)
    shape = *constant;
  for (int64_t i = 0; i < rank; ++i) {
    if (ShapedType::isDynamic(shape[i]))
      continue;
    if (shape[i] < 0) // C2
      return fail("C2", "requires sizes that are not negative, but got ", shape[i]);
    int64_t extent = input.getDimSize(i);
    if (adaptor.getMode() != SampleMode::kSTRICT_BOUNDS || !starts || !strides || shape[i] == 0 ||
        ShapedType::isDynamic(extent))
      continue;
    int64_t start = (*starts)[i], last = start + (shape[i] - 1) * (*strides)[i];
    if (start < 0 || start >= extent || last < 0 || last >= extent) // C3
      return fail("C3", "requires a part inside of ", input, ", but along dimension ", i, " it goes from ", start,
                  " to ", last);
  }
  Value fill = adaptor.getFill();
  if ((adaptor.getMode() == SampleMode::kFILL) != static_cast<bool>(fill)) // C4
    return fail("C4", "requires 'fill' with kFILL, and only then");
  if (fill && (tensorType(fill).getRank() != 0 || tensorType(fill).getElementType() != input.getElementType())) // C4
    return fail("C4", "requires a scalar of ", input.getElementType(), " to fill with, but got ", fill.getType());
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

//===----------------------------------------------------------------------===//
// Fills
//===----------------------------------------------------------------------===//

/// The rule of `shape` operands of fills.
static LogicalResult checkFillShape(Operation *op, Value shape, RankedTensorType result, StringRef constraint) {
  if (static_cast<bool>(shape) == result.hasStaticShape())
    return op->emitOpError("(") << constraint << ") requires 'shape' exactly if the result's is not known, but got "
                                << result;
  if (shape && !hasLength(shape, result.getRank()))
    return op->emitOpError("(") << constraint << ") requires one element of 'shape' a dimension of " << result
                                << ", but got " << shape.getType();
  return success();
}

LogicalResult LinspaceOp::verify() {
  RankedTensorType result = getResult().getType();
  bool isStatic = getStaticStart() && getStaticStep() && !getStart() && !getStep(),
       isDynamic = getStart() && getStep() && !getStaticStart() && !getStaticStep();
  if (!isStatic && !isDynamic) // C1
    return emitOpError("(C1) requires start and step, both as attributes or both as operands");
  if (isStatic && result.getRank() != 1) // C2
    return emitOpError("(C2) requires a result of one dimension for a static step, but got ") << result;
  if (isDynamic &&
      (getElementTypeOrSelf(getStart()) != result.getElementType() ||
       getElementTypeOrSelf(getStep()) != result.getElementType() || !hasLength(getStep(), result.getRank()))) // C3
    return emitOpError("(C3) requires start and one step a dimension, of the element type of ")
           << result << ", but got " << getStart().getType() << " and " << getStep().getType();
  return checkFillShape(*this, getShape(), result, "C4"); // C4
}

static LogicalResult verifyRandom(Operation *op, Value shape, Value first, Value second, bool hasFirst, bool hasSecond,
                                  RankedTensorType result) {
  bool isStatic = hasFirst && hasSecond && !first && !second, isDynamic = first && second && !hasFirst && !hasSecond;
  if (!isStatic && !isDynamic) // C1
    return op->emitOpError("(C1) requires both parameters as attributes or both as operands");
  if (isDynamic && (getElementTypeOrSelf(first) != result.getElementType() ||
                    getElementTypeOrSelf(second) != result.getElementType())) // C2
    return op->emitOpError("(C2) requires parameters of the element type of ")
           << result << ", but got " << first.getType() << " and " << second.getType();
  return checkFillShape(op, shape, result, "C3"); // C3
}

LogicalResult RandomUniformOp::verify() {
  return verifyRandom(*this, getShape(), getLow(), getHigh(), getStaticLow().has_value(), getStaticHigh().has_value(),
                      getResult().getType());
}

LogicalResult RandomNormalOp::verify() {
  return verifyRandom(*this, getShape(), getMean(), getStd(), getStaticMean().has_value(), getStaticStd().has_value(),
                      getResult().getType());
}
