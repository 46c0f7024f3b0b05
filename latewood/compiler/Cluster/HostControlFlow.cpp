// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Control flow that the host does itself, because extents in it depend on what it computes. It becomes scf. A loop
// carries beside its tensors the extents that change, as scalars, and the elements of small integer tensors on which
// extents depend, so that neither is read from memory. Branches give the extents that differ among them.
//
// In:  stablehlo's control flow, of which HostPlan says that it is the host's, and what it carries.
// Out: scf.while, scf.if and scf.index_switch on tensors and scalars; their blocks are the host's.

#include "latewood/compiler/Cluster/ShapeMaterializer.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace latewood::cluster {

//===----------------------------------------------------------------------===//
// What is known so far
//===----------------------------------------------------------------------===//

static bool isControlFlow(Operation *op) { return isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp>(op); }

void HostPlan::host(Operation *op) {
  for (; op && !isa<func::FuncOp>(op); op = op->getParentOp())
    if (isControlFlow(op))
      changed |= hosted.insert(originOf(op)).second;
}

void HostPlan::begin(func::FuncOp function, const IRMapping &mapping) {
  changed = false;
  origins.clear();
  function.walk([&](Operation *op) {
    if (isControlFlow(op))
      origins[mapping.lookup(op)] = op;
  });
}

static bool isDynamic(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && !type.hasStaticShape();
}

// Ends a block of the host.
template <typename OpTy, typename... Args>
static void replaceTerminator(Block &block, Args &&...args) {
  Operation *old = block.getTerminator();
  OpBuilder builder(old);
  OpTy::create(builder, old->getLoc(), std::forward<Args>(args)...);
  old->erase();
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

LogicalResult ShapeMaterializer::visitHostBranches(Operation *op) {
  Value selector = getElements(op->getOperand(0)).front();
  if (isa<stablehlo::CaseOp>(op))
    selector = scalars.toIndex(selector, /*isUnsigned=*/false);
  SmallVector<SmallVector<Value>> yielded;
  for (Region &region : op->getRegions()) {
    Block &block = region.front();
    scalars.addHostBlock(&block);
    if (failed(visitBlock(block)))
      return failure();
    yielded.push_back(llvm::to_vector(block.getTerminator()->getOperands()));
  }
  auto isTaken = [&](size_t number) {
    return isa<stablehlo::IfOp>(op)
               ? selector
               : scalars.compare(arith::CmpIPredicate::eq, selector, scalars.index(static_cast<int64_t>(number)));
  };
  // Extents that are known around the branches are chosen there; others are given by the branches.
  SmallVector<Type> types(op->getResultTypes());
  SmallVector<Extents> known;
  for (OpResult result : op->getResults()) {
    Extents &all = known.emplace_back();
    if (!isDynamic(result))
      continue;
    auto type = cast<RankedTensorType>(result.getType());
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
      SmallVector<Value> given;
      for (auto [region, values] : llvm::zip_equal(op->getRegions(), yielded)) {
        scalars.setAnchor(region.front().getTerminator());
        given.push_back(getExtent(values[result.getResultNumber()], dimension));
      }
      if (llvm::none_of(given, [&](Value extent) { return op->isAncestor(extent.getParentBlock()->getParentOp()); })) {
        scalars.setAnchor(op);
        Value chosen = given.back();
        for (size_t number = given.size() - 1; number-- > 0;)
          if (given[number] != chosen)
            chosen = scalars.select(isTaken(number), given[number], chosen);
        all.push_back(chosen);
        continue;
      }
      all.push_back(Value());
      types.push_back(scalars.index(0).getType());
      for (auto [values, extent] : llvm::zip_equal(yielded, given))
        values.push_back(extent);
    }
  }

  OpBuilder builder(op);
  Operation *branches;
  if (isa<stablehlo::IfOp>(op)) {
    branches =
        scf::IfOp::create(builder, op->getLoc(), types, selector, /*addThenBlock=*/false, /*addElseBlock=*/false);
    for (auto [from, to] : llvm::zip_equal(op->getRegions(), branches->getRegions()))
      to.takeBody(from);
  } else {
    // A number that is none of the branches' takes the last.
    unsigned last = op->getNumRegions() - 1;
    SmallVector<int64_t> numbers = llvm::to_vector(llvm::seq<int64_t>(0, last));
    auto choice = scf::IndexSwitchOp::create(builder, op->getLoc(), types, selector, numbers, last);
    for (unsigned i = 0; i < last; ++i)
      choice.getCaseRegions()[i].takeBody(op->getRegion(i));
    choice.getDefaultRegion().takeBody(op->getRegion(last));
    branches = choice;
  }
  SmallVector<Region *> regions;
  for (Region &region : branches->getRegions())
    regions.push_back(&region);
  // The default of a switch is its first region.
  if (isa<scf::IndexSwitchOp>(branches))
    std::rotate(regions.begin(), regions.begin() + 1, regions.end());
  for (auto [region, values] : llvm::zip_equal(regions, yielded))
    replaceTerminator<scf::YieldOp>(region->front(), values);

  scalars.setAnchor(branches->getNextNode());
  unsigned count = op->getNumResults(), next = count;
  for (auto [old, result] : llvm::zip_equal(op->getResults(), branches->getResults().take_front(count))) {
    old.replaceAllUsesWith(result);
    Extents all = known[result.getResultNumber()];
    for (Value &extent : all)
      if (!extent) {
        extent = branches->getResult(next++);
        scalars.assumeNonNegative(extent);
      }
    if (isDynamic(result))
      setExtents(result, all);
  }
  op->erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

// What a loop passes on as it is need not be carried.
void ShapeMaterializer::replaceInvariants(stablehlo::WhileOp loop) {
  Block &cond = loop.getCond().front(), &body = loop.getBody().front();
  for (auto [number, initial, next] : llvm::enumerate(loop.getOperand(), body.getTerminator()->getOperands())) {
    if (next != body.getArgument(number))
      continue;
    cond.getArgument(number).replaceAllUsesWith(initial);
    body.getArgument(number).replaceAllUsesExcept(initial, body.getTerminator());
    loop.getResult(number).replaceAllUsesWith(initial);
  }
}

// The scalars beside these tensors: extents, then elements, in the order in which the loop carries them.
SmallVector<Value> ShapeMaterializer::collectCarried(const HostPlan::Loop &form, ValueRange tensors) {
  SmallVector<Value> carried;
  for (auto [number, dimension] : form.extents)
    carried.push_back(getExtent(tensors[number], dimension));
  for (unsigned number : form.elements)
    llvm::append_range(carried, getElements(tensors[number]));
  return carried;
}

// Ties tensors to the scalars that are carried beside them, and to the extents that do not change.
void ShapeMaterializer::setCarried(const HostPlan::Loop &form, ValueRange initial, ValueRange tensors,
                                   ValueRange carried) {
  SmallVector<Extents> all =
      llvm::map_to_vector(initial, [&](Value tensor) { return isDynamic(tensor) ? getExtents(tensor) : Extents(); });
  for (auto [number, dimension] : form.extents) {
    all[number][dimension] = carried.front();
    scalars.assumeNonNegative(carried.front());
    carried = carried.drop_front();
  }
  for (unsigned number : form.elements) {
    int64_t count = cast<RankedTensorType>(tensors[number].getType()).getNumElements();
    followed[tensors[number]] = llvm::to_vector(carried.take_front(count));
    carried = carried.drop_front(count);
  }
  for (auto [tensor, extents] : llvm::zip_equal(tensors, all))
    if (!extents.empty())
      setExtents(tensor, extents);
}

void ShapeMaterializer::enter(const HostPlan::Loop &form, Block &block, ValueRange initial, ValueRange carried) {
  scalars.addHostBlock(&block);
  unsigned count = block.getNumArguments();
  for (Value scalar : carried)
    block.addArgument(scalar.getType(), block.getParentOp()->getLoc());
  scalars.setAnchor(&block.front());
  ValueRange arguments = block.getArguments();
  setCarried(form, initial, arguments.take_front(count), arguments.drop_front(count));
}

LogicalResult ShapeMaterializer::visitHostWhile(stablehlo::WhileOp loop) {
  replaceInvariants(loop);
  // As it is now: what the visit finds out is for the next attempt.
  const HostPlan::Loop form = plan.getLoop(loop);
  SmallVector<Value> initial(loop.getOperand()), carried = collectCarried(form, initial);
  unsigned count = initial.size();

  Block &cond = loop.getCond().front(), &body = loop.getBody().front();
  enter(form, cond, initial, carried);
  if (failed(visitBlock(cond)))
    return failure();
  scalars.setAnchor(cond.getTerminator());
  Value goesOn = getElements(cond.getTerminator()->getOperand(0)).front();

  enter(form, body, initial, carried);
  if (failed(visitBlock(body)))
    return failure();
  scalars.setAnchor(body.getTerminator());
  SmallVector<Value> next(body.getTerminator()->getOperands());
  for (unsigned number = 0; number < count; ++number)
    if (isDynamic(next[number]))
      for (auto [dimension, before, after] : llvm::enumerate(getExtents(initial[number]), getExtents(next[number])))
        if (before != after && !form.extents.contains({number, static_cast<int64_t>(dimension)}))
          plan.carryExtent(loop, number, dimension);
  llvm::append_range(next, collectCarried(form, next));

  OpBuilder builder(loop);
  SmallVector<Value> inits(initial);
  llvm::append_range(inits, carried);
  auto host = scf::WhileOp::create(builder, loop.getLoc(), llvm::to_vector(ValueRange(inits).getTypes()), inits);
  host.getBefore().takeBody(loop.getCond());
  host.getAfter().takeBody(loop.getBody());
  replaceTerminator<scf::ConditionOp>(cond, goesOn, cond.getArguments());
  replaceTerminator<scf::YieldOp>(body, next);
  loop->replaceAllUsesWith(host->getResults().take_front(count));
  scalars.setAnchor(host->getNextNode());
  setCarried(form, initial, host->getResults().take_front(count), host->getResults().drop_front(count));
  loop.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// What is carried in vain
//===----------------------------------------------------------------------===//

// Whether nothing depends on argument `number` of the loop's body but the value that follows it.
static bool servesOnlyItself(scf::WhileOp loop, unsigned number) {
  SmallVector<Value> worklist{loop.getAfterArguments()[number]};
  DenseSet<Operation *> seen;
  while (!worklist.empty())
    for (OpOperand &use : worklist.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (user == loop.getYieldOp() && use.getOperandNumber() == number)
        continue;
      if (user->getBlock() != loop.getAfterBody() || user->hasTrait<OpTrait::IsTerminator>() ||
          user->getNumRegions() != 0 || !isMemoryEffectFree(user))
        return false;
      if (seen.insert(user).second)
        llvm::append_range(worklist, user->getResults());
    }
  return true;
}

// False: nothing is carried in vain.
static bool dropUnused(scf::WhileOp loop) {
  scf::ConditionOp condition = loop.getConditionOp();
  SmallVector<unsigned> kept, dropped;
  for (unsigned number = 0; number < loop.getNumResults(); ++number) {
    Value before = loop.getBeforeArguments()[number];
    bool isUnused = loop.getResult(number).use_empty() && condition.getArgs()[number] == before && before.hasOneUse() &&
                    servesOnlyItself(loop, number);
    (isUnused ? dropped : kept).push_back(number);
  }
  if (dropped.empty())
    return false;
  for (unsigned number : llvm::reverse(dropped)) {
    loop.getYieldOp()->eraseOperand(number);
    condition.getArgsMutable().erase(number);
  }
  // From the end: what computed the next value is unused in turn.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*loop.getAfterBody())))
    if (isOpTriviallyDead(&op))
      op.erase();
  SmallVector<Value> inits;
  for (unsigned number : kept)
    inits.push_back(loop.getInits()[number]);
  OpBuilder builder(loop);
  auto smaller = scf::WhileOp::create(builder, loop.getLoc(), llvm::to_vector(ValueRange(inits).getTypes()), inits);
  smaller.getBefore().takeBody(loop.getBefore());
  smaller.getAfter().takeBody(loop.getAfter());
  for (unsigned number : llvm::reverse(dropped)) {
    smaller.getBeforeBody()->eraseArgument(number);
    smaller.getAfterBody()->eraseArgument(number);
  }
  for (auto [number, result] : llvm::zip_equal(kept, smaller.getResults()))
    loop.getResult(number).replaceAllUsesWith(result);
  loop.erase();
  return true;
}

// Results of branches that nobody uses. False: there are none.
static bool dropUnused(Operation *branches) {
  SmallVector<OpResult> kept;
  for (OpResult result : branches->getResults())
    if (!result.use_empty())
      kept.push_back(result);
  if (kept.size() == branches->getNumResults())
    return false;
  OperationState state(branches->getLoc(), branches->getName(), branches->getOperands(),
                       llvm::map_to_vector(kept, [](OpResult result) { return result.getType(); }),
                       branches->getAttrs());
  for (Region &region : branches->getRegions()) {
    Operation *yield = region.front().getTerminator();
    for (OpResult result : llvm::reverse(branches->getResults()))
      if (result.use_empty())
        yield->eraseOperand(result.getResultNumber());
    state.addRegion()->takeBody(region);
  }
  OpBuilder builder(branches);
  Operation *smaller = builder.create(state);
  for (auto [old, result] : llvm::zip_equal(kept, smaller->getResults()))
    old.replaceAllUsesWith(result);
  branches->erase();
  return true;
}

void dropUnusedCarried(func::FuncOp function) {
  // An outer one first: an inner one may be what computes a value that nobody needs, and is gone with it.
  auto dropOne = [](Operation *op) {
    auto loop = dyn_cast<scf::WhileOp>(op);
    bool dropped = loop ? dropUnused(loop) : isa<scf::IfOp, scf::IndexSwitchOp>(op) && dropUnused(op);
    return dropped ? WalkResult::interrupt() : WalkResult::advance();
  };
  while (function.walk<WalkOrder::PreOrder>(dropOne).wasInterrupted()) {
  }
}

} // namespace latewood::cluster
