// Tests that programs of layers with dynamic shapes become networks as they are.
// RUN: latewood-opt %s --latewood-outline-tensorrt-networks --split-input-file | FileCheck %s

// CHECK: tensorrt.module @networks {
// CHECK: func.func @main_network(%[[X:.*]]: tensor<?x6xi1> {plan.bounds = #plan.bounds<min = [1, 6], opt = [2, 6], max = [4, 6]>}) -> (tensor<2x?xi32>, tensor<?x6xi1>)
// CHECK: tensorrt.non_zero %[[X]]
// CHECK: func.func @main(%[[X:.*]]: tensor<?x6xi1> {plan.bounds = #plan.bounds<min = [1, 6], opt = [2, 6], max = [4, 6]>})
// CHECK-NEXT: %[[R:.*]]:2 = tensorrt.call_alloc @networks::@main_network(%[[X]]) : (tensor<?x6xi1>) -> (tensor<2x?xi32>, tensor<?x6xi1>)
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1
func.func @main(%x: tensor<?x6xi1> {plan.bounds = #plan.bounds<min = [1, 6], opt = [2, 6], max = [4, 6]>}) -> (tensor<2x?xi32>, tensor<?x6xi1>) {
  %0 = tensorrt.non_zero %x : (tensor<?x6xi1>) -> tensor<2x?xi32>
  return %0, %x : tensor<2x?xi32>, tensor<?x6xi1>
}
// Static shapes are for clusters.
// CHECK: func.func @fixed
// CHECK-NEXT: tensorrt.activation
func.func @fixed(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tensorrt.activation %x {activationType = #tensorrt<activation_type kRELU>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// And so is what is not of layers alone.
// CHECK: func.func @mixed
// CHECK-NEXT: tensorrt.activation
func.func @mixed(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tensorrt.activation %x {activationType = #tensorrt<activation_type kRELU>} : (tensor<?xf32>) -> tensor<?xf32>
  %1 = stablehlo.exponential %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// A program that calls its networks itself stays, and a name that is taken is made another.
// CHECK: tensorrt.module @networks_0 {
// CHECK: func.func @whole_network
// CHECK: tensorrt.module @networks {
// CHECK: func.func @f
// CHECK: func.func @caller
// CHECK: tensorrt.call_alloc @networks::@f
// CHECK: func.func @whole
// CHECK: tensorrt.call_alloc @networks_0::@whole_network
tensorrt.module @networks {
  func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
    return %x : tensor<?xf32>
  }
}
func.func @caller(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tensorrt.call_alloc @networks::@f(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @whole(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tensorrt.activation %x {activationType = #tensorrt<activation_type kRELU>} : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
