// RUN: latewood-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(latewood-simplify-tensorrt))' | FileCheck %s

// Tests that two transposes are one, or none.
// CHECK-LABEL: func @transposes
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>)
func.func @transposes(%x: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<4x2x3xf32>) {
  %0 = tensorrt.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %1 = tensorrt.transpose %0 {permutation = array<i64: 1, 0, 2>} : (tensor<3x2x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: %[[T:.*]] = tensorrt.transpose %[[X]] {permutation = array<i64: 2, 0, 1>}
  %2 = tensorrt.transpose %0 {permutation = array<i64: 2, 1, 0>} : (tensor<3x2x4xf32>) -> tensor<4x2x3xf32>
  // CHECK: return %[[X]], %[[T]]
  return %1, %2 : tensor<2x3x4xf32>, tensor<4x2x3xf32>
}

// -----

// Tests that a product takes a transpose in.
// CHECK-LABEL: func @product
// CHECK-SAME: (%[[X:.*]]: tensor<5x7xf32>, %[[W:.*]]: tensor<3x7xf32>)
func.func @product(%x: tensor<5x7xf32>, %w: tensor<3x7xf32>) -> tensor<5x3xf32> {
  %0 = tensorrt.transpose %w {permutation = array<i64: 1, 0>} : (tensor<3x7xf32>) -> tensor<7x3xf32>
  // CHECK: tensorrt.matrix_multiply %[[X]], %[[W]] {op0 = #tensorrt<matrix_operation kNONE>, op1 = #tensorrt<matrix_operation kTRANSPOSE>}
  %1 = tensorrt.matrix_multiply %x, %0 {op0 = #tensorrt<matrix_operation kNONE>, op1 = #tensorrt<matrix_operation kNONE>} : (tensor<5x7xf32>, tensor<7x3xf32>) -> tensor<5x3xf32>
  return %1 : tensor<5x3xf32>
}

// -----

// Tests that a transpose next to a reshape is one shuffle.
// CHECK-LABEL: func @shuffle
func.func @shuffle(%x: tensor<2x3x4xf32>) -> tensor<6x4xf32> {
  // CHECK: tensorrt.shuffle %{{.*}} {firstTranspose = array<i64: 1, 0, 2>, reshape = array<i64: 6, 4>, zeroIsPlaceholder = false}
  %0 = tensorrt.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %1 = tensorrt.reshape %0 : (tensor<3x2x4xf32>) -> tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}

// -----

// Tests that an elementwise layer repeats its operand itself, but keeps one that gives the result its extents.
// CHECK-LABEL: func @broadcast
// CHECK-SAME: (%[[X:.*]]: tensor<8x4xf32>, %[[B:.*]]: tensor<4xf32>)
func.func @broadcast(%x: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> {
  %0 = tensorrt.broadcast %b {broadcastDims = array<i64: 1>} : (tensor<4xf32>) -> tensor<8x4xf32>
  // CHECK: %[[U:.*]] = tensorrt.unsqueeze %[[B]] {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<1x4xf32>
  // CHECK: tensorrt.element_wise %[[X]], %[[U]]
  %1 = tensorrt.element_wise %x, %0 {elementwiseOperation = #tensorrt<element_wise_operation kSUM>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
