// Tests that a network without an engine cannot be run.
// RUN: latewood-opt %s --latewood-convert-tensorrt-to-runtime --split-input-file --verify-diagnostics

tensorrt.module @networks {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{calls @networks::@f, for which no engine has been built}}
  %0 = tensorrt.call_alloc @networks::@f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
