// RUN: latewood-opt %s --split-input-file --verify-diagnostics

// Tests that (C1) of gather is checked: lists that add up to the rank.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error @below {{(C1) requires offset_dims, collapsed_slice_dims and operand_batching_dims to add up to the operand's rank, 3}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [1, 0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 2, 2>}> : (tensor<3x4x2xf32>, tensor<2x3x2xi32>) -> tensor<2x3x2x2xf32>
  return
}

// -----

// Tests that (C2) of gather is checked: an index vector dimension in range.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error @below {{(C2) requires 0 <= index_vector_dim <= rank of start_indices, but got 4}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims = [0], start_index_map = [1, 0], index_vector_dim = 4>, slice_sizes = array<i64: 1, 2, 2>}> : (tensor<3x4x2xf32>, tensor<2x3x2xi32>) -> tensor<2x3x2x2xf32>
  return
}

// -----

// Tests that (C3) of gather is checked: one map entry an index.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error @below {{(C3) requires one entry of start_index_map for each entry of an index vector, but got 1}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 2, 2>}> : (tensor<3x4x2xf32>, tensor<2x3x2xi32>) -> tensor<2x3x2x2xf32>
  return
}

// -----

// Tests that (C4) of gather is checked: ascending offset dimensions.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error @below {{(C4) requires offset_dims in ascending order, each once}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [3, 2], collapsed_slice_dims = [0], start_index_map = [1, 0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 2, 2>}> : (tensor<3x4x2xf32>, tensor<2x3x2xi32>) -> tensor<2x3x2x2xf32>
  return
}

// -----

// Tests that (C5) of gather is checked: offset dimensions of the result.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error @below {{(C5) requires offset_dims that are dimensions of the result}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 4], collapsed_slice_dims = [0], start_index_map = [1, 0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 2, 2>}> : (tensor<3x4x2xf32>, tensor<2x3x2xi32>) -> tensor<2x3x2x2xf32>
  return
}

// -----

// Tests that (C6) of gather is checked: different collapsed and batching dimensions.
func.func @f(%x: tensor<2x4xf32>, %i: tensor<2x1xi64>) {
  // expected-error @below {{(C6) requires collapsed_slice_dims and operand_batching_dims that are all different}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x4xf32>, tensor<2x1xi64>) -> tensor<2xf32>
  return
}

// -----

// Tests that (C7) of gather is checked: ascending collapsed dimensions.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error @below {{(C7) requires collapsed_slice_dims in ascending order}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1, 0], start_index_map = [1, 0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 2>}> : (tensor<3x4x2xf32>, tensor<2x3x2xi32>) -> tensor<2x3x2x2xf32>
  return
}

// -----

// Tests that (C8) of gather is checked: collapsed dimensions in range.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error @below {{(C8) requires collapsed_slice_dims that are dimensions of the operand}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims = [3], start_index_map = [1, 0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 2, 2>}> : (tensor<3x4x2xf32>, tensor<2x3x2xi32>) -> tensor<2x3x2x2xf32>
  return
}

// -----

// Tests that (C9) of gather is checked: slice size 1 where collapsed.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error @below {{(C9) requires slice sizes of at most 1 in collapsed dimensions, but got 2}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims = [0], start_index_map = [1, 0], index_vector_dim = 2>, slice_sizes = array<i64: 2, 2, 2>}> : (tensor<3x4x2xf32>, tensor<2x3x2xi32>) -> tensor<2x3x2x2xf32>
  return
}

// -----

// Tests that (C10) of gather is checked: ascending batching dimensions.
func.func @f(%x: tensor<2x4xf32>, %i: tensor<2x4x0xi64>) {
  // expected-error @below {{(C10) requires operand_batching_dims in ascending order}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<operand_batching_dims = [1, 0], start_indices_batching_dims = [1, 0], start_index_map = [], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x4xf32>, tensor<2x4x0xi64>) -> tensor<2x4xf32>
  return
}

// -----

// Tests that (C11) of gather is checked: batching dimensions in range.
func.func @f(%x: tensor<2x4xf32>, %i: tensor<2x1xi64>) {
  // expected-error @below {{(C11) requires operand_batching_dims that are dimensions of the operand}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [2], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x4xf32>, tensor<2x1xi64>) -> tensor<2xf32>
  return
}

// -----

// Tests that (C12) of gather is checked: slice size 1 where batching.
func.func @f(%x: tensor<2x4xf32>, %i: tensor<2x1xi64>) {
  // expected-error @below {{(C12) requires slice sizes of at most 1 in batching dimensions, but got 2}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 1>}> : (tensor<2x4xf32>, tensor<2x1xi64>) -> tensor<2xf32>
  return
}

// -----

// Tests that (C13) of gather is checked: different batching dimensions of the indices.
func.func @f(%x: tensor<2x4xf32>, %i: tensor<2x1xi64>) {
  // expected-error @below {{(C13) requires start_indices_batching_dims that are all different}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0, 0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x4xf32>, tensor<2x1xi64>) -> tensor<2xf32>
  return
}

// -----

// Tests that (C14) of gather is checked: batching dimensions of the indices in range.
func.func @f(%x: tensor<2x4xf32>, %i: tensor<2x1xi64>) {
  // expected-error @below {{(C14) requires start_indices_batching_dims that are dimensions of start_indices}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [2], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x4xf32>, tensor<2x1xi64>) -> tensor<2xf32>
  return
}

// -----

// Tests that (C15) of gather is checked: an index vector dimension that is not batched.
func.func @f(%x: tensor<2x4xf32>, %i: tensor<2x1xi64>) {
  // expected-error @below {{(C15) requires index_vector_dim not to be one of start_indices_batching_dims}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x4xf32>, tensor<2x1xi64>) -> tensor<2xf32>
  return
}

// -----

// Tests that (C16) of gather is checked: equally many batching dimensions.
func.func @f(%x: tensor<2x4xf32>, %i: tensor<2x1xi64>) {
  // expected-error @below {{(C16) requires equally many operand_batching_dims and start_indices_batching_dims}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x4xf32>, tensor<2x1xi64>) -> tensor<2xf32>
  return
}

// -----

// Tests that (C17) of gather is checked: batching dimensions of one extent.
func.func @f(%x: tensor<3x4xf32>, %i: tensor<2x1xi64>) {
  // expected-error @below {{(C17) requires batching dimensions of one extent, but got 3 and 2}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x4xf32>, tensor<2x1xi64>) -> tensor<2xf32>
  return
}

// -----

// Tests that (C18) of gather is checked: different mapped dimensions.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error @below {{(C18) requires start_index_map and operand_batching_dims that are all different}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims = [0], start_index_map = [1, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 2, 2>}> : (tensor<3x4x2xf32>, tensor<2x3x2xi32>) -> tensor<2x3x2x2xf32>
  return
}

// -----

// Tests that (C19) of gather is checked: mapped dimensions in range.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error @below {{(C19) requires a start_index_map of dimensions of the operand}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims = [0], start_index_map = [1, 3], index_vector_dim = 2>, slice_sizes = array<i64: 1, 2, 2>}> : (tensor<3x4x2xf32>, tensor<2x3x2xi32>) -> tensor<2x3x2x2xf32>
  return
}

// -----

// Tests that (C20) of gather is checked: one slice size a dimension.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error @below {{(C20) requires one slice size for each of the operand's 3 dimensions, but got 2}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims = [0], start_index_map = [1, 0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 2>}> : (tensor<3x4x2xf32>, tensor<2x3x2xi32>) -> tensor<2x3x2x2xf32>
  return
}

// -----

// Tests that (C21) of gather is checked: slice sizes in bounds.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error @below {{(C21) requires 0 <= slice size <= extent in dimension 1, but got 5}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims = [0], start_index_map = [1, 0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 5, 2>}> : (tensor<3x4x2xf32>, tensor<2x3x2xi32>) -> tensor<2x3x2x2xf32>
  return
}

// -----

// Tests that (C22) of gather is checked: the result's shape.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error @below {{requires result type 'tensor<2x3x2x2xf32>' by its operands}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims = [0], start_index_map = [1, 0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 2, 2>}> : (tensor<3x4x2xf32>, tensor<2x3x2xi32>) -> tensor<2x3x2x1xf32>
  return
}

// -----

// Tests that (C23) of gather is checked: one element type.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error @below {{requires result type 'tensor<2x3x2x2xf32>' by its operands}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims = [0], start_index_map = [1, 0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 2, 2>}> : (tensor<3x4x2xf32>, tensor<2x3x2xi32>) -> tensor<2x3x2x2xf64>
  return
}

// -----

// Tests that a field that gather does not have is refused.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error @below {{unknown field 'ofset_dims', expected one of offset_dims}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<ofset_dims = [2]>, slice_sizes = array<i64: 1, 2, 2>}> : (tensor<3x4x2xf32>, tensor<2x3x2xi32>) -> tensor<2x3x2x2xf32>
  return
}

// -----

// Tests that a field that is given twice is refused.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi32>) {
  // expected-error @below {{field 'offset_dims' is given twice}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], offset_dims = [2]>, slice_sizes = array<i64: 1, 2, 2>}> : (tensor<3x4x2xf32>, tensor<2x3x2xi32>) -> tensor<2x3x2x2xf32>
  return
}
