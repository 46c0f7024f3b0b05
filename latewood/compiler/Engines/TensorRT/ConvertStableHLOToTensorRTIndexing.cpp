// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gather and scatter.
//
// Both are brought into one form: the indexed dimensions of the tensor in front (behind batches), and one index vector
// for each element of the indexed dimensions. A slice of more than one element along an indexed dimension becomes that
// many index vectors. StableHLO moves gathered slices inside and skips scattered ones that do not fit, where TensorRT
// does neither: gathered indices are clamped, scattered ones sent to an element behind the last one, which is cut off
// at the end.
#include "latewood/compiler/Engines/TensorRT/StableHLOToTensorRT.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::tensorrt;

static SmallVector<int64_t> permute(ArrayRef<int64_t> list, ArrayRef<int64_t> order) {
  return llvm::map_to_vector(order, [&](int64_t i) { return list[i]; });
}

/// Index vectors in the last dimension, batches in front: [batching..., others..., vector].
static Value arrangeIndices(LayerBuilder &b, Value indices, ArrayRef<int64_t> batching, int64_t vectorDim) {
  int64_t rank = b.rankOf(indices);
  if (vectorDim == rank) {
    indices = b.unsqueeze(indices, {rank});
    ++rank;
  }
  SmallVector<int64_t> order(batching);
  for (int64_t i = 0; i < rank; ++i)
    if (i != vectorDim && !llvm::is_contained(batching, i))
      order.push_back(i);
  order.push_back(vectorDim);
  return b.transpose(indices, order);
}

/// Index vectors for all elements of a slice: those of its first element, plus a count along a new dimension for each
/// extent that is not 1, in front of the vector dimension.
static Value spreadIndices(LayerBuilder &b, Value indices, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> counted;
  for (auto [i, size] : llvm::enumerate(sizes))
    if (size != 1)
      counted.push_back(i);
  if (counted.empty() || !indices)
    return indices;
  int64_t rank = b.rankOf(indices), more = counted.size();
  SmallVector<int64_t> added;
  for (int64_t i = 0; i < more; ++i)
    added.push_back(rank - 1 + i);
  indices = b.unsqueeze(indices, added);
  for (auto [place, component] : llvm::enumerate(counted)) {
    // The count as a component of a vector: zeros around it.
    auto numbers = RankedTensorType::get({sizes[component], static_cast<int64_t>(sizes.size())}, b.getI64Type());
    SmallVector<int64_t> elements(numbers.getNumElements(), 0);
    for (int64_t i = 0; i < sizes[component]; ++i)
      elements[i * sizes.size() + component] = i;
    SmallVector<int64_t> shape(rank + more, 1);
    shape[rank - 1 + place] = sizes[component];
    shape.back() = sizes.size();
    auto type = RankedTensorType::get(shape, b.getI64Type());
    Value count = b.constant(DenseElementsAttr::get(type, ArrayRef(elements)));
    indices = b.add(indices, b.cast(count, b.elementOf(indices)));
  }
  return indices;
}

static Results convertGather(LayerBuilder &b, stablehlo::GatherOp op) {
  Value data = b.map(op.getOperand()), indices = b.map(op.getStartIndices());
  auto numbers = op.getDimensionNumbers();
  ArrayRef<int64_t> mapped = numbers.getStartIndexMap(), batching = numbers.getOperandBatchingDims();
  auto resultType = cast<RankedTensorType>(op.getType());
  int64_t rank = b.rankOf(data);
  if (!b.elementOf(indices).isInteger(32) && !b.elementOf(indices).isInteger(64))
    return b.fail("TensorRT takes indices of i32 and i64 only");
  if (!b.typeOf(data).hasStaticShape() || mapped.empty())
    return b.fail(mapped.empty() ? "a gather without indices" : "a gather from a tensor of dynamic shape");
  // Dimensions that no index moves along are cut to what is taken.
  SmallVector<int64_t> sizes(op.getSliceSizes()), cut(b.shapeOf(data));
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(mapped, i) && !llvm::is_contained(batching, i))
      cut[i] = sizes[i];
  if (cut != SmallVector<int64_t>(b.shapeOf(data)))
    data = b.slice(data, SmallVector<int64_t>(rank, 0), cut, SmallVector<int64_t>(rank, 1));

  indices = arrangeIndices(b, indices, numbers.getStartIndicesBatchingDims(), numbers.getIndexVectorDim());
  if (!indices || !data)
    return failure();
  SmallVector<int64_t> last, taken;
  for (int64_t dim : mapped) {
    last.push_back(cut[dim] - sizes[dim]);
    taken.push_back(sizes[dim]);
  }
  SmallVector<int64_t> vectorShape(b.rankOf(indices), 1);
  vectorShape.back() = last.size();
  auto limitType = RankedTensorType::get(vectorShape, b.getI64Type());
  Value limit = b.cast(b.constant(DenseElementsAttr::get(limitType, ArrayRef(last))), b.elementOf(indices));
  indices = b.max(b.min(indices, limit), b.like(indices, 0));
  int64_t indexDims = b.rankOf(indices) - 1;
  indices = spreadIndices(b, indices, taken);

  SmallVector<int64_t> order(batching), rest;
  llvm::append_range(order, mapped);
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(order, i))
      rest.push_back(i);
  llvm::append_range(order, rest);
  data = b.transpose(data, order);
  if (!indices || !data)
    return failure();
  Value result;
  if (mapped.size() == 1 && batching.empty()) {
    Value flat = b.squeeze(indices, {b.rankOf(indices) - 1});
    auto layer = b.layer<GatherOp>(1, data, flat, uint64_t(0), uint64_t(0));
    result = layer ? layer.getResult() : Value();
  } else {
    auto layer = b.layer<GatherNdOp>(1, data, indices, static_cast<uint64_t>(batching.size()));
    result = layer ? layer.getResult() : Value();
  }
  if (!result)
    return failure();

  // Now [batching, other indices, extents of slices along indexed dimensions that are not 1, rest]. Extents of 1 that
  // stay are put back.
  SmallVector<int64_t> sliceDims; // dimension of the operand of each dimension behind the indices
  for (int64_t dim : mapped)
    if (sizes[dim] != 1)
      sliceDims.push_back(dim);
  llvm::append_range(sliceDims, rest);
  SmallVector<int64_t> kept; // operand dimensions that appear in the result, in order
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(numbers.getCollapsedSliceDims(), i) && !llvm::is_contained(batching, i))
      kept.push_back(i);
  SmallVector<int64_t> dropped;
  for (auto [place, dim] : llvm::enumerate(sliceDims))
    if (!llvm::is_contained(kept, dim))
      dropped.push_back(indexDims + place);
  result = b.squeeze(result, dropped);
  llvm::erase_if(sliceDims, [&](int64_t dim) { return !llvm::is_contained(kept, dim); });
  SmallVector<int64_t> missing;
  for (int64_t dim : kept)
    if (!llvm::is_contained(sliceDims, dim)) {
      missing.push_back(indexDims + sliceDims.size());
      sliceDims.push_back(dim);
    }
  result = b.unsqueeze(result, missing);
  // The result's dimensions: offset_dims are the kept ones in order, all others the indices in their old order.
  SmallVector<int64_t> indexOrder(numbers.getStartIndicesBatchingDims());
  int64_t oldRank = cast<RankedTensorType>(op.getStartIndices().getType()).getRank();
  for (int64_t i = 0; i < oldRank; ++i)
    if (i != static_cast<int64_t>(numbers.getIndexVectorDim()) &&
        !llvm::is_contained(numbers.getStartIndicesBatchingDims(), i))
      indexOrder.push_back(i);
  SmallVector<int64_t> sorted = llvm::to_vector(indexOrder);
  llvm::sort(sorted);
  SmallVector<int64_t> permutation;
  size_t nextKept = 0, nextIndex = 0;
  for (int64_t i = 0; i < resultType.getRank(); ++i) {
    if (llvm::is_contained(numbers.getOffsetDims(), i))
      permutation.push_back(indexDims + (llvm::find(sliceDims, kept[nextKept++]) - sliceDims.begin()));
    else
      permutation.push_back(llvm::find(indexOrder, sorted[nextIndex++]) - indexOrder.begin());
  }
  result = b.transpose(result, permutation);
  return result ? Results({result}) : Results(failure());
}

/// Whether any component of an index vector is true; the dimension stays.
static Value anyComponent(LayerBuilder &b, Value vectors, int64_t axis) {
  if (!vectors)
    return {};
  auto largest = b.layer<ReduceOp>(1, b.cast(vectors, b.getI32Type()), ArrayRef<int64_t>{axis}, /*keepDimensions=*/true,
                                   ReduceOperation::kMAX);
  if (!largest)
    return {};
  return b.binary(ElementWiseOperation::kGREATER, largest.getResult(), b.like(largest.getResult(), 0));
}

static Results convertScatter(LayerBuilder &b, stablehlo::ScatterOp op) {
  if (op.getInputs().size() != 1)
    return b.fail("a scatter into several tensors at once");
  Block &body = op.getUpdateComputation().front();
  if (body.getTerminator()->getOperand(0) != body.getArgument(1))
    return b.fail("TensorRT's scatter replaces elements, it does not combine them");
  Value data = b.map(op.getInputs()[0]), indices = b.map(op.getScatterIndices()), updates = b.map(op.getUpdates()[0]);
  auto numbers = op.getScatterDimensionNumbers();
  ArrayRef<int64_t> mapped = numbers.getScatterDimsToOperandDims();
  if (!b.elementOf(indices).isInteger(32) && !b.elementOf(indices).isInteger(64))
    return b.fail("TensorRT takes indices of i32 and i64 only");
  for (Value value : {data, indices, updates})
    if (!b.typeOf(value).hasStaticShape())
      return b.fail("a scatter of dynamic shape");
  if (!numbers.getInputBatchingDims().empty())
    return b.fail("TensorRT's scatter has no batches");
  if (mapped.empty())
    return b.fail("a scatter without indices");
  int64_t rank = b.rankOf(data);
  // Sizes of windows by dimension of the data; all elements of those that no index moves along must be written.
  SmallVector<int64_t> sizes(rank, 1), windowDims;
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(numbers.getInsertedWindowDims(), i))
      windowDims.push_back(i);
  for (auto [dim, place] : llvm::zip(windowDims, numbers.getUpdateWindowDims()))
    sizes[dim] = b.shapeOf(updates)[place];
  SmallVector<int64_t> indexed(mapped), rest;
  Value vectors = arrangeIndices(b, indices, {}, numbers.getIndexVectorDim());
  if (!vectors)
    return failure();
  for (int64_t i = 0; i < rank; ++i) {
    if (llvm::is_contained(indexed, i))
      continue;
    if (sizes[i] == b.shapeOf(data)[i]) {
      rest.push_back(i);
      continue;
    }
    // A window that begins at 0 there: one more component.
    SmallVector<int64_t> shape(b.shapeOf(vectors));
    shape.back() = 1;
    vectors =
        b.concatenate({vectors, b.splat(RankedTensorType::get(shape, b.elementOf(vectors)), 0)}, shape.size() - 1);
    indexed.push_back(i);
    if (!vectors)
      return failure();
  }
  SmallVector<int64_t> taken = permute(sizes, indexed);
  int64_t indexDims = b.rankOf(vectors) - 1;

  // A window is written whole or not at all.
  SmallVector<int64_t> limits, strides(indexed.size(), 1);
  int64_t count = 1;
  for (int64_t i = indexed.size() - 1; i >= 0; --i) {
    strides[i] = count;
    count *= b.shapeOf(data)[indexed[i]];
  }
  for (int64_t dim : indexed)
    limits.push_back(b.shapeOf(data)[dim] - sizes[dim]);
  Type integer = b.elementOf(vectors);
  auto vectorOf = [&](ArrayRef<int64_t> elements, int64_t dims) {
    SmallVector<int64_t> shape(dims, 1);
    shape.back() = elements.size();
    return b.cast(b.constant(DenseElementsAttr::get(RankedTensorType::get(shape, b.getI64Type()), elements)), integer);
  };
  Value isOutside =
      b.binary(ElementWiseOperation::kOR, b.binary(ElementWiseOperation::kLESS, vectors, b.like(vectors, 0)),
               b.binary(ElementWiseOperation::kGREATER, vectors, vectorOf(limits, indexDims + 1)));
  Value anyOutside = anyComponent(b, isOutside, indexDims);
  Value spreadVectors = spreadIndices(b, vectors, taken);
  if (!spreadVectors || !anyOutside)
    return failure();
  int64_t spreadDims = b.rankOf(spreadVectors) - 1;
  Value weighted = b.mul(spreadVectors, vectorOf(strides, spreadDims + 1));
  if (!weighted)
    return failure();
  auto sum =
      b.layer<ReduceOp>(1, weighted, ArrayRef<int64_t>{spreadDims}, /*keepDimensions=*/true, ReduceOperation::kSUM);
  if (!sum)
    return failure();
  // [indices, windows, 1], in one row of all that is indexed; what is outside goes behind it.
  SmallVector<int64_t> addedAxes;
  for (int64_t i = indexDims; i < spreadDims; ++i)
    addedAxes.push_back(i);
  Value flatIndex = b.select(b.unsqueeze(anyOutside, addedAxes), b.like(sum.getResult(), static_cast<double>(count)),
                             sum.getResult());

  SmallVector<int64_t> order(indexed);
  llvm::append_range(order, rest);
  Value ordered = b.transpose(data, order);
  SmallVector<int64_t> flatShape{count}, restShape = permute(b.shapeOf(data), rest);
  llvm::append_range(flatShape, restShape);
  SmallVector<int64_t> extraShape{1};
  llvm::append_range(extraShape, restShape);
  Type element = b.elementOf(data);
  Value table =
      b.concatenate({b.reshape(ordered, flatShape), b.splat(RankedTensorType::get(extraShape, element), 0)}, 0);

  // Updates as [indices, windows along indexed dimensions that are not 1, rest].
  SmallVector<int64_t> updateOrder, squeezed;
  int64_t updateRank = b.rankOf(updates);
  for (int64_t i = 0; i < updateRank; ++i)
    if (!llvm::is_contained(numbers.getUpdateWindowDims(), i))
      updateOrder.push_back(i);
  auto placeOf = [&](int64_t dim) -> std::optional<int64_t> {
    auto found = llvm::find(windowDims, dim);
    if (found == windowDims.end())
      return std::nullopt;
    return numbers.getUpdateWindowDims()[found - windowDims.begin()];
  };
  for (int64_t dim : indexed)
    if (std::optional<int64_t> place = placeOf(dim)) {
      if (sizes[dim] == 1)
        squeezed.push_back(updateOrder.size());
      updateOrder.push_back(*place);
    }
  for (int64_t dim : rest)
    updateOrder.push_back(*placeOf(dim));
  Value ready = b.squeeze(b.transpose(updates, updateOrder), squeezed);
  if (!table || !flatIndex || !ready)
    return failure();
  auto scatter = b.layer<ScatterNdOp>(1, table, flatIndex, ready);
  if (!scatter)
    return failure();
  Value result = b.slice(scatter.getResult(), SmallVector<int64_t>(flatShape.size(), 0), flatShape,
                         SmallVector<int64_t>(flatShape.size(), 1));
  result = b.transpose(b.reshape(result, permute(b.shapeOf(data), order)), invert(order));
  return result ? Results({result}) : Results(failure());
}

Conversion tensorrt::convertIndexing(LayerBuilder &b, Operation *op) {
  if (auto gather = dyn_cast<stablehlo::GatherOp>(op))
    return convertGather(b, gather);
  if (auto scatter = dyn_cast<stablehlo::ScatterOp>(op))
    return convertScatter(b, scatter);
  return std::nullopt;
}
