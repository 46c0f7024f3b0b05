// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What conversions to TensorRT are written in; the functions are described in LayerBuilder.h.

#include "latewood/compiler/Engines/TensorRT/LayerBuilder.h"

using namespace mlir;

namespace latewood::tensorrt {

SmallVector<int64_t> invert(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> result(permutation.size());
  for (auto [i, from] : llvm::enumerate(permutation))
    result[from] = i;
  return result;
}

bool isIdentity(ArrayRef<int64_t> permutation) {
  return llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size()));
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Value LayerBuilder::constant(ElementsAttr elements) {
  auto op = layer<ConstantOp>(1, elements);
  return op ? op.getResult() : Value();
}

Value LayerBuilder::ints(ArrayRef<int64_t> elements) {
  auto type = RankedTensorType::get({static_cast<int64_t>(elements.size())}, getI64Type());
  return constant(DenseElementsAttr::get(type, elements));
}

Value LayerBuilder::splat(RankedTensorType type, double value) {
  Type element = type.getElementType();
  if (isa<FloatType>(element))
    return constant(DenseElementsAttr::get(type, getFloatAttr(element, value)));
  return constant(DenseElementsAttr::get(type, getIntegerAttr(element, static_cast<int64_t>(value))));
}

Value LayerBuilder::like(Value value, double number) {
  if (!value)
    return {};
  return splat(RankedTensorType::get(SmallVector<int64_t>(rankOf(value), 1), elementOf(value)), number);
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

Value LayerBuilder::unary(UnaryOperation operation, Value input) {
  if (!input)
    return {};
  auto op = layer<UnaryOp>(1, input, operation);
  return op ? op.getResult() : Value();
}

Value LayerBuilder::activation(ActivationType type, Value input) {
  if (!input)
    return {};
  auto op = layer<ActivationOp>(1, input, type, FloatAttr(), FloatAttr());
  return op ? op.getResult() : Value();
}

/// Arithmetic on constant vectors of extents, or nothing.
static std::optional<SmallVector<int64_t>> fold(ElementWiseOperation operation, Value lhs, Value rhs) {
  std::optional<SmallVector<int64_t>> left = getConstantInts(lhs), right = getConstantInts(rhs);
  if (!left || !right || lhs.getType() != rhs.getType() || LayerBuilder::rankOf(lhs) != 1)
    return std::nullopt;
  SmallVector<int64_t> result;
  for (auto [l, r] : llvm::zip(*left, *right))
    switch (operation) {
    case ElementWiseOperation::kSUM:
      result.push_back(l + r);
      break;
    case ElementWiseOperation::kSUB:
      result.push_back(l - r);
      break;
    case ElementWiseOperation::kMIN:
      result.push_back(std::min(l, r));
      break;
    case ElementWiseOperation::kMAX:
      result.push_back(std::max(l, r));
      break;
    default:
      return std::nullopt;
    }
  return result;
}

Value LayerBuilder::binary(ElementWiseOperation operation, Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return {};
  if (elementOf(lhs).isInteger(64))
    if (std::optional<SmallVector<int64_t>> folded = fold(operation, lhs, rhs))
      return ints(*folded);
  int64_t rank = std::max(rankOf(lhs), rankOf(rhs));
  lhs = toRank(lhs, rank);
  rhs = toRank(rhs, rank);
  auto op = layer<ElementWiseOp>(1, lhs, rhs, operation);
  return op ? op.getResult() : Value();
}

Value LayerBuilder::select(Value condition, Value thenInput, Value elseInput) {
  if (!condition || !thenInput || !elseInput)
    return {};
  int64_t rank = std::max({rankOf(condition), rankOf(thenInput), rankOf(elseInput)});
  auto op = layer<SelectOp>(1, toRank(condition, rank), toRank(thenInput, rank), toRank(elseInput, rank));
  return op ? op.getResult() : Value();
}

Value LayerBuilder::cast(Value input, Type element) {
  if (!input || elementOf(input) == element)
    return input;
  return CastOp::create(*this, RankedTensorType::get(shapeOf(input), element), input);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Value LayerBuilder::reshape(Value input, ArrayRef<int64_t> shape) {
  if (!input || (typeOf(input).hasStaticShape() && llvm::equal(shapeOf(input), shape)))
    return input;
  return ReshapeOp::create(*this, RankedTensorType::get(shape, elementOf(input)), input, Value());
}

Value LayerBuilder::transpose(Value input, ArrayRef<int64_t> permutation) {
  if (!input || isIdentity(permutation))
    return input;
  auto op = layer<TransposeOp>(1, input, permutation);
  return op ? op.getResult() : Value();
}

Value LayerBuilder::squeeze(Value input, ArrayRef<int64_t> axes) {
  if (!input || axes.empty())
    return input;
  auto op = layer<SqueezeOp>(1, input, axes);
  return op ? op.getResult() : Value();
}

Value LayerBuilder::unsqueeze(Value input, ArrayRef<int64_t> axes) {
  if (!input || axes.empty())
    return input;
  auto op = layer<UnsqueezeOp>(1, input, axes);
  return op ? op.getResult() : Value();
}

Value LayerBuilder::toRank(Value input, int64_t rank) {
  if (!input)
    return {};
  // A constant stays one.
  if (DenseElementsAttr elements = getConstant(input);
      elements && elements.isSplat() && rankOf(input) < rank && typeOf(input).getNumElements() == 1)
    return constant(elements.reshape(RankedTensorType::get(SmallVector<int64_t>(rank, 1), elementOf(input))));
  return unsqueeze(input, llvm::to_vector(llvm::seq<int64_t>(0, rank - rankOf(input))));
}

Value LayerBuilder::broadcast(Value input, RankedTensorType type, ArrayRef<int64_t> dims, Value shape) {
  if (!input)
    return {};
  if (shape || !type.hasStaticShape() || type != input.getType())
    return BroadcastOp::create(*this, type, input, type.hasStaticShape() ? Value() : shape, dims);
  return input;
}

Value LayerBuilder::concatenate(ValueRange inputs, int64_t axis) {
  if (llvm::any_of(inputs, [](Value input) { return !input; }))
    return {};
  if (inputs.size() == 1)
    return inputs.front();
  SmallVector<int64_t> joined;
  bool isKnown = rankOf(inputs.front()) == 1 && elementOf(inputs.front()).isInteger(64);
  for (Value input : inputs)
    if (std::optional<SmallVector<int64_t>> known = isKnown ? getConstantInts(input) : std::nullopt)
      llvm::append_range(joined, *known);
    else
      isKnown = false;
  if (isKnown && joined.size() <= 2 * kMaxRank)
    return ints(joined);
  auto op = layer<ConcatenationOp>(1, inputs, axis);
  return op ? op.getResult() : Value();
}

Value LayerBuilder::slice(Value input, ArrayRef<int64_t> start, ArrayRef<int64_t> size, ArrayRef<int64_t> stride) {
  if (!input)
    return {};
  auto op = layer<SliceOp>(1, input, Value(), Value(), Value(), Value(), getDenseI64ArrayAttr(start),
                           getDenseI64ArrayAttr(size), getDenseI64ArrayAttr(stride),
                           SampleModeAttr::get(getContext(), SampleMode::kSTRICT_BOUNDS));
  return op ? op.getResult() : Value();
}

Value LayerBuilder::slice(Value input, Value start, Value size, Value stride, ArrayRef<int64_t> sizes, Value fill) {
  if (!input || !start || !stride)
    return {};
  DenseI64ArrayAttr staticStart, staticSize, staticStride;
  if (auto known = getConstantInts(start)) {
    staticStart = getDenseI64ArrayAttr(*known);
    start = {};
  }
  if (auto known = size ? getConstantInts(size) : std::optional(llvm::to_vector(sizes))) {
    staticSize = getDenseI64ArrayAttr(*known);
    size = {};
  }
  if (auto known = getConstantInts(stride)) {
    staticStride = getDenseI64ArrayAttr(*known);
    stride = {};
  }
  auto op = layer<SliceOp>(1, input, start, size, stride, fill, staticStart, staticSize, staticStride,
                           SampleModeAttr::get(getContext(), fill ? SampleMode::kFILL : SampleMode::kSTRICT_BOUNDS));
  return op ? op.getResult() : Value();
}

Value LayerBuilder::pad(Value input, Value fill, ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  if (!input || !fill)
    return {};
  if (llvm::all_of(low, [](int64_t entry) { return entry == 0; }) &&
      llvm::all_of(high, [](int64_t entry) { return entry == 0; }))
    return input;
  SmallVector<int64_t> start, size, stride(low.size(), 1);
  for (auto [i, extent] : llvm::enumerate(shapeOf(input))) {
    start.push_back(-low[i]);
    size.push_back(std::max<int64_t>(0, extent + low[i] + high[i]));
  }
  auto op =
      layer<SliceOp>(1, input, Value(), Value(), Value(), fill, getDenseI64ArrayAttr(start), getDenseI64ArrayAttr(size),
                     getDenseI64ArrayAttr(stride), SampleModeAttr::get(getContext(), SampleMode::kFILL));
  return op ? op.getResult() : Value();
}

Value LayerBuilder::shape(Value input) {
  if (!input)
    return {};
  auto op = layer<ShapeOp>(1, input);
  return op ? op.getResult() : Value();
}

Value LayerBuilder::extent(Value input, int64_t dimension) {
  if (!input)
    return {};
  if (!typeOf(input).isDynamicDim(dimension))
    return ints({typeOf(input).getDimSize(dimension)});
  return slice(shape(input), {dimension}, {1}, {1});
}

Value LayerBuilder::extents(Value input) {
  if (!input)
    return {};
  return typeOf(input).hasStaticShape() ? ints(shapeOf(input)) : shape(input);
}

Value LayerBuilder::iota(int64_t rank, int64_t axis, int64_t extent, Type element) {
  Value numbers = LinspaceOp::create(*this, RankedTensorType::get({extent}, element), Value(), Value(), Value(),
                                     getF64FloatAttr(0), getF64FloatAttr(1));
  SmallVector<int64_t> axes;
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis)
      axes.push_back(i);
  return unsqueeze(numbers, axes);
}

Value LayerBuilder::toVector(Value scalar) {
  if (!scalar)
    return {};
  if (DenseElementsAttr elements = getConstant(scalar); elements && rankOf(scalar) == 0)
    return ints(*getConstantInts(scalar));
  scalar = cast(scalar, getI64Type());
  return rankOf(scalar) == 0 ? unsqueeze(scalar, {0}) : scalar;
}

} // namespace latewood::tensorrt
