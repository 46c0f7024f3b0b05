// RUN: latewood-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(latewood-split-complex))'

// Tests that a call into the unknown is refused.
func.func @call(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  // expected-error @below {{'stablehlo.custom_call' is not supported on complex elements}}
  %0 = stablehlo.custom_call @unknown(%x) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}
