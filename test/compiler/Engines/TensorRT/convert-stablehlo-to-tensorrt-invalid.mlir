// RUN: latewood-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(latewood-convert-stablehlo-to-tensorrt))'

// Tests that an element type that TensorRT does not have is named.
func.func @f(%x: tensor<4xf64>) -> tensor<4xf64> {
  // expected-error @below {{'stablehlo.add' cannot be converted to TensorRT: TensorRT has no elements of type f64}}
  %0 = stablehlo.add %x, %x : tensor<4xf64>
  return %0 : tensor<4xf64>
}

// -----

// Tests that an operation without a layer is named.
func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @below {{'stablehlo.popcnt' cannot be converted to TensorRT: TensorRT has no layer for it}}
  %0 = stablehlo.popcnt %x : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

// Tests that a reason inside of a loop is given.
func.func @f(%x: tensor<i32>) -> tensor<i32> {
  // expected-error @below {{'stablehlo.while' cannot be converted to TensorRT: 'stablehlo.shift_left' in it: TensorRT has no layer for it}}
  %0 = stablehlo.while(%i = %x) : tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %x : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.shift_left %i, %i : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }
  return %0 : tensor<i32>
}
