// RUN: latewood-opt %s --pass-pipeline='builtin.module(func.func(latewood-allow-same-address))' | FileCheck %s

module @cpu {
  llvm.func @f(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  llvm.func @inplace(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) attributes {plan.same_address = array<i64: 0, 1>}
}

// Tests that an argument that is copied to a result may be that result's memory. (0, 0) is not among the pairs: argument 0 is
// read after result 0 has been written.
// CHECK-LABEL: func.func @swap(
// CHECK-SAME: executor.same_address = array<i64: 0, 1, 1, 0, 1, 1>
func.func @swap(%a: memref<4xf32>, %b: memref<4xf32>) attributes {executor.results = [memref<4xf32>, memref<4xf32>]} {
  %0 = executor.request 0 : memref<4xf32>
  %1 = executor.request 1 : memref<4xf32>
  executor.copy %b to %0 : memref<4xf32>
  executor.copy %a to %1 : memref<4xf32>
  return
}

// Tests that a launch reads and writes in an unknown order, unless its callee says otherwise.
// CHECK-LABEL: func.func @launch(
// CHECK-NOT: executor.same_address
func.func @launch(%a: memref<4xf32>) attributes {executor.results = [memref<4xf32>]} {
  %0 = executor.request 0 : memref<4xf32>
  executor.launch @cpu::@f(%a, %0) : memref<4xf32>, memref<4xf32>
  return
}

// CHECK-LABEL: func.func @inplace(
// CHECK-SAME: executor.same_address = array<i64: 0, 0>
func.func @inplace(%a: memref<4xf32>) attributes {executor.results = [memref<4xf32>]} {
  %0 = executor.request 0 : memref<4xf32>
  executor.launch @cpu::@inplace(%a, %0) : memref<4xf32>, memref<4xf32>
  return
}

// Tests that an argument of which a view is read again, and one that control flow carries, are not paired.
// CHECK-LABEL: func.func @later(
// CHECK-NOT: executor.same_address
func.func @later(%a: memref<4xf32>, %b: memref<4xf32>, %c: i1) attributes {executor.results = [memref<4xf32>, memref<4xf32>]} {
  %0 = executor.request 0 : memref<4xf32>
  %1 = executor.request 1 : memref<4xf32>
  %v = executor.view %a : memref<4xf32> to memref<2x2xf32>
  %w = executor.view %v : memref<2x2xf32> to memref<4xf32>
  %s = scf.if %c -> memref<4xf32> {
    scf.yield %b : memref<4xf32>
  } else {
    scf.yield %w : memref<4xf32>
  }
  executor.fill %0 with 0.0 : f32 to memref<4xf32>
  executor.copy %s to %1 : memref<4xf32>
  return
}
