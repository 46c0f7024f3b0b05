// RUN: latewood-opt %s --pass-pipeline='builtin.module(func.func(latewood-materialize-shapes,latewood-form-clusters{engines=cpu}))' | FileCheck %s

// Tests that the blocks of the host's control flow are divided like the function: the condition that an engine computes is read by the
// host; in the body the number of hits is read between two clusters; and the loop begins when what it needs is computed.
// CHECK-LABEL: func.func @main(
// CHECK: %[[INIT:.*]] = plan.cluster
// CHECK: stablehlo.exponential
// CHECK: scf.while
// CHECK: %[[P:.*]] = plan.cluster
// CHECK: stablehlo.reduce
// CHECK: stablehlo.compare
// CHECK: %[[GOES_ON:.*]] = tensor.extract %[[P]][] : tensor<i1>
// CHECK: scf.condition(%[[GOES_ON]])
// CHECK: ^bb0
// CHECK: %[[COUNT:.*]] = plan.cluster
// CHECK: stablehlo.reduce
// CHECK: %[[HITS:.*]] = tensor.extract %[[COUNT]][] : tensor<i64>
// CHECK: plan.cluster
// CHECK: latewood.nonzero
// CHECK: stablehlo.convert
// CHECK: scf.yield
// CHECK: %[[LAST:.*]] = plan.cluster
// CHECK: stablehlo.negate
func.func @main(%x: tensor<?xf32>, %limit: tensor<f32>) -> tensor<?xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<?xf32>
  %r = stablehlo.while(%y = %e) : tensor<?xf32>
  cond {
    %0 = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<?xf32>, tensor<f32>) -> tensor<f32>
    %1 = stablehlo.compare GT, %0, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %0 = stablehlo.custom_call @latewood.nonzero(%y) : (tensor<?xf32>) -> tensor<?xi32>
    %1 = stablehlo.convert %0 : (tensor<?xi32>) -> tensor<?xf32>
    stablehlo.return %1 : tensor<?xf32>
  }
  %n = stablehlo.negate %r : tensor<?xf32>
  return %n : tensor<?xf32>
}
