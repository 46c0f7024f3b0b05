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

// Tests that a slot in another shape is still the slot, and that a layout that says the same as the identity becomes it.
// CHECK-LABEL: func.func @layouts(
// CHECK-SAME: executor.results = [memref<2x2xf32>, memref<4x4xf32>]
// CHECK-SAME: {
func.func @layouts() -> (memref<2x2xf32>, memref<4x4xf32, strided<[4, 1]>>)
    attributes {executor.results = [memref<2x2xf32>, memref<4x4xf32, strided<[4, 1]>>]} {
  // CHECK: executor.request 0
  %0 = executor.request 0 : memref<2x2xf32>
  // CHECK: %[[S1:.*]] = executor.request 1 : memref<4x4xf32>
  %1 = executor.request 1 : memref<4x4xf32>
  // CHECK-NOT: memref.copy %{{.*}} : memref<2x2xf32>
  %2 = memref.collapse_shape %0 [[0, 1]] : memref<2x2xf32> into memref<4xf32>
  %3 = memref.expand_shape %2 [[0, 1]] output_shape [2, 2] : memref<4xf32> into memref<2x2xf32>
  // CHECK: %[[T:.*]] = memref.alloc() : memref<4x4xf32, strided<[4, 1]>>
  %t = memref.alloc() : memref<4x4xf32, strided<[4, 1]>>
  // CHECK: %[[C:.*]] = memref.cast %[[T]] : memref<4x4xf32, strided<[4, 1]>> to memref<4x4xf32>
  // CHECK: memref.copy %[[C]], %[[S1]] : memref<4x4xf32> to memref<4x4xf32>
  return %3, %t : memref<2x2xf32>, memref<4x4xf32, strided<[4, 1]>>
}
