// RUN: latewood-opt %s --pass-pipeline='builtin.module(func.func(latewood-convert-stablehlo-to-linalg))' --split-input-file | FileCheck %s

// Tests that a sum is a fill and a generic whose combiner may be reordered.
// CHECK-LABEL: func.func @sum(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>)
func.func @sum(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  // CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK: %[[INIT:.*]] = linalg.fill ins(%[[ZERO]] : f32)
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[X]] : tensor<4x8xf32>) outs(%[[INIT]] : tensor<4xf32>)
  // CHECK: arith.addf %{{.*}}, %{{.*}} fastmath<reassoc> : f32
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Tests that a sum of bf16 is made in f32 and rounded once.
// CHECK-LABEL: func.func @narrow_sum(
func.func @narrow_sum(%x: tensor<64xbf16>) -> tensor<bf16> {
  // CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<64xbf16>) outs(%{{.*}} : tensor<f32>)
  // CHECK: %[[W:.*]] = arith.extf %{{.*}} : bf16 to f32
  // CHECK: arith.addf %{{.*}}, %[[W]] fastmath<reassoc> : f32
  // CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<bf16>)
  // CHECK: arith.truncf
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<64xbf16>, tensor<bf16>) -> tensor<bf16>
  return %0 : tensor<bf16>
}

// -----

// Tests that a body of several operations on several operands is one generic.
// CHECK-LABEL: func.func @arg_max(
func.func @arg_max(%x: tensor<4x8xf32>, %i: tensor<4x8xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<4x8xi32>) outs(%{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xi32>)
  // CHECK: arith.cmpf ogt
  // CHECK-COUNT-2: arith.select
  // CHECK: linalg.yield %{{.*}}, %{{.*}} : f32, i32
  %0:2 = stablehlo.reduce(%x init: %low), (%i init: %zero) across dimensions = [1] : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>)  {
    %p = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %v = stablehlo.select %p, %a, %b : tensor<i1>, tensor<f32>
    %w = stablehlo.select %p, %c, %d : tensor<i1>, tensor<i32>
    stablehlo.return %v, %w : tensor<f32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi32>
}

// -----

// Tests that dot_general has the loops batch, lhs, rhs, contracted, and a body that may be contracted and reordered.
// CHECK-DAG: #[[L:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-DAG: #[[R:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK-DAG: #[[O:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @batched_product(
func.func @batched_product(%a: tensor<2x4x8xf32>, %b: tensor<2x8x3xf32>) -> tensor<2x4x3xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[L]], #[[R]], #[[O]]], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
  // CHECK: %[[P:.*]] = arith.mulf %{{.*}}, %{{.*}} fastmath<contract> : f32
  // CHECK: arith.addf %{{.*}}, %[[P]] fastmath<reassoc,contract> : f32
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x4x8xf32>, tensor<2x8x3xf32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}

// -----

// Tests that an outer product is elementwise.
// CHECK-LABEL: func.func @outer_product(
func.func @outer_product(%a: tensor<4xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]}
  // CHECK: arith.mulf
  // CHECK-NOT: arith.addf
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [] x [] : (tensor<4xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Tests that integers are extended to the type of the accumulation by their own signedness.
// CHECK-LABEL: func.func @integer_product(
func.func @integer_product(%a: tensor<4x8xui8>, %b: tensor<8x4xui8>) -> tensor<4x4xui32> {
  // CHECK-COUNT-2: arith.extui %{{.*}} : i8 to i32
  // CHECK: arith.muli
  // CHECK: arith.addi
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xui8>, tensor<8x4xui8>) -> tensor<4x4xui32>
  return %0 : tensor<4x4xui32>
}

// -----

// Tests that a convolution is a matrix product of the windows of the padded input, which are copied first.
// CHECK-DAG: #[[READ:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1 * 2 + d2, d3)>
// CHECK-DAG: #[[WINDOWS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>
// CHECK-DAG: #[[KERNEL:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d4, d3, d2)>
// CHECK-LABEL: func.func @convolution(
func.func @convolution(%x: tensor<1x8x3xf32>, %k: tensor<3x3x5xf32>) -> tensor<1x4x5xf32> {
  // CHECK: %[[PADDED:.*]] = tensor.insert_slice {{.*}} : tensor<1x8x3xf32> into tensor<1x9x3xf32>
  // CHECK: %[[COPY:.*]] = linalg.generic {indexing_maps = [#[[READ]], #{{.*}}], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%[[PADDED]]
  // CHECK: linalg.generic {indexing_maps = [#[[WINDOWS]], #[[KERNEL]], #{{.*}}], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%[[COPY]],
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], pad = [[0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x3xf32>, tensor<3x3x5xf32>) -> tensor<1x4x5xf32>
  return %0 : tensor<1x4x5xf32>
}

// -----

// Tests that a convolution by a kernel of extent 1 is a matrix product of the input itself.
// CHECK-DAG: #[[INPUT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-DAG: #[[KERNEL:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
// CHECK-LABEL: func.func @pointwise(
// CHECK-SAME: %[[X:.*]]: tensor<1x8x3xf32>
func.func @pointwise(%x: tensor<1x8x3xf32>, %k: tensor<1x3x5xf32>) -> tensor<1x8x5xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[INPUT]], #[[KERNEL]], #{{.*}}], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%[[X]],
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x3xf32>, tensor<1x3x5xf32>) -> tensor<1x8x5xf32>
  return %0 : tensor<1x8x5xf32>
}

// -----

// Tests that a convolution of each channel for itself reads the windows where they are.
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d5, d2, d4)>
// CHECK-LABEL: func.func @depthwise(
func.func @depthwise(%x: tensor<1x8x6xf32>, %k: tensor<3x1x6xf32>) -> tensor<1x6x6xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[W]], #{{.*}}, #{{.*}}]
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 6 : i64} : (tensor<1x8x6xf32>, tensor<3x1x6xf32>) -> tensor<1x6x6xf32>
  return %0 : tensor<1x6x6xf32>
}

// -----

// Tests that a pooling reads windows, with an operand that only gives the window's extents.
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2) -> (d0, d1 * 2 + d2)>
// CHECK-LABEL: func.func @pooling(
func.func @pooling(%x: tensor<2x8xf32>) -> tensor<2x4xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  // CHECK: %[[WINDOW:.*]] = tensor.empty() : tensor<2xf32>
  // CHECK: linalg.generic {indexing_maps = [#[[W]], #{{.*}}, #{{.*}}], iterator_types = ["parallel", "parallel", "reduction"]} ins(%{{.*}}, %[[WINDOW]] :
  %0 = "stablehlo.reduce_window"(%x, %low) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// Tests that a prefix sum is a loop that carries the sum, not a window as long as the dimension.
// CHECK-LABEL: func.func @prefix_sum(
func.func @prefix_sum(%x: tensor<2x9xf32>) -> tensor<2x9xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK-NOT: linalg.generic
  // CHECK: scf.for %[[ROW:[a-z0-9]+]] =
  // CHECK: scf.for %[[I:[a-z0-9]+]] = {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[T:.*]] = %{{.*}})
  // CHECK: %[[E:.*]] = tensor.extract %{{.*}}[%[[ROW]], %[[I]]]
  // CHECK: %[[NEXT:.*]] = arith.addf %[[SUM]], %[[E]]
  // CHECK: tensor.insert %[[NEXT]] into %[[T]][%[[ROW]], %[[I]]]
  %0 = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[0, 0], [8, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 9>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x9xf32>, tensor<f32>) -> tensor<2x9xf32>
  return %0 : tensor<2x9xf32>
}

// -----

// Tests that a prefix sum along an outer dimension steps over slices.
// CHECK-LABEL: func.func @prefix_sum_of_rows(
func.func @prefix_sum_of_rows(%x: tensor<9x32xf32>) -> tensor<9x32xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: %[[START:.*]] = linalg.fill {{.*}} -> tensor<32xf32>
  // CHECK: scf.for %[[I:[a-z0-9]+]] = {{.*}} iter_args(%[[SUM:.*]] = %[[START]], %[[T:.*]] = %{{.*}})
  // CHECK: %[[ROW:.*]] = tensor.extract_slice %{{.*}}[%[[I]], 0] [1, 32] [1, 1] : tensor<9x32xf32> to tensor<32xf32>
  // CHECK: %[[NEXT:.*]] = linalg.generic {{.*}} ins(%[[ROW]] : tensor<32xf32>) outs(%[[SUM]] : tensor<32xf32>)
  // CHECK: tensor.insert_slice %[[NEXT]] into %[[T]][%[[I]], 0]
  %0 = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[8, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 9, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<9x32xf32>, tensor<f32>) -> tensor<9x32xf32>
  return %0 : tensor<9x32xf32>
}

// -----

// Tests that a long prefix sum is scanned in blocks of eight segments: the sums of the segments, what they begin with, and the
// sums within each.
// CHECK-LABEL: func.func @long_prefix_sum(
func.func @long_prefix_sum(%x: tensor<100000xf32>) -> tensor<100000xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: %[[PARTS:.*]] = bufferization.alloc_tensor() : tensor<193xf32>
  // CHECK: %[[SUMS:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[PARTS]]) -> (tensor<193xf32>)
  // CHECK-COUNT-8: arith.addf
  // CHECK-COUNT-8: tensor.insert {{.*}} : tensor<193xf32>
  // CHECK: } {cpu.independent}
  // CHECK: %[[ALL:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[SUMS]]) -> (tensor<193xf32>)
  // CHECK: %[[BEGINS:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %[[ALL]]) -> (f32, tensor<193xf32>)
  // CHECK: scf.for {{.*}} -> (tensor<100000xf32>)
  // CHECK-COUNT-8: tensor.extract %[[BEGINS]]#1
  // CHECK: } {cpu.independent}
  %0 = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[99999, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 100000>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  return %0 : tensor<100000xf32>
}

// -----

// Tests that a long sort works on chunks: copies each, sorts each, finds for each where it is in two longer runs and merges them,
// there and back, and copies each. So does whatever comparator is no comparison of one key.
// CHECK-LABEL: func.func @long_sort(
func.func @long_sort(%x: tensor<100000xf32>) -> tensor<100000xf32> {
  // CHECK-COUNT-2: bufferization.alloc_tensor() : tensor<100000xf32>
  // CHECK: } {cpu.independent}
  // CHECK: bufferization.alloc_tensor() : tensor<25xi64>
  // CHECK: scf.while
  // CHECK: } {cpu.independent}
  // CHECK: } {cpu.independent}
  // CHECK: scf.while
  // CHECK: } {cpu.independent}
  // CHECK: } {cpu.independent}
  // CHECK: scf.yield
  // CHECK: } {cpu.independent}
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %q = stablehlo.and %p, %p : tensor<i1>
    stablehlo.return %q : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<100000xf32>) -> tensor<100000xf32>
  return %0 : tensor<100000xf32>
}

// -----

// Tests that a long sort by one key goes by its bytes: two here, and each is counted block by block, summed up, and moved by.
// CHECK-LABEL: func.func @long_sort_by_key(
// CHECK-SAME: %[[X:.*]]: tensor<100000xf16>, %[[I:.*]]: tensor<100000xi32>
func.func @long_sort_by_key(%x: tensor<100000xf16>, %i: tensor<100000xi32>) -> (tensor<100000xf16>, tensor<100000xi32>) {
  // CHECK: %[[COUNTS:.*]] = bufferization.alloc_tensor() : tensor<1024xi64>
  // CHECK: %[[COUNTED:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[COUNTS]]) -> (tensor<1024xi64>)
  // CHECK: tensor.extract %[[X]]
  // CHECK: arith.bitcast %{{.*}} : f16 to i16
  // CHECK: } {cpu.independent}
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %[[COUNTED]]) -> (i64, tensor<1024xi64>)
  // CHECK: %[[MOVED:.*]]:3 = scf.for {{.*}} -> (tensor<1024xi64>, tensor<100000xf16>, tensor<100000xi32>)
  // CHECK: tensor.extract %[[I]]
  // CHECK: } {cpu.independent}
  // CHECK: tensor.extract %[[MOVED]]#1
  // CHECK: arith.shrui %{{.*}}, %{{.*}} : i16
  // CHECK: } {cpu.independent}
  // CHECK: } {cpu.independent}
  // CHECK-NOT: scf.for
  %0:2 = "stablehlo.sort"(%x, %i) ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>, %c: tensor<i32>, %d: tensor<i32>):
    %nan = stablehlo.constant dense<0x7E00> : tensor<f16>
    %e = stablehlo.compare NE, %a, %a : (tensor<f16>, tensor<f16>) -> tensor<i1>
    %f = stablehlo.select %e, %nan, %a : tensor<i1>, tensor<f16>
    %g = stablehlo.compare NE, %b, %b : (tensor<f16>, tensor<f16>) -> tensor<i1>
    %h = stablehlo.select %g, %nan, %b : tensor<i1>, tensor<f16>
    %p = stablehlo.compare GT, %f, %h, TOTALORDER : (tensor<f16>, tensor<f16>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<100000xf16>, tensor<100000xi32>) -> (tensor<100000xf16>, tensor<100000xi32>)
  return %0#0, %0#1 : tensor<100000xf16>, tensor<100000xi32>
}
