// RUN: latewood-opt %s --pass-pipeline='builtin.module(func.func(latewood-simplify-stablehlo))' --split-input-file | FileCheck %s

// Tests that the mean of rows, kept as a column and repeated, is computed as a vector and repeated once.
// CHECK-LABEL: func.func @keep_dims(
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>)
func.func @keep_dims(%x: tensor<8xf32>) -> tensor<8x64xf32> {
  %c = stablehlo.constant dense<64.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
  %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<8x1xf32>
  // CHECK: %[[C:.*]] = stablehlo.constant dense<6.400000e+01> : tensor<8xf32>
  // CHECK: %[[D:.*]] = stablehlo.divide %[[X]], %[[C]] : tensor<8xf32>
  %2 = stablehlo.divide %0, %1 : tensor<8x1xf32>
  // CHECK: stablehlo.broadcast_in_dim %[[D]], dims = [0] : (tensor<8xf32>) -> tensor<8x64xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x64xf32>
  return %3 : tensor<8x64xf32>
}

// -----

// Tests that a broadcast beside a reshape loses the inserted dimension too.
// CHECK-LABEL: func.func @bias(
// CHECK-SAME: %[[X:.*]]: tensor<8x4xf32>, %[[B:.*]]: tensor<4xf32>)
func.func @bias(%x: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<1x8x4xf32> {
  %0 = stablehlo.reshape %x : (tensor<8x4xf32>) -> tensor<1x8x4xf32>
  // CHECK: %[[R:.*]] = stablehlo.broadcast_in_dim %[[B]], dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [2] : (tensor<4xf32>) -> tensor<1x8x4xf32>
  // CHECK: %[[S:.*]] = stablehlo.add %[[X]], %[[R]] : tensor<8x4xf32>
  %2 = stablehlo.add %0, %1 : tensor<1x8x4xf32>
  // CHECK: stablehlo.reshape %[[S]] : (tensor<8x4xf32>) -> tensor<1x8x4xf32>
  return %2 : tensor<1x8x4xf32>
}

// -----

// Tests that an elementwise operation with an operand of the full shape stays where it is.
// CHECK-LABEL: func.func @stays(
func.func @stays(%x: tensor<8xf32>, %y: tensor<8x1xf32>) -> tensor<8x1xf32> {
  // CHECK: stablehlo.add %{{.*}}, %{{.*}} : tensor<8x1xf32>
  %0 = stablehlo.reshape %x : (tensor<8xf32>) -> tensor<8x1xf32>
  %1 = stablehlo.add %0, %y : tensor<8x1xf32>
  return %1 : tensor<8x1xf32>
}

// -----

// Tests that dot_general absorbs transposes that keep the order of its free dimensions.
// CHECK-LABEL: func.func @heads(
// CHECK-SAME: %[[Q:.*]]: tensor<2x6x4x8xf32>, %[[K:.*]]: tensor<2x6x4x8xf32>)
func.func @heads(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32> {
  %0 = stablehlo.transpose %q, dims = [0, 2, 1, 3] : (tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>
  %1 = stablehlo.transpose %k, dims = [0, 2, 3, 1] : (tensor<2x6x4x8xf32>) -> tensor<2x4x8x6xf32>
  // CHECK: stablehlo.dot_general %[[Q]], %[[K]], batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3]
  %2 = stablehlo.dot_general %0, %1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<2x4x6x8xf32>, tensor<2x4x8x6xf32>) -> tensor<2x4x6x6xf32>
  return %2 : tensor<2x4x6x6xf32>
}

// -----

// Tests that a transpose that changes the order of free dimensions is not absorbed.
// CHECK-LABEL: func.func @free_order(
func.func @free_order(%a: tensor<3x4x5xf32>, %b: tensor<5x2xf32>) -> tensor<4x3x2xf32> {
  // CHECK: stablehlo.transpose
  %0 = stablehlo.transpose %a, dims = [1, 0, 2] : (tensor<3x4x5xf32>) -> tensor<4x3x5xf32>
  // CHECK: stablehlo.dot_general
  %1 = stablehlo.dot_general %0, %b, contracting_dims = [2] x [0] : (tensor<4x3x5xf32>, tensor<5x2xf32>) -> tensor<4x3x2xf32>
  return %1 : tensor<4x3x2xf32>
}

// -----

// Tests that the maximum with minus infinity is the value, and the one with plus infinity is not.
// CHECK-LABEL: func.func @guard(
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>)
func.func @guard(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<8xf32>
  %high = stablehlo.constant dense<0x7F800000> : tensor<8xf32>
  // CHECK: %[[M:.*]] = stablehlo.maximum
  %0 = stablehlo.maximum %low, %x : tensor<8xf32>
  %1 = stablehlo.maximum %x, %high : tensor<8xf32>
  // CHECK: return %[[X]], %[[M]]
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Tests that a reduction over dimensions of extent 1 reads each element once.
// CHECK-LABEL: func.func @unit_reduction(
// CHECK-SAME: %[[X:.*]]: tensor<8x1xi1>)
func.func @unit_reduction(%x: tensor<8x1xi1>) -> tensor<8xi1> {
  %true = stablehlo.constant dense<true> : tensor<i1>
  // CHECK-NOT: stablehlo.reduce(
  // CHECK: %[[R:.*]] = stablehlo.reshape %[[X]] : (tensor<8x1xi1>) -> tensor<8xi1>
  %0 = stablehlo.reduce(%x init: %true) applies stablehlo.and across dimensions = [1] : (tensor<8x1xi1>, tensor<i1>) -> tensor<8xi1>
  // CHECK: return
  return %0 : tensor<8xi1>
}

// -----

// Tests that what puts the parts of complex numbers together stays the last operation.
// CHECK-LABEL: func.func @complex_of_reshapes(
func.func @complex_of_reshapes(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<1x8xcomplex<f32>> {
  %0 = stablehlo.reshape %x : (tensor<8xf32>) -> tensor<1x8xf32>
  %1 = stablehlo.reshape %y : (tensor<8xf32>) -> tensor<1x8xf32>
  // CHECK: %[[C:.*]] = stablehlo.complex %{{.*}}, %{{.*}} : tensor<1x8xcomplex<f32>>
  // CHECK: return %[[C]]
  %2 = stablehlo.complex %0, %1 : tensor<1x8xcomplex<f32>>
  return %2 : tensor<1x8xcomplex<f32>>
}
