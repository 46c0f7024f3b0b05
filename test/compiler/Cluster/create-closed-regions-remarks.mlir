// RUN: latewood-opt %s --verify-diagnostics --pass-pipeline='builtin.module(func.func(latewood-create-closed-regions))'

// Tests that a remark tells why a cluster allocates its results.
func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %x = plan.with_shape %a(%n) : tensor<?xf32>
  // expected-remark @below {{cluster allocates its results: a result has a shape that is not known before it is computed}}
  %0 = plan.cluster target(#plan.cpu_engine) -> tensor<?xf32> {
    %1 = stablehlo.negate %x : tensor<?xf32>
    plan.yield %1 : tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}
