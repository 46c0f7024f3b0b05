// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The target that an operation's module was given, as numbers.
#ifndef LATEWOOD_COMPILER_ENGINES_CPU_TARGETOF_H
#define LATEWOOD_COMPILER_ENGINES_CPU_TARGETOF_H

#include "latewood/compiler/Target/Target.h"
#include "mlir/IR/Operation.h"

namespace latewood::cpu {

/// The target of the nearest enclosing module with attribute `plan.target`; x86-64-v3 where none has one (so that a
/// pass can be tested without). Fails with a diagnostic on a target that cannot be resolved.
mlir::FailureOr<target::Target> getTargetOf(mlir::Operation *op);

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_TARGETOF_H
