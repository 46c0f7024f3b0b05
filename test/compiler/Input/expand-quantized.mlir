// RUN: latewood-opt %s --split-input-file --latewood-expand-quantized | FileCheck %s

// Tests that a quantization divides, shifts, clamps, rounds and converts, and that the signature has the integers.
// CHECK-LABEL: func.func @quantize(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>) -> tensor<4xi8>
// CHECK: %[[Q:.*]] = stablehlo.divide %[[X]]
// CHECK: %[[Z:.*]] = stablehlo.add %[[Q]]
// CHECK: %[[C:.*]] = stablehlo.clamp %{{.*}}, %[[Z]], %{{.*}} : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK: %[[R:.*]] = stablehlo.round_nearest_even %[[C]]
// CHECK: stablehlo.convert %[[R]] : (tensor<4xf32>) -> tensor<4xi8>
func.func @quantize(%x: tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5:3>> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<4x!quant.uniform<i8:f32, 0.5:3>>
}

// -----

// Tests that each slice has its own scale, and that unsigned storage is unsigned.
// CHECK-LABEL: func.func @dequantize_per_axis(
// CHECK-SAME: %[[X:.*]]: tensor<4x2xui8>) -> tensor<4x2xf32>
// CHECK: %[[N:.*]] = stablehlo.convert %[[X]] : (tensor<4x2xui8>) -> tensor<4x2xf32>
// CHECK: %[[S:.*]] = stablehlo.constant dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %[[S]], dims = [1]
// CHECK: stablehlo.multiply %[[N]], %[[B]]
func.func @dequantize_per_axis(%x: tensor<4x2x!quant.uniform<u8:f32:1, {0.5,0.25}>>) -> tensor<4x2xf32> {
  %0 = stablehlo.uniform_dequantize %x : (tensor<4x2x!quant.uniform<u8:f32:1, {0.5,0.25}>>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

// Tests that products of bytes without zero points are products of bytes.
// CHECK-LABEL: func.func @dot(
// CHECK: stablehlo.dot_general %{{.*}} : (tensor<4x8xi8>, tensor<8x2xi8>) -> tensor<4x2xi32>
// CHECK-NOT: stablehlo.multiply
// CHECK: return
func.func @dot(%x: tensor<4x8x!quant.uniform<i8:f32, 0.5>>, %y: tensor<8x2x!quant.uniform<i8:f32, 0.25>>) -> tensor<4x2x!quant.uniform<i32:f32, 0.125>> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x8x!quant.uniform<i8:f32, 0.5>>, tensor<8x2x!quant.uniform<i8:f32, 0.25>>) -> tensor<4x2x!quant.uniform<i32:f32, 0.125>>
  return %0 : tensor<4x2x!quant.uniform<i32:f32, 0.125>>
}

// -----

// Tests that a zero point is subtracted before integers are multiplied, and that the sum is scaled once.
// CHECK-LABEL: func.func @dot_with_zero_point(
// CHECK: %[[X:.*]] = stablehlo.subtract %{{.*}} : tensor<4x8xi32>
// CHECK: %[[D:.*]] = stablehlo.dot_general %[[X]], %{{.*}} -> tensor<4x2xi32>
// CHECK: %[[F:.*]] = stablehlo.convert %[[D]] : (tensor<4x2xi32>) -> tensor<4x2xf32>
// CHECK: stablehlo.multiply %[[F]]
// CHECK: stablehlo.clamp
func.func @dot_with_zero_point(%x: tensor<4x8x!quant.uniform<i8:f32, 0.5:7>>, %y: tensor<8x2x!quant.uniform<i8:f32, 0.25>>) -> tensor<4x2x!quant.uniform<i8:f32, 2.0>> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x8x!quant.uniform<i8:f32, 0.5:7>>, tensor<8x2x!quant.uniform<i8:f32, 0.25>>) -> tensor<4x2x!quant.uniform<i8:f32, 2.0>>
  return %0 : tensor<4x2x!quant.uniform<i8:f32, 2.0>>
}

// -----

// Tests that numbers of one scale are ordered as integers.
// CHECK-LABEL: func.func @compare(
// CHECK-NEXT: stablehlo.compare LT, %{{.*}}, %{{.*}} : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi1>
func.func @compare(%x: tensor<4x!quant.uniform<i8:f32, 0.5>>, %y: tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4xi1> {
  %0 = stablehlo.compare LT, %x, %y, FLOAT : (tensor<4x!quant.uniform<i8:f32, 0.5>>, tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

// Tests that movements only change types, in regions too.
// CHECK-LABEL: func.func @movement(
// CHECK-NEXT: stablehlo.transpose %{{.*}} : (tensor<4x2xi8>) -> tensor<2x4xi8>
// CHECK-NEXT: call @other(%{{.*}}) : (tensor<2x4xi8>) -> tensor<2x4xi8>
func.func @movement(%x: tensor<4x2x!quant.uniform<i8:f32:1, {0.5,0.25}>>) -> tensor<2x4x!quant.uniform<i8:f32:0, {0.5,0.25}>> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x2x!quant.uniform<i8:f32:1, {0.5,0.25}>>) -> tensor<2x4x!quant.uniform<i8:f32:0, {0.5,0.25}>>
  %1 = call @other(%0) : (tensor<2x4x!quant.uniform<i8:f32:0, {0.5,0.25}>>) -> tensor<2x4x!quant.uniform<i8:f32:0, {0.5,0.25}>>
  return %1 : tensor<2x4x!quant.uniform<i8:f32:0, {0.5,0.25}>>
}
// CHECK: func.func private @other(%{{.*}}: tensor<2x4xi8>) -> tensor<2x4xi8>
func.func private @other(%x: tensor<2x4x!quant.uniform<i8:f32:0, {0.5,0.25}>>) -> tensor<2x4x!quant.uniform<i8:f32:0, {0.5,0.25}>> {
  return %x : tensor<2x4x!quant.uniform<i8:f32:0, {0.5,0.25}>>
}

// -----

// Tests that a dynamic shape takes its scale from the extents at run time.
// CHECK-LABEL: func.func @dynamic(
// CHECK: stablehlo.dynamic_broadcast_in_dim
// CHECK-NOT: quant
func.func @dynamic(%x: tensor<?x2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<?x2xf32> {
  %0 = stablehlo.uniform_dequantize %x : (tensor<?x2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}
