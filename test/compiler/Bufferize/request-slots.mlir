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

// Tests that reshapes between a cluster and the return do not prevent it from writing in place.
// CHECK-LABEL: func.func @reshaped(
func.func @reshaped(%a: tensor<4xf32>) -> (tensor<2x2xf32>, tensor<1x4xf32>) {
  // CHECK: %[[S0:.*]] = executor.request 0 : tensor<2x2xf32>
  // CHECK: %[[S1:.*]] = executor.request 1 : tensor<1x4xf32>
  // CHECK-DAG: %[[D0:.*]] = tensor.collapse_shape %[[S0]] {{\[\[}}0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  // CHECK-DAG: %[[D1:.*]] = tensor.collapse_shape %[[S1]] {{\[\[}}0, 1]] : tensor<1x4xf32> into tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %f = tensor.empty() : tensor<4xf32>
  // CHECK: %[[R0:.*]] = plan.call @cpu::@f(%{{.*}}) outs(%[[D0]])
  %0 = plan.call @cpu::@f(%a) outs(%e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: plan.call @cpu::@f(%[[R0]]) outs(%[[D1]])
  %1 = plan.call @cpu::@f(%0) outs(%f) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = tensor.expand_shape %0 [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %3 = tensor.expand_shape %1 [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  return %2, %3 : tensor<2x2xf32>, tensor<1x4xf32>
}

// Tests that donated arguments are recorded with the results that may have their memory.
// CHECK-LABEL: func.func @donated(
// CHECK-SAME: executor.donated = array<i64: 1, 1, 0, 0>
func.func @donated(%a: tensor<4xf32> {jax.buffer_donor = true}, %b: tensor<4xf32> {tf.aliasing_output = 1 : i32})
    -> (tensor<4xf32>, tensor<4xf32>) {
  return %b, %a : tensor<4xf32>, tensor<4xf32>
}

module @cpu2 {
  func.func private @g(index, tensor<?xf32>) -> tensor<?xf32>
}

// Tests that branches ask for the memory of a result, each with its extents, and compute into it; what is not computed in the branch is
// copied.
// CHECK-LABEL: func.func @branches(
// CHECK-SAME: %[[C:[a-z0-9]*]]: i1 {{.*}}, %[[N:[a-z0-9]*]]: index {{.*}}, %[[X:[a-z0-9]*]]: tensor<?xf32>
// CHECK-NOT: executor.request
// CHECK: %[[R:.*]]:2 = scf.if %[[C]]
// CHECK: %[[M:.*]] = arith.addi
// CHECK: %[[S:.*]] = executor.request 0[%[[M]]] : tensor<?xf32>
// CHECK: %[[Y:.*]] = plan.call @cpu2::@g(%[[M]]) outs(%[[S]])
// CHECK: scf.yield %[[Y]], %[[M]]
// CHECK: else
// CHECK: %[[T:.*]] = executor.request 0[%[[N]]] : tensor<?xf32>
// CHECK: %[[Z:.*]] = bufferization.materialize_in_destination %{{.*}} in %[[T]]
// CHECK: scf.yield %[[Z]], %[[N]]
// CHECK: %[[W:.*]] = plan.with_shape %[[R]]#0(%[[R]]#1)
// CHECK: return %[[W]]
func.func @branches(%c: i1, %n: index, %x: tensor<?xf32>) -> tensor<?xf32> {
  %c1 = arith.constant 1 : index
  %xs = plan.with_shape %x(%n) : tensor<?xf32>
  %r:2 = scf.if %c -> (tensor<?xf32>, index) {
    %m = arith.addi %n, %c1 : index
    %e = tensor.empty(%m) : tensor<?xf32>
    %y = plan.call @cpu2::@g(%m) outs(%e) : (index, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %y, %m : tensor<?xf32>, index
  } else {
    scf.yield %xs, %n : tensor<?xf32>, index
  }
  %s = plan.with_shape %r#0(%r#1) : tensor<?xf32>
  return %s : tensor<?xf32>
}
