// RUN: latewood-opt %s --split-input-file --verify-diagnostics

// Tests that (C1) of batch_norm_inference is checked: a dimension of the operand.
func.func @f(%x: tensor<4x3xf32>, %a: tensor<3xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>, %d: tensor<3xf32>) {
  // expected-error @below {{(C1) requires feature_index to be a dimension of the operand, but got 2}}
  %0 = "stablehlo.batch_norm_inference"(%x, %a, %b, %c, %d) <{epsilon = 1.000000e-03 : f32, feature_index = 2 : i64}> : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// Tests that (C2) of batch_norm_inference is checked: one element type.
func.func @f(%x: tensor<4x3xf32>, %a: tensor<3xf64>, %b: tensor<3xf32>, %c: tensor<3xf32>, %d: tensor<3xf32>) {
  // expected-error @below {{(C2) requires scale of the operand's element type}}
  %0 = "stablehlo.batch_norm_inference"(%x, %a, %b, %c, %d) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x3xf32>, tensor<3xf64>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// Tests that (C3) of batch_norm_inference is checked: one scale a feature.
func.func @f(%x: tensor<4x3xf32>, %a: tensor<4xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>, %d: tensor<3xf32>) {
  // expected-error @below {{(C3) requires scale of one entry a feature}}
  %0 = "stablehlo.batch_norm_inference"(%x, %a, %b, %c, %d) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// Tests that (C4) of batch_norm_inference is checked: one offset a feature.
func.func @f(%x: tensor<4x3xf32>, %a: tensor<3xf32>, %b: tensor<4xf32>, %c: tensor<3xf32>, %d: tensor<3xf32>) {
  // expected-error @below {{(C4) requires offset of one entry a feature}}
  %0 = "stablehlo.batch_norm_inference"(%x, %a, %b, %c, %d) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x3xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// Tests that (C5) of batch_norm_inference is checked: one mean a feature.
func.func @f(%x: tensor<4x3xf32>, %a: tensor<3xf32>, %b: tensor<3xf32>, %c: tensor<4xf32>, %d: tensor<3xf32>) {
  // expected-error @below {{(C5) requires mean of one entry a feature}}
  %0 = "stablehlo.batch_norm_inference"(%x, %a, %b, %c, %d) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// Tests that (C6) of batch_norm_inference is checked: one variance a feature.
func.func @f(%x: tensor<4x3xf32>, %a: tensor<3xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>, %d: tensor<4xf32>) {
  // expected-error @below {{(C6) requires variance of one entry a feature}}
  %0 = "stablehlo.batch_norm_inference"(%x, %a, %b, %c, %d) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>) -> tensor<4x3xf32>
  return
}

// -----

// Tests that (C7) of batch_norm_inference is checked: the result's type.
func.func @f(%x: tensor<4x3xf32>, %a: tensor<3xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>, %d: tensor<3xf32>) {
  // expected-error @below {{requires result type 'tensor<4x3xf32>' by its operands}}
  %0 = "stablehlo.batch_norm_inference"(%x, %a, %b, %c, %d) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<4x3xf64>
  return
}

// -----

// Tests that (C4) of batch_norm_training is checked: one offset a feature.
func.func @f(%x: tensor<4x3xf32>, %s: tensor<3xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{(C4) requires offset of one entry a feature}}
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %o) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x3xf32>, tensor<3xf32>, tensor<4xf32>) -> (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

// Tests that (C5) and (C6) of batch_norm_training are checked: one mean and variance a feature.
func.func @f(%x: tensor<4x3xf32>, %s: tensor<3xf32>) {
  // expected-error @below {{requires result type 'tensor<4x3xf32>', 'tensor<3xf32>', 'tensor<3xf32>' by its operands}}
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %s) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<4xf32>, tensor<3xf32>)
  return
}

// -----

// Tests that (C3) of batch_norm_grad is checked: a gradient of the operand's shape.
func.func @f(%x: tensor<4x3xf32>, %s: tensor<3xf32>, %g: tensor<3x4xf32>) {
  // expected-error @below {{(C3) requires grad_output of the operand's shape}}
  %0:3 = "stablehlo.batch_norm_grad"(%x, %s, %s, %s, %g) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x4xf32>) -> (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

// Tests that (C4) of batch_norm_grad is checked: a mean of the scale's shape.
func.func @f(%x: tensor<4x3xf32>, %s: tensor<3xf32>, %m: tensor<4xf32>) {
  // expected-error @below {{(C4) requires mean of one entry a feature}}
  %0:3 = "stablehlo.batch_norm_grad"(%x, %s, %m, %s, %x) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x3xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----

// Tests that (C5) of batch_norm_grad is checked: one scale a feature.
func.func @f(%x: tensor<4x3xf32>, %s: tensor<3xf32>, %m: tensor<4xf32>) {
  // expected-error @below {{(C5) requires scale of one entry a feature}}
  %0:3 = "stablehlo.batch_norm_grad"(%x, %m, %s, %s, %x) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<4x3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}
