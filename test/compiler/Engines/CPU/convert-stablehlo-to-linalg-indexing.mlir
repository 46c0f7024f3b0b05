// RUN: latewood-opt %s --pass-pipeline='builtin.module(func.func(latewood-convert-stablehlo-to-linalg))' --split-input-file | FileCheck %s

// Tests that a slice at a computed position is a view with clamped offsets.
// CHECK-LABEL: func.func @dynamic_slice(
// CHECK-SAME: %[[X:.*]]: tensor<10x8xf32>, %[[I:.*]]: tensor<i32>)
func.func @dynamic_slice(%x: tensor<10x8xf32>, %i: tensor<i32>) -> tensor<3x8xf32> {
  // CHECK-DAG: %[[LIMIT:.*]] = arith.constant 7 : index
  // CHECK-DAG: %[[E:.*]] = tensor.extract %[[I]][] : tensor<i32>
  // CHECK: %[[P:.*]] = arith.index_cast %[[E]] : i32 to index
  // CHECK: %[[Q:.*]] = arith.minsi %[[P]], %[[LIMIT]]
  // CHECK: %[[R:.*]] = arith.maxsi %[[Q]], %{{.*}}
  // CHECK: tensor.extract_slice %[[X]][%[[R]], 0] [3, 8] [1, 1]
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_slice %x, %i, %zero, sizes = [3, 8] : (tensor<10x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// -----

// Tests that an update at a computed position is an insertion.
// CHECK-LABEL: func.func @dynamic_update_slice(
func.func @dynamic_update_slice(%x: tensor<10xf32>, %u: tensor<3xf32>, %i: tensor<ui8>) -> tensor<10xf32> {
  // CHECK: arith.index_castui %{{.*}} : i8 to index
  // CHECK: %[[P:.*]] = arith.minui
  // CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%[[P]]] [3] [1]
  %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<10xf32>, tensor<3xf32>, tensor<ui8>) -> tensor<10xf32>
  return %0 : tensor<10xf32>
}

// -----

// Tests that a lookup of rows reads whole rows: the innermost index is the loop's own.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[T:.*]]: tensor<1000x64xf32>, %[[I:.*]]: tensor<16xi32>)
func.func @rows(%t: tensor<1000x64xf32>, %i: tensor<16xi32>) -> tensor<16x64xf32> {
  // CHECK: linalg.generic {{.*}} ins(%[[I]] : tensor<16xi32>)
  // CHECK: ^bb0(%[[E:.*]]: i32, %{{.*}}: f32):
  // CHECK: %[[COLUMN:.*]] = linalg.index 1 : index
  // CHECK: arith.index_cast %[[E]]
  // CHECK: %[[ROW:.*]] = arith.maxsi
  // CHECK: tensor.extract %[[T]][%[[ROW]], %[[COLUMN]]]
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}> : (tensor<1000x64xf32>, tensor<16xi32>) -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// -----

// Tests that a gather of one slice is a view.
// CHECK-LABEL: func.func @one_slice(
func.func @one_slice(%t: tensor<10x64xf32>, %i: tensor<1xi32>) -> tensor<64xf32> {
  // CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, 0] [1, 64] [1, 1] : tensor<10x64xf32> to tensor<64xf32>
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 0>, slice_sizes = array<i64: 1, 64>}> : (tensor<10x64xf32>, tensor<1xi32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// Tests that each update of a scatter is one insertion, and that one outside keeps what is there.
// CHECK-LABEL: func.func @scatter(
func.func @scatter(%x: tensor<10xf32>, %i: tensor<4x1xi32>, %u: tensor<4xf32>) -> tensor<10xf32> {
  // CHECK: scf.for
  // CHECK: %[[INSIDE:.*]] = arith.cmpi ult
  // CHECK: %[[OLD:.*]] = tensor.extract
  // CHECK: %[[NEW:.*]] = arith.addf %[[OLD]]
  // CHECK: arith.select %{{.*}}, %[[NEW]], %[[OLD]]
  // CHECK: tensor.insert
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<10xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<10xf32>
  return %0 : tensor<10xf32>
}

// -----

// Tests that windows that are whole rows are combined as slices.
// CHECK-LABEL: func.func @scatter_rows(
func.func @scatter_rows(%x: tensor<10x16xf32>, %i: tensor<4x1xi32>, %u: tensor<4x16xf32>) -> tensor<10x16xf32> {
  // CHECK: scf.for %[[I:[a-z0-9]+]] = {{.*}} iter_args(%[[T:.*]] = %{{.*}})
  // CHECK: %[[OLD:.*]] = tensor.extract_slice %[[T]][%[[ROW:.*]], %{{.*}}] [1, 16] [1, 1] : tensor<10x16xf32> to tensor<16xf32>
  // CHECK: %[[NEW:.*]] = tensor.extract_slice %{{.*}}[%[[I]], 0] [1, 16] [1, 1] : tensor<4x16xf32> to tensor<16xf32>
  // CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[NEW]] : tensor<16xf32>) outs(%[[OLD]] : tensor<16xf32>)
  // CHECK: tensor.insert_slice %[[SUM]] into %[[T]][%[[ROW]], %{{.*}}] [1, 16] [1, 1]
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<10x16xf32>, tensor<4x1xi32>, tensor<4x16xf32>) -> tensor<10x16xf32>
  return %0 : tensor<10x16xf32>
}

// -----

// Tests that a loop carries 0-dimensional values as scalars.
// CHECK-LABEL: func.func @counted(
func.func @counted(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: %[[R:.*]]:2 = scf.while (%[[I:.*]] = %{{.*}}, %[[V:.*]] = %{{.*}}) : (i32, tensor<4xf32>) -> (i32, tensor<4xf32>)
  %0:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<4xf32>
  cond {
    // CHECK: arith.cmpi slt, %[[I]], %{{.*}} : i32
    // CHECK: scf.condition
    %ten = stablehlo.constant dense<10> : tensor<i32>
    %p = stablehlo.compare LT, %i, %ten, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    // CHECK: ^bb0(%[[J:.*]]: i32, %[[W:.*]]: tensor<4xf32>):
    // CHECK: %[[NEXT:.*]] = arith.addi %[[J]]
    // CHECK: scf.yield %[[NEXT]], %{{.*}} : i32, tensor<4xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %w = stablehlo.multiply %v, %v : tensor<4xf32>
    stablehlo.return %j, %w : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}

// -----

// Tests that an index out of range takes the last branch.
// CHECK-LABEL: func.func @case(
func.func @case(%i: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: scf.index_switch
  // CHECK: case 0 {
  // CHECK: default {
  %0 = "stablehlo.case"(%i) ({
    %1 = stablehlo.negate %x : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Tests that a sort merges runs and takes from the right only what comes strictly before.
// CHECK-LABEL: func.func @sort(
func.func @sort(%x: tensor<20xf32>) -> tensor<20xf32> {
  // CHECK: bufferization.alloc_tensor() : tensor<20xf32>
  // CHECK-COUNT-4: scf.for
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<20xf32>) -> tensor<20xf32>
  return %0 : tensor<20xf32>
}
