// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operand that an operation writes into, by what kind of operation it is.

#include "latewood/compiler/Engines/CPU/ContinuedTensors.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace latewood;

std::optional<unsigned> cpu::findCarried(scf::WhileOp loop, unsigned result) {
  auto argument = dyn_cast<BlockArgument>(loop.getConditionOp().getArgs()[result]);
  if (!argument || argument.getOwner() != loop.getBeforeBody())
    return std::nullopt;
  return argument.getArgNumber();
}

Value cpu::findContinued(OpResult result) {
  Operation *op = result.getOwner();
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return insert.getDest();
  if (auto insert = dyn_cast<tensor::InsertOp>(op))
    return insert.getDest();
  if (auto materialize = dyn_cast<bufferization::MaterializeInDestinationOp>(op))
    return materialize.getDest();
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    return destination.getTiedOpOperand(result)->get();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return loop.getInitArgs()[result.getResultNumber()];
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    if (std::optional<unsigned> carried = findCarried(loop, result.getResultNumber()))
      return loop.getInits()[*carried];
  return nullptr;
}
