// RUN: not latewood-compile %s -o %t.lwx 2>&1 | FileCheck %s

// Tests that an array of index, which MLIR's parser does not survive, is an error with its place; a comment may have one:
// array<index: 1>, and so may a string.

// CHECK: cannot read the program
// CHECK: read-program-invalid.mlir:[[#@LINE+4]]:38: error: arrays have elements of integers and floats, and index is neither
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %name = "stablehlo.custom_call"(%x) {call_target_name = "array<index: 1>"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // array < index
  %0 = "stablehlo.reverse"(%x) <{a = array <index: 0>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
