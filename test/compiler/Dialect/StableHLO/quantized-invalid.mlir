// RUN: latewood-opt %s --split-input-file --verify-diagnostics

// Tests that a quantization keeps the shape.
func.func @uniform_quantize_c1(%x: tensor<2xf32>) {
  // expected-error @+1 {{(C1) requires operand and result of one shape}}
  %0 = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<3x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

// Tests that the result expresses the operand's type.
func.func @uniform_quantize_c2(%x: tensor<2xf64>) {
  // expected-error @+1 {{(C2) requires a result that expresses 'f64'}}
  %0 = stablehlo.uniform_quantize %x : (tensor<2xf64>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

// Tests that scales fit their dimension.
func.func @per_axis(%x: tensor<3xf32>) {
  // expected-error @+1 {{per-axis quantized values with a scale for each slice}}
  %0 = stablehlo.uniform_quantize %x : (tensor<3xf32>) -> tensor<3x!quant.uniform<i8:f32:0, {0.5,0.5}>>
  return
}

// -----

// Tests the type of a dequantization.
func.func @uniform_dequantize_c2(%q: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{requires result type 'tensor<2xf32>'}}
  %0 = stablehlo.uniform_dequantize %q : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf64>
  return
}

// -----

// Tests that a sum of quantized values is quantized.
func.func @add_c2(%q: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{(C2) requires a quantized result}}
  %0 = stablehlo.add %q, %q : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xi8>
  return
}

// -----

// Tests that sums have one storage type.
func.func @add_c3(%q: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{(C3) requires one storage type}}
  %0 = stablehlo.add %q, %q : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i16:f32, 0.5>>
  return
}

// -----

// Tests that the result of a per-axis operand is per axis.
func.func @add_c5(%q: tensor<2x!quant.uniform<i8:f32:0, {0.5,0.25}>>) {
  // expected-error @+1 {{(C5) requires a result quantized per axis if and only if an operand is}}
  %0 = stablehlo.add %q, %q : (tensor<2x!quant.uniform<i8:f32:0, {0.5,0.25}>>, tensor<2x!quant.uniform<i8:f32:0, {0.5,0.25}>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

// Tests that operations of numbers take per-tensor quantized values only.
func.func @exponential(%q: tensor<2x!quant.uniform<i8:f32:0, {0.5,0.25}>>) {
  // expected-error @+1 {{operand #0 must be}}
  %0 = stablehlo.exponential %q : tensor<2x!quant.uniform<i8:f32:0, {0.5,0.25}>>
  return
}

// -----

// Tests that scales stay where elements only move.
func.func @reshape_c1(%q: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{(C1) requires one element type}}
  %0 = stablehlo.reshape %q : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x2x!quant.uniform<i8:f32, 0.25>>
  return
}

// -----

// Tests that a reshape keeps the quantized dimension apart.
func.func @reshape_c3(%q: tensor<4x2x!quant.uniform<i8:f32:1, {0.5,0.25}>>) {
  // expected-error @+1 {{(C3) requires equally many elements before and along the quantized dimension}}
  %0 = stablehlo.reshape %q : (tensor<4x2x!quant.uniform<i8:f32:1, {0.5,0.25}>>) -> tensor<2x2x2x!quant.uniform<i8:f32:1, {0.5,0.25}>>
  return
}

// -----

// Tests that a broadcast moves the quantized dimension.
func.func @broadcast_in_dim_c6(%q: tensor<2x!quant.uniform<i8:f32:0, {0.5,0.25}>>) {
  // expected-error @+1 {{(C6) requires the operand's scales and zero points along dimension 1}}
  %0 = stablehlo.broadcast_in_dim %q, dims = [1] : (tensor<2x!quant.uniform<i8:f32:0, {0.5,0.25}>>) -> tensor<2x2x!quant.uniform<i8:f32:0, {0.5,0.25}>>
  return
}

// -----

// Tests that a quantized lhs gives a quantized product.
func.func @dot_general_c14(%q: tensor<2x2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{(C14) requires a quantized rhs, and lhs and result both quantized or both not}}
  %0 = stablehlo.dot_general %q, %q, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>, tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2xf32>
  return
}

// -----

// Tests that rhs has no scales along what is summed.
func.func @dot_general_c16(%q: tensor<2x2x!quant.uniform<i8:f32, 0.5>>, %w: tensor<2x2x!quant.uniform<i8:f32:0, {0.5,0.25}>>) {
  // expected-error @+1 {{(C16) requires rhs not quantized along a contracting dimension}}
  %0 = stablehlo.dot_general %q, %w, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>, tensor<2x2x!quant.uniform<i8:f32:0, {0.5,0.25}>>) -> tensor<2x2x!quant.uniform<i32:f32, 0.5>>
  return
}

// -----

// Tests that a product of per-tensor quantized values is one.
func.func @dot_general_c19(%q: tensor<2x2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{(C19) requires a result quantized per tensor if rhs is}}
  %0 = stablehlo.dot_general %q, %q, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 0.5>>, tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2x!quant.uniform<i32:f32:1, {0.5,0.5}>>
  return
}

// -----

// Tests that a hybrid product computes in the type that rhs expresses.
func.func @dot_general_c20(%x: tensor<2x2xf64>, %q: tensor<2x2x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{(C20) requires lhs and result of the type that rhs expresses}}
  %0 = stablehlo.dot_general %x, %q, contracting_dims = [1] x [0] : (tensor<2x2xf64>, tensor<2x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2xf64>
  return
}
