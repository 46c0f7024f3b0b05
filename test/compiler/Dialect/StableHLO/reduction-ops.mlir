// RUN: latewood-opt %s | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --mlir-print-op-generic --mlir-print-debuginfo | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --emit-bytecode | latewood-opt | FileCheck %s

// Ops with a combining or comparing region, in pretty and generic form and through bytecode.

// Tests that a reducer of one op is written compactly.
// CHECK-LABEL: func.func @compact(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[C:.*]]: tensor<f32>)
func.func @compact(%x: tensor<4x8xf32>, %c: tensor<f32>) -> tensor<4xf32> {
  // CHECK: stablehlo.reduce(%[[X]] init: %[[C]]) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Tests that a reducer whose operands are swapped is written in full.
// CHECK-LABEL: func.func @swapped(
func.func @swapped(%x: tensor<4x8xf32>, %c: tensor<f32>) -> tensor<4xf32> {
  // CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}) across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: reducer(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>)
  // CHECK-NEXT: stablehlo.subtract %[[B]], %[[A]] : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %1 = stablehlo.subtract %b, %a : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }
  return %0 : tensor<4xf32>
}

// Tests that a reduction of several tensors pairs the arguments of its reducer.
// CHECK-LABEL: func.func @variadic(
func.func @variadic(%x: tensor<4x8xf32>, %i: tensor<4x8xi32>, %c: tensor<f32>, %d: tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>) {
  // CHECK: %{{.*}}:2 = stablehlo.reduce(%{{.*}} init: %{{.*}}), (%{{.*}} init: %{{.*}}) across dimensions = [1]
  // CHECK-NEXT: reducer(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>) (%[[I:.*]]: tensor<i32>, %[[J:.*]]: tensor<i32>)
  %0:2 = stablehlo.reduce(%x init: %c), (%i init: %d) across dimensions = [1] : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>) {
    // CHECK-NEXT: stablehlo.compare GE, %[[A]], %[[B]], FLOAT
    // CHECK-NEXT: stablehlo.select %{{.*}}, %[[I]], %[[J]]
    %p = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %n = stablehlo.select %p, %j, %k : tensor<i1>, tensor<i32>
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m, %n : tensor<f32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi32>
}

// Tests that a reduction may accumulate in a wider type.
// CHECK-LABEL: func.func @promoted(
func.func @promoted(%x: tensor<4x8xbf16>, %c: tensor<bf16>) -> tensor<4xf32> {
  // CHECK: (tensor<4x8xbf16>, tensor<bf16>) -> tensor<4xf32>
  %0 = stablehlo.reduce(%x init: %c) across dimensions = [1] : (tensor<4x8xbf16>, tensor<bf16>) -> tensor<4xf32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }
  return %0 : tensor<4xf32>
}

// Tests that reduce_window, select_and_scatter, map and sort keep their attributes and regions.
// CHECK-LABEL: func.func @windows(
func.func @windows(%x: tensor<4x8xf32>, %c: tensor<f32>, %s: tensor<2x4xf32>) {
  // CHECK: "stablehlo.reduce_window"(%{{.*}}, %{{.*}}) <{padding = dense<{{.*}}> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>}> ({
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>):
  // CHECK-NEXT: stablehlo.maximum %[[A]], %[[B]]
  // CHECK: (tensor<4x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %0 = "stablehlo.reduce_window"(%x, %c) <{padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  // CHECK: "stablehlo.select_and_scatter"(%{{.*}}, %{{.*}}, %{{.*}}) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  // CHECK: stablehlo.compare GE
  // CHECK: stablehlo.add
  // CHECK: (tensor<4x8xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = "stablehlo.select_and_scatter"(%x, %s, %c) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<4x8xf32>
  // CHECK: "stablehlo.map"(%{{.*}}) <{dimensions = array<i64: 0, 1>}> ({
  // CHECK: (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = "stablehlo.map"(%x) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>):
    %m = stablehlo.negate %a : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: "stablehlo.sort"(%{{.*}}) <{dimension = -1 : i64, is_stable = true}> ({
  // CHECK: (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = "stablehlo.sort"(%x) <{dimension = -1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}
