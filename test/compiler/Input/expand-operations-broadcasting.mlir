// RUN: latewood-opt %s --latewood-expand-operations --split-input-file | FileCheck %s

// Tests that extents that are not known are broadcast to whichever is not 1.
// CHECK-LABEL: func.func @both_dynamic(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<?xf32>
// CHECK-DAG: %[[N:.*]] = stablehlo.get_dimension_size %[[X]], dim = 0
// CHECK-DAG: %[[M:.*]] = stablehlo.get_dimension_size %[[Y]], dim = 0
// CHECK: %[[ISONE:.*]] = stablehlo.compare EQ, %[[N]]
// CHECK: %[[EXTENT:.*]] = stablehlo.select %[[ISONE]], %[[M]], %[[N]]
// CHECK: stablehlo.dynamic_broadcast_in_dim %[[X]]
// CHECK: stablehlo.dynamic_broadcast_in_dim %[[Y]]
// CHECK: stablehlo.add
func.func @both_dynamic(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = chlo.broadcast_add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// Tests that operands of static shapes are broadcast statically.
// CHECK-LABEL: func.func @static(
// CHECK: stablehlo.broadcast_in_dim %{{.*}}, dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
// CHECK-NOT: dynamic_broadcast_in_dim
func.func @static(%x: tensor<3x4xf32>, %y: tensor<4xf32>) -> tensor<3x4xf32> {
  %0 = chlo.broadcast_multiply %x, %y : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
