// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: latewood-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(latewood-form-groups))' | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Tests that a softmax is one group over its rows, with one input and one destination.
// CHECK-LABEL: func @softmax
// CHECK: cpu.group ins(%{{.+}} : tensor<64x128xf32>) outs(%{{.+}} : tensor<64x128xf32>)
// CHECK-COUNT-6: cpu.rows = array<i64: 0>
// CHECK: cpu.group_yield
// CHECK-NOT: linalg.generic
func.func @softmax(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %r = tensor.empty() : tensor<64xf32>
  %e = tensor.empty() : tensor<64x128xf32>
  %f0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%r : tensor<64xf32>) {
  ^bb0(%o: f32):
    linalg.yield %low : f32
  } -> tensor<64xf32>
  %f1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%r : tensor<64xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<64xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x128xf32>) outs(%f0 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.maximumf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %exp = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %max : tensor<64x128xf32>, tensor<64xf32>) outs(%e : tensor<64x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    %t = math.exp %s : f32
    linalg.yield %t : f32
  } -> tensor<64x128xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%exp : tensor<64x128xf32>) outs(%f1 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%exp, %sum : tensor<64x128xf32>, tensor<64xf32>) outs(%e : tensor<64x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.divf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<64x128xf32>
  return %y : tensor<64x128xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Tests that a value that is also a result leaves the group beside the root.
// CHECK-LABEL: func @two_results
// CHECK: %[[G:.+]]:2 = cpu.group
// CHECK: cpu.group_yield %{{.+}}, %{{.+}} : tensor<64x128xf32>, tensor<64xf32>
// CHECK: return %[[G]]#0, %[[G]]#1
func.func @two_results(%x: tensor<64x128xf32>, %init: tensor<64xf32>) -> (tensor<64x128xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64x128xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<64x128xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%0 : tensor<64x128xf32>) outs(%init : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %0, %1 : tensor<64x128xf32>, tensor<64xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Tests that a sum over everything does not serialize a large operation that needs it.
// CHECK-LABEL: func @whole
// CHECK-COUNT-2: cpu.group ins
func.func @whole(%x: tensor<1000000xf32>, %init: tensor<f32>) -> tensor<1000000xf32> {
  %e = tensor.empty() : tensor<1000000xf32>
  %0 = linalg.generic {indexing_maps = [#id, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<1000000xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %1 = linalg.generic {indexing_maps = [#id, affine_map<(d0) -> ()>, #id], iterator_types = ["parallel"]} ins(%x, %0 : tensor<1000000xf32>, tensor<f32>) outs(%e : tensor<1000000xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.divf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<1000000xf32>
  return %1 : tensor<1000000xf32>
}
