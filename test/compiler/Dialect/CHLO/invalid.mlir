// RUN: latewood-opt %s --split-input-file --verify-diagnostics

// Tests that (C1) of a unary op is checked: one type.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{requires result type 'tensor<4xf32>' by its operands, but got 'tensor<5xf32>'}}
  %0 = chlo.erf %x : tensor<4xf32> -> tensor<5xf32>
  return
}

// -----

// Tests that erf refuses complex numbers.
func.func @f(%x: tensor<4xcomplex<f32>>) {
  // expected-error @below {{operand #0 must be ranked tensor of floating-point values}}
  %0 = chlo.erf %x : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  return
}

// -----

// Tests that (C1) of a binary op is checked: operands of one type.
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @below {{(C1) requires operands of one type}}
  %0 = chlo.next_after %x, %y : tensor<4xf32>, tensor<4xf64> -> tensor<4xf32>
  return
}

// -----

// Tests that (C1) of top_k is checked: a dimension.
func.func @f(%x: tensor<f32>) {
  // expected-error @below {{(C1) requires an operand of at least one dimension}}
  %0, %1 = chlo.top_k(%x, k = 0) : tensor<f32> -> (tensor<0xf32>, tensor<0xi32>)
  return
}

// -----

// Tests that (C2) of top_k is checked: k in bounds.
func.func @f(%x: tensor<6x4xf32>) {
  // expected-error @below {{(C2) requires k of at least 0 and at most the last extent, but got 5}}
  %0, %1 = chlo.top_k(%x, k = 5) : tensor<6x4xf32> -> (tensor<6x5xf32>, tensor<6x5xi32>)
  return
}

// -----

// Tests that (C3) of top_k is checked: the results' types.
func.func @f(%x: tensor<6x4xf32>) {
  // expected-error @below {{requires result type 'tensor<6x2xf32>', 'tensor<6x2xi32>' by its operands}}
  %0, %1 = chlo.top_k(%x, k = 2) : tensor<6x4xf32> -> (tensor<6x3xf32>, tensor<6x2xi32>)
  return
}
