// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: latewood-opt %s --split-input-file --latewood-flatten-values | FileCheck %s

// Tests that tuples and tokens leave signatures, and that attributes stay with their values.
// CHECK-LABEL: func @signature
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32> {test.name = "x"}, %[[A:.+]]: tensor<2xi32>, %[[B:.+]]: tensor<3xi32>) -> (tensor<3xi32>, tensor<4xf32> {test.name = "y"})
// CHECK-NEXT: return %[[B]], %[[X]]
func.func @signature(%token: !stablehlo.token {test.name = "t"}, %x: tensor<4xf32> {test.name = "x"}, %pair: tuple<tensor<2xi32>, tuple<!stablehlo.token, tensor<3xi32>>>)
    -> (tuple<!stablehlo.token, tensor<3xi32>>, tensor<4xf32> {test.name = "y"}) {
  %0 = stablehlo.get_tuple_element %pair[1] : (tuple<tensor<2xi32>, tuple<!stablehlo.token, tensor<3xi32>>>) -> tuple<!stablehlo.token, tensor<3xi32>>
  return %0, %x : tuple<!stablehlo.token, tensor<3xi32>>, tensor<4xf32>
}

// -----

// Tests that loops and branches carry the tensors alone.
// CHECK-LABEL: func @control_flow
// CHECK: %[[LOOP:.+]] = stablehlo.while(%[[X:.+]] = %{{.+}}) : tensor<f32>
// CHECK: stablehlo.compare{{.+}}%[[X]]
// CHECK: %[[NEXT:.+]] = stablehlo.add %[[X]], %[[X]]
// CHECK: stablehlo.return %[[NEXT]] : tensor<f32>
// CHECK: %[[BRANCH:.+]] = "stablehlo.if"
// CHECK: stablehlo.return %[[LOOP]] : tensor<f32>
// CHECK: stablehlo.optimization_barrier %[[BRANCH]] : tensor<f32>
// CHECK-NOT: token
func.func @control_flow(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
  %token = stablehlo.create_token : !stablehlo.token
  %0:2 = stablehlo.while(%t = %token, %a = %x) : !stablehlo.token, tensor<f32>
  cond {
    %c = stablehlo.compare LT, %a, %x : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %s = stablehlo.add %a, %a : tensor<f32>
    %u = stablehlo.after_all %t : !stablehlo.token
    stablehlo.return %u, %s : !stablehlo.token, tensor<f32>
  }
  %1:2 = "stablehlo.if"(%p) ({
    stablehlo.return %0#1, %0#0 : tensor<f32>, !stablehlo.token
  }, {
    stablehlo.return %x, %token : tensor<f32>, !stablehlo.token
  }) : (tensor<i1>) -> (tensor<f32>, !stablehlo.token)
  %2:2 = stablehlo.optimization_barrier %1#0, %1#1 : tensor<f32>, !stablehlo.token
  return %2#0 : tensor<f32>
}
