// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: latewood-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(latewood-form-groups,latewood-place-results),latewood-bufferize-clusters,func.func(cse,canonicalize))' | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// Tests that a result is computed in its destination, also through a reshape, and that nothing is returned.
// CHECK-LABEL: func @in_place
// CHECK-SAME: (%[[X:.+]]: memref<8x64xf32>, %[[OUT:.+]]: memref<512xf32> {plan.out})
// CHECK-NOT: memref.alloc
// CHECK: %[[VIEW:.+]] = memref.expand_shape %[[OUT]]
// CHECK: cpu.group ins(%[[X]] : memref<8x64xf32>) outs(%[[VIEW]] : memref<8x64xf32>)
// CHECK-NOT: memref.copy
// CHECK: return{{$}}
func.func @in_place(%x: tensor<8x64xf32>, %out: tensor<512xf32> {plan.out}) -> tensor<512xf32> {
  %e = tensor.empty() : tensor<8x64xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<8x64xf32>
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<8x64xf32> into tensor<512xf32>
  %2 = bufferization.materialize_in_destination %1 in %out : (tensor<512xf32>, tensor<512xf32>) -> tensor<512xf32>
  return %2 : tensor<512xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Tests that the parts of a concatenation are computed in the slices of the destination.
// CHECK-LABEL: func @concatenation
// CHECK-SAME: (%[[X:.+]]: memref<8xf32>, %[[OUT:.+]]: memref<16xf32> {plan.out})
// CHECK-NOT: memref.alloc
// CHECK-DAG: %[[A:.+]] = memref.subview %[[OUT]][0] [8] [1]
// CHECK-DAG: %[[B:.+]] = memref.subview %[[OUT]][8] [8] [1]
// CHECK-DAG: cpu.group ins(%[[X]] : memref<8xf32>) outs(%[[A]]
// CHECK-DAG: cpu.group ins(%[[X]] : memref<8xf32>) outs(%[[B]]
// CHECK-NOT: memref.copy
// CHECK: return
func.func @concatenation(%x: tensor<8xf32>, %out: tensor<16xf32> {plan.out}) -> tensor<16xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %f = tensor.empty() : tensor<16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.absf %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %2 = tensor.insert_slice %0 into %f[0] [8] [1] : tensor<8xf32> into tensor<16xf32>
  %3 = tensor.insert_slice %1 into %2[8] [8] [1] : tensor<8xf32> into tensor<16xf32>
  %4 = bufferization.materialize_in_destination %3 in %out : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  return %4 : tensor<16xf32>
}

// -----

// Tests that an input is never written: an update starts from a copy in the destination.
// CHECK-LABEL: func @update
// CHECK-SAME: (%[[X:.+]]: memref<16xf32>, %[[U:.+]]: memref<4xf32>, %[[OUT:.+]]: memref<16xf32> {plan.out})
// CHECK-NOT: memref.alloc
// CHECK: memref.copy %[[X]], %[[OUT]]
// CHECK: %[[S:.+]] = memref.subview %[[OUT]][4] [4] [1]
// CHECK: memref.copy %[[U]], %[[S]]
// CHECK-NOT: memref.copy
// CHECK: return
func.func @update(%x: tensor<16xf32>, %u: tensor<4xf32>, %out: tensor<16xf32> {plan.out}) -> tensor<16xf32> {
  %0 = tensor.insert_slice %u into %x[4] [4] [1] : tensor<4xf32> into tensor<16xf32>
  %1 = bufferization.materialize_in_destination %0 in %out : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  return %1 : tensor<16xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Tests that a value that is needed later is not overwritten: the update gets a copy of it, in the destination.
// CHECK-LABEL: func @needed_later
// CHECK-SAME: (%[[X:.+]]: memref<16xf32>, %[[U:.+]]: memref<4xf32>, %[[OUT:.+]]: memref<16xf32> {plan.out}, %[[OTHER:.+]]: memref<16xf32> {plan.out})
// CHECK: %[[A:.+]] = memref.alloc() {{.*}}: memref<16xf32>
// CHECK: cpu.group ins(%[[X]] : memref<16xf32>) outs(%[[A]] : memref<16xf32>)
// CHECK: memref.copy %[[A]], %[[OUT]]
// CHECK: %[[S:.+]] = memref.subview %[[OUT]][4] [4] [1]
// CHECK: memref.copy %[[U]], %[[S]]
// CHECK: cpu.group ins(%[[A]] : memref<16xf32>) outs(%[[OTHER]] : memref<16xf32>)
// CHECK-NOT: memref.copy
// CHECK: return
func.func @needed_later(%x: tensor<16xf32>, %u: tensor<4xf32>, %out: tensor<16xf32> {plan.out}, %other: tensor<16xf32> {plan.out}) -> (tensor<16xf32>, tensor<16xf32>) {
  %e = tensor.empty() : tensor<16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  %1 = tensor.insert_slice %u into %0[4] [4] [1] : tensor<4xf32> into tensor<16xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%0 : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.absf %a : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  %3 = bufferization.materialize_in_destination %1 in %out : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %4 = bufferization.materialize_in_destination %2 in %other : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  return %3, %4 : tensor<16xf32>, tensor<16xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Tests that a loop whose body reads the carried value element by element computes the next one in its place, in the
// destination, and that the other branch of a conditional does not count as a later use.
// CHECK-LABEL: func @carried
// CHECK-SAME: (%[[X:.+]]: memref<8xf32>, %[[P:.+]]: i1, %[[OUT:.+]]: memref<8xf32> {plan.out})
// CHECK-NOT: memref.alloc
// CHECK: memref.copy %[[X]], %[[OUT]]
// CHECK-NOT: memref.copy
// CHECK: scf.for
// CHECK: cpu.group ins(%[[A:.+]] : memref<8xf32{{.*}}>) outs(%[[A]] : memref<8xf32{{.*}}>)
// CHECK-NOT: memref.copy
// CHECK: return
func.func @carried(%x: tensor<8xf32>, %p: i1, %out: tensor<8xf32> {plan.out}) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %one = arith.constant 1.0 : f32
  %r = scf.for %i = %c0 to %c7 step %c1 iter_args(%a = %x) -> tensor<8xf32> {
    %b = scf.if %p -> tensor<8xf32> {
      %1 = tensor.insert %one into %a[%i] : tensor<8xf32>
      scf.yield %1 : tensor<8xf32>
    } else {
      scf.yield %a : tensor<8xf32>
    }
    %e = tensor.empty() : tensor<8xf32>
    %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%b : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%in: f32, %o: f32):
      %s = math.exp %in : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    scf.yield %0 : tensor<8xf32>
  }
  %m = bufferization.materialize_in_destination %r in %out : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %m : tensor<8xf32>
}

// -----

#id2 = affine_map<(a, b) -> (a, b)>

// Tests dynamic shapes: a result that ends in a reshape is computed in the reshaped destination, whose extents are arguments; no
// memref.dim is left, and two results that lie in each other's destinations go through a buffer of their shape.
// CHECK-LABEL: func @dynamic
// CHECK-SAME: (%[[N:.+]]: index, %[[M:.+]]: index, %{{.+}}: memref<?x?xf32> {{.*}}, %[[OUT:.+]]: memref<?xf32>
// CHECK-NOT: memref.dim
// CHECK-NOT: memref.alloc
// CHECK: %[[V:.+]] = memref.expand_shape %[[OUT]] {{\[\[}}0, 1]] output_shape [%[[N]], %[[M]]]
// CHECK: cpu.group {{.*}}outs(%[[V]] : memref<?x?xf32>)
// CHECK-NOT: memref.copy
// CHECK: return
func.func @dynamic(%n: index, %m: index, %x: tensor<?x?xf32> {plan.extents = array<i64: 0, 1>}, %out: tensor<?xf32> {plan.extents = array<i64: 4>, plan.out}, %p: index) -> tensor<?xf32> {
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %a : f32
    linalg.yield %0 : f32
  } -> tensor<?x?xf32>
  %c = tensor.collapse_shape %y [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %r = bufferization.materialize_in_destination %c in %out : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// CHECK-LABEL: func @crosswise
// CHECK-SAME: (%[[N:.+]]: index, %[[A:.+]]: memref<?xf32> {{.*}}, %[[B:.+]]: memref<?xf32>
// CHECK: %[[T:.+]] = memref.alloc(%[[N]]) : memref<?xf32>
// CHECK: memref.copy %[[B]], %[[T]]
// CHECK: memref.copy %[[A]], %[[B]]
// CHECK: memref.copy %[[T]], %[[A]]
func.func @crosswise(%n: index, %a: tensor<?xf32> {plan.extents = array<i64: 0>, plan.out}, %b: tensor<?xf32> {plan.extents = array<i64: 0>, plan.out}) -> (tensor<?xf32>, tensor<?xf32>) {
  return %b, %a : tensor<?xf32>, tensor<?xf32>
}

// -----

// Tests that branches that give parts of a tensor copy them, so that what comes behind has one layout, and that a destination of dynamic
// shape is seen as what is computed into it.
// CHECK-LABEL: func.func @parts(
// CHECK: scf.if %{{.*}} -> (memref<7xf32>)
// CHECK: memref.copy
// CHECK: scf.yield %{{.*}} : memref<7xf32>
// CHECK: memref.copy
// CHECK: scf.yield %{{.*}} : memref<7xf32>
func.func @parts(%p: i1, %x: tensor<8xf32>, %n: index, %out: tensor<?xf32> {plan.extents = array<i64: 2>, plan.out}) -> tensor<?xf32> {
  %r = scf.if %p -> tensor<7xf32> {
    %0 = tensor.extract_slice %x[0] [7] [1] : tensor<8xf32> to tensor<7xf32>
    scf.yield %0 : tensor<7xf32>
  } else {
    %0 = tensor.extract_slice %x[1] [7] [1] : tensor<8xf32> to tensor<7xf32>
    scf.yield %0 : tensor<7xf32>
  }
  %e = tensor.empty() : tensor<7xf32>
  %a = linalg.add ins(%r, %r : tensor<7xf32>, tensor<7xf32>) outs(%e : tensor<7xf32>) -> tensor<7xf32>
  %d = tensor.cast %a : tensor<7xf32> to tensor<?xf32>
  return %d : tensor<?xf32>
}
