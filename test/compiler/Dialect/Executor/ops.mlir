// RUN: latewood-opt %s | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --mlir-print-op-generic | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --emit-bytecode | latewood-opt | FileCheck %s

// Tests that every operation of the dialect prints as it was read, in pretty and generic form and through bytecode.

module @cpu {
  llvm.func @main_cluster_0(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
}

// CHECK: executor.constant @weights = dense<1.000000e+00> : tensor<4xf32>
executor.constant @weights = dense<1.0> : tensor<4xf32>

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[A:.*]]: memref<4xf32>)
func.func @main(%a: memref<4xf32>) attributes {executor.results = [memref<4xf32>, memref<4xf32>]} {
  // CHECK: %[[R:.*]] = executor.request 0 : memref<4xf32>
  %0 = executor.request 0 : memref<4xf32>
  %1 = executor.request 1 : memref<4xf32>
  // CHECK: executor.get_constant @weights : memref<4xf32>
  %2 = executor.get_constant @weights : memref<4xf32>
  // CHECK: %[[W:.*]] = executor.workspace at 64 : memref<1024xi8>
  %w = executor.workspace at 64 : memref<1024xi8>
  // CHECK: executor.launch @cpu::@main_cluster_0(%[[A]], %[[R]]) workspace(%[[W]] : memref<1024xi8>) : memref<4xf32>, memref<4xf32>
  executor.launch @cpu::@main_cluster_0(%a, %0) workspace(%w : memref<1024xi8>) : memref<4xf32>, memref<4xf32>
  // CHECK: executor.copy %{{.*}} to %{{.*}} : memref<4xf32>
  executor.copy %2 to %1 : memref<4xf32>
  return
}

// CHECK-LABEL: func.func @dynamic(
func.func @dynamic(%n: index) {
  // CHECK: executor.request 0[%{{.*}}] : tensor<?x4xf32>
  %0 = executor.request 0[%n] : tensor<?x4xf32>
  return
}
