// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Phase Bufferize: the host functions get buffers. Engines have made their own code already.

#ifndef LATEWOOD_COMPILER_BUFFERIZE_PASSES
#define LATEWOOD_COMPILER_BUFFERIZE_PASSES

include "mlir/Pass/PassBase.td"

def OutlineConstantsPass : Pass<"latewood-outline-constants", "::mlir::ModuleOp"> {
  let summary = "Moves the constants of host functions into the executable file";
  let description = [{
    Equal constants share one `executor.constant`; a use becomes a view of its memory, which is never written.

    ```mlir
    // before
    %c = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    // after
    executor.constant @constant_0 = dense<[1.0, 2.0]> : tensor<2xf32>
    …
    %b = executor.get_constant @constant_0 : memref<2xf32>
    %c = bufferization.to_tensor %b restrict : memref<2xf32> to tensor<2xf32>
    ```

    Postcondition: host functions hold no constant of tensor type.
  }];
  let dependentDialects = ["::latewood::executor::ExecutorDialect", "::mlir::bufferization::BufferizationDialect"];
}

def RequestSlotsPass : Pass<"latewood-request-slots", "::mlir::func::FuncOp"> {
  let summary = "Ties each result of a public function to its output slot";
  let description = [{
    A result that a cluster computes is written in place, also through reshapes: the destination of the call becomes the request. Other results (an
    argument, a constant, a value that is returned twice) are copied into their slot, and a remark says so. Requests stand at the
    beginning of the function, so that a call that cannot get its memory fails before it computes.

    ```mlir
    // before
    %e = tensor.empty() : tensor<4xf32>
    %0 = plan.call @cpu::@main_cluster_0(%a) outs(%e) : …
    return %0, %a : tensor<4xf32>, tensor<4xf32>
    // after
    %s0 = executor.request 0 : tensor<4xf32>
    %s1 = executor.request 1 : tensor<4xf32>
    %0 = plan.call @cpu::@main_cluster_0(%a) outs(%s0) : …
    %1 = bufferization.materialize_in_destination %a in %s1 : …
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
    ```

    Arguments become read-only. Memory that the caller gives up (`tf.aliasing_output`, `jax.buffer_donor`) is recorded in
    `executor.donated`, in pairs of an argument and a result of its type. Postcondition: every returned value is tied to the slot of its position.
  }];
  let dependentDialects = ["::latewood::executor::ExecutorDialect", "::mlir::bufferization::BufferizationDialect"];
}

def FinishSlotsPass : Pass<"latewood-finish-slots", "::mlir::func::FuncOp"> {
  let summary = "Drops the results of a bufferized public function: they are in their slots";
  let description = [{
    Checks that each returned buffer is the memory of its slot; where bufferization decided otherwise, copies it there, and a
    remark says so. The types of the results stay in the attribute `executor.results`, with the identity layout. Refuses a result
    with any other layout, unless it says the same: `strided<[4, 1]>` for 4x4 elements.

    ```mlir
    // before
    func.func @main(%a: memref<4xf32>) -> memref<4xf32> { …  return %s0 : memref<4xf32> }
    // after
    func.func @main(%a: memref<4xf32>) attributes {executor.results = [memref<4xf32>]} { …  return }
    ```
  }];
  let dependentDialects = ["::latewood::executor::ExecutorDialect", "::mlir::memref::MemRefDialect"];
}

#endif // LATEWOOD_COMPILER_BUFFERIZE_PASSES
