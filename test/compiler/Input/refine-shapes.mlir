// RUN: latewood-opt %s --pass-pipeline='builtin.module(func.func(latewood-refine-shapes))' --split-input-file | FileCheck %s

// Tests that a constant shape makes the result's type, and what is computed from it, static; also what the function
// returns.
// CHECK-LABEL: func.func @constant_shape(
// CHECK-SAME: -> tensor<4x8xf32>
func.func @constant_shape(%x: tensor<f32>) -> tensor<?x?xf32> {
  %s = stablehlo.constant dense<[4, 8]> : tensor<2xi32>
  // CHECK: stablehlo.dynamic_broadcast_in_dim {{.*}} -> tensor<4x8xf32>
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
  // CHECK: stablehlo.tanh %{{.*}} : tensor<4x8xf32>
  %1 = stablehlo.tanh %0 : tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// -----

// Tests that one extent may be known where another is not.
// CHECK-LABEL: func.func @half_known(
func.func @half_known(%x: tensor<?x4xf32>) -> tensor<?x?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x4xf32>) -> tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %k = stablehlo.multiply %m, %two : tensor<i32>
  %a = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %b = stablehlo.reshape %k : (tensor<i32>) -> tensor<1xi32>
  %s = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  // CHECK: stablehlo.dynamic_iota {{.*}} -> tensor<?x8xf32>
  %0 = stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// Tests that computed paddings, limits and sizes that are constant give extents.
// CHECK-LABEL: func.func @amounts(
// CHECK-SAME: -> (tensor<9xf32>, tensor<3xf32>)
func.func @amounts(%x: tensor<4xf32>, %v: tensor<f32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  // CHECK: stablehlo.dynamic_pad {{.*}} -> tensor<9xf32>
  %0 = stablehlo.dynamic_pad %x, %v, %one, %one, %one : (tensor<4xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  // CHECK: stablehlo.real_dynamic_slice {{.*}} -> tensor<3xf32>
  %1 = stablehlo.real_dynamic_slice %x, %one, %four, %one : (tensor<4xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}

// -----

// Tests that a loop carries what its body gives back: the second value changes its type, and stays dynamic.
// CHECK-LABEL: func.func @loop(
func.func @loop(%n: tensor<i32>, %x: tensor<4xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %a = stablehlo.convert %x : (tensor<4xf32>) -> tensor<?xf32>
  // CHECK: %[[DYNAMIC:.*]] = stablehlo.convert %{{.*}} : (tensor<4xf32>) -> tensor<?xf32>
  // CHECK: stablehlo.while(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %[[DYNAMIC]]) : tensor<i32>, tensor<4xf32>, tensor<?xf32>
  %0:3 = stablehlo.while(%i = %n, %p = %a, %q = %a) : tensor<i32>, tensor<?xf32>, tensor<?xf32> cond {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %go = stablehlo.compare GT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.subtract %i, %one : tensor<i32>
    // CHECK: stablehlo.sine %{{.*}} : tensor<4xf32>
    %s = stablehlo.sine %p : tensor<?xf32>
    stablehlo.return %j, %s, %y : tensor<i32>, tensor<?xf32>, tensor<?xf32>
  }
  return %0#1, %0#2 : tensor<?xf32>, tensor<?xf32>
}

// -----

// Tests that branches give what all of them give.
// CHECK-LABEL: func.func @branches(
// CHECK-SAME: -> tensor<4xf32>
func.func @branches(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<?xf32> {
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<?xf32>
    stablehlo.return %1 : tensor<?xf32>
  }, {
    %1 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<?xf32>
    %2 = stablehlo.negate %1 : tensor<?xf32>
    stablehlo.return %2 : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
