// RUN: latewood-opt %s --split-input-file --verify-diagnostics

// Tests that (C1) of iota is checked: a dimension of the result.
func.func @f() {
  // expected-error @below {{(C1) requires a dimension of the result, but got 2 for 'tensor<2x3xi32>'}}
  %0 = stablehlo.iota dim = 2 : tensor<2x3xi32>
  return
}

// -----

// Tests that (C1) of broadcast_in_dim is checked: one element type.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C1) requires one element type, but got 'f32' and 'f64'}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

// Tests that (C2) of broadcast_in_dim is checked: one entry a dimension.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C2) requires one entry of dims for each of the operand's 1 dimensions, but got 0}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C3) of broadcast_in_dim is checked: dimensions of the result.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C3) requires dimensions of the result}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C4) of broadcast_in_dim is checked: different dimensions.
func.func @f(%x: tensor<4x4xf32>) {
  // expected-error @below {{(C4) requires dimensions that are all different}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [1, 1] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

// Tests that (C5) of broadcast_in_dim is checked: extents.
func.func @f(%x: tensor<3xf32>) {
  // expected-error @below {{(C5) requires extent 1 or the result's in dimension 0 of the operand, but got 3 and 4}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> tensor<8x4xf32>
  return
}

// -----

// Tests that (C1) of reshape is checked: one element type.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C1) requires one element type, but got 'f32' and 'i32'}}
  %0 = stablehlo.reshape %x : (tensor<4xf32>) -> tensor<2x2xi32>
  return
}

// -----

// Tests that (C2) of reshape is checked: the number of elements.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C2) requires equally many elements, but got 'tensor<4xf32>' and 'tensor<2x3xf32>'}}
  %0 = stablehlo.reshape %x : (tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C1) of transpose is checked: one element type.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{requires result type 'tensor<3x2xf32>' by its operands}}
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf64>
  return
}

// -----

// Tests that (C2) of transpose is checked: a permutation.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C2) requires a permutation of the operand's 2 dimensions}}
  %0 = stablehlo.transpose %x, dims = [1, 1] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

// Tests that (C3) of transpose is checked: the result's shape.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{requires result type 'tensor<3x2xf32>' by its operands}}
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C1) of reverse is checked: one type.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{requires result type 'tensor<4xf32>' by its operands}}
  %0 = stablehlo.reverse %x, dims = [0] : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

// Tests that (C2) of reverse is checked: different dimensions.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C2) requires dimensions that are all different}}
  %0 = stablehlo.reverse %x, dims = [0, 0] : tensor<4xf32>
  return
}

// -----

// Tests that (C3) of reverse is checked: dimensions of the operand.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C3) requires dimensions of the operand}}
  %0 = stablehlo.reverse %x, dims = [-1] : tensor<4xf32>
  return
}

// -----

// Tests that (C1) of slice is checked: one element type.
func.func @f(%x: tensor<8x8xf32>) {
  // expected-error @below {{requires result type 'tensor<4x8xf32>' by its operands}}
  %0 = stablehlo.slice %x [0:4, 0:8] : (tensor<8x8xf32>) -> tensor<4x8xi32>
  return
}

// -----

// Tests that (C2) of slice is checked: one range a dimension.
func.func @f(%x: tensor<8x8xf32>) {
  // expected-error @below {{(C2) requires one start, limit and stride for each of the operand's 2 dimensions}}
  %0 = stablehlo.slice %x [0:4] : (tensor<8x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

// Tests that (C3) of slice is checked: a limit in bounds.
func.func @f(%x: tensor<8x8xf32>) {
  // expected-error @below {{(C3) requires 0 <= start <= limit <= extent in dimension 0, but got 0:9}}
  %0 = stablehlo.slice %x [0:9, 0:8] : (tensor<8x8xf32>) -> tensor<9x8xf32>
  return
}

// -----

// Tests that (C3) of slice is checked: a start before the limit.
func.func @f(%x: tensor<8x8xf32>) {
  // expected-error @below {{(C3) requires 0 <= start <= limit <= extent in dimension 0, but got 5:4}}
  %0 = stablehlo.slice %x [5:4, 0:8] : (tensor<8x8xf32>) -> tensor<0x8xf32>
  return
}

// -----

// Tests that (C4) of slice is checked: positive strides.
func.func @f(%x: tensor<8x8xf32>) {
  // expected-error @below {{(C4) requires positive strides, but got 0 in dimension 0}}
  %0 = stablehlo.slice %x [0:8:0, 0:8] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

// Tests that (C5) of slice is checked: the result's shape.
func.func @f(%x: tensor<8x8xf32>) {
  // expected-error @below {{requires result type 'tensor<3x8xf32>' by its operands}}
  %0 = stablehlo.slice %x [0:8:3, 0:8] : (tensor<8x8xf32>) -> tensor<2x8xf32>
  return
}

// -----

// Tests that (C1) of concatenate is checked: one element type.
func.func @f(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error @below {{(C1) requires inputs of one element type}}
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<4xf32>, tensor<4xi32>) -> tensor<8xf32>
  return
}

// -----

// Tests that (C2) of concatenate is checked: one shape outside of the dimension.
func.func @f(%x: tensor<4x2xf32>, %y: tensor<4x3xf32>) {
  // expected-error @below {{(C2) requires inputs that agree outside of dimension 0}}
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<8x2xf32>
  return
}

// -----

// Tests that (C2) of concatenate is checked: one rank.
func.func @f(%x: tensor<4x2xf32>, %y: tensor<4xf32>) {
  // expected-error @below {{(C2) requires inputs that agree outside of dimension 0}}
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<4x2xf32>, tensor<4xf32>) -> tensor<8x2xf32>
  return
}

// -----

// Tests that (C3) of concatenate is checked: an input.
func.func @f() {
  // expected-error @below {{(C3) requires at least one input}}
  %0 = "stablehlo.concatenate"() <{dimension = 0 : i64}> : () -> tensor<8x2xf32>
  return
}

// -----

// Tests that (C4) of concatenate is checked: a dimension of the inputs.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C4) requires a dimension of the inputs, but got 1 for 'tensor<4xf32>'}}
  %0 = stablehlo.concatenate %x, %x, dim = 1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

// Tests that (C5) of concatenate is checked: the result's element type.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{requires result type 'tensor<8xf32>' by its operands}}
  %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf64>
  return
}

// -----

// Tests that (C6) of concatenate is checked: the result's shape.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{requires result type 'tensor<8xf32>' by its operands}}
  %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<7xf32>
  return
}

// -----

// Tests that (C1) of pad is checked: one element type.
func.func @f(%x: tensor<4xf32>, %s: tensor<f64>) {
  // expected-error @below {{(C1) requires operand and padding value of one element type}}
  %0 = stablehlo.pad %x, %s, low = [0], high = [0], interior = [0] : (tensor<4xf32>, tensor<f64>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C2) of pad is checked: one entry a dimension.
func.func @f(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error @below {{(C2) requires one low, high and interior padding for each of the operand's 1 dimensions}}
  %0 = stablehlo.pad %x, %s, low = [0, 0], high = [0], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C3) of pad is checked: no negative interior padding.
func.func @f(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error @below {{(C3) requires interior padding that is not negative, but got -1}}
  %0 = stablehlo.pad %x, %s, low = [0], high = [0], interior = [-1] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C4) of pad is checked: the result's shape.
func.func @f(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error @below {{requires result type 'tensor<10xf32>' by its operands}}
  %0 = stablehlo.pad %x, %s, low = [1], high = [2], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<7xf32>
  return
}

// -----

// Tests that (C4) of pad is checked: an extent that is not negative.
func.func @f(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error @below {{(C4) requires an extent that is not negative, but got -1 in dimension 0}}
  %0 = stablehlo.pad %x, %s, low = [-5], high = [0], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<0xf32>
  return
}

// -----

// Tests that (C1) of get_dimension_size is checked: a dimension of the operand.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C1) requires a dimension of the operand, but got 1 for 'tensor<4xf32>'}}
  %0 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<4xf32>) -> tensor<i32>
  return
}

// -----

// Tests that (C1) of set_dimension_size is checked: a dimension of the operand.
func.func @f(%x: tensor<4xf32>, %n: tensor<i32>) {
  // expected-error @below {{(C1) requires a dimension of the operand, but got 1}}
  %0 = stablehlo.set_dimension_size %x, %n, dim = 1 : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32>
  return
}

// -----

// Tests that (C1) of dynamic_slice is checked: one element type.
func.func @f(%x: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error @below {{requires result type 'tensor<2xf32>' by its operands}}
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf64>
  return
}

// -----

// Tests that (C2) of dynamic_slice is checked: one start index a dimension.
func.func @f(%x: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error @below {{(C2) requires one start index for each of the operand's 1 dimensions, but got 2}}
  %0 = stablehlo.dynamic_slice %x, %i, %i, sizes = [2] : (tensor<4xf32>, tensor<i32>, tensor<i32>) -> tensor<2xf32>
  return
}

// -----

// Tests that (C2) of dynamic_slice is checked: one size a dimension.
func.func @f(%x: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error @below {{(C2) requires one size for each of the operand's 1 dimensions, but got 2}}
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [2, 2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
  return
}

// -----

// Tests that (C3) of dynamic_slice is checked: start indices of one type.
func.func @f(%x: tensor<4x4xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error @below {{(C3) requires start indices of one type}}
  %0 = stablehlo.dynamic_slice %x, %i, %j, sizes = [2, 2] : (tensor<4x4xf32>, tensor<i32>, tensor<i64>) -> tensor<2x2xf32>
  return
}

// -----

// Tests that (C4) of dynamic_slice is checked: sizes in bounds.
func.func @f(%x: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error @below {{(C4) requires 0 <= size <= extent in dimension 0, but got 5}}
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [5] : (tensor<4xf32>, tensor<i32>) -> tensor<5xf32>
  return
}

// -----

// Tests that (C5) of dynamic_slice is checked: the result's shape.
func.func @f(%x: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error @below {{requires result type 'tensor<2xf32>' by its operands}}
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<3xf32>
  return
}

// -----

// Tests that (C1) of dynamic_update_slice is checked: the operand's type.
func.func @f(%x: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error @below {{requires result type 'tensor<4xf32>' by its operands}}
  %0 = stablehlo.dynamic_update_slice %x, %x, %i : (tensor<4xf32>, tensor<4xf32>, tensor<i32>) -> tensor<5xf32>
  return
}

// -----

// Tests that (C2) of dynamic_update_slice is checked: one element type.
func.func @f(%x: tensor<4xf32>, %u: tensor<2xf64>, %i: tensor<i32>) {
  // expected-error @below {{(C2) requires operand and update of one element type}}
  %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xf32>, tensor<2xf64>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C3) of dynamic_update_slice is checked: one rank.
func.func @f(%x: tensor<4xf32>, %u: tensor<f32>, %i: tensor<i32>) {
  // expected-error @below {{(C3) requires operand and update of one rank}}
  %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C4) of dynamic_update_slice is checked: one start index a dimension.
func.func @f(%x: tensor<4xf32>, %u: tensor<2xf32>) {
  // expected-error @below {{(C4) requires one start index for each of the operand's 1 dimensions, but got 0}}
  %0 = stablehlo.dynamic_update_slice %x, %u : (tensor<4xf32>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C5) of dynamic_update_slice is checked: start indices of one type.
func.func @f(%x: tensor<4x4xf32>, %u: tensor<2x2xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error @below {{(C5) requires start indices of one type}}
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %j : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i64>) -> tensor<4x4xf32>
  return
}

// -----

// Tests that (C6) of dynamic_update_slice is checked: an update that fits.
func.func @f(%x: tensor<4xf32>, %u: tensor<5xf32>, %i: tensor<i32>) {
  // expected-error @below {{(C6) requires an update that fits in dimension 0}}
  %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xf32>, tensor<5xf32>, tensor<i32>) -> tensor<4xf32>
  return
}
