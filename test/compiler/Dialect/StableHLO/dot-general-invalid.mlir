// RUN: latewood-opt %s --split-input-file --verify-diagnostics

// Tests that (C1) of dot_general is checked: equally many batching dimensions.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @below {{(C1) requires equally many batching dimensions, but got 1 and 0}}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [], contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

// Tests that (C2) of dot_general is checked: equally many contracting dimensions.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @below {{(C2) requires equally many contracting dimensions, but got 1 and 2}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0, 1] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

// Tests that (C3) of dot_general is checked: different dimensions of lhs.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @below {{(C3) requires dimensions of lhs that are all different}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1, 1] x [0, 1] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

// Tests that (C4) of dot_general is checked: different dimensions of rhs.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @below {{(C4) requires dimensions of rhs that are all different}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0, 1] x [0, 0] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

// Tests that (C5) of dot_general is checked: batching dimensions of lhs in range.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @below {{(C5) requires batching dimensions of lhs in range}}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [2] x [1], contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

// Tests that (C6) of dot_general is checked: contracting dimensions of lhs in range.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @below {{(C6) requires contracting dimensions of lhs in range}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [-1] x [0] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

// Tests that (C7) of dot_general is checked: batching dimensions of rhs in range.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @below {{(C7) requires batching dimensions of rhs in range}}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [2], contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

// Tests that (C8) of dot_general is checked: contracting dimensions of rhs in range.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @below {{(C8) requires contracting dimensions of rhs in range}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [2] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

// Tests that (C9) of dot_general is checked: batching dimensions of one extent.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @below {{(C9) requires batching dimensions of one extent}}
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [1], contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

// Tests that (C10) of dot_general is checked: contracting dimensions of one extent.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @below {{(C10) requires contracting dimensions of one extent}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

// Tests that (C11) of dot_general is checked: two precisions.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @below {{(C11) requires two precisions, but got 1}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [HIGH] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

// Tests that (C12) of dot_general is checked: the result's shape.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @below {{requires result type 'tensor<4x2xf32>' by its operands}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x3xf32>
  return
}

// -----

// Tests that (C13) of dot_general is checked: one element type of integers.
func.func @f(%a: tensor<4x8xi8>, %b: tensor<8x2xi16>) {
  // expected-error @below {{(C13) requires operands of one element type, but got 'i8' and 'i16'}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xi8>, tensor<8x2xi16>) -> tensor<4x2xi32>
  return
}

// -----

// Tests that (C21) of dot_general is checked: default precisions beside an algorithm.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @below {{(C21) requires default precisions together with an algorithm, but got HIGH}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [HIGH, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

// Tests that (C22) of dot_general is checked: a positive number of lhs components.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @below {{(C22) dot algorithm requires}}
  %0 = "stablehlo.dot_general"(%a, %b) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 0, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

// Tests that (C23) of dot_general is checked: a positive number of rhs components.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @below {{(C23) dot algorithm requires}}
  %0 = "stablehlo.dot_general"(%a, %b) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 0, num_primitive_operations = 1, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

// Tests that (C24) of dot_general is checked: a positive number of operations.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @below {{(C24) dot algorithm requires}}
  %0 = "stablehlo.dot_general"(%a, %b) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 0, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

// Tests that precision and algorithm come in this order.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error @below {{expected 'precision' or 'algorithm', in this order and each at most once}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [HIGH, HIGH], precision = [HIGH, HIGH] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}
