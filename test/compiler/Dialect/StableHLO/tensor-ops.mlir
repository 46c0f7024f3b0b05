// RUN: latewood-opt %s | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --mlir-print-op-generic | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --emit-bytecode | latewood-opt | FileCheck %s

// Ops that make tensors or move their elements, in pretty and generic form and through bytecode.

// Tests that constants of all kinds keep their values.
// CHECK-LABEL: func.func @constants(
func.func @constants() {
  // CHECK: stablehlo.constant dense<[1.500000e+00, 0x7FC00000, 0xFF800000, -0.000000e+00]> : tensor<4xf32>
  %cst = stablehlo.constant dense<[1.500000e+00, 0x7FC00000, 0xFF800000, -0.000000e+00]> : tensor<4xf32>
  // CHECK: stablehlo.constant dense<[1, -2]> : tensor<2xi8>
  %c = stablehlo.constant dense<[1, -2]> : tensor<2xi8>
  // CHECK: stablehlo.constant dense<true> : tensor<i1>
  %c_0 = stablehlo.constant dense<true> : tensor<i1>
  // CHECK: stablehlo.constant dense<7> : tensor<2x2xui64>
  %c_1 = stablehlo.constant dense<7> : tensor<2x2xui64>
  // CHECK: stablehlo.constant dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f32>>
  %cst_2 = stablehlo.constant dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f32>>
  // CHECK: stablehlo.constant dense<> : tensor<0x3xf32>
  %cst_3 = stablehlo.constant dense<> : tensor<0x3xf32>
  return
}

// Tests that iota, broadcasts and reshapes keep their form.
// CHECK-LABEL: func.func @shapes(
func.func @shapes(%x: tensor<4xf32>) {
  // CHECK: stablehlo.iota dim = 1 : tensor<2x3xui8>
  %0 = stablehlo.iota dim = 1 : tensor<2x3xui8>
  // CHECK: stablehlo.broadcast_in_dim %{{.*}}, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  // CHECK: stablehlo.reshape %{{.*}} : (tensor<4xf32>) -> tensor<2x2xf32>
  %2 = stablehlo.reshape %x : (tensor<4xf32>) -> tensor<2x2xf32>
  // CHECK: stablehlo.transpose %{{.*}}, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %3 = stablehlo.transpose %1, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  // CHECK: stablehlo.reverse %{{.*}}, dims = [0, 1] : tensor<8x4xf32>
  %4 = stablehlo.reverse %1, dims = [0, 1] : tensor<8x4xf32>
  // CHECK: stablehlo.get_dimension_size %{{.*}}, dim = 0 : (tensor<4xf32>) -> tensor<i32>
  %5 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<4xf32>) -> tensor<i32>
  // CHECK: stablehlo.set_dimension_size %{{.*}}, %{{.*}}, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32>
  %6 = stablehlo.set_dimension_size %x, %5, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32>
  return
}

// Tests that slices write a stride only when it is not 1.
// CHECK-LABEL: func.func @slices(
func.func @slices(%x: tensor<8x8xf32>, %s: tensor<f32>) {
  // CHECK: stablehlo.slice %{{.*}} [0:4, 1:8:2] : (tensor<8x8xf32>) -> tensor<4x4xf32>
  %0 = stablehlo.slice %x [0:4, 1:8:2] : (tensor<8x8xf32>) -> tensor<4x4xf32>
  // CHECK: stablehlo.concatenate %{{.*}}, %{{.*}}, dim = 1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x16xf32>
  %1 = stablehlo.concatenate %x, %x, dim = 1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x16xf32>
  // CHECK: stablehlo.pad %{{.*}}, %{{.*}}, low = [1, -1], high = [0, 2], interior = [0, 1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<9x16xf32>
  %2 = stablehlo.pad %x, %s, low = [1, -1], high = [0, 2], interior = [0, 1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<9x16xf32>
  return
}

// Tests that slices at computed offsets keep their form.
// CHECK-LABEL: func.func @dynamic_slices(
func.func @dynamic_slices(%x: tensor<8x8xf32>, %u: tensor<2x2xf32>, %i: tensor<i32>, %y: tensor<f32>) {
  // CHECK: stablehlo.dynamic_slice %{{.*}}, %{{.*}}, %{{.*}}, sizes = [2, 3] : (tensor<8x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %0 = stablehlo.dynamic_slice %x, %i, %i, sizes = [2, 3] : (tensor<8x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.dynamic_update_slice %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<8x8xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<8x8xf32>
  %1 = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<8x8xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<8x8xf32>
  // CHECK: stablehlo.dynamic_slice %{{.*}}, sizes = [] : (tensor<f32>) -> tensor<f32>
  %2 = stablehlo.dynamic_slice %y, sizes = [] : (tensor<f32>) -> tensor<f32>
  return
}

// Tests that gather keeps its dimension numbers and leaves empty ones out.
// CHECK-LABEL: func.func @gather(
func.func @gather(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi32>, %b: tensor<2x4xf32>, %j: tensor<2x1xi64>) {
  // CHECK: "stablehlo.gather"(%{{.*}}, %{{.*}}) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims = [0], start_index_map = [1, 0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2, 2>}> : (tensor<3x4x2xf32>, tensor<2x3x2xi32>) -> tensor<2x3x2x2xf32>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims = [0], start_index_map = [1, 0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2, 2>}> : (tensor<3x4x2xf32>, tensor<2x3x2xi32>) -> tensor<2x3x2x2xf32>
  // CHECK: "stablehlo.gather"(%{{.*}}, %{{.*}}) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x4xf32>, tensor<2x1xi64>) -> tensor<2xf32>
  %1 = "stablehlo.gather"(%b, %j) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x4xf32>, tensor<2x1xi64>) -> tensor<2xf32>
  return
}
