// RUN: latewood-opt %s --latewood-outline-clusters | FileCheck %s

// Tests that cluster bodies become functions of the engine's module, which carries the target, and that destinations and constants
// are marked.

// CHECK: module @cpu attributes {plan.engine = #plan.cpu_engine, plan.target = #plan.target<triple = "t", cpu = "c", features = "f">} {
// CHECK:   func.func @main_cluster_0(%[[X:.*]]: tensor<4xf32>, %{{.*}}: tensor<4xf32> {plan.constant}, %{{.*}}: tensor<4xf32> {plan.out}) -> tensor<4xf32> {
// CHECK:     %[[S:.*]] = stablehlo.add %[[X]]
// CHECK:     return %[[S]]
// CHECK:   func.func @main_cluster_1(%{{.*}}: tensor<4xf32>) -> tensor<4xf32> {
module attributes {plan.target = #plan.target<triple = "t", cpu = "c", features = "f">} {
  // CHECK-LABEL: func.func @main(
  // CHECK-SAME: %[[A:.*]]: tensor<4xf32>)
  func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    // CHECK: %[[C:.*]] = stablehlo.constant
    %c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    // CHECK: %[[E:.*]] = tensor.empty
    %e = tensor.empty() : tensor<4xf32>
    // CHECK: %[[R:.*]] = plan.call @cpu::@main_cluster_0(%[[A]], %[[C]]) outs(%[[E]]) :
    %0 = plan.dps_cluster target(#plan.cpu_engine) ins(%a, %c : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>, %out: tensor<4xf32>):
      %2 = stablehlo.add %x, %y : tensor<4xf32>
      plan.yield %2 : tensor<4xf32>
    } -> tensor<4xf32>
    // CHECK: %[[Q:.*]] = plan.call_alloc @cpu::@main_cluster_1(%[[R]]) :
    %1 = plan.alloc_cluster target(#plan.cpu_engine) ins(%0 : tensor<4xf32>) {
    ^bb0(%x: tensor<4xf32>):
      %2 = stablehlo.negate %x : tensor<4xf32>
      plan.yield %2 : tensor<4xf32>
    } -> tensor<4xf32>
    // CHECK: return %[[R]], %[[Q]]
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
}
