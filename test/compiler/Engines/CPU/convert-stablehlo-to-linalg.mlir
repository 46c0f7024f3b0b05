// RUN: latewood-opt %s --pass-pipeline='builtin.module(func.func(latewood-convert-stablehlo-to-linalg))' --split-input-file | FileCheck %s

// Tests that an elementwise operation is a generic with identity maps, each operand once, and that a result is written into its
// destination.
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @square_and_add(
// CHECK-SAME: %[[A:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<4x8xf32>, %[[OUT:.*]]: tensor<4x8xf32> {plan.out})
func.func @square_and_add(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %out: tensor<4x8xf32> {plan.out}) -> tensor<4x8xf32> {
  // CHECK: %[[E:.*]] = tensor.empty() : tensor<4x8xf32>
  // CHECK: %[[S:.*]] = linalg.generic {indexing_maps = [#[[ID]], #[[ID]]], iterator_types = ["parallel", "parallel"]} ins(%[[A]] : tensor<4x8xf32>) outs(%[[E]]
  // CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %{{.*}}: f32):
  // CHECK-NEXT: %[[M:.*]] = arith.mulf %[[X]], %[[X]] : f32
  // CHECK-NEXT: linalg.yield %[[M]]
  %0 = stablehlo.multiply %a, %a : tensor<4x8xf32>
  // CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[S]], %[[B]] :
  // CHECK: arith.addf
  %1 = stablehlo.add %0, %b : tensor<4x8xf32>
  // CHECK: %[[W:.*]] = bufferization.materialize_in_destination %[[R]] in %[[OUT]]
  // CHECK: return %[[W]]
  return %1 : tensor<4x8xf32>
}

// -----

// Tests that booleans are bytes in tensors and i1 in bodies, in the signature too, and that attributes of arguments stay.
// CHECK-LABEL: func.func @booleans(
// CHECK-SAME: %[[P:.*]]: tensor<4xi8> {plan.constant}, %[[X:.*]]: tensor<4xi32>) -> tensor<4xi8>
func.func @booleans(%p: tensor<4xi1> {plan.constant}, %x: tensor<4xui32>) -> tensor<4xi1> {
  // CHECK: linalg.generic
  // CHECK: %[[C:.*]] = arith.cmpi ult, %{{.*}}, %{{.*}} : i32
  // CHECK: %[[B:.*]] = arith.extui %[[C]] : i1 to i8
  // CHECK: linalg.yield %[[B]] : i8
  %c = stablehlo.constant dense<7> : tensor<4xui32>
  %0 = stablehlo.compare LT, %x, %c, UNSIGNED : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
  // CHECK: linalg.generic
  // CHECK-DAG: arith.cmpi ne, %{{.*}}, %{{.*}} : i8
  // CHECK: arith.andi %{{.*}}, %{{.*}} : i1
  %1 = stablehlo.and %p, %0 : tensor<4xi1>
  return %1 : tensor<4xi1>
}

// -----

// Tests that uniform operands are scalars in the body: a splat constant, a broadcast of a 0-dimensional argument, a predicate.
// CHECK-LABEL: func.func @uniform(
// CHECK-SAME: %[[X:.*]]: tensor<16xf32>, %[[S:.*]]: tensor<f32>, %[[P:.*]]: tensor<i8>)
func.func @uniform(%x: tensor<16xf32>, %s: tensor<f32>, %p: tensor<i1>) -> tensor<16xf32> {
  // CHECK: %[[SCALE:.*]] = tensor.extract %[[S]][] : tensor<f32>
  %two = stablehlo.constant dense<2.0> : tensor<16xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<16xf32>
  // CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<16xf32>)
  // CHECK: arith.mulf %{{.*}}, %[[SCALE]]
  %0 = stablehlo.multiply %x, %b : tensor<16xf32>
  // CHECK: %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
  // CHECK: linalg.generic
  // CHECK: arith.addf %{{.*}}, %[[TWO]]
  %1 = stablehlo.add %0, %two : tensor<16xf32>
  // CHECK: %[[RAW:.*]] = tensor.extract %[[P]][] : tensor<i8>
  // CHECK: %[[PRED:.*]] = arith.cmpi ne, %[[RAW]]
  // CHECK: linalg.generic
  // CHECK: arith.select %[[PRED]]
  %2 = stablehlo.select %p, %1, %x : tensor<i1>, tensor<16xf32>
  return %2 : tensor<16xf32>
}

// -----

// Tests that 0-dimensional arithmetic is scalar code.
// CHECK-LABEL: func.func @scalars(
func.func @scalars(%i: tensor<i32>) -> tensor<i32> {
  // CHECK-NOT: linalg.generic
  // CHECK: %[[I:.*]] = tensor.extract %{{.*}}[] : tensor<i32>
  // CHECK: %[[J:.*]] = arith.addi %[[I]], %{{.*}} : i32
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.add %i, %one : tensor<i32>
  // CHECK: %[[R:.*]] = linalg.fill ins(%[[J]] : i32)
  // CHECK: return %[[R]]
  return %0 : tensor<i32>
}

// -----

// Tests that integer division is defined on every input.
// CHECK-LABEL: func.func @divide(
func.func @divide(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK: %[[ZERO:.*]] = arith.cmpi eq, %[[Y:.*]], %{{.*}} : i32
  // CHECK: %[[SAFE:.*]] = arith.select %{{.*}}, %{{.*}}, %[[Y]] : i32
  // CHECK: %[[Q:.*]] = arith.divsi %{{.*}}, %[[SAFE]]
  // CHECK: arith.select %[[ZERO]], %{{.*}}, %[[Q]]
  %0 = stablehlo.divide %x, %y : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

// Tests that a shift by the width and more gives zero, or the sign.
// CHECK-LABEL: func.func @shifts(
func.func @shifts(%x: tensor<4xi16>, %y: tensor<4xi16>) -> tensor<4xi16> {
  // CHECK: %[[OK:.*]] = arith.cmpi ult, %[[Y:.*]], %{{.*}} : i16
  // CHECK: %[[S:.*]] = arith.shli %{{.*}}, %[[Y]]
  // CHECK: arith.select %[[OK]], %[[S]], %{{.*}} : i16
  %0 = stablehlo.shift_left %x, %y : tensor<4xi16>
  // CHECK: %[[COUNT:.*]] = arith.select
  // CHECK: arith.shrsi %{{.*}}, %[[COUNT]]
  %1 = stablehlo.shift_right_arithmetic %0, %y : tensor<4xi16>
  return %1 : tensor<4xi16>
}

// -----

// Tests that bf16 is computed in f32 and rounded after each operation.
// CHECK-LABEL: func.func @narrow_floats(
func.func @narrow_floats(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  // CHECK: %[[W:.*]] = arith.extf %{{.*}} : bf16 to f32
  // CHECK: %[[E:.*]] = math.exp %[[W]] : f32
  // CHECK: arith.truncf %[[E]] : f32 to bf16
  %0 = stablehlo.exponential %x : tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// -----

// Tests that a float that an integer type cannot hold becomes the nearest one, and NaN 0.
// CHECK-LABEL: func.func @saturate(
func.func @saturate(%x: tensor<4xf32>) -> tensor<4xi32> {
  // CHECK-DAG: %[[MIN:.*]] = arith.constant -2147483648 : i32
  // CHECK-DAG: %[[MAX:.*]] = arith.constant 2147483647 : i32
  // CHECK-DAG: %[[ABOVE:.*]] = arith.constant 2.14748365E+9 : f32
  // CHECK-DAG: %[[I:.*]] = arith.fptosi %[[X:.*]] : f32 to i32
  // CHECK-DAG: arith.cmpf oge, %[[X]], %[[ABOVE]]
  // CHECK: arith.cmpf uno, %[[X]], %[[X]]
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

// Tests that a total order compares the bits.
// CHECK-LABEL: func.func @total_order(
func.func @total_order(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK-COUNT-2: arith.bitcast %{{.*}} : f32 to i32
  // CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : i32
  %0 = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}
