// RUN: latewood-opt %s --pass-pipeline='builtin.module(func.func(latewood-fold-empty-tensors))' | FileCheck %s

// Tests that what computes no element is a constant, and that pieces without elements go.
// CHECK-LABEL: func.func @slices(
// CHECK-SAME: %[[A:.*]]: tensor<4xf32>)
func.func @slices(%a: tensor<4xf32>) -> (tensor<0xf32>, tensor<4xf32>) {
  %0 = stablehlo.slice %a [4:4] : (tensor<4xf32>) -> tensor<0xf32>
  %1 = stablehlo.concatenate %a, %0, dim = 0 : (tensor<4xf32>, tensor<0xf32>) -> tensor<4xf32>
  // CHECK: %[[C:.*]] = stablehlo.constant dense<> : tensor<0xf32>
  // CHECK-NOT: stablehlo.slice
  // CHECK: return %[[C]], %[[A]]
  return %0, %1 : tensor<0xf32>, tensor<4xf32>
}

// Tests that padding nothing is padding, and that updates by nothing are none.
// CHECK-LABEL: func.func @updates(
// CHECK-SAME: %[[A:.*]]: tensor<4xf32>, %[[E:.*]]: tensor<0xf32>, %[[I:.*]]: tensor<i32>, %[[P:.*]]: tensor<f32>)
func.func @updates(%a: tensor<4xf32>, %e: tensor<0xf32>, %i: tensor<i32>, %p: tensor<f32>) -> (tensor<3xf32>, tensor<4xf32>) {
  // CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %[[P]], dims = []
  %0 = stablehlo.pad %e, %p, low = [1], high = [2], interior = [0] : (tensor<0xf32>, tensor<f32>) -> tensor<3xf32>
  %1 = stablehlo.dynamic_update_slice %a, %e, %i : (tensor<4xf32>, tensor<0xf32>, tensor<i32>) -> tensor<4xf32>
  // CHECK: return %[[B]], %[[A]]
  return %0, %1 : tensor<3xf32>, tensor<4xf32>
}
