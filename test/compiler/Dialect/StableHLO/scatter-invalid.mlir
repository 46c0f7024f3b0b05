// RUN: latewood-opt %s --split-input-file --verify-diagnostics

// Tests that (C1) of scatter is checked: inputs of one shape.
func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>, %i: tensor<2x1xi64>, %u: tensor<2xf32>) {
  // expected-error @below {{(C1) requires inputs of one shape}}
  %0:2 = "stablehlo.scatter"(%x, %y, %i, %u, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    stablehlo.return %a, %b : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<5xf32>, tensor<2x1xi64>, tensor<2xf32>, tensor<2xf32>) -> (tensor<4xf32>, tensor<5xf32>)
  return
}

// -----

// Tests that (C2) of scatter is checked: lists that add up to the rank.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi64>, %u: tensor<2x3x2x2xf32>) {
  // expected-error @below {{(C2) requires update_window_dims, inserted_window_dims and input_batching_dims to add up to the inputs' rank, 3}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 3], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x2xf32>, tensor<2x3x2xi64>, tensor<2x3x2x2xf32>) -> tensor<3x4x2xf32>
  return
}

// -----

// Tests that (C4) of scatter is checked: scatter and window dimensions of the updates.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi64>, %u: tensor<2x4x2x2xf32>) {
  // expected-error @below {{(C4) requires updates of extent 3 in dimension 1, but got 4}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 3], inserted_window_dims = [0], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x2xf32>, tensor<2x3x2xi64>, tensor<2x4x2x2xf32>) -> tensor<3x4x2xf32>
  return
}

// -----

// Tests that (C4) of scatter is checked: windows that fit.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi64>, %u: tensor<2x3x5x2xf32>) {
  // expected-error @below {{(C4) requires updates of extent at most 4 in dimension 2, but got 5}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 3], inserted_window_dims = [0], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x2xf32>, tensor<2x3x2xi64>, tensor<2x3x5x2xf32>) -> tensor<3x4x2xf32>
  return
}

// -----

// Tests that (C6) of scatter is checked: one element type.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi64>, %u: tensor<2x3x2x2xf64>) {
  // expected-error @below {{(C6) requires inputs and updates of one element type}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 3], inserted_window_dims = [0], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x2xf32>, tensor<2x3x2xi64>, tensor<2x3x2x2xf64>) -> tensor<3x4x2xf32>
  return
}

// -----

// Tests that (C7) of scatter is checked: ascending window dimensions.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi64>, %u: tensor<2x3x2x2xf32>) {
  // expected-error @below {{(C7) requires update_window_dims in ascending order, each once}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [3, 2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x2xf32>, tensor<2x3x2xi64>, tensor<2x3x2x2xf32>) -> tensor<3x4x2xf32>
  return
}

// -----

// Tests that (C8) of scatter is checked: window dimensions of the updates.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi64>, %u: tensor<2x3x2x2xf32>) {
  // expected-error @below {{(C8) requires update_window_dims that are dimensions of the updates}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 4], inserted_window_dims = [0], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x2xf32>, tensor<2x3x2xi64>, tensor<2x3x2x2xf32>) -> tensor<3x4x2xf32>
  return
}

// -----

// Tests that (C9) of scatter is checked: different inserted and batching dimensions.
func.func @f(%x: tensor<2x4xf32>, %i: tensor<2x1xi64>, %u: tensor<2xf32>) {
  // expected-error @below {{(C9) requires inserted_window_dims and input_batching_dims that are all different}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x4xf32>, tensor<2x1xi64>, tensor<2xf32>) -> tensor<2x4xf32>
  return
}

// -----

// Tests that (C10) of scatter is checked: ascending inserted dimensions.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi64>, %u: tensor<2x3x2x2xf32>) {
  // expected-error @below {{(C10) requires inserted_window_dims in ascending order}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1, 0], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x2xf32>, tensor<2x3x2xi64>, tensor<2x3x2x2xf32>) -> tensor<3x4x2xf32>
  return
}

// -----

// Tests that (C11) of scatter is checked: inserted dimensions in range.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi64>, %u: tensor<2x3x2x2xf32>) {
  // expected-error @below {{(C11) requires inserted_window_dims that are dimensions of the inputs}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 3], inserted_window_dims = [3], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x2xf32>, tensor<2x3x2xi64>, tensor<2x3x2x2xf32>) -> tensor<3x4x2xf32>
  return
}

// -----

// Tests that (C12) of scatter is checked: ascending batching dimensions.
func.func @f(%x: tensor<2x4xf32>, %i: tensor<2x4x0xi64>, %u: tensor<2x4xf32>) {
  // expected-error @below {{(C12) requires input_batching_dims in ascending order}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<input_batching_dims = [1, 0], scatter_indices_batching_dims = [1, 0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x4xf32>, tensor<2x4x0xi64>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

// Tests that (C13) of scatter is checked: batching dimensions in range.
func.func @f(%x: tensor<2x4xf32>, %i: tensor<2x1xi64>, %u: tensor<2xf32>) {
  // expected-error @below {{(C13) requires input_batching_dims that are dimensions of the inputs}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [2], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x4xf32>, tensor<2x1xi64>, tensor<2xf32>) -> tensor<2x4xf32>
  return
}

// -----

// Tests that (C14) of scatter is checked: different batching dimensions of the indices.
func.func @f(%x: tensor<2x4xf32>, %i: tensor<2x1xi64>, %u: tensor<2xf32>) {
  // expected-error @below {{(C14) requires scatter_indices_batching_dims that are all different}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0, 0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x4xf32>, tensor<2x1xi64>, tensor<2xf32>) -> tensor<2x4xf32>
  return
}

// -----

// Tests that (C15) of scatter is checked: batching dimensions of the indices in range.
func.func @f(%x: tensor<2x4xf32>, %i: tensor<2x1xi64>, %u: tensor<2xf32>) {
  // expected-error @below {{(C15) requires scatter_indices_batching_dims that are dimensions of scatter_indices}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [2], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x4xf32>, tensor<2x1xi64>, tensor<2xf32>) -> tensor<2x4xf32>
  return
}

// -----

// Tests that (C16) of scatter is checked: an index vector dimension that is not batched.
func.func @f(%x: tensor<2x4xf32>, %i: tensor<2x1xi64>, %u: tensor<2xf32>) {
  // expected-error @below {{(C16) requires index_vector_dim not to be one of scatter_indices_batching_dims}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x4xf32>, tensor<2x1xi64>, tensor<2xf32>) -> tensor<2x4xf32>
  return
}

// -----

// Tests that (C17) of scatter is checked: equally many batching dimensions.
func.func @f(%x: tensor<2x4xf32>, %i: tensor<2x1xi64>, %u: tensor<2xf32>) {
  // expected-error @below {{(C17) requires equally many input_batching_dims and scatter_indices_batching_dims}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x4xf32>, tensor<2x1xi64>, tensor<2xf32>) -> tensor<2x4xf32>
  return
}

// -----

// Tests that (C18) of scatter is checked: batching dimensions of one extent.
func.func @f(%x: tensor<3x4xf32>, %i: tensor<2x1xi64>, %u: tensor<2xf32>) {
  // expected-error @below {{(C18) requires batching dimensions of one extent, but got 3 and 2}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4xf32>, tensor<2x1xi64>, tensor<2xf32>) -> tensor<3x4xf32>
  return
}

// -----

// Tests that (C19) of scatter is checked: one map entry an index.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi64>, %u: tensor<2x3x2x2xf32>) {
  // expected-error @below {{(C19) requires one entry of scatter_dims_to_operand_dims for each entry of an index vector, but got 1}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 3], inserted_window_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x2xf32>, tensor<2x3x2xi64>, tensor<2x3x2x2xf32>) -> tensor<3x4x2xf32>
  return
}

// -----

// Tests that (C20) of scatter is checked: different mapped dimensions.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi64>, %u: tensor<2x3x2x2xf32>) {
  // expected-error @below {{(C20) requires scatter_dims_to_operand_dims and input_batching_dims that are all different}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 3], inserted_window_dims = [0], scatter_dims_to_operand_dims = [1, 1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x2xf32>, tensor<2x3x2xi64>, tensor<2x3x2x2xf32>) -> tensor<3x4x2xf32>
  return
}

// -----

// Tests that (C21) of scatter is checked: mapped dimensions in range.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi64>, %u: tensor<2x3x2x2xf32>) {
  // expected-error @below {{(C21) requires scatter_dims_to_operand_dims that are dimensions of the inputs}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 3], inserted_window_dims = [0], scatter_dims_to_operand_dims = [1, 3], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x2xf32>, tensor<2x3x2xi64>, tensor<2x3x2x2xf32>) -> tensor<3x4x2xf32>
  return
}

// -----

// Tests that (C22) of scatter is checked: an index vector dimension in range.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi64>, %u: tensor<2x3x2x2xf32>) {
  // expected-error @below {{(C22) requires 0 <= index_vector_dim <= rank of scatter_indices, but got 4}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 3], inserted_window_dims = [0], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 4>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x2xf32>, tensor<2x3x2xi64>, tensor<2x3x2x2xf32>) -> tensor<3x4x2xf32>
  return
}

// -----

// Tests that (C23) of scatter is checked: the computation's type.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi64>, %u: tensor<2x3x2x2xf32>) {
  // expected-error @below {{(C23) requires a region of type ('tensor<f32>', 'tensor<f32>') -> ('tensor<f32>')}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 3], inserted_window_dims = [0], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<2xf32>):
    %s = stablehlo.add %a, %a : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x2xf32>, tensor<2x3x2xi64>, tensor<2x3x2x2xf32>) -> tensor<3x4x2xf32>
  return
}

// -----

// Tests that (C24) of scatter is checked: the results' shape.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi64>, %u: tensor<2x3x2x2xf32>) {
  // expected-error @below {{requires result type 'tensor<3x4x2xf32>' by its operands}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 3], inserted_window_dims = [0], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x2xf32>, tensor<2x3x2xi64>, tensor<2x3x2x2xf32>) -> tensor<3x4x3xf32>
  return
}

// -----

// Tests that (C25) of scatter is checked: the results' element type.
func.func @f(%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi64>, %u: tensor<2x3x2x2xf32>) {
  // expected-error @below {{(C25) requires result 0 to have the element type 'f32' that the region returns, but got 'tensor<3x4x2xf64>'}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 3], inserted_window_dims = [0], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x4x2xf32>, tensor<2x3x2xi64>, tensor<2x3x2x2xf32>) -> tensor<3x4x2xf64>
  return
}
