// RUN: latewood-opt %s --latewood-create-shape-functions | FileCheck %s

// Tests that extents of arguments and integers in arguments make a shape function, that it makes the assertions that it can, and
// that a result whose extent an engine computes is marked.
// CHECK-LABEL: func.func public @main(
// CHECK-SAME: -> (tensor<?x4xf32>, tensor<?xf32>, tensor<?xf32> {plan.data_dependent}, tensor<2xf32>)
// CHECK-SAME: plan.shape_function = @main.shapes
func.func public @main(%x: tensor<?x4xf32>, %k: tensor<i64>) -> (tensor<?x4xf32>, tensor<?xf32>, tensor<?xf32>, tensor<2xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %xs = plan.with_shape %x(%n) : tensor<?x4xf32>
  %e = tensor.extract %k[] : tensor<i64>
  %i = arith.index_cast %e : i64 to index
  %ok = arith.cmpi sge, %i, %c0 : index
  plan.assert %ok, "{0} is negative"(%i) : i1, index
  %shape = tensor.empty() : tensor<1xindex>
  %s = plan.with_values %shape(%i) : tensor<1xindex>, index
  %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xindex>) -> tensor<?xf32>
  %1 = plan.with_shape %0(%i) : tensor<?xf32>
  %c = stablehlo.constant dense<3> : tensor<i64>
  %m = stablehlo.add %k, %c : tensor<i64>
  %f = tensor.extract %m[] : tensor<i64>
  %j = arith.index_cast %f : i64 to index
  %t = plan.with_values %shape(%j) : tensor<1xindex>, index
  %2 = stablehlo.dynamic_iota %t, dim = 0 : (tensor<1xindex>) -> tensor<?xf32>
  %3 = plan.with_shape %2(%j) : tensor<?xf32>
  %4 = stablehlo.constant dense<1.0> : tensor<2xf32>
  return %xs, %1, %3, %4 : tensor<?x4xf32>, tensor<?xf32>, tensor<?xf32>, tensor<2xf32>
}

// CHECK: func.func @main.shapes(%[[X:.*]]: tensor<?x4xf32>, %[[K:.*]]: tensor<i64>) -> (tensor<2xi64>, tensor<1xi64>)
// CHECK: %[[N:.*]] = tensor.dim %[[X]]
// CHECK: %[[E:.*]] = tensor.extract %[[K]][]
// CHECK: plan.assert %{{.*}}, "{0} is negative"
// CHECK-NOT: stablehlo
// CHECK: arith.index_cast %[[N]] : index to i64
// CHECK: tensor.insert
// CHECK: tensor.insert
// CHECK: tensor.insert
// CHECK: return
