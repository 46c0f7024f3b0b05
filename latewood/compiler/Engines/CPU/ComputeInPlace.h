// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides, on tensors, which memory each value of a cluster function is computed in.
//
// Tensors are values; buffers are overwritten. Between them stands the question of each operation that writes: may it
// write into the buffer of its operand, or does somebody still need what is there? Afterwards the answer is yes
// everywhere: where it was no, the operation has been given a copy.

#ifndef LATEWOOD_COMPILER_ENGINES_CPU_COMPUTEINPLACE_H
#define LATEWOOD_COMPILER_ENGINES_CPU_COMPUTEINPLACE_H

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace latewood::cpu {

/// In: a cluster function on tensors, materializations where values should end up. Out: a function in which every
/// operation may be bufferized in place; the materializations that are left are copies. The time is linear in the size
/// of the function, but for comparisons of the places of what is inserted into one tensor.
void computeInPlace(mlir::func::FuncOp function, const mlir::bufferization::BufferizationOptions &options);

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_COMPUTEINPLACE_H
