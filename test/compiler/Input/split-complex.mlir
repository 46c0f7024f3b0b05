// RUN: latewood-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(latewood-split-complex))' | FileCheck %s

// Tests that arguments are taken apart once, results are put together, and arithmetic is on the parts.
// CHECK-LABEL: func.func @multiply(
// CHECK-SAME: %[[X:.*]]: tensor<4xcomplex<f32>>, %[[Y:.*]]: tensor<4xcomplex<f32>>)
func.func @multiply(%x: tensor<4xcomplex<f32>>, %y: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  // CHECK: %[[A:.*]] = stablehlo.real %[[X]]
  // CHECK: %[[B:.*]] = stablehlo.imag %[[X]]
  // CHECK: %[[C:.*]] = stablehlo.real %[[Y]]
  // CHECK: %[[D:.*]] = stablehlo.imag %[[Y]]
  // CHECK: %[[AC:.*]] = stablehlo.multiply %[[A]], %[[C]] : tensor<4xf32>
  // CHECK: %[[BD:.*]] = stablehlo.multiply %[[B]], %[[D]] : tensor<4xf32>
  // CHECK: %[[RE:.*]] = stablehlo.subtract %[[AC]], %[[BD]] : tensor<4xf32>
  // CHECK: %[[IM:.*]] = stablehlo.add
  // CHECK: %[[Z:.*]] = stablehlo.complex %[[RE]], %[[IM]]
  // CHECK: return %[[Z]]
  %0 = stablehlo.multiply %x, %y : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// -----

// Tests that real and imag of a value inside are its parts, and of a real value the value and zeros.
// CHECK-LABEL: func.func @parts(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
func.func @parts(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.complex %x, %y : tensor<4xcomplex<f32>>
  %1 = stablehlo.real %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %2 = stablehlo.imag %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %3 = stablehlo.real %x : (tensor<4xf32>) -> tensor<4xf32>
  %4 = stablehlo.imag %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
  // CHECK-NEXT: return %[[X]], %[[Y]], %[[X]], %[[ZERO]]
  return %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Tests that an argument that is only returned stays whole.
// CHECK-LABEL: func.func @unchanged(
// CHECK-SAME: %[[X:.*]]: tensor<4xcomplex<f64>>)
// CHECK: return %[[X]]
func.func @unchanged(%x: tensor<4xcomplex<f64>>) -> tensor<4xcomplex<f64>> {
  return %x : tensor<4xcomplex<f64>>
}

// -----

// Tests data movement, constants and select.
// CHECK-LABEL: func.func @movement(
func.func @movement(%x: tensor<4xcomplex<f32>>, %p: tensor<4xi1>) -> tensor<4xcomplex<f32>> {
  // CHECK-DAG: stablehlo.constant dense<[1.000000e+00, 3.000000e+00, 5.000000e+00, 7.000000e+00]> : tensor<4xf32>
  // CHECK-DAG: stablehlo.constant dense<[2.000000e+00, 4.000000e+00, 6.000000e+00, 8.000000e+00]> : tensor<4xf32>
  %0 = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0), (5.0, 6.0), (7.0, 8.0)]> : tensor<4xcomplex<f32>>
  // CHECK-COUNT-2: stablehlo.reverse {{.*}} : tensor<4xf32>
  %1 = stablehlo.reverse %x, dims = [0] : tensor<4xcomplex<f32>>
  // CHECK-COUNT-2: stablehlo.select {{.*}} : tensor<4xi1>, tensor<4xf32>
  %2 = stablehlo.select %p, %0, %1 : tensor<4xi1>, tensor<4xcomplex<f32>>
  return %2 : tensor<4xcomplex<f32>>
}

// -----

// Tests that a function is computed in f64 and rounded.
// CHECK-LABEL: func.func @size(
func.func @size(%x: tensor<4xcomplex<f32>>) -> tensor<4xf32> {
  // CHECK: stablehlo.convert {{.*}} : (tensor<4xf32>) -> tensor<4xf64>
  // CHECK: stablehlo.sqrt {{.*}} : tensor<4xf64>
  // CHECK: %[[R:.*]] = stablehlo.convert {{.*}} : (tensor<4xf64>) -> tensor<4xf32>
  // CHECK: return %[[R]]
  %0 = stablehlo.abs %x : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Tests four real products.
// CHECK-LABEL: func.func @product(
func.func @product(%x: tensor<4x8xcomplex<f32>>, %y: tensor<8x2xcomplex<f32>>) -> tensor<4x2xcomplex<f32>> {
  // CHECK-COUNT-4: stablehlo.dot_general {{.*}} -> tensor<4x2xf32>
  // CHECK-NOT: stablehlo.dot_general
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
      : (tensor<4x8xcomplex<f32>>, tensor<8x2xcomplex<f32>>) -> tensor<4x2xcomplex<f32>>
  return %0 : tensor<4x2xcomplex<f32>>
}

// -----

// Tests that regions take both parts of each value, in the order of the operands.
// CHECK-LABEL: func.func @reduce(
func.func @reduce(%x: tensor<4x8xcomplex<f32>>, %init: tensor<complex<f32>>) -> tensor<4xcomplex<f32>> {
  // CHECK: %[[R:.*]]:2 = stablehlo.reduce({{.*}} init: {{.*}}), ({{.*}} init: {{.*}}) across dimensions = [1]
  // CHECK: reducer(%[[A:.*]]: tensor<f32>, %[[C:.*]]: tensor<f32>) (%[[B:.*]]: tensor<f32>, %[[D:.*]]: tensor<f32>)
  // CHECK: %[[RE:.*]] = stablehlo.add %[[A]], %[[C]] : tensor<f32>
  // CHECK: %[[IM:.*]] = stablehlo.add %[[B]], %[[D]] : tensor<f32>
  // CHECK: stablehlo.return %[[RE]], %[[IM]]
  // CHECK: stablehlo.complex %[[R]]#0, %[[R]]#1
  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [1]
      : (tensor<4x8xcomplex<f32>>, tensor<complex<f32>>) -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// -----

// Tests that a comparator takes the real parts of two elements, then their imaginary parts.
// CHECK-LABEL: func.func @sort(
func.func @sort(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  // CHECK: "stablehlo.sort"
  // CHECK: ^bb0(%[[A:.*]]: tensor<f32>, %[[C:.*]]: tensor<f32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>):
  // CHECK: stablehlo.compare LT, %[[A]], %[[C]]
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%l: tensor<complex<f32>>, %r: tensor<complex<f32>>):
    %1 = stablehlo.real %l : (tensor<complex<f32>>) -> tensor<f32>
    %2 = stablehlo.real %r : (tensor<complex<f32>>) -> tensor<f32>
    %3 = stablehlo.compare LT, %1, %2 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// -----

// Tests a loop that carries a complex value next to a counter.
// CHECK-LABEL: func.func @loop(
func.func @loop(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %limit = stablehlo.constant dense<5> : tensor<i32>
  // CHECK: %[[R:.*]]:3 = stablehlo.while
  // CHECK: stablehlo.return {{.*}} : tensor<i1>
  // CHECK: stablehlo.return {{.*}} : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  // CHECK: stablehlo.complex %[[R]]#1, %[[R]]#2
  %0:2 = stablehlo.while(%i = %zero, %z = %x) : tensor<i32>, tensor<4xcomplex<f32>>
  cond {
    %1 = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.multiply %z, %x : tensor<4xcomplex<f32>>
    stablehlo.return %1, %2 : tensor<i32>, tensor<4xcomplex<f32>>
  }
  return %0#1 : tensor<4xcomplex<f32>>
}

// -----

// Tests dynamic shapes: what moves elements moves both parts, and a size is that of the real part.
// CHECK-LABEL: func.func @dynamic(
// CHECK: %[[RE:.*]] = stablehlo.real
// CHECK: %[[IM:.*]] = stablehlo.imag
// CHECK: stablehlo.get_dimension_size %[[RE]]
// CHECK: stablehlo.dynamic_reshape {{.*}} -> tensor<?x2xf32>
// CHECK: stablehlo.dynamic_reshape {{.*}} -> tensor<?x2xf32>
func.func @dynamic(%x: tensor<?xcomplex<f32>>) -> (tensor<?x2xcomplex<f32>>, tensor<i32>) {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xcomplex<f32>>) -> tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %twos = stablehlo.constant dense<2> : tensor<1xi32>
  %half = stablehlo.divide %n, %two : tensor<i32>
  %rows = stablehlo.reshape %half : (tensor<i32>) -> tensor<1xi32>
  %s = stablehlo.concatenate %rows, %twos, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<?xcomplex<f32>>, tensor<2xi32>) -> tensor<?x2xcomplex<f32>>
  return %0, %n : tensor<?x2xcomplex<f32>>, tensor<i32>
}
