// RUN: latewood-opt %s | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --mlir-print-op-generic | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --emit-bytecode | latewood-opt | FileCheck %s

// Elementwise ops, in pretty and generic form and through bytecode.

// Tests that unary ops on floating-point tensors keep their form.
// CHECK-LABEL: func.func @float_unary(
func.func @float_unary(%x: tensor<4xf32>) {
  // CHECK: stablehlo.cbrt %{{.*}} : tensor<4xf32>
  %r0 = stablehlo.cbrt %x : tensor<4xf32>
  // CHECK: stablehlo.ceil %{{.*}} : tensor<4xf32>
  %r1 = stablehlo.ceil %x : tensor<4xf32>
  // CHECK: stablehlo.cosine %{{.*}} : tensor<4xf32>
  %r2 = stablehlo.cosine %x : tensor<4xf32>
  // CHECK: stablehlo.exponential %{{.*}} : tensor<4xf32>
  %r3 = stablehlo.exponential %x : tensor<4xf32>
  // CHECK: stablehlo.exponential_minus_one %{{.*}} : tensor<4xf32>
  %r4 = stablehlo.exponential_minus_one %x : tensor<4xf32>
  // CHECK: stablehlo.floor %{{.*}} : tensor<4xf32>
  %r5 = stablehlo.floor %x : tensor<4xf32>
  // CHECK: stablehlo.log %{{.*}} : tensor<4xf32>
  %r6 = stablehlo.log %x : tensor<4xf32>
  // CHECK: stablehlo.log_plus_one %{{.*}} : tensor<4xf32>
  %r7 = stablehlo.log_plus_one %x : tensor<4xf32>
  // CHECK: stablehlo.logistic %{{.*}} : tensor<4xf32>
  %r8 = stablehlo.logistic %x : tensor<4xf32>
  // CHECK: stablehlo.negate %{{.*}} : tensor<4xf32>
  %r9 = stablehlo.negate %x : tensor<4xf32>
  // CHECK: stablehlo.round_nearest_afz %{{.*}} : tensor<4xf32>
  %r10 = stablehlo.round_nearest_afz %x : tensor<4xf32>
  // CHECK: stablehlo.round_nearest_even %{{.*}} : tensor<4xf32>
  %r11 = stablehlo.round_nearest_even %x : tensor<4xf32>
  // CHECK: stablehlo.rsqrt %{{.*}} : tensor<4xf32>
  %r12 = stablehlo.rsqrt %x : tensor<4xf32>
  // CHECK: stablehlo.sign %{{.*}} : tensor<4xf32>
  %r13 = stablehlo.sign %x : tensor<4xf32>
  // CHECK: stablehlo.sine %{{.*}} : tensor<4xf32>
  %r14 = stablehlo.sine %x : tensor<4xf32>
  // CHECK: stablehlo.sqrt %{{.*}} : tensor<4xf32>
  %r15 = stablehlo.sqrt %x : tensor<4xf32>
  // CHECK: stablehlo.tan %{{.*}} : tensor<4xf32>
  %r16 = stablehlo.tan %x : tensor<4xf32>
  // CHECK: stablehlo.tanh %{{.*}} : tensor<4xf32>
  %r17 = stablehlo.tanh %x : tensor<4xf32>
  return
}

// Tests that unary ops on integer tensors keep their form.
// CHECK-LABEL: func.func @integer_unary(
func.func @integer_unary(%x: tensor<4xi32>, %u: tensor<4xui8>) {
  // CHECK: stablehlo.abs %{{.*}} : tensor<4xi32>
  %0 = stablehlo.abs %x : tensor<4xi32>
  // CHECK: stablehlo.count_leading_zeros %{{.*}} : tensor<4xi32>
  %1 = stablehlo.count_leading_zeros %x : tensor<4xi32>
  // CHECK: stablehlo.popcnt %{{.*}} : tensor<4xui8>
  %2 = stablehlo.popcnt %u : tensor<4xui8>
  // CHECK: stablehlo.not %{{.*}} : tensor<4xui8>
  %3 = stablehlo.not %u : tensor<4xui8>
  // CHECK: stablehlo.negate %{{.*}} : tensor<4xui8>
  %4 = stablehlo.negate %u : tensor<4xui8>
  return
}

// Tests that an accuracy that is asked for is kept.
// CHECK-LABEL: func.func @result_accuracy(
func.func @result_accuracy(%x: tensor<4xf32>) {
  // CHECK: stablehlo.exponential %{{.*}} {result_accuracy = #stablehlo.result_accuracy<ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  %0 = stablehlo.exponential %x {result_accuracy = #stablehlo.result_accuracy<ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  // CHECK: stablehlo.tanh %{{.*}} {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
  %1 = stablehlo.tanh %x {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
  return
}

// Tests that operands and result of different types are written as a function type.
// CHECK-LABEL: func.func @function_types(
func.func @function_types(%x: tensor<4xcomplex<f32>>, %y: tensor<?xf32>, %z: tensor<4xf32>) {
  // CHECK: stablehlo.abs %{{.*}} : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %0 = stablehlo.abs %x : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  // CHECK: stablehlo.real %{{.*}} : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %1 = stablehlo.real %x : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  // CHECK: stablehlo.imag %{{.*}} : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %2 = stablehlo.imag %x : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  // CHECK: stablehlo.add %{{.*}}, %{{.*}} : (tensor<?xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = stablehlo.add %y, %z : (tensor<?xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: stablehlo.real %{{.*}} : tensor<4xf32>
  %4 = stablehlo.real %z : tensor<4xf32>
  return
}

// Tests that binary ops on floating-point tensors keep their form.
// CHECK-LABEL: func.func @float_binary(
func.func @float_binary(%x: tensor<4xbf16>, %y: tensor<4xbf16>) {
  // CHECK: stablehlo.add %{{.*}}, %{{.*}} : tensor<4xbf16>
  %r0 = stablehlo.add %x, %y : tensor<4xbf16>
  // CHECK: stablehlo.atan2 %{{.*}}, %{{.*}} : tensor<4xbf16>
  %r1 = stablehlo.atan2 %x, %y : tensor<4xbf16>
  // CHECK: stablehlo.divide %{{.*}}, %{{.*}} : tensor<4xbf16>
  %r2 = stablehlo.divide %x, %y : tensor<4xbf16>
  // CHECK: stablehlo.maximum %{{.*}}, %{{.*}} : tensor<4xbf16>
  %r3 = stablehlo.maximum %x, %y : tensor<4xbf16>
  // CHECK: stablehlo.minimum %{{.*}}, %{{.*}} : tensor<4xbf16>
  %r4 = stablehlo.minimum %x, %y : tensor<4xbf16>
  // CHECK: stablehlo.multiply %{{.*}}, %{{.*}} : tensor<4xbf16>
  %r5 = stablehlo.multiply %x, %y : tensor<4xbf16>
  // CHECK: stablehlo.power %{{.*}}, %{{.*}} : tensor<4xbf16>
  %r6 = stablehlo.power %x, %y : tensor<4xbf16>
  // CHECK: stablehlo.remainder %{{.*}}, %{{.*}} : tensor<4xbf16>
  %r7 = stablehlo.remainder %x, %y : tensor<4xbf16>
  // CHECK: stablehlo.subtract %{{.*}}, %{{.*}} : tensor<4xbf16>
  %r8 = stablehlo.subtract %x, %y : tensor<4xbf16>
  return
}

// Tests that bitwise ops and shifts keep their form.
// CHECK-LABEL: func.func @bits(
func.func @bits(%x: tensor<4xui32>, %y: tensor<4xui32>, %p: tensor<4xi1>) {
  // CHECK: stablehlo.and %{{.*}}, %{{.*}} : tensor<4xui32>
  %0 = stablehlo.and %x, %y : tensor<4xui32>
  // CHECK: stablehlo.or %{{.*}}, %{{.*}} : tensor<4xui32>
  %1 = stablehlo.or %x, %y : tensor<4xui32>
  // CHECK: stablehlo.xor %{{.*}}, %{{.*}} : tensor<4xi1>
  %2 = stablehlo.xor %p, %p : tensor<4xi1>
  // CHECK: stablehlo.shift_left %{{.*}}, %{{.*}} : tensor<4xui32>
  %3 = stablehlo.shift_left %x, %y : tensor<4xui32>
  // CHECK: stablehlo.shift_right_arithmetic %{{.*}}, %{{.*}} : tensor<4xui32>
  %4 = stablehlo.shift_right_arithmetic %x, %y : tensor<4xui32>
  // CHECK: stablehlo.shift_right_logical %{{.*}}, %{{.*}} : tensor<4xui32>
  %5 = stablehlo.shift_right_logical %x, %y : tensor<4xui32>
  return
}

// Tests that complex numbers are made from parts, whose type is not written.
// CHECK-LABEL: func.func @complex(
func.func @complex(%x: tensor<4xf64>) {
  // CHECK: stablehlo.complex %{{.*}}, %{{.*}} : tensor<4xcomplex<f64>>
  %0 = stablehlo.complex %x, %x : tensor<4xcomplex<f64>>
  return
}

// Tests that a comparison keeps its direction, and its type where given.
// CHECK-LABEL: func.func @compare(
func.func @compare(%x: tensor<4xf32>, %i: tensor<4xi32>) {
  // CHECK: stablehlo.compare LT, %{{.*}}, %{{.*}}, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %0 = stablehlo.compare LT, %x, %x, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: stablehlo.compare EQ, %{{.*}}, %{{.*}} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %1 = stablehlo.compare EQ, %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  // CHECK: stablehlo.is_finite %{{.*}} : (tensor<4xf32>) -> tensor<4xi1>
  %2 = stablehlo.is_finite %x : (tensor<4xf32>) -> tensor<4xi1>
  return
}

// Tests that select and clamp take scalars beside tensors.
// CHECK-LABEL: func.func @ternary(
func.func @ternary(%p: tensor<i1>, %q: tensor<4xi1>, %x: tensor<4xf32>, %s: tensor<f32>) {
  // CHECK: stablehlo.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<i1>, tensor<4xf32>
  %0 = stablehlo.select %p, %x, %x : tensor<i1>, tensor<4xf32>
  // CHECK: stablehlo.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xi1>, tensor<4xf32>
  %1 = stablehlo.select %q, %x, %x : tensor<4xi1>, tensor<4xf32>
  // CHECK: stablehlo.clamp %{{.*}}, %{{.*}}, %{{.*}} : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = stablehlo.clamp %s, %x, %s : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: stablehlo.clamp %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xf32>
  %3 = stablehlo.clamp %x, %x, %x : tensor<4xf32>
  return
}

// Tests that conversions go between all element types.
// CHECK-LABEL: func.func @convert(
func.func @convert(%a: tensor<4xi1>, %b: tensor<4xi4>, %c: tensor<4xf8E4M3FN>, %d: tensor<4xf4E2M1FN>, %e: tensor<4xf6E3M2FN>, %f: tensor<4xui2>, %g: tensor<4xcomplex<f32>>, %h: tensor<4xf8E8M0FNU>) {
  // CHECK: stablehlo.convert %{{.*}} : (tensor<4xi1>) -> tensor<4xf32>
  %0 = stablehlo.convert %a : (tensor<4xi1>) -> tensor<4xf32>
  // CHECK: stablehlo.convert %{{.*}} : (tensor<4xi4>) -> tensor<4xi8>
  %1 = stablehlo.convert %b : (tensor<4xi4>) -> tensor<4xi8>
  // CHECK: stablehlo.convert %{{.*}} : (tensor<4xf8E4M3FN>) -> tensor<4xbf16>
  %2 = stablehlo.convert %c : (tensor<4xf8E4M3FN>) -> tensor<4xbf16>
  // CHECK: stablehlo.convert %{{.*}} : (tensor<4xf4E2M1FN>) -> tensor<4xf32>
  %3 = stablehlo.convert %d : (tensor<4xf4E2M1FN>) -> tensor<4xf32>
  // CHECK: stablehlo.convert %{{.*}} : (tensor<4xf6E3M2FN>) -> tensor<4xf16>
  %4 = stablehlo.convert %e : (tensor<4xf6E3M2FN>) -> tensor<4xf16>
  // CHECK: stablehlo.convert %{{.*}} : (tensor<4xui2>) -> tensor<4xui64>
  %5 = stablehlo.convert %f : (tensor<4xui2>) -> tensor<4xui64>
  // CHECK: stablehlo.convert %{{.*}} : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f64>>
  %6 = stablehlo.convert %g : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f64>>
  // CHECK: stablehlo.convert %{{.*}} : (tensor<4xf8E8M0FNU>) -> tensor<4xf32>
  %7 = stablehlo.convert %h : (tensor<4xf8E8M0FNU>) -> tensor<4xf32>
  // CHECK: stablehlo.convert %{{.*}} : tensor<4xi1>
  %8 = stablehlo.convert %a : tensor<4xi1>
  return
}

// Tests that bits are reinterpreted under a wider and a narrower element type.
// CHECK-LABEL: func.func @bitcast(
func.func @bitcast(%x: tensor<4xf32>, %y: tensor<6x4xui8>) {
  // CHECK: stablehlo.bitcast_convert %{{.*}} : (tensor<4xf32>) -> tensor<4xi32>
  %0 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xi32>
  // CHECK: stablehlo.bitcast_convert %{{.*}} : (tensor<4xf32>) -> tensor<4x4xui8>
  %1 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4x4xui8>
  // CHECK: stablehlo.bitcast_convert %{{.*}} : (tensor<6x4xui8>) -> tensor<6xi32>
  %2 = stablehlo.bitcast_convert %y : (tensor<6x4xui8>) -> tensor<6xi32>
  return
}

// Tests that a format of fewer bits is written as exponent and mantissa.
// CHECK-LABEL: func.func @reduce_precision(
func.func @reduce_precision(%x: tensor<4xf32>) {
  // CHECK: stablehlo.reduce_precision %{{.*}}, format = e5m10 : tensor<4xf32>
  %0 = stablehlo.reduce_precision %x, format = e5m10 : tensor<4xf32>
  return
}
