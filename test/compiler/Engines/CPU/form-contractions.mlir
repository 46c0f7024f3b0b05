// RUN: latewood-opt %s --verify-diagnostics --pass-pipeline='builtin.module(func.func(latewood-form-contractions))' | FileCheck %s

// CHECK-DAG: #[[MK:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[KN:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[N:.*]] = affine_map<(d0, d1, d2) -> (d1)>
// CHECK-DAG: #[[MN:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[KM:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-DAG: #[[NM:.*]] = affine_map<(d0, d1, d2) -> (d1, d0)>
// CHECK-DAG: #[[HBSE:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d3, d0, d1, d4)>
// CHECK-DAG: #[[HEN:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4, d2)>
// CHECK-DAG: #[[BSN:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d2)>

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(a, b) -> (a, b)>
#row = affine_map<(a, b) -> (b)>
#t = affine_map<(a, b) -> (b, a)>

// Tests that the fill is absorbed, and that bias and activation become the epilogue.
// CHECK-LABEL: func.func @biasRelu(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x16xf32>, %[[B:.*]]: tensor<16xf32>)
// CHECK-NOT: linalg
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x16xf32>
// CHECK: cpu.contract ins(%[[X]], %[[W]] : {{.*}}) extras(%[[B]] : tensor<16xf32>) outs(%[[E]] : tensor<4x16xf32>) maps [#[[MK]], #[[KN]], #[[N]], #[[MN]]] {
// CHECK: ^bb0(%[[ACC:.*]]: f32, %[[BIAS:.*]]: f32):
// CHECK:   %[[S:.*]] = arith.addf %[[ACC]], %[[BIAS]] : f32
// CHECK:   %[[Y:.*]] = arith.maximumf %[[S]], %{{.*}} : f32
// CHECK:   cpu.yield %[[Y]] : f32
func.func @biasRelu(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %b: tensor<16xf32>) -> tensor<4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<4x8xf32>, tensor<8x16xf32>) outs(%z : tensor<4x16xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x16xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
    ins(%p, %b : tensor<4x16xf32>, tensor<16xf32>) outs(%e : tensor<4x16xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %0 = arith.addf %l, %r : f32
    %1 = arith.maximumf %0, %zero : f32
    linalg.yield %1 : f32
  } -> tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}

// Tests that bf16 is summed in f32, that a transposition of a factor becomes its map, and that one of the result becomes the map
// of the result.
// CHECK-LABEL: func.func @transposed(
// CHECK-SAME: %[[X:.*]]: tensor<8x4xbf16>, %[[W:.*]]: tensor<8x16xbf16>)
// CHECK-NOT: linalg
// CHECK: cpu.contract ins(%[[X]], %[[W]] : {{.*}}) outs(%{{.*}} : tensor<16x4xbf16>) maps [#[[KM]], #[[KN]], #[[NM]]] {
// CHECK: ^bb0(%[[ACC:.*]]: f32):
// CHECK:   arith.truncf %[[ACC]] : f32 to bf16
func.func @transposed(%x: tensor<8x4xbf16>, %w: tensor<8x16xbf16>) -> tensor<16x4xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<4x16xbf16>
  %z = linalg.fill ins(%zero : bf16) outs(%e : tensor<4x16xbf16>) -> tensor<4x16xbf16>
  %ee = tensor.empty() : tensor<4x8xbf16>
  %xt = linalg.transpose ins(%x : tensor<8x4xbf16>) outs(%ee : tensor<4x8xbf16>) permutation = [1, 0]
  %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%xt, %w : tensor<4x8xbf16>, tensor<8x16xbf16>) outs(%z : tensor<4x16xbf16>) {
  ^bb0(%l: bf16, %r: bf16, %o: bf16):
    %0 = arith.mulf %l, %r : bf16
    %1 = arith.addf %o, %0 : bf16
    linalg.yield %1 : bf16
  } -> tensor<4x16xbf16>
  %e3 = tensor.empty() : tensor<16x4xbf16>
  %y = linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]}
    ins(%p : tensor<4x16xbf16>) outs(%e3 : tensor<16x4xbf16>) {
  ^bb0(%l: bf16, %o: bf16):
    linalg.yield %l : bf16
  } -> tensor<16x4xbf16>
  return %y : tensor<16x4xbf16>
}

// Tests that the product takes the finer shape of a permuted factor and of its consumer, and that the start of the sum is added
// at its end.
// CHECK-LABEL: func.func @reshaped(
// CHECK-SAME: %[[X:.*]]: tensor<12x2x4x8xf32>, %[[W:.*]]: tensor<96x16xf32>, %[[I:.*]]: tensor<8x16xf32>, %[[B:.*]]: tensor<16xf32>)
// CHECK-NOT: linalg
// CHECK-DAG: %[[EI:.*]] = tensor.expand_shape %[[I]]
// CHECK-DAG: %[[EW:.*]] = tensor.expand_shape %[[W]]
// CHECK: %[[R:.*]] = cpu.contract ins(%[[X]], %[[EW]] : {{.*}}) extras(%[[EI]], %[[B]] : {{.*}}) outs(%{{.*}} : tensor<2x4x16xf32>) maps [#[[HBSE]], #[[HEN]], #[[BSN]], #[[COLUMN]], #[[BSN]]] {
// CHECK: return %[[R]]
func.func @reshaped(%x: tensor<12x2x4x8xf32>, %w: tensor<96x16xf32>, %init: tensor<8x16xf32>, %b: tensor<16xf32>) -> tensor<2x4x16xf32> {
  %e = tensor.empty() : tensor<2x4x12x8xf32>
  %xt = linalg.generic {indexing_maps = [affine_map<(b,s,h,e)->(h,b,s,e)>, affine_map<(b,s,h,e)->(b,s,h,e)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%x : tensor<12x2x4x8xf32>) outs(%e : tensor<2x4x12x8xf32>) {
  ^bb0(%l: f32, %o: f32):
    linalg.yield %l : f32
  } -> tensor<2x4x12x8xf32>
  %xc = tensor.collapse_shape %xt [[0, 1], [2, 3]] : tensor<2x4x12x8xf32> into tensor<8x96xf32>
  %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%xc, %w : tensor<8x96xf32>, tensor<96x16xf32>) outs(%init : tensor<8x16xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x16xf32>
  %pe = tensor.expand_shape %p [[0, 1], [2]] output_shape [2, 4, 16] : tensor<8x16xf32> into tensor<2x4x16xf32>
  %e2 = tensor.empty() : tensor<2x4x16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a,b,c)->(a,b,c)>, affine_map<(a,b,c)->(c)>, affine_map<(a,b,c)->(a,b,c)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%pe, %b : tensor<2x4x16xf32>, tensor<16xf32>) outs(%e2 : tensor<2x4x16xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %0 = arith.addf %l, %r : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x16xf32>
  return %y : tensor<2x4x16xf32>
}

// Tests that the product takes the coarser shape of its consumer, where the factors have it too.
// CHECK-LABEL: func.func @collapsed(
// CHECK-SAME: %[[X:.*]]: tensor<2x4x8xf32>, %[[W:.*]]: tensor<8x16xf32>, %[[B:.*]]: tensor<16xf32>)
// CHECK-NOT: linalg
// CHECK: %[[CX:.*]] = tensor.collapse_shape %[[X]] {{\[}}[0, 1], [2]] : tensor<2x4x8xf32> into tensor<8x8xf32>
// CHECK: %[[R:.*]] = cpu.contract ins(%[[CX]], %[[W]] : {{.*}}) extras(%[[B]] : {{.*}}) outs(%{{.*}} : tensor<8x16xf32>) maps [#[[MK]], #[[KN]], #[[N]], #[[MN]]] {
// CHECK: return %[[R]]
func.func @collapsed(%x: tensor<2x4x8xf32>, %w: tensor<8x16xf32>, %b: tensor<16xf32>) -> tensor<8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x16xf32>) -> tensor<2x4x16xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(a,b,c,k)->(a,b,k)>, affine_map<(a,b,c,k)->(k,c)>, affine_map<(a,b,c,k)->(a,b,c)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<2x4x8xf32>, tensor<8x16xf32>) outs(%z : tensor<2x4x16xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x4x16xf32>
  %pc = tensor.collapse_shape %p [[0, 1], [2]] : tensor<2x4x16xf32> into tensor<8x16xf32>
  %e2 = tensor.empty() : tensor<8x16xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
    ins(%pc, %b : tensor<8x16xf32>, tensor<16xf32>) outs(%e2 : tensor<8x16xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %0 = arith.addf %l, %r : f32
    linalg.yield %0 : f32
  } -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// Tests that a result with another user is stored as it is.
// CHECK-LABEL: func.func @twoUsers(
// CHECK: %[[P:.*]] = cpu.contract
// CHECK: ^bb0(%[[ACC:.*]]: f32):
// CHECK-NEXT: cpu.yield %[[ACC]] : f32
// CHECK: linalg.generic {{.*}} ins(%[[P]] : tensor<4x16xf32>)
func.func @twoUsers(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x16xf32>
  %e = tensor.empty() : tensor<4x16xf32>
  %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<4x8xf32>, tensor<8x16xf32>) outs(%zero : tensor<4x16xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<4x16xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%p : tensor<4x16xf32>) outs(%e : tensor<4x16xf32>) {
  ^bb0(%l: f32, %o: f32):
    %0 = arith.negf %l : f32
    linalg.yield %0 : f32
  } -> tensor<4x16xf32>
  return %p, %y : tensor<4x16xf32>, tensor<4x16xf32>
}

// Tests that integers that are widened before or inside of the product are read in their narrow form, with their sign or without.
// CHECK-LABEL: func.func @widened(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xi8>, %[[W:.*]]: tensor<8x16xi8>)
// CHECK-NOT: linalg
// CHECK: cpu.contract ins(%[[X]], %[[W]] : tensor<4x8xi8>, tensor<8x16xi8>) outs(%{{.*}} : tensor<4x16xi32>) maps [{{.*}}] attributes {lhs_unsigned} {
func.func @widened(%x: tensor<4x8xi8>, %w: tensor<8x16xi8>) -> tensor<4x16xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4x16xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<4x16xi32>) -> tensor<4x16xi32>
  %ex = tensor.empty() : tensor<4x8xi32>
  %wide = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<4x8xi8>) outs(%ex : tensor<4x8xi32>) {
  ^bb0(%l: i8, %o: i32):
    %0 = arith.extui %l : i8 to i32
    linalg.yield %0 : i32
  } -> tensor<4x8xi32>
  %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%wide, %w : tensor<4x8xi32>, tensor<8x16xi8>) outs(%z : tensor<4x16xi32>) {
  ^bb0(%l: i32, %r: i8, %o: i32):
    %0 = arith.extsi %r : i8 to i32
    %1 = arith.muli %l, %0 : i32
    %2 = arith.addi %o, %1 : i32
    linalg.yield %2 : i32
  } -> tensor<4x16xi32>
  return %p : tensor<4x16xi32>
}

// Tests that a broadcast along the batch makes the batch a dimension of columns, so that it is not repeated.
// CHECK-LABEL: func.func @broadcastFactor(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<3x8x16xf32>)
// CHECK-NOT: linalg
// CHECK: cpu.contract ins(%[[X]], %[[W]] : tensor<4x8xf32>, tensor<3x8x16xf32>) outs(%{{.*}} : tensor<3x4x16xf32>)
func.func @broadcastFactor(%x: tensor<4x8xf32>, %w: tensor<3x8x16xf32>) -> tensor<3x4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x4x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<3x4x16xf32>) -> tensor<3x4x16xf32>
  %ex = tensor.empty() : tensor<3x4x8xf32>
  %bx = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (b, c)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%x : tensor<4x8xf32>) outs(%ex : tensor<3x4x8xf32>) {
  ^bb0(%l: f32, %o: f32):
    linalg.yield %l : f32
  } -> tensor<3x4x8xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%bx, %w : tensor<3x4x8xf32>, tensor<3x8x16xf32>) outs(%z : tensor<3x4x16xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<3x4x16xf32>
  return %p : tensor<3x4x16xf32>
}

// Tests that a convolution is a product whose lhs is indexed by sums, and takes its epilogue.
// CHECK-LABEL: func.func @convolution(
// CHECK-SAME: %[[X:.*]]: tensor<2x9x9x8xf32>, %[[W:.*]]: tensor<3x3x8x16xf32>, %[[B:.*]]: tensor<16xf32>)
// CHECK-NOT: linalg
// CHECK: cpu.contract ins(%[[X]], %[[W]] : {{.*}}) extras(%[[B]] : {{.*}}) outs(%{{.*}} : tensor<2x4x4x16xf32>)
func.func @convolution(%x: tensor<2x9x9x8xf32>, %w: tensor<3x3x8x16xf32>, %b: tensor<16xf32>) -> tensor<2x4x4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4x16xf32>) -> tensor<2x4x4x16xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(n, y, x, o, i, v, u) -> (n, y * 2 + v, x * 2 + u, i)>,
                                        affine_map<(n, y, x, o, i, v, u) -> (v, u, i, o)>,
                                        affine_map<(n, y, x, o, i, v, u) -> (n, y, x, o)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
    ins(%x, %w : tensor<2x9x9x8xf32>, tensor<3x3x8x16xf32>) outs(%z : tensor<2x4x4x16xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x4x4x16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n, y, x, o) -> (n, y, x, o)>, affine_map<(n, y, x, o) -> (o)>, affine_map<(n, y, x, o) -> (n, y, x, o)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%p, %b : tensor<2x4x4x16xf32>, tensor<16xf32>) outs(%e : tensor<2x4x4x16xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %0 = arith.addf %l, %r : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x4x16xf32>
  return %y : tensor<2x4x4x16xf32>
}

// Tests that a convolution of each channel for itself, which has no columns to share, stays linalg.
// CHECK-LABEL: func.func @depthwise(
// CHECK-NOT: cpu.contract
func.func @depthwise(%x: tensor<2x9x8xf32>, %w: tensor<3x8xf32>, %z: tensor<2x7x8xf32>) -> tensor<2x7x8xf32> {
  %p = linalg.generic {indexing_maps = [affine_map<(n, y, c, v) -> (n, y + v, c)>, affine_map<(n, y, c, v) -> (v, c)>, affine_map<(n, y, c, v) -> (n, y, c)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<2x9x8xf32>, tensor<3x8xf32>) outs(%z : tensor<2x7x8xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x7x8xf32>
  return %p : tensor<2x7x8xf32>
}

// Tests that a dot product of two vectors stays a reduction.
// CHECK-LABEL: func.func @dot(
// CHECK-NOT: cpu.contract
func.func @dot(%x: tensor<8xf32>, %y: tensor<8xf32>, %z: tensor<f32>) -> tensor<f32> {
  %p = linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]}
    ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%z : tensor<f32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  return %p : tensor<f32>
}

// Tests that a remark says why a product is not taken.
// CHECK-LABEL: func.func @refused(
// CHECK-NOT: cpu.contract
func.func @refused(%x: tensor<4x8xf8E5M2>, %w: tensor<8x16xf8E5M2>, %z: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // expected-remark @below {{this product is not compiled to matrix kernels, because there are none for 'f8E5M2' times 'f8E5M2' into 'f32'}}
  %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<4x8xf8E5M2>, tensor<8x16xf8E5M2>) outs(%z : tensor<4x16xf32>) {
  ^bb0(%l: f8E5M2, %r: f8E5M2, %o: f32):
    %0 = arith.extf %l : f8E5M2 to f32
    %1 = arith.extf %r : f8E5M2 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<4x16xf32>
  return %p : tensor<4x16xf32>
}

// Tests dynamic extents: the destination has the result's, the epilogue is fused, and the result is computed in the shape that a
// reshape gives it.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32> {{.*}}, %[[W:.*]]: tensor<?x64xf32> {{.*}}, %[[R:.*]]: tensor<?x4x16xf32> {{.*}}, %[[M:.*]]: index, %[[K:.*]]: index)
// CHECK-NOT: linalg
// CHECK-DAG: %[[V:.*]] = tensor.expand_shape %[[W]] {{\[\[}}0], [1, 2]] output_shape [%[[K]], 4, 16]
// CHECK-DAG: %[[E:.*]] = tensor.empty(%[[M]]) : tensor<?x4x16xf32>
// CHECK: cpu.contract ins(%[[X]], %[[V]] : tensor<?x?xf32>, tensor<?x4x16xf32>) extras(%[[R]] : tensor<?x4x16xf32>) outs(%[[E]] : tensor<?x4x16xf32>)
// CHECK: arith.addf
func.func @dynamic(%x: tensor<?x?xf32> {plan.extents = array<i64: 3, 4>}, %w: tensor<?x64xf32> {plan.extents = array<i64: 4>},
    %r: tensor<?x4x16xf32> {plan.extents = array<i64: 3>}, %m: index, %k: index) -> tensor<?x4x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<?x?xf32>, tensor<?x64xf32>) outs(%f : tensor<?x64xf32>) {
  ^bb0(%l: f32, %q: f32, %o: f32):
    %0 = arith.mulf %l, %q : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x64xf32>
  %h = tensor.expand_shape %p [[0], [1, 2]] output_shape [%m, 4, 16] : tensor<?x64xf32> into tensor<?x4x16xf32>
  %g = tensor.empty(%m) : tensor<?x4x16xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>],
    iterator_types = ["parallel", "parallel", "parallel"]} ins(%h, %r : tensor<?x4x16xf32>, tensor<?x4x16xf32>) outs(%g : tensor<?x4x16xf32>) {
  ^bb0(%l: f32, %q: f32, %o: f32):
    %0 = arith.addf %l, %q : f32
    linalg.yield %0 : f32
  } -> tensor<?x4x16xf32>
  return %s : tensor<?x4x16xf32>
}

// Tests that a factor behind two reshapes and a permuted copy is read without the copy, where the result is reshaped, too: all of
// the dimensions are split at once, and what the consumer merges is not split again.
// CHECK-LABEL: func.func @windows(
// CHECK-SAME: %[[X:.*]]: tensor<2x2x4x2x4x64xf32>
// CHECK-NOT: linalg
// CHECK: cpu.contract ins(%[[X]],
// CHECK-NOT: linalg
func.func @windows(%x: tensor<2x2x4x2x4x64xf32>, %w: tensor<64x192xf32>) -> tensor<8x16x3x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2x2x4x4x64xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(a, b, c, d, e, f) -> (a, b, d, c, e, f)>, affine_map<(a, b, c, d, e, f) -> (a, b, c, d, e, f)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
    ins(%x : tensor<2x2x4x2x4x64xf32>) outs(%e : tensor<2x2x2x4x4x64xf32>) {
  ^bb0(%i: f32, %o: f32):
    linalg.yield %i : f32
  } -> tensor<2x2x2x4x4x64xf32>
  %c = tensor.collapse_shape %t [[0, 1, 2], [3, 4], [5]] : tensor<2x2x2x4x4x64xf32> into tensor<8x16x64xf32>
  %g = tensor.empty() : tensor<8x16x192xf32>
  %f = linalg.fill ins(%z : f32) outs(%g : tensor<8x16x192xf32>) -> tensor<8x16x192xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%c, %w : tensor<8x16x64xf32>, tensor<64x192xf32>) outs(%f : tensor<8x16x192xf32>) {
  ^bb0(%l: f32, %q: f32, %o: f32):
    %0 = arith.mulf %l, %q : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x16x192xf32>
  %h = tensor.expand_shape %p [[0], [1], [2, 3]] output_shape [8, 16, 3, 64] : tensor<8x16x192xf32> into tensor<8x16x3x64xf32>
  return %h : tensor<8x16x3x64xf32>
}
