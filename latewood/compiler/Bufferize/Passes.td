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

def CarryBuffersPass : Pass<"latewood-carry-buffers", "::mlir::func::FuncOp"> {
  let summary = "Lets control flow of the host carry buffers instead of tensors";
  let description = [{
    Bufferization would copy each carried tensor in every iteration, because it cannot see that the old one is not needed any
    more. On the host it is simple: operations write into memory of their own, so that a tensor is a buffer from where it is
    computed to its last use, and control flow passes addresses on.

    ```mlir
    // before
    %r:2 = scf.while (%x = %a, %m = %n) : (tensor<?xf32>, index) -> (tensor<?xf32>, index) { … }
    // after
    %b = bufferization.to_buffer %a read_only : tensor<?xf32> to memref<?xf32>
    %r:2 = scf.while (%x = %b, %m = %n) : (memref<?xf32>, index) -> (memref<?xf32>, index) { … }
    %t = bufferization.to_tensor %r#0 restrict : memref<?xf32> to tensor<?xf32>
    ```

    Postcondition: operands and results of `scf` are buffers and scalars. Who frees what is decided by `latewood-own-buffers`.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::scf::SCFDialect"];
}

def OwnBuffersPass : Pass<"latewood-own-buffers", "::mlir::func::FuncOp"> {
  let summary = "Gives each buffer that control flow carries one owner";
  let description = [{
    What goes into a loop, is yielded, or comes out belongs to whoever has it then: it is handed over where nobody else needs it, and copied
    where it is an argument, a constant, a result's memory, used later, or handed over twice. The owner frees it behind its last use.
    So a loop that makes its tensor anew in each iteration holds two at most, one that swaps two tensors moves no byte, and the memory of
    every path is accounted for.

    ```mlir
    // before
    %r:2 = scf.while (%x = %arg, %m = %n) : (memref<?xf32>, index) -> (memref<?xf32>, index) { … } do {
    ^bb0(%x: memref<?xf32>, %m: index):
      %y = memref.alloc(%next) : memref<?xf32>
      plan.call @cpu::@grow(%x, %m, %next) outs(%y) : …
      scf.yield %y, %next : memref<?xf32>, index
    }
    // after
    %a = memref.alloc(%n) : memref<?xf32>
    memref.copy %arg, %a : …
    %r:2 = scf.while (%x = %a, %m = %n) : (memref<?xf32>, index) -> (memref<?xf32>, index) { … } do {
    ^bb0(%x: memref<?xf32>, %m: index):
      %y = memref.alloc(%next) : memref<?xf32>
      plan.call @cpu::@grow(%x, %m, %next) outs(%y) : …
      memref.dealloc %x : memref<?xf32>
      scf.yield %y, %next : memref<?xf32>, index
    }
    ```

    Postcondition: a buffer that a terminator or an initial value of `scf` hands over is not used afterwards, and has been made by
    `memref.alloc` or come through control flow.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
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

def KeepOnDevicePass : Pass<"latewood-keep-on-device", "::mlir::func::FuncOp"> {
  let summary = "What only engines look at stays on their device";
  let description = [{
    A buffer that an engine writes, and that nobody but engines reads, never comes to the host: its type gets the memory space of the
    device.

    ```mlir
    // before
    %0 = memref.alloc() : memref<4xf32>
    tensorrt_runtime.enqueue @a(%x) outs(%0) : …
    tensorrt_runtime.enqueue @b(%0) outs(%s) : …
    // after
    %0 = memref.alloc() : memref<4xf32, #plan.memory_space<device>>
    ```
    Also results of `tensorrt_runtime.enqueue_alloc` without a slot; and through views of the buffer. Precondition: ownership is
    settled. Postcondition: the host loads, stores and copies nothing in the memory space of the device.
  }];
  let dependentDialects = ["::latewood::plan::PlanDialect"];
}

#endif // LATEWOOD_COMPILER_BUFFERIZE_PASSES
