// RUN: latewood-opt %s --pass-pipeline='builtin.module(func.func(latewood-form-clusters{engines=cpu}))' | FileCheck %s

// Tests that the operations of a public function share one cluster, which yields what is used outside.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>)
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[R:.*]]:2 = plan.cluster target(#plan.cpu_engine) -> tensor<4xf32>, tensor<4xf32> {
  // CHECK:   %[[S:.*]] = stablehlo.add %[[A]], %[[B]]
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  // CHECK:   %[[T:.*]] = stablehlo.multiply %[[S]], %[[S]]
  %1 = stablehlo.multiply %0, %0 : tensor<4xf32>
  // CHECK:   plan.yield %[[S]], %[[T]]
  // CHECK: return %[[R]]#0, %[[R]]#1
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// Tests that constants stay with the host, also between operations that share a cluster.
// CHECK-LABEL: func.func @constants(
func.func @constants(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[C:.*]] = stablehlo.constant
  // CHECK: plan.cluster
  // CHECK-NOT: plan.cluster
  %0 = stablehlo.negate %a : tensor<4xf32>
  %c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %1 = stablehlo.add %0, %c : tensor<4xf32>
  // CHECK: return %{{.*}}, %[[C]]
  return %1, %c : tensor<4xf32>, tensor<4xf32>
}

// Tests that private functions are left alone.
// CHECK-LABEL: func.func private @helper(
// CHECK-NOT: plan.cluster
func.func private @helper(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
