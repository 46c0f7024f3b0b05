// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CPU engine as a pipeline on the nested module of its cluster functions.
//
// A cluster function on the way in (phase Cluster makes it):
//     func.func @main_cluster_0(%in: tensor<4x8xf32>, %out: tensor<4x2xf32> {plan.out}) -> tensor<4x2xf32>   //
//     stablehlo inside
// and on the way out:
//     llvm.func @main_cluster_0(%call: !llvm.ptr, %in: !llvm.ptr, %out: !llvm.ptr, %workspace: !llvm.ptr)
//         attributes {cpu.workspace_bytes = N : i64}
// with bodies of parallel loops and declarations of library functions beside it. `call` is the lw_call of
// latewood/format/abi.h.
//
// In between, a group of operations is first described (cpu.contract, cpu.group: what is computed together), then given
// memory, and only then written as loops: all decisions about loops are made with strides and sizes in hand, and
// nothing has to be recovered from loops that were made too early.
#ifndef LATEWOOD_COMPILER_ENGINES_CPU_PIPELINE_H
#define LATEWOOD_COMPILER_ENGINES_CPU_PIPELINE_H

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace latewood::cpu {

void buildCPUPipeline(mlir::OpPassManager &nestedModule);

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_PIPELINE_H
