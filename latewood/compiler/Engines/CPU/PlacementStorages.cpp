// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What shares a place, and how long it is needed. A use inside of a loop, of a value from outside, lasts until the loop
// is over; the values of a storage are ordered by their last use, so that only those that matter are looked at.

#include "latewood/compiler/Engines/CPU/Placement.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::cpu;
using bufferization::MaterializeInDestinationOp;

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

int64_t Placement::positionOf(Operation *op) const {
  auto own = positions.find(op);
  return own != positions.end() ? own->second : order->before(op);
}

int64_t Placement::definitionOf(Value value) const {
  if (Operation *op = value.getDefiningOp())
    return op->getNumRegions() && isControlFlow(op) ? order->after(op) : positionOf(op);
  return order->before(cast<BlockArgument>(value).getOwner()->getParentOp());
}

std::pair<Operation *, int64_t> Placement::extentOf(OpOperand &use) const {
  Region *region = use.get().getParentRegion();
  Operation *anchor = use.getOwner();
  int64_t last = positionOf(anchor);
  for (Operation *op = anchor; op->getParentRegion() != region;) {
    op = op->getParentOp();
    if (!op || op == function)
      break;
    if (isa<LoopLikeOpInterface>(op)) {
      anchor = op;
      last = order->after(op);
    }
  }
  return {anchor, last};
}

bool Placement::areAlternatives(Operation *a, Operation *b) {
  llvm::SmallDenseMap<Operation *, Region *> parents;
  for (Operation *op = a; op; op = op->getParentOp())
    parents[op->getParentOp()] = op->getParentRegion();
  for (Operation *op = b; op; op = op->getParentOp()) {
    auto parent = parents.find(op->getParentOp());
    if (parent != parents.end())
      return isa_and_present<scf::IfOp, scf::IndexSwitchOp>(op->getParentOp()) &&
             parent->second != op->getParentRegion();
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Storages
//===----------------------------------------------------------------------===//

unsigned Placement::newStorage(bool isWritable, Operation *root) {
  storages.emplace_back();
  storages.back().isWritable = isWritable;
  storages.back().root = root;
  parents.push_back(storages.size() - 1);
  return storages.size() - 1;
}

unsigned Placement::find(unsigned index) {
  while (parents[index] != index)
    index = parents[index] = parents[parents[index]];
  return index;
}

unsigned Placement::storageOf(Value value) {
  auto entry = storageIndex.find(value);
  if (entry == storageIndex.end()) { // of an operation that nothing is known about
    addTo(newStorage(/*isWritable=*/false), value, value);
    return storages.size() - 1;
  }
  return entry->second = find(entry->second);
}

void Placement::addTo(unsigned index, Value value, Value origin) {
  storageIndex[value] = index;
  if (origin)
    origins[value] = origin;
  // Nothing is ever asked about the members of what is not written.
  if (!storages[index].isWritable)
    return;
  int64_t last = -1;
  for (OpOperand &use : value.getUses())
    if (needsContents(use))
      last = std::max(last, extentOf(use).second);
  storages[index].members.emplace(last, Storage::Member{value, Slot()});
}

unsigned Placement::merge(unsigned a, unsigned b) {
  a = find(a);
  b = find(b);
  if (a == b)
    return a;
  if (storages[a].members.size() < storages[b].members.size())
    std::swap(a, b);
  Storage &to = storages[a], &from = storages[b];
  to.isWritable &= from.isWritable;
  to.root = nullptr;
  to.members.merge(from.members);
  to.writes.merge(from.writes);
  parents[b] = a;
  return a;
}

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

bool Placement::needsContents(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<tensor::DimOp>(user))
    return false;
  if (auto materialize = dyn_cast<MaterializeInDestinationOp>(user))
    return use.get() == materialize.getSource() && use.getOperandNumber() == 0;
  auto destination = dyn_cast<DestinationStyleOpInterface>(user);
  return !destination || !destination.isDpsInit(&use) || state.bufferizesToMemoryRead(use);
}

bool Placement::reads(OpOperand &use) {
  Operation *user = use.getOwner();
  if (!needsContents(use) || isView(user) || isa<scf::ForOp, scf::WhileOp, scf::ConditionOp>(user))
    return false;
  if (isa<scf::YieldOp>(user))
    return !isa<scf::IfOp, scf::IndexSwitchOp>(user->getParentOp());
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(user))
    return use.getOperandNumber() == 0;
  if (auto insert = dyn_cast<tensor::InsertOp>(user))
    return false;
  return true;
}

bool Placement::isNeededAfter(unsigned index, Operation *op) {
  int64_t position = positionOf(op);
  auto &members = storages[index].members;
  for (auto it = members.rbegin(); it != members.rend() && it->first > position; ++it)
    for (OpOperand &use : it->second.value.getUses()) {
      if (!needsContents(use))
        continue;
      auto [anchor, last] = extentOf(use);
      if (last > position && !areAlternatives(anchor, op))
        return true;
    }
  return false;
}
