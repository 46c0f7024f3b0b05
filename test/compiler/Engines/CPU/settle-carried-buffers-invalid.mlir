// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: latewood-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(latewood-settle-carried-buffers))'

// Tests that a loop whose carried buffer may change its shape is refused: it would not fit into its place.
func.func @changes(%x: memref<?xf32> {plan.extents = array<i64: 1>}, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{carries a buffer of type 'memref<?xf32>', whose extents may change from one iteration to the next}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (memref<?xf32>) {
    %new = memref.alloc(%m) : memref<?xf32>
    scf.yield %new : memref<?xf32>
  }
  return
}

// -----

// Tests that a carried buffer whose shape is not known is refused.
func.func @unknown(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{carries a buffer of type 'memref<?xf32>', whose extents are not known}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (memref<?xf32>) {
    scf.yield %a : memref<?xf32>
  }
  return
}
