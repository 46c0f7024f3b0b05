// RUN: latewood-opt %s --split-input-file --latewood-trim-results | FileCheck %s

// Tests that a trimmed result gets a dynamic dimension, and that other uses see the whole tensor.
// CHECK-LABEL: func.func public @trim(
// CHECK-SAME: %[[X:.*]]: tensor<4x6xf32>, %[[N:.*]]: tensor<i32>) -> (tensor<4x?xf32>, tensor<4x6xf32>)
func.func public @trim(%x: tensor<4x6xf32>, %n: tensor<i32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  // CHECK: %[[L:.*]] = stablehlo.clamp
  // CHECK: %[[S:.*]] = stablehlo.concatenate %{{.*}}, %[[L]], dim = 0
  // CHECK: %[[R:.*]] = stablehlo.real_dynamic_slice %[[X]], %{{.*}}, %[[S]], %{{.*}} -> tensor<4x?xf32>
  %0 = stablehlo.custom_call @latewood.trim(%x, %n) {backend_config = {dimension = 1 : i64}, api_version = 4 : i32} : (tensor<4x6xf32>, tensor<i32>) -> tensor<4x6xf32>
  // CHECK: %[[M:.*]] = stablehlo.negate %[[X]]
  %1 = stablehlo.negate %0 : tensor<4x6xf32>
  // CHECK: return %[[R]], %[[M]]
  return %0, %1 : tensor<4x6xf32>, tensor<4x6xf32>
}

// -----

// Tests that padded indices that are all cut to their number are computed at that length.
// CHECK-LABEL: func.func public @exact(
// CHECK-SAME: %[[X:.*]]: tensor<2x5xf32>) -> (tensor<?xi32>, tensor<?xi32>)
func.func public @exact(%x: tensor<2x5xf32>) -> (tensor<10xi32>, tensor<10xi32>) {
  // CHECK: %[[I:.*]]:2 = stablehlo.custom_call @latewood.nonzero(%[[X]]) : (tensor<2x5xf32>) -> (tensor<?xi32>, tensor<?xi32>)
  %0:3 = stablehlo.custom_call @latewood.nonzero(%x) {called_computations = [@padded]} : (tensor<2x5xf32>) -> (tensor<10xi32>, tensor<10xi32>, tensor<i32>)
  %1 = stablehlo.custom_call @latewood.trim(%0#0, %0#2) : (tensor<10xi32>, tensor<i32>) -> tensor<10xi32>
  %2 = stablehlo.custom_call @latewood.trim(%0#1, %0#2) : (tensor<10xi32>, tensor<i32>) -> tensor<10xi32>
  // CHECK: return %[[I]]#0, %[[I]]#1
  return %1, %2 : tensor<10xi32>, tensor<10xi32>
}
func.func private @padded(%x: tensor<2x5xf32>) -> (tensor<10xi32>, tensor<10xi32>, tensor<i32>) {
  %0 = stablehlo.constant dense<0> : tensor<10xi32>
  %1 = stablehlo.constant dense<0> : tensor<i32>
  return %0, %0, %1 : tensor<10xi32>, tensor<10xi32>, tensor<i32>
}

// -----

// Tests that padded indices that are used at their padded length are what the decomposition says.
// CHECK-LABEL: func.func public @padded_use(
func.func public @padded_use(%x: tensor<5xf32>) -> tensor<5xi32> {
  // CHECK: %[[C:.*]] = stablehlo.constant dense<7> : tensor<5xi32>
  // CHECK-NOT: custom_call
  %0:2 = stablehlo.custom_call @latewood.nonzero(%x) {called_computations = [@seven]} : (tensor<5xf32>) -> (tensor<5xi32>, tensor<i32>)
  // CHECK: return %[[C]]
  return %0#0 : tensor<5xi32>
}
func.func private @seven(%x: tensor<5xf32>) -> (tensor<5xi32>, tensor<i32>) {
  %0 = stablehlo.constant dense<7> : tensor<5xi32>
  %1 = stablehlo.constant dense<0> : tensor<i32>
  return %0, %1 : tensor<5xi32>, tensor<i32>
}
