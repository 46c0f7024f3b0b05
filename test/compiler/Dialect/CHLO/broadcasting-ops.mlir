// RUN: latewood-opt %s | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --mlir-print-op-generic | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --emit-bytecode | latewood-opt | FileCheck %s

// Tests that operations which broadcast keep their form.
// CHECK-LABEL: func.func @broadcasting(
func.func @broadcasting(%v: tensor<3xf32>, %m: tensor<2x1xf32>, %d: tensor<?x3xf32>, %p: tensor<2x1xi1>, %i: tensor<3xi32>) {
  // CHECK: chlo.broadcast_add %{{.*}}, %{{.*}} : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %0 = chlo.broadcast_add %v, %m : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  // CHECK: chlo.broadcast_subtract %{{.*}}, %{{.*}} {broadcast_dimensions = array<i64: 1>} : (tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = chlo.broadcast_subtract %v, %d {broadcast_dimensions = array<i64: 1>} : (tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  // CHECK: chlo.broadcast_compare %{{.*}}, %{{.*}} {compare_type = #chlo<comparison_type FLOAT>, comparison_direction = #chlo<comparison_direction LT>} : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xi1>
  %2 = chlo.broadcast_compare %v, %m {comparison_direction = #chlo<comparison_direction LT>, compare_type = #chlo<comparison_type FLOAT>} : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xi1>
  // CHECK: chlo.broadcast_complex %{{.*}} : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xcomplex<f32>>
  %3 = chlo.broadcast_complex %v, %m : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xcomplex<f32>>
  // CHECK: chlo.broadcast_select %{{.*}} : (tensor<2x1xi1>, tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %4 = chlo.broadcast_select %p, %v, %m : (tensor<2x1xi1>, tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  // CHECK: "chlo.constant_like"(%{{.*}}) <{value = 3.200000e+00 : f32}> : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %5 = "chlo.constant_like"(%d) {value = 3.2 : f32} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %6 = chlo.broadcast_and %i, %i : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %7 = chlo.broadcast_atan2 %v, %m : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %8 = chlo.broadcast_divide %v, %m : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %9 = chlo.broadcast_maximum %v, %m : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %10 = chlo.broadcast_minimum %v, %m : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %11 = chlo.broadcast_multiply %v, %m : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %12 = chlo.broadcast_next_after %v, %m : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %13 = chlo.broadcast_or %i, %i : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %14 = chlo.broadcast_polygamma %v, %m : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %15 = chlo.broadcast_power %v, %m : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %16 = chlo.broadcast_remainder %v, %m : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %17 = chlo.broadcast_shift_left %i, %i : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %18 = chlo.broadcast_shift_right_arithmetic %i, %i : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  // CHECK: chlo.broadcast_shift_right_logical %{{.*}} : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %19 = chlo.broadcast_shift_right_logical %i, %i : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  %20 = chlo.broadcast_xor %i, %i : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  // CHECK: chlo.broadcast_zeta %{{.*}} : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %21 = chlo.broadcast_zeta %v, %m : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  return
}

// Tests products of groups, scans, and what the inverse functions share.
// CHECK-LABEL: func.func @groups(
func.func @groups(%x: tensor<6x3xf32>, %w: tensor<2x3x4xf32>, %s: tensor<2xi32>, %c: tensor<3xcomplex<f32>>) {
  // CHECK: "chlo.ragged_dot"(%{{.*}}) <{precision_config = [#chlo<precision HIGH>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<6x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<6x4xf32>
  %0 = "chlo.ragged_dot"(%x, %w, %s) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1],
      rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>,
      precision_config = [#chlo<precision HIGH>, #chlo<precision DEFAULT>]}
      : (tensor<6x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<6x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<3xf32>
  // CHECK: chlo.scan (%{{.*}}) inits (%{{.*}}) dimension=0 attributes {is_reverse = true} {
  // CHECK: } : (tensor<6x3xf32>, tensor<3xf32>) -> (tensor<6x3xf32>, tensor<3xf32>)
  %1:2 = chlo.scan (%x) inits (%zero) dimension=0 attributes {is_reverse = true} {
  ^bb0(%input: tensor<3xf32>, %carry: tensor<3xf32>):
    %2 = stablehlo.add %input, %carry : tensor<3xf32>
    stablehlo.return %2, %2 : tensor<3xf32>, tensor<3xf32>
  } : (tensor<6x3xf32>, tensor<3xf32>) -> (tensor<6x3xf32>, tensor<3xf32>)
  // CHECK: chlo._asin_acos_kernel %{{.*}} : tensor<3xcomplex<f32>> -> tensor<3xcomplex<f32>>
  %3 = chlo._asin_acos_kernel %c : tensor<3xcomplex<f32>> -> tensor<3xcomplex<f32>>
  return
}
