// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each buffer that control flow carries has one owner at a time: the block that it was made in, that has it as an
// argument, or that holds the operation whose result it is. A terminator, or the beginning of a loop, hands a buffer
// over if its block owns it and nobody there needs it any more; what it may not hand over it copies. What a block owns
// and does not hand over, it frees behind the last use. Since views only lead to one buffer, and calls write into
// memory of their own, ownership is known statically: no flags, no counting.
//
// In:  bufferized host functions, whose carried buffers are borrowed from wherever they were made.
// Out: on every path each carried buffer is freed once, or given back by the runtime when the call fails.

#include "latewood/compiler/Bufferize/Passes.h"
#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Dialect/TensorRTRuntime/TensorRTRuntime.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace latewood::bufferize {

#define GEN_PASS_DEF_OWNBUFFERSPASS
#include "latewood/compiler/Bufferize/Passes.h.inc"

namespace {

bool isControlFlow(Operation *op) { return isa_and_present<scf::WhileOp, scf::IfOp, scf::IndexSwitchOp>(op); }

bool isView(Operation *op) {
  return isa_and_present<plan::WithShapeOp, memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp,
                         memref::ViewOp>(op);
}

Value stripViews(Value value) {
  while (isView(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

// Whether a branch ends with memory that it has asked an output slot for, which is the slot's.
bool isOfSlot(OpOperand &yielded) {
  Value buffer = stripViews(yielded.get());
  if (buffer.getParentBlock() != yielded.getOwner()->getBlock())
    return false;
  Operation *op = buffer.getDefiningOp();
  return isa_and_present<executor::RequestOp>(op) ||
         (isa_and_present<scf::IfOp, scf::IndexSwitchOp>(op) &&
          isOfSlot(op->getRegion(0).front().getTerminator()->getOpOperand(cast<OpResult>(buffer).getResultNumber())));
}

class OwnBuffersPass : public impl::OwnBuffersPassBase<OwnBuffersPass> {
public:
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    handedOver.clear();
    for (Block &block : function.getBody())
      settle(block);
  }

private:
  void settle(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (!isControlFlow(&op))
        continue;
      if (isa<scf::WhileOp>(op))
        handOver(&op);
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          settle(inner);
    }
    if (isControlFlow(block.getParentOp()))
      handOver(block.getTerminator());
    freeOwned(block);
  }

  // Whether `block` has to see to the end of `buffer`, which is no view.
  static bool isOwnedBy(Value buffer, Block &block) {
    if (buffer.getParentBlock() != &block)
      return false;
    Operation *op = buffer.getDefiningOp();
    if (!op)
      return isControlFlow(block.getParentOp());
    if (auto run = dyn_cast<tensorrt_runtime::EnqueueAllocOp>(op))
      return run.getSlots()[cast<OpResult>(buffer).getResultNumber()] == -1;
    if (isa<scf::IfOp, scf::IndexSwitchOp>(op))
      return !isOfSlot(
          op->getRegion(0).front().getTerminator()->getOpOperand(cast<OpResult>(buffer).getResultNumber()));
    return isa<memref::AllocOp, scf::WhileOp>(op);
  }

  // The last operation of the buffer's block that sees it; null: none does. `except` does not count.
  static Operation *findLastUse(Value buffer, const OpOperand *except = nullptr) {
    Block &block = *buffer.getParentBlock();
    Operation *last = nullptr;
    SmallVector<Value> worklist{buffer};
    while (!worklist.empty())
      for (OpOperand &use : worklist.pop_back_val().getUses()) {
        if (&use == except)
          continue;
        Operation *user = use.getOwner(), *inBlock = block.findAncestorOpInBlock(*user);
        if (!last || last->isBeforeInBlock(inBlock))
          last = inBlock;
        if (isView(user))
          worklist.push_back(user->getResult(0));
      }
    return last;
  }

  // Makes each buffer among the operands one that `op` may have.
  void handOver(Operation *op) {
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<MemRefType>(operand.get().getType());
      if (!type ||
          (isa<scf::IfOp, scf::IndexSwitchOp>(op->getParentOp()) && isa<scf::YieldOp>(op) && isOfSlot(operand)))
        continue;
      Value buffer = stripViews(operand.get());
      bool isFree = isOwnedBy(buffer, *op->getBlock()) && buffer.getType() == type && !handedOver.contains(buffer);
      if (isFree && !op->hasTrait<OpTrait::IsTerminator>()) {
        // Neither behind a loop that begins with it nor inside of it.
        Operation *last = findLastUse(buffer, &operand);
        isFree = !last || last->isBeforeInBlock(op);
      }
      if (!isFree)
        buffer = copy(operand.get(), op);
      operand.set(buffer);
      handedOver.insert(buffer);
    }
  }

  static Value copy(Value buffer, Operation *before) {
    OpBuilder builder(before);
    Location loc = buffer.getLoc();
    auto type = cast<MemRefType>(buffer.getType());
    SmallVector<Value> sizes;
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
      if (type.isDynamicDim(dimension))
        sizes.push_back(memref::DimOp::create(builder, loc, buffer, dimension));
    Value result = memref::AllocOp::create(builder, loc, type, sizes);
    memref::CopyOp::create(builder, loc, buffer, result);
    return result;
  }

  // Memory that the block makes itself and keeps is freed when it gets a place, in phase Lower.
  void freeOwned(Block &block) {
    SmallVector<Value> owned(block.getArguments());
    for (Operation &op : block)
      if (!isa<memref::AllocOp>(op))
        llvm::append_range(owned, op.getResults());
    for (Value buffer : owned) {
      if (!isa<MemRefType>(buffer.getType()) || !isOwnedBy(buffer, block) || handedOver.contains(buffer))
        continue;
      OpBuilder builder = OpBuilder::atBlockBegin(&block);
      Operation *last = findLastUse(buffer);
      if (last && last->hasTrait<OpTrait::IsTerminator>())
        continue;
      if (last)
        builder.setInsertionPointAfter(last);
      else if (buffer.getDefiningOp())
        builder.setInsertionPointAfterValue(buffer);
      memref::DeallocOp::create(builder, buffer.getLoc(), buffer);
    }
  }

  DenseSet<Value> handedOver;
};

} // namespace
} // namespace latewood::bufferize
