// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: latewood-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(latewood-fuse-elementwise))' | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// Tests that a chain of elementwise operations becomes one, with its splat constant as a scalar.
// CHECK-LABEL: func @chain
// CHECK: linalg.generic
// CHECK: arith.addf
// CHECK-NEXT: math.exp
// CHECK-NEXT: linalg.yield
// CHECK-NOT: linalg.generic
func.func @chain(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %one = arith.constant dense<1.0> : tensor<8x64xf32>
  %e = tensor.empty() : tensor<8x64xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %one : tensor<8x64xf32>, tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<8x64xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<8x64xf32>
  return %1 : tensor<8x64xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Tests that a costly value with two users is computed once.
// CHECK-LABEL: func @two_users
// CHECK-COUNT-1: math.exp
// CHECK-NOT: math.exp
func.func @two_users(%x: tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {
  %e = tensor.empty() : tensor<8x64xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<8x64xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<8x64xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.mulf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<8x64xf32>
  return %1, %2 : tensor<8x64xf32>, tensor<8x64xf32>
}

// -----

// Tests that a product takes in a transposition, and nothing else.
// CHECK-LABEL: func @product
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: linalg.generic {indexing_maps = [#[[A:.+]], #[[B:.+]], #[[C:.+]]], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: linalg.yield
// CHECK-NOT: linalg.transpose
func.func @product(%x: tensor<8x16xf32>, %y: tensor<32x16xf32>, %acc: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %e = tensor.empty() : tensor<8x16xf32>
  %t = tensor.empty() : tensor<16x32xf32>
  %0 = linalg.exp ins(%x : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = linalg.transpose ins(%y : tensor<32x16xf32>) outs(%t : tensor<16x32xf32>) permutation = [1, 0]
  %2 = linalg.matmul ins(%0, %1 : tensor<8x16xf32>, tensor<16x32xf32>) outs(%acc : tensor<8x32xf32>) -> tensor<8x32xf32>
  return %2 : tensor<8x32xf32>
}

// -----

// Tests that a dimension of extent 1, kept by a reduction and dropped again, is a zero in the indexing map.
// CHECK-DAG: #[[ZERO:.+]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-LABEL: func @unit
// CHECK-NOT: tensor.collapse_shape
// CHECK: linalg.generic {indexing_maps = [#{{.+}}, #[[ZERO]], #{{.+}}]
func.func @unit(%x: tensor<8x64xf32>, %m: tensor<8x1xf32>) -> tensor<8x64xf32> {
  %c = tensor.collapse_shape %m [[0, 1]] : tensor<8x1xf32> into tensor<8xf32>
  %e = tensor.empty() : tensor<8x64xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x, %c : tensor<8x64xf32>, tensor<8xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

// Tests that an operation that combines with what is in its destination is not taken for an elementwise one: the sum keeps its
// own loops.
// CHECK-LABEL: func.func @window_of_one(
func.func @window_of_one(%a: tensor<64xi32>, %init: tensor<64xi32>, %zero: tensor<i64>) -> tensor<i64> {
  // CHECK: %[[MAX:.*]] = linalg.generic {{.*}} iterator_types = ["parallel"]}
  // CHECK: arith.maxsi
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : tensor<64xi32>) outs(%init : tensor<64xi32>) {
  ^bb0(%in: i32, %out: i32):
    %2 = arith.maxsi %out, %in : i32
    linalg.yield %2 : i32
  } -> tensor<64xi32>
  // CHECK: linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%[[MAX]] : tensor<64xi32>)
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%0 : tensor<64xi32>) outs(%zero : tensor<i64>) {
  ^bb0(%in: i32, %out: i64):
    %2 = arith.extsi %in : i32 to i64
    %3 = arith.addi %out, %2 : i64
    linalg.yield %3 : i64
  } -> tensor<i64>
  return %1 : tensor<i64>
}
