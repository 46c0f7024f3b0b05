// RUN: latewood-opt %s --pass-pipeline='builtin.module(func.func(latewood-materialize-shapes,latewood-propagate-bounds))' | FileCheck %s --check-prefixes=SHAPES
// RUN: latewood-opt %s --pass-pipeline='builtin.module(func.func(latewood-materialize-shapes,latewood-propagate-bounds),latewood-create-shape-functions)' | FileCheck %s --check-prefixes=FUNCTIONS
// RUN: latewood-opt %s --pass-pipeline='builtin.module(func.func(latewood-materialize-shapes,latewood-propagate-bounds),latewood-create-shape-functions,func.func(latewood-form-clusters{engines=cpu}))' | FileCheck %s --check-prefixes=CLUSTERS
// RUN: latewood-opt %s --pass-pipeline='builtin.module(func.func(latewood-materialize-shapes,latewood-propagate-bounds),latewood-create-shape-functions,func.func(latewood-form-clusters{engines=cpu},latewood-create-closed-regions))' | FileCheck %s --check-prefixes=CLOSED
// RUN: latewood-opt %s --pass-pipeline='builtin.module(func.func(latewood-materialize-shapes,latewood-propagate-bounds),latewood-create-shape-functions,func.func(latewood-form-clusters{engines=cpu},latewood-create-closed-regions),latewood-outline-clusters)' | FileCheck %s --check-prefixes=OUTLINED

// Tests what each pass of phase Cluster makes of a dynamic program: a result whose shape follows from an argument's, and one whose
// length is computed from data, in a later cluster.

// SHAPES-LABEL: func.func public @main(
// SHAPES-SAME: %[[X:.*]]: tensor<?xf32> {plan.bounds = #plan.bounds<min = [1], opt = [8], max = [64]>})
// SHAPES-SAME: -> (tensor<?xf32> {plan.bounds = #plan.bounds<min = [2], opt = [16], max = [128]>}, tensor<?xf32>)
// SHAPES: %[[N:.*]] = tensor.dim %[[X]]
// SHAPES: %[[XS:.*]] = plan.with_shape %[[X]](%[[N]])
// SHAPES: %[[M:.*]] = arith.addi %[[N]], %[[N]]
// SHAPES: stablehlo.concatenate %[[XS]], %[[XS]]
// SHAPES: plan.with_shape %{{.*}}(%[[M]]) {plan.bounds = #plan.bounds<min = [2], opt = [16], max = [128]>}
// SHAPES: %[[COUNT:.*]] = stablehlo.convert {{.*}} -> tensor<i32>
// SHAPES: %[[K:.*]] = tensor.extract %[[COUNT]][]
// SHAPES: %[[KX:.*]] = arith.index_cast %[[K]]
// SHAPES: stablehlo.real_dynamic_slice
// SHAPES: plan.with_shape %{{.*}}(%[[KX]])

// FUNCTIONS-LABEL: func.func public @main(
// FUNCTIONS-SAME: tensor<?xf32> {plan.data_dependent})
// FUNCTIONS-SAME: plan.shape_function = @main.shapes
// FUNCTIONS: func.func @main.shapes(%[[X:.*]]: tensor<?xf32> {{.*}}) -> tensor<1xi64>
// FUNCTIONS: %[[N:.*]] = tensor.dim %[[X]]
// FUNCTIONS: %[[M:.*]] = arith.addi %[[N]], %[[N]]
// FUNCTIONS: %[[I:.*]] = arith.index_cast %[[M]] : index to i64
// FUNCTIONS: %[[S:.*]] = tensor.insert %[[I]] into
// FUNCTIONS: return %[[S]]

// CLUSTERS-LABEL: func.func public @main(
// CLUSTERS: %[[N:.*]] = tensor.dim
// CLUSTERS: %[[M:.*]] = arith.addi %[[N]], %[[N]]
// CLUSTERS: %[[FIRST:.*]]:2 = plan.cluster target(#plan.cpu_engine) -> tensor<?xf32>, tensor<i32> {
// CLUSTERS:   stablehlo.concatenate
// CLUSTERS:   stablehlo.reduce
// CLUSTERS: }
// CLUSTERS: plan.with_shape %[[FIRST]]#0(%[[M]])
// CLUSTERS: %[[K:.*]] = tensor.extract %[[FIRST]]#1[]
// CLUSTERS: %[[KX:.*]] = arith.index_cast %[[K]]
// CLUSTERS: plan.assert
// CLUSTERS: %[[SECOND:.*]] = plan.cluster target(#plan.cpu_engine) -> tensor<?xf32> {
// CLUSTERS:   stablehlo.real_dynamic_slice
// CLUSTERS: }
// CLUSTERS: plan.with_shape %[[SECOND]](%[[KX]])

// CLOSED-LABEL: func.func public @main(
// CLOSED: %[[D0:.*]] = tensor.empty(%{{.*}}) : tensor<?xf32>
// CLOSED: %[[D1:.*]] = tensor.empty() : tensor<i32>
// CLOSED: plan.dps_cluster target(#plan.cpu_engine) ins({{.*}}) outs(%[[D0]], %[[D1]] : tensor<?xf32>, tensor<i32>)
// CLOSED: } {extents = [
// CLOSED: %[[D2:.*]] = tensor.empty(%{{.*}}) : tensor<?xf32>
// CLOSED: plan.dps_cluster target(#plan.cpu_engine) ins({{.*}}) outs(%[[D2]] : tensor<?xf32>)

// OUTLINED: func.func @main_cluster_0(
// OUTLINED-SAME: tensor<?xf32> {plan.bounds = #plan.bounds<min = [1], opt = [8], max = [64]>, plan.extents = array<i64: {{[0-9]+}}>}
// OUTLINED-SAME: tensor<?xf32> {plan.bounds = #plan.bounds<min = [2], opt = [16], max = [128]>, plan.extents = array<i64: {{[0-9]+}}>, plan.out}
// OUTLINED: func.func @main_cluster_1(
// OUTLINED-LABEL: func.func public @main(
// OUTLINED: %[[R:.*]]:2 = plan.call @cpu::@main_cluster_0(
// OUTLINED: tensor.extract %[[R]]#1[]
// OUTLINED: plan.call @cpu::@main_cluster_1(
func.func public @main(%x: tensor<?xf32> {plan.bounds = #plan.bounds<min = [1], opt = [8], max = [64]>})
    -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<?xf32>, tensor<f32>) -> tensor<f32>
  %2 = stablehlo.convert %1 : (tensor<f32>) -> tensor<i32>
  %3 = stablehlo.reshape %2 : (tensor<i32>) -> tensor<1xi32>
  %c0 = stablehlo.constant dense<0> : tensor<1xi32>
  %c1 = stablehlo.constant dense<1> : tensor<1xi32>
  %4 = stablehlo.real_dynamic_slice %x, %c0, %3, %c1 : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return %0, %4 : tensor<?xf32>, tensor<?xf32>
}
