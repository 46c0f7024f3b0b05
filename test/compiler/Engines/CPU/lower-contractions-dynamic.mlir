// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: latewood-opt %s --split-input-file --pass-pipeline='builtin.module(builtin.module(func.func(latewood-lower-contractions,canonicalize,cse)))' | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module {
module attributes {plan.target = #plan.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "">} {
// Tests dynamic rows: the program asks for one row, then for few; what static extents decide is not asked. The number of tasks is
// computed, and there is one where the product is small. Of few rows the matrix is read where it lies.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[X:.*]]: memref<?x64xf32> {{.*}}, %[[W:.*]]: memref<64x48xf32>, %[[O:.*]]: memref<?x48xf32> {{.*}}, %[[M:.*]]: index)
// CHECK: %[[ONE:.*]] = arith.cmpi eq, %[[M]], %c1
// CHECK: scf.if %[[ONE]] {
// CHECK:   cpu.library_call "lw_matvec_f32"
// CHECK: } else {
// CHECK:   %[[FEW:.*]] = arith.cmpi sle, %[[M]], %c12
// CHECK:   scf.if %[[FEW]] {
// CHECK:     scf.forall (%{{.*}}, %{{.*}}) in (%{{.*}}, %{{.*}})
// CHECK-NOT: lw_packB
// CHECK:       cpu.library_call "lw_mk_f32"(%{{.*}}, %{{.*}}, %[[X]], %{{.*}}, %c64, %c1, %[[W]], %{{.*}}, %c48, %c64)
// CHECK:   } else {
// CHECK:     scf.forall
// CHECK:       cpu.library_call "lw_packB_f32"
// CHECK:       %[[REST:.*]] = arith.minsi %{{.*}}, %c6
// CHECK:       scf.if
// CHECK:         cpu.library_call "lw_mk_f32"
// CHECK:       } else {
// CHECK:         %[[FOUR:.*]] = arith.cmpi sge, %[[REST]], %c4
// CHECK:         scf.if %[[FOUR]] {
// CHECK:           cpu.library_call "lw_mk4_f32"
// CHECK:         arith.select %[[FOUR]]
// CHECK:           cpu.library_call "lw_mk2_f32"
// CHECK:           cpu.library_call "lw_mk1_f32"
// CHECK-NOT: cpu.contract
// CHECK: return
func.func @rows(%x: memref<?x64xf32> {plan.extents = array<i64: 3>}, %w: memref<64x48xf32>, %o: memref<?x48xf32> {plan.extents = array<i64: 3>}, %m: index) {
  cpu.contract ins(%x, %w : memref<?x64xf32>, memref<64x48xf32>) outs(%o : memref<?x48xf32>) maps [#mk, #kn, #mn] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}

// Tests dynamic columns: the last panel has as many as are left, narrow or wide, and is stored through a mask.
// CHECK-LABEL: func.func @columns(
// CHECK-SAME: {{.*}}, %[[N:[a-z0-9]+]]: index)
// CHECK: scf.forall
// CHECK:   vector.store %{{.*}}, %{{.*}} : memref<?xf32>, vector<8xf32>
// CHECK:   %[[WIDE:.*]] = arith.cmpi sgt, %[[TAIL:.*]], %c8
// CHECK:   scf.if %[[WIDE]] {
// CHECK:     cpu.library_call "lw_packB_f32"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[N]], %c1, %c64, %[[TAIL]])
// CHECK:     vector.create_mask
// CHECK:     vector.maskedstore
// CHECK:   } else {
// CHECK:     cpu.library_call "lw_mk_f32_v1"
// CHECK:     vector.maskedstore
func.func @columns(%x: memref<6x64xf32>, %w: memref<64x?xf32> {plan.extents = array<i64: 3>}, %o: memref<6x?xf32> {plan.extents = array<i64: 3>}, %n: index) {
  cpu.contract ins(%x, %w : memref<6x64xf32>, memref<64x?xf32>) outs(%o : memref<6x?xf32>) maps [#mk, #kn, #mn] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}

// Tests a dynamic sum: scratch is as large as the sum is long, and a long one is made in blocks.
// CHECK-LABEL: func.func @steps(
// CHECK-SAME: {{.*}}, %[[K:[a-z0-9]+]]: index)
// CHECK: %[[SHORT:.*]] = arith.cmpi sle, %[[K]], %c4096
// CHECK: scf.if %[[SHORT]] {
// CHECK:   scf.forall
// CHECK:     memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?xf32>
// CHECK:     cpu.library_call "lw_packB_f32"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %c48, %c1, %[[K]], %{{.*}})
// CHECK: } else {
// CHECK:   scf.for %[[STEP:.*]] = %c0 to %[[K]] step %[[BLOCK:.*]] {
// CHECK:     %[[STEPS:.*]] = arith.minsi %{{.*}}, %[[BLOCK]]
// CHECK:     cpu.library_call "lw_packB_f32"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %c48, %c1, %[[STEPS]], %{{.*}})
func.func @steps(%x: memref<60x?xf32> {plan.extents = array<i64: 3>}, %w: memref<?x48xf32> {plan.extents = array<i64: 3>}, %o: memref<60x48xf32>, %k: index) {
  cpu.contract ins(%x, %w : memref<60x?xf32>, memref<?x48xf32>) outs(%o : memref<60x48xf32>) maps [#mk, #kn, #mn] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}

// Tests that dimensions that lie inside each other are one also where they are dynamic: no loop over the batch.
// CHECK-LABEL: func.func @merged(
// CHECK-SAME: {{.*}}, %[[B:[a-z0-9]+]]: index, %[[S:[a-z0-9]+]]: index)
// CHECK: %[[ROWS:.*]] = arith.muli %[[S]], %[[B]]
// CHECK: arith.cmpi eq, %[[ROWS]], %c1
// CHECK: arith.cmpi sle, %[[ROWS]], %c12
func.func @merged(%x: memref<?x?x64xf32> {plan.extents = array<i64: 3, 4>}, %w: memref<64x48xf32>, %o: memref<?x?x48xf32> {plan.extents = array<i64: 3, 4>}, %b: index, %s: index) {
  cpu.contract ins(%x, %w : memref<?x?x64xf32>, memref<64x48xf32>) outs(%o : memref<?x?x48xf32>)
    maps [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}

// Tests a batch of dynamic size: a task does as many products of it as the program says, all where they are small.
// CHECK-LABEL: func.func @batch(
// CHECK-SAME: {{.*}}, %[[B:[a-z0-9]+]]: index)
// CHECK: %[[SMALL:.*]] = arith.cmpi slt, %{{.*}}, %c2097152
// CHECK: %[[PER:.*]] = arith.select %[[SMALL]], %[[B]], %c1
// CHECK: scf.forall
// CHECK:   %[[END:.*]] = arith.minsi %{{.*}}, %[[B]]
// CHECK:   scf.for %{{.*}} = %{{.*}} to %[[END]] step %c1
func.func @batch(%x: memref<?x10x64xf32> {plan.extents = array<i64: 3>}, %w: memref<?x64x48xf32> {plan.extents = array<i64: 3>}, %o: memref<?x10x48xf32> {plan.extents = array<i64: 3>}, %b: index) {
  cpu.contract ins(%x, %w : memref<?x10x64xf32>, memref<?x64x48xf32>) outs(%o : memref<?x10x48xf32>)
    maps [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}

// Tests a convolution of dynamic batch and extents: positions are rows, their strides are computed.
// CHECK-LABEL: func.func @convolution(
// CHECK: scf.forall
// CHECK: cpu.library_call "lw_packB_f32"
// CHECK: cpu.library_call "lw_mk_f32"
// CHECK-NOT: cpu.contract
func.func @convolution(%x: memref<?x?x?x5xf32> {plan.extents = array<i64: 3, 4, 5>}, %w: memref<3x3x5x20xf32>, %o: memref<?x?x?x20xf32> {plan.extents = array<i64: 3, 6, 7>},
    %b: index, %h: index, %v: index, %y: index, %z: index) {
  cpu.contract ins(%x, %w : memref<?x?x?x5xf32>, memref<3x3x5x20xf32>) outs(%o : memref<?x?x?x20xf32>)
    maps [affine_map<(b, y, x, n, ky, kx, k) -> (b, y + ky, x + kx, k)>, affine_map<(b, y, x, n, ky, kx, k) -> (ky, kx, k, n)>, affine_map<(b, y, x, n, ky, kx, k) -> (b, y, x, n)>] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}
}
}
