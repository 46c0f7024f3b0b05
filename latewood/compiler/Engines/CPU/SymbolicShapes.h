// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes and layouts of the tensors and buffers of a cluster function as symbolic sizes.
//
// In a cluster function each dynamic extent is an argument of type index (bound to dimensions of tensor arguments by
// `plan.extents`) or arithmetic on such arguments. So the shape of any value can be told from its definition: the
// operands of an allocation, the sizes of a slice, the shape of a destination. Nothing here creates operations, and a
// size that is asked for twice is equal to itself.
//
// In the region of a cpu.group, arguments stand for the operands of the group: sizes are told in values outside of it.
#ifndef LATEWOOD_COMPILER_ENGINES_CPU_SYMBOLICSHAPES_H
#define LATEWOOD_COMPILER_ENGINES_CPU_SYMBOLICSHAPES_H

#include "latewood/compiler/Engines/CPU/SymbolicSize.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinTypes.h"

namespace latewood::cpu {

/// A value of an integer type or index as a polynomial. Sums, differences, products, casts between index and i64, and
/// extents that are asked for (tensor.dim, memref.dim) are looked through; all else is a symbol.
SymbolicSize getSymbolicSize(mlir::Value value);
SymbolicSize getSymbolicSize(mlir::OpFoldResult value);

/// The extents of a ranked tensor or a buffer. Nothing if one of them cannot be told.
std::optional<llvm::SmallVector<SymbolicSize>> getSymbolicShape(mlir::Value value);

struct SymbolicLayout {
  llvm::SmallVector<SymbolicSize> shape, strides;
};

/// Extents and strides of a buffer. Nothing if one of them cannot be told.
std::optional<SymbolicLayout> getSymbolicLayout(mlir::Value memref);

/// The extents of the loops of an operation on tensors or buffers. Nothing if one of them cannot be told.
std::optional<llvm::SmallVector<SymbolicSize>> getLoopExtents(mlir::linalg::LinalgOp op);

/// Strides of a row-major layout without gaps.
llvm::SmallVector<SymbolicSize> getCanonicalStrides(llvm::ArrayRef<SymbolicSize> shape);

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_SYMBOLICSHAPES_H
