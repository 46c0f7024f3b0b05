// RUN: latewood-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(builtin.module(func.func(latewood-lower-contractions,canonicalize,cse)))' | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#n = affine_map<(m, n, k) -> (n)>
module {
module attributes {plan.target = #plan.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4", features = "">} {
// Tests a large product on AVX-512: tasks over columns, two panels of B packed together, tiles of 12 rows and the rest of 4, the epilogue
// on vectors.
// CHECK-LABEL: func.func @large(
// CHECK-SAME: %[[X:.*]]: memref<256x500xf32>, %[[W:.*]]: memref<500x1024xf32>, %[[B:.*]]: memref<1024xf32>, %[[O:.*]]: memref<256x1024xf32>)
// CHECK: scf.forall (%[[J:.*]]) in (16) {
// CHECK:   %[[SUMS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<384xf32>
// CHECK:   %[[PANEL:.*]] = memref.alloc() {alignment = 64 : i64} : memref<32000xf32>
// CHECK:   cpu.library_call "lw_packB_f32"(%[[PANEL]], %c0, %[[W]], %{{.*}}, %c1024, %c1, %c500, %c64)
// CHECK:   scf.for %[[P:.*]] = %c0 to %c2 step %c1 {
// CHECK:   scf.for %{{.*}} = %c0 to %c22 step %c1 {
// CHECK:     %[[ROWS:.*]] = arith.minsi %{{.*}}, %c12
// CHECK:     memref.prefetch
// CHECK:     vector.store %{{.*}}, %[[SUMS]]
// CHECK:     %[[FULL:.*]] = arith.cmpi eq, %[[ROWS]], %c12
// CHECK:     scf.if %[[FULL]] {
// CHECK:       cpu.library_call "lw_mk_f32"(%[[SUMS]], %c0, %[[X]], %[[A:.*]], %c500, %c1, %[[PANEL]], %[[OFFSET:.*]], %c32, %c500)
// CHECK:     } else {
// CHECK:       cpu.library_call "lw_mk4_f32"(%[[SUMS]], %c0, %[[X]], %[[A]], %c500, %c1, %[[PANEL]], %[[OFFSET]], %c32, %c500)
// CHECK:     vector.load %[[B]]
// CHECK:     scf.for %{{.*}} = %c0 to %[[ROWS]] step %c1 {
// CHECK:       vector.load %[[SUMS]]
// CHECK:       arith.addf %{{.*}} : vector<16xf32>
// CHECK:       vector.store
func.func @large(%x: memref<256x500xf32>, %w: memref<500x1024xf32>, %b: memref<1024xf32>, %o: memref<256x1024xf32>) {
  cpu.contract ins(%x, %w : memref<256x500xf32>, memref<500x1024xf32>) extras(%b : memref<1024xf32>)
    outs(%o : memref<256x1024xf32>) maps [#mk, #kn, #n, #mn] {
  ^bb0(%acc: f32, %bias: f32):
    %0 = arith.addf %acc, %bias : f32
    cpu.yield %0 : f32
  }
  return
}

// Tests a small product: no tasks; 10 columns are a narrow panel, stored through a mask.
// CHECK-LABEL: func.func @small(
// CHECK-NOT: scf.forall
// CHECK: cpu.library_call "lw_packB_f32"
// CHECK: cpu.library_call "lw_mk4_f32_v1"
// CHECK: vector.maskedstore
// CHECK-NOT: cpu.contract
func.func @small(%x: memref<4x64xf32>, %w: memref<64x10xf32>, %o: memref<4x10xf32>) {
  cpu.contract ins(%x, %w : memref<4x64xf32>, memref<64x10xf32>) outs(%o : memref<4x10xf32>) maps [#mk, #kn, #mn] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}

// Tests that a result that is contiguous along the rows exchanges the factors.
// CHECK-LABEL: func.func @exchanged(
// CHECK-SAME: %[[X:.*]]: memref<8x32xf32>, %[[W:.*]]: memref<8x4xf32>
// CHECK: cpu.library_call "lw_mk4_f32"(%{{.*}}, %c0, %[[W]], %c0, %c1, %c4, %[[X]], %c0, %c32, %c8)
func.func @exchanged(%x: memref<8x32xf32>, %w: memref<8x4xf32>, %o: memref<4x32xf32>) {
  cpu.contract ins(%x, %w : memref<8x32xf32>, memref<8x4xf32>) outs(%o : memref<4x32xf32>)
    maps [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (n, m)>] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}

// Tests that one row streams the matrix, in either layout.
// CHECK-LABEL: func.func @oneRow(
// CHECK-SAME: %[[X:.*]]: memref<4096xf32>, %[[W:.*]]: memref<4096x4096xf32>,
// CHECK: scf.forall (%{{.*}}) in (4) {
// CHECK: cpu.library_call "lw_matvec_f32"(%{{.*}}, %c0, %[[X]], %c0, %[[W]], %{{.*}}, %c4096, %c4096, %c1024)
// CHECK: scf.forall (%{{.*}}) in (64) {
// CHECK: cpu.library_call "lw_matvec_t_f32"(%{{.*}}, %c0, %[[X]], %c0, %[[W]], %{{.*}}, %c4096, %c4096, %c64)
func.func @oneRow(%x: memref<4096xf32>, %w: memref<4096x4096xf32>, %o: memref<4096xf32>) {
  cpu.contract ins(%x, %w : memref<4096xf32>, memref<4096x4096xf32>) outs(%o : memref<4096xf32>)
    maps [affine_map<(n, k) -> (k)>, affine_map<(n, k) -> (k, n)>, affine_map<(n, k) -> (n)>] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  cpu.contract ins(%w, %x : memref<4096x4096xf32>, memref<4096xf32>) outs(%o : memref<4096xf32>)
    maps [affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (k)>, affine_map<(n, k) -> (n)>] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}

// Tests that a few rows make a few steps of the sum for all panels, so that the matrix is read in long rows.
// CHECK-LABEL: func.func @streamed(
// CHECK: scf.forall (%{{.*}}) in (4) {
// CHECK:   scf.for %{{.*}} = %c0 to %c4096 step %c16 {
// CHECK:     scf.for
// CHECK:       cpu.library_call "lw_mk8_f32"(%{{.*}}, %c4096, %c1, %{{.*}}, %c4096, %c16)
func.func @streamed(%x: memref<8x4096xf32>, %w: memref<4096x4096xf32>, %o: memref<8x4096xf32>) {
  cpu.contract ins(%x, %w : memref<8x4096xf32>, memref<4096x4096xf32>) outs(%o : memref<8x4096xf32>) maps [#mk, #kn, #mn] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}

// Tests that narrow floats are widened by the packing of both factors.
// CHECK-LABEL: func.func @widened(
// CHECK: cpu.library_call "lw_packA_bf16_f32"
// CHECK: cpu.library_call "lw_packB_bf16_f32"
// CHECK: cpu.library_call "lw_mk_f32"
func.func @widened(%x: memref<64x64xbf16>, %w: memref<64x64xbf16>, %o: memref<64x64xf32>) {
  cpu.contract ins(%x, %w : memref<64x64xbf16>, memref<64x64xbf16>) outs(%o : memref<64x64xf32>) maps [#mk, #kn, #mn] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}

// Tests that a sum over two dimensions that do not lie inside each other is made in parts.
// CHECK-LABEL: func.func @twoSums(
// CHECK: scf.for %{{.*}} = %c0 to %c12 step %c1 {
// CHECK:   cpu.library_call "lw_mk_f32"
func.func @twoSums(%x: memref<12x36x64xf32>, %w: memref<12x64x32xf32>, %o: memref<36x32xf32>) {
  cpu.contract ins(%x, %w : memref<12x36x64xf32>, memref<12x64x32xf32>) outs(%o : memref<36x32xf32>)
    maps [affine_map<(m, n, h, e) -> (h, m, e)>, affine_map<(m, n, h, e) -> (h, e, n)>, affine_map<(m, n, h, e) -> (m, n)>] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}

// Tests a convolution: a row of the image is the rows of a product; taps in a row and channels are one sum, taps in a column are its
// parts; neighbouring tiles read the same pixels in place.
// CHECK-LABEL: func.func @convolution(
// CHECK-SAME: %[[X:.*]]: memref<1x58x58x64xf32>, %[[W:.*]]: memref<3x3x64x64xf32>
// CHECK: scf.forall (%{{.*}}, %{{.*}}) in (56, 2) {
// CHECK:   scf.for %{{.*}} = %c0 to %c5 step %c1 {
// CHECK:     scf.for %{{.*}} = %c0 to %c3 step %c1 {
// CHECK:       cpu.library_call "lw_mk_f32"(%{{.*}}, %c0, %[[X]], %{{.*}}, %c64, %c1, %[[W]], %{{.*}}, %c64, %c192)
func.func @convolution(%x: memref<1x58x58x64xf32>, %w: memref<3x3x64x64xf32>, %o: memref<1x56x56x64xf32>) {
  cpu.contract ins(%x, %w : memref<1x58x58x64xf32>, memref<3x3x64x64xf32>) outs(%o : memref<1x56x56x64xf32>)
    maps [affine_map<(n, y, x, o, i, v, u) -> (n, y + v, x + u, i)>, affine_map<(n, y, x, o, i, v, u) -> (v, u, i, o)>,
          affine_map<(n, y, x, o, i, v, u) -> (n, y, x, o)>] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}

// Tests that a long sum is made in blocks, outside of the loop over panels.
// CHECK-LABEL: func.func @longSum(
// CHECK: scf.for %{{.*}} = %c0 to %c10000 step %c2000 {
// CHECK:   scf.for %{{.*}} = %c0 to %c3 step %c1 {
// CHECK:     cpu.library_call "lw_mk_f32"(%{{.*}}, %c32, %c2000)
func.func @longSum(%x: memref<36x10000xf32>, %w: memref<10000x32xf32>, %o: memref<36x32xf32>) {
  cpu.contract ins(%x, %w : memref<36x10000xf32>, memref<10000x32xf32>) outs(%o : memref<36x32xf32>) maps [#mk, #kn, #mn] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}

// Tests that an empty sum is zero, and that nothing is written where there is no result.
// CHECK-LABEL: func.func @empty(
// CHECK-SAME: %[[O:[a-z0-9]*]]: memref<4x16xf32>, %{{[a-z0-9]*}}: memref<0x16xf32>)
// CHECK: memref.store %{{.*}}, %[[O]]
// CHECK-NOT: memref.store
func.func @empty(%x: memref<4x0xf32>, %w: memref<0x16xf32>, %z: memref<0x4xf32>, %v: memref<4x16xf32>, %o: memref<4x16xf32>, %p: memref<0x16xf32>) {
  cpu.contract ins(%x, %w : memref<4x0xf32>, memref<0x16xf32>) outs(%o : memref<4x16xf32>) maps [#mk, #kn, #mn] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  cpu.contract ins(%z, %v : memref<0x4xf32>, memref<4x16xf32>) outs(%p : memref<0x16xf32>) maps [#mk, #kn, #mn] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}

// Tests that a layout that is not known runs in plain loops, with a remark.
// CHECK-LABEL: func.func @dynamicLayout(
// CHECK: memref.load
// CHECK: arith.mulf
func.func @dynamicLayout(%x: memref<4x8xf32, strided<[?, 1]>>, %w: memref<8x16xf32>, %o: memref<4x16xf32>) {
  // expected-remark @below {{this product runs in plain loops, because the layout of operand 0 is dynamic}}
  cpu.contract ins(%x, %w : memref<4x8xf32, strided<[?, 1]>>, memref<8x16xf32>) outs(%o : memref<4x16xf32>) maps [#mk, #kn, #mn] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}
}
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
module {
module attributes {plan.target = #plan.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "">} {
// Tests that the tile is the target's: 6 rows and 16 columns with AVX2.
// CHECK-LABEL: func.func @avx2(
// CHECK: cpu.library_call "lw_mk_f32"
// CHECK: arith.addi %{{.*}}, %c8
// CHECK: vector.load {{.*}} vector<8xf32>
func.func @avx2(%x: memref<12x64xf32>, %w: memref<64x32xf32>, %o: memref<12x32xf32>) {
  cpu.contract ins(%x, %w : memref<12x64xf32>, memref<64x32xf32>) outs(%o : memref<12x32xf32>) maps [#mk, #kn, #mn] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}
}
}
