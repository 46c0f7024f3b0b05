// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that write into a tensor, and give it on: which one it is, before there are buffers.

#ifndef LATEWOOD_COMPILER_ENGINES_CPU_CONTINUEDTENSORS_H
#define LATEWOOD_COMPILER_ENGINES_CPU_CONTINUEDTENSORS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include <optional>

namespace latewood::cpu {

/// The number of the initial value that result `result` of a while loop continues, or nothing if the condition passes
/// on something else.
std::optional<unsigned> findCarried(mlir::scf::WhileOp loop, unsigned result);

/// The tensor that `result` continues: the destination of its operation, or the initial value of a loop. Null where the
/// operation makes a new one, and for branches.
mlir::Value findContinued(mlir::OpResult result);

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_CONTINUEDTENSORS_H
