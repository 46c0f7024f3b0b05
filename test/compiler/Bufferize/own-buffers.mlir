// RUN: latewood-opt %s --pass-pipeline='builtin.module(func.func(latewood-own-buffers))' | FileCheck %s

module @cpu {
  func.func private @f(memref<?xf32>, index, index, memref<?xf32>)
  func.func private @g(memref<4xf32>)
}

// Tests that an argument that a loop begins with is copied, that each iteration frees what the one before has made, and that the result
// is freed behind its last use.
// CHECK-LABEL: func.func @grow(
// CHECK-SAME: %[[A:.*]]: memref<?xf32>,
// CHECK: %[[I:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK: memref.copy %[[A]], %[[I]]
// CHECK: %[[R:.*]]:2 = scf.while (%{{.*}} = %[[I]],
// CHECK: ^bb0(%[[X:.*]]: memref<?xf32>, %{{.*}}: index):
// CHECK: %[[Y:.*]] = memref.alloc
// CHECK: plan.call @cpu::@f(%[[X]],
// CHECK-NEXT: memref.dealloc %[[X]]
// CHECK-NEXT: scf.yield %[[Y]],
// CHECK: memref.copy
// CHECK-NEXT: memref.dealloc %[[R]]#0
func.func @grow(%a: memref<?xf32>, %n: index, %c: i1) {
  %c1 = arith.constant 1 : index
  %r:2 = scf.while (%x = %a, %m = %n) : (memref<?xf32>, index) -> (memref<?xf32>, index) {
    scf.condition(%c) %x, %m : memref<?xf32>, index
  } do {
  ^bb0(%x: memref<?xf32>, %m: index):
    %next = arith.addi %m, %c1 : index
    %y = memref.alloc(%next) : memref<?xf32>
    plan.call @cpu::@f(%x, %m, %next) outs(%y) : (memref<?xf32>, index, index, memref<?xf32>) -> ()
    scf.yield %y, %next : memref<?xf32>, index
  }
  %s = plan.with_shape %r#0(%r#1) : memref<?xf32>
  %o = executor.request 0[%r#1] : memref<?xf32>
  memref.copy %s, %o : memref<?xf32> to memref<?xf32>
  return
}

// Tests that buffers that nobody else needs are handed over, and that a loop exchanges two without a copy.
// CHECK-LABEL: func.func @swap(
// CHECK: %[[A:.*]] = memref.alloc
// CHECK: %[[B:.*]] = memref.alloc
// CHECK-NOT: memref.copy
// CHECK: %[[R:.*]]:2 = scf.while (%{{.*}} = %[[A]], %{{.*}} = %[[B]])
// CHECK: ^bb0(%[[X:.*]]: memref<4xf32>, %[[Y:.*]]: memref<4xf32>):
// CHECK-NEXT: scf.yield %[[Y]], %[[X]]
// CHECK: memref.dealloc %[[R]]#1
// CHECK: memref.copy %[[R]]#0
// CHECK-NEXT: memref.dealloc %[[R]]#0
func.func @swap(%c: i1) {
  %a = memref.alloc() : memref<4xf32>
  plan.call @cpu::@g() outs(%a) : (memref<4xf32>) -> ()
  %b = memref.alloc() : memref<4xf32>
  plan.call @cpu::@g() outs(%b) : (memref<4xf32>) -> ()
  %r:2 = scf.while (%x = %a, %y = %b) : (memref<4xf32>, memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {
    scf.condition(%c) %x, %y : memref<4xf32>, memref<4xf32>
  } do {
  ^bb0(%x: memref<4xf32>, %y: memref<4xf32>):
    scf.yield %y, %x : memref<4xf32>, memref<4xf32>
  }
  %o = executor.request 0 : memref<4xf32>
  memref.copy %r#0, %o : memref<4xf32> to memref<4xf32>
  return
}

// Tests that a buffer that is needed later, or handed over twice, is copied, and that what is not handed over is freed.
// CHECK-LABEL: func.func @twice(
// CHECK: %[[A:.*]] = memref.alloc
// CHECK: %[[B:.*]] = memref.alloc
// CHECK: memref.copy %[[A]], %[[B]]
// CHECK: %[[C:.*]] = memref.alloc
// CHECK: memref.copy %[[A]], %[[C]]
// CHECK: %[[R:.*]]:2 = scf.while (%{{.*}} = %[[B]], %{{.*}} = %[[C]])
// CHECK: ^bb0(%[[X:.*]]: memref<4xf32>, %[[Y:.*]]: memref<4xf32>):
// CHECK-NEXT: memref.dealloc %[[Y]]
// CHECK: %[[Z:.*]] = memref.alloc
// CHECK: memref.copy %[[X]], %[[Z]]
// CHECK: scf.yield %[[X]], %[[Z]]
// CHECK-DAG: memref.dealloc %[[R]]#0
// CHECK-DAG: memref.dealloc %[[R]]#1
// CHECK: memref.copy %[[A]]
func.func @twice(%c: i1) {
  %a = memref.alloc() : memref<4xf32>
  plan.call @cpu::@g() outs(%a) : (memref<4xf32>) -> ()
  %r:2 = scf.while (%x = %a, %y = %a) : (memref<4xf32>, memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) {
    scf.condition(%c) %x, %y : memref<4xf32>, memref<4xf32>
  } do {
  ^bb0(%x: memref<4xf32>, %y: memref<4xf32>):
    scf.yield %x, %x : memref<4xf32>, memref<4xf32>
  }
  %o = executor.request 0 : memref<4xf32>
  memref.copy %a, %o : memref<4xf32> to memref<4xf32>
  return
}

// Tests that a branch hands over what it makes, and copies what is around it.
// CHECK-LABEL: func.func @branches(
// CHECK: %[[D:.*]] = memref.alloc
// CHECK: %[[R:.*]]:2 = scf.if
// CHECK: %[[Y:.*]] = memref.alloc
// CHECK: scf.yield %[[Y]],
// CHECK: else
// CHECK: %[[Z:.*]] = memref.alloc
// CHECK: memref.copy %[[D]], %[[Z]]
// CHECK: scf.yield %[[Z]],
// CHECK: %[[S:.*]] = plan.with_shape %[[R]]#0(%[[R]]#1)
// CHECK: plan.call @cpu::@f(%[[S]],
// CHECK-NEXT: memref.dealloc %[[R]]#0
func.func @branches(%a: memref<?xf32>, %n: index, %c: i1) {
  %d = memref.alloc(%n) : memref<?xf32>
  plan.call @cpu::@f(%a, %n, %n) outs(%d) : (memref<?xf32>, index, index, memref<?xf32>) -> ()
  %r:2 = scf.if %c -> (memref<?xf32>, index) {
    %y = memref.alloc(%n) : memref<?xf32>
    plan.call @cpu::@f(%d, %n, %n) outs(%y) : (memref<?xf32>, index, index, memref<?xf32>) -> ()
    scf.yield %y, %n : memref<?xf32>, index
  } else {
    scf.yield %d, %n : memref<?xf32>, index
  }
  %s = plan.with_shape %r#0(%r#1) : memref<?xf32>
  %o = executor.request 0[%r#1] : memref<?xf32>
  plan.call @cpu::@f(%s, %r#1, %r#1) outs(%o) : (memref<?xf32>, index, index, memref<?xf32>) -> ()
  return
}

// Tests that memory that branches have asked a slot for stays the slot's.
// CHECK-LABEL: func.func @slots(
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK-NOT: memref.dealloc
// CHECK: return
func.func @slots(%a: memref<?xf32>, %n: index, %c: i1) {
  %r:2 = scf.if %c -> (memref<?xf32>, index) {
    %y = executor.request 0[%n] : memref<?xf32>
    plan.call @cpu::@f(%a, %n, %n) outs(%y) : (memref<?xf32>, index, index, memref<?xf32>) -> ()
    scf.yield %y, %n : memref<?xf32>, index
  } else {
    %r = scf.if %c -> memref<?xf32> {
      %y = executor.request 0[%n] : memref<?xf32>
      plan.call @cpu::@f(%a, %n, %n) outs(%y) : (memref<?xf32>, index, index, memref<?xf32>) -> ()
      scf.yield %y : memref<?xf32>
    } else {
      %z = executor.request 0[%n] : memref<?xf32>
      plan.call @cpu::@f(%a, %n, %n) outs(%z) : (memref<?xf32>, index, index, memref<?xf32>) -> ()
      scf.yield %z : memref<?xf32>
    }
    scf.yield %r, %n : memref<?xf32>, index
  }
  return
}
