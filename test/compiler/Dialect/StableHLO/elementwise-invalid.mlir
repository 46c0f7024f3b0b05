// RUN: latewood-opt %s --split-input-file --verify-diagnostics

// Tests that (C1) of a unary op is checked: one type.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{requires result type 'tensor<4xf32>' by its operands, but got 'tensor<5xf32>'}}
  %0 = stablehlo.floor %x : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

// Tests that a unary op refuses an element type that it has no meaning for.
func.func @f(%x: tensor<4xi32>) {
  // expected-error @below {{operand #0 must be ranked tensor of floating-point or per-tensor quantized values}}
  %0 = stablehlo.floor %x : tensor<4xi32>
  return
}

// -----

// Tests that an unsigned tensor has no sign.
func.func @f(%x: tensor<4xui32>) {
  // expected-error @below {{operand #0 must be}}
  %0 = stablehlo.sign %x : tensor<4xui32>
  return
}

// -----

// Tests that (C1) of add is checked: operands of one element type.
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @below {{(C1) requires operands of one type, but got 'tensor<4xf32>' and 'tensor<4xf64>'}}
  %0 = stablehlo.add %x, %y : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C1) of add is checked: operands of one shape.
func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @below {{(C1) requires operands of one type, but got 'tensor<4xf32>' and 'tensor<5xf32>'}}
  %0 = stablehlo.add %x, %y : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C1) of add is checked: operands of one rank.
func.func @f(%x: tensor<4xf32>, %y: tensor<f32>) {
  // expected-error @below {{(C1) requires operands of one type}}
  %0 = stablehlo.add %x, %y : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C1) of add is checked: the result's type.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{requires result type 'tensor<4xf32>' by its operands}}
  %0 = stablehlo.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

// Tests that (C2) of abs is checked: the parts' type of a complex operand.
func.func @f(%x: tensor<4xcomplex<f64>>) {
  // expected-error @below {{requires result type 'tensor<4xf64>' by its operands}}
  %0 = stablehlo.abs %x : (tensor<4xcomplex<f64>>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C1) of complex is checked: operands of one type.
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @below {{(C1) requires operands of one type}}
  %0 = stablehlo.complex %x, %y : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xcomplex<f32>>
  return
}

// -----

// Tests that (C3) of complex is checked: the result's element type.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{requires result type 'tensor<4xcomplex<f32>>' by its operands}}
  %0 = stablehlo.complex %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f64>>
  return
}

// -----

// Tests that (C1) of compare is checked: operands of one element type.
func.func @f(%x: tensor<4xi32>, %y: tensor<4xui32>) {
  // expected-error @below {{(C1) requires operands of one type}}
  %0 = stablehlo.compare EQ, %x, %y : (tensor<4xi32>, tensor<4xui32>) -> tensor<4xi1>
  return
}

// -----

// Tests that (C2) of compare is checked: the result's shape.
func.func @f(%x: tensor<4xi32>) {
  // expected-error @below {{requires result type 'tensor<4xi1>' by its operands}}
  %0 = stablehlo.compare EQ, %x, %x : (tensor<4xi32>, tensor<4xi32>) -> tensor<5xi1>
  return
}

// -----

// Tests that (C3) of compare is checked: floating-point elements compare as such.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C3) requires compare_type FLOAT or TOTALORDER for 'f32', but got SIGNED}}
  %0 = stablehlo.compare EQ, %x, %x, SIGNED : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// -----

// Tests that (C3) of compare is checked: booleans compare as unsigned numbers.
func.func @f(%x: tensor<4xi1>) {
  // expected-error @below {{(C3) requires compare_type UNSIGNED for 'i1', but got SIGNED}}
  %0 = stablehlo.compare EQ, %x, %x, SIGNED : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

// Tests that (C3) of compare is checked: no total order of integers.
func.func @f(%x: tensor<4xi32>) {
  // expected-error @below {{(C3) requires compare_type SIGNED for 'i32', but got TOTALORDER}}
  %0 = stablehlo.compare EQ, %x, %x, TOTALORDER : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  return
}

// -----

// Tests that (C1) of select is checked: the predicate's shape.
func.func @f(%p: tensor<5xi1>, %x: tensor<4xf32>) {
  // expected-error @below {{(C1) requires a predicate of rank 0 or of the shape of on_true, but got 'tensor<5xi1>' and 'tensor<4xf32>'}}
  %0 = stablehlo.select %p, %x, %x : tensor<5xi1>, tensor<4xf32>
  return
}

// -----

// Tests that (C2) of select is checked: alternatives of one type.
func.func @f(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @below {{(C2) requires on_true and on_false of one type, but got 'tensor<4xf32>' and 'tensor<4xf64>'}}
  %0 = stablehlo.select %p, %x, %y : (tensor<i1>, tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C1) of clamp is checked: the shape of min.
func.func @f(%m: tensor<5xf32>, %x: tensor<4xf32>) {
  // expected-error @below {{(C1) requires min of rank 0 or of the operand's shape, but got 'tensor<5xf32>' and 'tensor<4xf32>'}}
  %0 = stablehlo.clamp %m, %x, %x : (tensor<5xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C2) of clamp is checked: the shape of max.
func.func @f(%m: tensor<5xf32>, %x: tensor<4xf32>) {
  // expected-error @below {{(C2) requires max of rank 0 or of the operand's shape}}
  %0 = stablehlo.clamp %x, %x, %m : (tensor<4xf32>, tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C3) of clamp is checked: one element type.
func.func @f(%m: tensor<f64>, %x: tensor<4xf32>) {
  // expected-error @below {{(C3) requires one element type, but got 'f64' and 'f32'}}
  %0 = stablehlo.clamp %m, %x, %x : (tensor<f64>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C4) of clamp is checked: the result's type.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{requires result type 'tensor<4xf32>' by its operands}}
  %0 = stablehlo.clamp %x, %x, %x : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

// Tests that (C1) of convert is checked: one shape.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C1) requires operand and result of one shape, but got 'tensor<4xf32>' and 'tensor<5xi32>'}}
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<5xi32>
  return
}

// -----

// Tests that (C1) of bitcast_convert is checked: one shape for one width.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C1) requires shapes that agree, but got 'tensor<4xf32>' and 'tensor<5xi32>'}}
  %0 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<5xi32>
  return
}

// -----

// Tests that (C1) of bitcast_convert is checked: a minor dimension for the parts.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C1) requires a minor dimension of extent 4 on the side of the narrower elements}}
  %0 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4x3xi8>
  return
}

// -----

// Tests that (C2) of bitcast_convert is checked: complex on both sides.
func.func @f(%x: tensor<4xf64>) {
  // expected-error @below {{(C2) requires complex element types on both sides or on none}}
  %0 = stablehlo.bitcast_convert %x : (tensor<4xf64>) -> tensor<4xcomplex<f32>>
  return
}

// -----

// Tests that (C2) of reduce_precision is checked: an exponent bit.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C2) requires at least one exponent bit}}
  %0 = stablehlo.reduce_precision %x, format = e0m10 : tensor<4xf32>
  return
}

// -----

// Tests that (C3) of reduce_precision is checked: no negative number of bits.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C3) requires a number of mantissa bits that is not negative}}
  %0 = "stablehlo.reduce_precision"(%x) <{exponent_bits = 5 : i32, mantissa_bits = -1 : i32}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that a misspelled format is refused.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{expected a format such as e5m10, but got 'm5e10'}}
  %0 = stablehlo.reduce_precision %x, format = m5e10 : tensor<4xf32>
  return
}

// -----

// Tests that a function type with too few operands is refused.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{expected a type with 2 operands and one result}}
  %0 = stablehlo.add %x, %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that tolerances are refused outside of their mode.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{result accuracy takes tolerances in the mode TOLERANCE only}}
  %0 = stablehlo.exponential %x {result_accuracy = #stablehlo.result_accuracy<ulps = 2, mode = #stablehlo.result_accuracy_mode<DEFAULT>>} : tensor<4xf32>
  return
}
