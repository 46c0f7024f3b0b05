// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ragged_dot and scan: loops over groups and over slices.
//
// A product of groups multiplies all of lhs by each group's rhs and keeps, of each product, what belongs to the group.
// That takes memory for one product only, and a number of another group that is infinite or no number does no harm, as
// it would if the rest of lhs were multiplied as zeros.

#include "latewood/compiler/Dialect/CHLO/CHLO.h"
#include "latewood/compiler/Input/ExpandOperations.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace latewood::input {

using Results = FailureOr<SmallVector<Value>>;
using Builder = ImplicitLocOpBuilder;

namespace {

//===----------------------------------------------------------------------===//
// ragged_dot
//===----------------------------------------------------------------------===//

/// `list` with each entry above `removed` one less.
SmallVector<int64_t> closeGap(ArrayRef<int64_t> list, int64_t removed) {
  return llvm::map_to_vector(list, [&](int64_t entry) { return entry > removed ? entry - 1 : entry; });
}

int64_t indexOf(ArrayRef<int64_t> list, int64_t entry) { return llvm::find(list, entry) - list.begin(); }

class RaggedDot {
public:
  RaggedDot(Builder &b, chlo::RaggedDotOp op)
      : b(b), op(op), numbers(op.getRaggedDotDimensionNumbers()), lhs(b, op.getLhs()), rhs(b, op.getRhs()),
        ragged(numbers.getLhsRaggedDimensions().front()), batching(numbers.getLhsBatchingDimensions()),
        contracting(numbers.getLhsContractingDimensions()) {
    for (int64_t dim = 0; dim < lhs.rank(); ++dim)
      if (!llvm::is_contained(batching, dim) && !llvm::is_contained(contracting, dim))
        free.push_back(dim);
  }

  Value expand() {
    if (llvm::is_contained(batching, ragged))
      return multiply(lhs, rhs, numbers.getRhsBatchingDimensions(), numbers.getRhsContractingDimensions(),
                      op.getResult().getType());
    bool isContracted = llvm::is_contained(contracting, ragged);
    prefix.assign(batching.begin(), batching.end());
    ArrayRef<int64_t> kind = isContracted ? contracting : ArrayRef<int64_t>(free);
    llvm::append_range(prefix, kind.take_front(indexOf(kind, ragged)));

    // Each member of the batch has sizes of its own; the next group starts where the last one ends.
    SmallVector<int64_t> shape = llvm::map_to_vector(prefix, [&](int64_t dim) { return lhs.extent(dim); });
    auto starts = RankedTensorType::get(shape, b.getI32Type());
    Tensor sizes = convert(Tensor(b, op.getGroupSizes()), b.getI32Type());
    int64_t groups = sizes.extent(-1);
    shape.push_back(groups);
    sizes = broadcast(sizes, shape, llvm::to_vector(llvm::seq<int64_t>(shape.size() - sizes.rank(), shape.size())));

    auto step = [&](const Tensor &i, ArrayRef<Tensor> state) -> SmallVector<Tensor> {
      Tensor size = reshape(dynamicSlice(sizes, -1, i), starts.getShape()), end = state[0] + size;
      return {end, isContracted ? addSum(state[1], i, state[0], end) : addRows(state[1], i, state[0], end)};
    };
    auto type = cast<RankedTensorType>(op.getResult().getType());
    return forLoop(b, 0, groups, {splat(b, starts, 0), splat(b, type, 0)}, step)[1];
  }

private:
  /// Whether positions along a dimension of `extent` are of the group: [prefix..., extent].
  Tensor isInGroup(const Tensor &start, const Tensor &end, int64_t extent) {
    SmallVector<int64_t> shape(start.shape());
    shape.push_back(extent);
    Tensor position = iota(b, shape, b.getI32Type(), shape.size() - 1);
    return (broadcastLeading(start, shape) <= position) & (position < broadcastLeading(end, shape));
  }

  /// A free dimension is cut: the rows of group i are those of the product with its rhs.
  Tensor addRows(const Tensor &result, const Tensor &i, const Tensor &start, const Tensor &end) {
    int64_t group = numbers.getRhsGroupDimensions().front();
    SmallVector<int64_t> shape(rhs.shape());
    shape.erase(shape.begin() + group);
    Tensor own = reshape(dynamicSlice(rhs, group, i), shape);
    Tensor product(b, multiply(lhs, own, closeGap(numbers.getRhsBatchingDimensions(), group),
                               closeGap(numbers.getRhsContractingDimensions(), group), result.type()));
    SmallVector<int64_t> dims = prefix;
    dims.push_back(ragged);
    for (int64_t &dim : dims) {
      int64_t batch = indexOf(batching, dim);
      dim = batch < static_cast<int64_t>(batching.size()) ? batch : batching.size() + indexOf(free, dim);
    }
    return select(broadcast(isInGroup(start, end, lhs.extent(ragged)), result.shape(), dims), product, result);
  }

  /// A contracted dimension is cut: element i of the result is the sum over the group.
  Tensor addSum(const Tensor &result, const Tensor &i, const Tensor &start, const Tensor &end) {
    Tensor inGroup = isInGroup(start, end, lhs.extent(ragged));
    SmallVector<int64_t> lhsDims = prefix, rhsDims;
    lhsDims.push_back(ragged);
    for (int64_t dim : lhsDims) {
      size_t batch = indexOf(batching, dim);
      rhsDims.push_back(batch < batching.size() ? numbers.getRhsBatchingDimensions()[batch]
                                                : numbers.getRhsContractingDimensions()[indexOf(contracting, dim)]);
    }
    Tensor x = select(broadcast(inGroup, lhs.shape(), lhsDims), lhs, lhs.like(0)),
           y = select(broadcast(inGroup, rhs.shape(), rhsDims), rhs, rhs.like(0));
    SmallVector<int64_t> shape(result.shape());
    shape.front() = 1;
    Tensor sum(b, multiply(x, y, numbers.getRhsBatchingDimensions(), numbers.getRhsContractingDimensions(),
                           result.type().clone(result.shape().drop_front())));
    return dynamicUpdate(result, reshape(sum, shape), 0, i);
  }

  Value multiply(const Tensor &x, const Tensor &y, ArrayRef<int64_t> rhsBatching, ArrayRef<int64_t> rhsContracting,
                 Type type) {
    SmallVector<Attribute> precision;
    if (auto config = op.getPrecisionConfig())
      for (auto entry : config->getAsRange<chlo::PrecisionAttr>())
        precision.push_back(stablehlo::PrecisionAttr::get(b.getContext(), entry.getValue()));
    auto dims =
        stablehlo::DotDimensionNumbersAttr::get(b.getContext(), batching, rhsBatching, contracting, rhsContracting);
    return stablehlo::DotGeneralOp::create(b, type, x, y, dims,
                                           precision.empty() ? ArrayAttr() : b.getArrayAttr(precision),
                                           stablehlo::DotAlgorithmAttr());
  }

  Builder &b;
  chlo::RaggedDotOp op;
  chlo::RaggedDotDimensionNumbersAttr numbers;
  Tensor lhs, rhs;
  int64_t ragged;
  ArrayRef<int64_t> batching, contracting;
  /// The dimensions of lhs that are neither batched nor contracted, and those that group_sizes has.
  SmallVector<int64_t> free, prefix;
};

Results expandRaggedDot(Builder &b, Operation *op) {
  return SmallVector<Value>{RaggedDot(b, cast<chlo::RaggedDotOp>(op)).expand()};
}

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

Results expandScan(Builder &b, Operation *op) {
  auto scan = cast<chlo::ScanOp>(op);
  auto dimension = static_cast<int64_t>(scan.getDimension());
  int64_t steps = scan.getStepCount();
  size_t outputs = scan.getOutputs().size();
  // The state is the outputs, as far as they are there, and the values carried.
  SmallVector<Tensor> state;
  for (Value output : scan.getOutputs())
    state.push_back(splat(b, cast<RankedTensorType>(output.getType()), 0));
  for (Value init : scan.getInits())
    state.push_back(Tensor(b, init));

  auto step = [&](const Tensor &i, ArrayRef<Tensor> before) {
    Tensor index = scan.getIsReverse() ? i.likeInteger(steps - 1) - i : i;
    IRMapping mapping;
    Block &body = scan.getBody().front();
    for (auto [argument, input] : llvm::zip(body.getArguments(), scan.getInputs()))
      mapping.map(argument, reshape(dynamicSlice(Tensor(b, input), dimension, index),
                                    cast<RankedTensorType>(argument.getType()).getShape()));
    for (auto [argument, value] :
         llvm::zip(body.getArguments().drop_front(scan.getInputs().size()), before.drop_front(outputs)))
      mapping.map(argument, Value(value));
    for (Operation &inner : body.without_terminator())
      b.clone(inner, mapping);
    SmallVector<Tensor> after;
    for (auto [place, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
      Tensor next(b, mapping.lookupOrDefault(value));
      if (place < outputs) {
        SmallVector<int64_t> shape(before[place].shape());
        shape[dimension] = 1;
        next = dynamicUpdate(before[place], reshape(next, shape), dimension, index);
      }
      after.push_back(next);
    }
    return after;
  };
  return llvm::to_vector_of<Value>(forLoop(b, 0, steps, state, step));
}

} // namespace

void addGroupExpansions(ExpansionTable &table) {
  table.add<chlo::RaggedDotOp>(expandRaggedDot);
  table.add<chlo::ScanOp>(expandScan);
}

} // namespace latewood::input
