// Tests that calls of networks become runs of their engines, in both conventions, wherever they stand, and that networks go.
// RUN: latewood-opt %s --latewood-convert-tensorrt-to-runtime | FileCheck %s

// CHECK-NOT: tensorrt.module
tensorrt.module @networks {
  func.func @sum(%x: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<f32>) {
    %0 = tensorrt.reduce %x {reduceAxes = array<i64: 0>, keepDimensions = false, reduceOperation = #tensorrt<reduce_operation kSUM>} : (tensor<4xf32>) -> tensor<f32>
    return %x, %0 : tensor<4xf32>, tensor<f32>
  }
  func.func @found(%x: tensor<4x6xi1>) -> tensor<2x?xi32> {
    %0 = tensorrt.non_zero %x : (tensor<4x6xi1>) -> tensor<2x?xi32>
    return %0 : tensor<2x?xi32>
  }
}
tensorrt_runtime.engine @sum (tensor<4xf32>, index) -> (tensor<4xf32>, tensor<f32>) version "TensorRT 11.1.0" serialized dense<1> : tensor<2xi8>
tensorrt_runtime.engine @found (tensor<4x6xi1>) -> tensor<2x?xi32> version "TensorRT 11.1.0" serialized dense<1> : tensor<2xi8>

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32>, %n: index, %m: tensor<4x6xi1>, %c: i1) -> (tensor<4xf32>, tensor<f32>, tensor<2x?xi32>) {
  // CHECK: %[[A:.*]] = tensor.empty() : tensor<4xf32>
  // CHECK: %[[B:.*]] = tensor.empty() : tensor<f32>
  %a = tensor.empty() : tensor<4xf32>
  %b = tensor.empty() : tensor<f32>
  // CHECK: %[[R:.*]]:2 = tensorrt_runtime.enqueue @sum(%{{.*}}, %{{.*}}) outs(%[[A]], %[[B]])
  %0:2 = tensorrt.call @networks::@sum(%x, %n) outs(%a, %b) : (tensor<4xf32>, index, tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  // CHECK: scf.if
  %1 = scf.if %c -> tensor<2x?xi32> {
    // CHECK: tensorrt_runtime.enqueue_alloc @found(%{{.*}}) slots [-1] : (tensor<4x6xi1>) -> tensor<2x?xi32>
    %2 = tensorrt.call_alloc @networks::@found(%m) : (tensor<4x6xi1>) -> tensor<2x?xi32>
    scf.yield %2 : tensor<2x?xi32>
  } else {
    %2 = tensorrt.call_alloc @networks::@found(%m) : (tensor<4x6xi1>) -> tensor<2x?xi32>
    scf.yield %2 : tensor<2x?xi32>
  }
  // CHECK: return %[[R]]#0, %[[R]]#1,
  return %0#0, %0#1, %1 : tensor<4xf32>, tensor<f32>, tensor<2x?xi32>
}
