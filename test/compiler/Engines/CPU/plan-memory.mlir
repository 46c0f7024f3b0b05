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

// Tests that a buffer of dynamic size is refused.
func.func @dynamic(%n: index) {
  // expected-error@+1 {{cannot plan memory for 'memref<?xf32>': only buffers of static shape have a place}}
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
