// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Program order and live ranges of buffers. The invariant that planning rests on: outside of its live range nothing
// reads or writes a buffer, nor any view of it.

#include "latewood/compiler/Engines/CPU/Lifetimes.h"
#include "latewood/format/abi.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

namespace latewood::cpu {

void ProgramOrder::number(Operation *op) {
  int64_t begin = next++;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &nested : block)
        number(&nested);
  numbers[op] = {begin, next++};
}

FailureOr<LiveRange> findLiveRange(Value buffer, const ProgramOrder &order, const BufferViewFlowAnalysis &flow,
                                   SmallVectorImpl<Operation *> &deallocations) {
  Operation *op = buffer.getDefiningOp();
  Block *block = op->getBlock();
  LiveRange range{order.before(op), order.before(op)};
  for (Value alias : flow.resolve(buffer)) {
    auto argument = dyn_cast<BlockArgument>(alias);
    if (argument && isa<LoopLikeOpInterface>(argument.getOwner()->getParentOp()) &&
        argument.getOwner()->getParentOp()->isProperAncestor(op))
      return op->emitError("cannot plan memory for a buffer that one iteration of a loop hands to the next");
    for (Operation *user : alias.getUsers()) {
      if (isa<memref::DeallocOp>(user)) {
        deallocations.push_back(user);
        continue;
      }
      // A value that left its block lives in the enclosing one, for as long as the operation that held it.
      Operation *ancestor = block->findAncestorOpInBlock(*user);
      while (!ancestor) {
        Operation *parent = block->getParentOp();
        if (!parent || parent == order.getRoot())
          return op->emitError("cannot plan memory for a buffer that leaves its function");
        range.first = std::min(range.first, order.before(parent));
        range.last = std::max(range.last, order.after(parent));
        block = parent->getBlock();
        ancestor = block->findAncestorOpInBlock(*user);
      }
      range.last = std::max(range.last, order.after(ancestor));
    }
  }
  return range;
}

std::optional<int64_t> elementBytes(Type element) {
  int64_t parts = 1;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    parts = 2;
    element = complex.getElementType();
  }
  if (!element.isIntOrIndexOrFloat())
    return std::nullopt;
  int64_t width = element.isIndex() ? 8 : llvm::PowerOf2Ceil(llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
  return parts * width;
}

std::optional<int64_t> plannedBytes(MemRefType type) {
  std::optional<int64_t> bytes = elementBytes(type.getElementType());
  if (!bytes || !type.hasStaticShape() || !type.getLayout().isIdentity())
    return std::nullopt;
  return llvm::alignTo(type.getNumElements() * *bytes, LATEWOOD_ALIGNMENT);
}

} // namespace latewood::cpu
