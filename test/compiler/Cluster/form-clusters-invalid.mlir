// RUN: latewood-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(latewood-form-clusters{engines=cpu}))'

// Tests that an operation that no engine takes is an error with each engine's reason.
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{no engine takes 'stablehlo.custom_call'}}
  // expected-note @below {{engine cpu: }}
  %0 = stablehlo.custom_call @mystery(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
