// RUN: latewood-opt %s --canonicalize | FileCheck %s

// Tests that integer arithmetic on constants folds, and wraps.
// CHECK-LABEL: func.func @integers(
func.func @integers() -> (tensor<2xi8>, tensor<2xi8>, tensor<2xi8>, tensor<2xi8>, tensor<2xi8>) {
  // CHECK-DAG: %[[SUM:.*]] = stablehlo.constant dense<[-126, 7]> : tensor<2xi8>
  // CHECK-DAG: %[[DIFFERENCE:.*]] = stablehlo.constant dense<[124, -3]> : tensor<2xi8>
  // CHECK-DAG: %[[PRODUCT:.*]] = stablehlo.constant dense<[125, 10]> : tensor<2xi8>
  // CHECK-DAG: %[[QUOTIENT:.*]] = stablehlo.constant dense<[25, 0]> : tensor<2xi8>
  // CHECK-DAG: %[[REMAINDER:.*]] = stablehlo.constant dense<[1, 2]> : tensor<2xi8>
  // CHECK: return %[[SUM]], %[[DIFFERENCE]], %[[PRODUCT]], %[[QUOTIENT]], %[[REMAINDER]]
  %a = stablehlo.constant dense<[127, 2]> : tensor<2xi8>
  %b = stablehlo.constant dense<[3, 5]> : tensor<2xi8>
  %c = stablehlo.constant dense<5> : tensor<2xi8>
  %0 = stablehlo.add %a, %b : tensor<2xi8>
  %1 = stablehlo.subtract %a, %b : tensor<2xi8>
  %2 = stablehlo.multiply %a, %b : tensor<2xi8>
  %3 = stablehlo.divide %a, %c : tensor<2xi8>
  %4 = stablehlo.remainder %a, %b : tensor<2xi8>
  return %0, %1, %2, %3, %4 : tensor<2xi8>, tensor<2xi8>, tensor<2xi8>, tensor<2xi8>, tensor<2xi8>
}

// Tests that unsigned elements divide, compare and shift as unsigned numbers.
// CHECK-LABEL: func.func @unsigned(
func.func @unsigned() -> (tensor<ui8>, tensor<i1>, tensor<ui8>, tensor<f32>) {
  // CHECK-DAG: %[[QUOTIENT:.*]] = stablehlo.constant dense<100> : tensor<ui8>
  // CHECK-DAG: %[[GREATER:.*]] = stablehlo.constant dense<true> : tensor<i1>
  // CHECK-DAG: %[[MAXIMUM:.*]] = stablehlo.constant dense<200> : tensor<ui8>
  // CHECK-DAG: %[[FLOAT:.*]] = stablehlo.constant dense<2.000000e+02> : tensor<f32>
  // CHECK: return %[[QUOTIENT]], %[[GREATER]], %[[MAXIMUM]], %[[FLOAT]]
  %a = stablehlo.constant dense<200> : tensor<ui8>
  %b = stablehlo.constant dense<2> : tensor<ui8>
  %0 = stablehlo.divide %a, %b : tensor<ui8>
  %1 = stablehlo.compare GT, %a, %b, UNSIGNED : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
  %2 = stablehlo.maximum %a, %b : tensor<ui8>
  %3 = stablehlo.convert %a : (tensor<ui8>) -> tensor<f32>
  return %0, %1, %2, %3 : tensor<ui8>, tensor<i1>, tensor<ui8>, tensor<f32>
}

// Tests that a division by zero, and the one that overflows, are left to run time.
// CHECK-LABEL: func.func @undefined_division(
func.func @undefined_division() -> (tensor<i8>, tensor<i8>) {
  // CHECK: stablehlo.divide
  // CHECK: stablehlo.remainder
  %a = stablehlo.constant dense<-128> : tensor<i8>
  %zero = stablehlo.constant dense<0> : tensor<i8>
  %minus = stablehlo.constant dense<-1> : tensor<i8>
  %0 = stablehlo.divide %a, %zero : tensor<i8>
  %1 = stablehlo.remainder %a, %minus : tensor<i8>
  return %0, %1 : tensor<i8>, tensor<i8>
}

// Tests that a shift by the width and more shifts everything out.
// CHECK-LABEL: func.func @shifts(
func.func @shifts() -> (tensor<3xi8>, tensor<3xi8>, tensor<3xi8>) {
  // CHECK-DAG: %[[LEFT:.*]] = stablehlo.constant dense<[-128, 0, 0]> : tensor<3xi8>
  // CHECK-DAG: %[[ARITHMETIC:.*]] = stablehlo.constant dense<[-64, -1, -1]> : tensor<3xi8>
  // CHECK-DAG: %[[LOGICAL:.*]] = stablehlo.constant dense<[64, 0, 0]> : tensor<3xi8>
  // CHECK: return %[[LEFT]], %[[ARITHMETIC]], %[[LOGICAL]]
  %a = stablehlo.constant dense<-64> : tensor<3xi8>
  %b = stablehlo.constant dense<-128> : tensor<3xi8>
  %n = stablehlo.constant dense<[1, 8, -1]> : tensor<3xi8>
  %0 = stablehlo.shift_left %a, %n : tensor<3xi8>
  %1 = stablehlo.shift_right_arithmetic %b, %n : tensor<3xi8>
  %2 = stablehlo.shift_right_logical %b, %n : tensor<3xi8>
  return %0, %1, %2 : tensor<3xi8>, tensor<3xi8>, tensor<3xi8>
}

// Tests that f32 arithmetic folds to the correctly rounded value.
// CHECK-LABEL: func.func @floats(
func.func @floats() -> (tensor<f32>, tensor<f32>, tensor<f64>, tensor<2xf32>) {
  // CHECK-DAG: %[[SUM:.*]] = stablehlo.constant dense<1.600000e+01> : tensor<f32>
  // CHECK-DAG: %[[QUOTIENT:.*]] = stablehlo.constant dense<0.333333343> : tensor<f32>
  // CHECK-DAG: %[[WIDE:.*]] = stablehlo.constant dense<0.333333343{{[0-9]*}}> : tensor<f64>
  // CHECK-DAG: %[[MAXIMUM:.*]] = stablehlo.constant dense<[0.000000e+00, 2.000000e+00]> : tensor<2xf32>
  // CHECK: return %[[SUM]], %[[QUOTIENT]], %[[WIDE]], %[[MAXIMUM]]
  %a = stablehlo.constant dense<1.0> : tensor<f32>
  %b = stablehlo.constant dense<3.0> : tensor<f32>
  %c = stablehlo.constant dense<15.0> : tensor<f32>
  %0 = stablehlo.add %a, %c : tensor<f32>
  %1 = stablehlo.divide %a, %b : tensor<f32>
  %2 = stablehlo.convert %1 : (tensor<f32>) -> tensor<f64>
  %m = stablehlo.constant dense<[-0.0, 1.0]> : tensor<2xf32>
  %n = stablehlo.constant dense<[0.0, 2.0]> : tensor<2xf32>
  %3 = stablehlo.maximum %m, %n : tensor<2xf32>
  return %0, %1, %2, %3 : tensor<f32>, tensor<f32>, tensor<f64>, tensor<2xf32>
}

// Tests that a NaN is not made, and that narrow formats are left to run time.
// CHECK-LABEL: func.func @not_folded(
func.func @not_folded() -> (tensor<f32>, tensor<bf16>, tensor<i8>) {
  // CHECK: stablehlo.divide
  // CHECK: stablehlo.add
  // CHECK: stablehlo.convert
  %a = stablehlo.constant dense<0.0> : tensor<f32>
  %b = stablehlo.constant dense<1.0> : tensor<bf16>
  %c = stablehlo.constant dense<300.0> : tensor<f32>
  %0 = stablehlo.divide %a, %a : tensor<f32>
  %1 = stablehlo.add %b, %b : tensor<bf16>
  %2 = stablehlo.convert %c : (tensor<f32>) -> tensor<i8>
  return %0, %1, %2 : tensor<f32>, tensor<bf16>, tensor<i8>
}

// Tests that neutral operands disappear, where they leave every value as it is.
// CHECK-LABEL: func.func @neutral(
// CHECK-SAME: %[[I:.*]]: tensor<4xi32>, %[[X:.*]]: tensor<4xf32>)
func.func @neutral(%i: tensor<4xi32>, %x: tensor<4xf32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  // CHECK: return %[[I]], %[[I]], %[[X]], %[[I]], %[[I]], %[[I]]
  %zero = stablehlo.constant dense<0> : tensor<4xi32>
  %ones = stablehlo.constant dense<-1> : tensor<4xi32>
  %one = stablehlo.constant dense<1.0> : tensor<4xf32>
  %0 = stablehlo.add %zero, %i : tensor<4xi32>
  %1 = stablehlo.subtract %i, %zero : tensor<4xi32>
  %2 = stablehlo.multiply %x, %one : tensor<4xf32>
  %3 = stablehlo.or %i, %zero : tensor<4xi32>
  %4 = stablehlo.and %ones, %i : tensor<4xi32>
  %5 = stablehlo.shift_left %i, %zero : tensor<4xi32>
  return %0, %1, %2, %3, %4, %5 : tensor<4xi32>, tensor<4xi32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}

// Tests that adding a floating-point zero stays: it changes -0.
// CHECK-LABEL: func.func @float_zero(
func.func @float_zero(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: stablehlo.add
  // CHECK: stablehlo.subtract
  // CHECK: stablehlo.multiply
  %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
  %0 = stablehlo.add %x, %zero : tensor<4xf32>
  %1 = stablehlo.subtract %x, %x : tensor<4xf32>
  %2 = stablehlo.multiply %x, %zero : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Tests that an operand does not replace a result of another type.
// CHECK-LABEL: func.func @other_type(
func.func @other_type(%x: tensor<?xi32>) -> tensor<4xi32> {
  // CHECK: stablehlo.add
  %zero = stablehlo.constant dense<0> : tensor<4xi32>
  %0 = stablehlo.add %x, %zero : (tensor<?xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// Tests that two negations cancel out.
// CHECK-LABEL: func.func @cancel(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[P:.*]]: tensor<4xi1>)
func.func @cancel(%x: tensor<4xf32>, %p: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xi1>) {
  // CHECK: return %[[X]], %[[P]]
  %0 = stablehlo.negate %x : tensor<4xf32>
  %1 = stablehlo.negate %0 : tensor<4xf32>
  %2 = stablehlo.not %p : tensor<4xi1>
  %3 = stablehlo.not %2 : tensor<4xi1>
  return %1, %3 : tensor<4xf32>, tensor<4xi1>
}

// Tests that a conversion to the same type disappears, and that one of a constant folds.
// CHECK-LABEL: func.func @convert(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
func.func @convert(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<3xi32>, tensor<2xi1>) {
  // CHECK-DAG: %[[INTEGERS:.*]] = stablehlo.constant dense<[-1, 2, 0]> : tensor<3xi32>
  // CHECK-DAG: %[[BOOLEANS:.*]] = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  // CHECK: return %[[X]], %[[INTEGERS]], %[[BOOLEANS]]
  %0 = stablehlo.convert %x : tensor<4xf32>
  %a = stablehlo.constant dense<[-1.5, 2.5, -0.5]> : tensor<3xf32>
  %1 = stablehlo.convert %a : (tensor<3xf32>) -> tensor<3xi32>
  %b = stablehlo.constant dense<[256, 0]> : tensor<2xi32>
  %2 = stablehlo.convert %b : (tensor<2xi32>) -> tensor<2xi1>
  return %0, %1, %2 : tensor<4xf32>, tensor<3xi32>, tensor<2xi1>
}

// Tests that an integer compares equal to itself, and that a floating-point number may not.
// CHECK-LABEL: func.func @compare(
func.func @compare(%i: tensor<4xi32>, %x: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<2xi1>) {
  // CHECK-DAG: %[[TRUE:.*]] = stablehlo.constant dense<true> : tensor<4xi1>
  // CHECK-DAG: %[[FALSE:.*]] = stablehlo.constant dense<false> : tensor<4xi1>
  // CHECK-DAG: %[[FLOATS:.*]] = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  // CHECK: %[[NAN:.*]] = stablehlo.compare EQ
  // CHECK: return %[[TRUE]], %[[FALSE]], %[[NAN]], %[[FLOATS]]
  %0 = stablehlo.compare GE, %i, %i, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %1 = stablehlo.compare NE, %i, %i, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %2 = stablehlo.compare EQ, %x, %x, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %a = stablehlo.constant dense<[-0.0, 0x7FC00000]> : tensor<2xf32>
  %b = stablehlo.constant dense<0.0> : tensor<2xf32>
  %3 = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return %0, %1, %2, %3 : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<2xi1>
}

// Tests that a selection that is known disappears.
// CHECK-LABEL: func.func @select(
// CHECK-SAME: %[[P:.*]]: tensor<4xi1>, %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
func.func @select(%p: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xi32>) {
  // CHECK: %[[MIXED:.*]] = stablehlo.constant dense<[1, 20]> : tensor<2xi32>
  // CHECK: return %[[X]], %[[Y]], %[[X]], %[[MIXED]]
  %true = stablehlo.constant dense<true> : tensor<i1>
  %false = stablehlo.constant dense<false> : tensor<4xi1>
  %mixed = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %0 = stablehlo.select %true, %x, %y : tensor<i1>, tensor<4xf32>
  %1 = stablehlo.select %false, %x, %y : tensor<4xi1>, tensor<4xf32>
  %2 = stablehlo.select %p, %x, %x : tensor<4xi1>, tensor<4xf32>
  %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %b = stablehlo.constant dense<[10, 20]> : tensor<2xi32>
  %3 = stablehlo.select %mixed, %a, %b : tensor<2xi1>, tensor<2xi32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xi32>
}

// Tests that unary ops on constants fold.
// CHECK-LABEL: func.func @unary(
func.func @unary() -> (tensor<3xi32>, tensor<3xi32>, tensor<2xi8>, tensor<2xi8>, tensor<2xf32>, tensor<2xf32>, tensor<2xi1>, tensor<3xi32>) {
  // CHECK-DAG: %[[ABS:.*]] = stablehlo.constant dense<[5, 0, 7]> : tensor<3xi32>
  // CHECK-DAG: %[[SIGN:.*]] = stablehlo.constant dense<[-1, 0, 1]> : tensor<3xi32>
  // CHECK-DAG: %[[CLZ:.*]] = stablehlo.constant dense<[7, 8]> : tensor<2xi8>
  // CHECK-DAG: %[[POPCNT:.*]] = stablehlo.constant dense<[1, 0]> : tensor<2xi8>
  // CHECK-DAG: %[[EVEN:.*]] = stablehlo.constant dense<[2.000000e+00, -2.000000e+00]> : tensor<2xf32>
  // CHECK-DAG: %[[AWAY:.*]] = stablehlo.constant dense<[3.000000e+00, -2.000000e+00]> : tensor<2xf32>
  // CHECK-DAG: %[[FINITE:.*]] = stablehlo.constant dense<[false, true]> : tensor<2xi1>
  // CHECK-DAG: %[[CLAMP:.*]] = stablehlo.constant dense<[-2, 0, 3]> : tensor<3xi32>
  // CHECK: return %[[ABS]], %[[SIGN]], %[[CLZ]], %[[POPCNT]], %[[EVEN]], %[[AWAY]], %[[FINITE]], %[[CLAMP]]
  %a = stablehlo.constant dense<[-5, 0, 7]> : tensor<3xi32>
  %b = stablehlo.constant dense<[1, 0]> : tensor<2xi8>
  %c = stablehlo.constant dense<[2.5, -1.5]> : tensor<2xf32>
  %d = stablehlo.constant dense<[0x7F800000, 1.0]> : tensor<2xf32>
  %low = stablehlo.constant dense<-2> : tensor<i32>
  %high = stablehlo.constant dense<3> : tensor<i32>
  %0 = stablehlo.abs %a : tensor<3xi32>
  %1 = stablehlo.sign %a : tensor<3xi32>
  %2 = stablehlo.count_leading_zeros %b : tensor<2xi8>
  %3 = stablehlo.popcnt %b : tensor<2xi8>
  %4 = stablehlo.round_nearest_even %c : tensor<2xf32>
  %5 = stablehlo.round_nearest_afz %c : tensor<2xf32>
  %6 = stablehlo.is_finite %d : (tensor<2xf32>) -> tensor<2xi1>
  %7 = stablehlo.clamp %low, %a, %high : (tensor<i32>, tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<3xi32>, tensor<3xi32>, tensor<2xi8>, tensor<2xi8>, tensor<2xf32>, tensor<2xf32>, tensor<2xi1>, tensor<3xi32>
}
