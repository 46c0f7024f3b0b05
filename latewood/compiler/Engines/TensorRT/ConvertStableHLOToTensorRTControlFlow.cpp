// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conditionals and loops: regions are converted operation by operation. A case of many branches is a chain of
// conditionals.
#include "latewood/compiler/Engines/TensorRT/StableHLOToTensorRT.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::tensorrt;

/// Fills a region's block with the operations of `from`, and gives what its terminator returns.
static Results convertBody(LayerBuilder &b, Block &from, Block &to) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&to);
  if (failed(convertOperations(b, from)))
    return failure();
  return Results(llvm::map_to_vector(from.getTerminator()->getOperands(), [&](Value value) { return b.map(value); }));
}

static Results convertBranches(LayerBuilder &b, Value condition, Block &onTrue, llvm::function_ref<Results()> onFalse,
                               TypeRange types) {
  if (types.empty())
    return Results(SmallVector<Value>());
  auto op = IfOp::create(b, types, condition);
  Block &trueBlock = op.getTrueRegion().emplaceBlock(), &falseBlock = op.getFalseRegion().emplaceBlock();
  Results first = convertBody(b, onTrue, trueBlock);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&falseBlock);
  Results second = succeeded(first) ? onFalse() : Results(failure());
  if (failed(first) || failed(second)) {
    op->erase();
    return failure();
  }
  YieldOp::create(b, *second);
  b.setInsertionPointToEnd(&trueBlock);
  YieldOp::create(b, *first);
  return Results(SmallVector<Value>(op.getResults()));
}

/// Of conditionals that hold loops TensorRT-RTX builds some, and fails on others with an error of its own.
static bool holdsLoop(Operation *op) {
  return op->walk([](stablehlo::WhileOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

static Results convertIf(LayerBuilder &b, stablehlo::IfOp op) {
  auto otherwise = [&]() { return convertBody(b, op.getFalseBranch().front(), *b.getInsertionBlock()); };
  return convertBranches(b, b.map(op.getPred()), op.getTrueBranch().front(), otherwise, op.getResultTypes());
}

/// From branch `first` on.
static Results convertCase(LayerBuilder &b, stablehlo::CaseOp op, unsigned first) {
  if (first + 1 == op.getBranches().size())
    return convertBody(b, op.getBranches()[first].front(), *b.getInsertionBlock());
  Value index = b.map(op.getIndex());
  Value isFirst = b.binary(ElementWiseOperation::kEQUAL, index, b.like(index, first));
  if (!isFirst)
    return failure();
  auto otherwise = [&]() { return convertCase(b, op, first + 1); };
  return convertBranches(b, isFirst, op.getBranches()[first].front(), otherwise, op.getResultTypes());
}

/// Slices of a dynamic shape have their places as shape tensors, which the builder does not take from within a loop.
static bool slicesDynamicShape(stablehlo::WhileOp op) {
  return op
      ->walk([](Operation *inner) {
        bool isDynamic = isa<stablehlo::DynamicSliceOp, stablehlo::DynamicUpdateSliceOp>(inner) &&
                         !cast<RankedTensorType>(inner->getOperand(0).getType()).hasStaticShape();
        return isDynamic ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

static Results convertWhile(LayerBuilder &b, stablehlo::WhileOp op) {
  if (slicesDynamicShape(op))
    return b.fail("a loop that slices a tensor of dynamic shape, which TensorRT's builder does not take");
  Block &oldCondition = op.getCond().front(), &oldBody = op.getBody().front();
  // What every iteration passes on unchanged is not carried: the regions use it directly.
  SmallVector<Value> results = llvm::map_to_vector(op.getOperand(), [&](Value value) { return b.map(value); });
  SmallVector<unsigned> carried;
  for (auto [i, next] : llvm::enumerate(oldBody.getTerminator()->getOperands())) {
    if (next != oldBody.getArgument(i)) {
      carried.push_back(i);
      continue;
    }
    b.values.map(oldCondition.getArgument(i), results[i]);
    b.values.map(oldBody.getArgument(i), results[i]);
  }
  if (carried.empty())
    return b.fail("a loop that changes nothing, and never ends if it begins");
  SmallVector<Value> operands = llvm::map_to_vector(carried, [&](unsigned i) { return results[i]; });
  SmallVector<Type> types = llvm::map_to_vector(carried, [&](unsigned i) { return op.getResultTypes()[i]; });
  auto loop = WhileOp::create(b, types, operands);
  SmallVector<Location> locations(types.size(), op.getLoc());
  auto begin = [&](Region &region, Block &from) -> Block & {
    Block &block = region.emplaceBlock();
    block.addArguments(types, locations);
    for (auto [place, i] : llvm::enumerate(carried))
      b.values.map(from.getArgument(i), block.getArgument(place));
    return block;
  };
  Block &condition = begin(loop.getCondRegion(), oldCondition);
  Results goesOn = convertBody(b, oldCondition, condition);
  Block &body = begin(loop.getBodyRegion(), oldBody);
  Results next = succeeded(goesOn) ? convertBody(b, oldBody, body) : Results(failure());
  if (failed(goesOn) || failed(next)) {
    loop->erase();
    return failure();
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&condition);
  ConditionOp::create(b, goesOn->front(), condition.getArguments());
  b.setInsertionPointToEnd(&body);
  YieldOp::create(b, llvm::map_to_vector(carried, [&](unsigned i) { return (*next)[i]; }));
  for (auto [place, i] : llvm::enumerate(carried))
    results[i] = loop.getResult(place);
  return Results(results);
}

Conversion tensorrt::convertControlFlow(LayerBuilder &b, Operation *op) {
  if (isa<stablehlo::IfOp, stablehlo::CaseOp>(op) && holdsLoop(op))
    return b.fail("a loop in a conditional, which TensorRT's builder does not always take");
  return llvm::TypeSwitch<Operation *, Conversion>(op)
      .Case<stablehlo::IfOp>([&](stablehlo::IfOp conditional) { return convertIf(b, conditional); })
      .Case<stablehlo::CaseOp>([&](stablehlo::CaseOp choice) { return convertCase(b, choice, 0); })
      .Case<stablehlo::WhileOp>([&](stablehlo::WhileOp loop) { return convertWhile(b, loop); })
      .Default([](auto) { return std::nullopt; });
}
