// RUN: latewood-opt %s --pass-pipeline='builtin.module(func.func(latewood-finish-slots))' | FileCheck %s

// Tests that results are dropped when they are in their slots, and copied there when bufferization put them elsewhere.
// CHECK-LABEL: func.func @main(%{{.*}}: memref<4xf32>)
// CHECK-NOT: ->
func.func @main(%a: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {
  // CHECK: %[[S0:.*]] = executor.request 0
  %0 = executor.request 0 : memref<4xf32>
  // CHECK: %[[S1:.*]] = executor.request 1
  %1 = executor.request 1 : memref<4xf32>
  // CHECK: %[[T:.*]] = memref.alloc
  %t = memref.alloc() : memref<4xf32>
  // CHECK-NOT: memref.copy %[[S0]]
  // CHECK: memref.copy %[[T]], %[[S1]]
  // CHECK: return{{$}}
  return %0, %t : memref<4xf32>, memref<4xf32>
}
