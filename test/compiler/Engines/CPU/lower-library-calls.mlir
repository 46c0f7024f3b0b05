// RUN: latewood-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(latewood-lower-library-calls)' | FileCheck %s

// Tests that the address is the buffer's, its offset and the index, and that the function is declared once.
// CHECK: llvm.func @lw_packB_f32(!llvm.ptr, !llvm.ptr, i64, i64)
// CHECK-NOT: llvm.func @lw_packB_f32
// CHECK-LABEL: func.func @call(
// CHECK-SAME: %[[D:.*]]: memref<64xf32>, %[[S:.*]]: memref<8x8xf32, strided<[8, 1], offset: ?>>, %[[I:.*]]: index)
// CHECK-DAG: %[[OFFSET:.*]] = {{.*}}memref.extract_strided_metadata %[[S]]
// CHECK-DAG: memref.extract_aligned_pointer_as_index %[[D]]
// CHECK-DAG: memref.extract_aligned_pointer_as_index %[[S]]
// CHECK: %[[P:.*]] = llvm.getelementptr inbounds %{{.*}} : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK: llvm.call @lw_packB_f32(%{{.*}}, %[[P]], %{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr, i64, i64) -> ()
// CHECK: llvm.call @lw_packB_f32
func.func @call(%d: memref<64xf32>, %s: memref<8x8xf32, strided<[8, 1], offset: ?>>, %i: index) {
  cpu.library_call "lw_packB_f32"(%d, %i, %s, %i, %i, %i) : memref<64xf32>, index, memref<8x8xf32, strided<[8, 1], offset: ?>>, index, index, index
  cpu.library_call "lw_packB_f32"(%d, %i, %d, %i, %i, %i) : memref<64xf32>, index, memref<64xf32>, index, index, index
  return
}

// -----

// Tests that a kernel is called through a function that is made once for the kernel and its constants, and takes what is none.
// CHECK: llvm.func @lw_mk_f32(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, i64, i64)
// CHECK: llvm.func internal @lw_mk_f32.64.1.32.x(%[[S:.*]]: !llvm.ptr {llvm.noalias}, %[[A:.*]]: !llvm.ptr {llvm.noalias}, %[[B:.*]]: !llvm.ptr {llvm.noalias}, %[[K:.*]]: i64) attributes {no_inline} {
// CHECK:   llvm.call @lw_mk_f32(%[[S]], %[[A]], %{{.*}}, %{{.*}}, %[[B]], %{{.*}}, %[[K]])
// CHECK:   llvm.return
// CHECK: llvm.func internal @lw_mk_f32.64.1.32.64(%{{[^,]*}}: !llvm.ptr {llvm.noalias}, %{{[^,]*}}: !llvm.ptr {llvm.noalias}, %{{[^,]*}}: !llvm.ptr {llvm.noalias}) attributes {no_inline}
// CHECK-NOT: llvm.func internal
// CHECK-LABEL: func.func @specialized(
// CHECK: llvm.call @lw_mk_f32.64.1.32.64(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}) : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
// CHECK: llvm.call @lw_mk_f32.64.1.32.64(
// CHECK: llvm.call @lw_mk_f32.64.1.32.x(
func.func @specialized(%s: memref<384xf32>, %a: memref<12x64xf32>, %b: memref<2048xf32>, %i: index) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  cpu.library_call "lw_mk_f32"(%s, %i, %a, %i, %c64, %c1, %b, %i, %c32, %c64) : memref<384xf32>, index, memref<12x64xf32>, index, index, index, memref<2048xf32>, index, index, index
  cpu.library_call "lw_mk_f32"(%s, %i, %a, %i, %c64, %c1, %b, %i, %c32, %c64) : memref<384xf32>, index, memref<12x64xf32>, index, index, index, memref<2048xf32>, index, index, index
  cpu.library_call "lw_mk_f32"(%s, %i, %a, %i, %c64, %c1, %b, %i, %c32, %i) : memref<384xf32>, index, memref<12x64xf32>, index, index, index, memref<2048xf32>, index, index, index
  return
}

// -----

// Tests that a name that is taken is an error.
func.func private @lw_packB_f32()
func.func @taken(%d: memref<64xf32>, %i: index) {
  // expected-error @below {{calls 'lw_packB_f32', which is not a function of the library in this module}}
  cpu.library_call "lw_packB_f32"(%d, %i) : memref<64xf32>, index
  return
}
