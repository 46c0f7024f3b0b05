// RUN: latewood-opt %s --split-input-file --verify-diagnostics --latewood-inline-calls

// Tests that a function that calls itself is refused, at the call.
func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{function 'main' could not be inlined: it calls itself}}
  %0 = call @main(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Tests that functions that call each other are refused.
func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @even(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @even(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @odd(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @odd(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{function 'even' could not be inlined: it calls itself}}
  %0 = call @even(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
