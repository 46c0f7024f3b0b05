// RUN: latewood-opt %s --pass-pipeline='builtin.module(func.func(latewood-convert-stablehlo-to-linalg))' --split-input-file --verify-diagnostics

// Tests that an operation on complex values is refused: they are taken apart and put together only.
func.func @complex(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  // expected-error @below {{'stablehlo.sort' is not supported by the CPU engine yet: complex element types}}
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
    %p = stablehlo.compare LT, %a, %b, FLOAT : (tensor<complex<f32>>, tensor<complex<f32>>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// -----

// Tests that a custom call is refused by the name of its target.
func.func @custom_call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'stablehlo.custom_call' is not supported by the CPU engine yet: custom call target 'mystery' (operands: 'tensor<4xf32>'; results: 'tensor<4xf32>')}}
  %0 = stablehlo.custom_call @mystery(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Tests that extents that nobody knows are refused: plan.with_shape says them.
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{an operand of type tensor<?xf32> whose extents are not known as scalars}}
  %0 = stablehlo.tanh %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// Tests that paddings that nobody knows are refused: plan.with_values says them.
func.func @padding(%x: tensor<4xf32>, %v: tensor<f32>, %p: tensor<1xi32>) -> tensor<6xf32> {
  // expected-error @below {{an operand whose values are not known as scalars}}
  %0 = stablehlo.dynamic_pad %x, %v, %p, %p, %p : (tensor<4xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

// Tests that what is wrong inside of a loop is reported there.
func.func @inside_while(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %0:2 = stablehlo.while(%i = %n, %v = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %p = stablehlo.compare GT, %i, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    // expected-error @below {{custom call target 'mystery'}}
    %w = stablehlo.custom_call @mystery(%v) : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %i, %w : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}
