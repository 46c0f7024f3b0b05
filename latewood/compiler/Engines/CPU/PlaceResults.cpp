// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says where values belong, before tensors become buffers: results of the function in their destinations, values that
// loops carry in the buffers that carry them. It adds bufferization.materialize_in_destination, which costs nothing
// where the value can be computed there.
//
// Loops. Each iteration gets its carried tensors in buffers and should leave the next values in the same ones. A value
// that is yielded in the place of another one (x, y = y, x) is copied first; all copies stand before all moves. What
// bufferization cannot compute in place all the same, `latewood-settle-carried-buffers` copies.
//
// Results. A destination is pushed towards the place where the value begins: through insertions of slices (a
// concatenation starts from the destination instead of an empty tensor, an update from a copy of its input in the
// destination), into the initial value of a loop, into the branches of a conditional.
//
// In: cluster functions on tensors, results materialized in `plan.out` arguments. Out: the same, with more
// materializations.

#include "latewood/compiler/Dialect/CPU/CPU.h"
#include "latewood/compiler/Engines/CPU/BufferExtents.h"
#include "latewood/compiler/Engines/CPU/ContinuedTensors.h"
#include "latewood/compiler/Engines/CPU/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace latewood::cpu {
#define GEN_PASS_DEF_PLACERESULTSPASS
#include "latewood/compiler/Engines/CPU/Passes.h.inc"
} // namespace latewood::cpu

using namespace mlir;
using namespace latewood;
using namespace latewood::cpu;
using bufferization::MaterializeInDestinationOp;

namespace {

/// Follows the tensor that `value` is computed into, as far as it is known.
Value findOrigin(Value value) {
  while (auto result = dyn_cast<OpResult>(value)) {
    Value continued = findContinued(result);
    if (!continued)
      break;
    value = continued;
  }
  return value;
}

/// Whether `value` can be computed in `place`: a tensor of the same shape, as far as can be seen.
bool hasShapeOf(Value value, Value place) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor && haveSameExtents(value, place);
}

/// Makes operand i of `yield` end up in `destinations[i]` (null: anywhere), arguments of `body`.
void carryInPlace(Operation *yield, Block *body, ArrayRef<Value> destinations) {
  OpBuilder builder(yield);
  Location loc = yield->getLoc();
  SmallVector<unsigned> moved;
  for (auto [i, destination] : llvm::enumerate(destinations)) {
    Value value = yield->getOperand(i);
    if (!destination || value == destination || !hasShapeOf(value, destination))
      continue;
    Value origin = findOrigin(value);
    if (origin == destination)
      continue;
    auto argument = dyn_cast<BlockArgument>(origin);
    if (argument && argument.getOwner() == body)
      yield->setOperand(i, bufferization::AllocTensorOp::create(builder, loc, cast<RankedTensorType>(value.getType()),
                                                                ValueRange(), value));
    moved.push_back(i);
  }
  for (unsigned i : moved)
    yield->setOperand(i, MaterializeInDestinationOp::create(builder, loc, yield->getOperand(i).getType(),
                                                            yield->getOperand(i), destinations[i])
                             .getResult());
}

/// Makes `use` begin in `destination`. Returns false if it must be copied there at the end.
bool pushDestination(OpOperand &use, Value destination) {
  Value value = use.get();
  OpBuilder builder(use.getOwner());
  // The destination may know less of its shape than what is computed into it.
  if (value.getType() != destination.getType()) {
    builder.setInsertionPointAfterValue(destination);
    destination = tensor::CastOp::create(builder, value.getLoc(), value.getType(), destination);
  }
  auto materializeHere = [&](OpOperand &operand) {
    builder.setInsertionPoint(operand.getOwner());
    operand.set(
        MaterializeInDestinationOp::create(builder, value.getLoc(), operand.get().getType(), operand.get(), destination)
            .getResult());
  };
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  unsigned result = cast<OpResult>(value).getResultNumber();
  // Somebody who reads the value before it is complete would see the destination.
  auto begin = [&](OpOperand &operand) {
    if (operand.get().getDefiningOp<tensor::EmptyOp>())
      operand.set(destination);
    else if (!pushDestination(operand, destination))
      materializeHere(operand);
  };
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    begin(insert.getDestMutable());
    return true;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    materializeHere(loop.getInitArgsMutable()[result]);
    return true;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    std::optional<unsigned> carried = findCarried(loop, result);
    if (!carried)
      return false;
    materializeHere(loop.getInitsMutable()[*carried]);
    return true;
  }
  if (isa<scf::IfOp, scf::IndexSwitchOp>(op) && value.hasOneUse()) {
    for (Region &region : op->getRegions()) {
      if (region.empty())
        return false;
      OpOperand &yielded = region.front().getTerminator()->getOpOperand(result);
      pushDestination(yielded, destination);
      materializeHere(yielded);
    }
    return true;
  }
  return false;
}

struct PlaceResultsPass : cpu::impl::PlaceResultsPassBase<PlaceResultsPass> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        SmallVector<Value> destinations(loop.getRegionIterArgs());
        carryInPlace(loop.getBody()->getTerminator(), loop.getBody(), destinations);
      } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        SmallVector<Value> destinations(loop.getInits().size());
        for (unsigned i = 0; i < loop.getConditionOp().getArgs().size(); ++i)
          if (std::optional<unsigned> carried = findCarried(loop, i))
            destinations[*carried] = loop.getAfterArguments()[i];
        carryInPlace(loop.getAfterBody()->getTerminator(), loop.getAfterBody(), destinations);
      }
    });
    SmallVector<MaterializeInDestinationOp> results;
    for (auto op : getOperation().getOps<MaterializeInDestinationOp>())
      if (isa<BlockArgument>(op.getDest()) && isa<RankedTensorType>(op.getDest().getType()))
        results.push_back(op);
    for (MaterializeInDestinationOp op : results) {
      if (!pushDestination(op.getSourceMutable(), op.getDest()))
        continue;
      // A second write of what is there already would conflict with a loop that carries the destination.
      OpBuilder builder(op);
      Value placed = op.getSource();
      if (placed.getType() != op.getResult().getType())
        placed = tensor::CastOp::create(builder, op.getLoc(), op.getResult().getType(), placed);
      op.getResult().replaceAllUsesWith(placed);
      op.erase();
    }
  }
};

} // namespace
