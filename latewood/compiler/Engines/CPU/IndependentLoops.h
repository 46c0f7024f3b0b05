// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over rows that do not touch each other: sorts, prefix sums, windows that are searched. They were made as loops
// over scalars, and are run on all threads.

#ifndef LATEWOOD_COMPILER_ENGINES_CPU_INDEPENDENTLOOPS_H
#define LATEWOOD_COMPILER_ENGINES_CPU_INDEPENDENTLOOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace latewood::cpu {

/// On a loop: its iterations are independent by construction, though their indices do not show it.
inline constexpr llvm::StringLiteral kIndependentAttrName = "cpu.independent";

/// In: a function on buffers, whose loops carry none. Out: outermost loops that take long, and of which every iteration
/// is seen to write to places that no other one reads or writes, are scf.forall.
void makeIndependentLoopsParallel(mlir::func::FuncOp function);

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_INDEPENDENTLOOPS_H
