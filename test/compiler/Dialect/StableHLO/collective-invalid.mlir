// RUN: latewood-opt %s --split-input-file --verify-diagnostics

// Tests that (C1) of all_reduce is checked: each number once.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C1) requires replica_groups that hold each number once}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1], [1, 3]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C3) of all_reduce is checked: numbers in range.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C3) requires replica_groups that hold the numbers from 0 up}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1], [2, 4]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C4) of all_reduce is checked: global ids need a channel.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C4) requires a positive channel together with use_global_device_ids}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C5) of all_reduce is checked: the computation's type.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C5) requires a region of type}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C6) of all_reduce is checked: the results' shapes.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C6) requires results of the operands' shapes}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

// Tests that (C7) of all_reduce is checked: the results' element types.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C7) requires result 0 to have the element type 'f32'}}
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

// Tests that (C1) of reduce_scatter is checked: an extent that divides.
func.func @f(%x: tensor<5xf32>) {
  // expected-error @below {{(C1) requires an extent that the size of a group divides}}
  %0 = "stablehlo.reduce_scatter"(%x) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, scatter_dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<5xf32>) -> tensor<2xf32>
  return
}

// -----

// Tests that (C2) of reduce_scatter is checked: a dimension.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C2) requires scatter_dimension to be a dimension of the operands}}
  %0 = "stablehlo.reduce_scatter"(%x) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, scatter_dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

// Tests that (C3) of reduce_scatter is checked: each number once.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C3) requires replica_groups that hold each number once}}
  %0 = "stablehlo.reduce_scatter"(%x) <{replica_groups = dense<[[0, 1], [1, 3]]> : tensor<2x2xi64>, scatter_dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

// Tests that (C8) of reduce_scatter is checked: the result's shape.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C8) requires a result of type 'tensor<2xf32>', but got 'tensor<4xf32>'}}
  %0 = "stablehlo.reduce_scatter"(%x) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, scatter_dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C1) of all_gather is checked: a dimension.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C1) requires all_gather_dim to be a dimension of the operands}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C2) of all_gather is checked: each number once.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C2) requires replica_groups that hold each number once}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 0], [1, 2]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C5) of all_gather is checked: global ids need a channel.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C5) requires a positive channel}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

// Tests that (C6) of all_gather is checked: the results' types.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C6) requires a result of type 'tensor<8xf32>', but got 'tensor<4xf32>'}}
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C1) of all_to_all is checked: a split dimension.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C1) requires split_dimension to be a dimension of the operands}}
  %0 = "stablehlo.all_to_all"(%x) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C2) of all_to_all is checked: an extent that divides.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C2) requires an extent that split_count divides, but got 4 and 3}}
  %0 = "stablehlo.all_to_all"(%x) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, split_count = 3 : i64, split_dimension = 0 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C3) of all_to_all is checked: a concatenation dimension.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C3) requires concat_dimension to be a dimension of the operands}}
  %0 = "stablehlo.all_to_all"(%x) <{concat_dimension = 1 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C4) of all_to_all is checked: a positive count.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C4) requires a positive split_count, but got 0}}
  %0 = "stablehlo.all_to_all"(%x) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, split_count = 0 : i64, split_dimension = 0 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C5) of all_to_all is checked: each number once.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C5) requires replica_groups that hold each number once}}
  %0 = "stablehlo.all_to_all"(%x) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 0], [1, 2]]> : tensor<2x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C8) of all_to_all is checked: groups of that count.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C8) requires groups of split_count processes}}
  %0 = "stablehlo.all_to_all"(%x) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, split_count = 4 : i64, split_dimension = 0 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C9) of all_to_all is checked: the results' types.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C9) requires a result of type 'tensor<4xf32>', but got 'tensor<2xf32>'}}
  %0 = "stablehlo.all_to_all"(%x) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

// Tests that (C1) of collective_broadcast is checked: each number once.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C1) requires replica_groups that hold each number once}}
  %0 = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[0, 0], [1, 2]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C3) of collective_broadcast is checked: the results' types.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C3) requires a result of type 'tensor<4xf32>'}}
  %0 = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

// Tests that (C1) of collective_permute is checked: pairs.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C1) requires source_target_pairs of shape [N, 2]}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<0> : tensor<2x3xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C2) of collective_permute is checked: different sources.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C2) requires sources that are all different}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C3) of collective_permute is checked: different targets.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C3) requires targets that are all different}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C4) of collective_permute is checked: no negative number.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C4) requires numbers that are not negative}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [-1, 2]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C5) of collective_permute is checked: the result's type.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{requires result type 'tensor<4xf32>' by its operands}}
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<5xf32>
  return
}
