// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two walks over the function, in the order of the program.
//
// The first one puts values into *storages*: what is computed in place of a value, or is a view of it, is in its
// storage. An operation that writes to a storage may do so if no value that is in it already is used later; otherwise
// it is given a copy, a new storage. A use inside of a loop, of a value from outside, lasts until the loop is over.
// After that the values of a storage are versions that follow each other: none is used after the next one has been
// written.
//
// The second one looks at what is moved: `materialize %v in %d` and `insert_slice %v into %d`. If the storage of %v
// began with an empty tensor (or a copy), it can begin with the destination instead, so that %v is computed where it is
// wanted. That is right if nothing reads or writes that part of the destination's storage from the first write to %v up
// to the move, nothing writes it as long as %v is used, and %v is not computed on in place as long as the destination
// is used. A copy to the beginning of which the storage of %v has
// moved stays a copy of a buffer to itself, and is removed as such.
//
// This replaces the analysis of One-Shot Bufferize, whose conflicts are between all pairs of reads and writes of
// aliases: a concatenation of two hundred pieces took it minutes.

#include "latewood/compiler/Engines/CPU/ComputeInPlace.h"
#include "latewood/compiler/Dialect/CPU/CPU.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Engines/CPU/Lifetimes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <deque>
#include <map>

using namespace mlir;
using namespace latewood;
using namespace latewood::cpu;
using bufferization::BufferizableOpInterface;
using bufferization::MaterializeInDestinationOp;

namespace {

bool isTensor(Value value) { return isa<TensorType>(value.getType()); }

bool isControlFlow(Operation *op) {
  return isa<func::FuncOp, scf::ForOp, scf::WhileOp, scf::IfOp, scf::IndexSwitchOp>(op);
}

/// Results are views of the first operand.
bool isView(Operation *op) {
  return isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op);
}

/// The part of a storage that an operation concerns: a slice, or (null) all of it.
using Slot = tensor::InsertSliceOp;

/// Whether two slices of tensors of one shape are seen to have no element in common.
bool areDisjoint(Slot a, Slot b) {
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

struct Member {
  Value value;
  Slot slot;
};

struct Storage {
  bool isWritable = true;
  Operation *root = nullptr; // the empty tensor or the copy that it begins with, if something else could be there
  int64_t firstWrite = 0;
  std::multimap<int64_t, Member> members; // by the last use
  std::multimap<int64_t, Slot> writes;    // by position; a loop's at its beginning
};

class Placement {
public:
  Placement(func::FuncOp function, const bufferization::BufferizationOptions &options)
      : function(function), state(options), rewriter(function.getContext()) {}

  void run() {
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

private:
  //===--------------------------------------------------------------------===//
  // Positions
  //===--------------------------------------------------------------------===//

  int64_t positionOf(Operation *op) const {
    auto own = positions.find(op);
    return own != positions.end() ? own->second : order->before(op);
  }

  int64_t definitionOf(Value value) const {
    if (Operation *op = value.getDefiningOp())
      return op->getNumRegions() && isControlFlow(op) ? order->after(op) : positionOf(op);
    return order->before(cast<BlockArgument>(value).getOwner()->getParentOp());
  }

  /// The operation that a use lasts for, and until when.
  std::pair<Operation *, int64_t> extentOf(OpOperand &use) const {
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

  /// Whether a call that comes by one of them does not come by the other: they are in two branches.
  static bool areAlternatives(Operation *a, Operation *b) {
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

  //===--------------------------------------------------------------------===//
  // Storages
  //===--------------------------------------------------------------------===//

  unsigned newStorage(bool isWritable = true, Operation *root = nullptr) {
    storages.emplace_back();
    storages.back().isWritable = isWritable;
    storages.back().root = root;
    parents.push_back(storages.size() - 1);
    return storages.size() - 1;
  }

  unsigned find(unsigned index) {
    while (parents[index] != index)
      index = parents[index] = parents[parents[index]];
    return index;
  }

  unsigned storageOf(Value value) {
    auto entry = storageIndex.find(value);
    if (entry == storageIndex.end()) { // of an operation that nothing is known about
      addTo(newStorage(/*isWritable=*/false), value, value);
      return storages.size() - 1;
    }
    return entry->second = find(entry->second);
  }

  /// `origin`: the value at the beginning of the storage whose whole place `value` has; null for a part of it.
  void addTo(unsigned index, Value value, Value origin) {
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
    storages[index].members.emplace(last, Member{value, Slot()});
  }

  unsigned merge(unsigned a, unsigned b) {
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

  //===--------------------------------------------------------------------===//
  // Uses
  //===--------------------------------------------------------------------===//

  /// Whether the user, or whoever takes the value over from it, may read what is in the buffer.
  bool needsContents(OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<tensor::DimOp>(user))
      return false;
    if (auto materialize = dyn_cast<MaterializeInDestinationOp>(user))
      return use.get() == materialize.getSource() && use.getOperandNumber() == 0;
    auto destination = dyn_cast<DestinationStyleOpInterface>(user);
    return !destination || !destination.isDpsInit(&use) || state.bufferizesToMemoryRead(use);
  }

  /// Whether the user itself reads: not where it gives the buffer on, to a value that is in the same storage.
  bool reads(OpOperand &use) {
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

  /// Whether some value of the storage is needed after `op` has written to it.
  bool isNeededAfter(unsigned index, Operation *op) {
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

  //===--------------------------------------------------------------------===//
  // First walk: in place or not
  //===--------------------------------------------------------------------===//

  /// An empty tensor for each user, in the block of the user: two of them would be computed in the same place, and one
  /// outside of a loop would live for all of it.
  void separateEmptyTensors() {
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

  void place(Block &block) {
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

  Value originOf(Value value) const { return origins.lookup(value); }

  /// Gives `use` a copy of its value, in front of its user.
  void giveCopy(OpOperand &use, bool isRead) {
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

  /// Whether the operation itself needs the storage of `use` for something else.
  bool conflictsWithOthers(OpOperand &use) {
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

  /// Makes `use` a use of a buffer that its user may write to.
  void makeWritable(OpOperand &use, bool isRead, Slot slot = Slot()) {
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

  void placeResults(Operation *op) {
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

  void place(MaterializeInDestinationOp op) {
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

  void placeInits(Operation *loop, MutableArrayRef<OpOperand> inits) {
    for (OpOperand &init : inits)
      if (isTensor(init.get()))
        makeWritable(init, /*isRead=*/true);
  }

  void place(scf::ForOp loop) {
    placeInits(loop, loop.getInitArgsMutable());
    for (auto [init, argument] : llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs()))
      if (isTensor(init))
        addTo(storageOf(init), argument, argument);
    place(*loop.getBody());
    for (auto [init, result] : llvm::zip_equal(loop.getInitArgs(), loop.getResults()))
      if (isTensor(init))
        addTo(storageOf(init), result, originOf(init));
  }

  void place(scf::WhileOp loop) {
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
      auto argument = dyn_cast<BlockArgument>(value);
      bool isCarried = argument && argument.getOwner() == loop.getBeforeBody();
      addTo(storageOf(value), result, isCarried ? originOf(loop.getInits()[argument.getArgNumber()]) : Value());
    }
  }

  void placeBranches(Operation *op) {
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

  //===--------------------------------------------------------------------===//
  // Second walk: compute where it is wanted
  //===--------------------------------------------------------------------===//

  void move() {
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

  /// Erased in the end: until then no other operation gets its address, which is in tables.
  void retire(Operation *op) {
    op->dropAllReferences();
    dead.push_back(op);
  }

  Value created(Operation *op, int64_t position) {
    positions[op] = position;
    return op->getResult(0);
  }

  /// Whether nothing but moves and reshapes is between the beginning of a storage and `value`; the reshapes, last
  /// first.
  bool findReshapes(Value value, Operation *root, SmallVectorImpl<Operation *> &reshapes) {
    while (value.getDefiningOp() != root) {
      auto result = dyn_cast<OpResult>(value);
      if (!result)
        return false;
      Operation *op = result.getOwner();
      if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
        reshapes.push_back(op);
        value = op->getOperand(0);
      } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
        value = insert.getDest();
      } else if (auto insert = dyn_cast<tensor::InsertOp>(op)) {
        value = insert.getDest();
      } else if (auto materialize = dyn_cast<MaterializeInDestinationOp>(op)) {
        value = materialize.getDest();
      } else if (auto destination = dyn_cast<DestinationStyleOpInterface>(op)) {
        value = destination.getTiedOpOperand(result)->get();
      } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
        value = loop.getInitArgs()[result.getResultNumber()];
      } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        auto argument = dyn_cast<BlockArgument>(loop.getConditionOp().getArgs()[result.getResultNumber()]);
        if (!argument || argument.getOwner() != loop.getBeforeBody())
          return false;
        value = loop.getInits()[argument.getArgNumber()];
      } else if (isa<scf::IfOp, scf::IndexSwitchOp>(op) && originOf(value)) {
        // All branches give the same place.
        value = op->getRegion(0).front().getTerminator()->getOperand(result.getResultNumber());
      } else {
        return false;
      }
    }
    return true;
  }

  bool isAvailable(Value value, Operation *at) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return argument.getOwner()->findAncestorOpInBlock(*at);
    Operation *op = value.getDefiningOp();
    Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*at);
    return ancestor && op->isBeforeInBlock(ancestor);
  }

  /// Moves scalars that are computed without effects, and views, up to `at`.
  bool makeAvailable(Value value, Operation *at, int64_t position) {
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

  /// Lets the storage of `value` begin in the storage of `dest`, in which `op` puts it into `slot`.
  LogicalResult tryToBegin(Value value, Value dest, Operation *op, Slot slot) {
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
        place = created(tensor::ExpandShapeOp::create(rewriter, loc, type, place, collapse.getReassociationIndices()),
                        begin);
      else
        place = created(tensor::CollapseShapeOp::create(rewriter, loc, type, place,
                                                        cast<tensor::ExpandShapeOp>(reshape).getReassociationIndices()),
                        begin);
    }
    if (auto copy = dyn_cast<bufferization::AllocTensorOp>(root); copy && copy.getCopy())
      place = created(
          MaterializeInDestinationOp::create(rewriter, copy.getLoc(), copy.getType(), copy.getCopy(), place), begin);
    rewriter.replaceAllUsesWith(root->getResult(0), place);
    retire(root);
    storageIndex[place] = to;

    // They are one from now on; `slot` stands for all of the former.
    Storage &source = storages[from], &target = storages[to];
    for (auto &[last, member] : source.members) {
      origins.erase(member.value);
      target.members.emplace(last, Member{member.value == root->getResult(0) ? place : member.value, slot});
    }
    for (auto &[position, unused] : source.writes)
      target.writes.emplace(position, slot);
    target.writes.emplace(begin, slot);
    parents[from] = to;
    return success();
  }

  /// Whether the slot is read or written by others while it would hold what is moved into it only by `op`.
  bool isDisturbed(unsigned from, unsigned to, Operation *op, int64_t begin, int64_t end, Slot slot) {
    const Storage &source = storages[from], &target = storages[to];
    for (auto it = target.members.lower_bound(begin); it != target.members.end(); ++it) {
      const Member &member = it->second;
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

  /// Whether `use`, of all of the destination, is by the operation that writes the source first, and leaves each
  /// element alone until it has been read.
  bool isFirstWriteElementwise(const Storage &source, OpOperand &use, const Member &member, Slot slot) {
    Operation *user = use.getOwner();
    auto bufferizable = dyn_cast<BufferizableOpInterface>(user);
    if (slot || member.slot || !originOf(member.value) || !bufferizable || !isa<tensor::EmptyOp>(source.root) ||
        source.root->getResult(0).getUses().empty())
      return false;
    OpOperand &written = *source.root->getResult(0).getUses().begin();
    return written.getOwner() == user && bufferizable.bufferizesToElementwiseAccess(state, {&use, &written});
  }

  func::FuncOp function;
  bufferization::AnalysisState state;
  IRRewriter rewriter;
  std::optional<ProgramOrder> order;
  DenseMap<Operation *, int64_t> positions; // of operations that are new, or have moved
  std::deque<Storage> storages;
  SmallVector<unsigned> parents; // of storages that have been united
  DenseMap<Value, unsigned> storageIndex;
  DenseMap<Value, Value> origins; // the value at whose place, and with whose elements in their order, it is
  SmallVector<Operation *> dead;
};

} // namespace

void cpu::computeInPlace(func::FuncOp function, const bufferization::BufferizationOptions &options) {
  Placement(function, options).run();
}
