// RUN: latewood-opt %s | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --mlir-print-op-generic | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --emit-bytecode | latewood-opt | FileCheck %s

// Tests that every operation of the dialect prints as it was read.
// CHECK-LABEL: func.func @checks(
func.func @checks(%a: tensor<2xf32>, %b: tensor<2xf32>) {
  // CHECK: check.expect_eq %{{.*}}, %{{.*}} : tensor<2xf32>
  check.expect_eq %a, %b : tensor<2xf32>
  // CHECK: check.expect_eq_const %{{.*}}, dense<1.000000e+00> : tensor<2xf32>
  check.expect_eq_const %a, dense<1.0> : tensor<2xf32>
  // CHECK: check.expect_almost_eq %{{.*}}, %{{.*}}, tolerance = 1.000000e-03 : tensor<2xf32>
  check.expect_almost_eq %a, %b, tolerance = 1.0e-3 : tensor<2xf32>
  // CHECK: check.expect_almost_eq_const %{{.*}}, dense<1.000000e+00> : tensor<2xf32>
  check.expect_almost_eq_const %a, dense<1.0> : tensor<2xf32>
  // CHECK: check.expect_close %{{.*}}, %{{.*}}, max_ulp_difference = 3 : tensor<2xf32>, tensor<2xf32>
  check.expect_close %a, %b, max_ulp_difference = 3 : tensor<2xf32>, tensor<2xf32>
  return
}
