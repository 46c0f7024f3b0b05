// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: latewood-opt %s --pass-pipeline='builtin.module(latewood-convert-cpu-to-llvm,latewood-check-cpu-code)' | FileCheck %s

// Tests that a parallel loop stores what it captures into a frame, made once at the entry, and calls the runtime; the entry of the
// body takes the frame apart.
// CHECK: llvm.func internal @f_body_0_entry(%[[FRAME:.+]]: !llvm.ptr, %[[BEGIN:.+]]: i64, %[[END:.+]]: i64, %[[SCRATCH:.+]]: !llvm.ptr)
// CHECK: llvm.getelementptr %[[FRAME]][0, 0]
// CHECK: llvm.load {{.+}} -> !llvm.ptr
// CHECK: llvm.getelementptr %[[FRAME]][0, 1]
// CHECK: llvm.load {{.+}} -> f32
// CHECK: llvm.call @f_body_0(%[[BEGIN]], %[[END]], %{{.+}}, %{{.+}}, %[[SCRATCH]])
// CHECK: llvm.func @f_body_0({{.+}}!llvm.ptr {llvm.noalias}, %{{.+}}: f32, %{{.+}}: !llvm.ptr
func.func private @f_body_0(%begin: index, %end: index, %x: memref<8xf32> {llvm.noalias}, %v: f32, %scratch: memref<64xi8>) attributes {cpu.workspace_bytes = 64 : i64} {
  %c1 = arith.constant 1 : index
  scf.for %i = %begin to %end step %c1 {
    memref.store %v, %x[%i] : memref<8xf32>
  }
  return
}

// CHECK: llvm.func @f(%[[CALL:.+]]: !llvm.ptr, %[[X:.+]]: !llvm.ptr, %[[V:.+]]: f32, %{{.+}}: !llvm.ptr) attributes {cpu.workspace_bytes = 0 : i64}
// CHECK: %[[F:.+]] = llvm.alloca %{{.+}} x !llvm.struct<(ptr, f32)>
// CHECK: llvm.store %[[X]], %{{.+}} : !llvm.ptr, !llvm.ptr
// CHECK: llvm.store %[[V]], %{{.+}} : f32, !llvm.ptr
// CHECK: %[[BODY:.+]] = llvm.mlir.addressof @f_body_0_entry
// CHECK: llvm.getelementptr %[[CALL]][0, 0]
// CHECK: llvm.call %{{.+}}(%[[CALL]], %[[BODY]], %[[F]], %{{.+}}, %{{.+}})
func.func @f(%call: !llvm.ptr, %x: memref<8xf32>, %v: f32, %memory: memref<0xi8>) attributes {cpu.workspace_bytes = 0 : i64} {
  %c8 = arith.constant 8 : index
  cpu.parallel_for @f_body_0 tasks(%c8) args(%x, %v : memref<8xf32>, f32)
  return
}

// Tests a buffer of dynamic shape: a bare pointer, its extent another argument. Memory of dynamic size is asked for; without it the
// function returns at once.
// CHECK: llvm.func @dynamic(%[[CALL:.+]]: !llvm.ptr, %[[X:.+]]: !llvm.ptr, %[[N:.+]]: i64, %{{.+}}: !llvm.ptr) attributes {cpu.workspace_bytes = 0 : i64}
// CHECK: %[[M:.+]] = llvm.call %{{.+}}(%[[CALL]], %[[N]], %{{.+}}) : !llvm.ptr, (!llvm.ptr, i64, i64) -> !llvm.ptr
// CHECK: %[[NONE:.+]] = llvm.icmp "eq"
// CHECK: llvm.cond_br %[[NONE]], ^[[END:.+]], ^[[REST:.+]]
// CHECK: ^[[REST]]:
// CHECK: llvm.mul %{{.+}}, %[[N]]
// CHECK: llvm.call %{{.+}}(%[[CALL]], %[[M]])
// CHECK: ^[[END]]:
// CHECK-NEXT: llvm.return
func.func @dynamic(%call: !llvm.ptr, %x: memref<3x?xf32> {plan.extents = array<i64: 2>}, %n: index, %memory: memref<0xi8>) attributes {cpu.workspace_bytes = 0 : i64} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %m = cpu.allocate %n : memref<?xi8>
  %a = memref.view %m[%c0][%n] : memref<?xi8> to memref<?xf32>
  %v = memref.load %x[%c2, %c0] : memref<3x?xf32>
  memref.store %v, %a[%c0] : memref<?xf32>
  cpu.release %m : memref<?xi8>
  return
}

// Tests that a vector is frozen before it is truncated, and that the one lane of a constant mask is stored as a scalar: both keep
// LLVM from reading or writing at the width that the elements had.
// CHECK-LABEL: llvm.func @narrow(
// CHECK: %[[WIDE:.+]] = llvm.load {{.+}} -> vector<4xi64>
// CHECK: %[[FROZEN:.+]] = llvm.freeze %[[WIDE]]
// CHECK: %[[NARROW:.+]] = llvm.trunc %[[FROZEN]] : vector<4xi64> to vector<4xi8>
// CHECK: %[[LANE:.+]] = llvm.extractelement %[[NARROW]]
// CHECK: llvm.store %[[LANE]], %{{.+}} : i8, !llvm.ptr
// CHECK-NOT: llvm.intr.masked.store
// CHECK: llvm.return
func.func @narrow(%call: !llvm.ptr, %x: memref<8xi64>, %y: memref<8xi8>, %workspace: memref<0xi8>) attributes {cpu.workspace_bytes = 0 : i64} {
  %c2 = arith.constant 2 : index
  %mask = arith.constant dense<[false, true, false, false]> : vector<4xi1>
  %wide = vector.load %x[%c2] : memref<8xi64>, vector<4xi64>
  %narrow = arith.trunci %wide : vector<4xi64> to vector<4xi8>
  vector.maskedstore %y[%c2], %mask, %narrow : memref<8xi8>, vector<4xi1>, vector<4xi8>
  return
}
