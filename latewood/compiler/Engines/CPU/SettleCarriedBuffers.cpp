// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives each buffer that a loop carries one place for all iterations.
//
// Bufferization lets an iteration allocate a buffer and hand it to the next one. Static planning of memory gives an
// allocation one place, so the next iteration would overwrite what it was handed. Here the handing over is made
// explicit:
//
//   scf.while (%a = %init) {            %A = alloc; copy %init -> %A
//     scf.condition(%c) %a              scf.while { scf.condition(%c) } do {
//   } do {                                %n = alloc
//   ^bb0(%b):                             … compute %n from %A …
//     %n = alloc                          copy %n -> %A
//     … compute %n from %b …            }
//     scf.yield %n                      // after the loop: %A
//   }
//
// Values that are handed over crosswise (a swap) or that are views of carried buffers are copied aside first: all of
// them are read before any is written.
//
// In: functions on buffers; loops may carry buffers whose shape is known before them. Out: loops carry no buffers. A
// buffer of its own that nobody else uses afterwards is not copied: the loop works on it.

#include "latewood/compiler/Engines/CPU/BufferExtents.h"
#include "latewood/compiler/Engines/CPU/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace latewood::cpu {
#define GEN_PASS_DEF_SETTLECARRIEDBUFFERSPASS
#include "latewood/compiler/Engines/CPU/Passes.h.inc"
} // namespace latewood::cpu

using namespace mlir;
using namespace latewood;
using namespace latewood::cpu;

namespace {

bool isBuffer(Value value) { return isa<MemRefType>(value.getType()); }

/// Extents were found to be known before: see `checkExtents`.
Value allocateLike(OpBuilder &builder, Location loc, Value value) {
  auto type = cast<MemRefType>(value.getType());
  return memref::AllocOp::create(builder, loc, MemRefType::get(type.getShape(), type.getElementType()),
                                 getDynamicExtents(builder, value).value_or(SmallVector<Value>()));
}

/// What a loop carries has the same shape in all iterations, one that is known when it starts.
LogicalResult checkExtents(Operation *loop) {
  SmallVector<Value> carried(loop->getOperands());
  if (auto whileLoop = dyn_cast<scf::WhileOp>(loop))
    llvm::append_range(carried, whileLoop.getConditionOp().getArgs());
  for (Value value : carried) {
    auto type = dyn_cast<MemRefType>(value.getType());
    if (!type || type.hasStaticShape())
      continue;
    OpBuilder builder(loop);
    if (!getDynamicExtents(builder, value))
      return loop->emitError() << "carries a buffer of type " << type << ", whose extents are not known";
  }
  ValueRange next = isa<scf::ForOp>(loop) ? ValueRange(cast<scf::ForOp>(loop).getYieldedValues())
                                          : ValueRange(cast<scf::WhileOp>(loop).getYieldOp().getResults());
  ValueRange inits = isa<scf::ForOp>(loop) ? cast<scf::ForOp>(loop).getInitArgs() : cast<scf::WhileOp>(loop).getInits();
  for (auto [init, value] : llvm::zip_equal(inits, next))
    if (isBuffer(init) && !haveSameExtents(init, value))
      return loop->emitError() << "carries a buffer of type " << init.getType()
                               << ", whose extents may change from one iteration to the next";
  return success();
}

/// True if `value` is an allocation that `loop` may work on: in the loop's block, of plain layout, and used by nothing
/// that is not over when the loop starts.
bool belongsTo(Value value, Operation *loop) {
  auto allocation = value.getDefiningOp<memref::AllocOp>();
  if (!allocation || allocation->getBlock() != loop->getBlock() || !allocation.getType().getLayout().isIdentity())
    return false;
  unsigned inits = 0;
  for (Operation *user : allocation->getUsers()) {
    if (user == loop) {
      ++inits;
      continue;
    }
    Operation *ancestor = loop->getBlock()->findAncestorOpInBlock(*user);
    bool isOver = ancestor && ancestor->isBeforeInBlock(loop);
    if (!isOver || user->getNumResults() != 0 || user->hasTrait<OpTrait::IsTerminator>())
      return false;
  }
  return inits == 1;
}

/// The buffer that holds a carried value during the loop.
Value settle(OpBuilder &builder, Value init, Operation *loop) {
  if (belongsTo(init, loop))
    return init;
  Value place = allocateLike(builder, loop->getLoc(), init);
  memref::CopyOp::create(builder, loop->getLoc(), init, place);
  return place;
}

/// Views and control flow have types that follow from the types of their operands; others take a buffer of any layout.
bool needsType(Operation *op) {
  return isa<ViewLikeOpInterface, RegionBranchOpInterface, RegionBranchTerminatorOpInterface>(op);
}

/// Makes uses of `value` uses of `place`.
void replaceBy(Value value, Value place) {
  if (value.getType() == place.getType()) {
    value.replaceAllUsesWith(place);
    return;
  }
  Value cast;
  for (OpOperand &use : llvm::make_early_inc_range(value.getUses())) {
    if (!needsType(use.getOwner())) {
      use.set(place);
      continue;
    }
    if (!cast) {
      OpBuilder builder(place.getContext());
      builder.setInsertionPointAfterValue(place);
      cast = memref::CastOp::create(builder, place.getLoc(), value.getType(), place);
    }
    use.set(cast);
  }
}

Value skipCasts(Value value) {
  while (auto cast = value.getDefiningOp<memref::CastOp>())
    value = cast.getSource();
  return value;
}

/// In front of the terminator of `body`: writes `values` to `places`, as if at once.
void handOver(Block &body, ArrayRef<Value> values, ArrayRef<Value> places) {
  OpBuilder builder(body.getTerminator());
  Location loc = body.getTerminator()->getLoc();
  SmallVector<Value> sources;
  for (auto [value, place] : llvm::zip_equal(values, places)) {
    Value source = skipCasts(value);
    Operation *definition = source.getDefiningOp();
    // An allocation of this iteration is no other carried buffer, and can be read last.
    bool isOwn = isa_and_present<memref::AllocOp>(definition) && body.findAncestorOpInBlock(*definition);
    if (source != place && !isOwn) {
      Value aside = allocateLike(builder, loc, source);
      memref::CopyOp::create(builder, loc, source, aside);
      source = aside;
    }
    sources.push_back(source);
  }
  for (auto [source, place] : llvm::zip_equal(sources, places))
    if (source != place)
      memref::CopyOp::create(builder, loc, source, place);
}

void settleFor(scf::ForOp loop) {
  if (llvm::none_of(loop.getInitArgs(), isBuffer))
    return;
  OpBuilder builder(loop);
  SmallVector<Value> values, places, inits, yields;
  SmallVector<unsigned> kept;
  for (unsigned i = 0; i < loop.getInitArgs().size(); ++i) {
    Value init = loop.getInitArgs()[i];
    if (!isBuffer(init)) {
      kept.push_back(i);
      inits.push_back(init);
      continue;
    }
    places.push_back(settle(builder, init, loop));
    replaceBy(loop.getRegionIterArg(i), places.back());
    replaceBy(loop.getResult(i), places.back());
  }
  for (unsigned i = 0; i < loop.getInitArgs().size(); ++i)
    (isBuffer(loop.getInitArgs()[i]) ? values : yields).push_back(loop.getYieldedValues()[i]);
  handOver(*loop.getBody(), values, places);

  auto smaller =
      scf::ForOp::create(builder, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits);
  smaller->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  if (!smaller.getBody()->empty())
    smaller.getBody()->getTerminator()->erase();
  loop.getInductionVar().replaceAllUsesWith(smaller.getInductionVar());
  for (auto [to, from] : llvm::enumerate(kept)) {
    loop.getRegionIterArg(from).replaceAllUsesWith(smaller.getRegionIterArg(to));
    loop.getResult(from).replaceAllUsesWith(smaller.getResult(to));
    yields[to] = loop.getYieldedValues()[from];
  }
  loop.getBody()->getTerminator()->erase();
  smaller.getBody()->getOperations().splice(smaller.getBody()->end(), loop.getBody()->getOperations());
  builder.setInsertionPointToEnd(smaller.getBody());
  scf::YieldOp::create(builder, loop.getLoc(), yields);
  loop.erase();
}

void settleWhile(scf::WhileOp loop) {
  if (llvm::none_of(loop.getInits(), isBuffer) && llvm::none_of(loop.getResults(), isBuffer))
    return;
  OpBuilder builder(loop);
  scf::ConditionOp condition = loop.getConditionOp();
  SmallVector<Value> places(loop.getInits().size()), inits;
  for (auto [i, init] : llvm::enumerate(loop.getInits())) {
    if (!isBuffer(init)) {
      inits.push_back(init);
      continue;
    }
    places[i] = settle(builder, init, loop);
    replaceBy(loop.getBeforeArguments()[i], places[i]);
  }
  // What the condition passes on, to the body and out of the loop.
  SmallVector<Value> passedPlaces(loop.getNumResults()), passed, copied, copies;
  SmallVector<Type> passedTypes;
  for (auto [i, value] : llvm::enumerate(condition.getArgs())) {
    if (!isBuffer(value)) {
      passed.push_back(value);
      passedTypes.push_back(value.getType());
      continue;
    }
    Value source = skipCasts(value);
    if (llvm::is_contained(places, source)) {
      passedPlaces[i] = source;
    } else {
      passedPlaces[i] = allocateLike(builder, loop.getLoc(), value);
      copied.push_back(value);
      copies.push_back(passedPlaces[i]);
    }
    replaceBy(loop.getAfterArguments()[i], passedPlaces[i]);
    replaceBy(loop.getResult(i), passedPlaces[i]);
  }
  handOver(loop.getBefore().front(), copied, copies);
  SmallVector<Value> values, valuePlaces, yields;
  for (auto [i, value] : llvm::enumerate(loop.getYieldOp().getResults())) {
    if (!places[i]) {
      yields.push_back(value);
      continue;
    }
    values.push_back(value);
    valuePlaces.push_back(places[i]);
  }
  handOver(loop.getAfter().front(), values, valuePlaces);

  // The same loop without the buffers.
  auto smaller = scf::WhileOp::create(builder, loop.getLoc(), passedTypes, inits);
  smaller->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  smaller.getBefore().takeBody(loop.getBefore());
  smaller.getAfter().takeBody(loop.getAfter());
  condition.getArgsMutable().assign(passed);
  smaller.getYieldOp().getResultsMutable().assign(yields);
  smaller.getBeforeBody()->eraseArguments([](BlockArgument argument) { return isBuffer(argument); });
  smaller.getAfterBody()->eraseArguments([](BlockArgument argument) { return isBuffer(argument); });
  unsigned next = 0;
  for (Value result : loop.getResults())
    if (!isBuffer(result))
      result.replaceAllUsesWith(smaller.getResult(next++));
  loop.erase();
}

struct SettleCarriedBuffersPass : cpu::impl::SettleCarriedBuffersPassBase<SettleCarriedBuffersPass> {
  void runOnOperation() override {
    // Inner loops first: what they give is a buffer of the outer loop's body then.
    WalkResult result = getOperation().walk([](Operation *op) {
      if (!isa<scf::ForOp, scf::WhileOp>(op))
        return WalkResult::advance();
      if (failed(checkExtents(op)))
        return WalkResult::interrupt();
      if (auto loop = dyn_cast<scf::ForOp>(op))
        settleFor(loop);
      else
        settleWhile(cast<scf::WhileOp>(op));
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    // A cast that forgets the layout was made for a loop, and hides strides from those who need them. One that says
    // more of the shape is what a destination is seen as.
    getOperation().walk([](memref::CastOp cast) {
      Value source = skipCasts(cast);
      bool isOfShape = cast.getType().getShape() != llvm::cast<MemRefType>(source.getType()).getShape();
      for (OpOperand &use : llvm::make_early_inc_range(cast->getUses()))
        if (!needsType(use.getOwner()) && !isOfShape)
          use.set(source);
      if (cast->use_empty())
        cast.erase();
    });
  }
};

} // namespace
