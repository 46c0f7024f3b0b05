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
