// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: latewood-opt %s --split-input-file --verify-diagnostics --latewood-flatten-values

// Tests that a call that wants a token is refused.
func.func @call(%token: !stablehlo.token) -> !stablehlo.token {
  // expected-error @+1 {{'stablehlo.custom_call' takes or gives a token or a tuple, which only control flow may do here}}
  %0 = stablehlo.custom_call @print(%token) : (!stablehlo.token) -> !stablehlo.token
  return %0 : !stablehlo.token
}
