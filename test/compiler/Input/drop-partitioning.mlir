// RUN: latewood-opt %s --pass-pipeline='builtin.module(latewood-drop-partitioning)' --split-input-file | FileCheck %s

// Tests that sharding annotations give way to what they annotate.
// CHECK-LABEL: module
// CHECK-NOT: sdy
module attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=1]>
  // CHECK: func.func @main(%[[X:.*]]: tensor<8xf32>) -> tensor<8xf32>
  func.func @main(%x: tensor<8xf32> {mhlo.sharding = "{replicated}"}) -> (tensor<8xf32> {mhlo.sharding = "{replicated}"}) {
    // CHECK-NOT: custom_call
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{replicated}"} : (tensor<8xf32>) -> tensor<8xf32>
    // CHECK: %[[Y:.*]] = stablehlo.negate %[[X]] : tensor<8xf32>
    %1 = stablehlo.negate %0 : tensor<8xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{"x"}]> : tensor<8xf32>
    // CHECK: return %[[Y]]
    return %2 : tensor<8xf32>
  }
}

// -----

// Tests that a custom call of another kind stays.
// CHECK-LABEL: func.func @other(
func.func @other(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: stablehlo.custom_call @mystery
  %0 = stablehlo.custom_call @mystery(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
