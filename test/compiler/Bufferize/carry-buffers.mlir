// RUN: latewood-opt %s --pass-pipeline='builtin.module(func.func(latewood-carry-buffers))' | FileCheck %s

module @cpu {
  func.func private @f(tensor<?xf32>, index, index, tensor<?xf32>) -> tensor<?xf32>
}
// Tests that a loop carries the buffers of its tensors, and that scalars stay what they are.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME: %[[A:.*]]: tensor<?xf32>, %[[N:.*]]: index, %[[C:.*]]: i1)
// CHECK: %[[B:.*]] = bufferization.to_buffer %[[A]] read_only : tensor<?xf32> to memref<?xf32>
// CHECK: %[[R:.*]]:2 = scf.while (%{{.*}} = %[[B]], %{{.*}} = %[[N]]) : (memref<?xf32>, index) -> (memref<?xf32>, index)
// CHECK: scf.condition(%[[C]]) %{{.*}}, %{{.*}} : memref<?xf32>, index
// CHECK: ^bb0(%[[X:.*]]: memref<?xf32>, %[[M:.*]]: index):
// CHECK: %[[T:.*]] = bufferization.to_tensor %[[X]] restrict
// CHECK: %[[Y:.*]] = plan.call @cpu::@f(%[[T]], %[[M]],
// CHECK: %[[Z:.*]] = bufferization.to_buffer %[[Y]] read_only
// CHECK: scf.yield %[[Z]], %{{.*}} : memref<?xf32>, index
// CHECK: %[[S:.*]] = bufferization.to_tensor %[[R]]#0 restrict
// CHECK: plan.with_shape %[[S]](%[[R]]#1) : tensor<?xf32>
func.func @loop(%a: tensor<?xf32>, %n: index, %c: i1) -> tensor<?xf32> {
  %c1 = arith.constant 1 : index
  %r:2 = scf.while (%x = %a, %m = %n) : (tensor<?xf32>, index) -> (tensor<?xf32>, index) {
    scf.condition(%c) %x, %m : tensor<?xf32>, index
  } do {
  ^bb0(%x: tensor<?xf32>, %m: index):
    %next = arith.addi %m, %c1 : index
    %e = tensor.empty(%next) : tensor<?xf32>
    %y = plan.call @cpu::@f(%x, %m, %next) outs(%e) : (tensor<?xf32>, index, index, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %y, %next : tensor<?xf32>, index
  }
  %s = plan.with_shape %r#0(%r#1) : tensor<?xf32>
  return %s : tensor<?xf32>
}

// Tests that branches give buffers.
// CHECK-LABEL: func.func @branch(
// CHECK-SAME: %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>, %[[C:.*]]: i1)
// CHECK: scf.if %[[C]] -> (memref<4xf32>)
// CHECK: %[[X:.*]] = bufferization.to_buffer %[[A]] read_only
// CHECK: scf.yield %[[X]]
// CHECK: %[[Y:.*]] = bufferization.to_buffer %[[B]] read_only
// CHECK: scf.yield %[[Y]]
func.func @branch(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %r = scf.if %c -> tensor<4xf32> {
    scf.yield %a : tensor<4xf32>
  } else {
    scf.yield %b : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
