// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places for buffers whose size only the call knows.
//
// All sizes are products of values that are known when a function begins, so all places are, too. Buffers share
// *slots*: two that never live at the same time may have the same one, and a slot is as large as the largest of them.
// Which ones share is decided now, by a guess at their sizes; how large and where the slots are is computed by the
// function when it begins. One of equal size is preferred, since then sharing costs nothing.
//
// A size that would overflow becomes one that no machine has: asking for it fails, with the runtime's message.
#ifndef LATEWOOD_COMPILER_ENGINES_CPU_PLANDYNAMICMEMORY_H
#define LATEWOOD_COMPILER_ENGINES_CPU_PLANDYNAMICMEMORY_H

#include "latewood/compiler/Engines/CPU/Lifetimes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace latewood::cpu {

struct DynamicLifetime {
  mlir::memref::AllocOp op;
  LiveRange range;
};

/// Computes, at the builder's insertion point in the entry block of `function`, where the buffers lie: in the order of
/// `lifetimes`, from `begin` on. The last one is the end. Fails, with an error at an allocation, where a size is not
/// known when the function begins.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> placeDynamic(mlir::OpBuilder &builder, mlir::func::FuncOp function,
                                                             llvm::ArrayRef<DynamicLifetime> lifetimes, int64_t begin);

/// Computes `value`, an index that a function computes of its arguments when it begins, in a caller: `arguments` are
/// what the caller passes. Null, with an error at `op`, where it depends on something else.
mlir::Value computeInCaller(mlir::OpBuilder &builder, mlir::Operation *op, mlir::Value value,
                            llvm::function_ref<mlir::Value(mlir::BlockArgument)> arguments);

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_PLANDYNAMICMEMORY_H
