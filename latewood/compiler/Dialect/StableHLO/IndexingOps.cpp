// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers and type inference of indexed access: dynamic slices, gather, scatter. gather and scatter relate three
// lists of dimensions (of operand, indices and slices); their constraints are checked in the specification's order as
// far as later ones index into what earlier ones establish.
#include "latewood/compiler/Dialect/StableHLO/Regions.h"
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"

using namespace mlir;
using namespace latewood::stablehlo;

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The start indices of a dynamic slice: one a dimension, of one type.
static LogicalResult checkStartIndices(StringRef op, std::optional<Location> location, int64_t rank, ValueRange indices,
                                       StringRef countConstraint, StringRef typeConstraint) {
  if (static_cast<int64_t>(indices.size()) != rank)
    return emitConstraint(location, op, countConstraint, "requires one start index for each of the operand's ", rank,
                          " dimensions, but got ", indices.size());
  if (!llvm::all_equal(indices.getTypes()))
    return emitConstraint(location, op, typeConstraint, "requires start indices of one type");
  return success();
}

LogicalResult DynamicSliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  RankedTensorType from = tensorType(adaptor.getOperand());
  ArrayRef<int64_t> sizes = adaptor.getSliceSizes();
  if (failed(checkStartIndices(getOperationName(), location, from.getRank(), adaptor.getStartIndices(), "C2",
                               "C3"))) // C2, C3
    return failure();
  if (static_cast<int64_t>(sizes.size()) != from.getRank()) // C2
    return emitConstraint(location, getOperationName(), "C2", "requires one size for each of the operand's ",
                          from.getRank(), " dimensions, but got ", sizes.size());
  for (auto [index, size] : llvm::enumerate(sizes))
    if (size < 0 || (!from.isDynamicDim(index) && size > from.getDimSize(index))) // C4
      return emitConstraint(location, getOperationName(), "C4", "requires 0 <= size <= extent in dimension ", index,
                            ", but got ", size, " of ", from);
  types.push_back(RankedTensorType::get(sizes, from.getElementType())); // C1, C5
  return success();
}

LogicalResult DynamicUpdateSliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                                     SmallVectorImpl<Type> &types) {
  RankedTensorType operand = tensorType(adaptor.getOperand()), update = tensorType(adaptor.getUpdate());
  if (operand.getElementType() != update.getElementType()) // C2
    return emitConstraint(location, getOperationName(), "C2",
                          "requires operand and update of one element type, but got ", operand, " and ", update);
  if (operand.getRank() != update.getRank()) // C3
    return emitConstraint(location, getOperationName(), "C3", "requires operand and update of one rank, but got ",
                          operand, " and ", update);
  if (failed(checkStartIndices(getOperationName(), location, operand.getRank(), adaptor.getStartIndices(), "C4",
                               "C5"))) // C4, C5
    return failure();
  for (auto [index, extent, size] : llvm::enumerate(operand.getShape(), update.getShape()))
    if (!ShapedType::isDynamic(extent) && !ShapedType::isDynamic(size) && size > extent) // C6
      return emitConstraint(location, getOperationName(), "C6", "requires an update that fits in dimension ", index,
                            ", but got ", operand, " and ", update);
  types.push_back(operand); // C1
  return success();
}

//===----------------------------------------------------------------------===//
// gather
//===----------------------------------------------------------------------===//

/// The number of entries of one index vector; `?` if it is not known.
static int64_t getIndexVectorSize(RankedTensorType indices, int64_t indexVectorDim) {
  return indexVectorDim < indices.getRank() ? indices.getDimSize(indexVectorDim) : 1;
}

/// The extents of the index tensor without the dimension that holds the index vectors.
static SmallVector<int64_t> getBatchExtents(RankedTensorType indices, int64_t indexVectorDim) {
  SmallVector<int64_t> extents;
  for (auto [index, extent] : llvm::enumerate(indices.getShape()))
    if (static_cast<int64_t>(index) != indexVectorDim)
      extents.push_back(extent);
  return extents;
}

/// `sliceSizes` holds `?` where a size is computed. Numbers of constraints are those of gather.
static LogicalResult inferGather(StringRef op, std::optional<Location> location, RankedTensorType operand,
                                 RankedTensorType indices, GatherDimensionNumbersAttr numbers,
                                 ArrayRef<int64_t> sliceSizes, SmallVectorImpl<int64_t> &shape) {
  ArrayRef<int64_t> offset = numbers.getOffsetDims(), collapsed = numbers.getCollapsedSliceDims(),
                    batching = numbers.getOperandBatchingDims(),
                    indicesBatching = numbers.getStartIndicesBatchingDims(), indexMap = numbers.getStartIndexMap();
  int64_t rank = operand.getRank(), indexVectorDim = numbers.getIndexVectorDim();
  auto fail = [&](StringRef constraint, auto &&...message) {
    return emitConstraint(location, op, constraint, message...);
  };
  if (rank != static_cast<int64_t>(offset.size() + collapsed.size() + batching.size())) // C1
    return fail(
        "C1", "requires offset_dims, collapsed_slice_dims and operand_batching_dims to add up to the operand's rank, ",
        rank);
  if (indexVectorDim < 0 || indexVectorDim > indices.getRank()) // C2
    return fail("C2", "requires 0 <= index_vector_dim <= rank of start_indices, but got ", indexVectorDim);
  if (!extentsAgree(getIndexVectorSize(indices, indexVectorDim), indexMap.size())) // C3
    return fail("C3", "requires one entry of start_index_map for each entry of an index vector, but got ",
                indexMap.size(), " for ", indices);
  if (!areUnique(offset) || !llvm::is_sorted(offset)) // C4
    return fail("C4", "requires offset_dims in ascending order, each once");
  SmallVector<int64_t> batchExtents = getBatchExtents(indices, indexVectorDim);
  if (!areInRange(offset, batchExtents.size() + offset.size())) // C5
    return fail("C5", "requires offset_dims that are dimensions of the result");
  if (!areUnique(collapsed, batching)) // C6
    return fail("C6", "requires collapsed_slice_dims and operand_batching_dims that are all different");
  if (!llvm::is_sorted(collapsed)) // C7
    return fail("C7", "requires collapsed_slice_dims in ascending order");
  if (!areInRange(collapsed, rank)) // C8
    return fail("C8", "requires collapsed_slice_dims that are dimensions of the operand, ", operand);
  if (!llvm::is_sorted(batching)) // C10
    return fail("C10", "requires operand_batching_dims in ascending order");
  if (!areInRange(batching, rank)) // C11
    return fail("C11", "requires operand_batching_dims that are dimensions of the operand, ", operand);
  if (!areUnique(indicesBatching)) // C13
    return fail("C13", "requires start_indices_batching_dims that are all different");
  if (!areInRange(indicesBatching, indices.getRank())) // C14
    return fail("C14", "requires start_indices_batching_dims that are dimensions of start_indices, ", indices);
  if (llvm::is_contained(indicesBatching, indexVectorDim)) // C15
    return fail("C15", "requires index_vector_dim not to be one of start_indices_batching_dims");
  if (batching.size() != indicesBatching.size()) // C16
    return fail("C16", "requires equally many operand_batching_dims and start_indices_batching_dims");
  for (auto [dimension, indicesDimension] : llvm::zip(batching, indicesBatching))
    if (!extentsAgree(operand.getDimSize(dimension), indices.getDimSize(indicesDimension))) // C17
      return fail("C17", "requires batching dimensions of one extent, but got ", operand.getDimSize(dimension), " and ",
                  indices.getDimSize(indicesDimension));
  if (!areUnique(indexMap, batching)) // C18
    return fail("C18", "requires start_index_map and operand_batching_dims that are all different");
  if (!areInRange(indexMap, rank)) // C19
    return fail("C19", "requires a start_index_map of dimensions of the operand, ", operand);
  if (static_cast<int64_t>(sliceSizes.size()) != rank) // C20
    return fail("C20", "requires one slice size for each of the operand's ", rank, " dimensions, but got ",
                sliceSizes.size());
  for (auto [index, size] : llvm::enumerate(sliceSizes))
    if (!ShapedType::isDynamic(size) &&
        (size < 0 || (!operand.isDynamicDim(index) && size > operand.getDimSize(index)))) // C21
      return fail("C21", "requires 0 <= slice size <= extent in dimension ", index, ", but got ", size, " of ",
                  operand);
  for (int64_t dimension : collapsed)
    if (sliceSizes[dimension] > 1) // C9
      return fail("C9", "requires slice sizes of at most 1 in collapsed dimensions, but got ", sliceSizes[dimension]);
  for (int64_t dimension : batching)
    if (sliceSizes[dimension] > 1) // C12
      return fail("C12", "requires slice sizes of at most 1 in batching dimensions, but got ", sliceSizes[dimension]);

  // C22: slice extents at offset_dims, batch extents elsewhere.
  SmallVector<int64_t> offsetExtents;
  for (auto [index, size] : llvm::enumerate(sliceSizes))
    if (!llvm::is_contained(collapsed, index) && !llvm::is_contained(batching, index))
      offsetExtents.push_back(size);
  auto nextOffset = offsetExtents.begin(), nextBatch = batchExtents.begin();
  for (size_t index = 0; index < offsetExtents.size() + batchExtents.size(); ++index)
    shape.push_back(llvm::is_contained(offset, index) ? *nextOffset++ : *nextBatch++);
  return success();
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  RankedTensorType operand = tensorType(adaptor.getOperand());
  SmallVector<int64_t> shape;
  if (failed(inferGather(getOperationName(), location, operand, tensorType(adaptor.getStartIndices()),
                         adaptor.getDimensionNumbers(), adaptor.getSliceSizes(), shape)))
    return failure();
  types.push_back(RankedTensorType::get(shape, operand.getElementType())); // C23
  return success();
}

LogicalResult DynamicGatherOp::verify() {
  RankedTensorType operand = getOperand().getType(), sizes = getSliceSizes().getType();
  if (!extentsAgree(sizes.getDimSize(0), operand.getRank())) // C20
    return emitOpError("(C20) requires one slice size for each of the operand's ")
           << operand.getRank() << " dimensions";
  SmallVector<int64_t> shape, unknown(operand.getRank(), ShapedType::kDynamic);
  if (failed(inferGather(getOperationName(), getLoc(), operand, getStartIndices().getType(), getDimensionNumbers(),
                         unknown, shape)))
    return failure();
  if (operand.getElementType() != getType().getElementType()) // C23
    return emitOpError("(C23) requires one element type, but got ") << operand << " and " << getType();
  if (failed(verifyCompatibleShape(shape, getType().getShape()))) // C22
    return emitOpError("(C22) requires batch and offset dimensions in the result, but got ") << getType();
  return success();
}

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

LogicalResult ScatterOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  ScatterDimensionNumbersAttr numbers = adaptor.getScatterDimensionNumbers();
  ArrayRef<int64_t> window = numbers.getUpdateWindowDims(), inserted = numbers.getInsertedWindowDims(),
                    batching = numbers.getInputBatchingDims(),
                    indicesBatching = numbers.getScatterIndicesBatchingDims(),
                    toOperand = numbers.getScatterDimsToOperandDims();
  int64_t indexVectorDim = numbers.getIndexVectorDim();
  RankedTensorType indices = tensorType(adaptor.getScatterIndices());
  auto fail = [&](StringRef constraint, auto &&...message) {
    return emitConstraint(location, getOperationName(), constraint, message...);
  };
  if (adaptor.getInputs().empty() || adaptor.getInputs().size() != adaptor.getUpdates().size()) // C5
    return fail("C5", "requires as many updates as inputs, and at least one");
  SmallVector<int64_t> shape(tensorType(adaptor.getInputs().front()).getShape());
  SmallVector<int64_t> updateShape(tensorType(adaptor.getUpdates().front()).getShape());
  for (auto [input, update] : llvm::zip(adaptor.getInputs(), adaptor.getUpdates())) {
    if (failed(mergeShape(shape, tensorType(input).getShape()))) // C1
      return fail("C1", "requires inputs of one shape");
    if (failed(mergeShape(updateShape, tensorType(update).getShape()))) // C3
      return fail("C3", "requires updates of one shape");
    if (tensorType(input).getElementType() != tensorType(update).getElementType()) // C6
      return fail("C6", "requires inputs and updates of one element type, but got ", input.getType(), " and ",
                  update.getType());
  }
  int64_t rank = shape.size(), updateRank = updateShape.size();
  if (rank != static_cast<int64_t>(window.size() + inserted.size() + batching.size())) // C2
    return fail(
        "C2",
        "requires update_window_dims, inserted_window_dims and input_batching_dims to add up to the inputs' rank, ",
        rank);
  if (!areUnique(window) || !llvm::is_sorted(window)) // C7
    return fail("C7", "requires update_window_dims in ascending order, each once");
  if (!areInRange(window, updateRank)) // C8
    return fail("C8", "requires update_window_dims that are dimensions of the updates");
  if (!areUnique(inserted, batching)) // C9
    return fail("C9", "requires inserted_window_dims and input_batching_dims that are all different");
  if (!llvm::is_sorted(inserted)) // C10
    return fail("C10", "requires inserted_window_dims in ascending order");
  if (!areInRange(inserted, rank)) // C11
    return fail("C11", "requires inserted_window_dims that are dimensions of the inputs");
  if (!llvm::is_sorted(batching)) // C12
    return fail("C12", "requires input_batching_dims in ascending order");
  if (!areInRange(batching, rank)) // C13
    return fail("C13", "requires input_batching_dims that are dimensions of the inputs");
  if (!areUnique(indicesBatching)) // C14
    return fail("C14", "requires scatter_indices_batching_dims that are all different");
  if (!areInRange(indicesBatching, indices.getRank())) // C15
    return fail("C15", "requires scatter_indices_batching_dims that are dimensions of scatter_indices, ", indices);
  if (llvm::is_contained(indicesBatching, indexVectorDim)) // C16
    return fail("C16", "requires index_vector_dim not to be one of scatter_indices_batching_dims");
  if (batching.size() != indicesBatching.size()) // C17
    return fail("C17", "requires equally many input_batching_dims and scatter_indices_batching_dims");
  for (auto [dimension, indicesDimension] : llvm::zip(batching, indicesBatching))
    if (!extentsAgree(shape[dimension], indices.getDimSize(indicesDimension))) // C18
      return fail("C18", "requires batching dimensions of one extent, but got ", shape[dimension], " and ",
                  indices.getDimSize(indicesDimension));
  if (indexVectorDim < 0 || indexVectorDim > indices.getRank()) // C22
    return fail("C22", "requires 0 <= index_vector_dim <= rank of scatter_indices, but got ", indexVectorDim);
  if (!extentsAgree(getIndexVectorSize(indices, indexVectorDim), toOperand.size())) // C19
    return fail("C19", "requires one entry of scatter_dims_to_operand_dims for each entry of an index vector, but got ",
                toOperand.size(), " for ", indices);
  if (!areUnique(toOperand, batching)) // C20
    return fail("C20", "requires scatter_dims_to_operand_dims and input_batching_dims that are all different");
  if (!areInRange(toOperand, rank)) // C21
    return fail("C21", "requires scatter_dims_to_operand_dims that are dimensions of the inputs");

  // C4: window extents at most the inputs' at update_window_dims, scatter extents elsewhere.
  SmallVector<int64_t> batchExtents = getBatchExtents(indices, indexVectorDim);
  if (updateRank != static_cast<int64_t>(batchExtents.size() + window.size()))
    return fail("C4", "requires updates with ", batchExtents.size(), " scatter and ", window.size(),
                " window dimensions, but got rank ", updateRank);
  SmallVector<int64_t> windowExtents;
  for (auto [index, extent] : llvm::enumerate(shape))
    if (!llvm::is_contained(inserted, index) && !llvm::is_contained(batching, index))
      windowExtents.push_back(extent);
  auto nextWindow = windowExtents.begin(), nextBatch = batchExtents.begin();
  for (auto [index, extent] : llvm::enumerate(updateShape)) {
    bool isWindow = llvm::is_contained(window, index);
    int64_t expected = isWindow ? *nextWindow++ : *nextBatch++;
    bool fits = isWindow && !ShapedType::isDynamic(extent) && !ShapedType::isDynamic(expected)
                    ? extent <= expected
                    : isWindow || extentsAgree(extent, expected);
    if (!fits)
      return fail("C4", "requires updates of extent ", isWindow ? "at most " : "", expected, " in dimension ", index,
                  ", but got ", extent);
  }
  for (Value input : adaptor.getInputs())
    types.push_back(input.getType()); // C24
  return success();
}

LogicalResult ScatterOp::verifyRegions() {
  return verifyReducer(*this, getUpdateComputation(), getInputs().getTypes(), getResultTypes(), "C23", "C25");
}
