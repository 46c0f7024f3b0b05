// RUN: latewood-opt %s --pass-pipeline='builtin.module(func.func(latewood-convert-stablehlo-to-linalg,canonicalize,cse))' \
// RUN:   --split-input-file | FileCheck %s

// Tests that extents of results are the scalars that plan.with_shape says, and that a broadcast is an indexing map.
// CHECK-LABEL: func.func @add(
// CHECK-SAME: %[[N:.*]]: index
// CHECK: tensor.empty(%[[N]]) : tensor<?x64xf32>
// CHECK-NOT: tensor.dim
// CHECK: arith.addf
func.func @add(%n: index, %x: tensor<?x64xf32> {plan.extents = array<i64: 0>}, %b: tensor<64xf32>,
               %out: tensor<?x64xf32> {plan.extents = array<i64: 0>, plan.out}) -> tensor<?x64xf32> {
  %xs = plan.with_shape %x(%n) : tensor<?x64xf32>
  %dummy = stablehlo.constant dense<0> : tensor<2xi32>
  %bb = stablehlo.dynamic_broadcast_in_dim %b, %dummy, dims = [1] : (tensor<64xf32>, tensor<2xi32>) -> tensor<?x64xf32>
  %bs = plan.with_shape %bb(%n) : tensor<?x64xf32>
  %y = stablehlo.add %xs, %bs : tensor<?x64xf32>
  %ys = plan.with_shape %y(%n) : tensor<?x64xf32>
  return %ys : tensor<?x64xf32>
}

// -----

// Tests that a dimension that may have extent 1 is read in steps that the program computes.
// CHECK-LABEL: func.func @broadcast(
// CHECK-SAME: %[[N:.*]]: index, %[[M:.*]]: index
// CHECK: %[[REPEATS:.*]] = arith.cmpi ne, %[[M]]
// CHECK: %[[STEP:.*]] = arith.index_castui %[[REPEATS]]
// CHECK: linalg.generic
// CHECK: %[[PLACE:.*]] = arith.muli %{{.*}}, %[[STEP]]
// CHECK: tensor.extract %{{.*}}[%[[PLACE]]]
func.func @broadcast(%n: index, %m: index, %x: tensor<?xf32>, %out: tensor<4x?xf32> {plan.out}) -> tensor<4x?xf32> {
  %xs = plan.with_shape %x(%m) : tensor<?xf32>
  %dummy = stablehlo.constant dense<0> : tensor<2xi32>
  %bb = stablehlo.dynamic_broadcast_in_dim %xs, %dummy, dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> tensor<4x?xf32>
  %bs = plan.with_shape %bb(%n) : tensor<4x?xf32>
  return %bs : tensor<4x?xf32>
}

// -----

// Tests that a reshape is a view: dimensions are grouped where products of extents are known to be equal.
// CHECK-LABEL: func.func @reshape(
// CHECK-SAME: %[[N:.*]]: index, %[[S:.*]]: index, %[[M:.*]]: index
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]] : tensor<?x12x64xf32> into tensor<?x768xf32>
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2]] output_shape [%[[N]], %[[S]], 768]
func.func @reshape(%n: index, %s: index, %m: index, %x: tensor<?x?x768xf32>, %out: tensor<?x12x64xf32> {plan.out}) -> tensor<?x12x64xf32> {
  %xs = plan.with_shape %x(%n, %s) : tensor<?x?x768xf32>
  %t = stablehlo.tanh %xs : tensor<?x?x768xf32>
  %ts = plan.with_shape %t(%n, %s) : tensor<?x?x768xf32>
  %dummy = stablehlo.constant dense<0> : tensor<3xi32>
  %r = stablehlo.dynamic_reshape %ts, %dummy : (tensor<?x?x768xf32>, tensor<3xi32>) -> tensor<?x12x64xf32>
  %rs = plan.with_shape %r(%m) : tensor<?x12x64xf32>
  return %rs : tensor<?x12x64xf32>
}

// -----

// Tests that computed paddings may be negative: elements that fall off are cut first.
// CHECK-LABEL: func.func @pad(
// CHECK-SAME: %[[N:.*]]: index, %[[M:.*]]: index, %[[LOW:.*]]: i32
// CHECK: %[[LOWINDEX:.*]] = arith.index_cast %[[LOW]]
// CHECK: tensor.extract_slice
// CHECK: tensor.empty(%[[M]])
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%{{.*}}] [%{{.*}}] [2]
func.func @pad(%n: index, %m: index, %lo: i32, %x: tensor<?xf32>, %v: tensor<f32>, %out: tensor<?xf32> {plan.out}) -> tensor<?xf32> {
  %xs = plan.with_shape %x(%n) : tensor<?xf32>
  %c = stablehlo.constant dense<0> : tensor<1xi32>
  %c1 = stablehlo.constant dense<1> : tensor<1xi32>
  %low = plan.with_values %c(%lo) : tensor<1xi32>, i32
  %r = stablehlo.dynamic_pad %xs, %v, %low, %c, %c1 : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  %rs = plan.with_shape %r(%m) : tensor<?xf32>
  return %rs : tensor<?xf32>
}

// -----

// Tests that constant paddings of a dynamic dimension compute only what they must.
// CHECK-LABEL: func.func @static_pad(
// CHECK-SAME: %[[N:.*]]: index, %[[M:.*]]: index
// CHECK: arith.subi %[[N]]
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[2] [%{{.*}}] [1]
func.func @static_pad(%n: index, %m: index, %x: tensor<?xf32>, %v: tensor<f32>, %out: tensor<?xf32> {plan.out}) -> tensor<?xf32> {
  %xs = plan.with_shape %x(%n) : tensor<?xf32>
  %r = stablehlo.pad %xs, %v, low = [2], high = [-1], interior = [0] : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %rs = plan.with_shape %r(%m) : tensor<?xf32>
  return %rs : tensor<?xf32>
}

// -----

// Tests that parts of dynamic extent lie behind each other.
// CHECK-LABEL: func.func @concat(
// CHECK-SAME: %[[N:.*]]: index, %[[M:.*]]: index, %[[K:.*]]: index
// CHECK: tensor.empty(%[[K]])
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0] [%[[N]]] [1]
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%[[N]]] [%[[M]]] [1]
func.func @concat(%n: index, %m: index, %k: index, %x: tensor<?xf32>, %y: tensor<?xf32>, %out: tensor<?xf32> {plan.out}) -> tensor<?xf32> {
  %xs = plan.with_shape %x(%n) : tensor<?xf32>
  %ys = plan.with_shape %y(%m) : tensor<?xf32>
  %r = stablehlo.concatenate %xs, %ys, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %rs = plan.with_shape %r(%k) : tensor<?xf32>
  return %rs : tensor<?xf32>
}

// -----

// Tests that a sort counts its passes when the program runs: of few rows, those over runs of chunks.
// CHECK-LABEL: func.func @sort(
// CHECK-SAME: %[[N:.*]]: index
// CHECK: bufferization.alloc_tensor(%[[N]]) : tensor<?xf32>
// CHECK: {cpu.independent}
// CHECK: math.ctlz
func.func @sort(%n: index, %x: tensor<?x4xf32>, %out: tensor<?x4xf32> {plan.out}) -> tensor<?x4xf32> {
  %xs = plan.with_shape %x(%n) : tensor<?x4xf32>
  %r = "stablehlo.sort"(%xs) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %q = stablehlo.and %p, %p : tensor<i1>
    stablehlo.return %q : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %rs = plan.with_shape %r(%n) : tensor<?x4xf32>
  return %rs : tensor<?x4xf32>
}

// -----

// Tests a product of dynamic rows.
// CHECK-LABEL: func.func @dot(
// CHECK-SAME: %[[N:.*]]: index
// CHECK: tensor.empty(%[[N]]) : tensor<?x8xf32>
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
func.func @dot(%n: index, %x: tensor<?x64xf32>, %y: tensor<64x8xf32>, %out: tensor<?x8xf32> {plan.out}) -> tensor<?x8xf32> {
  %xs = plan.with_shape %x(%n) : tensor<?x64xf32>
  %r = stablehlo.dot_general %xs, %y, contracting_dims = [1] x [0] : (tensor<?x64xf32>, tensor<64x8xf32>) -> tensor<?x8xf32>
  %rs = plan.with_shape %r(%n) : tensor<?x8xf32>
  return %rs : tensor<?x8xf32>
}

// -----

// Tests that a gather of whole rows clamps only the rows.
// CHECK-LABEL: func.func @gather(
// CHECK-SAME: %[[N:.*]]: index, %[[M:.*]]: index
// CHECK: %[[LAST:.*]] = arith.subi %[[N]]
// CHECK: linalg.index 1
// CHECK: arith.minsi %{{.*}}, %[[LAST]]
// CHECK-NOT: arith.minsi
// CHECK: tensor.extract
func.func @gather(%n: index, %m: index, %x: tensor<?x?xf32>, %i: tensor<5x1xi32>, %out: tensor<5x?xf32> {plan.out}) -> tensor<5x?xf32> {
  %xs = plan.with_shape %x(%n, %m) : tensor<?x?xf32>
  %c = stablehlo.constant dense<1> : tensor<2xi32>
  %r = "stablehlo.dynamic_gather"(%xs, %i, %c) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>} : (tensor<?x?xf32>, tensor<5x1xi32>, tensor<2xi32>) -> tensor<5x?xf32>
  %rs = plan.with_shape %r(%m) : tensor<5x?xf32>
  return %rs : tensor<5x?xf32>
}

// -----

// Tests that a scatter of whole rows of dynamic extent combines slices.
// CHECK-LABEL: func.func @scatter(
// CHECK-SAME: %[[N:.*]]: index, %[[M:.*]]: index
// CHECK: scf.for
// CHECK: arith.cmpi ult, %{{.*}}, %[[N]]
// CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, 0] [1, %[[M]]] [1, 1]
// CHECK: linalg.generic
func.func @scatter(%n: index, %m: index, %x: tensor<?x?xf32>, %i: tensor<5x1xi32>, %u: tensor<5x?xf32>, %out: tensor<?x?xf32> {plan.out}) -> tensor<?x?xf32> {
  %xs = plan.with_shape %x(%n, %m) : tensor<?x?xf32>
  %us = plan.with_shape %u(%m) : tensor<5x?xf32>
  %r = "stablehlo.scatter"(%xs, %i, %us) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %p : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<?x?xf32>, tensor<5x1xi32>, tensor<5x?xf32>) -> tensor<?x?xf32>
  %rs = plan.with_shape %r(%n, %m) : tensor<?x?xf32>
  return %rs : tensor<?x?xf32>
}

// -----

// Tests a convolution with computed padding: windows are copied, and multiplied by the kernel.
// CHECK-LABEL: func.func @conv(
// CHECK-SAME: %[[B:.*]]: index, %[[H:.*]]: index, %[[H2:.*]]: index
// CHECK: tensor.insert_slice
// CHECK: tensor.empty(%[[B]], %[[H2]]) : tensor<?x?x14x3x3x3xf32>
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
func.func @conv(%b: index, %h: index, %h2: index, %x: tensor<?x?x16x3xf32>, %k: tensor<3x3x3x8xf32>, %pd: i32, %out: tensor<?x?x14x8xf32> {plan.out}) -> tensor<?x?x14x8xf32> {
  %xs = plan.with_shape %x(%b, %h) : tensor<?x?x16x3xf32>
  %c = stablehlo.constant dense<0> : tensor<2x2xi32>
  %c0 = arith.constant 0 : i32
  %p = plan.with_values %c(%pd, %pd, %c0, %c0) : tensor<2x2xi32>, i32, i32, i32, i32
  %r = "stablehlo.dynamic_conv"(%xs, %k, %p) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<?x?x16x3xf32>, tensor<3x3x3x8xf32>, tensor<2x2xi32>) -> tensor<?x?x14x8xf32>
  %rs = plan.with_shape %r(%b, %h2) : tensor<?x?x14x8xf32>
  return %rs : tensor<?x?x14x8xf32>
}

// -----

// Tests windows over a dynamic dimension.
// CHECK-LABEL: func.func @reduce_window(
// CHECK-SAME: %[[N:.*]]: index, %[[M:.*]]: index
// CHECK: arith.addi %[[N]]
// CHECK: tensor.empty(%[[M]]) : tensor<?x2xf32>
func.func @reduce_window(%n: index, %m: index, %x: tensor<?x4xf32>, %out: tensor<?x2xf32> {plan.out}) -> tensor<?x2xf32> {
  %xs = plan.with_shape %x(%n) : tensor<?x4xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.reduce_window"(%xs, %z) <{padding = dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x2xf32>
  %rs = plan.with_shape %r(%m) : tensor<?x2xf32>
  return %rs : tensor<?x2xf32>
}

// -----

// Tests that a size is its scalar, and that positions are mirrored by arithmetic.
// CHECK-LABEL: func.func @reverse_get(
// CHECK-SAME: %[[N:.*]]: index
// CHECK: %[[LAST:.*]] = arith.subi %[[N]]
// CHECK: arith.subi %[[LAST]]
// CHECK: arith.index_cast %[[N]] : index to i32
func.func @reverse_get(%n: index, %x: tensor<?xi32>, %out: tensor<?xi32> {plan.out}) -> tensor<?xi32> {
  %xs = plan.with_shape %x(%n) : tensor<?xi32>
  %r = stablehlo.reverse %xs, dims = [0] : tensor<?xi32>
  %rs = plan.with_shape %r(%n) : tensor<?xi32>
  %g = stablehlo.get_dimension_size %xs, dim = 0 : (tensor<?xi32>) -> tensor<i32>
  %d = stablehlo.constant dense<0> : tensor<1xi32>
  %gb = stablehlo.dynamic_broadcast_in_dim %g, %d, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
  %gs = plan.with_shape %gb(%n) : tensor<?xi32>
  %y = stablehlo.add %rs, %gs : tensor<?xi32>
  %ys = plan.with_shape %y(%n) : tensor<?xi32>
  return %ys : tensor<?xi32>
}

// -----

// Tests bounded types, and slices at computed places.
// CHECK-LABEL: func.func @set_size_slice(
// CHECK-SAME: %[[N:.*]]: index, %[[S:.*]]: i32, %[[K:.*]]: index
// CHECK: %[[X:.*]] = tensor.extract_slice %{{.*}}[0] [%[[N]]] [1] : tensor<8xi32> to tensor<?xi32>
// CHECK: tensor.extract_slice %[[X]][%{{.*}}] [%[[K]]] [1]
func.func @set_size_slice(%n: index, %s: i32, %k: index, %x: tensor<8xi32>, %out: tensor<?xi32> {plan.out}) -> tensor<?xi32> {
  %size = tensor.from_elements %s : tensor<i32>
  %r = stablehlo.set_dimension_size %x, %size, dim = 0 : (tensor<8xi32>, tensor<i32>) -> tensor<?xi32, #stablehlo.bounds<8>>
  %rs = plan.with_shape %r(%n) : tensor<?xi32, #stablehlo.bounds<8>>
  %d = stablehlo.constant dense<1> : tensor<1xi32>
  %c = stablehlo.constant dense<0> : tensor<1xi32>
  %start = plan.with_values %d(%s) : tensor<1xi32>, i32
  %q = stablehlo.real_dynamic_slice %rs, %start, %c, %d : (tensor<?xi32, #stablehlo.bounds<8>>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xi32>
  %qs = plan.with_shape %q(%k) : tensor<?xi32>
  return %qs : tensor<?xi32>
}

// -----

// Tests a loop that carries a dynamic tensor.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME: %[[N:.*]]: index
// CHECK: scf.while
// CHECK: tensor.empty(%[[N]])
// CHECK: math.exp
func.func @loop(%n: index, %x: tensor<?xf32>, %out: tensor<?xf32> {plan.out}) -> tensor<?xf32> {
  %xs = plan.with_shape %x(%n) : tensor<?xf32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %l:2 = stablehlo.while(%i = %z, %a = %xs) : tensor<i32>, tensor<?xf32> cond {
    %c = stablehlo.constant dense<10> : tensor<i32>
    %p = stablehlo.compare LT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %as = plan.with_shape %a(%n) : tensor<?xf32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %c : tensor<i32>
    %e = stablehlo.exponential %as : tensor<?xf32>
    %es = plan.with_shape %e(%n) : tensor<?xf32>
    stablehlo.return %j, %es : tensor<i32>, tensor<?xf32>
  }
  %ls = plan.with_shape %l#1(%n) : tensor<?xf32>
  return %ls : tensor<?xf32>
}
