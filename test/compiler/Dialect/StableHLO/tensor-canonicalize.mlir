// RUN: latewood-opt %s --canonicalize | FileCheck %s

// Tests that ops that leave a tensor as it is disappear.
// CHECK-LABEL: func.func @identities(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[C:.*]]: tensor<f32>, %[[I:.*]]: tensor<i32>)
func.func @identities(%x: tensor<4x8xf32>, %c: tensor<f32>, %i: tensor<i32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]]
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.reshape %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = stablehlo.transpose %x, dims = [0, 1] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = stablehlo.slice %x [0:4, 0:8] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = stablehlo.concatenate %x, dim = 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = stablehlo.pad %x, %c, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %6 = stablehlo.dynamic_slice %x, %i, %i, sizes = [4, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  %c8 = stablehlo.constant dense<0.0> : tensor<4x8xf32>
  %7 = stablehlo.dynamic_update_slice %c8, %x, %i, %i : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  %8 = stablehlo.reverse %x, dims = [] : tensor<4x8xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// Tests that a dynamic shape that is written alike is not taken for the same shape.
// CHECK-LABEL: func.func @unknown_shapes(
func.func @unknown_shapes(%x: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  // CHECK: stablehlo.reshape
  // CHECK: stablehlo.broadcast_in_dim
  %0 = stablehlo.reshape %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<?x?xf32>
}

// Tests that a splat stays a splat, at any size.
// CHECK-LABEL: func.func @splats(
func.func @splats() -> (tensor<1000x1000xbf16>, tensor<2x2xbf16>, tensor<8xbf16>, tensor<4xbf16>) {
  // CHECK-DAG: %[[BROADCAST:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<1000x1000xbf16>
  // CHECK-DAG: %[[RESHAPE:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<2x2xbf16>
  // CHECK-DAG: %[[CONCATENATE:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<8xbf16>
  // CHECK-DAG: %[[PAD:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<4xbf16>
  // CHECK: return %[[BROADCAST]], %[[RESHAPE]], %[[CONCATENATE]], %[[PAD]]
  %a = stablehlo.constant dense<2.0> : tensor<bf16>
  %b = stablehlo.constant dense<2.0> : tensor<4xbf16>
  %0 = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<bf16>) -> tensor<1000x1000xbf16>
  %1 = stablehlo.reshape %b : (tensor<4xbf16>) -> tensor<2x2xbf16>
  %2 = stablehlo.concatenate %b, %b, dim = 0 : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<8xbf16>
  %3 = stablehlo.pad %1, %a, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<2x2xbf16>, tensor<bf16>) -> tensor<2x2xbf16>
  %4 = stablehlo.slice %3 [0:2, 0:2] : (tensor<2x2xbf16>) -> tensor<2x2xbf16>
  %5 = stablehlo.reshape %4 : (tensor<2x2xbf16>) -> tensor<4xbf16>
  return %0, %1, %2, %5 : tensor<1000x1000xbf16>, tensor<2x2xbf16>, tensor<8xbf16>, tensor<4xbf16>
}

// Tests that a constant that is no splat is not repeated by a broadcast.
// CHECK-LABEL: func.func @no_growth(
func.func @no_growth() -> tensor<8x2xf32> {
  // CHECK: stablehlo.broadcast_in_dim
  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<2xf32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

// Tests that the elements of small constants are moved.
// CHECK-LABEL: func.func @moves(
func.func @moves() -> (tensor<3x2xi32>, tensor<2x2xi32>, tensor<2x3xi32>, tensor<2x5xi32>, tensor<6xi32>) {
  // CHECK-DAG: %[[TRANSPOSE:.*]] = stablehlo.constant dense<{{\[\[}}1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
  // CHECK-DAG: %[[SLICE:.*]] = stablehlo.constant dense<{{\[\[}}1, 3], [4, 6]]> : tensor<2x2xi32>
  // CHECK-DAG: %[[REVERSE:.*]] = stablehlo.constant dense<{{\[\[}}3, 2, 1], [6, 5, 4]]> : tensor<2x3xi32>
  // CHECK-DAG: %[[CONCATENATE:.*]] = stablehlo.constant dense<{{\[\[}}1, 2, 3, 1, 3], [4, 5, 6, 4, 6]]> : tensor<2x5xi32>
  // CHECK-DAG: %[[RESHAPE:.*]] = stablehlo.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
  // CHECK: return %[[TRANSPOSE]], %[[SLICE]], %[[REVERSE]], %[[CONCATENATE]], %[[RESHAPE]]
  %a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>
  %1 = stablehlo.slice %a [0:2, 0:3:2] : (tensor<2x3xi32>) -> tensor<2x2xi32>
  %2 = stablehlo.reverse %a, dims = [1] : tensor<2x3xi32>
  %3 = stablehlo.concatenate %a, %1, dim = 1 : (tensor<2x3xi32>, tensor<2x2xi32>) -> tensor<2x5xi32>
  %4 = stablehlo.reshape %a : (tensor<2x3xi32>) -> tensor<6xi32>
  return %0, %1, %2, %3, %4 : tensor<3x2xi32>, tensor<2x2xi32>, tensor<2x3xi32>, tensor<2x5xi32>, tensor<6xi32>
}

// Tests that two ops of one kind in a row become one.
// CHECK-LABEL: func.func @compositions(
// CHECK-SAME: %[[X:.*]]: tensor<2x3x4xf32>, %[[Y:.*]]: tensor<20xf32>, %[[Z:.*]]: tensor<3xf32>)
func.func @compositions(%x: tensor<2x3x4xf32>, %y: tensor<20xf32>, %z: tensor<3xf32>) -> (tensor<4x6xf32>, tensor<3x4x2xf32>, tensor<3xf32>, tensor<5x3x2xf32>) {
  // CHECK: %[[RESHAPE:.*]] = stablehlo.reshape %[[X]] : (tensor<2x3x4xf32>) -> tensor<4x6xf32>
  // CHECK: %[[TRANSPOSE:.*]] = stablehlo.transpose %[[X]], dims = [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  // CHECK: %[[SLICE:.*]] = stablehlo.slice %[[Y]] [4:17:6] : (tensor<20xf32>) -> tensor<3xf32>
  // CHECK: %[[BROADCAST:.*]] = stablehlo.broadcast_in_dim %[[Z]], dims = [1] : (tensor<3xf32>) -> tensor<5x3x2xf32>
  // CHECK: return %[[RESHAPE]], %[[TRANSPOSE]], %[[SLICE]], %[[BROADCAST]]
  %0 = stablehlo.reshape %x : (tensor<2x3x4xf32>) -> tensor<24xf32>
  %1 = stablehlo.reshape %0 : (tensor<24xf32>) -> tensor<4x6xf32>
  %2 = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %3 = stablehlo.transpose %2, dims = [2, 0, 1] : (tensor<4x2x3xf32>) -> tensor<3x4x2xf32>
  %4 = stablehlo.slice %y [2:20:2] : (tensor<20xf32>) -> tensor<9xf32>
  %5 = stablehlo.slice %4 [1:9:3] : (tensor<9xf32>) -> tensor<3xf32>
  %6 = stablehlo.broadcast_in_dim %z, dims = [0] : (tensor<3xf32>) -> tensor<3x2xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [1, 2] : (tensor<3x2xf32>) -> tensor<5x3x2xf32>
  return %1, %3, %5, %7 : tensor<4x6xf32>, tensor<3x4x2xf32>, tensor<3xf32>, tensor<5x3x2xf32>
}

// Tests that a slice at constant offsets is static, at offsets that are moved inside.
// CHECK-LABEL: func.func @dynamic_slice(
// CHECK-SAME: %[[X:.*]]: tensor<8x8xf32>)
func.func @dynamic_slice(%x: tensor<8x8xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  // CHECK: stablehlo.slice %[[X]] [6:8, 0:2] : (tensor<8x8xf32>) -> tensor<2x2xf32>
  // CHECK: stablehlo.slice %[[X]] [6:8, 1:3] : (tensor<8x8xf32>) -> tensor<2x2xf32>
  %a = stablehlo.constant dense<7> : tensor<i32>
  %b = stablehlo.constant dense<-1> : tensor<i32>
  %c = stablehlo.constant dense<255> : tensor<ui8>
  %d = stablehlo.constant dense<1> : tensor<ui8>
  %0 = stablehlo.dynamic_slice %x, %a, %b, sizes = [2, 2] : (tensor<8x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
  %1 = stablehlo.dynamic_slice %x, %c, %d, sizes = [2, 2] : (tensor<8x8xf32>, tensor<ui8>, tensor<ui8>) -> tensor<2x2xf32>
  return %0, %1 : tensor<2x2xf32>, tensor<2x2xf32>
}

// Tests that inputs without elements are left out of a concatenation.
// CHECK-LABEL: func.func @empty_inputs(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %{{.*}}: tensor<0xf32>)
func.func @empty_inputs(%x: tensor<4xf32>, %e: tensor<0xf32>) -> (tensor<4xf32>, tensor<3xf32>) {
  // CHECK: %[[C:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<3xf32>
  // CHECK: return %[[X]], %[[C]]
  %0 = stablehlo.concatenate %e, %x, %e, dim = 0 : (tensor<0xf32>, tensor<4xf32>, tensor<0xf32>) -> tensor<4xf32>
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %1 = stablehlo.pad %e, %c, low = [1], high = [2], interior = [0] : (tensor<0xf32>, tensor<f32>) -> tensor<3xf32>
  return %0, %1 : tensor<4xf32>, tensor<3xf32>
}

// Tests that known extents, and numbers along an extent of 1, are constants.
// CHECK-LABEL: func.func @known_extents(
func.func @known_extents(%x: tensor<?x8xf32>) -> (tensor<i32>, tensor<i32>, tensor<1x4xi32>) {
  // CHECK-DAG: %[[EIGHT:.*]] = stablehlo.constant dense<8> : tensor<i32>
  // CHECK-DAG: %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<1x4xi32>
  // CHECK: %[[UNKNOWN:.*]] = stablehlo.get_dimension_size
  // CHECK: return %[[UNKNOWN]], %[[EIGHT]], %[[ZERO]]
  %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x8xf32>) -> tensor<i32>
  %1 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x8xf32>) -> tensor<i32>
  %2 = stablehlo.iota dim = 0 : tensor<1x4xi32>
  return %0, %1, %2 : tensor<i32>, tensor<i32>, tensor<1x4xi32>
}

// Tests that a dynamic form of static result is the static op.
// CHECK-LABEL: func.func @static_results(
func.func @static_results(%x: tensor<4xf32>, %n: tensor<2xi32>) -> (tensor<2x4xf32>, tensor<2x2xf32>, tensor<2x3xi32>) {
  // CHECK: stablehlo.broadcast_in_dim %{{.*}}, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: stablehlo.reshape %{{.*}} : (tensor<4xf32>) -> tensor<2x2xf32>
  // CHECK: stablehlo.iota dim = 1 : tensor<2x3xi32>
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [1] : (tensor<4xf32>, tensor<2xi32>) -> tensor<2x4xf32>
  %1 = stablehlo.dynamic_reshape %x, %n : (tensor<4xf32>, tensor<2xi32>) -> tensor<2x2xf32>
  %2 = stablehlo.dynamic_iota %n, dim = 1 : (tensor<2xi32>) -> tensor<2x3xi32>
  return %0, %1, %2 : tensor<2x4xf32>, tensor<2x2xf32>, tensor<2x3xi32>
}
