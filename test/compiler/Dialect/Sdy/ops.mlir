// RUN: latewood-opt %s | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --mlir-print-op-generic | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --emit-bytecode | latewood-opt | FileCheck %s

// Tests that meshes are kept as they were written.
// CHECK: sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @mesh = <["x"=2, "y"=2]>
// CHECK: sdy.mesh @one = <[], device_ids=[3]>
sdy.mesh @one = <[], device_ids=[3]>

// Tests that shardings are kept as they were written, as attributes and in ops.
// CHECK-LABEL: func.func @sharding(
// CHECK-SAME: {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, ?}, {}p1]>}
func.func @sharding(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2, ?}, {}p1]>}) -> tensor<4x8xf32> {
  // CHECK: sdy.sharding_constraint %{{.*}} <@mesh, [{"x"}, {}]> : tensor<4x8xf32>
  %0 = sdy.sharding_constraint %x <@mesh, [{"x"}, {}]> : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// Tests that a computation per device keeps its shardings and its region.
// CHECK-LABEL: func.func @manual(
func.func @manual(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: sdy.manual_computation(%{{.*}}) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%[[A:.*]]: tensor<2x8xf32>) {
  // CHECK-NEXT: %[[N:.*]] = stablehlo.negate %[[A]] : tensor<2x8xf32>
  // CHECK-NEXT: sdy.return %[[N]] : tensor<2x8xf32>
  // CHECK-NEXT: } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%a: tensor<2x8xf32>) {
    %1 = stablehlo.negate %a : tensor<2x8xf32>
    sdy.return %1 : tensor<2x8xf32>
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
