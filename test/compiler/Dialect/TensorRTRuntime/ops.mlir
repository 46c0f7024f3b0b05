// RUN: latewood-opt %s | FileCheck %s
// RUN: latewood-opt %s --mlir-print-op-generic | latewood-opt | FileCheck %s

// CHECK: tensorrt_runtime.engine @fixed (tensor<4xf32>) -> tensor<4xf32> version "TensorRT 11.1.0" serialized dense<[1, 2]> : tensor<2xi8>
tensorrt_runtime.engine @fixed (tensor<4xf32>) -> tensor<4xf32> version "TensorRT 11.1.0" serialized dense<[1, 2]> : tensor<2xi8>
tensorrt_runtime.engine @found (tensor<?xf32>) -> (tensor<1x?xi64>, tensor<f32>) version "TensorRT 11.1.0" serialized dense<[1, 2]> : tensor<2xi8>

// CHECK-LABEL: func.func @on_tensors
func.func @on_tensors(%a: tensor<4xf32>, %b: tensor<?xf32>, %o: tensor<4xf32>) -> (tensor<4xf32>, tensor<1x?xi64>, tensor<f32>) {
  // CHECK: tensorrt_runtime.enqueue @fixed(%{{.*}}) outs(%{{.*}}) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %0 = tensorrt_runtime.enqueue @fixed(%a) outs(%o) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: tensorrt_runtime.enqueue_alloc @found(%{{.*}}) slots [1, -1] : (tensor<?xf32>) -> (tensor<1x?xi64>, tensor<f32>)
  %1:2 = tensorrt_runtime.enqueue_alloc @found(%b) slots [1, -1] : (tensor<?xf32>) -> (tensor<1x?xi64>, tensor<f32>)
  return %0, %1#0, %1#1 : tensor<4xf32>, tensor<1x?xi64>, tensor<f32>
}

// CHECK-LABEL: func.func @on_buffers
func.func @on_buffers(%a: memref<4xf32>, %b: memref<?xf32>, %o: memref<4xf32>) {
  // CHECK: tensorrt_runtime.enqueue @fixed(%{{.*}}) outs(%{{.*}}) : (memref<4xf32>, memref<4xf32>) -> ()
  tensorrt_runtime.enqueue @fixed(%a) outs(%o) : (memref<4xf32>, memref<4xf32>) -> ()
  // CHECK: tensorrt_runtime.enqueue_alloc @found(%{{.*}}) slots [-1, -1] : (memref<?xf32>) -> (memref<1x?xi64>, memref<f32>)
  %1:2 = tensorrt_runtime.enqueue_alloc @found(%b) slots [-1, -1] : (memref<?xf32>) -> (memref<1x?xi64>, memref<f32>)
  return
}
