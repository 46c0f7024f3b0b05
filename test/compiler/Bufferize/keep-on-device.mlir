// Tests that buffers between engines get the memory space of the device, and others do not.
// RUN: latewood-opt %s --latewood-keep-on-device | FileCheck %s

tensorrt_runtime.engine @e (tensor<4xf32>) -> tensor<4xf32> version "1" serialized dense<1> : tensor<2xi8>
tensorrt_runtime.engine @found (tensor<?xf32>) -> tensor<?xf32> version "1" serialized dense<1> : tensor<2xi8>

// CHECK-LABEL: func.func @given
func.func @given(%x: memref<4xf32>, %r: memref<4xf32>) {
  // CHECK: %[[A:.*]] = memref.alloc() : memref<4xf32, #plan.memory_space<device>>
  %a = memref.alloc() : memref<4xf32>
  // CHECK: tensorrt_runtime.enqueue @e(%{{.*}}) outs(%[[A]]) : (memref<4xf32>, memref<4xf32, #plan.memory_space<device>>) -> ()
  tensorrt_runtime.enqueue @e(%x) outs(%a) : (memref<4xf32>, memref<4xf32>) -> ()
  // CHECK: tensorrt_runtime.enqueue @e(%[[A]]) outs(%{{.*}}) : (memref<4xf32, #plan.memory_space<device>>, memref<4xf32>) -> ()
  tensorrt_runtime.enqueue @e(%a) outs(%r) : (memref<4xf32>, memref<4xf32>) -> ()
  memref.dealloc %a : memref<4xf32>
  return
}

// What an engine allocates, through a view, and its extents are known all the same.
// CHECK-LABEL: func.func @allocated
func.func @allocated(%x: memref<?xf32>) -> index {
  %c0 = arith.constant 0 : index
  // CHECK: %[[A:.*]] = tensorrt_runtime.enqueue_alloc @found(%{{.*}}) slots [-1] : (memref<?xf32>) -> memref<?xf32, #plan.memory_space<device>>
  %a = tensorrt_runtime.enqueue_alloc @found(%x) slots [-1] : (memref<?xf32>) -> memref<?xf32>
  // CHECK: memref.dim %[[A]]
  %n = memref.dim %a, %c0 : memref<?xf32>
  // CHECK: %[[V:.*]] = plan.with_shape %[[A]](%{{.*}}) : memref<?xf32, #plan.memory_space<device>>
  %v = plan.with_shape %a(%n) : memref<?xf32>
  // The last result is the program's.
  // CHECK: tensorrt_runtime.enqueue_alloc @found(%[[V]]) slots [0] : (memref<?xf32, #plan.memory_space<device>>) -> memref<?xf32>
  %r = tensorrt_runtime.enqueue_alloc @found(%v) slots [0] : (memref<?xf32>) -> memref<?xf32>
  return %n : index
}

// The host, or another engine, looks at these; nobody at the last.
// CHECK-LABEL: func.func @seen
// CHECK-NOT: memory_space<device>
func.func @seen(%x: memref<4xf32>, %r: memref<4xf32>, %s: memref<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %copied = memref.alloc() : memref<4xf32>
  tensorrt_runtime.enqueue @e(%x) outs(%copied) : (memref<4xf32>, memref<4xf32>) -> ()
  tensorrt_runtime.enqueue @e(%copied) outs(%r) : (memref<4xf32>, memref<4xf32>) -> ()
  memref.copy %copied, %s : memref<4xf32> to memref<4xf32>
  %loaded = memref.alloc() : memref<4xf32>
  tensorrt_runtime.enqueue @e(%x) outs(%loaded) : (memref<4xf32>, memref<4xf32>) -> ()
  tensorrt_runtime.enqueue @e(%loaded) outs(%r) : (memref<4xf32>, memref<4xf32>) -> ()
  %0 = memref.load %loaded[%c0] : memref<4xf32>
  // Written by the host.
  %stored = memref.alloc() : memref<4xf32>
  memref.copy %x, %stored : memref<4xf32> to memref<4xf32>
  tensorrt_runtime.enqueue @e(%stored) outs(%r) : (memref<4xf32>, memref<4xf32>) -> ()
  %unread = memref.alloc() : memref<4xf32>
  tensorrt_runtime.enqueue @e(%x) outs(%unread) : (memref<4xf32>, memref<4xf32>) -> ()
  return %0 : f32
}
