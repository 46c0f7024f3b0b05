// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: latewood-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(latewood-plan-memory,func.func(canonicalize))' | FileCheck %s

// Tests that a function without buffers of its own needs no workspace, and gets the argument all the same.
// CHECK: func @none(%{{.+}}: memref<8xf32>, %{{.+}}: memref<0xi8> {llvm.noalias}) attributes {cpu.workspace_bytes = 0 : i64}
func.func @none(%x: memref<8xf32>) {
  return
}

// -----

// Tests that a place is used again after its buffer's last use: a and c share one.
// CHECK: func @chain(%{{.+}}: memref<64xf32>, %[[M:.+]]: memref<512xi8> {llvm.noalias}) attributes {cpu.workspace_bytes = 512 : i64}
// CHECK-NOT: memref.alloc
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0 : index
// CHECK-DAG: %[[NEXT:.+]] = arith.constant 256 : index
// CHECK: %[[A:.+]] = memref.view %[[M]][%[[FIRST:.+]]][]
// CHECK: %[[B:.+]] = memref.view %[[M]][%[[SECOND:.+]]][]
// CHECK: %[[C:.+]] = memref.view %[[M]][%[[FIRST]]][]
func.func @chain(%x: memref<64xf32>) {
  %a = memref.alloc() : memref<64xf32>
  memref.copy %x, %a : memref<64xf32> to memref<64xf32>
  %b = memref.alloc() : memref<64xf32>
  memref.copy %a, %b : memref<64xf32> to memref<64xf32>
  %c = memref.alloc() : memref<64xf32>
  memref.copy %b, %c : memref<64xf32> to memref<64xf32>
  memref.copy %c, %x : memref<64xf32> to memref<64xf32>
  return
}

// -----

// Tests that a buffer that a loop reads lives through the whole loop: the one inside of the loop gets another place.
// CHECK: func @loop(%{{.+}}: memref<64xf32>, %{{.+}}: memref<512xi8>
func.func @loop(%x: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %a = memref.alloc() : memref<64xf32>
  memref.copy %x, %a : memref<64xf32> to memref<64xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    memref.copy %a, %x : memref<64xf32> to memref<64xf32>
    %b = memref.alloc() : memref<64xf32>
    memref.copy %x, %b : memref<64xf32> to memref<64xf32>
    memref.copy %b, %x : memref<64xf32> to memref<64xf32>
  }
  return
}

// -----

// Tests buffers of dynamic shape: the first and the third have the same size and share a place, the second, which lives with both,
// has its own. The function asks for both at once, and gives them back. A size that overflows becomes 2^48.
// CHECK: func @dynamic(%{{.+}}: memref<?xf32> {plan.extents = array<i64: 1>}, %[[N:.+]]: index, %{{.+}}: memref<0xi8>
// CHECK-DAG: %[[MOST:.+]] = arith.constant 281474976710656 : index
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0 : index
// CHECK: %[[LOW:.+]], %[[HIGH:.+]] = arith.mului_extended %[[N]], %{{.+}}
// CHECK: arith.select %{{.+}}, %[[MOST]]
// CHECK: arith.andi
// CHECK: %[[M:.+]] = cpu.allocate %{{.+}} : memref<?xi8>
// CHECK: memref.view %[[M]][%[[A:.+]]][%[[N]]] : memref<?xi8> to memref<?xf32>
// CHECK: memref.view %[[M]][%[[B:.+]]][%[[N]]] : memref<?xi8> to memref<?xf32>
// CHECK: memref.view %[[M]][%[[A]]][%[[N]]] : memref<?xi8> to memref<?xf32>
// CHECK: cpu.release %[[M]]
func.func @dynamic(%x: memref<?xf32> {plan.extents = array<i64: 1>}, %n: index) {
  %a = memref.alloc(%n) : memref<?xf32>
  memref.copy %x, %a : memref<?xf32> to memref<?xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  memref.copy %a, %b : memref<?xf32> to memref<?xf32>
  %c = memref.alloc(%n) : memref<?xf32>
  memref.copy %b, %c : memref<?xf32> to memref<?xf32>
  memref.copy %c, %x : memref<?xf32> to memref<?xf32>
  return
}

// -----

// Tests that a size that is computed in the middle of a function is computed again at its beginning, and that static buffers stay in
// the workspace.
// CHECK: func @middle(%[[N:.+]]: index, %[[W:.+]]: memref<64xi8>
// CHECK: %[[M:.+]] = cpu.allocate
// CHECK: memref.view %[[W]]
// CHECK: scf.for
// CHECK: %[[D:.+]] = arith.muli %[[N]], %[[N]]
// CHECK: memref.view %[[M]][%{{.+}}][%[[D]]]
func.func @middle(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<16xf32>
  memref.store %z, %s[%c0] : memref<16xf32>
  scf.for %i = %c0 to %n step %c1 {
    %d = arith.muli %n, %n : index
    %a = memref.alloc(%d) : memref<?xf32>
    memref.store %z, %a[%c0] : memref<?xf32>
  }
  return
}

// -----

// Tests scratch of a parallel body: the caller computes how much the body needs of what it passes, and the body finds its buffers
// behind the static ones. A kernel is given its memory in the same way.
// CHECK: func private @body(%{{.+}}: index, %{{.+}}: index, %[[N:.+]]: index, %[[S:.+]]: memref<i8> {llvm.noalias}) attributes {cpu.workspace_bytes = 64 : i64}
// CHECK: %[[M:.+]] = memref.reinterpret_cast %[[S]] to offset: [0], sizes: [%{{.+}}], strides: [1] : memref<i8> to memref<?xi8>
// CHECK: memref.view %[[M]][%{{.+}}][] : memref<?xi8> to memref<16xf32>
// CHECK: memref.view %[[M]][%{{.+}}][%[[N]]] : memref<?xi8> to memref<?xf32>
func.func private @body(%begin: index, %end: index, %n: index) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<16xf32>
  memref.store %z, %s[%c0] : memref<16xf32>
  %a = memref.alloc(%n) : memref<?xf32>
  memref.store %z, %a[%c0] : memref<?xf32>
  memref.store %z, %s[%c0] : memref<16xf32>
  return
}
// CHECK: func private @kernel(%[[K:.+]]: index, %{{.+}}: memref<i8> {llvm.noalias}) attributes {cpu.kernel
func.func private @kernel(%n: index) attributes {cpu.kernel} {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %a = memref.alloc(%n) : memref<?xf32>
  memref.store %z, %a[%c0] : memref<?xf32>
  return
}
// CHECK: func @caller(%{{.+}}: !llvm.ptr, %[[LENGTH:.+]]: index, %{{.+}}: memref<0xi8>
// CHECK: cpu.allocate
// CHECK: cpu.parallel_for @body tasks(%{{.+}}) scratch(%{{.+}}) args(%[[LENGTH]] : index)
// CHECK: %[[V:.+]] = memref.view
// CHECK: %[[BASE:.+]] = memref.reinterpret_cast %[[V]] to offset: [0], sizes: [], strides: [] : memref<?xi8> to memref<i8>
// CHECK: call @kernel(%[[LENGTH]], %[[BASE]])
func.func @caller(%call: !llvm.ptr, %length: index) {
  %c8 = arith.constant 8 : index
  cpu.parallel_for @body tasks(%c8) args(%length : index)
  func.call @kernel(%length) : (index) -> ()
  return
}

// -----

// Tests that a size that depends on what the function does is refused.
func.func @unknown(%x: memref<index>) {
  %n = memref.load %x[] : memref<index>
  // expected-error@+1 {{cannot plan memory for 'memref<?xf32>': an extent is not known when the function begins}}
  %a = memref.alloc(%n) : memref<?xf32>
  return
}

// -----

// Tests that a buffer that one iteration hands to the next is refused: both would be in one place.
func.func @handed_over(%x: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%b = %x) -> memref<64xf32> {
    // expected-error@+1 {{cannot plan memory for a buffer that one iteration of a loop hands to the next}}
    %a = memref.alloc() : memref<64xf32>
    memref.copy %b, %a : memref<64xf32> to memref<64xf32>
    scf.yield %a : memref<64xf32>
  }
  return
}
