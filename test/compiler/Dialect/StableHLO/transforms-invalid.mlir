// RUN: latewood-opt %s --split-input-file --verify-diagnostics

// Tests that (C1) of fft is checked: dimensions to transform.
func.func @f(%x: tensor<8xcomplex<f32>>) {
  // expected-error @below {{(C1) requires an operand of at least 2 dimensions}}
  %0 = stablehlo.fft %x, type = FFT, length = [8, 8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  return
}

// -----

// Tests that (C2) of fft is checked: element types.
func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{(C2) requires complex elements for FFT}}
  %0 = stablehlo.fft %x, type = FFT, length = [8] : (tensor<8xf32>) -> tensor<8xcomplex<f32>>
  return
}

// -----

// Tests that (C2) of fft is checked: element types of a real transform.
func.func @f(%x: tensor<8xcomplex<f32>>) {
  // expected-error @below {{(C2) requires f32 or f64 elements for RFFT}}
  %0 = stablehlo.fft %x, type = RFFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<5xcomplex<f32>>
  return
}

// -----

// Tests that (C3) of fft is checked: one to three lengths.
func.func @f(%x: tensor<8xcomplex<f32>>) {
  // expected-error @below {{(C3) requires one to three lengths, but got 0}}
  %0 = stablehlo.fft %x, type = FFT, length = [] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  return
}

// -----

// Tests that (C4) of fft is checked: lengths that are extents.
func.func @f(%x: tensor<8xcomplex<f32>>) {
  // expected-error @below {{(C4) requires an extent of 4 in dimension 0}}
  %0 = stablehlo.fft %x, type = FFT, length = [4] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  return
}

// -----

// Tests that (C5) of fft is checked: the result's shape.
func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{requires result type 'tensor<5xcomplex<f32>>' by its operands}}
  %0 = stablehlo.fft %x, type = RFFT, length = [8] : (tensor<8xf32>) -> tensor<8xcomplex<f32>>
  return
}

// -----

// Tests that (C2) of cholesky is checked: two dimensions.
func.func @f(%x: tensor<3xf32>) {
  // expected-error @below {{(C2) requires at least two dimensions}}
  %0 = stablehlo.cholesky %x : tensor<3xf32>
  return
}

// -----

// Tests that (C3) of cholesky is checked: square matrices.
func.func @f(%x: tensor<3x4xf32>) {
  // expected-error @below {{(C3) requires square matrices}}
  %0 = stablehlo.cholesky %x : tensor<3x4xf32>
  return
}

// -----

// Tests that (C1) of triangular_solve is checked: one element type.
func.func @f(%a: tensor<3x3xf32>, %b: tensor<3x4xf64>) {
  // expected-error @below {{(C1) requires one element type}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x4xf64>) -> tensor<3x4xf64>
  return
}

// -----

// Tests that (C2) of triangular_solve is checked: one rank.
func.func @f(%a: tensor<3x3xf32>, %b: tensor<2x3x4xf32>) {
  // expected-error @below {{(C2) requires one rank of at least 2}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

// Tests that (C3) of triangular_solve is checked: matrices that fit.
func.func @f(%a: tensor<3x3xf32>, %b: tensor<4x3xf32>) {
  // expected-error @below {{(C3) requires square matrices a that fit b}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
