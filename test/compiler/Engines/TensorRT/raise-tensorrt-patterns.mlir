// RUN: latewood-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(latewood-raise-tensorrt-patterns))' | FileCheck %s

// Tests that GELU is found, with its factors in any order.
// CHECK-LABEL: func @gelu
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK: %[[R:.*]] = tensorrt.activation %[[X]] {activationType = #tensorrt<activation_type kGELU_ERF>}
// CHECK: return %[[R]]
func.func @gelu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %half = tensorrt.constant dense<0.5> : tensor<1xf32>
  %one = tensorrt.constant dense<1.0> : tensor<1xf32>
  %root = tensorrt.constant dense<0.707106769> : tensor<1xf32>
  %0 = tensorrt.element_wise %x, %root {elementwiseOperation = #tensorrt<element_wise_operation kPROD>} : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %1 = tensorrt.unary %0 {unaryOperation = #tensorrt<unary_operation kERF>} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tensorrt.element_wise %1, %one {elementwiseOperation = #tensorrt<element_wise_operation kSUM>} : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %3 = tensorrt.element_wise %2, %x {elementwiseOperation = #tensorrt<element_wise_operation kPROD>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = tensorrt.element_wise %half, %3 {elementwiseOperation = #tensorrt<element_wise_operation kPROD>} : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}

// -----

// Tests that a product that looks like it, with another number, stays.
// CHECK-LABEL: func @other
// CHECK-NOT: kGELU
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %half = tensorrt.constant dense<0.25> : tensor<1xf32>
  %one = tensorrt.constant dense<1.0> : tensor<1xf32>
  %root = tensorrt.constant dense<0.707106769> : tensor<1xf32>
  %0 = tensorrt.element_wise %x, %root {elementwiseOperation = #tensorrt<element_wise_operation kPROD>} : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %1 = tensorrt.unary %0 {unaryOperation = #tensorrt<unary_operation kERF>} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tensorrt.element_wise %1, %one {elementwiseOperation = #tensorrt<element_wise_operation kSUM>} : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %3 = tensorrt.element_wise %2, %x {elementwiseOperation = #tensorrt<element_wise_operation kPROD>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = tensorrt.element_wise %half, %3 {elementwiseOperation = #tensorrt<element_wise_operation kPROD>} : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}

// -----

// Tests that softmax is found.
// CHECK-LABEL: func @softmax
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
// CHECK: tensorrt.softmax %[[X]] {axis = 1 : i64}
func.func @softmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = tensorrt.reduce %x {reduceAxes = array<i64: 1>, reduceOperation = #tensorrt<reduce_operation kMAX>} : (tensor<2x3xf32>) -> tensor<2xf32>
  %1 = tensorrt.broadcast %0 {broadcastDims = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x3xf32>
  %2 = tensorrt.element_wise %x, %1 {elementwiseOperation = #tensorrt<element_wise_operation kSUB>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = tensorrt.unary %2 {unaryOperation = #tensorrt<unary_operation kEXP>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = tensorrt.reduce %3 {reduceAxes = array<i64: 1>, reduceOperation = #tensorrt<reduce_operation kSUM>} : (tensor<2x3xf32>) -> tensor<2xf32>
  %5 = tensorrt.broadcast %4 {broadcastDims = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x3xf32>
  %6 = tensorrt.element_wise %3, %5 {elementwiseOperation = #tensorrt<element_wise_operation kDIV>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %6 : tensor<2x3xf32>
}

// -----

// Tests that quantization and its inverse are found.
// CHECK-LABEL: func @quantization
// CHECK: %[[Q:.*]] = tensorrt.quantize %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<f32>) -> tensor<4xi8>
// CHECK: tensorrt.dequantize %[[Q]], %{{.*}} : (tensor<4xi8>, tensor<f32>) -> tensor<4xf32>
func.func @quantization(%x: tensor<4xf32>) -> tensor<4xf32> {
  %scale = tensorrt.constant dense<0.5> : tensor<1xf32>
  %low = tensorrt.constant dense<-128.0> : tensor<1xf32>
  %high = tensorrt.constant dense<127.0> : tensor<1xf32>
  %0 = tensorrt.element_wise %x, %scale {elementwiseOperation = #tensorrt<element_wise_operation kDIV>} : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %1 = tensorrt.unary %0 {unaryOperation = #tensorrt<unary_operation kROUND>} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tensorrt.element_wise %1, %low {elementwiseOperation = #tensorrt<element_wise_operation kMAX>} : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %3 = tensorrt.element_wise %2, %high {elementwiseOperation = #tensorrt<element_wise_operation kMIN>} : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %4 = tensorrt.cast %3 : (tensor<4xf32>) -> tensor<4xi8>
  %5 = tensorrt.cast %4 : (tensor<4xi8>) -> tensor<4xf32>
  %6 = tensorrt.element_wise %5, %scale {elementwiseOperation = #tensorrt<element_wise_operation kPROD>} : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return %6 : tensor<4xf32>
}
