// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: latewood-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(latewood-split-reductions,canonicalize,cse))' | FileCheck %s

// Tests that the sum of a vector of unknown length becomes sums of parts of a fixed length, as many as there are, and
// that what is left over is summed first.
// CHECK: #[[PART:.+]] = affine_map<(d0, d1) -> (d1 * 8192 + d0)>
// CHECK-LABEL: func @sum
// CHECK-SAME: %[[N:[^ ,:]+]]: index, %[[X:[^ ,:]+]]: tensor<?xf32>
// CHECK: %[[PARTS:.+]] = arith.divui %[[N]], %c8192 : index
// CHECK: %[[DONE:.+]] = arith.muli %[[PARTS]], %c8192 : index
// CHECK: %[[MINUS:.+]] = arith.muli %[[PARTS]], %c-8192 : index
// CHECK: %[[LEFT:.+]] = arith.addi %[[N]], %[[MINUS]]
// CHECK: %[[SLICE:.+]] = tensor.extract_slice %[[X]][%[[DONE]]] [%[[LEFT]]] [1]
// CHECK: %[[REST:.+]] = linalg.generic {{.+}} iterator_types = ["reduction"]} ins(%[[SLICE]]
// CHECK: tensor.empty(%[[PARTS]]) : tensor<?xf32>
// CHECK: %[[SUMS:.+]] = linalg.generic {indexing_maps = [#[[PART]],
// CHECK: linalg.generic {{.+}} iterator_types = ["reduction"]} ins(%[[SUMS]] : tensor<?xf32>) outs(%[[REST]] : tensor<f32>)
func.func @sum(%n: index, %x: tensor<?xf32> {plan.extents = array<i64: 0>}, %init: tensor<f32>) -> tensor<f32> {
  %sum = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<?xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %c, %a fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %sum : tensor<f32>
}

// -----

// Tests that a row for each task is enough.
// CHECK-LABEL: func @rows
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
func.func @rows(%n: index, %m: index, %x: tensor<?x?xf32> {plan.extents = array<i64: 0, 1>}, %init: tensor<?xf32> {plan.extents = array<i64: 0>}) -> tensor<?xf32> {
  %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%init : tensor<?xf32>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %c, %a fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %sum : tensor<?xf32>
}
