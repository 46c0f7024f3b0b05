// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions, sliding windows and sorting.
//
// A reducer of one operation is a reduce layer; the pair of value and index that argmax and argmin are made of is
// recognised by what its body compares. Windows are pooled in the layout of the layer, the last two or three
// dimensions; running sums are `cumulative`.
#include "latewood/compiler/Dialect/CHLO/CHLO.h"
#include "latewood/compiler/Engines/TensorRT/StableHLOToTensorRT.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::tensorrt;

//===----------------------------------------------------------------------===//
// Reducers
//===----------------------------------------------------------------------===//

/// The operation of a body that combines its two arguments by one operation, or nothing.
static std::optional<ReduceOperation> reducerOf(Block &body) {
  if (body.getNumArguments() != 2 || !llvm::hasNItems(body.without_terminator(), 1))
    return std::nullopt;
  Operation &op = body.front();
  if (op.getNumOperands() != 2 || op.getOperand(0) == op.getOperand(1) ||
      body.getTerminator()->getOperand(0) != op.getResult(0))
    return std::nullopt;
  for (Value operand : op.getOperands())
    if (!llvm::is_contained(body.getArguments(), operand))
      return std::nullopt;
  bool isBool = getElementTypeOrSelf(op.getResult(0)).isInteger(1);
  return llvm::TypeSwitch<Operation *, std::optional<ReduceOperation>>(&op)
      .Case<stablehlo::AddOp>([&](auto) { return isBool ? ReduceOperation::kMAX : ReduceOperation::kSUM; })
      .Case<stablehlo::MulOp>([&](auto) { return isBool ? ReduceOperation::kMIN : ReduceOperation::kPROD; })
      .Case<stablehlo::MaxOp>([](auto) { return ReduceOperation::kMAX; })
      .Case<stablehlo::MinOp>([](auto) { return ReduceOperation::kMIN; })
      .Case<stablehlo::OrOp>([&](auto) { return isBool ? std::optional(ReduceOperation::kMAX) : std::nullopt; })
      .Case<stablehlo::AndOp>([&](auto) { return isBool ? std::optional(ReduceOperation::kMIN) : std::nullopt; })
      .Default([](auto) { return std::nullopt; });
}

/// Whether a scalar constant changes nothing when it takes part.
static bool isNeutral(Value init, ReduceOperation operation) {
  DenseElementsAttr elements;
  if (!matchPattern(init, m_Constant(&elements)))
    return false;
  if (isa<FloatType>(elements.getElementType())) {
    APFloat value = *elements.value_begin<APFloat>();
    switch (operation) {
    case ReduceOperation::kSUM:
      return value.isZero();
    case ReduceOperation::kPROD:
      return value.isExactlyValue(1.0);
    case ReduceOperation::kMAX:
      return value.isInfinity() && value.isNegative();
    case ReduceOperation::kMIN:
      return value.isInfinity() && !value.isNegative();
    default:
      return false;
    }
  }
  APInt value = *elements.value_begin<APInt>();
  bool isBool = value.getBitWidth() == 1;
  switch (operation) {
  case ReduceOperation::kSUM:
    return value.isZero();
  case ReduceOperation::kPROD:
    return value.isOne();
  case ReduceOperation::kMAX:
    return isBool ? value.isZero() : value.isMinSignedValue();
  case ReduceOperation::kMIN:
    return isBool ? value.isOne() : value.isMaxSignedValue();
  default:
    return false;
  }
}

static ElementWiseOperation combinerOf(ReduceOperation operation) {
  switch (operation) {
  case ReduceOperation::kSUM:
    return ElementWiseOperation::kSUM;
  case ReduceOperation::kPROD:
    return ElementWiseOperation::kPROD;
  case ReduceOperation::kMAX:
    return ElementWiseOperation::kMAX;
  default:
    return ElementWiseOperation::kMIN;
  }
}

static Value reduce(LayerBuilder &b, Value input, ReduceOperation operation, ArrayRef<int64_t> axes,
                    bool keep = false) {
  if (!input)
    return {};
  auto op = b.layer<ReduceOp>(1, input, axes, keep, operation);
  return op ? op.getResult() : Value();
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

namespace {
/// A reduction of values and positions to the largest (or smallest) value and its smallest position.
struct ArgReduction {
  bool isMax;
  /// Whether the positions count along the reduced dimension: else they are any numbers.
  bool counts;
};
} // namespace

static bool countsAlong(Value positions, int64_t axis) {
  while (auto broadcast = positions.getDefiningOp<stablehlo::BroadcastInDimOp>()) {
    auto found = llvm::find(broadcast.getBroadcastDimensions(), axis);
    if (found == broadcast.getBroadcastDimensions().end())
      return false;
    axis = found - broadcast.getBroadcastDimensions().begin();
    positions = broadcast.getOperand();
  }
  auto iota = positions.getDefiningOp<stablehlo::IotaOp>();
  return iota && static_cast<int64_t>(iota.getIotaDimension()) == axis;
}

static std::optional<ArgReduction> asArg(stablehlo::ReduceOp op) {
  Block &body = op.getBody().front();
  if (op.getInputs().size() != 2 || body.getNumArguments() != 4 || op.getDimensions().size() != 1)
    return std::nullopt;
  auto value = dyn_cast_or_null<stablehlo::SelectOp>(body.getTerminator()->getOperand(0).getDefiningOp());
  auto position = dyn_cast_or_null<stablehlo::SelectOp>(body.getTerminator()->getOperand(1).getDefiningOp());
  if (!value || !position || value.getOnTrue() != body.getArgument(0) || value.getOnFalse() != body.getArgument(2) ||
      position.getOnTrue() != body.getArgument(1) || position.getOnFalse() != body.getArgument(3))
    return std::nullopt;
  std::optional<bool> isMax;
  bool takesFirst = false;
  for (auto compare : body.getOps<stablehlo::CompareOp>()) {
    auto direction = compare.getComparisonDirection();
    if (compare.getLhs() == body.getArgument(0) && compare.getRhs() == body.getArgument(2)) {
      if (direction == stablehlo::ComparisonDirection::GT || direction == stablehlo::ComparisonDirection::GE)
        isMax = true;
      else if (direction == stablehlo::ComparisonDirection::LT || direction == stablehlo::ComparisonDirection::LE)
        isMax = false;
    }
    takesFirst |= compare.getLhs() == body.getArgument(1) && compare.getRhs() == body.getArgument(3) &&
                  direction == stablehlo::ComparisonDirection::LT;
  }
  if (!isMax || !takesFirst)
    return std::nullopt;
  return ArgReduction{*isMax, countsAlong(op.getInputs()[1], op.getDimensions()[0])};
}

static Results convertArg(LayerBuilder &b, stablehlo::ReduceOp op, ArgReduction arg) {
  Value input = b.map(op.getInputs()[0]), payload = b.map(op.getInputs()[1]);
  int64_t axis = op.getDimensions()[0];
  Type positions = b.elementOf(payload);
  if (!positions.isInteger(32) && !positions.isInteger(64))
    return b.fail("TensorRT gives positions in i32 and i64 only");
  // Only the last four dimensions can be searched.
  int64_t rank = b.rankOf(input);
  if (!arg.counts || axis < rank - 4) {
    ReduceOperation operation = arg.isMax ? ReduceOperation::kMAX : ReduceOperation::kMIN;
    Value best = reduce(b, input, operation, {axis}, /*keep=*/true);
    Value isBest = b.binary(ElementWiseOperation::kEQUAL, input, best);
    if (isa<FloatType>(b.elementOf(input)))
      isBest = b.binary(ElementWiseOperation::kOR, isBest, b.unary(UnaryOperation::kISNAN, input));
    auto last = RankedTensorType::get(SmallVector<int64_t>(rank, 1), positions);
    Value none = b.constant(DenseElementsAttr::get(last, APInt::getSignedMaxValue(positions.getIntOrFloatBitWidth())));
    Value first = reduce(b, b.select(isBest, payload, none), ReduceOperation::kMIN, {axis});
    best = b.squeeze(best, {axis});
    return best && first ? Results({best, first}) : Results(failure());
  }
  // The layer searches matrices: a vector becomes a row.
  bool isVector = rank == 1;
  if (isVector) {
    input = b.unsqueeze(input, {0});
    axis = 1;
  }
  SmallVector<int64_t> dropped = isVector ? SmallVector<int64_t>{0, 1} : SmallVector<int64_t>{axis};
  Value values, indices;
  auto take = [&](auto layer) {
    if (layer) {
      values = b.squeeze(layer.getValues(), dropped);
      indices = b.cast(b.squeeze(layer.getIndices(), dropped), positions);
    }
  };
  if (arg.isMax)
    take(b.layer<ArgMaxOp>(2, input, static_cast<uint64_t>(axis)));
  else
    take(b.layer<ArgMinOp>(2, input, static_cast<uint64_t>(axis)));
  return values && indices ? Results({values, indices}) : Results(failure());
}

static Results convertReduce(LayerBuilder &b, stablehlo::ReduceOp op) {
  if (std::optional<ArgReduction> arg = asArg(op))
    return convertArg(b, op, *arg);
  if (op.getInputs().size() != 1)
    return b.fail("a reduction of several tensors at once, which is no argmax or argmin");
  std::optional<ReduceOperation> operation = reducerOf(op.getBody().front());
  if (!operation)
    return b.fail("a reducer that is no sum, product, maximum or minimum");
  Value input = b.map(op.getInputs()[0]), init = op.getInitValues()[0];
  Type element = b.elementOf(input), wide = getElementTypeOrSelf(op.getResult(0));
  if (op.getDimensions().empty())
    return Results({b.binary(combinerOf(*operation), input, b.map(init))});
  bool isBool = element.isInteger(1);
  Value result =
      reduce(b, isBool ? b.cast(input, b.getI32Type()) : b.cast(input, wide), *operation, op.getDimensions());
  if (!isNeutral(init, *operation)) {
    Value start = b.map(init);
    result = b.binary(combinerOf(*operation), result, isBool ? b.cast(start, b.getI32Type()) : b.cast(start, wide));
  }
  if (isBool)
    result = b.logicalNot(b.binary(ElementWiseOperation::kEQUAL, result, b.like(result, 0)));
  return result ? Results({result}) : Results(failure());
}

//===----------------------------------------------------------------------===//
// reduce_window
//===----------------------------------------------------------------------===//

static Results convertWindow(LayerBuilder &b, stablehlo::ReduceWindowOp op) {
  if (op.getInputs().size() != 1)
    return b.fail("windows of several tensors at once");
  std::optional<ReduceOperation> operation = reducerOf(op.getBody().front());
  if (!operation || !isNeutral(op.getInitValues()[0], *operation))
    return b.fail("windows with a reducer that is no sum, maximum or minimum, or that begin with another value");
  Value input = b.map(op.getInputs()[0]);
  RankedTensorType type = b.typeOf(input);
  Type element = type.getElementType();
  int64_t rank = type.getRank();
  auto orOnes = [&](std::optional<ArrayRef<int64_t>> list) {
    return list ? llvm::to_vector(*list) : SmallVector<int64_t>(rank, 1);
  };
  SmallVector<int64_t> window(op.getWindowDimensions()), stride = orOnes(op.getWindowStrides()), low(rank, 0),
                                                         high(rank, 0);
  auto areOnes = [](ArrayRef<int64_t> list) { return llvm::all_of(list, [](int64_t entry) { return entry == 1; }); };
  if (!areOnes(orOnes(op.getBaseDilations())) || !areOnes(orOnes(op.getWindowDilations())))
    return b.fail("TensorRT has no windows with gaps");
  if (auto padding = op.getPadding())
    for (auto [i, entry] : llvm::enumerate(padding->getValues<int64_t>()))
      (i % 2 ? high : low)[i / 2] = entry;
  SmallVector<int64_t> moved;
  for (int64_t i = 0; i < rank; ++i)
    if (window[i] != 1 || stride[i] != 1 || low[i] != 0 || high[i] != 0)
      moved.push_back(i);

  // A window over all that came before is a running sum.
  if (moved.size() == 1 && *operation == ReduceOperation::kSUM && !element.isInteger(1)) {
    int64_t i = moved[0], extent = type.getDimSize(i), before = window[i] - 1;
    bool isForward = low[i] == before && high[i] == 0, isReverse = low[i] == 0 && high[i] == before;
    bool isWhole = window[i] >= (ShapedType::isDynamic(extent) ? stablehlo::kWholeWindow : extent);
    if (isWhole && stride[i] == 1 && (isForward || isReverse) && before > 0) {
      auto layer =
          b.layer<CumulativeOp>(1, input, static_cast<uint64_t>(i), CumulativeOperation::kSUM, false, isReverse);
      return layer ? Results({layer.getResult()}) : Results(failure());
    }
  }
  if (!element.isF32() && !element.isF16() && !element.isBF16())
    return b.fail("TensorRT pools f32, f16 and bf16 only");
  if (moved.size() > 3)
    return b.fail("TensorRT pools along two or three dimensions");
  if (*operation == ReduceOperation::kPROD)
    return b.fail("TensorRT has no products of windows");
  if (moved.empty())
    return Results({input});
  if (llvm::any_of(low, [](int64_t entry) { return entry < 0; }) ||
      llvm::any_of(high, [](int64_t entry) { return entry < 0; }))
    return b.fail("windows over a tensor that is cut");

  // The pooled dimensions last, at least two of them, behind at least one other. Minima are maxima of the negation.
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(moved, i))
      order.push_back(i);
  llvm::append_range(order, moved);
  bool isMin = *operation == ReduceOperation::kMIN;
  Value x = b.transpose(isMin ? b.unary(UnaryOperation::kNEG, input) : input, order);
  SmallVector<int64_t> sizes, strides, pre, post;
  for (int64_t i : moved) {
    sizes.push_back(window[i]);
    strides.push_back(stride[i]);
    pre.push_back(low[i]);
    post.push_back(high[i]);
  }
  SmallVector<int64_t> added;
  if (moved.size() == 1) {
    added.push_back(rank);
    for (auto *list : {&sizes, &strides})
      list->push_back(1);
    pre.push_back(0);
    post.push_back(0);
  }
  x = b.unsqueeze(x, added);
  bool needsBatch = x && b.rankOf(x) < static_cast<int64_t>(sizes.size()) + 2;
  SmallVector<int64_t> front;
  if (needsBatch)
    for (int64_t i = 0, e = sizes.size() + 2 - b.rankOf(x); i < e; ++i)
      front.push_back(i);
  x = b.unsqueeze(x, front);
  // Padding as wide as the window is padding of the tensor.
  bool isWide = llvm::any_of(llvm::zip(sizes, pre, post), [](auto entry) {
    return std::max(std::get<1>(entry), std::get<2>(entry)) >= std::get<0>(entry);
  });
  if (isWide) {
    if (!x || !b.typeOf(x).hasStaticShape())
      return b.fail("padding that is wider than the window, of a dynamic shape");
    SmallVector<int64_t> fullLow(b.rankOf(x) - pre.size(), 0), fullHigh(fullLow);
    llvm::append_range(fullLow, pre);
    llvm::append_range(fullHigh, post);
    double fill = *operation == ReduceOperation::kSUM ? 0.0 : -std::numeric_limits<double>::infinity();
    x = b.pad(x, b.splat(RankedTensorType::get({}, element), fill), fullLow, fullHigh);
    llvm::fill(pre, 0);
    llvm::fill(post, 0);
  }
  if (!x)
    return failure();
  bool isSum = *operation == ReduceOperation::kSUM;
  auto layer = b.layer<PoolingOp>(1, x, sizes, strides, pre, post, isSum ? PoolingType::kAVERAGE : PoolingType::kMAX,
                                  FloatAttr(),
                                  /*averageCountExcludesPadding=*/false);
  Value result = layer ? layer.getResult() : Value();
  if (isSum && result) {
    double count = 1;
    for (int64_t size : sizes)
      count *= static_cast<double>(size);
    result = b.mul(result, b.like(result, count));
  }
  if (isMin)
    result = b.unary(UnaryOperation::kNEG, result);
  result = b.squeeze(result, front);
  if (!added.empty() && result)
    result = b.squeeze(result, {b.rankOf(result) - 1});
  result = b.transpose(result, invert(order));
  return result ? Results({result}) : Results(failure());
}

//===----------------------------------------------------------------------===//
// sort, top_k
//===----------------------------------------------------------------------===//

/// Whether a comparator puts the larger of its first two arguments first (true) or last (false), or nothing if it is
/// another one. Floats may be made canonical first, as JAX does: what is compared comes from the argument by selections
/// alone.
static std::optional<bool> isDescending(Block &body) {
  auto compare = dyn_cast_or_null<stablehlo::CompareOp>(body.getTerminator()->getOperand(0).getDefiningOp());
  if (!compare)
    return std::nullopt;
  std::function<Value(Value)> origin = [&](Value value) -> Value {
    if (auto select = value.getDefiningOp<stablehlo::SelectOp>())
      return origin(select.getOnFalse());
    return value;
  };
  Value lhs = origin(compare.getLhs()), rhs = origin(compare.getRhs());
  bool inOrder = lhs == body.getArgument(0) && rhs == body.getArgument(1);
  bool swapped = lhs == body.getArgument(1) && rhs == body.getArgument(0);
  if (!inOrder && !swapped)
    return std::nullopt;
  switch (compare.getComparisonDirection()) {
  case stablehlo::ComparisonDirection::LT:
    return swapped;
  case stablehlo::ComparisonDirection::GT:
    return inOrder;
  default:
    return std::nullopt;
  }
}

static Results topK(LayerBuilder &b, Value input, int64_t k, int64_t axis, bool isLargest, Type positions) {
  int64_t rank = b.rankOf(input);
  if (axis < rank - 4)
    return b.fail("TensorRT sorts along the last four dimensions only");
  // The layer sorts matrices: a vector becomes a row.
  bool isVector = rank == 1;
  if (isVector) {
    input = b.unsqueeze(input, {0});
    axis = 1;
  }
  auto layer = b.layer<TopKOp>(2, input, Value(), static_cast<uint64_t>(k), static_cast<uint64_t>(axis),
                               isLargest ? TopKOperation::kMAX : TopKOperation::kMIN);
  if (!layer)
    return failure();
  Value values = layer.getValues(), indices = b.cast(layer.getIndices(), positions);
  if (isVector) {
    values = b.squeeze(values, {0});
    indices = b.squeeze(indices, {0});
  }
  return Results({values, indices});
}

static Results convertSort(LayerBuilder &b, stablehlo::SortOp op) {
  Value keys = b.map(op.getInputs()[0]);
  int64_t rank = b.rankOf(keys), axis = static_cast<int64_t>(op.getDimension());
  if (axis < 0)
    axis += rank;
  std::optional<bool> descending = isDescending(op.getComparator().front());
  if (!descending)
    return b.fail("a comparator that does not order by the first tensor's elements");
  if (op.getInputs().size() > 1 && op.getIsStable())
    return b.fail("TensorRT does not keep the order of equal elements, which a stable sort of several tensors needs");
  if (b.typeOf(keys).isDynamicDim(axis))
    return b.fail("TensorRT sorts extents that are known only");
  int64_t extent = b.shapeOf(keys)[axis];
  if (extent > kMaxTopK || extent == 0)
    return b.fail("TensorRT sorts 1 to 3840 elements, but here are " + Twine(extent));
  Results sorted = topK(b, keys, extent, axis, *descending, b.getI32Type());
  if (failed(sorted))
    return failure();
  SmallVector<Value> results{(*sorted)[0]};
  for (Value payload : op.getInputs().drop_front()) {
    auto layer = b.layer<GatherElementsOp>(1, b.map(payload), (*sorted)[1], static_cast<uint64_t>(axis));
    if (!layer)
      return failure();
    results.push_back(layer.getResult());
  }
  return Results(results);
}

Conversion tensorrt::convertReduction(LayerBuilder &b, Operation *op) {
  return llvm::TypeSwitch<Operation *, Conversion>(op)
      .Case<stablehlo::ReduceOp>([&](stablehlo::ReduceOp reduce) { return convertReduce(b, reduce); })
      .Case<stablehlo::ReduceWindowOp>([&](stablehlo::ReduceWindowOp window) { return convertWindow(b, window); })
      .Case<stablehlo::SortOp>([&](stablehlo::SortOp sort) { return convertSort(b, sort); })
      .Case<chlo::TopKOp>([&](chlo::TopKOp top) {
        Value input = b.map(top.getOperand());
        return topK(b, input, static_cast<int64_t>(top.getK()), b.rankOf(input) - 1, true,
                    getElementTypeOrSelf(top.getIndices()));
      })
      .Default([](auto) { return std::nullopt; });
}
