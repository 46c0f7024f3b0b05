// RUN: latewood-opt %s --split-input-file --verify-diagnostics

// (C1) of engine
// expected-error @+1 {{needs a serialized form of type tensor<?xi8>, got 'tensor<1x2xi8>'}}
tensorrt_runtime.engine @e (tensor<4xf32>) -> tensor<4xf32> version "1" serialized dense<1> : tensor<1x2xi8>

// -----

// (C1) of enqueue
func.func @no_engine(%a: memref<4xf32>) {
  // expected-error @+1 {{runs @missing, which is no engine}}
  tensorrt_runtime.enqueue @missing(%a) outs(%a) : (memref<4xf32>, memref<4xf32>) -> ()
  return
}

// -----

tensorrt_runtime.engine @e (tensor<4xf32>) -> tensor<4xf32> version "1" serialized dense<1> : tensor<2xi8>
func.func @other_type(%a: memref<4xf32>, %b: memref<4xi32>) {
  // expected-error @+1 {{has input 0 of type 'memref<4xi32>' where @e has 'tensor<4xf32>'}}
  tensorrt_runtime.enqueue @e(%b) outs(%a) : (memref<4xi32>, memref<4xf32>) -> ()
  return
}

// -----

tensorrt_runtime.engine @e (tensor<4xf32>) -> tensor<4xf32> version "1" serialized dense<1> : tensor<2xi8>
func.func @other_number(%a: memref<4xf32>) {
  // expected-error @+1 {{has 2 inputs where @e has 1}}
  tensorrt_runtime.enqueue @e(%a, %a) outs(%a) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
  return
}

// -----

// (C2) of enqueue
tensorrt_runtime.engine @e (tensor<4xf32>) -> tensor<4xf32> version "1" serialized dense<1> : tensor<2xi8>
func.func @no_result(%a: tensor<4xf32>) {
  // expected-error @+1 {{needs one result per destination on tensors}}
  tensorrt_runtime.enqueue @e(%a) outs(%a) : (tensor<4xf32>, tensor<4xf32>) -> ()
  return
}

// -----

// (C3) of enqueue
tensorrt_runtime.engine @e (tensor<?xf32>) -> tensor<?xf32> version "1" serialized dense<1> : tensor<2xi8>
func.func @strided_destination(%a: memref<?xf32>, %b: memref<?xf32, strided<[2]>>) {
  // expected-error @+1 {{has destination 0 of type 'memref<?xf32, strided<[2]>>': TensorRT's linear format is row-major}}
  tensorrt_runtime.enqueue @e(%a) outs(%b) : (memref<?xf32>, memref<?xf32, strided<[2]>>) -> ()
  return
}

// -----

// (C2) of enqueue_alloc: strides
tensorrt_runtime.engine @e (tensor<?xf32>) -> tensor<?x?xf32> version "1" serialized dense<1> : tensor<2xi8>
func.func @strided_result(%a: memref<?xf32>) {
  // expected-error @+1 {{has result 0 of type 'memref<?x?xf32, strided<[8, 1]>>'}}
  %0 = tensorrt_runtime.enqueue_alloc @e(%a) slots [0] : (memref<?xf32>) -> memref<?x?xf32, strided<[8, 1]>>
  return
}

// -----

// an offset
tensorrt_runtime.engine @e (tensor<?xf32>) -> tensor<?xf32> version "1" serialized dense<1> : tensor<2xi8>
func.func @offset_result(%a: memref<?xf32>) {
  // expected-error @+1 {{has result 0 of type 'memref<?xf32, strided<[1], offset: 4>>'}}
  %0 = tensorrt_runtime.enqueue_alloc @e(%a) slots [0] : (memref<?xf32>) -> memref<?xf32, strided<[1], offset: 4>>
  return
}

// -----

// strides that are not known
tensorrt_runtime.engine @e (tensor<?xf32>) -> tensor<?x?xf32> version "1" serialized dense<1> : tensor<2xi8>
func.func @unknown_strides(%a: memref<?xf32>) {
  // expected-error @+1 {{has result 0 of type 'memref<?x?xf32, strided<[?, ?], offset: ?>>'}}
  %0 = tensorrt_runtime.enqueue_alloc @e(%a) slots [0] : (memref<?xf32>) -> memref<?x?xf32, strided<[?, ?], offset: ?>>
  return
}

// -----

// (C3) of enqueue_alloc
tensorrt_runtime.engine @e (tensor<?xf32>) -> tensor<?xf32> version "1" serialized dense<1> : tensor<2xi8>
func.func @no_slot(%a: memref<?xf32>) {
  // expected-error @+1 {{has 0 slots for 1 results}}
  %0 = tensorrt_runtime.enqueue_alloc @e(%a) slots [] : (memref<?xf32>) -> memref<?xf32>
  return
}

// -----

tensorrt_runtime.engine @e (tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) version "1" serialized dense<1> : tensor<2xi8>
func.func @one_slot_twice(%a: memref<?xf32>) {
  // expected-error @+1 {{needs slots that are -1, or a slot each, got 0}}
  %0:2 = tensorrt_runtime.enqueue_alloc @e(%a) slots [0, 0] : (memref<?xf32>) -> (memref<?xf32>, memref<?xf32>)
  return
}
