// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: latewood-opt %s --pass-pipeline='builtin.module(func.func(latewood-place-results))' | FileCheck %s

// Tests that a carried value goes to the buffer that carries it, and the initial value to the destination of the result.
// CHECK-LABEL: func @loop
// CHECK-SAME: (%[[X:.+]]: tensor<8xf32>, %[[OUT:.+]]: tensor<8xf32> {plan.out})
// CHECK: %[[START:.+]] = bufferization.materialize_in_destination %[[X]] in %[[OUT]]
// CHECK: scf.for {{.+}} iter_args(%[[CARRIED:.+]] = %[[START]])
// CHECK: %[[NEXT:.+]] = linalg.exp
// CHECK: %[[PLACED:.+]] = bufferization.materialize_in_destination %[[NEXT]] in %[[CARRIED]]
// CHECK: scf.yield %[[PLACED]]
func.func @loop(%x: tensor<8xf32>, %out: tensor<8xf32> {plan.out}) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %r = scf.for %i = %c0 to %c7 step %c1 iter_args(%a = %x) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    %0 = linalg.exp ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %0 : tensor<8xf32>
  }
  %m = bufferization.materialize_in_destination %r in %out : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %m : tensor<8xf32>
}

// Tests that values that change places are copied before any of them is moved.
// CHECK-LABEL: func @swap
// CHECK: scf.for {{.+}} iter_args(%[[A:.+]] = %{{.+}}, %[[B:.+]] = %{{.+}})
// CHECK: %[[CB:.+]] = bufferization.alloc_tensor() copy(%[[B]])
// CHECK: %[[CA:.+]] = bufferization.alloc_tensor() copy(%[[A]])
// CHECK: %[[NA:.+]] = bufferization.materialize_in_destination %[[CB]] in %[[A]]
// CHECK: %[[NB:.+]] = bufferization.materialize_in_destination %[[CA]] in %[[B]]
// CHECK: scf.yield %[[NA]], %[[NB]]
func.func @swap(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %r:2 = scf.for %i = %c0 to %c7 step %c1 iter_args(%a = %x, %b = %y) -> (tensor<8xf32>, tensor<8xf32>) {
    scf.yield %b, %a : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}

// Tests that each branch writes into the destination.
// CHECK-LABEL: func @branches
// CHECK-SAME: %[[OUT:[^:]+]]: tensor<8xf32> {plan.out})
// CHECK: scf.if
// CHECK: bufferization.materialize_in_destination %{{.+}} in %[[OUT]]
// CHECK: else
// CHECK: bufferization.materialize_in_destination %{{.+}} in %[[OUT]]
func.func @branches(%p: i1, %x: tensor<8xf32>, %out: tensor<8xf32> {plan.out}) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = scf.if %p -> tensor<8xf32> {
    %0 = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %0 : tensor<8xf32>
  } else {
    %0 = linalg.abs ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %0 : tensor<8xf32>
  }
  %m = bufferization.materialize_in_destination %r in %out : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %m : tensor<8xf32>
}
