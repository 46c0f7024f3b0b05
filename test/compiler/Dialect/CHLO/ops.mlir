// RUN: latewood-opt %s | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --mlir-print-op-generic | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --emit-bytecode | latewood-opt | FileCheck %s

// Every op of the dialect, in pretty and generic form and through bytecode.

// Tests that unary functions keep their form.
// CHECK-LABEL: func.func @unary(
func.func @unary(%x: tensor<4x7xf32>, %c: tensor<4xcomplex<f32>>) {
  // CHECK: chlo.acos %{{.*}} : tensor<4x7xf32> -> tensor<4x7xf32>
  %r0 = chlo.acos %x : tensor<4x7xf32> -> tensor<4x7xf32>
  // CHECK: chlo.acosh %{{.*}} : tensor<4x7xf32> -> tensor<4x7xf32>
  %r1 = chlo.acosh %x : tensor<4x7xf32> -> tensor<4x7xf32>
  // CHECK: chlo.asin %{{.*}} : tensor<4x7xf32> -> tensor<4x7xf32>
  %r2 = chlo.asin %x : tensor<4x7xf32> -> tensor<4x7xf32>
  // CHECK: chlo.asinh %{{.*}} : tensor<4x7xf32> -> tensor<4x7xf32>
  %r3 = chlo.asinh %x : tensor<4x7xf32> -> tensor<4x7xf32>
  // CHECK: chlo.atan %{{.*}} : tensor<4x7xf32> -> tensor<4x7xf32>
  %r4 = chlo.atan %x : tensor<4x7xf32> -> tensor<4x7xf32>
  // CHECK: chlo.atanh %{{.*}} : tensor<4x7xf32> -> tensor<4x7xf32>
  %r5 = chlo.atanh %x : tensor<4x7xf32> -> tensor<4x7xf32>
  // CHECK: chlo.bessel_i1e %{{.*}} : tensor<4x7xf32> -> tensor<4x7xf32>
  %r6 = chlo.bessel_i1e %x : tensor<4x7xf32> -> tensor<4x7xf32>
  // CHECK: chlo.cosh %{{.*}} : tensor<4x7xf32> -> tensor<4x7xf32>
  %r7 = chlo.cosh %x : tensor<4x7xf32> -> tensor<4x7xf32>
  // CHECK: chlo.digamma %{{.*}} : tensor<4x7xf32> -> tensor<4x7xf32>
  %r8 = chlo.digamma %x : tensor<4x7xf32> -> tensor<4x7xf32>
  // CHECK: chlo.erf %{{.*}} : tensor<4x7xf32> -> tensor<4x7xf32>
  %r9 = chlo.erf %x : tensor<4x7xf32> -> tensor<4x7xf32>
  // CHECK: chlo.erf_inv %{{.*}} : tensor<4x7xf32> -> tensor<4x7xf32>
  %r10 = chlo.erf_inv %x : tensor<4x7xf32> -> tensor<4x7xf32>
  // CHECK: chlo.erfc %{{.*}} : tensor<4x7xf32> -> tensor<4x7xf32>
  %r11 = chlo.erfc %x : tensor<4x7xf32> -> tensor<4x7xf32>
  // CHECK: chlo.lgamma %{{.*}} : tensor<4x7xf32> -> tensor<4x7xf32>
  %r12 = chlo.lgamma %x : tensor<4x7xf32> -> tensor<4x7xf32>
  // CHECK: chlo.sinh %{{.*}} : tensor<4x7xf32> -> tensor<4x7xf32>
  %r13 = chlo.sinh %x : tensor<4x7xf32> -> tensor<4x7xf32>
  // CHECK: chlo.square %{{.*}} : tensor<4x7xf32> -> tensor<4x7xf32>
  %r14 = chlo.square %x : tensor<4x7xf32> -> tensor<4x7xf32>
  // CHECK: chlo.tan %{{.*}} : tensor<4x7xf32> -> tensor<4x7xf32>
  %r15 = chlo.tan %x : tensor<4x7xf32> -> tensor<4x7xf32>
  // CHECK: chlo.conj %{{.*}} : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  %z = chlo.conj %c : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  return
}

// Tests that predicates return booleans.
// CHECK-LABEL: func.func @predicates(
func.func @predicates(%x: tensor<4xf32>) {
  // CHECK: chlo.is_inf %{{.*}} : tensor<4xf32> -> tensor<4xi1>
  %r0 = chlo.is_inf %x : tensor<4xf32> -> tensor<4xi1>
  // CHECK: chlo.is_neg_inf %{{.*}} : tensor<4xf32> -> tensor<4xi1>
  %r1 = chlo.is_neg_inf %x : tensor<4xf32> -> tensor<4xi1>
  // CHECK: chlo.is_pos_inf %{{.*}} : tensor<4xf32> -> tensor<4xi1>
  %r2 = chlo.is_pos_inf %x : tensor<4xf32> -> tensor<4xi1>
  return
}

// Tests that binary functions keep their form.
// CHECK-LABEL: func.func @binary(
func.func @binary(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: chlo.next_after %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %r0 = chlo.next_after %x, %y : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.polygamma %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %r1 = chlo.polygamma %x, %y : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  // CHECK: chlo.zeta %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %r2 = chlo.zeta %x, %y : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return
}

// Tests that the function of integers keeps its form.
// CHECK-LABEL: func.func @mulhi(
func.func @mulhi(%x: tensor<4xui8>) {
  // CHECK: chlo.mulhi %{{.*}}, %{{.*}} : tensor<4xui8>, tensor<4xui8> -> tensor<4xui8>
  %r0 = chlo.mulhi %x, %x : tensor<4xui8>, tensor<4xui8> -> tensor<4xui8>
  return
}

// Tests that top_k names its results.
// CHECK-LABEL: func.func @top_k(
func.func @top_k(%x: tensor<6x4xf32>) {
  // CHECK: %{{.*}}, %{{.*}} = chlo.top_k(%{{.*}}, k = 2) : tensor<6x4xf32> -> (tensor<6x2xf32>, tensor<6x2xi32>)
  %values, %indices = chlo.top_k(%x, k = 2) : tensor<6x4xf32> -> (tensor<6x2xf32>, tensor<6x2xi32>)
  return
}

// Tests that constants keep their value.
// CHECK-LABEL: func.func @constant(
func.func @constant() {
  // CHECK: chlo.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %0 = chlo.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  return
}
