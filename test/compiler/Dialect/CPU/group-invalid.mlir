// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: latewood-opt %s --split-input-file --verify-diagnostics

// Tests (C1) of cpu.group: an argument of the region for each operand.
func.func @c1_count(%x: tensor<8xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{has 2 operands and 1 arguments of its region}}
  %r = cpu.group ins(%x : tensor<8xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%b: tensor<8xf32>):
    cpu.group_yield %b : tensor<8xf32>
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// Tests (C1) of cpu.group: of its type.
func.func @c1_type(%o: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{argument 0 of the region is 'tensor<4xf32>' where the operand is 'tensor<8xf32>'}}
  %r = cpu.group outs(%o : tensor<8xf32>) {
  ^bb0(%b: tensor<4xf32>):
    cpu.group_yield %b : tensor<4xf32>
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// Tests (C2) of cpu.group.
func.func @c2(%o: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{must end with cpu.group_yield of one value per destination, of its type}}
  %r = cpu.group outs(%o : tensor<8xf32>) {
  ^bb0(%b: tensor<8xf32>):
    cpu.group_yield %b, %b : tensor<8xf32>, tensor<8xf32>
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// Tests (C3) of cpu.group.
func.func @c3(%o: memref<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{must have no results on buffers}}
  %r = cpu.group outs(%o : memref<8xf32>) {
  ^bb0(%b: tensor<8xf32>):
    cpu.group_yield %b : tensor<8xf32>
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// Tests (C1) of cpu.parallel_for: the body is a function.
func.func @unknown_body(%n: index) {
  // expected-error@+1 {{body @nothing is not a function}}
  cpu.parallel_for @nothing tasks(%n)
  return
}

// -----

func.func private @body(index, index, memref<4xf32>)

// Tests (C1) of cpu.parallel_for: it takes what is captured.
func.func @wrong_body(%n: index, %x: memref<8xf32>) {
  // expected-error@+1 {{must take (index, index), then the 1 captured values, then at most its scratch}}
  cpu.parallel_for @body tasks(%n) args(%x : memref<8xf32>)
  return
}
