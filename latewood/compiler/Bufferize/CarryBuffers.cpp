// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Control flow of the host carries buffers. Bufferization by itself would have a loop copy what it carries: it must
// assume that somebody still needs the old contents. Host functions write into nothing but fresh memory, so a tensor of
// theirs is simply the buffer that it was computed into, for as long as anybody looks at it; which is why each tensor
// that crosses an edge of control flow may be an address there.
//
// In:  host functions on tensors with structured control flow.
// Out: the same, where operands, results and block arguments of scf are buffers and scalars.

#include "latewood/compiler/Bufferize/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace latewood::bufferize {

#define GEN_PASS_DEF_CARRYBUFFERSPASS
#include "latewood/compiler/Bufferize/Passes.h.inc"

namespace {

class CarryBuffersPass : public impl::CarryBuffersPassBase<CarryBuffersPass> {
public:
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (!isa<scf::WhileOp, scf::IfOp, scf::IndexSwitchOp>(op))
        return;
      for (OpOperand &operand : op->getOpOperands())
        giveBuffer(operand);
      for (Region &region : op->getRegions())
        for (Block &block : region) {
          OpBuilder builder = OpBuilder::atBlockBegin(&block);
          for (BlockArgument argument : block.getArguments())
            takeBuffer(argument, builder);
          for (OpOperand &operand : block.getTerminator()->getOpOperands())
            giveBuffer(operand);
        }
      OpBuilder builder(op->getContext());
      builder.setInsertionPointAfter(op);
      for (OpResult result : op->getResults())
        takeBuffer(result, builder);
    });
  }

private:
  static Type getBufferType(RankedTensorType type) { return MemRefType::get(type.getShape(), type.getElementType()); }

  static void giveBuffer(OpOperand &operand) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      return;
    OpBuilder builder(operand.getOwner());
    operand.set(bufferization::ToBufferOp::create(builder, operand.get().getLoc(), getBufferType(type), operand.get(),
                                                  /*read_only=*/true));
  }

  static void takeBuffer(Value value, OpBuilder &builder) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return;
    value.setType(getBufferType(type));
    auto tensor = bufferization::ToTensorOp::create(builder, value.getLoc(), type, value, /*restrict=*/true,
                                                    /*writable=*/false);
    value.replaceAllUsesExcept(tensor, tensor);
  }
};

} // namespace
} // namespace latewood::bufferize
