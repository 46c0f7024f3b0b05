// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: latewood-opt %s --split-input-file --verify-diagnostics --latewood-expand-operations

// Tests that a group of several processes is refused.
func.func @several(%x: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'stablehlo.all_gather' among 2 processes: only programs for one device can be compiled}}
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Tests that a transfer is refused.
func.func @transfer(%x: tensor<4xf32>, %token: !stablehlo.token) -> !stablehlo.token {
  // expected-error @+1 {{'stablehlo.outfeed' exchanges values with the host or another device while the program runs}}
  %0 = "stablehlo.outfeed"(%x, %token) {outfeed_config = ""} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return %0 : !stablehlo.token
}

// -----

// Tests that a contradicted assertion is an error with the program's own message.
func.func @contradiction(%x: tensor<2x3xf32>) {
  %0 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %1 = stablehlo.compare EQ, %0, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  // expected-error @+1 {{the shapes of this program contradict its assertion: columns must be 4}}
  stablehlo.custom_call @shape_assertion(%1) {api_version = 2 : i32, error_message = "columns must be 4", has_side_effect = true} : (tensor<i1>) -> ()
  return
}

// -----

// Tests that a call without what LAPACK needs is refused.
func.func @call(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{a triangular solve call takes the matrix and the right side}}
  %0 = stablehlo.custom_call @lapack_strsm_ffi(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
