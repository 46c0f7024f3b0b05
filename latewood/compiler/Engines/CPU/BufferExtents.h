// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Extents of buffers as values, and the arithmetic that gives them.
//
// Every extent in a cluster function is an index value that was there before the buffer (SymbolicShapes.h). A
// `memref.dim` would hide that two extents are equal, and would need a descriptor beside the pointer in the end: what
// bufferization leaves is resolved, and passes that need an extent ask here.
#ifndef LATEWOOD_COMPILER_ENGINES_CPU_BUFFEREXTENTS_H
#define LATEWOOD_COMPILER_ENGINES_CPU_BUFFEREXTENTS_H

#include "latewood/compiler/Engines/CPU/SymbolicSize.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace latewood::cpu {

/// The extents of all dynamic dimensions, as values at the insertion point of `builder`; nothing where one cannot be
/// told there.
std::optional<llvm::SmallVector<mlir::Value>> getDynamicExtents(mlir::OpBuilder &builder, mlir::Value shaped);

/// Whether the sizes can be computed in front of `op`.
bool areKnownBefore(llvm::ArrayRef<SymbolicSize> sizes, mlir::Operation *op);

/// The sizes as attributes where they are constants, as values otherwise.
llvm::SmallVector<mlir::OpFoldResult> materializeFold(mlir::OpBuilder &builder, mlir::Location loc,
                                                      llvm::ArrayRef<SymbolicSize> sizes);

/// Whether two tensors or buffers are seen to have the same shape.
bool haveSameExtents(mlir::Value a, mlir::Value b);

/// Replaces each tensor.dim and memref.dim by the value that determines it. Fails, with an error, where there is none.
mlir::LogicalResult resolveDims(mlir::func::FuncOp function);

/// Whether an operation computes scalars of scalars, without effects.
bool isIndexArithmetic(mlir::Operation *op);

/// Whether `value` is computed by such operations from values for which `isLeaf` holds; they are added to `ops`,
/// operands first.
bool collectArithmetic(mlir::Value value, llvm::function_ref<bool(mlir::Value)> isLeaf,
                       llvm::SetVector<mlir::Operation *> &ops);

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_BUFFEREXTENTS_H
