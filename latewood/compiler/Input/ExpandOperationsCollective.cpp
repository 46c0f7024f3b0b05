// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What processes do together, for a program of one process: it has number 0, a group holds it alone, and what it sends
// to itself is what it has. A group of several is refused, and so is a transfer to or from somebody else.

#include "latewood/compiler/Input/ExpandOperations.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace latewood::input {

using Results = FailureOr<SmallVector<Value>>;
using Builder = ImplicitLocOpBuilder;

namespace {

Results expandNumber(Builder &b, Operation *op) {
  return SmallVector<Value>{splat(b, cast<RankedTensorType>(op->getResult(0).getType()), 0.0)};
}

/// The members of the groups, when no group has several.
LogicalResult checkAlone(Operation *op) {
  auto groups = op->getAttrOfType<DenseIntElementsAttr>("replica_groups");
  if (!groups || groups.getType().getRank() != 2 || groups.getNumElements() == 0)
    return success();
  int64_t members = groups.getType().getDimSize(1);
  if (groups.getNumElements() > 1 || members > 1)
    return op->emitError() << "'" << op->getName() << "' among " << groups.getNumElements()
                           << " processes: only programs for one device can be compiled";
  return success();
}

Results expandToOperands(Builder &, Operation *op) {
  if (failed(checkAlone(op)))
    return failure();
  SmallVector<Value> results(op->getOperands().take_front(op->getNumResults()));
  for (auto [result, operand] : llvm::zip_equal(op->getResults(), results))
    if (result.getType() != operand.getType())
      return op->emitError() << "'" << op->getName() << "' of type " << operand.getType() << " gives "
                             << result.getType() << ": only programs for one device can be compiled";
  return results;
}

/// A process that nobody sends to gets zeros.
Results expandPermute(Builder &b, Operation *op) {
  auto permute = cast<stablehlo::CollectivePermuteOp>(op);
  bool isSent = false;
  for (const APInt &number : permute.getSourceTargetPairs().getValues<APInt>()) {
    if (!number.isZero())
      return op->emitError() << "'" << op->getName() << "' names process " << number.getSExtValue()
                             << ": only programs for one device can be compiled";
    isSent = true;
  }
  if (isSent)
    return SmallVector<Value>{permute.getOperand()};
  return SmallVector<Value>{splat(b, cast<RankedTensorType>(permute.getType()), 0.0)};
}

/// What was started runs where it is waited for.
Results expandDone(Builder &b, Operation *op) {
  auto start = op->getOperand(0).getDefiningOp<stablehlo::AsyncStartOp>();
  if (!start)
    return op->emitError() << "'" << op->getName()
                           << "' must wait for an operation that is started in the same function";
  Block &body = start.getBody().front();
  IRMapping mapping;
  mapping.map(body.getArguments(), start.getOperands().take_front(body.getNumArguments()));
  for (Operation &inner : body.without_terminator())
    b.clone(inner, mapping);
  return llvm::map_to_vector(body.getTerminator()->getOperands(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

/// An operation that nobody waits for any more is gone.
Results expandStart(Builder &, Operation *op) {
  return op->use_empty() ? SmallVector<Value>{Value()} : SmallVector<Value>();
}

Results refuseTransfer(Builder &, Operation *op) {
  return op->emitError() << "'" << op->getName()
                         << "' exchanges values with the host or another device while the program runs; "
                         << "pass them as arguments and results instead";
}

} // namespace

void addCollectiveExpansions(ExpansionTable &table) {
  table.add<stablehlo::AllGatherOp>(expandToOperands, Dynamic::All);
  table.add<stablehlo::AllReduceOp>(expandToOperands, Dynamic::All);
  table.add<stablehlo::AllToAllOp>(expandToOperands, Dynamic::All);
  table.add<stablehlo::AsyncDoneOp>(expandDone, Dynamic::All);
  table.add<stablehlo::AsyncStartOp>(expandStart, Dynamic::All);
  table.add<stablehlo::CollectiveBroadcastOp>(expandToOperands, Dynamic::All);
  table.add<stablehlo::CollectivePermuteOp>(expandPermute, Dynamic::All);
  table.add<stablehlo::CollectiveReduceOp>(expandToOperands, Dynamic::All);
  table.add<stablehlo::CrossReplicaSumOp>(expandToOperands, Dynamic::All);
  table.add<stablehlo::InfeedOp>(refuseTransfer, Dynamic::All);
  table.add<stablehlo::OutfeedOp>(refuseTransfer, Dynamic::All);
  table.add<stablehlo::PartitionIdOp>(expandNumber, Dynamic::All);
  table.add<stablehlo::RecvOp>(refuseTransfer, Dynamic::All);
  table.add<stablehlo::ReduceScatterOp>(expandToOperands, Dynamic::All);
  table.add<stablehlo::ReplicaIdOp>(expandNumber, Dynamic::All);
  table.add<stablehlo::SendOp>(refuseTransfer, Dynamic::All);
}

} // namespace latewood::input
