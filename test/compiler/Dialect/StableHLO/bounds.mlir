// RUN: latewood-opt %s | latewood-opt | FileCheck %s

// Tests that bounds of dynamic dimensions are read and printed, as the encoding of a tensor type.
// CHECK-LABEL: func.func @bounds(
// CHECK-SAME: tensor<?x4xf32, #stablehlo.bounds<16, ?>>
func.func @bounds(%x: tensor<?x4xf32, #stablehlo.bounds<16, ?>>) -> tensor<?x4xf32, #stablehlo.bounds<16, ?>> {
  // CHECK: stablehlo.tanh %{{.*}} : tensor<?x4xf32, #stablehlo.bounds<16, ?>>
  %0 = stablehlo.tanh %x : tensor<?x4xf32, #stablehlo.bounds<16, ?>>
  return %0 : tensor<?x4xf32, #stablehlo.bounds<16, ?>>
}

// CHECK-LABEL: func.func @set_size(
func.func @set_size(%x: tensor<8xf32>, %n: tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<8>> {
  // CHECK: stablehlo.set_dimension_size %{{.*}}, %{{.*}}, dim = 0 : (tensor<8xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<8>>
  %0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<8xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<8>>
  return %0 : tensor<?xf32, #stablehlo.bounds<8>>
}
