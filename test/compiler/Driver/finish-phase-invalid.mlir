// RUN: latewood-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(latewood-finish-phase{name=cluster})'

// Tests that a broken postcondition is an error: after clustering a host function computes nothing.
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.negate' is left in a host function after clustering}}
  %0 = stablehlo.negate %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
