// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: latewood-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(latewood-outline-parallel-loops)' | FileCheck %s

// Tests that a body becomes a function: constants and views are in it, buffers are captured as noalias, scratch is made once for
// a range of tasks.
// CHECK: func.func private @f_body_0(%[[BEGIN:.+]]: index, %[[END:.+]]: index, %[[X:.+]]: memref<64xf32> {llvm.noalias})
// CHECK: memref.subview %[[X]][8] [8] [1]
// CHECK: memref.alloc() : memref<8xf32>
// CHECK: scf.for %{{.+}} = %[[BEGIN]] to %[[END]]
// CHECK-NOT: memref.alloc
// CHECK: memref.store
// CHECK: func.func @f(%{{.+}}: !llvm.ptr, %[[A:.+]]: memref<64xf32> {llvm.noalias})
// CHECK-NOT: scf.forall
// CHECK: cpu.parallel_for @f_body_0 tasks(%{{.+}}) args(%[[A]] : memref<64xf32>)
func.func @f(%x: memref<64xf32>) {
  %v = memref.subview %x[8] [8] [1] : memref<64xf32> to memref<8xf32, strided<[1], offset: 8>>
  %one = arith.constant 1.0 : f32
  scf.forall (%i) in (8) {
    %s = memref.alloc() : memref<8xf32>
    memref.store %one, %s[%i] : memref<8xf32>
    %y = memref.load %s[%i] : memref<8xf32>
    memref.store %y, %v[%i] : memref<8xf32, strided<[1], offset: 8>>
  }
  return
}

// -----

// Tests that two indices come from one task number, and that loops with equal code share a body.
// CHECK: func.func private @g_body_0
// CHECK: arith.remui
// CHECK: arith.divui
// CHECK-NOT: func.func private
// CHECK: func.func @g
// CHECK: cpu.parallel_for @g_body_0 tasks(%{{.+}}) args({{.+}} : f32, memref<4x8xf32>)
// CHECK: cpu.parallel_for @g_body_0
func.func @g(%x: memref<4x8xf32>, %y: memref<4x8xf32>, %z: f32) {
  scf.forall (%i, %j) in (4, 8) {
    memref.store %z, %x[%i, %j] : memref<4x8xf32>
  }
  scf.forall (%i, %j) in (4, 8) {
    memref.store %z, %y[%i, %j] : memref<4x8xf32>
  }
  return
}

// -----

// Tests that a buffer at an offset that is not known travels as base and offset.
// CHECK: func.func private @h_body_0(%{{.+}}: index, %{{.+}}: index, %{{.+}}: f32, %[[X:.+]]: memref<64xf32> {llvm.noalias}, %{{.+}}: index)
// CHECK: memref.subview %[[X]]
// CHECK: func.func @h
func.func @h(%x: memref<64xf32>, %n: index, %z: f32) {
  %v = memref.subview %x[%n] [8] [1] : memref<64xf32> to memref<8xf32, strided<[1], offset: ?>>
  scf.forall (%i) in (8) {
    memref.store %z, %v[%i] : memref<8xf32, strided<[1], offset: ?>>
  }
  return
}

// -----

// Tests that a buffer of dynamic shape is captured as its base and its extent, which is captured once; the number of tasks is computed.
// CHECK: func private @dynamic_body_0(%{{.+}}: index, %{{.+}}: index, %{{.+}}: f32, %[[X:.+]]: memref<f32> {llvm.noalias}, %[[Y:.+]]: memref<f32> {llvm.noalias}, %[[N:.+]]: index)
// CHECK-DAG: memref.reinterpret_cast %[[X]] to offset: [0], sizes: [%[[N]], 4], strides: [4, 1] : memref<f32> to memref<?x4xf32>
// CHECK-DAG: memref.reinterpret_cast %[[Y]] to offset: [0], sizes: [%[[N]]], strides: [1] : memref<f32> to memref<?xf32>
// CHECK: func @dynamic(%{{.+}}: !llvm.ptr, %{{.+}}: memref<?x4xf32> {llvm.noalias, plan.extents = array<i64: 3>}, %{{.+}}: memref<?xf32> {llvm.noalias, plan.extents = array<i64: 3>}, %[[LENGTH:.+]]: index
// CHECK: cpu.parallel_for @dynamic_body_0 tasks(%[[LENGTH]]) args(%{{.+}}, %{{.+}}, %{{.+}}, %[[LENGTH]] : f32, memref<f32>, memref<f32>, index)
func.func @dynamic(%x: memref<?x4xf32> {plan.extents = array<i64: 2>}, %y: memref<?xf32> {plan.extents = array<i64: 2>}, %n: index, %z: f32) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (%n) {
    memref.store %z, %x[%i, %c0] : memref<?x4xf32>
    memref.store %z, %y[%i] : memref<?xf32>
  }
  return
}

// -----

// Tests that loops over scalars whose iterations keep to themselves are run on all threads, with the scratch of an
// iteration, and those of a nest as one.
// CHECK-LABEL: func private @rows_body_0
// CHECK-SAME: %[[BEGIN:.+]]: index, %[[END:.+]]: index
// CHECK: memref.alloc() : memref<64xf32>
// CHECK: scf.for %[[TASK:.+]] = %[[BEGIN]] to %[[END]]
// CHECK: arith.remui %[[TASK]]
// CHECK: arith.divui %[[TASK]]
// CHECK: scf.for
// CHECK: func @rows
// CHECK: cpu.parallel_for @rows_body_0
func.func @rows(%x: memref<128x8x64xf32>, %out: memref<128x8x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %c128 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %row = memref.alloc() : memref<64xf32>
      scf.for %k = %c0 to %c64 step %c1 {
        %0 = memref.load %x[%i, %j, %k] : memref<128x8x64xf32>
        %1 = arith.addf %0, %0 : f32
        memref.store %1, %row[%k] : memref<64xf32>
        memref.store %1, %out[%i, %j, %k] : memref<128x8x64xf32>
      }
    }
  }
  return
}

// -----

// Tests that a loop that reads what another iteration writes stays as it is, and one that is over before threads begin.
// CHECK-LABEL: func @in_order
// CHECK-NOT: cpu.parallel_for
// CHECK: return
func.func @in_order(%x: memref<4096x64xf32>, %small: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c4096 = arith.constant 4096 : index
  scf.for %i = %c1 to %c4096 step %c1 {
    %before = arith.subi %i, %c1 : index
    scf.for %k = %c0 to %c64 step %c1 {
      %0 = memref.load %x[%before, %k] : memref<4096x64xf32>
      memref.store %0, %x[%i, %k] : memref<4096x64xf32>
    }
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %0 = memref.load %small[%i] : memref<8xf32>
    %1 = arith.addf %0, %0 : f32
    memref.store %1, %small[%i] : memref<8xf32>
  }
  return
}
