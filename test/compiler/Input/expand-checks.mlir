// RUN: latewood-opt %s --latewood-expand-checks | FileCheck %s

// Tests that a check counts the elements that differ, and that the host asserts that there are none.
// CHECK-LABEL: func.func @integers(
// CHECK-SAME: %[[A:.*]]: tensor<2xi32>, %[[B:.*]]: tensor<2xi32>)
func.func @integers(%a: tensor<2xi32>, %b: tensor<2xi32>) {
  // CHECK: %[[NE:.*]] = stablehlo.compare NE, %[[A]], %[[B]]
  // CHECK: %[[N:.*]] = stablehlo.convert %[[NE]] : (tensor<2xi1>) -> tensor<2xi64>
  // CHECK: %[[COUNT:.*]] = stablehlo.reduce(%[[N]] init: %{{.*}}) applies stablehlo.add across dimensions = [0]
  // CHECK: %[[NONE:.*]] = stablehlo.compare EQ, %[[COUNT]]
  // CHECK: plan.assert %[[NONE]], "check.expect_eq failed: {0} of 2 elements differ"(%[[COUNT]]) : tensor<i1>, tensor<i64>
  check.expect_eq %a, %b : tensor<2xi32>
  return
}

// Tests that floats of which both are NaN are equal, and that the custom calls of exported programs are checks, too.
// CHECK-LABEL: func.func @floats(
// CHECK-SAME: %[[A:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<2xf32>)
func.func @floats(%a: tensor<2xf32>, %b: tensor<2xf32>) {
  // CHECK-DAG: stablehlo.compare NE, %[[A]], %[[B]]
  // CHECK-DAG: stablehlo.compare NE, %[[A]], %[[A]]
  // CHECK-DAG: stablehlo.compare NE, %[[B]], %[[B]]
  // CHECK: plan.assert %{{.*}}, "check.expect_eq failed
  // CHECK-NOT: stablehlo.custom_call
  stablehlo.custom_call @check.expect_eq(%a, %b) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
  return
}
