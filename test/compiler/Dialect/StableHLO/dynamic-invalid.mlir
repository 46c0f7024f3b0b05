// RUN: latewood-opt %s --split-input-file --verify-diagnostics

// Tests that (C1) of dynamic_broadcast_in_dim is checked: one element type.
func.func @f(%x: tensor<?x4xf32>, %n: tensor<2xi32>) {
  // expected-error @below {{(C1) requires one element type}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [0, 1] : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x4xf64>
  return
}

// -----

// Tests that (C2) of dynamic_broadcast_in_dim is checked: one entry a dimension.
func.func @f(%x: tensor<?x4xf32>, %n: tensor<2xi32>) {
  // expected-error @below {{(C2) requires one entry of dims for each of the operand's 2 dimensions, but got 1}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [0] : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  return
}

// -----

// Tests that (C3) of dynamic_broadcast_in_dim is checked: dimensions of the result.
func.func @f(%x: tensor<?x4xf32>, %n: tensor<2xi32>) {
  // expected-error @below {{(C3) requires dimensions of the result}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [0, 2] : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  return
}

// -----

// Tests that (C4) of dynamic_broadcast_in_dim is checked: different dimensions.
func.func @f(%x: tensor<?x4xf32>, %n: tensor<2xi32>) {
  // expected-error @below {{(C4) requires dimensions that are all different}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [1, 1] : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  return
}

// -----

// Tests that (C5) of dynamic_broadcast_in_dim is checked: extents.
func.func @f(%x: tensor<?x4xf32>, %n: tensor<2xi32>) {
  // expected-error @below {{(C5) requires extent 1 or the result's in dimension 1 of the operand, but got 4 and 5}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [0, 1] : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x5xf32>
  return
}

// -----

// Tests that (C7) of dynamic_broadcast_in_dim is checked: one extent a dimension of the result.
func.func @f(%x: tensor<?x4xf32>, %n: tensor<3xi32>) {
  // expected-error @below {{(C7) requires one entry of output_dimensions for each of the 2 dimensions, but got 'tensor<3xi32>'}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [0, 1] : (tensor<?x4xf32>, tensor<3xi32>) -> tensor<?x4xf32>
  return
}

// -----

// Tests that (C8) of dynamic_broadcast_in_dim is checked: different known dimensions.
func.func @f(%x: tensor<?x4xf32>, %n: tensor<2xi32>) {
  // expected-error @below {{(C8) requires known expanding and nonexpanding dimensions that are all different}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [0, 1] {known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 0>} : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  return
}

// -----

// Tests that (C9) of dynamic_broadcast_in_dim is checked: known expanding dimensions in range.
func.func @f(%x: tensor<?x4xf32>, %n: tensor<2xi32>) {
  // expected-error @below {{(C9) requires known expanding dimensions of the operand}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [0, 1] {known_expanding_dimensions = array<i64: 2>} : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  return
}

// -----

// Tests that (C10) of dynamic_broadcast_in_dim is checked: known nonexpanding dimensions in range.
func.func @f(%x: tensor<?x4xf32>, %n: tensor<2xi32>) {
  // expected-error @below {{(C10) requires known nonexpanding dimensions of the operand}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [0, 1] {known_nonexpanding_dimensions = array<i64: -1>} : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  return
}

// -----

// Tests that (C1) of dynamic_reshape is checked: one element type.
func.func @f(%x: tensor<?xf32>, %n: tensor<2xi32>) {
  // expected-error @below {{(C1) requires one element type}}
  %0 = stablehlo.dynamic_reshape %x, %n : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x2xi32>
  return
}

// -----

// Tests that (C2) of dynamic_reshape is checked: equally many elements.
func.func @f(%x: tensor<4xf32>, %n: tensor<2xi32>) {
  // expected-error @below {{(C2) requires equally many elements}}
  %0 = stablehlo.dynamic_reshape %x, %n : (tensor<4xf32>, tensor<2xi32>) -> tensor<3x2xf32>
  return
}

// -----

// Tests that (C4) of dynamic_reshape is checked: one extent a dimension.
func.func @f(%x: tensor<?xf32>, %n: tensor<3xi32>) {
  // expected-error @below {{(C4) requires one entry of output_shape for each of the 2 dimensions}}
  %0 = stablehlo.dynamic_reshape %x, %n : (tensor<?xf32>, tensor<3xi32>) -> tensor<?x2xf32>
  return
}

// -----

// Tests that (C1) of dynamic_iota is checked: a dimension of the result.
func.func @f(%n: tensor<2xi32>) {
  // expected-error @below {{(C1) requires a dimension of the result, but got 2}}
  %0 = stablehlo.dynamic_iota %n, dim = 2 : (tensor<2xi32>) -> tensor<?x?xi32>
  return
}

// -----

// Tests that (C2) of dynamic_iota is checked: one extent a dimension.
func.func @f(%n: tensor<3xi32>) {
  // expected-error @below {{(C2) requires one entry of output_shape for each of the 2 dimensions}}
  %0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<3xi32>) -> tensor<?x?xi32>
  return
}

// -----

// Tests that (C1) of dynamic_pad is checked: one element type.
func.func @f(%x: tensor<?x4xf32>, %s: tensor<f64>, %n: tensor<2xi32>, %m: tensor<3xi32>) {
  // expected-error @below {{(C1) requires operand, padding value and result of one element type}}
  %0 = stablehlo.dynamic_pad %x, %s, %n, %n, %n : (tensor<?x4xf32>, tensor<f64>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  return
}

// -----

// Tests that (C2) of dynamic_pad is checked: one entry a dimension.
func.func @f(%x: tensor<?x4xf32>, %s: tensor<f32>, %n: tensor<2xi32>, %m: tensor<3xi32>) {
  // expected-error @below {{(C2) requires one entry of edge_padding_high for each of the 2 dimensions}}
  %0 = stablehlo.dynamic_pad %x, %s, %n, %m, %n : (tensor<?x4xf32>, tensor<f32>, tensor<2xi32>, tensor<3xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  return
}

// -----

// Tests that (C4) of dynamic_pad is checked: one rank.
func.func @f(%x: tensor<?x4xf32>, %s: tensor<f32>, %n: tensor<2xi32>, %m: tensor<3xi32>) {
  // expected-error @below {{(C4) requires operand and result of one rank}}
  %0 = stablehlo.dynamic_pad %x, %s, %n, %n, %n : (tensor<?x4xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?xf32>
  return
}

// -----

// Tests that (C1) of real_dynamic_slice is checked: one rank.
func.func @f(%x: tensor<?xf32>, %n: tensor<1xi32>) {
  // expected-error @below {{(C1) requires operand and result of one element type and rank}}
  %0 = stablehlo.real_dynamic_slice %x, %n, %n, %n : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?x?xf32>
  return
}

// -----

// Tests that (C2) of real_dynamic_slice is checked: one entry a dimension.
func.func @f(%x: tensor<?xf32>, %n: tensor<1xi32>, %m: tensor<2xi32>) {
  // expected-error @below {{(C2) requires one entry of strides for each of the 1 dimensions}}
  %0 = stablehlo.real_dynamic_slice %x, %n, %n, %m : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<2xi32>) -> tensor<?xf32>
  return
}

// -----

// Tests that (C5) of gather is checked for dynamic_gather: offset dimensions of the result.
func.func @f(%x: tensor<?x4xf32>, %i: tensor<?x1xi32>, %n: tensor<2xi32>) {
  // expected-error @below {{(C5) requires offset_dims that are dimensions of the result}}
  %0 = "stablehlo.dynamic_gather"(%x, %i, %n) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<?x4xf32>, tensor<?x1xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  return
}

// -----

// Tests that (C20) of gather is checked for dynamic_gather: one slice size a dimension.
func.func @f(%x: tensor<?x4xf32>, %i: tensor<?x1xi32>, %n: tensor<3xi32>) {
  // expected-error @below {{(C20) requires one slice size for each of the operand's 2 dimensions}}
  %0 = "stablehlo.dynamic_gather"(%x, %i, %n) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<?x4xf32>, tensor<?x1xi32>, tensor<3xi32>) -> tensor<?x?xf32>
  return
}

// -----

// Tests that (C22) of gather is checked for dynamic_gather: the result's rank.
func.func @f(%x: tensor<?x4xf32>, %i: tensor<?x1xi32>, %n: tensor<2xi32>) {
  // expected-error @below {{(C22) requires batch and offset dimensions in the result}}
  %0 = "stablehlo.dynamic_gather"(%x, %i, %n) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<?x4xf32>, tensor<?x1xi32>, tensor<2xi32>) -> tensor<?xf32>
  return
}

// -----

// Tests that (C23) of gather is checked for dynamic_gather: one element type.
func.func @f(%x: tensor<?x4xf32>, %i: tensor<?x1xi32>, %n: tensor<2xi32>) {
  // expected-error @below {{(C23) requires one element type}}
  %0 = "stablehlo.dynamic_gather"(%x, %i, %n) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<?x4xf32>, tensor<?x1xi32>, tensor<2xi32>) -> tensor<?x?xf64>
  return
}

// -----

// Tests that (C4) of convolution is checked for dynamic_conv: one padding pair a spatial dimension.
func.func @f(%x: tensor<?x8x8x2xf32>, %k: tensor<3x3x2x4xf32>, %p: tensor<3x2xi32>) {
  // expected-error @below {{(C4) requires padding of shape [2, 2], but got 'tensor<3x2xi32>'}}
  %0 = "stablehlo.dynamic_conv"(%x, %k, %p) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64}> : (tensor<?x8x8x2xf32>, tensor<3x3x2x4xf32>, tensor<3x2xi32>) -> tensor<?x?x?x4xf32>
  return
}

// -----

// Tests that (C1) of rng is checked: one element type.
func.func @f(%a: tensor<f32>, %n: tensor<1xi64>) {
  // expected-error @below {{(C1) requires one element type}}
  %0 = stablehlo.rng %a, %a, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf64>
  return
}

// -----

// Tests that (C2) of rng is checked: floating-point numbers of a normal distribution.
func.func @f(%a: tensor<i32>, %n: tensor<1xi64>) {
  // expected-error @below {{(C2) requires floating-point elements for NORMAL, but got 'i32'}}
  %0 = stablehlo.rng %a, %a, %n, distribution = NORMAL : (tensor<i32>, tensor<i32>, tensor<1xi64>) -> tensor<4xi32>
  return
}

// -----

// Tests that (C3) of rng is checked: the result's rank.
func.func @f(%a: tensor<i32>, %n: tensor<2xi64>) {
  // expected-error @below {{(C3) requires one entry of shape for each of the 1 dimensions}}
  %0 = stablehlo.rng %a, %a, %n, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<4xi32>
  return
}

// -----

// Tests that (C1) of rng_bit_generator is checked: a state that keeps its type.
func.func @f(%s: tensor<2xui64>) {
  // expected-error @below {{(C1) requires a state that keeps its type}}
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  return
}

// -----

// Tests that (C2) of rng_bit_generator is checked: the state's size.
func.func @f(%s: tensor<3xui64>) {
  // expected-error @below {{(C2) requires a state that THREE_FRY can use, but got 'tensor<3xui64>'}}
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  return
}
