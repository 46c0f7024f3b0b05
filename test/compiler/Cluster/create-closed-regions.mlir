// RUN: latewood-opt %s --pass-pipeline='builtin.module(func.func(latewood-create-closed-regions))' | FileCheck %s

// Tests that values of the host become operands and results get destinations.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[A:.*]]: tensor<4xf32>)
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[E:.*]] = tensor.empty() : tensor<4xf32>
  // CHECK: %[[R:.*]] = plan.dps_cluster target(#plan.cpu_engine) ins(%[[A]] : tensor<4xf32>) outs(%[[E]] : tensor<4xf32>) {
  // CHECK: ^bb0(%[[X:.*]]: tensor<4xf32>, %{{.*}}: tensor<4xf32>):
  // CHECK:   stablehlo.negate %[[X]]
  %0 = plan.cluster target(#plan.cpu_engine) -> tensor<4xf32> {
    %1 = stablehlo.negate %a : tensor<4xf32>
    plan.yield %1 : tensor<4xf32>
  }
  // CHECK: return %[[R]]
  return %0 : tensor<4xf32>
}

// Tests that small constants are copied inside, and large ones become operands.
// CHECK-LABEL: func.func @constants(
func.func @constants(%a: tensor<20xf32>) -> tensor<20xf32> {
  %small = stablehlo.constant dense<2.0> : tensor<20xf32>
  // CHECK: %[[L:.*]] = stablehlo.constant dense<[0.000000e+00, 1.000000e+00
  %large = stablehlo.constant dense<[0., 1., 2., 3., 4., 5., 6., 7., 8., 9., 0., 1., 2., 3., 4., 5., 6., 7., 8., 9.]> : tensor<20xf32>
  // CHECK: plan.dps_cluster target(#plan.cpu_engine) ins(%{{.*}}, %[[L]] : tensor<20xf32>, tensor<20xf32>)
  // CHECK:   stablehlo.constant dense<2.000000e+00>
  %0 = plan.cluster target(#plan.cpu_engine) -> tensor<20xf32> {
    %1 = stablehlo.multiply %a, %small : tensor<20xf32>
    %2 = stablehlo.add %1, %large : tensor<20xf32>
    plan.yield %2 : tensor<20xf32>
  }
  return %0 : tensor<20xf32>
}

// Tests that a value that is given twice is computed once, and that one that passes through is the host's.
// CHECK-LABEL: func.func @trivial(
// CHECK-SAME: %[[A:.*]]: tensor<4xf32>)
func.func @trivial(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[R:.*]] = plan.dps_cluster
  // CHECK:   plan.yield %{{[^,]*}} : tensor<4xf32>
  %0:3 = plan.cluster target(#plan.cpu_engine) -> tensor<4xf32>, tensor<4xf32>, tensor<4xf32> {
    %1 = stablehlo.negate %a : tensor<4xf32>
    plan.yield %1, %1, %a : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  // CHECK: return %[[R]], %[[R]], %[[A]]
  return %0#0, %0#1, %0#2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
