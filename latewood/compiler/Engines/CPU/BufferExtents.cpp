// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Materializes symbolic shapes. Invariant: a value that is given dominates the place that asked for it.

#include "latewood/compiler/Engines/CPU/BufferExtents.h"
#include "latewood/compiler/Engines/CPU/SymbolicShapes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace latewood::cpu {

/// Whether the symbols of `size` are to be seen where `builder` stands.
static bool isVisible(const SymbolicSize &size, OpBuilder &builder) {
  Block *block = builder.getInsertionBlock();
  return llvm::all_of(size.getSymbols(), [&](Value symbol) {
    Operation *definition = symbol.getDefiningOp();
    // The operation that contains the insertion point, in the block of the symbol.
    Block *home = symbol.getParentBlock();
    if (home == block)
      return !definition || builder.getInsertionPoint() == block->end() ||
             definition->isBeforeInBlock(&*builder.getInsertionPoint());
    Operation *parent = block->getParentOp();
    Operation *ancestor = parent ? home->findAncestorOpInBlock(*parent) : nullptr;
    return ancestor && (!definition || definition->isBeforeInBlock(ancestor));
  });
}

std::optional<SmallVector<Value>> getDynamicExtents(OpBuilder &builder, Value shaped) {
  std::optional<SmallVector<SymbolicSize>> shape = getSymbolicShape(shaped);
  if (!shape)
    return std::nullopt;
  SmallVector<Value> extents;
  for (auto [size, extent] : llvm::zip_equal(*shape, cast<ShapedType>(shaped.getType()).getShape())) {
    if (!ShapedType::isDynamic(extent))
      continue;
    if (!isVisible(size, builder))
      return std::nullopt;
    extents.push_back(size.materialize(builder, shaped.getLoc()));
  }
  return extents;
}

bool areKnownBefore(ArrayRef<SymbolicSize> sizes, Operation *op) {
  OpBuilder builder(op);
  return llvm::all_of(sizes, [&](const SymbolicSize &size) { return isVisible(size, builder); });
}

SmallVector<OpFoldResult> materializeFold(OpBuilder &builder, Location loc, ArrayRef<SymbolicSize> sizes) {
  return llvm::map_to_vector(sizes, [&](const SymbolicSize &size) { return size.materializeFold(builder, loc); });
}

bool haveSameExtents(Value a, Value b) {
  std::optional<SmallVector<SymbolicSize>> first = getSymbolicShape(a), second = getSymbolicShape(b);
  return first && second && *first == *second;
}

LogicalResult resolveDims(func::FuncOp function) {
  WalkResult result = function.walk([&](Operation *op) {
    if (!isa<memref::DimOp, tensor::DimOp>(op))
      return WalkResult::advance();
    OpBuilder builder(op);
    Value shaped = op->getOperand(0);
    std::optional<int64_t> position = getConstantIntValue(op->getOperand(1));
    std::optional<SmallVector<SymbolicSize>> shape = getSymbolicShape(shaped);
    if (!shape || !position || *position < 0 || *position >= int64_t(shape->size()) ||
        !isVisible((*shape)[*position], builder)) {
      op->emitError("an extent of ") << shaped.getType() << " is not known as a scalar";
      return WalkResult::interrupt();
    }
    op->getResult(0).replaceAllUsesWith((*shape)[*position].materialize(builder, op->getLoc()));
    op->erase();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

bool isIndexArithmetic(Operation *op) {
  auto isScalar = [](Type type) { return type.isIntOrIndex(); };
  return isa<arith::ArithDialect, affine::AffineDialect>(op->getDialect()) && op->getNumRegions() == 0 &&
         isMemoryEffectFree(op) && llvm::all_of(op->getOperandTypes(), isScalar) &&
         llvm::all_of(op->getResultTypes(), isScalar);
}

bool collectArithmetic(Value value, function_ref<bool(Value)> isLeaf, llvm::SetVector<Operation *> &ops) {
  if (isLeaf(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || !isIndexArithmetic(op))
    return false;
  if (ops.contains(op))
    return true;
  for (Value operand : op->getOperands())
    if (!collectArithmetic(operand, isLeaf, ops))
      return false;
  ops.insert(op);
  return true;
}

} // namespace latewood::cpu
