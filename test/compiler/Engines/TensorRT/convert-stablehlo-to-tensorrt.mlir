// RUN: latewood-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(latewood-convert-stablehlo-to-tensorrt))' | FileCheck %s

// Tests that functions of elements are layers, and that scalars get the rank of what they meet.
// CHECK-LABEL: func @pointwise
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>, %[[P:.*]]: tensor<i1>)
func.func @pointwise(%x: tensor<2x3xf32>, %p: tensor<i1>) -> tensor<2x3xf32> {
  // CHECK: %[[E:.*]] = tensorrt.unary %[[X]] {unaryOperation = #tensorrt<unary_operation kEXP>}
  %0 = stablehlo.exponential %x : tensor<2x3xf32>
  // CHECK: %[[A:.*]] = tensorrt.element_wise %[[E]], %[[X]] {elementwiseOperation = #tensorrt<element_wise_operation kSUM>}
  %1 = stablehlo.add %0, %x : tensor<2x3xf32>
  // CHECK: %[[L:.*]] = tensorrt.activation %[[A]] {activationType = #tensorrt<activation_type kSIGMOID>}
  %2 = stablehlo.logistic %1 : tensor<2x3xf32>
  // CHECK: %[[C:.*]] = tensorrt.unsqueeze %[[P]] {axes = array<i64: 0, 1>} : (tensor<i1>) -> tensor<1x1xi1>
  // CHECK: tensorrt.select %[[C]], %[[L]], %[[X]]
  %3 = stablehlo.select %p, %2, %x : tensor<i1>, tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
}

// -----

// Tests that a product of plain matrices is one layer, and that transposed operands are read the other way.
// CHECK-LABEL: func @product
func.func @product(%x: tensor<5x7xf32>, %w: tensor<3x7xf32>) -> tensor<5x3xf32> {
  // CHECK: tensorrt.matrix_multiply %{{.*}}, %{{.*}} {op0 = #tensorrt<matrix_operation kNONE>, op1 = #tensorrt<matrix_operation kTRANSPOSE>}
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<5x7xf32>, tensor<3x7xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// -----

// Tests that a product of dynamic shapes with several rows and columns is an einsum, which needs no reshape.
// CHECK-LABEL: func @dynamic_product
func.func @dynamic_product(%x: tensor<?x5x7xf32>, %w: tensor<?x3x7xf32>) -> tensor<?x5x?x3xf32> {
  // CHECK: tensorrt.einsum %{{.*}}, %{{.*}} {equation = "bca,dea->bcde"}
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [2] x [2] : (tensor<?x5x7xf32>, tensor<?x3x7xf32>) -> tensor<?x5x?x3xf32>
  return %0 : tensor<?x5x?x3xf32>
}

// -----

// Tests that extents as operands are shape tensors.
// CHECK-LABEL: func @dynamic_shapes
// CHECK-SAME: (%[[X:.*]]: tensor<?x4xf32>, %[[V:.*]]: tensor<4xf32>)
func.func @dynamic_shapes(%x: tensor<?x4xf32>, %v: tensor<4xf32>) -> tensor<?x4xf32> {
  // CHECK: %[[S:.*]] = tensorrt.shape %[[X]] : (tensor<?x4xf32>) -> tensor<2xi64>
  // CHECK: %[[N:.*]] = tensorrt.slice %[[S]] {staticSize = array<i64: 1>, staticStart = array<i64: 0>, staticStride = array<i64: 1>}
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %m = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %shape = stablehlo.concatenate %m, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  // CHECK: tensorrt.broadcast %[[V]] shape(%{{.*}}) {broadcastDims = array<i64: 1>} : (tensor<4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  %0 = stablehlo.dynamic_broadcast_in_dim %v, %shape, dims = [1] : (tensor<4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// Tests that a reduction is a layer, and that a start which changes nothing is none.
// CHECK-LABEL: func @sum
func.func @sum(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: tensorrt.reduce %{{.*}} {reduceAxes = array<i64: 1>, reduceOperation = #tensorrt<reduce_operation kSUM>} : (tensor<2x3xf32>) -> tensor<2xf32>
  // CHECK-NOT: tensorrt.element_wise
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// Tests that a loop is a loop, with its regions converted.
// CHECK-LABEL: func @loop
func.func @loop(%n: tensor<i32>) -> tensor<i32> {
  // CHECK: tensorrt.while(%{{.*}}) : (tensor<i32>) -> tensor<i32> {
  // CHECK: tensorrt.element_wise {{.*}}kLESS
  // CHECK: tensorrt.condition(%{{.*}} : tensor<i1>) %{{.*}} : tensor<i32>
  // CHECK: } do {
  // CHECK: tensorrt.element_wise {{.*}}kSUM
  // CHECK: tensorrt.yield
  %0 = stablehlo.while(%i = %n) : tensor<i32>
  cond {
    %ten = stablehlo.constant dense<10> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }
  return %0 : tensor<i32>
}
