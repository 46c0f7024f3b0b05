// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ties results to output slots, before bufferization, where "this value is computed into that memory" is still a matter of replacing a
// destination operand.
//
// In:  public functions whose results are tensors.
// Out: each returned tensor is the memory of its slot, by destination or by copy.

#include "latewood/compiler/Bufferize/Passes.h"
#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;

namespace latewood::bufferize {

#define GEN_PASS_DEF_REQUESTSLOTSPASS
#include "latewood/compiler/Bufferize/Passes.h.inc"

namespace {

class RequestSlotsPass : public impl::RequestSlotsPassBase<RequestSlotsPass> {
public:
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || function.isPrivate())
      return;
    OpBuilder builder(&getContext());
    for (unsigned index = 0; index < function.getNumArguments(); ++index)
      function.setArgAttr(index, bufferization::BufferizationDialect::kWritableAttrName, builder.getBoolAttr(false));

    SmallVector<Attribute> types, attributes;
    for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
      auto tensor = cast<RankedTensorType>(type);
      types.push_back(TypeAttr::get(MemRefType::get(tensor.getShape(), tensor.getElementType())));
      auto dictionary = function.getResultAttrDict(index);
      attributes.push_back(dictionary ? dictionary : builder.getDictionaryAttr({}));
    }
    function->setAttr(executor::ExecutorDialect::getResultsAttrName(), builder.getArrayAttr(types));
    function->setAttr(executor::ExecutorDialect::getResultAttrsAttrName(), builder.getArrayAttr(attributes));

    Operation *terminator = function.getBody().front().getTerminator();
    builder.setInsertionPointToStart(&function.getBody().front());
    SmallVector<Value> slots;
    for (auto [index, value] : llvm::enumerate(terminator->getOperands()))
      slots.push_back(executor::RequestOp::create(builder, terminator->getLoc(), value.getType(), index, ValueRange()));
    builder.setInsertionPoint(terminator);
    for (OpOperand &operand : terminator->getOpOperands()) {
      Value slot = slots[operand.getOperandNumber()];
      if (OpOperand *destination = getFreeDestination(operand.get())) {
        destination->set(slot);
        continue;
      }
      mlir::emitRemark(operand.get().getLoc())
          << "result " << operand.getOperandNumber() << " is copied into its slot: "
          << (isa<BlockArgument>(operand.get()) ? "it is an argument"
                                                : "it is a constant, or the same value as another result");
      operand.set(bufferization::MaterializeInDestinationOp::create(builder, terminator->getLoc(), operand.get(), slot)
                      .getResult());
    }
  }

private:
  // The destination of the operation that computes `value`, if it is not yet taken by a slot.
  static OpOperand *getFreeDestination(Value value) {
    auto op = value.getDefiningOp<DestinationStyleOpInterface>();
    if (!op || isa<bufferization::MaterializeInDestinationOp>(op.getOperation()))
      return nullptr;
    OpOperand *destination = op.getTiedOpOperand(cast<OpResult>(value));
    return destination->get().getDefiningOp<tensor::EmptyOp>() ? destination : nullptr;
  }
};

} // namespace
} // namespace latewood::bufferize
