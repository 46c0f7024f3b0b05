// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass ConvertTensorRTToStableHLO: what is written in the `tensorrt` dialect becomes StableHLO, so that a program
// for TensorRT runs on a machine without a GPU.
//
// In: layers in functions, at any depth. Out: none; a module of TensorRT's clusters belongs to the CPU engine. Layers
// are converted from the inside out, conditionals and loops after what is in them. A layer that cannot be converted is
// an error that names it.
#include "latewood/compiler/Input/ConvertTensorRTToStableHLO.h"
#include "latewood/compiler/Dialect/CHLO/CHLO.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Input/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

namespace latewood::input {
#define GEN_PASS_DEF_CONVERTTENSORRTTOSTABLEHLOPASS
#include "latewood/compiler/Input/Passes.h.inc"
} // namespace latewood::input

using namespace mlir;
using namespace latewood;
using namespace latewood::input;

//===----------------------------------------------------------------------===//
// Conditionals and loops
//===----------------------------------------------------------------------===//

/// Replaces the terminator of `block` by a return.
static void returnFrom(Block &block, ValueRange values) {
  Operation *terminator = block.getTerminator();
  OpBuilder b(terminator);
  stablehlo::ReturnOp::create(b, terminator->getLoc(), values);
  terminator->erase();
}

static Values lowerIf(LocBuilder &b, tensorrt::IfOp op) {
  auto conditional = stablehlo::IfOp::create(b, op.getResultTypes(), op.getCondition());
  conditional.getTrueBranch().takeBody(op.getTrueRegion());
  conditional.getFalseBranch().takeBody(op.getFalseRegion());
  for (Region *region : {&conditional.getTrueBranch(), &conditional.getFalseBranch()})
    returnFrom(region->front(), region->front().getTerminator()->getOperands());
  return Values(conditional.getResults());
}

/// What the condition passes on, computed at the builder's place for the values `arguments`.
static Values passOn(OpBuilder &b, Block &condition, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(condition.getArguments(), arguments);
  auto terminator = cast<tensorrt::ConditionOp>(condition.getTerminator());
  if (llvm::equal(terminator.getArgs(), condition.getArguments()))
    return Values(arguments);
  for (Operation &inner : condition.without_terminator())
    b.clone(inner, mapping);
  return llvm::map_to_vector(terminator.getArgs(), [&](Value value) { return mapping.lookupOrDefault(value); });
}

static Values lowerWhile(LocBuilder &b, tensorrt::WhileOp op) {
  Block &condition = op.getCondRegion().front(), &body = op.getBodyRegion().front();
  auto loop = stablehlo::WhileOp::create(b, op.getResultTypes(), op.getOperands());
  Values results;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfter(loop);
    results = passOn(b, condition, loop.getResults());
    // The body begins with what the condition passes on.
    Block &newBody = loop.getBody().emplaceBlock();
    for (BlockArgument argument : body.getArguments())
      newBody.addArgument(argument.getType(), argument.getLoc());
    b.setInsertionPointToStart(&newBody);
    Values passed = passOn(b, condition, newBody.getArguments());
    for (auto [argument, value] : llvm::zip(body.getArguments(), passed))
      argument.replaceAllUsesWith(value);
    newBody.getOperations().splice(newBody.end(), body.getOperations());
    returnFrom(newBody, newBody.getTerminator()->getOperands());
  }
  loop.getCond().takeBody(op.getCondRegion());
  returnFrom(loop.getCond().front(),
             cast<tensorrt::ConditionOp>(loop.getCond().front().getTerminator()).getCondition());
  return results;
}

static Values lowerFor(LocBuilder &b, tensorrt::ForOp op) {
  Block &body = op.getBodyRegion().front();
  Values state{op.getLb()};
  llvm::append_range(state, op.getInit());
  SmallVector<Type> types = llvm::to_vector(ValueRange(state).getTypes());
  SmallVector<Location> locations(types.size(), op.getLoc());
  auto loop = stablehlo::WhileOp::create(b, types, state);
  OpBuilder::InsertionGuard guard(b);
  Block &condition = loop.getCond().emplaceBlock();
  condition.addArguments(types, locations);
  b.setInsertionPointToStart(&condition);
  Tensor goesOn = Tensor(b, condition.getArgument(0)) < Tensor(b, op.getUb());
  stablehlo::ReturnOp::create(b, Value(goesOn));
  Block &newBody = loop.getBody().emplaceBlock();
  newBody.addArguments(types, locations);
  for (auto [argument, value] : llvm::zip(body.getArguments(), newBody.getArguments()))
    argument.replaceAllUsesWith(value);
  newBody.getOperations().splice(newBody.end(), body.getOperations());
  Operation *yield = newBody.getTerminator();
  b.setInsertionPoint(yield);
  Values next{Tensor(b, newBody.getArgument(0)) + Tensor(b, op.getStep())};
  llvm::append_range(next, yield->getOperands());
  returnFrom(newBody, next);
  return Values(loop.getResults().drop_front());
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct ConvertTensorRTToStableHLOPass
    : input::impl::ConvertTensorRTToStableHLOPassBase<ConvertTensorRTToStableHLOPass> {
  using ConvertTensorRTToStableHLOPassBase::ConvertTensorRTToStableHLOPassBase;

  void runOnOperation() override {
    SmallVector<Operation *> layers;
    getOperation().walk([&](Operation *op) {
      if (isa_and_nonnull<tensorrt::TensorRTDialect>(op->getDialect()) &&
          !isa<tensorrt::YieldOp, tensorrt::ConditionOp>(op))
        layers.push_back(op);
    });
    bool isConverted = true;
    for (Operation *op : layers) {
      LocBuilder b(op->getLoc(), op);
      LayerResults results = lower(b, op);
      if (!results) {
        op->emitError() << "'" << op->getName() << "' has no equivalent that the CPU could compute";
        isConverted = false;
        continue;
      }
      if (failed(*results)) {
        isConverted = false;
        continue;
      }
      for (auto [old, value] : llvm::zip(op->getResults(), **results))
        if (value.getType() != old.getType() && stablehlo::areCompatible(value.getType(), old.getType()) &&
            value.getDefiningOp() && value.getDefiningOp()->getDialect() != op->getDialect())
          value.setType(old.getType());
      op->replaceAllUsesWith(**results);
      op->erase();
    }
    if (!isConverted)
      return signalPassFailure();
    for (auto module : getOperation().getOps<ModuleOp>())
      if (isa_and_nonnull<plan::TensorRTEngineAttr>(module->getAttr(plan::PlanDialect::getEngineAttrName())))
        module->setAttr(plan::PlanDialect::getEngineAttrName(), plan::CPUEngineAttr::get(&getContext()));
  }

private:
  static LayerResults lower(LocBuilder &b, Operation *op) {
    if (auto conditional = dyn_cast<tensorrt::IfOp>(op))
      return lowerIf(b, conditional);
    if (auto loop = dyn_cast<tensorrt::WhileOp>(op))
      return lowerWhile(b, loop);
    if (auto loop = dyn_cast<tensorrt::ForOp>(op))
      return lowerFor(b, loop);
    for (auto family :
         {lowerPointwise, lowerNormalizing, lowerContraction, lowerShape, lowerIndexing, lowerReduction, lowerSampling})
      if (LayerResults results = family(b, op))
        return results;
    return std::nullopt;
  }
};

} // namespace
