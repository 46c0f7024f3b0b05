// RUN: latewood-opt %s --latewood-convert-to-executor | FileCheck %s

module @cpu {
  llvm.func @f(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) attributes {cpu.workspace_bytes = 256 : i64}
  llvm.func @g(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
}

// Tests that allocations become parts of the workspace, with the engines' scratch memory behind them, and that calls and copies get
// their host forms.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[A:.*]]: memref<20xf32>) attributes {executor.workspace_bytes = 448 : i64}
func.func @main(%a: memref<20xf32>) {
  // CHECK: %[[R:.*]] = executor.request 0
  %0 = executor.request 0 : memref<20xf32>
  // CHECK: %[[S:.*]] = executor.workspace at 0 : memref<20xf32>
  %t = memref.alloc() : memref<20xf32>
  // CHECK: %[[U:.*]] = executor.workspace at 128 : memref<16xf32>
  %u = memref.alloc() : memref<16xf32>
  // CHECK: %[[W:.*]] = executor.workspace at 192 : memref<256xi8>
  // CHECK: executor.launch @cpu::@f(%[[A]], %[[S]]) workspace(%[[W]] : memref<256xi8>) : memref<20xf32>, memref<20xf32>
  plan.call @cpu::@f(%a) outs(%t) : (memref<20xf32>, memref<20xf32>) -> ()
  // CHECK: executor.launch @cpu::@g(%[[S]], %[[U]]) : memref<20xf32>, memref<16xf32>
  plan.call @cpu::@g(%t) outs(%u) : (memref<20xf32>, memref<16xf32>) -> ()
  // CHECK: executor.copy %[[S]] to %[[R]] : memref<20xf32>
  memref.copy %t, %0 : memref<20xf32> to memref<20xf32>
  return
}
