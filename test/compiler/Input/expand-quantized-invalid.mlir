// RUN: latewood-opt %s --split-input-file --verify-diagnostics --latewood-expand-quantized

// Tests that a type without scale is refused.
func.func private @use(tensor<2x!quant.any<i8:f32>>)
// expected-error @below {{elements of type '!quant.any<i8:f32>' are not supported; expected !quant.uniform}}
func.func @any(%x: tensor<2x!quant.any<i8:f32>>) {
  // expected-error @+1 {{elements of type '!quant.any<i8:f32>' are not supported; expected !quant.uniform}}
  call @use(%x) : (tensor<2x!quant.any<i8:f32>>) -> ()
  return
}
