// RUN: latewood-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(latewood-convert-stablehlo-to-linalg))' | FileCheck %s

// Tests that a pair of f32 is one integer, taken apart by shifts.
// CHECK-LABEL: func.func @imag(
// CHECK-SAME: tensor<4x8xi64>
func.func @imag(%x: tensor<4x8xcomplex<f32>>, %out: tensor<4x8xf32> {plan.out}) -> tensor<4x8xf32> {
  // CHECK: linalg.generic
  // CHECK: %[[HIGH:.*]] = arith.shrui %{{.*}}, %{{.*}} : i64
  // CHECK: %[[BITS:.*]] = arith.trunci %[[HIGH]] : i64 to i32
  // CHECK: arith.bitcast %[[BITS]] : i32 to f32
  %0 = stablehlo.imag %x : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Tests that a pair of f64 is a last dimension, whose elements are not copied by generics that could be removed.
// CHECK-LABEL: func.func @wide(
// CHECK-SAME: %[[X:.*]]: tensor<4x2xi64>
func.func @wide(%x: tensor<4xcomplex<f64>>, %out: tensor<4xf64> {plan.out}) -> tensor<4xf64> {
  // CHECK: tensor.extract_slice %[[X]][0, 1] [4, 1] [1, 1] : tensor<4x2xi64> to tensor<4xi64>
  // CHECK: linalg.generic
  // CHECK: arith.bitcast %{{.*}} : i64 to f64
  %0 = stablehlo.imag %x : (tensor<4xcomplex<f64>>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

// -----

// Tests that pairs of f64 are written in place.
// CHECK-LABEL: func.func @complex(
func.func @complex(%x: tensor<4xf64>, %y: tensor<4xf64>, %out: tensor<4xcomplex<f64>> {plan.out}) -> tensor<4xcomplex<f64>> {
  // CHECK: %[[A:.*]] = tensor.insert_slice %{{.*}} into %{{.*}}[0, 0] [4, 1] [1, 1]
  // CHECK: tensor.insert_slice %{{.*}} into %[[A]][0, 1] [4, 1] [1, 1]
  %0 = stablehlo.complex %x, %y : tensor<4xcomplex<f64>>
  return %0 : tensor<4xcomplex<f64>>
}

// -----

// Tests that a narrow float is its bits, and that arithmetic is in f32.
// CHECK-LABEL: func.func @add(
// CHECK-SAME: tensor<4xi8>, %{{.*}}: tensor<4xi8>
func.func @add(%x: tensor<4xf8E4M3FN>, %out: tensor<4xf8E4M3FN> {plan.out}) -> tensor<4xf8E4M3FN> {
  // CHECK: linalg.generic
  // CHECK: arith.extui %{{.*}} : i8 to i32
  // CHECK: arith.addf %{{.*}}, %{{.*}} : f32
  // CHECK: arith.trunci %{{.*}} : i32 to i8
  %0 = stablehlo.add %x, %x : tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}

// -----

// Tests that what moves bits does not look at them.
// CHECK-LABEL: func.func @select(
func.func @select(%p: tensor<4xi1>, %x: tensor<4xf8E5M2>, %y: tensor<4xf8E5M2>, %out: tensor<4xf8E5M2> {plan.out}) -> tensor<4xf8E5M2> {
  // CHECK-NOT: extui
  // CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : i8
  // CHECK-NOT: extui
  %0 = stablehlo.select %p, %x, %y : tensor<4xi1>, tensor<4xf8E5M2>
  return %0 : tensor<4xf8E5M2>
}

// -----

// Tests that constants are their bits, in bytes.
// CHECK-LABEL: func.func @constants(
// CHECK-DAG: arith.constant dense<[56, -64]> : tensor<2xi8>
// CHECK-DAG: arith.constant dense<[2, 12]> : tensor<2xi8>
func.func @constants(%out: tensor<2xf8E4M3FN> {plan.out}, %other: tensor<2xf4E2M1FN> {plan.out}) -> (tensor<2xf8E4M3FN>, tensor<2xf4E2M1FN>) {
  %0 = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf8E4M3FN>
  %1 = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf4E2M1FN>
  return %0, %1 : tensor<2xf8E4M3FN>, tensor<2xf4E2M1FN>
}
