// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes of the CPU engine, in the order in which Pipeline.cpp runs them. They run on the nested module of the cluster
// functions; what a cluster function looks like on the way in and out is told in Pipeline.h.

#ifndef LATEWOOD_COMPILER_ENGINES_CPU_PASSES
#define LATEWOOD_COMPILER_ENGINES_CPU_PASSES

include "mlir/Pass/PassBase.td"

#endif // LATEWOOD_COMPILER_ENGINES_CPU_PASSES
