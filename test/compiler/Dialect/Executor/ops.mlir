// RUN: latewood-opt %s | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --mlir-print-op-generic | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --emit-bytecode | latewood-opt | FileCheck %s

// Tests that every operation of the dialect prints as it was read, in pretty and generic form and through bytecode.

module @cpu {
  llvm.func @main_cluster_0(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  llvm.func @sized(!llvm.ptr, !llvm.ptr, i64, i32, i1, !llvm.ptr)
}

// CHECK: executor.constant @weights = dense<1.000000e+00> : tensor<4xf32>
executor.constant @weights = dense<1.0> : tensor<4xf32>

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[A:.*]]: memref<4xf32>)
func.func @main(%a: memref<4xf32>) attributes {executor.results = [memref<4xf32>, memref<4xf32>], executor.donated = array<i64: 0, 1>} {
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
func.func @dynamic(%a: memref<?x4xf32>, %s: memref<4xui32>) {
  // CHECK: %[[N:.*]] = executor.dim %{{.*}}, 0 : memref<?x4xf32>
  %n = executor.dim %a, 0 : memref<?x4xf32>
  // CHECK: executor.request 0[%[[N]]] : memref<?x4xf32>
  %0 = executor.request 0[%n] : memref<?x4xf32>
  // CHECK: executor.request 1 unshaped[%[[N]]] : memref<?xf32>
  %1 = executor.request 1 unshaped[%n] : memref<?xf32>
  // CHECK: executor.shape 1[%[[N]]]
  executor.shape 1[%n]
  // CHECK: %[[T:.*]] = executor.alloc[%[[N]]] : memref<?x4xf32>
  %t = executor.alloc[%n] : memref<?x4xf32>
  // CHECK: executor.view %[[T]][%[[N]]] : memref<?x4xf32> to memref<4x?xf32>
  %v = executor.view %t[%n] : memref<?x4xf32> to memref<4x?xf32>
  // CHECK: executor.view %[[T]] at %[[N]] : memref<?x4xf32> to memref<2xf32>
  %u = executor.view %t at %n : memref<?x4xf32> to memref<2xf32>
  // CHECK: executor.fill %[[T]] with 1.000000e+00 : f32 to memref<?x4xf32>
  executor.fill %t with 1.0 : f32 to memref<?x4xf32>
  // CHECK: executor.copy %[[T]] to %{{.*}} : memref<?x4xf32>
  executor.copy %t to %0 : memref<?x4xf32>
  // CHECK: %[[L:.*]] = executor.load %{{.*}} at 2 : memref<4xui32> to i32
  %l = executor.load %s at 2 : memref<4xui32> to i32
  // CHECK: executor.store %[[L]] to %{{.*}} at 3 : i32 to memref<4xui32>
  executor.store %l to %s at 3 : i32 to memref<4xui32>
  // CHECK: %[[C:.*]] = executor.scalar true
  %c = executor.scalar true
  // CHECK: executor.launch @cpu::@sized(%[[T]], %[[N]], %[[L]], %[[C]]) : memref<?x4xf32>, index, i32, i1
  executor.launch @cpu::@sized(%t, %n, %l, %c) : memref<?x4xf32>, index, i32, i1
  // CHECK: executor.free %[[T]] : memref<?x4xf32>
  executor.free %t : memref<?x4xf32>
  // CHECK: executor.assert %[[C]], "a {text} without values"
  executor.assert %c, "a {text} without values"
  // CHECK: executor.assert %[[C]], "expected {0}, got {1}"(%[[N]], %[[L]]) : index, i32
  executor.assert %c, "expected {0}, got {1}"(%n, %l) : index, i32
  return
}

// CHECK-LABEL: func.func @scalars(
func.func @scalars(%a: i32, %b: i32, %c: i1, %i: index) {
  // CHECK: executor.scalar -4 : i64
  %0 = executor.scalar -4 : i64
  // CHECK: executor.add %{{.*}}, %{{.*}} : i32
  %1 = executor.add %a, %b : i32
  // CHECK: executor.sub
  %2 = executor.sub %a, %b : i32
  // CHECK: executor.mul
  %3 = executor.mul %a, %b : i32
  // CHECK: executor.div_s
  %4 = executor.div_s %a, %b : i32
  // CHECK: executor.div_u
  %5 = executor.div_u %a, %b : i32
  // CHECK: executor.rem_s
  %6 = executor.rem_s %a, %b : i32
  // CHECK: executor.rem_u
  %7 = executor.rem_u %a, %b : i32
  // CHECK: executor.min_s
  %8 = executor.min_s %a, %b : i32
  // CHECK: executor.min_u
  %9 = executor.min_u %a, %b : i32
  // CHECK: executor.max_s
  %10 = executor.max_s %a, %b : i32
  // CHECK: executor.max_u
  %11 = executor.max_u %a, %b : i32
  // CHECK: executor.shl
  %12 = executor.shl %a, %b : i32
  // CHECK: executor.shr_s
  %13 = executor.shr_s %a, %b : i32
  // CHECK: executor.shr_u
  %14 = executor.shr_u %a, %b : i32
  // CHECK: executor.and
  %15 = executor.and %a, %b : i32
  // CHECK: executor.or
  %16 = executor.or %a, %b : i32
  // CHECK: executor.xor %{{.*}}, %{{.*}} : i1
  %17 = executor.xor %c, %c : i1
  // CHECK: executor.not %{{.*}} : index
  %18 = executor.not %i : index
  // CHECK: executor.cmp lt_u %{{.*}}, %{{.*}} : i32
  %19 = executor.cmp lt_u %a, %b : i32
  // CHECK: executor.select %{{.*}}, %{{.*}}, %{{.*}} : i32
  %20 = executor.select %c, %a, %b : i32
  // CHECK: executor.cast_s %{{.*}} : i32 to i64
  %21 = executor.cast_s %a : i32 to i64
  // CHECK: executor.cast_u %{{.*}} : i1 to index
  %22 = executor.cast_u %c : i1 to index
  return
}
