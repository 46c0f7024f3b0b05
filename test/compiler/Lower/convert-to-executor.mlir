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

// Tests that a constant of equal elements is written where it goes, and needs no place in the file; others are copied.
// CHECK-NOT: executor.constant @ones
// CHECK: executor.constant @numbers
// CHECK-NOT: executor.constant @ones
executor.constant @ones = dense<1.0> : tensor<1000xf32>
executor.constant @numbers = dense<[1, 2]> : tensor<2xi32>
// CHECK-LABEL: func.func @constants(
func.func @constants() {
  // CHECK: %[[R:.*]] = executor.request 0
  %0 = executor.request 0 : memref<1000xf32>
  %1 = executor.request 1 : memref<2xi32>
  // CHECK-NOT: get_constant @ones
  %2 = executor.get_constant @ones : memref<1000xf32>
  // CHECK: executor.fill %[[R]] with 1.000000e+00 : f32 to memref<1000xf32>
  memref.copy %2, %0 : memref<1000xf32> to memref<1000xf32>
  // CHECK: executor.get_constant @numbers
  %3 = executor.get_constant @numbers : memref<2xi32>
  // CHECK: executor.copy
  memref.copy %3, %1 : memref<2xi32> to memref<2xi32>
  return
}
