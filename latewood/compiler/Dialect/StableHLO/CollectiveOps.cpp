// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of the collectives. How many processes there are is not known here, so "each number once, from 0 up" is
// checked against the numbers given; -1 fills up groups of different size.
#include "latewood/compiler/Dialect/StableHLO/Regions.h"
#include "latewood/compiler/Dialect/StableHLO/SourceTargetPairs.h"
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"

using namespace mlir;
using namespace latewood::stablehlo;

static LogicalResult verifyGroups(Operation *op, DenseIntElementsAttr groups, StringRef unique, StringRef range,
                                  bool mustCount = true) {
  if (groups.getType().getRank() != 2)
    return op->emitOpError("requires replica_groups of rank 2, but got ") << groups.getType();
  SmallVector<int64_t> numbers;
  for (int64_t number : groups.getValues<int64_t>())
    if (number != -1)
      numbers.push_back(number);
  if (!areUnique(numbers))
    return op->emitOpError("(") << unique << ") requires replica_groups that hold each number once";
  if (llvm::any_of(numbers,
                   [&](int64_t n) { return n < 0 || (mustCount && n >= static_cast<int64_t>(numbers.size())); }))
    return op->emitOpError("(") << range << ") requires replica_groups that hold the numbers from 0 up";
  return success();
}

static LogicalResult verifyChannel(Operation *op, bool useGlobalIds, std::optional<ChannelHandleAttr> channel,
                                   StringRef constraint) {
  if (useGlobalIds && (!channel || channel->getHandle() <= 0))
    return op->emitOpError("(") << constraint << ") requires a positive channel together with use_global_device_ids";
  return success();
}

/// Checks results against operands whose extent `dimension` becomes extent * factor / divisor.
static LogicalResult verifyScaledTypes(Operation *op, ArrayRef<std::tuple<int64_t, int64_t, int64_t>> changes,
                                       StringRef constraint) {
  if (op->getNumOperands() != op->getNumResults())
    return op->emitOpError("(") << constraint << ") requires as many results as operands";
  for (auto [operand, result] : llvm::zip(op->getOperandTypes(), op->getResultTypes())) {
    auto type = cast<RankedTensorType>(operand);
    SmallVector<int64_t> shape(type.getShape());
    for (auto [dimension, factor, divisor] : changes)
      if (!ShapedType::isDynamic(shape[dimension]))
        shape[dimension] = shape[dimension] * factor / divisor;
    if (!areCompatible(RankedTensorType::get(shape, type.getElementType()), result))
      return op->emitOpError("(") << constraint << ") requires a result of type "
                                  << RankedTensorType::get(shape, type.getElementType()) << ", but got " << result;
  }
  return success();
}

/// Checks that a dimension is one of all operands.
static LogicalResult verifyDimension(Operation *op, int64_t dimension, StringRef name, StringRef constraint) {
  for (Type type : op->getOperandTypes())
    if (!areInRange(dimension, cast<RankedTensorType>(type).getRank()))
      return op->emitOpError("(") << constraint << ") requires " << name
                                  << " to be a dimension of the operands, but got " << dimension << " for " << type;
  return success();
}

LogicalResult ReplicaIdOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor,
                                            SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get({}, IntegerType::get(context, 32, IntegerType::Unsigned)));
  return success();
}

LogicalResult PartitionIdOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor,
                                              SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get({}, IntegerType::get(context, 32, IntegerType::Unsigned)));
  return success();
}

LogicalResult AllReduceOp::verify() {
  if (failed(verifyGroups(*this, getReplicaGroups(), "C1", "C3")) ||                   // C1, C2, C3
      failed(verifyChannel(*this, getUseGlobalDeviceIds(), getChannelHandle(), "C4"))) // C4
    return failure();
  if (!haveCompatibleShapes(getOperandTypes(), getResultTypes())) // C6
    return emitOpError("(C6) requires results of the operands' shapes");
  return success();
}

/// The computation of a collective takes one pair of elements, whatever the number of operands.
static LogicalResult verifyComputation(Operation *op, Region &region, StringRef regionConstraint,
                                       StringRef resultConstraint) {
  for (auto [operand, result] : llvm::zip(op->getOperandTypes(), op->getResultTypes()))
    if (failed(verifyReducer(op, region, operand, result, regionConstraint, resultConstraint)))
      return failure();
  return success();
}

LogicalResult AllReduceOp::verifyRegions() { return verifyComputation(*this, getComputation(), "C5", "C7"); } // C5, C7

LogicalResult ReduceScatterOp::verify() {
  int64_t dimension = getScatterDimensionAttr().getInt();
  if (failed(verifyDimension(*this, dimension, "scatter_dimension", "C2")) ||          // C2
      failed(verifyGroups(*this, getReplicaGroups(), "C3", "C5")) ||                   // C3, C4, C5
      failed(verifyChannel(*this, getUseGlobalDeviceIds(), getChannelHandle(), "C6"))) // C6
    return failure();
  RankedTensorType from = getOperand().getType();
  int64_t groupSize = getReplicaGroups().getType().getDimSize(1);
  if (groupSize == 0 || (!from.isDynamicDim(dimension) && from.getDimSize(dimension) % groupSize != 0)) // C1
    return emitOpError("(C1) requires an extent that the size of a group divides, but got ")
           << from << " and " << groupSize;
  SmallVector<int64_t> shape(from.getShape());
  if (!from.isDynamicDim(dimension))
    shape[dimension] /= groupSize;
  if (failed(verifyCompatibleShape(shape, getType().getShape()))) // C8
    return emitOpError("(C8) requires a result of type ") << from.clone(shape) << ", but got " << getType();
  return success();
}

LogicalResult ReduceScatterOp::verifyRegions() {
  return verifyComputation(*this, getComputation(), "C7", "C9");
} // C7, C9

LogicalResult AllGatherOp::verify() {
  int64_t dimension = getAllGatherDimAttr().getInt();
  if (failed(verifyDimension(*this, dimension, "all_gather_dim", "C1")) ||             // C1
      failed(verifyGroups(*this, getReplicaGroups(), "C2", "C4")) ||                   // C2, C3, C4
      failed(verifyChannel(*this, getUseGlobalDeviceIds(), getChannelHandle(), "C5"))) // C5
    return failure();
  return verifyScaledTypes(*this, {{dimension, getReplicaGroups().getType().getDimSize(1), 1}}, "C6"); // C6
}

LogicalResult AllToAllOp::verify() {
  int64_t split = getSplitDimensionAttr().getInt(), concat = getConcatDimensionAttr().getInt(),
          count = getSplitCountAttr().getInt();
  if (failed(verifyDimension(*this, split, "split_dimension", "C1")) || // C1
      failed(verifyDimension(*this, concat, "concat_dimension", "C3"))) // C3
    return failure();
  if (count <= 0) // C4
    return emitOpError("(C4) requires a positive split_count, but got ") << count;
  for (Type type : getOperandTypes()) {
    int64_t extent = cast<RankedTensorType>(type).getDimSize(split);
    if (!ShapedType::isDynamic(extent) && extent % count != 0) // C2
      return emitOpError("(C2) requires an extent that split_count divides, but got ") << extent << " and " << count;
  }
  if (failed(verifyGroups(*this, getReplicaGroups(), "C5", "C7"))) // C5, C6, C7
    return failure();
  if (getReplicaGroups().getType().getDimSize(1) != count) // C8
    return emitOpError("(C8) requires groups of split_count processes, but got ") << getReplicaGroups().getType();
  if (split == concat)
    return verifyScaledTypes(*this, {}, "C9");                                    // C9
  return verifyScaledTypes(*this, {{split, 1, count}, {concat, count, 1}}, "C9"); // C9
}

/// Checks the results of what one process of a group gives or gets: they are like the operands, or, with a dynamic
/// root, like all but the last, which names a process for each.
static LogicalResult verifyRooted(Operation *op, bool hasDynamicRoot, StringRef fixed, StringRef dynamic) {
  OperandRange operands = op->getOperands();
  if (!hasDynamicRoot) {
    if (operands.empty())
      return op->emitOpError("(") << fixed << ") requires at least one operand";
    return verifyScaledTypes(op, {}, fixed);
  }
  auto fail = [&] { return op->emitOpError("(") << dynamic << ") requires "; };
  if (operands.size() < 2)
    return fail() << "an operand and its root";
  int64_t count = operands.size() - 1;
  Type roots = RankedTensorType::get({count}, IntegerType::get(op->getContext(), 32));
  if (!areCompatible(operands.back().getType(), roots))
    return fail() << "roots of type " << roots << ", but got " << operands.back().getType();
  if (!areCompatible(operands.drop_back().getTypes(), op->getResultTypes()))
    return fail() << "results of the types of all operands but the last";
  return success();
}

LogicalResult CollectiveBroadcastOp::verify() {
  if (failed(verifyGroups(*this, getReplicaGroups(), "C1", "C2", /*mustCount=*/false))) // C1, C2
    return failure();
  return verifyRooted(*this, getHasDynamicRoot(), "C3", "C4"); // C3, C4, C5
}

LogicalResult CollectiveReduceOp::verify() {
  if (failed(verifyGroups(*this, getReplicaGroups(), "C1", "C2", /*mustCount=*/false))) // C1, C2
    return failure();
  return verifyRooted(*this, getHasDynamicRoot(), "C3", "C3"); // C3
}

LogicalResult CollectiveReduceOp::verifyRegions() { // C4
  for (auto [operand, result] : llvm::zip(getOperandTypes(), getResultTypes()))
    if (failed(verifyReducer(*this, getComputation(), operand, result, "C4", "C4")))
      return failure();
  return success();
}

LogicalResult CrossReplicaSumOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                                  SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getOperand().getType()); // C2
  return success();
}

LogicalResult CrossReplicaSumOp::verify() { return verifyGroups(*this, getReplicaGroups(), "C1", "C1"); } // C1

LogicalResult AsyncStartOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  Region &body = *adaptor.getRegions().front();
  if (body.empty() || body.front().empty() || !isa<ReturnOp>(body.front().back()))
    return emitConstraint(location, getOperationName(), "C1", "requires a body that ends with a return");
  types.push_back(FutureType::get(context, llvm::to_vector(body.front().back().getOperandTypes()))); // C4
  return success();
}

LogicalResult AsyncStartOp::verifyRegions() {
  Block &body = getBody().front();
  if (!llvm::hasNItems(body.begin(), body.end(), 2) ||
      body.getTerminator()->getOperands() != body.front().getResults()) // C1
    return emitOpError("(C1) requires a body of one operation and a return of its results");
  Operation &op = body.front();
  if (!isa<AllReduceOp, AllGatherOp, AllToAllOp, CollectiveBroadcastOp, CollectivePermuteOp, CollectiveReduceOp,
           ReduceScatterOp, SliceOp, DynamicSliceOp, DynamicUpdateSliceOp>(op)) // C2
    return emitOpError("(C2) requires a collective operation or a slice, but got ") << op.getName();
  if (op.getNumOperands() != getNumOperands()) // C3
    return emitOpError("(C3) requires the operands of the operation in its body");
  for (auto [index, operand] : llvm::enumerate(op.getOperands())) {
    bool isArgument = index < body.getNumArguments() && operand == body.getArgument(index);
    if ((!isArgument && operand != getOperand(index)) || operand.getType() != getOperand(index).getType()) // C3
      return emitOpError("(C3) requires the operands of the operation in its body, but operand ")
             << index << " differs";
  }
  return success();
}

LogicalResult AsyncDoneOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  llvm::append_range(types, cast<FutureType>(adaptor.getOperand().getType()).getTypes()); // C1
  return success();
}

LogicalResult CollectivePermuteOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                                    SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getOperand().getType()); // C5
  return success();
}

LogicalResult latewood::stablehlo::verifySourceTargetPairs(Operation *op, DenseIntElementsAttr pairs) {
  if (pairs.getType().getRank() != 2 || pairs.getType().getDimSize(1) != 2) // C1
    return op->emitOpError("(C1) requires source_target_pairs of shape [N, 2], but got ") << pairs.getType();
  SmallVector<int64_t> sources, targets;
  for (auto [index, number] : llvm::enumerate(pairs.getValues<int64_t>()))
    (index % 2 ? targets : sources).push_back(number);
  if (!areUnique(sources)) // C2
    return op->emitOpError("(C2) requires sources that are all different");
  if (!areUnique(targets)) // C3
    return op->emitOpError("(C3) requires targets that are all different");
  if (llvm::any_of(pairs.getValues<int64_t>(), [](int64_t number) { return number < 0; })) // C4
    return op->emitOpError("(C4) requires numbers that are not negative");
  return success();
}

LogicalResult CollectivePermuteOp::verify() { return verifySourceTargetPairs(*this, getSourceTargetPairs()); } // C1-C4
