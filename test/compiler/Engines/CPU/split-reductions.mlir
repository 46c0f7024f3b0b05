// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: latewood-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(latewood-split-reductions))' | FileCheck %s

// Tests that a sum over everything becomes partial sums of equal parts, from the identity, and their sum, from the initial value.
// CHECK-DAG: #[[PART:.+]] = affine_map<(d0, d1) -> (d1 * 65536 + d0)>
// CHECK-LABEL: func @sum
// CHECK-SAME: %[[INIT:[^:]+]]: tensor<f32>)
// CHECK: %[[P:.+]] = linalg.generic {indexing_maps = [#[[PART]], {{.+}}], iterator_types = ["reduction", "parallel"]} ins(%{{.+}}, %{{.+}} : tensor<16777216xf32>, tensor<65536xi8>) outs(%{{.+}} : tensor<256xf32>)
// CHECK: linalg.generic {{.+}} iterator_types = ["reduction"]} ins(%[[P]] : tensor<256xf32>) outs(%[[INIT]] : tensor<f32>)
func.func @sum(%x: tensor<16777216xf32>, %init: tensor<f32>) -> tensor<f32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<16777216xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Tests that a sum whose order is fixed stays one.
// CHECK-LABEL: func @ordered
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
func.func @ordered(%x: tensor<16777216xf32>, %init: tensor<f32>) -> tensor<f32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<16777216xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Tests that a reduction with rows enough for the threads stays one.
// CHECK-LABEL: func @rows
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
func.func @rows(%x: tensor<64x262144xf32>, %init: tensor<64xf32>) -> tensor<64xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x262144xf32>) outs(%init : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
