// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LATEWOOD_COMPILER_ENGINES_CPU_OUTLINEKERNELS_H
#define LATEWOOD_COMPILER_ENGINES_CPU_OUTLINEKERNELS_H

#include "llvm/ADT/StringRef.h"

namespace latewood::cpu {

/// On a function: it is the code of a part of a cluster function, which calls it. Buffers that may be the same memory
/// are arguments without `llvm.noalias`; it stays a function of its own until the end.
inline constexpr llvm::StringLiteral kKernelAttrName = "cpu.kernel";

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_OUTLINEKERNELS_H
