// Tests the syntax of runs of engines, with memory of the host and of the device.
// RUN: latewood-opt %s | FileCheck %s
// RUN: latewood-opt %s --mlir-print-op-generic | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --emit-bytecode | latewood-opt | FileCheck %s

// CHECK: executor.engine @e of "tensorrt" version "TensorRT 11.1.0" serialized dense<[1, 2]> : tensor<2xi8>
executor.engine @e of "tensorrt" version "TensorRT 11.1.0" serialized dense<[1, 2]> : tensor<2xi8>

// CHECK-LABEL: func.func @main
func.func @main(%x: memref<?xf32>, %n: index) {
  // CHECK: %[[D:.*]] = executor.alloc : memref<4xf32, #plan.memory_space<device>>
  %d = executor.alloc : memref<4xf32, #plan.memory_space<device>>
  // CHECK: executor.enqueue @e(%{{.*}}, %{{.*}}) outs(%[[D]]) : memref<?xf32>, index, memref<4xf32, #plan.memory_space<device>>
  executor.enqueue @e(%x, %n) outs(%d) : memref<?xf32>, index, memref<4xf32, #plan.memory_space<device>>
  // CHECK: %[[R:.*]]:2, %[[M:.*]]:2 = executor.enqueue_alloc @e(%[[D]]) slots [0, -1] : (memref<4xf32, #plan.memory_space<device>>) -> (memref<?x2xf32>, memref<?xi32, #plan.memory_space<device>>), (index, index)
  %r:2, %m:2 = executor.enqueue_alloc @e(%d) slots [0, -1] : (memref<4xf32, #plan.memory_space<device>>) -> (memref<?x2xf32>, memref<?xi32, #plan.memory_space<device>>), (index, index)
  // CHECK: executor.free %[[R]]#1 : memref<?xi32, #plan.memory_space<device>>
  executor.free %r#1 : memref<?xi32, #plan.memory_space<device>>
  executor.free %d : memref<4xf32, #plan.memory_space<device>>
  return
}
