// RUN: latewood-opt %s | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --mlir-print-op-generic | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --emit-bytecode | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --canonicalize | latewood-opt

!byte = tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
!other = tensor<2x3x!quant.uniform<i8:f32, 2.500000e-01>>
!axis = tensor<2x3x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01:4,1.250000e-01}>>

// Tests that conversions keep their form, per tensor and per axis.
// CHECK-LABEL: func.func @conversions(
func.func @conversions(%x: tensor<2x3xf32>, %q: !byte) -> (tensor<2x3xf32>, !other) {
  // CHECK: stablehlo.uniform_quantize %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01:4,1.250000e-01}>>
  %0 = stablehlo.uniform_quantize %x : (tensor<2x3xf32>) -> !axis
  // CHECK: stablehlo.uniform_quantize %{{.*}} : (tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<2x3x!quant.uniform<i8:f32, 2.500000e-01>>
  %1 = stablehlo.uniform_quantize %q : (!byte) -> !other
  // CHECK: stablehlo.uniform_dequantize %{{.*}} -> tensor<2x3xf32>
  %2 = stablehlo.uniform_dequantize %0 : (!axis) -> tensor<2x3xf32>
  // CHECK: stablehlo.bitcast_convert %{{.*}} -> tensor<2x3xi8>
  %3 = stablehlo.bitcast_convert %0 : (!axis) -> tensor<2x3xi8>
  return %2, %1 : tensor<2x3xf32>, !other
}

// Tests that elementwise operations may change the scale.
// CHECK-LABEL: func.func @elementwise(
func.func @elementwise(%q: !byte, %r: !other, %a: !axis) {
  // CHECK: stablehlo.add %{{.*}} : (tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<2x3x!quant.uniform<i8:f32, 2.500000e-01>>) -> tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
  %0 = stablehlo.add %q, %r : (!byte, !other) -> !byte
  // CHECK: stablehlo.add %{{.*}} : (tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<2x3x!quant.uniform<i8:f32:1, {{.*}}>>) -> tensor<2x3x!quant.uniform<i8:f32:1, {{.*}}>>
  %1 = stablehlo.add %q, %a : (!byte, !axis) -> !axis
  // CHECK: stablehlo.exponential %{{.*}} : (tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<2x3x!quant.uniform<i8:f32, 2.500000e-01>>
  %2 = stablehlo.exponential %q : (!byte) -> !other
  // CHECK: stablehlo.compare LT, %{{.*}}, FLOAT : ({{.*}}) -> tensor<2x3xi1>
  %3 = stablehlo.compare LT, %q, %r, FLOAT : (!byte, !other) -> tensor<2x3xi1>
  // CHECK: stablehlo.maximum %{{.*}} : tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
  %4 = stablehlo.maximum %q, %q : !byte
  return
}

// Tests that movements of elements carry the dimension of the scales along.
// CHECK-LABEL: func.func @movement(
func.func @movement(%a: !axis, %one: tensor<1x!quant.uniform<i8:f32:0, {0.5:2}>>) {
  // CHECK: stablehlo.transpose %{{.*}} -> tensor<3x2x!quant.uniform<i8:f32:0, {{.*}}>>
  %0 = stablehlo.transpose %a, dims = [1, 0] : (!axis) -> tensor<3x2x!quant.uniform<i8:f32:0, {0.5,0.25:4,0.125}>>
  // CHECK: stablehlo.reshape %{{.*}} -> tensor<2x1x3x!quant.uniform<i8:f32:2, {{.*}}>>
  %1 = stablehlo.reshape %a : (!axis) -> tensor<2x1x3x!quant.uniform<i8:f32:2, {0.5,0.25:4,0.125}>>
  // CHECK: stablehlo.broadcast_in_dim %{{.*}} -> tensor<4x2x3x!quant.uniform<i8:f32:2, {{.*}}>>
  %2 = stablehlo.broadcast_in_dim %a, dims = [1, 2] : (!axis) -> tensor<4x2x3x!quant.uniform<i8:f32:2, {0.5,0.25:4,0.125}>>
  // CHECK: stablehlo.broadcast_in_dim %{{.*}} -> tensor<2x!quant.uniform<i8:f32:0, {5.000000e-01:2,5.000000e-01:2}>>
  %3 = stablehlo.broadcast_in_dim %one, dims = [0] : (tensor<1x!quant.uniform<i8:f32:0, {0.5:2}>>) -> tensor<2x!quant.uniform<i8:f32:0, {0.5:2,0.5:2}>>
  // CHECK: stablehlo.constant() {value = dense<7> : tensor<2xi8>} : () -> tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>
  %4 = "stablehlo.constant"() {value = dense<7> : tensor<2xi8>} : () -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// Tests products: quantized and hybrid.
// CHECK-LABEL: func.func @products(
func.func @products(%a: tensor<4x2x!quant.uniform<i8:f32, 0.5>>, %x: tensor<4x2xf32>, %w: !axis) {
  // CHECK: stablehlo.dot_general %{{.*}} -> tensor<4x3x!quant.uniform<i32:f32:1, {{.*}}>>
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<4x2x!quant.uniform<i8:f32, 0.5>>, !axis) -> tensor<4x3x!quant.uniform<i32:f32:1, {0.25,0.125,0.0625}>>
  // CHECK: stablehlo.dot_general %{{.*}} -> tensor<4x3xf32>
  %1 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x2xf32>, !axis) -> tensor<4x3xf32>
  // CHECK: stablehlo.dot %{{.*}} -> tensor<4x3x!quant.uniform<i8:f32, 1.000000e+00>>
  %2 = stablehlo.dot %a, %w : (tensor<4x2x!quant.uniform<i8:f32, 0.5>>, !axis) -> tensor<4x3x!quant.uniform<i8:f32, 1.0>>
  return
}
