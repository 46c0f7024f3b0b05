// RUN: latewood-opt %s --pass-pipeline='builtin.module(latewood-expand-composites)' | FileCheck %s

// Tests that a composite that names an elementary function of CHLO becomes it, and that another one is a call.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[E:.*]] = chlo.erf %[[X]] : tensor<4xf32> -> tensor<4xf32>
  %0 = stablehlo.composite "chlo.erf" %x {decomposition = @erf} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %[[L:.*]] = call @lgamma(%[[E]]) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.composite "chlo.lgamma" %0 {decomposition = @lgamma} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: call @twice(%[[L]])
  %2 = stablehlo.composite "my.twice" %1 {decomposition = @twice} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NOT: composite
  return %2 : tensor<4xf32>
}
func.func private @erf(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @lgamma(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
