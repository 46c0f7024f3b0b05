// RUN: latewood-opt %s | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --mlir-print-op-generic | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --emit-bytecode | latewood-opt | FileCheck %s

// Tests that operations which the specification has left keep their form.
// CHECK-LABEL: func.func @legacy(
func.func @legacy(%v: tensor<3xf32>, %m: tensor<2x3xf32>, %n: tensor<3x4xf32>, %i: tensor<5xi32>) {
  // CHECK: stablehlo.broadcast %{{.*}}, sizes = [1, 2] : (tensor<3xf32>) -> tensor<1x2x3xf32>
  %0 = stablehlo.broadcast %v, sizes = [1, 2] : (tensor<3xf32>) -> tensor<1x2x3xf32>
  // CHECK: stablehlo.dot %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = stablehlo.dot %m, %n : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  // CHECK: stablehlo.dot %{{.*}}, %{{.*}}, precision = [HIGHEST, DEFAULT] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %2 = "stablehlo.dot"(%v, %v) {precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]} : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  // CHECK: stablehlo.einsum %{{.*}}, %{{.*}}, config = "ab,bc->ac" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %3 = "stablehlo.einsum"(%m, %n) {einsum_config = "ab,bc->ac"} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  // CHECK: stablehlo.unary_einsum %{{.*}}, config = "...a->..." : (tensor<2x3xf32>) -> tensor<2xf32>
  %4 = stablehlo.unary_einsum %m, config = "...a->..." : (tensor<2x3xf32>) -> tensor<2xf32>
  // CHECK: "stablehlo.torch_index_select"(%{{.*}}, %{{.*}}) <{batch_dims = 0 : i64, dim = 1 : i64}> : (tensor<2x3xf32>, tensor<5xi32>) -> tensor<2x5xf32>
  %5 = "stablehlo.torch_index_select"(%m, %i) {dim = 1 : i64, batch_dims = 0 : i64} : (tensor<2x3xf32>, tensor<5xi32>) -> tensor<2x5xf32>
  // CHECK: stablehlo.trace %{{.*}}, "here" : tensor<2x3xf32>
  stablehlo.trace %m, "here" : tensor<2x3xf32>
  // CHECK: "stablehlo.cross-replica-sum"(%{{.*}}) <{replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>}> : (tensor<3xf32>) -> tensor<3xf32>
  %6 = "stablehlo.cross-replica-sum"(%v) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// Tests asynchronous operations and reductions to one process.
// CHECK-LABEL: func.func @asynchronous(
func.func @asynchronous(%x: tensor<8x2xf32>) -> tensor<4x2xf32> {
  // CHECK: %[[F:.*]] = "stablehlo.async_start"(%{{.*}}) ({
  // CHECK: }) : (tensor<8x2xf32>) -> !stablehlo.future<tensor<4x2xf32>>
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%y: tensor<8x2xf32>):
    %1 = stablehlo.slice %y [0:4, 0:2] : (tensor<8x2xf32>) -> tensor<4x2xf32>
    stablehlo.return %1 : tensor<4x2xf32>
  }) : (tensor<8x2xf32>) -> !stablehlo.future<tensor<4x2xf32>>
  // CHECK: "stablehlo.async_done"(%[[F]]) : (!stablehlo.future<tensor<4x2xf32>>) -> tensor<4x2xf32>
  %2 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4x2xf32>>) -> tensor<4x2xf32>
  // CHECK: "stablehlo.collective_reduce"(%{{.*}}) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({
  %3 = "stablehlo.collective_reduce"(%2) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %4 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }) {replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return %3 : tensor<4x2xf32>
}
