// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The second walk: `materialize %v in %d` and `insert_slice %v into %d` are looked at. If the storage of %v began with
// an empty tensor (or a copy), it can begin with the destination instead, so that %v is computed where it is wanted.
// That is right if nothing reads or writes that part of the destination's storage from the first write to %v up to the
// move, nothing writes it as long as %v is used, and %v is not computed on in place as long as the destination is used.
// A copy to the beginning of which the storage of %v has moved stays a copy of a buffer to itself, and is removed as
// such.

#include "latewood/compiler/Engines/CPU/ContinuedTensors.h"
#include "latewood/compiler/Engines/CPU/Placement.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::cpu;
using bufferization::BufferizableOpInterface;
using bufferization::MaterializeInDestinationOp;

/// Whether two slices of tensors of one shape are seen to have no element in common.
static bool areDisjoint(Slot a, Slot b) {
  if (!a || !b || a.getDestType() != b.getDestType())
    return false;
  for (auto [offsetA, sizeA, strideA, offsetB, sizeB, strideB] :
       llvm::zip_equal(a.getStaticOffsets(), a.getStaticSizes(), a.getStaticStrides(), b.getStaticOffsets(),
                       b.getStaticSizes(), b.getStaticStrides())) {
    if (llvm::any_of(ArrayRef<int64_t>{offsetA, sizeA, strideA, offsetB, sizeB, strideB}, ShapedType::isDynamic))
      continue;
    if (offsetA + (sizeA - 1) * strideA < offsetB || offsetB + (sizeB - 1) * strideB < offsetA)
      return true;
  }
  return false;
}

void Placement::move() {
  SmallVector<Operation *> moves;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<tensor::InsertSliceOp, MaterializeInDestinationOp>(op))
      moves.push_back(op);
    return isControlFlow(op) ? WalkResult::advance() : WalkResult::skip();
  });
  for (Operation *op : moves) {
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      (void)tryToBegin(insert.getSource(), insert.getDest(), op, insert);
      continue;
    }
    auto materialize = cast<MaterializeInDestinationOp>(op);
    if (materialize->getNumResults() != 1)
      continue;
    if (succeeded(tryToBegin(materialize.getSource(), materialize.getDest(), op, Slot()))) {
      materialize.getResult().replaceAllUsesWith(materialize.getSource());
      retire(op);
      continue;
    }
    Value result = materialize.getResult();
    while (result.hasOneUse() && isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(*result.user_begin()))
      result = result.user_begin()->getResult(0);
    for (OpOperand &use : result.getUses())
      if (isa<func::ReturnOp>(use.getOwner()))
        op->emitRemark() << "result " << use.getOperandNumber() << " is copied into its destination";
  }
}

void Placement::retire(Operation *op) {
  op->dropAllReferences();
  dead.push_back(op);
}

Value Placement::created(Operation *op, int64_t position) {
  positions[op] = position;
  return op->getResult(0);
}

bool Placement::findReshapes(Value value, Operation *root, SmallVectorImpl<Operation *> &reshapes) {
  while (value.getDefiningOp() != root) {
    auto result = dyn_cast<OpResult>(value);
    if (!result)
      return false;
    Operation *op = result.getOwner();
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
      reshapes.push_back(op);
      value = op->getOperand(0);
    } else if (Value continued = findContinued(result)) {
      value = continued;
    } else if (isa<scf::IfOp, scf::IndexSwitchOp>(op) && originOf(value)) {
      // All branches give the same place.
      value = op->getRegion(0).front().getTerminator()->getOperand(result.getResultNumber());
    } else {
      return false;
    }
  }
  return true;
}

bool Placement::isAvailable(Value value, Operation *at) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner()->findAncestorOpInBlock(*at);
  Operation *op = value.getDefiningOp();
  Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*at);
  return ancestor && op->isBeforeInBlock(ancestor);
}

bool Placement::makeAvailable(Value value, Operation *at, int64_t position) {
  if (isAvailable(value, at))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != at->getBlock() || op->getNumRegions() != 0 || !isMemoryEffectFree(op) ||
      (!isView(op) && llvm::any_of(op->getResultTypes(), llvm::IsaPred<ShapedType>)))
    return false;
  for (Value operand : op->getOperands())
    if (!makeAvailable(operand, at, position))
      return false;
  op->moveBefore(at);
  positions[op] = position;
  return true;
}

LogicalResult Placement::tryToBegin(Value value, Value dest, Operation *op, Slot slot) {
  unsigned from = storageOf(value), to = storageOf(dest);
  if (from == to || !storages[to].isWritable || !storages[from].isWritable)
    return failure();
  Operation *root = storages[from].root;
  SmallVector<Operation *> reshapes;
  if (!root || root->getBlock() != op->getBlock() || !findReshapes(value, root, reshapes))
    return failure();
  // Only where it does not matter whether a reshape of the destination is a view: the copy stays.
  if (!slot && !reshapes.empty())
    return failure();
  for (Operation *reshape : reshapes)
    if (!cast<RankedTensorType>(reshape->getOperand(0).getType()).hasStaticShape())
      return failure();
  int64_t begin = storages[from].firstWrite, end = positionOf(op);
  if (isDisturbed(from, to, op, begin, end, slot))
    return failure();

  // What is the destination, where the storage begins?
  Value place = dest;
  bool isViewOfDestination = place.getDefiningOp() && isView(place.getDefiningOp());
  if (!(isViewOfDestination ? makeAvailable(place, root, begin) : isAvailable(place, root))) {
    place = originOf(dest);
    if (!place || place.getType() != dest.getType())
      return failure();
    if (!isAvailable(place, root)) {
      Operation *beginning = place.getDefiningOp();
      auto empty = dyn_cast_or_null<tensor::EmptyOp>(beginning);
      if (!empty || empty->getBlock() != root->getBlock() || storages[to].root != beginning)
        return failure();
      for (Value size : empty.getDynamicSizes())
        if (!makeAvailable(size, root, begin))
          return failure();
      beginning->moveBefore(root);
      positions[beginning] = begin;
      storages[to].firstWrite = std::min(storages[to].firstWrite, begin);
    }
  }
  if (slot)
    for (Value operand : slot->getOperands().drop_front(2))
      if (!makeAvailable(operand, root, begin))
        return failure();

  rewriter.setInsertionPoint(root);
  Location loc = op->getLoc();
  if (slot)
    place = created(tensor::ExtractSliceOp::create(rewriter, loc, slot.getSourceType(), place, slot.getMixedOffsets(),
                                                   slot.getMixedSizes(), slot.getMixedStrides()),
                    begin);
  for (Operation *reshape : reshapes) {
    auto type = cast<RankedTensorType>(reshape->getOperand(0).getType());
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(reshape))
      place =
          created(tensor::ExpandShapeOp::create(rewriter, loc, type, place, collapse.getReassociationIndices()), begin);
    else
      place = created(tensor::CollapseShapeOp::create(rewriter, loc, type, place,
                                                      cast<tensor::ExpandShapeOp>(reshape).getReassociationIndices()),
                      begin);
  }
  if (auto copy = dyn_cast<bufferization::AllocTensorOp>(root); copy && copy.getCopy())
    place = created(MaterializeInDestinationOp::create(rewriter, copy.getLoc(), copy.getType(), copy.getCopy(), place),
                    begin);
  rewriter.replaceAllUsesWith(root->getResult(0), place);
  retire(root);
  storageIndex[place] = to;

  // They are one from now on; `slot` stands for all of the former.
  Storage &source = storages[from], &target = storages[to];
  for (auto &[last, member] : source.members) {
    origins.erase(member.value);
    target.members.emplace(last, Storage::Member{member.value == root->getResult(0) ? place : member.value, slot});
  }
  for (auto &[position, unused] : source.writes)
    target.writes.emplace(position, slot);
  target.writes.emplace(begin, slot);
  parents[from] = to;
  return success();
}

bool Placement::isDisturbed(unsigned from, unsigned to, Operation *op, int64_t begin, int64_t end, Slot slot) {
  const Storage &source = storages[from], &target = storages[to];
  for (auto it = target.members.lower_bound(begin); it != target.members.end(); ++it) {
    const Storage::Member &member = it->second;
    if (areDisjoint(member.slot, slot) || definitionOf(member.value) >= end)
      continue;
    for (OpOperand &use : member.value.getUses()) {
      if (use.getOwner() == op || !reads(use))
        continue;
      auto [anchor, last] = extentOf(use);
      if (last < begin || areAlternatives(anchor, op))
        continue;
      // An operation that reads each element before it writes it may be the first one.
      if (last == begin && isFirstWriteElementwise(source, use, member, slot))
        continue;
      return true;
    }
  }
  int64_t last = end;
  if (!source.members.empty())
    last = std::max(last, source.members.rbegin()->first);
  for (auto it = target.writes.lower_bound(begin); it != target.writes.end() && it->first <= last; ++it)
    if (it->first != end && !areDisjoint(it->second, slot))
      return true;
  // What has been moved must stay as it was, also if the value is computed on in place.
  for (auto it = source.writes.upper_bound(end); it != source.writes.end(); ++it)
    for (auto member = target.members.upper_bound(it->first); member != target.members.end(); ++member)
      if (!areDisjoint(member->second.slot, slot))
        return true;
  return false;
}

bool Placement::isFirstWriteElementwise(const Storage &source, OpOperand &use, const Storage::Member &member,
                                        Slot slot) {
  Operation *user = use.getOwner();
  auto bufferizable = dyn_cast<BufferizableOpInterface>(user);
  if (slot || member.slot || !originOf(member.value) || !bufferizable || !isa<tensor::EmptyOp>(source.root) ||
      source.root->getResult(0).getUses().empty())
    return false;
  OpOperand &written = *source.root->getResult(0).getUses().begin();
  return written.getOwner() == user && bufferizable.bufferizesToElementwiseAccess(state, {&use, &written});
}
