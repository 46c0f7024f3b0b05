// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers and type inference of layers that reduce, choose or find elements.
#include "latewood/compiler/Dialect/TensorRT/TensorRT.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::tensorrt;
using stablehlo::emitConstraint;

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput());
  ArrayRef<int64_t> axes = adaptor.getReduceAxes();
  if (axes.empty() || !stablehlo::areInRange(axes, input.getRank()) || !stablehlo::areUnique(axes)) // C1
    return emitConstraint(location, getOperationName(), "C1", "requires different dimensions of ", input,
                          " as axes, at least one");
  if (adaptor.getReduceOperation() == ReduceOperation::kAVG && input.getElementType().isInteger(8)) // C2
    return emitConstraint(location, getOperationName(), "C2", "requires an element type that kAVG takes, but got ",
                          input);
  SmallVector<int64_t> shape;
  for (auto [i, extent] : llvm::enumerate(input.getShape()))
    if (!llvm::is_contained(axes, static_cast<int64_t>(i)))
      shape.push_back(extent);
    else if (adaptor.getKeepDimensions())
      shape.push_back(1);
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

/// `axis` must be one of the last four dimensions (C1), of at least two: TensorRT's builder refuses vectors.
static LogicalResult checkTopKAxis(StringRef op, std::optional<Location> location, RankedTensorType input,
                                   int64_t axis) {
  if (input.getRank() < 2)
    return emitConstraint(location, op, "C1", "requires an input of at least 2 dimensions, but got ", input);
  if (axis < 0 || axis >= input.getRank() || axis < input.getRank() - 4)
    return emitConstraint(location, op, "C1", "requires one of the last four dimensions of ", input,
                          " as axis, but got ", axis);
  return success();
}

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput());
  auto axis = static_cast<int64_t>(adaptor.getAxis()), k = static_cast<int64_t>(adaptor.getK());
  if (failed(checkTopKAxis(getOperationName(), location, input, axis))) // C1
    return failure();
  SmallVector<int64_t> shape(input.getShape());
  if (k < 1 || k > kMaxTopK || (!ShapedType::isDynamic(shape[axis]) && k > shape[axis])) // C2
    return emitConstraint(location, getOperationName(), "C2", "requires k from 1 to ", kMaxTopK,
                          " and to the extent of its axis, but got ", k, " for ", input);
  shape[axis] = adaptor.getDynamicK() ? ShapedType::kDynamic : k;
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  types.push_back(RankedTensorType::get(shape, IntegerType::get(context, 32)));
  return success();
}

template <typename Op>
static LogicalResult inferArg(MLIRContext *context, std::optional<Location> location, typename Op::Adaptor adaptor,
                              SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput());
  auto axis = static_cast<int64_t>(adaptor.getAxis());
  if (failed(checkTopKAxis(Op::getOperationName(), location, input, axis))) // C1
    return failure();
  SmallVector<int64_t> shape(input.getShape());
  shape[axis] = 1;
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  types.push_back(RankedTensorType::get(shape, IntegerType::get(context, 32)));
  return success();
}

LogicalResult ArgMinOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  return inferArg<ArgMinOp>(context, location, adaptor, types);
}

LogicalResult ArgMaxOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  return inferArg<ArgMaxOp>(context, location, adaptor, types);
}

LogicalResult NonZeroOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput());
  types.push_back(RankedTensorType::get({input.getRank(), ShapedType::kDynamic}, IntegerType::get(context, 32)));
  return success();
}

LogicalResult NMSOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  RankedTensorType boxes = tensorType(adaptor.getBoxes()), scores = tensorType(adaptor.getScores());
  bool fits = boxes.getElementType() == scores.getElementType() && scores.getRank() == 3 &&
              (boxes.getRank() == 3 || boxes.getRank() == 4) && stablehlo::extentsAgree(boxes.getShape().back(), 4) &&
              stablehlo::extentsAgree(boxes.getDimSize(0), scores.getDimSize(0)) &&
              stablehlo::extentsAgree(boxes.getDimSize(1), scores.getDimSize(1)) &&
              (boxes.getRank() == 3 || stablehlo::extentsAgree(boxes.getDimSize(2), scores.getDimSize(2)));
  if (!fits) // C1
    return emitConstraint(location, getOperationName(), "C1",
                          "requires boxes of 4 numbers and scores for the same batches, boxes and classes, but got ",
                          boxes, " and ", scores);
  Type i32 = IntegerType::get(context, 32);
  types.push_back(RankedTensorType::get({ShapedType::kDynamic, 3}, i32));
  types.push_back(RankedTensorType::get({}, i32));
  return success();
}
