// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: latewood-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(latewood-check-cpu-code)'

// Tests that an operation that was not lowered is named.
// expected-error@+1 {{is left over after lowering to the LLVM dialect}}
func.func @left_over(%x: memref<8xf32>) {
  return
}

// -----

// Tests that an intrinsic that LLVM turns into a call of the C library is refused.
llvm.func @library(%x: f32) -> f32 attributes {cpu.workspace_bytes = 0 : i64} {
  // expected-error@+1 {{would call the C library, which an image does not have}}
  %0 = llvm.intr.exp(%x) : (f32) -> f32
  llvm.return %0 : f32
}

// -----

llvm.func @malloc(i64) -> !llvm.ptr

// Tests that allocation at run time is refused.
llvm.func @allocates(%n: i64) attributes {cpu.workspace_bytes = 0 : i64} {
  // expected-error@+1 {{allocates or copies at run time}}
  %0 = llvm.call @malloc(%n) : (i64) -> !llvm.ptr
  llvm.return
}

// -----

// Tests that a cluster function says how much memory it needs.
// expected-error@+1 {{has no planned workspace}}
llvm.func @unplanned(%call: !llvm.ptr) {
  llvm.return
}
