// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two walks over the function, in the order of the program.
//
// The first one, here, puts values into *storages*: what is computed in place of a value, or is a view of it, is in its
// storage. An operation that writes to a storage may do so if no value that is in it already is used later; otherwise
// it is given a copy, a new storage. After that the values of a storage are versions that follow each other: none is
// used after the next one has been written. The second one (PlacementMoves.cpp) computes values where they are wanted.
//
// This replaces the analysis of One-Shot Bufferize, whose conflicts are between all pairs of reads and writes of
// aliases: a concatenation of two hundred pieces took it minutes.

#include "latewood/compiler/Engines/CPU/ComputeInPlace.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Engines/CPU/ContinuedTensors.h"
#include "latewood/compiler/Engines/CPU/Placement.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::cpu;
using bufferization::BufferizableOpInterface;
using bufferization::MaterializeInDestinationOp;

void Placement::run() {
  separateEmptyTensors();
  order.emplace(function);
  for (BlockArgument argument : function.getArguments())
    if (isTensor(argument))
      addTo(newStorage(bool(function.getArgAttr(argument.getArgNumber(), plan::PlanDialect::getOutAttrName()))),
            argument, argument);
  for (Block &block : function.getBody())
    place(block);
  move();
  for (Operation *op : dead)
    op->erase();
}

void Placement::separateEmptyTensors() {
  SmallVector<tensor::EmptyOp> empties;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto empty = dyn_cast<tensor::EmptyOp>(op))
      empties.push_back(empty);
    return isControlFlow(op) ? WalkResult::advance() : WalkResult::skip();
  });
  for (tensor::EmptyOp empty : empties) {
    for (OpOperand &use : llvm::make_early_inc_range(empty->getUses())) {
      Operation *user = use.getOwner();
      if (!isControlFlow(user->getParentOp()))
        continue;
      rewriter.setInsertionPoint(user);
      if (empty->hasOneUse())
        empty->moveBefore(user);
      else
        use.set(rewriter.clone(*empty)->getResult(0));
    }
    if (empty->use_empty())
      empty.erase();
  }
}

void Placement::place(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isa<tensor::EmptyOp, bufferization::AllocTensorOp>(op)) {
      unsigned index = newStorage(/*isWritable=*/true, &op);
      bool isEmpty = isa<tensor::EmptyOp>(op) && op.hasOneUse();
      storages[index].firstWrite = positionOf(isEmpty ? *op.user_begin() : &op);
      addTo(index, op.getResult(0), op.getResult(0));
    } else if (op.hasTrait<OpTrait::ConstantLike>()) {
      if (isTensor(op.getResult(0)))
        addTo(newStorage(/*isWritable=*/false), op.getResult(0), op.getResult(0));
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      place(loop);
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      place(loop);
    } else if (isa<scf::IfOp, scf::IndexSwitchOp>(op)) {
      placeBranches(&op);
    } else if (auto materialize = dyn_cast<MaterializeInDestinationOp>(op)) {
      place(materialize);
    } else if (!op.hasTrait<OpTrait::IsTerminator>()) {
      placeResults(&op);
    }
  }
}

void Placement::giveCopy(OpOperand &use, bool isRead) {
  Operation *user = use.getOwner();
  rewriter.setInsertionPoint(user);
  auto type = cast<RankedTensorType>(use.get().getType());
  auto copy = bufferization::AllocTensorOp::create(rewriter, user->getLoc(), type, ValueRange(),
                                                   isRead || !type.hasStaticShape() ? use.get() : Value());
  positions[copy] = positionOf(user);
  use.set(copy);
  unsigned index = newStorage(/*isWritable=*/true, copy);
  storages[index].firstWrite = positionOf(user);
  addTo(index, copy, copy);
}

bool Placement::conflictsWithOthers(OpOperand &use) {
  Operation *op = use.getOwner();
  unsigned index = storageOf(use.get());
  for (OpOperand &other : op->getOpOperands()) {
    if (&other == &use || !isTensor(other.get()) || storageOf(other.get()) != index)
      continue;
    // Inits of loops and destinations: of two, only the first one has it.
    if (isControlFlow(op)) {
      if (other.getOperandNumber() < use.getOperandNumber())
        return true;
      continue;
    }
    if (state.bufferizesToMemoryWrite(other)) {
      if (other.getOperandNumber() < use.getOperandNumber())
        return true;
      continue;
    }
    if (!needsContents(other))
      continue;
    auto bufferizable = dyn_cast<BufferizableOpInterface>(op);
    // Element by element the same place: only if both are all of it.
    if (!bufferizable || !originOf(use.get()) || originOf(use.get()) != originOf(other.get()) ||
        !bufferizable.bufferizesToElementwiseAccess(state, {&other, &use}))
      return true;
  }
  return false;
}

void Placement::makeWritable(OpOperand &use, bool isRead, Slot slot) {
  Operation *op = use.getOwner();
  unsigned index = storageOf(use.get());
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op); insert && storages[index].isWritable) {
    // It is cheaper to put the slice aside than all that it goes into.
    if (storageOf(insert.getSource()) == index && !isNeededAfter(index, op))
      giveCopy(insert.getSourceMutable(), /*isRead=*/true);
  }
  if (!storages[index].isWritable || conflictsWithOthers(use) || isNeededAfter(index, op)) {
    giveCopy(use, isRead);
    index = storageOf(use.get());
  }
  storages[index].writes.emplace(positionOf(op), slot);
}

void Placement::placeResults(Operation *op) {
  for (OpOperand &use : op->getOpOperands())
    if (isTensor(use.get()) && state.bufferizesToMemoryWrite(use))
      makeWritable(use, state.bufferizesToMemoryRead(use), dyn_cast<tensor::InsertSliceOp>(op));
  for (OpOperand &use : op->getOpOperands()) {
    if (!isTensor(use.get()))
      continue;
    for (const bufferization::AliasingValue &alias : state.getAliasingValues(use)) {
      if (!isTensor(alias.value))
        continue;
      unsigned index = storageOf(use.get());
      auto known = storageIndex.find(alias.value);
      if (known != storageIndex.end()) {
        merge(known->second, index);
        origins.erase(alias.value);
        continue;
      }
      bool isWhole = alias.relation == bufferization::BufferRelation::Equivalent ||
                     isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op);
      addTo(index, alias.value, isWhole ? originOf(use.get()) : Value());
    }
  }
  for (Value result : op->getResults())
    if (isTensor(result) && !storageIndex.contains(result))
      addTo(newStorage(), result, result);
}

void Placement::place(MaterializeInDestinationOp op) {
  if (op->getNumResults() != 1)
    return;
  unsigned index = storageOf(op.getDest());
  // What cannot be moved stays where it is: the loop or the function copies it at its end.
  if (!storages[index].isWritable || storageOf(op.getSource()) == index || isNeededAfter(index, op)) {
    op.getResult().replaceAllUsesWith(op.getSource());
    // Its uses are uses of the source now.
    addTo(storageOf(op.getSource()), op.getSource(), originOf(op.getSource()));
    op.erase();
    return;
  }
  storages[index].writes.emplace(positionOf(op), Slot());
  addTo(index, op.getResult(), originOf(op.getDest()));
}

void Placement::placeInits(Operation *loop, MutableArrayRef<OpOperand> inits) {
  for (OpOperand &init : inits)
    if (isTensor(init.get()))
      makeWritable(init, /*isRead=*/true);
}

void Placement::place(scf::ForOp loop) {
  placeInits(loop, loop.getInitArgsMutable());
  for (auto [init, argument] : llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs()))
    if (isTensor(init))
      addTo(storageOf(init), argument, argument);
  place(*loop.getBody());
  for (auto [init, result] : llvm::zip_equal(loop.getInitArgs(), loop.getResults()))
    if (isTensor(init))
      addTo(storageOf(init), result, originOf(init));
}

void Placement::place(scf::WhileOp loop) {
  placeInits(loop, loop.getInitsMutable());
  for (auto [init, argument] : llvm::zip_equal(loop.getInits(), loop.getBeforeArguments()))
    if (isTensor(init))
      addTo(storageOf(init), argument, argument);
  place(*loop.getBeforeBody());
  OperandRange passed = loop.getConditionOp().getArgs();
  for (auto [value, argument] : llvm::zip_equal(passed, loop.getAfterArguments()))
    if (isTensor(value))
      addTo(storageOf(value), argument, argument);
  place(*loop.getAfterBody());
  for (auto [value, result] : llvm::zip_equal(passed, loop.getResults())) {
    if (!isTensor(value))
      continue;
    Value init = findContinued(result);
    addTo(storageOf(value), result, init ? originOf(init) : Value());
  }
}

void Placement::placeBranches(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      place(block);
  for (OpResult result : op->getResults()) {
    if (!isTensor(result))
      continue;
    std::optional<unsigned> index;
    Value origin;
    bool isSamePlace = true;
    for (Region &region : op->getRegions()) {
      if (region.empty())
        continue;
      Value value = region.front().getTerminator()->getOperand(result.getResultNumber());
      unsigned yielded = storageOf(value);
      isSamePlace &= !index || (find(*index) == yielded && origin == originOf(value));
      origin = originOf(value);
      index = index ? merge(*index, yielded) : yielded;
    }
    if (!index)
      continue;
    // One or the other: what each begins with stays as it is.
    if (!isSamePlace)
      storages[*index].root = nullptr;
    addTo(*index, result, isSamePlace ? origin : Value());
  }
}

void cpu::computeInPlace(func::FuncOp function, const bufferization::BufferizationOptions &options) {
  Placement(function, options).run();
}
