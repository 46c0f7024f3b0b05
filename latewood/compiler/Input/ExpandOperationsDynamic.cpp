// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that take extents, paddings or bounds as operands. Where all types are static, the result's type says the
// extents, and the operation is its static form; where paddings and bounds are constant, too. Else the operation stays
// as it is for an engine that computes with them.
//
// A reduce_window of computed attributes is a call. Its padding becomes an operation of its own. A window of computed
// size is mostly a sum (or maximum...) of all elements so far: the window reaches back by its own size, which is that
// of the dimension. That is also the meaning of a window longer than any dimension, which has a constant size. Any
// other is a loop over the window's elements, each of which is combined for all places at once.

#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Dialect/StableHLO/Shapes.h"
#include "latewood/compiler/Input/ConstantEvaluation.h"
#include "latewood/compiler/Input/ExpandOperations.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace latewood::input {

using Results = FailureOr<SmallVector<Value>>;
using Builder = ImplicitLocOpBuilder;

namespace {

// What an expansion returns for an operation that is to stay.
Results leave() { return SmallVector<Value>{}; }

template <typename OpTy, typename... Args>
Results replacement(Builder &b, Operation *op, Args &&...args) {
  return SmallVector<Value>{OpTy::create(b, op->getResult(0).getType(), std::forward<Args>(args)...)};
}

Results expandBroadcast(Builder &b, Operation *op) {
  auto broadcast = cast<stablehlo::DynamicBroadcastInDimOp>(op);
  return replacement<stablehlo::BroadcastInDimOp>(b, op, broadcast.getOperand(), broadcast.getBroadcastDimensions());
}

Results expandReshape(Builder &b, Operation *op) { return replacement<stablehlo::ReshapeOp>(b, op, op->getOperand(0)); }

Results expandIota(Builder &b, Operation *op) {
  return replacement<stablehlo::IotaOp>(b, op, cast<stablehlo::DynamicIotaOp>(op).getIotaDimension());
}

Results expandPad(Builder &b, Operation *op) {
  auto pad = cast<stablehlo::DynamicPadOp>(op);
  auto low = evaluateIntegers(pad.getEdgePaddingLow()), high = evaluateIntegers(pad.getEdgePaddingHigh());
  auto interior = evaluateIntegers(pad.getInteriorPadding());
  if (!low || !high || !interior)
    return leave();
  return replacement<stablehlo::PadOp>(b, op, pad.getOperand(), pad.getPaddingValue(), *low, *high, *interior);
}

Results expandSlice(Builder &b, Operation *op) {
  auto slice = cast<stablehlo::RealDynamicSliceOp>(op);
  auto start = evaluateIntegers(slice.getStartIndices()), limit = evaluateIntegers(slice.getLimitIndices());
  auto strides = evaluateIntegers(slice.getStrides());
  if (start && limit && strides)
    return replacement<stablehlo::SliceOp>(b, op, slice.getOperand(), *start, *limit, *strides);
  auto isOne = [](int64_t stride) { return stride == 1; };
  if (!strides || !llvm::all_of(*strides, isOne) ||
      !cast<RankedTensorType>(op->getResult(0).getType()).hasStaticShape())
    return leave();
  // Only the offsets are computed: the size is known.
  Tensor starts(b, slice.getStartIndices());
  SmallVector<Value> offsets;
  for (int64_t dim = 0; dim < starts.extent(0); ++dim)
    offsets.push_back(reshape(input::slice(starts, 0, dim, dim + 1), {}));
  return replacement<stablehlo::DynamicSliceOp>(b, op, slice.getOperand(), offsets,
                                                cast<RankedTensorType>(op->getResult(0).getType()).getShape());
}

Results expandGather(Builder &b, Operation *op) {
  auto gather = cast<stablehlo::DynamicGatherOp>(op);
  auto sizes = evaluateIntegers(gather.getSliceSizes());
  if (!sizes)
    return leave();
  return replacement<stablehlo::GatherOp>(b, op, gather.getOperand(), gather.getStartIndices(),
                                          gather.getDimensionNumbers(), *sizes, gather.getIndicesAreSorted());
}

Results expandConvolution(Builder &b, Operation *op) {
  auto convolution = cast<stablehlo::DynamicConvOp>(op);
  auto padding = evaluateIntegers(convolution.getPadding());
  if (!padding)
    return leave();
  auto paddingType = RankedTensorType::get({static_cast<int64_t>(padding->size() / 2), 2}, b.getI64Type());
  return replacement<stablehlo::ConvolutionOp>(
      b, op, convolution.getLhs(), convolution.getRhs(), b.getDenseI64ArrayAttr(convolution.getStrides()),
      DenseIntElementsAttr::get(paddingType, *padding), b.getDenseI64ArrayAttr(convolution.getInputDilations()),
      b.getDenseI64ArrayAttr(convolution.getKernelDilations()), convolution.getWindowReversalAttr(),
      convolution.getDimensionNumbers(), convolution.getFeatureGroupCount(), convolution.getBatchGroupCount(),
      convolution.getPrecisionConfigAttr());
}

Results expandGetDimensionSize(Builder &b, Operation *op) {
  auto size = cast<stablehlo::GetDimensionSizeOp>(op);
  int64_t extent = cast<RankedTensorType>(size.getOperand().getType()).getDimSize(size.getDimension());
  return SmallVector<Value>{scalar(b, b.getI32Type(), extent)};
}

/// A tensor of static type has no elements that its extents hide.
Results expandSetDimensionSize(Builder &b, Operation *op) {
  if (op->getOperand(0).getType() != op->getResult(0).getType())
    return leave();
  return SmallVector<Value>{op->getOperand(0)};
}

/// One element of a vector, as a value plus a number.
struct Term {
  Value value;
  int64_t more = 0;

  bool isSameValueAs(Term other) {
    if (value == other.value)
      return true;
    auto size = value.getDefiningOp<stablehlo::GetDimensionSizeOp>();
    auto otherSize = other.value.getDefiningOp<stablehlo::GetDimensionSizeOp>();
    return size && otherSize && size.getOperand() == otherSize.getOperand() &&
           size.getDimension() == otherSize.getDimension();
  }
};

std::optional<Term> findTerm(Value value, int64_t index) {
  Term term;
  auto countElements = [](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getNumElements(); };
  while (Operation *op = value.getDefiningOp()) {
    if (!llvm::all_of(op->getOperandTypes(), [](Type type) {
          auto tensor = dyn_cast<RankedTensorType>(type);
          return tensor && tensor.hasStaticShape() && tensor.getElementType().isIntOrIndex();
        }))
      break;
    if (auto concatenate = dyn_cast<stablehlo::ConcatenateOp>(op)) {
      if (concatenate.getDimension() != 0)
        return std::nullopt;
      for (Value input : concatenate.getInputs()) {
        value = input;
        if (index < countElements(input))
          break;
        index -= countElements(input);
      }
    } else if (isa<stablehlo::ReshapeOp, stablehlo::ConvertOp>(op)) {
      value = op->getOperand(0);
    } else if (isa<stablehlo::AddOp, stablehlo::SubtractOp>(op)) {
      std::optional<int64_t> right = evaluateElement(op->getOperand(1), index);
      std::optional<int64_t> left = evaluateElement(op->getOperand(0), index);
      if (right)
        term.more += isa<stablehlo::AddOp>(op) ? *right : -*right;
      else if (left && isa<stablehlo::AddOp>(op))
        term.more += *left;
      else
        break;
      value = op->getOperand(right ? 0 : 1);
    } else {
      break;
    }
  }
  if (countElements(value) != 1)
    return std::nullopt;
  term.value = value;
  return term;
}

/// The dimension of a value outside of the loops around it whose extent `value` has in dimension `dim`, or null: loops
/// carry shapes unchanged, and so do elementwise operations.
Value findOutside(Value value, int64_t dim, Block *outside) {
  while (value.getParentBlock() != outside) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<stablehlo::WhileOp>(argument.getOwner()->getParentOp());
      if (!loop)
        return {};
      value = loop->getOperand(argument.getArgNumber());
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (!op->hasTrait<stablehlo::ElementwiseTrait>())
      return {};
    auto rank = cast<RankedTensorType>(value.getType()).getRank();
    auto operand = llvm::find_if(op->getOperands(), [&](Value candidate) {
      auto type = dyn_cast<RankedTensorType>(candidate.getType());
      return type && type.getRank() == rank;
    });
    if (operand == op->operand_end())
      return {};
    value = *operand;
  }
  return value;
}

/// Asserts, where the host runs, that a window of `size` reaches over dimension `dim` of `operand`.
LogicalResult assertReach(Operation *op, Term size, Value operand, int64_t dim) {
  auto function = op->getParentOfType<func::FuncOp>();
  Block *body = &function.getBody().front();
  operand = findOutside(operand, dim, body);
  Operation *ancestor = body->findAncestorOpInBlock(*op);
  if (!operand || !ancestor || size.value.getParentBlock() != body)
    return op->emitError("a window of computed size in a loop is supported only on tensors that the loop carries");
  ImplicitLocOpBuilder b(op->getLoc(), ancestor);
  Tensor reach = convert(reshape(Tensor(b, size.value), {}), b.getI64Type());
  reach = reach + scalar(b, reach.element(), static_cast<uint64_t>(size.more));
  Tensor extent = convert(extentOf(Tensor(b, operand), dim), reach.element());
  plan::AssertOp::create(
      b, reach >= extent,
      b.getStringAttr(
          "a window of {0} elements moves over {1}: only one that is as long as the dimension is supported"),
      ValueRange{reach, extent});
  return success();
}

/// A window of which anything may be computed: its elements, one after the other, each for all places at once.
Results combineShifted(Builder &b, Operation *op, func::FuncOp computation) {
  int64_t count = op->getNumResults();
  ValueRange inputs = op->getOperands().take_front(count), inits = op->getOperands().slice(count, count);
  ValueRange lists = op->getOperands().drop_front(2 * count);
  auto rank = cast<RankedTensorType>(inputs.front().getType()).getRank();
  Type i64 = b.getI64Type();
  auto vector = [&](unsigned number) {
    return convert(reshape(Tensor(b, lists[number]), {number == 4 ? 2 * rank : rank}), i64);
  };
  auto at = [](const Tensor &list, int64_t i) { return reshape(slice(list, 0, i, i + 1), {}); };
  auto join = [](ArrayRef<Tensor> numbers) {
    return concatenate(llvm::map_to_vector(numbers, [](const Tensor &x) { return reshape(x, {1}); }), 0);
  };
  Tensor sizes = vector(0), strides = vector(1), dilations = vector(3), padding = vector(4);
  Tensor interior = vector(2) - 1.0;
  SmallVector<Tensor> low, high;
  for (int64_t dim = 0; dim < rank; ++dim) {
    low.push_back(at(padding, 2 * dim));
    high.push_back(at(padding, 2 * dim + 1));
  }
  SmallVector<Value> padded;
  for (auto [input, init] : llvm::zip_equal(inputs, inits)) {
    auto type = cast<RankedTensorType>(input.getType()).clone(SmallVector<int64_t>(rank, ShapedType::kDynamic));
    padded.push_back(stablehlo::DynamicPadOp::create(b, type, input, init, join(low), join(high), interior));
  }
  // How many places there are along each dimension, and from the first to the last of them.
  Tensor zero = scalar(b, i64, 0), one = scalar(b, i64, 1), total = one;
  SmallVector<Tensor> places, reaches;
  for (int64_t dim = 0; dim < rank; ++dim) {
    Tensor size = at(sizes, dim), stride = at(strides, dim);
    Tensor free = convert(extentOf(Tensor(b, padded.front()), dim), i64) - ((size - one) * at(dilations, dim) + one);
    places.push_back(select(free < zero, zero, free / stride + one));
    reaches.push_back(select(free < zero, zero, free / stride * stride + one));
    total = total * size;
  }
  SmallVector<Tensor> state = {zero};
  for (auto [init, type] : llvm::zip_equal(inits, op->getResultTypes()))
    state.push_back(Tensor(b, stablehlo::DynamicBroadcastInDimOp::create(b, type, init, join(places),
                                                                         ArrayRef<int64_t>(), nullptr, nullptr)));
  auto goesOn = [&](ArrayRef<Tensor> values) { return values[0] < total; };
  auto step = [&](ArrayRef<Tensor> values) {
    SmallVector<Tensor> starts(rank), limits(rank);
    Tensor rest = values[0];
    for (int64_t dim = rank - 1; dim >= 0; --dim) {
      starts[dim] = remainder(rest, at(sizes, dim)) * at(dilations, dim);
      limits[dim] = starts[dim] + reaches[dim];
      rest = rest / at(sizes, dim);
    }
    SmallVector<Value> operands(ValueRange(SmallVector<Value>(values.drop_front().begin(), values.end())));
    for (auto [value, type] : llvm::zip_equal(padded, op->getResultTypes()))
      operands.push_back(stablehlo::RealDynamicSliceOp::create(b, type, value, join(starts), join(limits), strides));
    SmallVector<Tensor> next = {values[0] + one};
    for (int64_t i = 0; i < count; ++i) {
      auto map =
          stablehlo::MapOp::create(b, op->getResultTypes()[i], operands, llvm::to_vector(llvm::seq<int64_t>(0, rank)));
      cloneComputation(b, computation, map->getRegion(0));
      Operation *end = map->getRegion(0).front().getTerminator();
      end->setOperands(SmallVector<Value>{end->getOperand(i)});
      next.push_back(Tensor(b, map->getResult(0)));
    }
    return next;
  };
  SmallVector<Tensor> results = whileLoop(b, state, goesOn, step);
  return SmallVector<Value>(results.begin() + 1, results.end());
}

Results expandReduceWindow(Builder &b, Operation *op) {
  auto call = cast<stablehlo::CustomCallOp>(op);
  func::FuncOp computation = findComputation(call);
  int64_t count = op->getNumResults();
  if (count == 0 || static_cast<int64_t>(op->getNumOperands()) != 2 * count + 5 || !computation ||
      computation.getNumArguments() != 2 * count)
    return op->emitError(
        "a dynamic reduce_window takes inputs, initial values, and five lists, and names a computation");
  ValueRange inputs = op->getOperands().take_front(count), inits = op->getOperands().slice(count, count);
  ValueRange lists = op->getOperands().drop_front(2 * count);
  auto type = dyn_cast<RankedTensorType>(inputs.front().getType());
  int64_t rank = type ? type.getRank() : -1;
  auto isList = [&](Value list, int64_t length) {
    auto listType = dyn_cast<RankedTensorType>(list.getType());
    return listType && listType.hasStaticShape() && listType.getNumElements() == length &&
           listType.getElementType().isIntOrIndex();
  };
  for (auto [i, list] : llvm::enumerate(lists))
    if (!isList(list, i == 4 ? 2 * rank : rank))
      return op->emitError("the lists of a dynamic reduce_window have one entry per dimension, paddings two");

  SmallVector<int64_t> size = evaluateExtents(lists[0], rank);
  std::optional<SmallVector<int64_t>> stride = evaluateIntegers(lists[1]), base = evaluateIntegers(lists[2]);
  std::optional<SmallVector<int64_t>> dilation = evaluateIntegers(lists[3]);
  SmallVector<int64_t> padding(2 * rank, ShapedType::kDynamic);
  for (auto [i, pad] : llvm::enumerate(padding))
    pad = evaluateElement(lists[4], i).value_or(ShapedType::kDynamic);
  if (!stride || !base || !dilation)
    return combineShifted(b, op, computation);

  // Windows of computed size: of all elements so far, or from here on.
  SmallVector<std::pair<int64_t, Term>> whole;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (!isDynamic(size[dim]))
      continue;
    std::optional<Term> length = findTerm(lists[0], dim);
    bool isForward = padding[2 * dim + 1] == 0,
         isPlain = (*stride)[dim] == 1 && (*base)[dim] == 1 && (*dilation)[dim] == 1;
    std::optional<Term> reach = findTerm(lists[4], isForward ? 2 * dim : 2 * dim + 1);
    if (!length || !reach || !isPlain || (!isForward && padding[2 * dim] != 0) || !length->isSameValueAs(*reach) ||
        reach->more != length->more - 1)
      return combineShifted(b, op, computation);
    whole.push_back({dim, *length});
    size[dim] = stablehlo::kWholeWindow;
    padding[2 * dim] = isForward ? stablehlo::kWholeWindow - 1 : 0;
    padding[2 * dim + 1] = isForward ? 0 : stablehlo::kWholeWindow - 1;
  }
  for (int64_t dim = 0; dim < rank; ++dim)
    if ((isDynamic(padding[2 * dim]) || isDynamic(padding[2 * dim + 1])) && (*base)[dim] != 1)
      return combineShifted(b, op, computation);
  for (auto &[dim, length] : whole)
    if (failed(assertReach(op, length, inputs.front(), dim)))
      return failure();

  // Computed paddings.
  SmallVector<Value> padded(inputs);
  if (llvm::any_of(padding, isDynamic)) {
    auto vector = [&](unsigned side) {
      SmallVector<Tensor> parts;
      Tensor all(b, lists[4]);
      Tensor flat = reshape(all, {2 * rank});
      for (int64_t dim = 0; dim < rank; ++dim) {
        int64_t i = 2 * dim + side;
        parts.push_back(isDynamic(padding[2 * dim]) || isDynamic(padding[2 * dim + 1])
                            ? input::slice(flat, 0, i, i + 1)
                            : splatInteger(b, RankedTensorType::get({1}, all.element()), 0));
      }
      return concatenate(parts, 0);
    };
    Tensor low = vector(0), high = vector(1);
    Tensor none = splatInteger(b, low.type(), 0);
    SmallVector<int64_t> shape(type.getShape());
    for (int64_t dim = 0; dim < rank; ++dim)
      if (isDynamic(padding[2 * dim]) || isDynamic(padding[2 * dim + 1])) {
        shape[dim] = ShapedType::kDynamic;
        padding[2 * dim] = padding[2 * dim + 1] = 0;
      }
    for (auto [value, init] : llvm::zip_equal(padded, inits)) {
      auto paddedType = cast<RankedTensorType>(value.getType()).clone(shape);
      value = stablehlo::DynamicPadOp::create(b, paddedType, value, init, low, high, none);
    }
  }
  auto paddingType = RankedTensorType::get({rank, 2}, b.getI64Type());
  auto window = stablehlo::ReduceWindowOp::create(b, op->getResultTypes(), padded, inits, b.getDenseI64ArrayAttr(size),
                                                  b.getDenseI64ArrayAttr(*stride), b.getDenseI64ArrayAttr(*base),
                                                  b.getDenseI64ArrayAttr(*dilation),
                                                  DenseIntElementsAttr::get(paddingType, padding));
  cloneComputation(b, computation, window.getBody());
  return SmallVector<Value>(window.getResults());
}

/// The condition is about extents, and known; or the host asserts it.
Results expandShapeAssertion(Builder &b, Operation *op) {
  auto message = op->getAttrOfType<StringAttr>("error_message");
  if (op->getNumOperands() == 0 || op->getNumResults() != 0 || !getElementTypeOrSelf(op->getOperand(0)).isInteger(1) ||
      !message)
    return op->emitError("a shape assertion takes a condition and values, gives nothing, and has an 'error_message'");
  if (auto condition = dyn_cast_or_null<DenseIntElementsAttr>(evaluate(op->getOperand(0)))) {
    if (condition.getNumElements() == 1 && *condition.value_begin<bool>())
      return SmallVector<Value>{};
    return op->emitError() << "the shapes of this program contradict its assertion: " << message.getValue();
  }
  if (!isa<func::FuncOp>(op->getParentOp()))
    return op->emitError("a shape assertion in a branch or loop has to be on static shapes");
  plan::AssertOp::create(b, op->getOperand(0), message.getValue(), op->getOperands().drop_front());
  return SmallVector<Value>{};
}

} // namespace

void addDynamicExpansions(ExpansionTable &table) {
  table.add<stablehlo::DynamicBroadcastInDimOp>(expandBroadcast);
  table.add<stablehlo::DynamicConvOp>(expandConvolution, Dynamic::All);
  table.add<stablehlo::DynamicGatherOp>(expandGather, Dynamic::All);
  table.add<stablehlo::DynamicIotaOp>(expandIota);
  table.add<stablehlo::DynamicPadOp>(expandPad, Dynamic::All);
  table.add<stablehlo::DynamicReshapeOp>(expandReshape);
  table.add<stablehlo::GetDimensionSizeOp>(expandGetDimensionSize);
  table.add<stablehlo::RealDynamicSliceOp>(expandSlice, Dynamic::All);
  table.add<stablehlo::SetDimensionSizeOp>(expandSetDimensionSize);
  table.addCall("shape_assertion", expandShapeAssertion);
  table.addCall("stablehlo.dynamic_reduce_window", expandReduceWindow, Dynamic::All);
}

} // namespace latewood::input
