// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Phase Lower: the host program in the executor dialect.

#ifndef LATEWOOD_COMPILER_LOWER_PASSES
#define LATEWOOD_COMPILER_LOWER_PASSES

include "mlir/Pass/PassBase.td"

def ConvertToExecutorPass : Pass<"latewood-convert-to-executor", "::mlir::ModuleOp"> {
  let summary = "Turns bufferized host functions into executor programs";
  let description = [{
    Calls of compiled clusters become launches, copies become `executor.copy` (or `executor.fill`, where a constant of equal
    elements is copied, which then takes no place in the file), and allocations become parts of the function's workspace,
    behind which lies the scratch memory of the engine functions (they run one after the other and share it). Buffers of
    dynamic shape, and those that control flow carries, are allocated by the call and freed behind their last use; a launch
    passes what the call passed, extents included. Integer arithmetic gets the executor's operations, one for one; reshapes
    and casts of buffers become views.

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
    Postcondition: public functions hold operations of the executor dialect, structured control flow over integers and buffers,
    and their return, nothing else.
    Refuses any other operation that is left in a host function.
  }];
  let dependentDialects = ["::latewood::executor::ExecutorDialect"];
}

def AllowSameAddressPass : Pass<"latewood-allow-same-address", "::mlir::func::FuncOp"> {
  let summary = "Lists the results that may lie where an argument lies";
  let description = [{
    The runtime computes a result aside when the caller's buffer for it overlaps an argument, unless the pair is listed here: the
    argument is read for the last time before the result is written for the first time. A copy from one to the other
    counts as both, and so does a launch whose callee allows it for these operands (`plan.same_address`). Listed pairs are
    also those where donated memory is used in place.

    ```mlir
    // before
    func.func @main(%a: memref<4xf32>) attributes {executor.results = [memref<4xf32>]} {
      %0 = executor.request 0 : memref<4xf32>
      executor.copy %a to %0 : memref<4xf32>
    // after
    func.func @main(%a: memref<4xf32>) attributes {executor.same_address = array<i64: 0, 0>, …
    ```

    Precondition: host functions of executor operations. Only types that are equal are paired.
  }];
  let dependentDialects = ["::latewood::executor::ExecutorDialect"];
}

#endif // LATEWOOD_COMPILER_LOWER_PASSES
