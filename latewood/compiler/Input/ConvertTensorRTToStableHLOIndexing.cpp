// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading and writing at computed positions. TensorRT counts negative indices from the end, and reads 0 outside.
#include "latewood/compiler/Input/ConvertTensorRTToStableHLO.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::input;
using namespace latewood::tensorrt;

Tensor input::gatherVectors(const Tensor &data, const Tensor &indices, int64_t first, RankedTensorType type) {
  LocBuilder &b = data.builder();
  int64_t length = indices.shape().back(), indexDims = indices.rank() - 1;
  SmallVector<int64_t> batching = llvm::to_vector(llvm::seq<int64_t>(0, first)),
                       indexed = llvm::to_vector(llvm::seq<int64_t>(first, first + length)), offsets,
                       sizes(data.shape());
  for (int64_t i = 0; i < first + length; ++i)
    sizes[i] = 1;
  for (int64_t i = first + length; i < data.rank(); ++i)
    offsets.push_back(indexDims + i - first - length);
  auto numbers = stablehlo::GatherDimensionNumbersAttr::get(b.getContext(), offsets, indexed, batching, batching,
                                                            indexed, indexDims);
  return Tensor(b, stablehlo::GatherOp::create(b, type, data, indices, numbers, sizes, /*indices_are_sorted=*/false));
}

/// Index vectors counted from the beginning, and where they lie inside of `data`, with one element a vector.
static std::pair<Tensor, Tensor> normalize(const Tensor &indices, const Tensor &data, int64_t first) {
  LocBuilder &b = indices.builder();
  int64_t length = indices.shape().back(), last = indices.rank() - 1;
  SmallVector<int64_t> extents(data.shape().slice(first, length));
  auto vector = RankedTensorType::get({length}, b.getI64Type());
  Tensor limit(b, stablehlo::ConstantOp::create(b, vector, DenseElementsAttr::get(vector, ArrayRef<int64_t>(extents))));
  if (!indices.element().isInteger(64))
    limit = convert(limit, indices.element());
  limit = broadcast(limit, indices.shape(), {last});
  Tensor zero = indices.like(0), fromFront = select(indices < zero, indices + limit, indices);
  Tensor inside =
      reduceAlong(convert((fromFront >= zero) & (fromFront < limit), b.getI32Type()), ReduceOperation::kMIN, {last});
  return {minimum(maximum(fromFront, zero), limit - 1.0), inside != 0.0};
}

/// Gathers, and puts 0 where a vector points outside.
static Tensor gatherOrZero(const Tensor &data, const Tensor &indices, int64_t first, RankedTensorType type) {
  auto [clamped, inside] = normalize(indices, data, first);
  Tensor gathered = gatherVectors(data, clamped, first, type);
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, indices.rank() - 1));
  return select(broadcast(inside, type.getShape(), dims), gathered, gathered.like(0));
}

static bool areStatic(Operation *op) {
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (!cast<RankedTensorType>(type).hasStaticShape())
      return op->emitError() << "'" << op->getName() << "' of a dynamic shape cannot be computed on the CPU", false;
  return true;
}

/// `indices` as vectors: one component more dimension.
static Tensor asVectors(const Tensor &indices) {
  SmallVector<int64_t> shape(indices.shape());
  shape.push_back(1);
  return reshape(indices, shape);
}

/// Full index vectors whose component `axis` is computed, all others the place itself.
static Tensor elementVectors(const Tensor &indices, int64_t axis) {
  SmallVector<Tensor> components;
  for (int64_t i = 0; i < indices.rank(); ++i)
    components.push_back(
        asVectors(i == axis ? indices : iota(indices.builder(), indices.shape(), indices.element(), i)));
  return concatenate(components, indices.rank());
}

/// Indices of any number into a table of known shape. As in the static form, but nothing is transposed.
static Tensor gatherAlong(const Tensor &data, const Tensor &indices, int64_t axis) {
  LocBuilder &b = data.builder();
  int64_t rank = indices.rank();
  Tensor zero = number(indices, 0), limit = number(indices, static_cast<double>(data.extent(axis)));
  Tensor fromFront = select(indices < zero, indices + limit, indices);
  Tensor inside = (fromFront >= zero) & (fromFront < limit);
  Tensor clamped = minimum(maximum(fromFront, zero), limit - number(indices, 1));
  SmallVector<int64_t> offsets, sizes(data.shape()), shape(data.shape().take_front(axis)), places;
  llvm::append_range(shape, indices.shape());
  llvm::append_range(shape, data.shape().drop_front(axis + 1));
  for (int64_t i = 0; i < data.rank(); ++i)
    if (i != axis)
      offsets.push_back(i < axis ? i : i + rank - 1);
  for (int64_t i = 0; i < rank; ++i)
    places.push_back(axis + i);
  sizes[axis] = 1;
  auto numbers = stablehlo::GatherDimensionNumbersAttr::get(b.getContext(), offsets, {axis}, {}, {}, {axis}, rank);
  Tensor gathered(b, stablehlo::GatherOp::create(b, RankedTensorType::get(shape, data.element()), data, clamped,
                                                 numbers, sizes, /*indices_are_sorted=*/false));
  auto mask = RankedTensorType::get(shape, b.getI1Type());
  return select(broadcastDynamic(mask, inside, extentsOf(b, gathered), places), gathered, number(gathered, 0));
}

static LayerResults lowerGather(LocBuilder &b, tensorrt::GatherOp op) {
  Tensor data(b, op.getData()), indices(b, op.getIndices());
  if (data.type().hasStaticShape() && !indices.type().hasStaticShape() && op.getNumElementWiseDims() == 0)
    return Values{gatherAlong(data, indices, static_cast<int64_t>(op.getAxis()))};
  if (!areStatic(op))
    return failure();
  auto axis = static_cast<int64_t>(op.getAxis()), elementwise = static_cast<int64_t>(op.getNumElementWiseDims());
  RankedTensorType type = op.getResult().getType();
  if (elementwise == 1) {
    int64_t common = type.getDimSize(0);
    auto repeat = [&](const Tensor &x) {
      SmallVector<int64_t> shape(x.shape());
      shape[0] = common;
      return broadcastTo(x, RankedTensorType::get(shape, x.element()));
    };
    data = repeat(data);
    indices = repeat(indices);
  }
  // The axis in front, behind the common dimension.
  SmallVector<int64_t> order, shape(indices.shape()), back;
  for (int64_t i = 0; i < elementwise; ++i)
    order.push_back(i);
  order.push_back(axis);
  for (int64_t i = elementwise; i < data.rank(); ++i)
    if (i != axis) {
      order.push_back(i);
      shape.push_back(data.extent(i));
    }
  Tensor gathered = gatherOrZero(transpose(data, order), asVectors(indices), elementwise,
                                 RankedTensorType::get(shape, data.element()));
  // [common, indices, in front of the axis, behind it] with the indices moved to the axis.
  int64_t inner = indices.rank() - elementwise, front = axis - elementwise;
  for (int64_t i = 0; i < elementwise; ++i)
    back.push_back(i);
  for (int64_t i = 0; i < front; ++i)
    back.push_back(elementwise + inner + i);
  for (int64_t i = 0; i < inner; ++i)
    back.push_back(elementwise + i);
  for (int64_t i = elementwise + inner + front; i < gathered.rank(); ++i)
    back.push_back(i);
  return Values{transpose(gathered, back)};
}

/// Writes slices at index vectors, in place of what is there. Vectors that point outside are skipped.
static Tensor scatterVectors(const Tensor &data, const Tensor &indices, const Tensor &updates) {
  LocBuilder &b = data.builder();
  int64_t length = indices.shape().back(), indexDims = indices.rank() - 1;
  SmallVector<int64_t> indexed = llvm::to_vector(llvm::seq<int64_t>(0, length)), windows;
  for (int64_t i = length; i < data.rank(); ++i)
    windows.push_back(indexDims + i - length);
  auto numbers =
      stablehlo::ScatterDimensionNumbersAttr::get(b.getContext(), windows, indexed, {}, {}, indexed, indexDims);
  SmallVector<int64_t> extents(data.shape().take_front(length));
  auto vector = RankedTensorType::get({length}, b.getI64Type());
  Tensor limit(b, stablehlo::ConstantOp::create(b, vector, DenseElementsAttr::get(vector, ArrayRef<int64_t>(extents))));
  if (!indices.element().isInteger(64))
    limit = convert(limit, indices.element());
  Tensor fromFront =
      select(indices < indices.like(0), indices + broadcast(limit, indices.shape(), {indexDims}), indices);
  auto scatter =
      stablehlo::ScatterOp::create(b, TypeRange{data.type()}, ValueRange{data}, fromFront, ValueRange{updates}, numbers,
                                   /*indices_are_sorted=*/false, /*unique_indices=*/false);
  auto scalar = RankedTensorType::get({}, data.element());
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&scatter.getUpdateComputation(), {}, {scalar, scalar}, {b.getLoc(), b.getLoc()});
  stablehlo::ReturnOp::create(b, body->getArgument(1));
  return Tensor(b, scatter.getResult(0));
}

static LayerResults lowerOneHot(LocBuilder &b, OneHotOp op) {
  RankedTensorType type = op.getResult().getType();
  Tensor indices(b, op.getIndices()), values(b, op.getValues());
  if (!type.hasStaticShape())
    return op.emitError("'tensorrt.one_hot' of a dynamic shape cannot be computed on the CPU"), failure();
  int64_t axis = static_cast<int64_t>(op.getAxis());
  if (axis < 0)
    axis += type.getRank();
  SmallVector<int64_t> dims;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (i != axis)
      dims.push_back(i);
  Tensor isOn = iota(b, type.getShape(), indices.element(), axis) == broadcast(indices, type.getShape(), dims);
  auto value = [&](int64_t i) { return broadcast(reshape(slice(values, 0, i, i + 1), {}), type.getShape(), {}); };
  return Values{select(isOn, value(1), value(0))};
}

LayerResults input::lowerIndexing(LocBuilder &b, Operation *op) {
  auto operand = [&](unsigned i) { return Tensor(b, op->getOperand(i)); };
  return llvm::TypeSwitch<Operation *, LayerResults>(op)
      .Case<tensorrt::GatherOp>([&](tensorrt::GatherOp layer) { return lowerGather(b, layer); })
      .Case<GatherNdOp>([&](GatherNdOp layer) -> LayerResults {
        if (!areStatic(op))
          return failure();
        return Values{gatherOrZero(operand(0), operand(1), static_cast<int64_t>(layer.getNumElementWiseDims()),
                                   layer.getResult().getType())};
      })
      .Case<GatherElementsOp>([&](GatherElementsOp layer) -> LayerResults {
        if (!areStatic(op))
          return failure();
        return Values{
            gatherOrZero(operand(0), elementVectors(operand(1), layer.getAxis()), 0, layer.getResult().getType())};
      })
      .Case<ScatterNdOp>([&](auto) -> LayerResults {
        if (!areStatic(op))
          return failure();
        return Values{scatterVectors(operand(0), operand(1), operand(2))};
      })
      .Case<ScatterElementsOp>([&](ScatterElementsOp layer) -> LayerResults {
        if (!areStatic(op))
          return failure();
        return Values{scatterVectors(operand(0), elementVectors(operand(1), layer.getAxis()), operand(2))};
      })
      .Case<OneHotOp>([&](OneHotOp layer) { return lowerOneHot(b, layer); })
      .Default([](auto) { return std::nullopt; });
}
