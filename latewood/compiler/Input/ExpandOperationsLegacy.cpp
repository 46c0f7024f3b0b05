// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that the specification has left: special cases of dot_general, broadcast_in_dim and gather.

#include "latewood/compiler/Dialect/StableHLO/Einsum.h"
#include "latewood/compiler/Input/ExpandOperations.h"

using namespace mlir;

namespace latewood::input {

using Results = FailureOr<SmallVector<Value>>;
using Builder = ImplicitLocOpBuilder;

namespace {

Results expandBroadcast(Builder &b, Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  int64_t rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
  auto dims = llvm::to_vector(llvm::seq<int64_t>(type.getRank() - rank, type.getRank()));
  return SmallVector<Value>{
      stablehlo::BroadcastInDimOp::create(b, type, op->getOperand(0), b.getDenseI64ArrayAttr(dims))};
}

Results expandDot(Builder &b, Operation *op) {
  auto dot = cast<stablehlo::DotOp>(op);
  auto numbers =
      stablehlo::DotDimensionNumbersAttr::get(b.getContext(), {}, {}, {dot.getLhs().getType().getRank() - 1}, {0});
  return SmallVector<Value>{stablehlo::DotGeneralOp::create(b, dot.getType(), dot.getLhs(), dot.getRhs(), numbers,
                                                            dot.getPrecisionConfigAttr(),
                                                            stablehlo::DotAlgorithmAttr())};
}

Results expandIndexSelect(Builder &b, Operation *op) {
  auto select = cast<stablehlo::TorchIndexSelectOp>(op);
  RankedTensorType operand = select.getOperand().getType(), index = select.getIndex().getType();
  auto dim = static_cast<int64_t>(select.getDim()), batch = static_cast<int64_t>(select.getBatchDims());
  SmallVector<int64_t> sizes(operand.getShape()), batches = llvm::to_vector(llvm::seq<int64_t>(0, batch)), offsets;
  for (int64_t i = 0; i < batch; ++i)
    sizes[i] = 1;
  sizes[dim] = 1;
  for (int64_t i = batch; i < dim; ++i)
    offsets.push_back(i);
  for (int64_t i = dim + 1; i < operand.getRank(); ++i)
    offsets.push_back(i - 1 + index.getRank() - batch);
  auto numbers = stablehlo::GatherDimensionNumbersAttr::get(b.getContext(), offsets, {dim}, batches, batches, {dim},
                                                            index.getRank());
  return SmallVector<Value>{stablehlo::GatherOp::create(b, select.getType(), select.getOperand(), select.getIndex(),
                                                        numbers, b.getDenseI64ArrayAttr(sizes), b.getBoolAttr(false))};
}

/// A debugger would see the value; nobody else does.
Results expandTrace(Builder &, Operation *) { return SmallVector<Value>(); }

//===----------------------------------------------------------------------===//
// Einstein's notation
//===----------------------------------------------------------------------===//

/// A tensor whose dimensions have labels.
struct Labelled {
  Tensor tensor;
  SmallVector<int64_t> labels;
};

/// Keeps the diagonals of equal labels: all other elements become 0, and one of the dimensions is summed over.
void takeDiagonals(Builder &b, Labelled &x) {
  for (size_t i = 0; i < x.labels.size(); ++i)
    for (size_t j = i + 1; j < x.labels.size();) {
      if (x.labels[i] != x.labels[j]) {
        ++j;
        continue;
      }
      Type index = b.getI32Type();
      Tensor isDiagonal = iota(b, x.tensor.shape(), index, i) == iota(b, x.tensor.shape(), index, j);
      x.tensor = sum(select(isDiagonal, x.tensor, x.tensor.like(0)), static_cast<int64_t>(j));
      x.labels.erase(x.labels.begin() + j);
    }
}

/// Sums over the labels that nobody needs.
void sumOthers(Labelled &x, llvm::function_ref<bool(int64_t label)> isNeeded) {
  SmallVector<int64_t> dims, labels;
  for (auto [dim, label] : llvm::enumerate(x.labels))
    if (isNeeded(label))
      labels.push_back(label);
    else
      dims.push_back(dim);
  if (!dims.empty())
    x.tensor = sum(x.tensor, dims);
  x.labels = labels;
}

Tensor order(const Labelled &x, ArrayRef<int64_t> labels) {
  SmallVector<int64_t> permutation;
  for (int64_t label : labels)
    permutation.push_back(llvm::find(x.labels, label) - x.labels.begin());
  return transpose(x.tensor, permutation);
}

FailureOr<SmallVector<Labelled>> readOperands(Builder &b, Operation *op, StringRef config,
                                              SmallVector<int64_t> &result) {
  std::string message;
  auto einsum = stablehlo::parseEinsum(
      config, llvm::map_to_vector(op->getOperandTypes(), llvm::CastTo<RankedTensorType>), message);
  if (failed(einsum))
    return failure(); // the verifier has reported it
  result = einsum->result;
  Type element = cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  SmallVector<Labelled> operands;
  for (auto [value, labels] : llvm::zip(op->getOperands(), einsum->operands)) {
    Tensor tensor(b, value);
    operands.push_back({tensor.element() == element ? tensor : convert(tensor, element), labels});
    takeDiagonals(b, operands.back());
  }
  return operands;
}

Results expandUnaryEinsum(Builder &b, Operation *op) {
  SmallVector<int64_t> result;
  auto operands = readOperands(b, op, cast<stablehlo::UnaryEinsumOp>(op).getEinsumConfig(), result);
  if (failed(operands))
    return failure();
  Labelled &x = operands->front();
  sumOthers(x, [&](int64_t label) { return llvm::is_contained(result, label); });
  return SmallVector<Value>{order(x, result)};
}

Results expandEinsum(Builder &b, Operation *op) {
  SmallVector<int64_t> result;
  auto operands = readOperands(b, op, cast<stablehlo::EinsumOp>(op).getEinsumConfig(), result);
  if (failed(operands))
    return failure();
  Labelled &lhs = (*operands)[0], &rhs = (*operands)[1];
  auto inResult = [&](int64_t label) { return llvm::is_contained(result, label); };
  sumOthers(lhs, [&](int64_t label) { return inResult(label) || llvm::is_contained(rhs.labels, label); });
  sumOthers(rhs, [&](int64_t label) { return inResult(label) || llvm::is_contained(lhs.labels, label); });

  SmallVector<int64_t> lhsBatching, rhsBatching, lhsContracting, rhsContracting, batch, free;
  for (auto [dim, label] : llvm::enumerate(lhs.labels)) {
    auto *other = llvm::find(rhs.labels, label);
    if (other == rhs.labels.end()) {
      free.push_back(label);
    } else if (inResult(label)) {
      lhsBatching.push_back(dim);
      rhsBatching.push_back(other - rhs.labels.begin());
      batch.push_back(label);
    } else {
      lhsContracting.push_back(dim);
      rhsContracting.push_back(other - rhs.labels.begin());
    }
  }
  Labelled product{{}, batch};
  llvm::append_range(product.labels, free);
  for (int64_t label : rhs.labels)
    if (!llvm::is_contained(lhs.labels, label))
      product.labels.push_back(label);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int64_t> shape;
  for (int64_t label : product.labels)
    shape.push_back(type.getDimSize(llvm::find(result, label) - result.begin()));
  auto numbers =
      stablehlo::DotDimensionNumbersAttr::get(b.getContext(), lhsBatching, rhsBatching, lhsContracting, rhsContracting);
  product.tensor = Tensor(b, stablehlo::DotGeneralOp::create(b, type.clone(shape), lhs.tensor, rhs.tensor, numbers,
                                                             ArrayAttr(), stablehlo::DotAlgorithmAttr()));
  return SmallVector<Value>{order(product, result)};
}

} // namespace

void addLegacyExpansions(ExpansionTable &table) {
  table.add<stablehlo::BroadcastOp>(expandBroadcast, Dynamic::All);
  table.add<stablehlo::DotOp>(expandDot, Dynamic::All);
  table.add<stablehlo::EinsumOp>(expandEinsum, Dynamic::All);
  table.add<stablehlo::TorchIndexSelectOp>(expandIndexSelect);
  table.add<stablehlo::TraceOp>(expandTrace, Dynamic::All);
  table.add<stablehlo::UnaryEinsumOp>(expandUnaryEinsum, Dynamic::All);
}

} // namespace latewood::input
