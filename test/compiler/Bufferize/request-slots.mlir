// RUN: latewood-opt %s --pass-pipeline='builtin.module(func.func(latewood-request-slots))' | FileCheck %s

module @cpu {
  func.func private @f(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
}

// Tests that a result that a cluster computes is written in place, that an argument and a second use are copied, and that the
// results' types and attributes are recorded.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[A:.*]]: tensor<4xf32> {bufferization.writable = false})
// CHECK-SAME: executor.result_attrs = [{jax.result_info = "out"}, {}, {}]
// CHECK-SAME: executor.results = [memref<4xf32>, memref<4xf32>, memref<4xf32>]
func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "out"}, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[S0:.*]] = executor.request 0 : tensor<4xf32>
  // CHECK: %[[S1:.*]] = executor.request 1 : tensor<4xf32>
  // CHECK: %[[S2:.*]] = executor.request 2 : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  // CHECK: %[[R:.*]] = plan.call @cpu::@f(%[[A]]) outs(%[[S0]])
  %0 = plan.call @cpu::@f(%a) outs(%e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %[[M1:.*]] = bufferization.materialize_in_destination %[[R]] in %[[S1]]
  // CHECK: %[[M2:.*]] = bufferization.materialize_in_destination %[[A]] in %[[S2]]
  // CHECK: return %[[R]], %[[M1]], %[[M2]]
  return %0, %0, %a : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
