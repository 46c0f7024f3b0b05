// RUN: latewood-opt %s --split-input-file --verify-diagnostics

// Tests that sizes are not negative.
func.func @broadcast_c1(%x: tensor<3xf32>) {
  // expected-error @+1 {{(C1) requires sizes that are not negative}}
  %0 = stablehlo.broadcast %x, sizes = [-1] : (tensor<3xf32>) -> tensor<1x3xf32>
  return
}

// -----

// Tests the shape of a broadcast.
func.func @broadcast_c2(%x: tensor<3xf32>) {
  // expected-error @+1 {{requires result type 'tensor<2x3xf32>'}}
  %0 = stablehlo.broadcast %x, sizes = [2] : (tensor<3xf32>) -> tensor<3x2xf32>
  return
}

// -----

// Tests that dot takes vectors and matrices.
func.func @dot_c1(%x: tensor<2x2x2xf32>) {
  // expected-error @+1 {{(C1) requires one or two dimensions}}
  %0 = stablehlo.dot %x, %x : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

// Tests that contracted extents agree.
func.func @dot_c2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{(C2) requires contracted dimensions of one extent}}
  %0 = stablehlo.dot %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests the number of precisions.
func.func @dot_c3(%x: tensor<2x2xf32>) {
  // expected-error @+1 {{(C3) requires two precisions, but got 1}}
  %0 = stablehlo.dot %x, %x, precision = [HIGH] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

// Tests that operands have one element type.
func.func @dot_c4(%x: tensor<2x2xf32>, %y: tensor<2x2xi32>) {
  // expected-error @+1 {{(C4) requires operands of one element type}}
  %0 = stablehlo.dot %x, %y : (tensor<2x2xf32>, tensor<2x2xi32>) -> tensor<2x2xf32>
  return
}

// -----

// Tests that the notation has a letter for each dimension.
func.func @einsum_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{(C1) requires a letter for each dimension, but 'a' names 1 of 2}}
  %0 = stablehlo.einsum %x, %x, config = "a,ab->b" : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<3xf32>
  return
}

// -----

// Tests that the notation has a term for each operand.
func.func @unary_einsum_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{(C1) requires notation for 1 operands}}
  %0 = stablehlo.unary_einsum %x, config = "ab,bc->ac" : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that the result names letters of operands.
func.func @einsum_result(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{(C1) requires a result of letters that an operand has}}
  %0 = stablehlo.unary_einsum %x, config = "ab->c" : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

// Tests that equal letters have equal extents.
func.func @einsum_c2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{(C2) requires equal extents for equal letters, but got 3 and 2}}
  %0 = stablehlo.einsum %x, %x, config = "ab,bc->ac" : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests the result's shape.
func.func @einsum_c3(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{(C3) requires a result of type 'tensor<3x2xf32>'}}
  %0 = stablehlo.unary_einsum %x, config = "ab->ba" : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that the result can hold the operands.
func.func @einsum_c4(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{(C4) requires one element type that can be promoted to 'i32'}}
  %0 = stablehlo.unary_einsum %x, config = "ab->ba" : (tensor<2x3xf32>) -> tensor<3x2xi32>
  return
}

// -----

// Tests that dim is a dimension.
func.func @torch_index_select_c1(%x: tensor<2x3xf32>, %i: tensor<4xi32>) {
  // expected-error @+1 {{(C1) requires a dimension of the operand, but got 2}}
  %0 = "stablehlo.torch_index_select"(%x, %i) {dim = 2 : i64, batch_dims = 0 : i64} : (tensor<2x3xf32>, tensor<4xi32>) -> tensor<2x4xf32>
  return
}

// -----

// Tests that batch dimensions come before dim.
func.func @torch_index_select_c2(%x: tensor<2x3xf32>, %i: tensor<4xi32>) {
  // expected-error @+1 {{(C2) requires batch_dims of at most dim and the index's rank, but got 1}}
  %0 = "stablehlo.torch_index_select"(%x, %i) {dim = 0 : i64, batch_dims = 1 : i64} : (tensor<2x3xf32>, tensor<4xi32>) -> tensor<2x4xf32>
  return
}

// -----

// Tests that batch extents agree.
func.func @torch_index_select_c3(%x: tensor<2x3xf32>, %i: tensor<4xi32>) {
  // expected-error @+1 {{(C3) requires batch dimensions of one extent}}
  %0 = "stablehlo.torch_index_select"(%x, %i) {dim = 1 : i64, batch_dims = 1 : i64} : (tensor<2x3xf32>, tensor<4xi32>) -> tensor<2xf32>
  return
}

// -----

// Tests that a body is one operation.
func.func @async_start_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{(C1) requires a body of one operation and a return of its results}}
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%y: tensor<4xf32>):
    stablehlo.return %y : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  return
}

// -----

// Tests which operations a body may have.
func.func @async_start_c2(%x: tensor<4xf32>) {
  // expected-error @+1 {{(C2) requires a collective operation or a slice, but got stablehlo.negate}}
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%y: tensor<4xf32>):
    %1 = stablehlo.negate %y : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  return
}

// -----

// Tests that the operation in the body takes the operands.
func.func @async_start_c3(%x: tensor<4xf32>, %z: tensor<4xf32>) {
  // expected-error @+1 {{(C3) requires the operands of the operation in its body, but operand 0 differs}}
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%y: tensor<4xf32>):
    %1 = stablehlo.slice %z [0:2] : (tensor<4xf32>) -> tensor<2xf32>
    stablehlo.return %1 : tensor<2xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<2xf32>>
  return
}

// -----

// Tests that the result is a future of what the body returns.
func.func @async_start_c4(%x: tensor<4xf32>) {
  // expected-error @+1 {{requires result type '!stablehlo.future<tensor<2xf32>>'}}
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%y: tensor<4xf32>):
    %1 = stablehlo.slice %y [0:2] : (tensor<4xf32>) -> tensor<2xf32>
    stablehlo.return %1 : tensor<2xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  return
}

// -----

// Tests that the results are those of the future.
func.func @async_done_c1(%f: !stablehlo.future<tensor<4xf32>>) {
  // expected-error @+1 {{requires result type 'tensor<4xf32>'}}
  %0 = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<4xf32>>) -> tensor<2xf32>
  return
}

// -----

// Tests that groups hold a number once.
func.func @collective_reduce_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{(C1) requires replica_groups that hold each number once}}
  %0 = "stablehlo.collective_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {replica_groups = dense<0> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that each operand has a root.
func.func @collective_reduce_c3(%x: tensor<4xf32>, %r: tensor<2xi32>) {
  // expected-error @+1 {{(C3) requires roots of type 'tensor<1xi32>'}}
  %0 = "stablehlo.collective_reduce"(%x, %r) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) {replica_groups = dense<0> : tensor<1x1xi64>, has_dynamic_root} : (tensor<4xf32>, tensor<2xi32>) -> tensor<4xf32>
  return
}
