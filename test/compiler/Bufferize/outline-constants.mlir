// RUN: latewood-opt %s --latewood-outline-constants | FileCheck %s

// Tests that constants of host functions move to the module, equal ones once, and that unused ones go.
// CHECK: executor.constant @constant_0 = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-NOT: executor.constant
// CHECK-LABEL: func.func @main(
func.func @main() -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %2 = stablehlo.constant dense<[3.0, 4.0]> : tensor<2xf32>
  // CHECK: %[[B:.*]] = executor.get_constant @constant_0 : memref<2xf32>
  // CHECK: bufferization.to_tensor %[[B]] restrict : memref<2xf32> to tensor<2xf32>
  // CHECK: executor.get_constant @constant_0 : memref<2xf32>
  // CHECK-NOT: stablehlo.constant
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
