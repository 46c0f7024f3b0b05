// RUN: latewood-opt %s --pass-pipeline='builtin.module(func.func(latewood-convert-stablehlo-to-linalg))' --split-input-file | FileCheck %s

// Tests that a broadcast is a generic whose map projects, and that repeated dimensions of extent 1 are dropped before.
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @broadcast(
// CHECK-SAME: %[[X:.*]]: tensor<4x1xf32>)
func.func @broadcast(%x: tensor<4x1xf32>) -> tensor<4x8xf32> {
  // CHECK: %[[V:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1]] : tensor<4x1xf32> into tensor<4xf32>
  // CHECK: linalg.generic {indexing_maps = [#[[COLUMN]], #{{.*}}], iterator_types = ["parallel", "parallel"]} ins(%[[V]] : tensor<4xf32>)
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Tests that a transpose is a generic with a permuted map.
// CHECK-DAG: #[[P:.*]] = affine_map<(d0, d1, d2) -> (d1, d2, d0)>
// CHECK-LABEL: func.func @transpose(
func.func @transpose(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[P]], #{{.*}}]
  %0 = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  return %0 : tensor<4x2x3xf32>
}

// -----

// Tests that a reshape goes through the shape that both refine.
// CHECK-LABEL: func.func @reshape(
func.func @reshape(%x: tensor<2x6x5xf32>) -> tensor<4x3x5xf32> {
  // CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<2x6x5xf32> into tensor<12x5xf32>
  // CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2]] output_shape [4, 3, 5] : tensor<12x5xf32> into tensor<4x3x5xf32>
  %0 = stablehlo.reshape %x : (tensor<2x6x5xf32>) -> tensor<4x3x5xf32>
  return %0 : tensor<4x3x5xf32>
}

// -----

// Tests that a result that is a reshape is materialized before it, in the reshaped destination.
// CHECK-LABEL: func.func @reshaped_result(
// CHECK-SAME: %[[X:.*]]: tensor<12xf32>, %[[OUT:.*]]: tensor<3x4xf32>
func.func @reshaped_result(%x: tensor<12xf32>, %out: tensor<3x4xf32> {plan.out}) -> tensor<3x4xf32> {
  // CHECK: %[[Y:.*]] = linalg.generic
  %0 = stablehlo.negate %x : tensor<12xf32>
  %1 = stablehlo.reshape %0 : (tensor<12xf32>) -> tensor<3x4xf32>
  // CHECK: %[[D:.*]] = tensor.collapse_shape %[[OUT]]
  // CHECK: %[[M:.*]] = bufferization.materialize_in_destination %[[Y]] in %[[D]] : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  // CHECK: %[[R:.*]] = tensor.expand_shape %[[M]]
  // CHECK: return %[[R]]
  return %1 : tensor<3x4xf32>
}

// -----

// Tests that slices are views and concatenations are insertions into one tensor.
// CHECK-LABEL: func.func @slice_and_concatenate(
// CHECK-SAME: %[[X:.*]]: tensor<8x6xf32>)
func.func @slice_and_concatenate(%x: tensor<8x6xf32>) -> tensor<8x5xf32> {
  // CHECK: %[[A:.*]] = tensor.extract_slice %[[X]][0, 1] [8, 2] [1, 2] : tensor<8x6xf32> to tensor<8x2xf32>
  %0 = stablehlo.slice %x [0:8, 1:5:2] : (tensor<8x6xf32>) -> tensor<8x2xf32>
  // CHECK: %[[B:.*]] = tensor.extract_slice %[[X]][0, 3] [8, 3] [1, 1]
  %1 = stablehlo.slice %x [0:8, 3:6] : (tensor<8x6xf32>) -> tensor<8x3xf32>
  // CHECK: %[[E:.*]] = tensor.empty() : tensor<8x5xf32>
  // CHECK: %[[F:.*]] = tensor.insert_slice %[[A]] into %[[E]][0, 0] [8, 2] [1, 1]
  // CHECK: tensor.insert_slice %[[B]] into %[[F]][0, 2] [8, 3] [1, 1]
  %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<8x2xf32>, tensor<8x3xf32>) -> tensor<8x5xf32>
  return %2 : tensor<8x5xf32>
}

// -----

// Tests that padding inserts what negative padding leaves, with the stride of interior padding.
// CHECK-LABEL: func.func @pad(
// CHECK-SAME: %[[X:.*]]: tensor<5xf32>, %[[V:.*]]: tensor<f32>)
func.func @pad(%x: tensor<5xf32>, %v: tensor<f32>) -> tensor<9xf32> {
  // CHECK: %[[PART:.*]] = tensor.extract_slice %[[X]][1] [4] [1] : tensor<5xf32> to tensor<4xf32>
  // CHECK: %[[FILL:.*]] = linalg.fill
  // CHECK: tensor.insert_slice %[[PART]] into %[[FILL]][1] [4] [2] : tensor<4xf32> into tensor<9xf32>
  %0 = stablehlo.pad %x, %v, low = [-1], high = [1], interior = [1] : (tensor<5xf32>, tensor<f32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// -----

// Tests that a reversal is a mirrored map.
// CHECK-DAG: #[[M:.*]] = affine_map<(d0, d1) -> (d0, -d1 + 7)>
// CHECK-LABEL: func.func @reverse(
func.func @reverse(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[M]], #{{.*}}]
  %0 = stablehlo.reverse %x, dims = [1] : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Tests that iota is the loop's index.
// CHECK-LABEL: func.func @iota(
func.func @iota() -> tensor<4x8xf32> {
  // CHECK: %[[I:.*]] = linalg.index 1 : index
  // CHECK: %[[J:.*]] = arith.index_cast %[[I]] : index to i32
  // CHECK: arith.sitofp %[[J]] : i32 to f32
  %0 = stablehlo.iota dim = 1 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Tests that a wider element is a row of narrower ones, lowest bits first.
// CHECK-LABEL: func.func @split_bits(
func.func @split_bits(%x: tensor<6xi32>) -> tensor<6x4xi8> {
  // CHECK: linalg.index 1
  // CHECK: arith.shrui
  // CHECK: arith.trunci %{{.*}} : i32 to i8
  %0 = stablehlo.bitcast_convert %x : (tensor<6xi32>) -> tensor<6x4xi8>
  return %0 : tensor<6x4xi8>
}
