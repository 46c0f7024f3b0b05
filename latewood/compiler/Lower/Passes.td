// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Phase Lower: the host program in the executor dialect.

#ifndef LATEWOOD_COMPILER_LOWER_PASSES
#define LATEWOOD_COMPILER_LOWER_PASSES

include "mlir/Pass/PassBase.td"

def ConvertToExecutorPass : Pass<"latewood-convert-to-executor", "::mlir::ModuleOp"> {
  let summary = "Turns bufferized host functions into executor programs";
  let description = [{
    Calls of compiled clusters become launches, copies become `executor.copy`, and allocations become parts of the function's
    workspace, behind which lies the scratch memory of the engine functions (they run one after the other and share it).

    ```mlir
    // before
    %t = memref.alloc() : memref<4xf32>
    plan.call @cpu::@main_cluster_0(%a) outs(%t) : …
    // after
    %t = executor.workspace at 0 : memref<4xf32>
    %w = executor.workspace at 64 : memref<1024xi8>
    executor.launch @cpu::@main_cluster_0(%a, %t) workspace(%w : memref<1024xi8>) : …
    ```

    Precondition: engine functions are LLVM functions with the attribute `cpu.workspace_bytes`.
    Postcondition: public functions hold operations of the executor dialect and their return, nothing else.
    Refuses any other operation that is left in a host function.
  }];
  let dependentDialects = ["::latewood::executor::ExecutorDialect"];
}

#endif // LATEWOOD_COMPILER_LOWER_PASSES
