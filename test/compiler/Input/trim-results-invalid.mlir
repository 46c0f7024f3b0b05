// RUN: latewood-opt %s --split-input-file --verify-diagnostics --latewood-trim-results

// Tests that a length has no dimension.
func.func public @main(%x: tensor<4xf32>, %n: tensor<1xi32>) -> tensor<4xf32> {
  // expected-error @below {{'latewood.trim' takes a tensor and a 0-dimensional integer}}
  %0 = stablehlo.custom_call @latewood.trim(%x, %n) : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Tests that padded results need a decomposition where they are used padded.
func.func public @main(%x: tensor<5xf32>) -> tensor<5xi32> {
  // expected-error @below {{'latewood.nonzero' gives padded results, and has no decomposition that says how}}
  %0:2 = stablehlo.custom_call @latewood.nonzero(%x) : (tensor<5xf32>) -> (tensor<5xi32>, tensor<i32>)
  return %0#0 : tensor<5xi32>
}
