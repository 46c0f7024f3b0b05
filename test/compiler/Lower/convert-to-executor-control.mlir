// RUN: latewood-opt %s --latewood-convert-to-executor --cse | FileCheck %s

module @cpu {
  llvm.func @f(!llvm.ptr, !llvm.ptr, i64, !llvm.ptr, !llvm.ptr) attributes {cpu.workspace_bytes = 64 : i64}
}

// Tests that integer arithmetic gets the host's operations, inside control flow, too.
// CHECK-LABEL: func.func @arithmetic(
func.func @arithmetic(%a: memref<i32>, %b: memref<2x3xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // CHECK: %[[X:.*]] = executor.load %{{.*}} at 0 : memref<i32> to i32
  %x = memref.load %a[] : memref<i32>
  // CHECK: %[[Y:.*]] = executor.load %{{.*}} at 5 : memref<2x3xi64> to i64
  %y = memref.load %b[%c1, %c2] : memref<2x3xi64>
  // CHECK: %[[Z:.*]] = executor.cast_s %[[X]] : i32 to i64
  %z = arith.extsi %x : i32 to i64
  // CHECK: executor.div_u %[[Z]], %[[Y]] : i64
  %d = arith.divui %z, %y : i64
  // CHECK: %[[P:.*]] = executor.cmp lt_s %[[Z]], %[[Y]] : i64
  %p = arith.cmpi slt, %z, %y : i64
  // CHECK: %[[Q:.*]] = executor.xor
  // CHECK: %[[N:.*]] = executor.not %[[Q]] : i1
  %q = arith.cmpi eq, %p, %p : i1
  // CHECK: executor.assert %[[N]], "impossible"
  cf.assert %q, "impossible"
  // CHECK: scf.if %[[P]] -> (i64)
  %r = scf.if %p -> i64 {
    // CHECK: executor.add
    %s = arith.addi %z, %y : i64
    scf.yield %s : i64
  } else {
    // CHECK: executor.select
    %s = arith.select %p, %d, %y : i64
    scf.yield %s : i64
  }
  // CHECK: executor.cast_s %{{.*}} : i64 to index
  %n = arith.index_cast %r : i64 to index
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 {
    // CHECK: executor.workspace at 0 : memref<4xf32>
    %t = memref.alloc() : memref<4xf32>
    memref.copy %t, %t : memref<4xf32> to memref<4xf32>
  }
  return
}

// Tests that buffers of dynamic shape are allocated and freed, that reshapes become views, and that a launch passes scalars.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME: %[[A:.*]]: memref<?x4xf32>)
func.func @dynamic(%a: memref<?x4xf32>) {
  %c0 = arith.constant 0 : index
  // CHECK: %[[N:.*]] = executor.dim %[[A]], 0 : memref<?x4xf32>
  %n = memref.dim %a, %c0 : memref<?x4xf32>
  // CHECK: %[[T:.*]] = executor.alloc[%[[N]]] : memref<?x4xf32>
  %t = memref.alloc(%n) : memref<?x4xf32>
  // CHECK: %[[FOUR:.*]] = executor.dim %[[A]], 1
  // CHECK: %[[M:.*]] = executor.mul %[[N]], %[[FOUR]] : index
  // CHECK: %[[V:.*]] = executor.view %[[A]][%[[M]]] : memref<?x4xf32> to memref<?xf32>
  %v = memref.collapse_shape %a [[0, 1]] : memref<?x4xf32> into memref<?xf32>
  // CHECK: executor.launch @cpu::@f(%[[V]], %[[N]], %[[T]]) workspace(%{{.*}} : memref<64xi8>) : memref<?xf32>, index, memref<?x4xf32>
  plan.call @cpu::@f(%v, %n) outs(%t) : (memref<?xf32>, index, memref<?x4xf32>) -> ()
  // CHECK: executor.free %[[T]]
  memref.dealloc %t : memref<?x4xf32>
  return
}

// Tests that memory of run-time size is freed behind its last use, which may be by a view.
// CHECK-LABEL: func.func @last_use(
func.func @last_use(%a: memref<?x4xf32>, %n: index) {
  // CHECK: %[[T:.*]] = executor.alloc[%{{.*}}] : memref<?x4xf32>
  %t = memref.alloc(%n) : memref<?x4xf32>
  // CHECK: executor.copy %{{.*}} to %[[T]]
  memref.copy %a, %t : memref<?x4xf32> to memref<?x4xf32>
  // CHECK: %[[V:.*]] = executor.view %[[T]]
  %v = memref.collapse_shape %t [[0, 1]] : memref<?x4xf32> into memref<?xf32>
  // CHECK: executor.launch @cpu::@f(%[[V]]
  // CHECK-NEXT: executor.free %[[T]]
  plan.call @cpu::@f(%v, %n) outs(%a) : (memref<?xf32>, index, memref<?x4xf32>) -> ()
  // CHECK-NEXT: return
  return
}

module @cpu2 {
  llvm.func @grown(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr)
  llvm.func @filled(!llvm.ptr, !llvm.ptr, !llvm.ptr)
}

// Tests that a loop carries addresses, with the extents as scalars beside them, that what it hands over is not freed, and that what comes
// out of it is a view with extents.
// CHECK-LABEL: func.func @grow(
// CHECK: %[[I:.*]] = executor.alloc[%[[N:.*]]] : memref<?xf32>
// CHECK: %[[R:.*]]:2 = scf.while (%{{.*}} = %[[I]], %{{.*}} = %[[N]])
// CHECK: ^bb0(%[[X:.*]]: memref<?xf32>, %[[M:.*]]: index):
// CHECK: %[[NEXT:.*]] = executor.add %[[M]]
// CHECK: %[[Y:.*]] = executor.alloc[%[[NEXT]]]
// CHECK-NEXT: executor.launch @cpu2::@grown(%[[X]], %[[M]], %[[NEXT]], %[[Y]])
// CHECK-NEXT: executor.free %[[X]]
// CHECK-NEXT: scf.yield %[[Y]], %[[NEXT]]
// CHECK: %[[S:.*]] = executor.view %[[R]]#0[%[[R]]#1] : memref<?xf32> to memref<?xf32>
// CHECK: executor.copy %[[S]]
// CHECK-NEXT: executor.free %[[R]]#0
func.func @grow(%a: memref<?xf32>, %n: index, %c: i1) {
  %c1 = arith.constant 1 : index
  %i = memref.alloc(%n) : memref<?xf32>
  %r:2 = scf.while (%x = %i, %m = %n) : (memref<?xf32>, index) -> (memref<?xf32>, index) {
    scf.condition(%c) %x, %m : memref<?xf32>, index
  } do {
  ^bb0(%x: memref<?xf32>, %m: index):
    %next = arith.addi %m, %c1 : index
    %y = memref.alloc(%next) : memref<?xf32>
    plan.call @cpu2::@grown(%x, %m, %next) outs(%y) : (memref<?xf32>, index, index, memref<?xf32>) -> ()
    memref.dealloc %x : memref<?xf32>
    scf.yield %y, %next : memref<?xf32>, index
  }
  %s = plan.with_shape %r#0(%r#1) : memref<?xf32>
  %o = executor.request 0[%r#1] : memref<?xf32>
  memref.copy %s, %o : memref<?xf32> to memref<?xf32>
  memref.dealloc %r#0 : memref<?xf32>
  return
}

// Tests that a buffer of static shape that control flow hands over is allocated, and that one that it does not lies in the workspace.
// CHECK-LABEL: func.func @handed_over(
// CHECK: %[[T:.*]] = executor.workspace at 0 : memref<4xf32>
// CHECK: %[[R:.*]] = scf.index_switch
// CHECK: case 3
// CHECK: %[[A:.*]] = executor.alloc : memref<4xf32>
// CHECK: scf.yield %[[A]]
// CHECK: default
// CHECK: %[[B:.*]] = executor.alloc : memref<4xf32>
// CHECK: executor.copy %[[T]] to %[[B]]
// CHECK: scf.yield %[[B]]
// CHECK: executor.copy %[[R]] to %[[T]]
// CHECK: executor.free %[[R]]
func.func @handed_over(%k: index) {
  %t = memref.alloc() : memref<4xf32>
  plan.call @cpu2::@filled() outs(%t) : (memref<4xf32>) -> ()
  %r = scf.index_switch %k -> memref<4xf32>
  case 3 {
    %a = memref.alloc() : memref<4xf32>
    plan.call @cpu2::@filled() outs(%a) : (memref<4xf32>) -> ()
    scf.yield %a : memref<4xf32>
  }
  default {
    %a = memref.alloc() : memref<4xf32>
    memref.copy %t, %a : memref<4xf32> to memref<4xf32>
    scf.yield %a : memref<4xf32>
  }
  memref.copy %r, %t : memref<4xf32> to memref<4xf32>
  memref.dealloc %r : memref<4xf32>
  return
}
