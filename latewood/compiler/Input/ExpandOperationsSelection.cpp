// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The largest elements along a dimension, and the selected ones of windows.
//
// top_k orders by value and, where values are equal, by index. Both go into one integer, value above index, so that all
// keys differ: no order has to be stable, one tensor moves instead of two, and a few largest keys are found by as many
// reductions. Floats are ordered totally: a NaN is larger than infinity (or smaller than its negative, by the NaN's
// sign), 0 is larger than -0.

#include "latewood/compiler/Dialect/CHLO/CHLO.h"
#include "latewood/compiler/Input/ExpandOperations.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace latewood::input {

using Results = FailureOr<SmallVector<Value>>;
using Builder = ImplicitLocOpBuilder;

namespace {

// The bits of floats, as signed integers in the floats' total order; and back. The map is its own inverse.
Tensor orderBits(const Tensor &bits) {
  uint64_t magnitude = llvm::maskTrailingOnes<uint64_t>(bits.width() - 1);
  return select(bits < 0.0, bits ^ bits.likeInteger(magnitude), bits);
}

Tensor flipSign(const Tensor &bits) { return bits ^ bits.likeInteger(uint64_t(1) << (bits.width() - 1)); }

// Elements as signed integers in the same order.
Tensor toOrderedInteger(const Tensor &x) {
  Builder &b = x.builder();
  if (x.element().isInteger(1))
    return convert(x, b.getI8Type());
  if (isa<FloatType>(x.element())) {
    bool isPlain = x.element().isF64() || x.element().isF16() || x.element().isBF16();
    Tensor wide = isPlain ? x : convert(x, b.getF32Type());
    return orderBits(bitcast(wide, b.getIntegerType(wide.width())));
  }
  unsigned bytes = std::max(8u, x.width());
  if (!x.element().isUnsignedInteger())
    return convert(x, b.getIntegerType(bytes));
  return flipSign(bitcast(convert(x, b.getIntegerType(bytes, /*isSigned=*/false)), b.getIntegerType(bytes)));
}

Tensor fromOrderedInteger(const Tensor &key, Type element) {
  Builder &b = key.builder();
  if (element.isInteger(1))
    return key != 0.0;
  if (isa<FloatType>(element)) {
    Type wide = key.width() == 32 ? b.getF32Type() : element;
    return convert(bitcast(orderBits(key), wide), element);
  }
  if (!element.isUnsignedInteger())
    return convert(key, element);
  return convert(bitcast(flipSign(key), b.getIntegerType(key.width(), /*isSigned=*/false)), element);
}

// A reduction over the whole row finds one more. It takes a small part of the time of one pass of a sort, of which
// there are as many as the extent has bits: measured, a sort costs as much as 60 reductions a pass.
constexpr int64_t maxUnrolledReductions = 8, maxReductionsPerPass = 32;

// The `k` largest of `keys`, which all differ, descending.
Tensor selectLargest(const Tensor &keys, int64_t k) {
  Builder &b = keys.builder();
  int64_t extent = keys.extent(-1);
  // Of an extent that is not known, the rows are taken for long.
  constexpr int64_t longRow = int64_t(1) << 12;
  if (k > maxReductionsPerPass * llvm::Log2_64_Ceil(isDynamic(extent) ? longRow : extent) ||
      (!isDynamic(extent) && extent <= 2 * maxUnrolledReductions))
    return slice(sortDescending(keys), -1, 0, k);
  SmallVector<int64_t> column(keys.shape());
  column.back() = 1;
  Tensor least = keys.likeInteger(APInt::getSignedMinValue(keys.width()).getZExtValue());
  SmallVector<int64_t> leading = llvm::to_vector(llvm::seq<int64_t>(0, keys.rank()));
  auto findBelow = [&](const Tensor &bound) {
    Tensor candidates = select(keys < broadcastLike(bound, keys, leading), keys, least);
    return reshape(maximumAlong(candidates, -1), column);
  };
  SmallVector<Tensor> found = {reshape(maximumAlong(keys, -1), column)};
  if (k <= maxUnrolledReductions) {
    while (static_cast<int64_t>(found.size()) < k)
      found.push_back(findBelow(found.back()));
    return concatenate(found, -1);
  }
  SmallVector<int64_t> shape(keys.shape());
  shape.back() = k;
  Tensor first = dynamicUpdate(splat(b, keys.type().clone(shape), 0.0), found[0], -1, scalar(b, b.getI32Type(), 0));
  auto step = [&](const Tensor &i, ArrayRef<Tensor> state) -> SmallVector<Tensor> {
    Tensor next = findBelow(state[0]);
    return {next, dynamicUpdate(state[1], next, -1, i)};
  };
  return forLoop(b, 1, k, {found[0], first}, step)[1];
}

// Sorts by a 64-bit key with the index beside it.
std::pair<Tensor, Tensor> sortPairs(const Tensor &keys, const Tensor &indices) {
  Builder &b = keys.builder();
  auto sort =
      stablehlo::SortOp::create(b, TypeRange{keys.type(), indices.type()}, ValueRange{keys, indices}, keys.rank() - 1,
                                /*is_stable=*/true);
  auto key = RankedTensorType::get({}, keys.element()), index = RankedTensorType::get({}, indices.element());
  OpBuilder::InsertionGuard guard(b);
  Block *body =
      b.createBlock(&sort.getComparator(), {}, {key, key, index, index}, SmallVector<Location>(4, b.getLoc()));
  Value comesFirst = Tensor(b, body->getArgument(0)) > Tensor(b, body->getArgument(1));
  stablehlo::ReturnOp::create(b, comesFirst);
  return {Tensor(b, sort->getResult(0)), Tensor(b, sort->getResult(1))};
}

// The first `k` elements along a dimension: a number, or a value where it is `?`.
Tensor takeFirst(const Tensor &x, int64_t k, const Tensor &value, int64_t dim = -1) {
  if (!isDynamic(k))
    return slice(x, dim, 0, k);
  Builder &b = x.builder();
  dim = dim < 0 ? dim + x.rank() : dim;
  auto one = RankedTensorType::get({1}, b.getI32Type());
  SmallVector<Tensor> limits;
  for (int64_t other = 0; other < x.rank(); ++other)
    limits.push_back(
        reshape(other == dim ? convert(reshape(value, {}), b.getI32Type()) : extentOf(x, other), one.getShape()));
  SmallVector<int64_t> shape(x.shape());
  shape[dim] = ShapedType::kDynamic;
  auto vector = [&](int64_t number) {
    return splatInteger(b, RankedTensorType::get({x.rank()}, b.getI32Type()), number);
  };
  return Tensor(b, stablehlo::RealDynamicSliceOp::create(b, x.type().clone(shape), x, vector(0), concatenate(limits, 0),
                                                         vector(1)));
}

// `value` is k where that is computed: `?`.
std::pair<Tensor, Tensor> topK(const Tensor &x, int64_t k, const Tensor &value = {}) {
  Builder &b = x.builder();
  SmallVector<int64_t> shape(x.shape());
  shape.back() = k;
  int64_t extent = x.extent(-1);
  if (isKnownEmpty(x.type().clone(shape)))
    return {splat(b, x.type().clone(shape), 0.0), splat(b, RankedTensorType::get(shape, b.getI32Type()), 0.0)};
  Tensor key = toOrderedInteger(x);
  Tensor position = iota(b, x.shape(), b.getI32Type(), x.rank() - 1);
  if (key.width() == 64) {
    auto [keys, indices] = sortPairs(key, position);
    return {fromOrderedInteger(takeFirst(keys, k, value), x.element()), takeFirst(indices, k, value)};
  }
  // Positions are not negative.
  unsigned indexBits = isDynamic(extent) ? 31 : std::max(1u, llvm::Log2_64_Ceil(extent));
  Type packed = b.getIntegerType(key.width() + indexBits <= 32 ? 32 : 64);
  uint64_t mask = llvm::maskTrailingOnes<uint64_t>(indexBits);
  // The smallest index must make the largest key. It is turned round as wide as the key is, where it has no sign.
  Tensor index = convert(position, packed);
  Tensor keys = (convert(key, packed) << indexBits) | (index ^ index.likeInteger(mask));
  Tensor largest = isDynamic(k) ? takeFirst(sortDescending(keys), k, value) : selectLargest(keys, k);
  Tensor indices = convert((largest & largest.likeInteger(mask)) ^ largest.likeInteger(mask), b.getI32Type());
  Tensor shifted(b,
                 stablehlo::ShiftRightArithmeticOp::create(b, largest.type(), largest, largest.likeInteger(indexBits)));
  return {fromOrderedInteger(convert(shifted, key.element()), x.element()), indices};
}

Results expandTopK(Builder &b, Operation *op) {
  auto [values, indices] = topK(Tensor(b, op->getOperand(0)), cast<chlo::TopKOp>(op).getK());
  return SmallVector<Value>{values, indices};
}

// k is an operand. Where it is constant, the type of the result says what it is.
Results expandDynamicTopK(Builder &b, Operation *op) {
  auto type = op->getNumResults() == 2 ? dyn_cast<RankedTensorType>(op->getResult(0).getType()) : nullptr;
  auto operand = op->getNumOperands() > 0 ? dyn_cast<RankedTensorType>(op->getOperand(0).getType()) : nullptr;
  if (!type || !operand || type.getRank() == 0 || operand.getRank() != type.getRank() ||
      (!isDynamic(operand.getShape().back()) && type.getShape().back() > operand.getShape().back()) ||
      op->getNumOperands() != 2 || operand.getElementType() != type.getElementType())
    return op->emitError("a top-k call takes the operand and k, and gives values and indices");
  auto [values, indices] = topK(Tensor(b, op->getOperand(0)), type.getShape().back(), Tensor(b, op->getOperand(1)));
  return SmallVector<Value>{values, indices};
}

// An approximation may be exact: all operands are sorted by the comparator, and the first elements kept.
Results expandApproxTopK(Builder &b, Operation *op) {
  auto call = cast<stablehlo::CustomCallOp>(op);
  unsigned count = call.getNumResults();
  auto config = call->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
  auto dim = config ? config.getAs<IntegerAttr>("reduction_dim") : nullptr;
  func::FuncOp comparator = findComputation(call);
  // The number is the result's extent, or the last operand.
  bool isComputed = call.getCallTargetName() == "stablehlo.dynamic_approx_top_k";
  if (count == 0 || call.getNumOperands() != 2 * count + isComputed || !dim || !comparator ||
      comparator.getNumArguments() != 2 * count)
    return op->emitError(
        "an ApproxTopK call needs an initial value for each operand, a comparator, and 'reduction_dim'");
  ValueRange inputs = call.getOperands().take_front(count);
  auto type = dyn_cast<RankedTensorType>(inputs.front().getType());
  if (!type || dim.getInt() < 0 || dim.getInt() >= type.getRank())
    return op->emitError("'reduction_dim' is not a dimension of the operand");
  auto sort = stablehlo::SortOp::create(b, inputs.getTypes(), inputs, dim.getInt(), /*is_stable=*/true);
  cloneComputation(b, comparator, sort.getComparator());
  SmallVector<Value> results;
  for (auto [sorted, result] : llvm::zip_equal(sort.getResults(), op->getResults())) {
    int64_t limit = cast<RankedTensorType>(result.getType()).getDimSize(dim.getInt());
    if (isDynamic(limit) && !isComputed)
      return op->emitError("an ApproxTopK call of a computed number of elements needs that number");
    if (!isDynamic(type.getDimSize(dim.getInt())) && limit > type.getDimSize(dim.getInt()))
      return op->emitError("more elements are asked for than there are");
    results.push_back(takeFirst(Tensor(b, sorted), limit, Tensor(b, call.getOperands().back()), dim.getInt()));
  }
  return results;
}

//===----------------------------------------------------------------------===//
// select_and_scatter
//===----------------------------------------------------------------------===//

// The operations of `block` on other arguments; returns what it returns.
Value emitBlock(Builder &b, Block &block, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  for (Operation &inner : block.without_terminator())
    b.clone(inner, mapping);
  return mapping.lookupOrDefault(block.getTerminator()->getOperand(0));
}

// Engines select among real numbers, and the parts of a complex one are not selected for themselves. So each window
// finds the place of its element (-1 outside of the operand), and the source is scattered to these places.
Results expandSelectAndScatter(Builder &b, Operation *operation) {
  auto op = cast<stablehlo::SelectAndScatterOp>(operation);
  Tensor operand(b, op.getOperand()), source(b, op.getSource()), init(b, op.getInitValue());
  if (!isa<ComplexType>(operand.element()))
    return SmallVector<Value>{};
  int64_t count = operand.type().getNumElements();
  Type i64 = b.getI64Type();
  SmallVector<int64_t> unit(operand.rank(), 1);
  Tensor places = reshape(iota(b, {count}, i64, 0), operand.shape());
  Tensor nowhere = scalar(b, i64, -1);
  auto windows = stablehlo::ReduceWindowOp::create(
      b, TypeRange{source.type(), source.type().clone(i64)}, ValueRange{operand, places}, ValueRange{init, nowhere},
      op.getWindowDimensions().value_or(unit), op.getWindowStridesAttr(), {}, {}, op.getPaddingAttr());
  Type number = init.type(), place = nowhere.type();
  Location loc = b.getLoc();
  {
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&windows.getBody(), {}, {number, place, number, place}, {loc, loc, loc, loc});
    Tensor first(b, body->getArgument(0)), firstPlace(b, body->getArgument(1));
    Tensor second(b, body->getArgument(2)), secondPlace(b, body->getArgument(3));
    Tensor keeps(b, emitBlock(b, op.getSelect().front(), {first, second}));
    keeps = (firstPlace >= 0.0) & ((secondPlace < 0.0) | keeps);
    stablehlo::ReturnOp::create(b, ValueRange{select(keeps, first, second), select(keeps, firstPlace, secondPlace)});
  }
  int64_t updates = source.type().getNumElements();
  auto numbers = stablehlo::ScatterDimensionNumbersAttr::get(b.getContext(), {}, {0}, {}, {}, {0}, 1);
  Tensor result = broadcast(init, {count}, {});
  Tensor selected = reshape(Tensor(b, windows.getResult(1)), {updates, 1});
  auto scatter = stablehlo::ScatterOp::create(b, TypeRange{result.type()}, ValueRange{result}, selected,
                                              ValueRange{reshape(source, {updates})}, numbers,
                                              /*indices_are_sorted=*/false, /*unique_indices=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&scatter.getUpdateComputation(), {}, {number, number}, {loc, loc});
    stablehlo::ReturnOp::create(b, emitBlock(b, op.getScatter().front(), body->getArguments()));
  }
  return SmallVector<Value>{reshape(Tensor(b, scatter.getResult(0)), operand.shape())};
}

} // namespace

void addSelectionExpansions(ExpansionTable &table) {
  table.add<chlo::TopKOp>(expandTopK, Dynamic::All);
  table.add<stablehlo::SelectAndScatterOp>(expandSelectAndScatter);
  table.addCall("ApproxTopK", expandApproxTopK, Dynamic::All);
  table.addCall("stablehlo.dynamic_approx_top_k", expandApproxTopK, Dynamic::All);
  table.addCall("stablehlo.dynamic_top_k", expandDynamicTopK, Dynamic::All);
}

} // namespace latewood::input
