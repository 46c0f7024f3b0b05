// RUN: latewood-opt %s --split-input-file --verify-diagnostics

// Tests that each dimension of the lower operand has a place.
func.func @broadcast_c1(%v: tensor<3xf32>, %m: tensor<2x3xf32>) {
  // expected-error @+1 {{(C1) requires broadcast_dimensions of 1 ascending dimensions of a tensor of rank 2}}
  %0 = chlo.broadcast_add %v, %m {broadcast_dimensions = array<i64: 2>} : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that extents fit.
func.func @broadcast_c2(%v: tensor<3xf32>, %m: tensor<2x2xf32>) {
  // expected-error @+1 {{(C2) requires shapes that broadcast}}
  %0 = chlo.broadcast_add %v, %m : (tensor<3xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

// Tests that element types agree.
func.func @broadcast_c3(%v: tensor<3xf32>, %m: tensor<3xi32>) {
  // expected-error @+1 {{(C3) requires one element type}}
  %0 = chlo.broadcast_add %v, %m : (tensor<3xf32>, tensor<3xi32>) -> tensor<3xf32>
  return
}

// -----

// Tests the result's type.
func.func @broadcast_c4(%v: tensor<3xf32>, %m: tensor<2x1xf32>) {
  // expected-error @+1 {{requires result type 'tensor<2x3xf32>'}}
  %0 = chlo.broadcast_add %v, %m : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<3x3xf32>
  return
}

// -----

// Tests that select's shapes fit.
func.func @broadcast_select_c1(%p: tensor<3xi1>, %x: tensor<2xf32>) {
  // expected-error @+1 {{(C1) requires shapes that broadcast}}
  %0 = chlo.broadcast_select %p, %x, %x : (tensor<3xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>
  return
}

// -----

// Tests that select's branches have one element type.
func.func @broadcast_select_c2(%p: tensor<2xi1>, %x: tensor<2xf32>, %y: tensor<2xi32>) {
  // expected-error @+1 {{(C2) requires one element type}}
  %0 = chlo.broadcast_select %p, %x, %y : (tensor<2xi1>, tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

// Tests that a constant is a number.
func.func @constant_like_c2(%x: tensor<2xf32>) {
  // expected-error @+1 {{(C2) requires a number}}
  %0 = "chlo.constant_like"(%x) {value = dense<1.0> : tensor<2xf32>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// Tests that contracted extents agree.
func.func @ragged_dot_c1(%x: tensor<6x3xf32>, %w: tensor<2x4x4xf32>, %s: tensor<2xi32>) {
  // expected-error @+1 {{(C1) requires contracting dimensions of one extent}}
  %0 = "chlo.ragged_dot"(%x, %w, %s) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1],
    rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<6x3xf32>, tensor<2x4x4xf32>, tensor<2xi32>) -> tensor<6x4xf32>
  return
}

// -----

// Tests that one dimension is cut.
func.func @ragged_dot_c2(%x: tensor<6x3xf32>, %w: tensor<2x3x4xf32>, %s: tensor<2xi32>) {
  // expected-error @+1 {{(C2) requires one ragged dimension of lhs}}
  %0 = "chlo.ragged_dot"(%x, %w, %s) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1],
    rhs_contracting_dimensions = [1], rhs_group_dimensions = [0]>} : (tensor<6x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<6x4xf32>
  return
}

// -----

// Tests that each group has an rhs if a free dimension is cut.
func.func @ragged_dot_c3(%x: tensor<6x3xf32>, %w: tensor<3x4xf32>, %s: tensor<2xi32>) {
  // expected-error @+1 {{(C3) requires one group dimension of rhs, but got 0}}
  %0 = "chlo.ragged_dot"(%x, %w, %s) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1],
    rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0]>} : (tensor<6x3xf32>, tensor<3x4xf32>, tensor<2xi32>) -> tensor<6x4xf32>
  return
}

// -----

// Tests that the groups are not summed over.
func.func @ragged_dot_c4(%x: tensor<6x3xf32>, %w: tensor<2x3x4xf32>, %s: tensor<2xi32>) {
  // expected-error @+1 {{(C4) requires a group dimension of rhs that is neither batched nor contracted}}
  %0 = "chlo.ragged_dot"(%x, %w, %s) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1],
    rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [1]>} : (tensor<6x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<6x4xf32>
  return
}

// -----

// Tests that there are as many groups as sizes.
func.func @ragged_dot_c5(%x: tensor<6x3xf32>, %w: tensor<2x3x4xf32>, %s: tensor<3xi32>) {
  // expected-error @+1 {{(C5) requires a group for each entry of group_sizes, but got 2 and 3}}
  %0 = "chlo.ragged_dot"(%x, %w, %s) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1],
    rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<6x3xf32>, tensor<2x3x4xf32>, tensor<3xi32>) -> tensor<6x4xf32>
  return
}

// -----

// Tests the shape of the sizes.
func.func @ragged_dot_c6(%x: tensor<6x3xf32>, %w: tensor<2x3x4xf32>, %s: tensor<6x2xi32>) {
  // expected-error @+1 {{(C6) requires group_sizes of type 'tensor<2xi32>'}}
  %0 = "chlo.ragged_dot"(%x, %w, %s) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1],
    rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<6x3xf32>, tensor<2x3x4xf32>, tensor<6x2xi32>) -> tensor<6x4xf32>
  return
}

// -----

// Tests the number of precisions.
func.func @ragged_dot_c8(%x: tensor<6x3xf32>, %w: tensor<2x3x4xf32>, %s: tensor<2xi32>) {
  // expected-error @+1 {{(C8) requires two precisions, but got 1}}
  %0 = "chlo.ragged_dot"(%x, %w, %s) {precision_config = [#chlo<precision HIGH>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1],
    rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<6x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<6x4xf32>
  return
}

// -----

// Tests that a scan's dimension is one of its inputs'.
func.func @scan_c2(%x: tensor<6xf32>) {
  // expected-error @+1 {{(C2) requires a dimension of the inputs, but got 1}}
  %0 = chlo.scan (%x) inits () dimension=1 {
  ^bb0(%input: tensor<6xf32>):
    stablehlo.return %input : tensor<6xf32>
  } : (tensor<6xf32>) -> tensor<6xf32>
  return
}

// -----

// Tests that inputs have equally many slices.
func.func @scan_c3(%x: tensor<6xf32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{(C3) requires inputs of 6 slices}}
  %0 = chlo.scan (%x, %y) inits () dimension=0 {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  } : (tensor<6xf32>, tensor<5xf32>) -> tensor<6xf32>
  return
}

// -----

// Tests that the body takes slices.
func.func @scan_c4(%x: tensor<6x2xf32>) {
  // expected-error @+1 {{(C4) requires a body of type}}
  %0 = chlo.scan (%x) inits () dimension=0 {
  ^bb0(%a: tensor<6xf32>):
    stablehlo.return %a : tensor<6xf32>
  } : (tensor<6x2xf32>) -> tensor<6x2xf32>
  return
}

// -----

// Tests that outputs have the slices that the body returns.
func.func @scan_c5(%x: tensor<6xf32>) {
  // expected-error @+1 {{(C5) requires outputs of 6 slices along dimension 0}}
  %0 = chlo.scan (%x) inits () dimension=0 {
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  } : (tensor<6xf32>) -> tensor<5xf32>
  return
}
