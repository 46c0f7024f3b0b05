// RUN: latewood-opt %s --pass-pipeline='builtin.module(func.func(latewood-settle-carried-buffers))' --split-input-file | FileCheck %s

// Tests that a buffer that an iteration allocates and hands over is copied to a place outside of the loop.
// CHECK-LABEL: func.func @handed_over(
// CHECK-SAME: %[[INIT:.*]]: memref<4xf32>, %[[OUT:.*]]: memref<4xf32>)
func.func @handed_over(%init: memref<4xf32>, %out: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  // CHECK: %[[PLACE:.*]] = memref.alloc() : memref<4xf32>
  // CHECK: memref.copy %[[INIT]], %[[PLACE]]
  // CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %init) -> (memref<4xf32>) {
    // CHECK: %[[NEW:.*]] = memref.alloc()
    %new = memref.alloc() : memref<4xf32>
    // CHECK: %[[X:.*]] = memref.load %[[PLACE]]
    %x = memref.load %a[%c1] : memref<4xf32>
    // CHECK: memref.store %[[X]], %[[NEW]]
    memref.store %x, %new[%c0] : memref<4xf32>
    // CHECK: memref.copy %[[NEW]], %[[PLACE]]
    scf.yield %new : memref<4xf32>
  }
  // CHECK: memref.copy %[[PLACE]], %[[OUT]]
  memref.copy %r, %out : memref<4xf32> to memref<4xf32>
  return
}

// -----

// Tests that swapped buffers are both read before one is written, and that a buffer of the loop's own is not copied first.
// CHECK-LABEL: func.func @swap(
// CHECK-SAME: %[[A:.*]]: memref<4xf32>, %{{.*}}: memref<4xf32>)
func.func @swap(%a: memref<4xf32>, %out: memref<4xf32>) {
  %n = arith.constant 9 : i32
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  // CHECK: %[[OWN:.*]] = memref.alloc()
  %own = memref.alloc() : memref<4xf32>
  // CHECK: memref.copy %[[A]], %[[OWN]]
  memref.copy %a, %own : memref<4xf32> to memref<4xf32>
  // CHECK: %[[PLACE:.*]] = memref.alloc()
  // CHECK: memref.copy %[[A]], %[[PLACE]]
  // CHECK: scf.while (%{{.*}} = %{{.*}}) : (i32) -> i32
  %r:3 = scf.while (%i = %n, %x = %own, %y = %a) : (i32, memref<4xf32>, memref<4xf32>) -> (i32, memref<4xf32>, memref<4xf32>) {
    %c = arith.cmpi sgt, %i, %zero : i32
    scf.condition(%c) %i, %x, %y : i32, memref<4xf32>, memref<4xf32>
  } do {
  ^bb0(%i: i32, %x: memref<4xf32>, %y: memref<4xf32>):
    %j = arith.subi %i, %one : i32
    // CHECK: %[[S:.*]] = memref.alloc()
    // CHECK: memref.copy %[[PLACE]], %[[S]]
    // CHECK: %[[T:.*]] = memref.alloc()
    // CHECK: memref.copy %[[OWN]], %[[T]]
    // CHECK: memref.copy %[[S]], %[[OWN]]
    // CHECK: memref.copy %[[T]], %[[PLACE]]
    // CHECK: scf.yield %{{.*}} : i32
    scf.yield %j, %y, %x : i32, memref<4xf32>, memref<4xf32>
  }
  // CHECK: memref.copy %[[PLACE]], %{{.*}}
  memref.copy %r#2, %out : memref<4xf32> to memref<4xf32>
  return
}

// -----

// Tests that a buffer of dynamic shape gets a place of its shape.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME: %[[X:.+]]: memref<?xf32> {plan.extents = array<i64: 1>}, %[[N:.+]]: index
// CHECK: %[[A:.+]] = memref.alloc(%[[N]]) : memref<?xf32>
// CHECK: memref.copy %[[X]], %[[A]]
// CHECK: scf.for
// CHECK-NOT: iter_args
// CHECK: memref.copy %{{.+}}, %[[A]]
func.func @dynamic(%x: memref<?xf32> {plan.extents = array<i64: 1>}, %n: index, %o: memref<?xf32> {plan.extents = array<i64: 1>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (memref<?xf32>) {
    %new = memref.alloc(%n) : memref<?xf32>
    memref.copy %a, %new : memref<?xf32> to memref<?xf32>
    scf.yield %new : memref<?xf32>
  }
  memref.copy %r, %o : memref<?xf32> to memref<?xf32>
  return
}
