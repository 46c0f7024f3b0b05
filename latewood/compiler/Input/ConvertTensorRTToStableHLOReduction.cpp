// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions, the largest elements, running sums and positions of what is not zero.
#include "latewood/compiler/Dialect/StableHLO/Shapes.h"
#include "latewood/compiler/Input/ConvertTensorRTToStableHLO.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::input;
using namespace latewood::tensorrt;

static Value combine(LocBuilder &b, ReduceOperation operation, Value x, Value y) {
  Tensor l(b, x), r(b, y);
  switch (operation) {
  case ReduceOperation::kPROD:
    return l * r;
  case ReduceOperation::kMAX:
    return maximum(l, r);
  case ReduceOperation::kMIN:
    return minimum(l, r);
  default:
    return l + r;
  }
}

/// What changes nothing, as a scalar.
static Value neutral(LocBuilder &b, ReduceOperation operation, Type element) {
  auto type = RankedTensorType::get({}, element);
  bool isMax = operation == ReduceOperation::kMAX;
  if (operation != ReduceOperation::kMAX && operation != ReduceOperation::kMIN)
    return splat(b, type, operation == ReduceOperation::kPROD ? 1 : 0);
  if (isa<FloatType>(element))
    return splat(b, type, isMax ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity());
  unsigned width = element.getIntOrFloatBitWidth();
  APInt value = isMax ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width);
  return stablehlo::ConstantOp::create(b, type, DenseElementsAttr::get(type, value));
}

Tensor input::reduceAlong(const Tensor &x, ReduceOperation operation, ArrayRef<int64_t> axes) {
  LocBuilder &b = x.builder();
  SmallVector<int64_t> shape;
  for (auto [i, extent] : llvm::enumerate(x.shape()))
    if (!llvm::is_contained(axes, static_cast<int64_t>(i)))
      shape.push_back(extent);
  auto op = stablehlo::ReduceOp::create(b, TypeRange{RankedTensorType::get(shape, x.element())}, ValueRange{x},
                                        ValueRange{neutral(b, operation, x.element())}, axes);
  auto scalar = RankedTensorType::get({}, x.element());
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&op.getBody(), {}, {scalar, scalar}, {b.getLoc(), b.getLoc()});
  stablehlo::ReturnOp::create(b, combine(b, operation, body->getArgument(0), body->getArgument(1)));
  return Tensor(b, op.getResult(0));
}

/// The reduced tensor with its axes as extents of 1.
static Tensor keepAxes(const Tensor &reduced, const Tensor &x, ArrayRef<int64_t> axes) {
  LocBuilder &b = x.builder();
  SmallVector<int64_t> shape(x.shape()), dims;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (llvm::is_contained(axes, i))
      shape[i] = 1;
    else
      dims.push_back(i);
  if (!ShapedType::isDynamicShape(shape))
    return reshape(reduced, shape);
  SmallVector<Tensor> extents;
  Tensor all(b, extentsOf(b, x));
  for (int64_t i = 0; i < x.rank(); ++i)
    extents.push_back(shape[i] == 1 ? splatInteger(b, RankedTensorType::get({1}, b.getI64Type()), 1)
                                    : slice(all, 0, i, i + 1));
  return Tensor(b, stablehlo::DynamicReshapeOp::create(b, RankedTensorType::get(shape, x.element()), reduced,
                                                       concatenate(extents, 0)));
}

Tensor input::reduceAndRepeat(const Tensor &x, ReduceOperation operation, ArrayRef<int64_t> axes) {
  LocBuilder &b = x.builder();
  Tensor reduced = reduceAlong(x, operation, axes);
  SmallVector<int64_t> dims;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (!llvm::is_contained(axes, i))
      dims.push_back(i);
  if (x.type().hasStaticShape())
    return broadcast(reduced, x.shape(), dims);
  return broadcastDynamic(x.type(), reduced, extentsOf(b, x), dims);
}

/// How many elements are reduced to one, in x's element type.
static Tensor countOf(const Tensor &like, const Tensor &x, ArrayRef<int64_t> axes) {
  LocBuilder &b = x.builder();
  int64_t known = 1;
  for (int64_t axis : axes)
    known *= ShapedType::isDynamic(x.shape()[axis]) ? 1 : x.shape()[axis];
  Tensor count = number(like, static_cast<double>(known));
  if (llvm::any_of(axes, [&](int64_t axis) { return x.type().isDynamicDim(axis); })) {
    Tensor all(b, extentsOf(b, x)), product;
    for (int64_t axis : axes) {
      Tensor extent = slice(all, 0, axis, axis + 1);
      product = Value(product) ? product * extent : extent;
    }
    Tensor scalar = convert(reshape(product, {}), x.element());
    return like.type().hasStaticShape() ? broadcast(scalar, like.shape(), {})
                                        : broadcastDynamic(like.type(), scalar, extentsOf(b, like), {});
  }
  return count;
}

static Tensor lowerReduce(ReduceOp op, const Tensor &x) {
  LocBuilder &b = x.builder();
  ArrayRef<int64_t> axes = op.getReduceAxes();
  // Small integers are summed in f32, and small floats, too.
  bool isNarrow = x.element().isInteger(8);
  Tensor wide = isNarrow ? convert(x, b.getF32Type()) : x;
  Tensor reduced = reduceAlong(wide, op.getReduceOperation(), axes);
  if (op.getReduceOperation() == ReduceOperation::kAVG)
    reduced = reduced / countOf(reduced, wide, axes);
  if (isNarrow) {
    auto bounded = minimum(maximum(reduced, reduced.like(-128)), reduced.like(127));
    reduced = convert(Tensor(b, stablehlo::RoundNearestEvenOp::create(b, bounded.type(), bounded)), x.element());
  }
  return op.getKeepDimensions() ? keepAxes(reduced, x, axes) : reduced;
}

/// Elements with their positions, sorted along `axis`; of equal ones the first comes first. A NaN is larger than
/// infinity.
static std::pair<Tensor, Tensor> sortWithPositions(const Tensor &x, int64_t axis, bool isDescending) {
  LocBuilder &b = x.builder();
  Type i32 = b.getI32Type();
  Tensor positions;
  if (x.type().hasStaticShape())
    positions = iota(b, x.shape(), i32, axis);
  else
    positions = Tensor(b, stablehlo::DynamicIotaOp::create(b, x.type().clone(i32), extentsOf(b, x), axis));
  auto op = stablehlo::SortOp::create(b, TypeRange{x.type(), positions.type()}, ValueRange{x, positions}, axis,
                                      /*is_stable=*/true);
  auto value = RankedTensorType::get({}, x.element()), position = RankedTensorType::get({}, i32);
  OpBuilder::InsertionGuard guard(b);
  Block *body =
      b.createBlock(&op.getComparator(), {}, {value, value, position, position}, SmallVector<Location>(4, b.getLoc()));
  Tensor l(b, body->getArgument(0)), r(b, body->getArgument(1));
  stablehlo::ComparisonTypeAttr order;
  if (isa<FloatType>(x.element()))
    order = stablehlo::ComparisonTypeAttr::get(b.getContext(), stablehlo::ComparisonType::TOTALORDER);
  Value comesFirst = stablehlo::CompareOp::create(
      b, RankedTensorType::get({}, b.getI1Type()), l, r,
      isDescending ? stablehlo::ComparisonDirection::GT : stablehlo::ComparisonDirection::LT, order);
  stablehlo::ReturnOp::create(b, comesFirst);
  return {Tensor(b, op.getResult(0)), Tensor(b, op.getResult(1))};
}

/// The largest or smallest element along `axis` and its first position.
static Values lowerArg(Operation *op, const Tensor &x, int64_t axis, bool isMax) {
  LocBuilder &b = x.builder();
  ReduceOperation operation = isMax ? ReduceOperation::kMAX : ReduceOperation::kMIN;
  Type element = getElementTypeOrSelf(op->getResult(1));
  Tensor best = reduceAlong(x, operation, {axis}), repeated = reduceAndRepeat(x, operation, {axis});
  Tensor positions =
      x.type().hasStaticShape()
          ? iota(b, x.shape(), element, axis)
          : Tensor(b, stablehlo::DynamicIotaOp::create(b, x.type().clone(element), extentsOf(b, x), axis));
  Tensor none = number(positions, std::numeric_limits<int32_t>::max());
  // A NaN is what is found where there is one.
  Tensor isBest = isa<FloatType>(x.element()) ? (x == repeated) | (x != x) : x == repeated;
  Tensor first = reduceAlong(select(isBest, positions, none), ReduceOperation::kMIN, {axis});
  return {keepAxes(best, x, {axis}), keepAxes(first, x, {axis})};
}

static LayerResults lowerTopK(LocBuilder &b, TopKOp op) {
  if (op.getDynamicK())
    return op.emitError("'tensorrt.top_k' with a computed k cannot be computed on the CPU"), failure();
  Tensor x(b, op.getInput());
  auto axis = static_cast<int64_t>(op.getAxis()), k = static_cast<int64_t>(op.getK());
  auto [values, positions] = sortWithPositions(x, axis, op.getTopkOperation() == TopKOperation::kMAX);
  return Values{slice(values, axis, 0, k),
                convert(slice(positions, axis, 0, k), getElementTypeOrSelf(op.getIndices()))};
}

/// Running sums as a window over all that came before.
static LayerResults lowerCumulative(LocBuilder &b, CumulativeOp op) {
  Tensor x(b, op.getInput());
  auto axis = static_cast<int64_t>(op.getAxis());
  if (op.getExclusive() && !x.type().hasStaticShape())
    return op.emitError("an exclusive 'tensorrt.cumulative' of unknown extents cannot be computed on the CPU"),
           failure();
  int64_t extent = x.type().isDynamicDim(axis) ? stablehlo::kWholeWindow : x.extent(axis);
  if (extent == 0)
    return Values{x};
  SmallVector<int64_t> window(x.rank(), 1), padding(2 * x.rank(), 0);
  window[axis] = extent;
  padding[2 * axis + (op.getReverse() ? 1 : 0)] = extent - 1;
  auto paddingType = RankedTensorType::get({x.rank(), 2}, b.getI64Type());
  auto sums = stablehlo::ReduceWindowOp::create(b, TypeRange{x.type()}, ValueRange{x},
                                                ValueRange{neutral(b, ReduceOperation::kSUM, x.element())}, window, {},
                                                {}, {}, DenseIntElementsAttr::get(paddingType, padding));
  {
    auto scalar = RankedTensorType::get({}, x.element());
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&sums.getBody(), {}, {scalar, scalar}, {b.getLoc(), b.getLoc()});
    stablehlo::ReturnOp::create(b, combine(b, ReduceOperation::kSUM, body->getArgument(0), body->getArgument(1)));
  }
  Tensor result(b, sums.getResult(0));
  if (op.getExclusive()) {
    // Moved by one, a zero comes in.
    Tensor kept = op.getReverse() ? slice(result, axis, 1, extent) : slice(result, axis, 0, extent - 1);
    result = op.getReverse() ? padZeros(kept, axis, 0, 1) : padZeros(kept, axis, 1, 0);
  }
  return Values{result};
}

/// One vector of indices a dimension, as the rows of a matrix. How long they are is known when the program runs.
static Tensor lowerNonZero(LocBuilder &b, NonZeroOp op) {
  Tensor x(b, op.getInput());
  Type element = getElementTypeOrSelf(op.getResult());
  SmallVector<Type> types(x.rank(), RankedTensorType::get({ShapedType::kDynamic}, element));
  auto call = stablehlo::CustomCallOp::create(b, types, ValueRange{x},
                                              b.getNamedAttr("call_target_name", b.getStringAttr("latewood.nonzero")));
  SmallVector<Tensor> rows;
  auto row = RankedTensorType::get({1, ShapedType::kDynamic}, element);
  for (Value indices : call.getResults()) {
    Tensor shape = concatenate(
        {splatInteger(b, RankedTensorType::get({1}, b.getI64Type()), 1), Tensor(b, extentsOf(b, indices))}, 0);
    rows.push_back(Tensor(b, stablehlo::DynamicReshapeOp::create(b, row, indices, shape)));
  }
  return concatenate(rows, 0);
}

LayerResults input::lowerReduction(LocBuilder &b, Operation *op) {
  auto operand = [&](unsigned i) { return Tensor(b, op->getOperand(i)); };
  return llvm::TypeSwitch<Operation *, LayerResults>(op)
      .Case<tensorrt::ReduceOp>([&](tensorrt::ReduceOp reduce) { return Values{lowerReduce(reduce, operand(0))}; })
      .Case<ArgMaxOp>([&](ArgMaxOp arg) { return lowerArg(op, operand(0), arg.getAxis(), /*isMax=*/true); })
      .Case<ArgMinOp>([&](ArgMinOp arg) { return lowerArg(op, operand(0), arg.getAxis(), /*isMax=*/false); })
      .Case<TopKOp>([&](TopKOp top) { return lowerTopK(b, top); })
      .Case<NonZeroOp>([&](NonZeroOp layer) { return Values{lowerNonZero(b, layer)}; })
      .Case<CumulativeOp>([&](CumulativeOp cumulative) { return lowerCumulative(b, cumulative); })
      .Default([](auto) { return std::nullopt; });
}
