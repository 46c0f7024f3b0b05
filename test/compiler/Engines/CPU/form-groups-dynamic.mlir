// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: latewood-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(latewood-form-groups,cse))' | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Tests that a row maximum and what is done with it are one group, over rows of unknown number and length; extents of
// tensors inside are operands of the group.
// CHECK-LABEL: func @rows
// CHECK-SAME: %[[N:[^ ,:]+]]: index, %[[M:[^ ,:]+]]: index
// CHECK: cpu.group ins(%[[N]], %{{.+}} : index, tensor<?x?xf32>) outs(%{{.+}} : tensor<?x?xf32>)
// CHECK: ^bb0(%[[INSIDE:[^ ,:]+]]: index, %{{.+}}: tensor<?x?xf32>, %[[OUT:[^ ,:]+]]: tensor<?x?xf32>):
// CHECK: tensor.empty(%[[INSIDE]]) : tensor<?xf32>
// CHECK: cpu.rows = array<i64: 0>
// CHECK: cpu.rows = array<i64: 0>
// CHECK: outs(%[[OUT]] : tensor<?x?xf32>)
// CHECK-NOT: cpu.group ins
func.func @rows(%n: index, %m: index, %x: tensor<?x?xf32> {plan.extents = array<i64: 0, 1>}) -> tensor<?x?xf32> {
  %ninf = arith.constant 0xFF800000 : f32
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %e1 = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e1 : tensor<?xf32>) {
  ^bb0(%c: f32):
    linalg.yield %ninf : f32
  } -> tensor<?xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.maximumf %c, %a : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %max : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// Tests that a vector of unknown length is no row: its sum is a group of its own, which can use all threads.
// CHECK-LABEL: func @vector
// CHECK-COUNT-2: cpu.group ins
func.func @vector(%n: index, %x: tensor<?xf32> {plan.extents = array<i64: 0>}) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %e0 = tensor.empty() : tensor<f32>
  %f = linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%e0 : tensor<f32>) {
  ^bb0(%c: f32):
    linalg.yield %zero : f32
  } -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<?xf32>) outs(%f : tensor<f32>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %c, %a fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x, %sum : tensor<?xf32>, tensor<f32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
