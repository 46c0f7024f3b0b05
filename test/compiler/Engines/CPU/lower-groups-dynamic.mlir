// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: latewood-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(latewood-lower-groups,canonicalize,cse))' | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// Tests that loops are one where the extents say so, whatever they are; that the number of tasks is computed from the
// extents; and that the rest of a task is one masked step.
// CHECK-LABEL: func @flat
// CHECK-SAME: %[[N:[^ ,:]+]]: index, %[[M:[^ ,:]+]]: index, %[[X:[^ ,:]+]]: memref<?x?xf32>
// CHECK: %[[ALL:.+]] = arith.muli %[[N]], %[[M]] : index
// CHECK: memref.reinterpret_cast %[[X]] to offset: [0], sizes: [%[[ALL]]], strides: [1] : memref<?x?xf32> to memref<?xf32>
// CHECK: %[[CHUNK:.+]] = arith.maxsi %{{.+}}, %c64
// CHECK: %[[TASKS:.+]] = arith.divui %{{.+}}, %[[CHUNK]] : index
// CHECK: scf.forall (%[[T:.+]]) in (%[[TASKS]]) {
// CHECK:   %[[LOW:.+]] = arith.muli %[[T]], %[[CHUNK]]
// CHECK:   %[[HIGH:.+]] = arith.minsi %{{.+}}, %[[ALL]]
// CHECK:   scf.for %[[I:.+]] = %[[LOW]] to %[[FULL:.+]] step %c8 {
// CHECK-NEXT: vector.load %{{.+}}[%[[I]]] : memref<?xf32>, vector<8xf32>
// CHECK-NEXT: math.exp
// CHECK-NEXT: vector.store
// CHECK-NEXT: }
// CHECK:   scf.if
// CHECK:     %[[MASK:.+]] = vector.create_mask
// CHECK:     vector.maskedload %{{.+}}[%[[FULL]]], %[[MASK]]
// CHECK:     vector.maskedstore
// CHECK-NOT: scf.for
func.func @flat(%n: index, %m: index, %x: memref<?x?xf32> {plan.extents = array<i64: 0, 1>},
                %o: memref<?x?xf32> {plan.extents = array<i64: 0, 1>}) {
  cpu.group ins(%x : memref<?x?xf32>) outs(%o : memref<?x?xf32>) {
  ^bb0(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>):
    %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<?x?xf32>) outs(%b : tensor<?x?xf32>) {
    ^bb0(%p: f32, %q: f32):
      %s = math.exp %p : f32
      linalg.yield %s : f32
    } -> tensor<?x?xf32>
    cpu.group_yield %0 : tensor<?x?xf32>
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Tests that there is no rest where the extent is a multiple of the vectors, whatever it is.
// CHECK-LABEL: func @multiple
// CHECK: scf.forall
// CHECK: scf.for
// CHECK-NOT: create_mask
func.func @multiple(%n: index, %x: memref<?x64xf32> {plan.extents = array<i64: 0>}, %o: memref<?x64xf32> {plan.extents = array<i64: 0>}) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<?x64xf32>) outs(%o : memref<?x64xf32>) {
  ^bb0(%p: f32, %q: f32):
    %s = math.exp %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Tests a softmax: rows are grouped into tasks of enough work, a row-local tensor has a row's size, reductions carry
// four vectors, then one, then a masked one, and the maximum of a row stays in a register.
// CHECK-LABEL: func @softmax
// CHECK-SAME: %[[N:[^ ,:]+]]: index, %[[M:[^ ,:]+]]: index
// CHECK: scf.forall (%{{.+}}) in (%{{.+}}) {
// CHECK: %[[ROW:.+]] = memref.alloc(%[[M]]) {alignment = 64 : i64} : memref<?xf32>
// CHECK-NOT: memref.alloc
// CHECK: scf.for
// CHECK:   %[[MAIN:.+]] = arith.andi %[[M]], %c-32
// CHECK:   scf.for %{{.+}} = %c0 to %[[MAIN]] step %c32 iter_args(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK:   %[[FULL:.+]] = arith.andi %[[M]], %c-8
// CHECK:   scf.for %{{.+}} = %[[MAIN]] to %[[FULL]] step %c8 iter_args(%{{.+}}) -> (vector<8xf32>)
// CHECK:   scf.if %{{.+}} -> (vector<8xf32>)
// CHECK:   vector.reduction <maximumf>
// CHECK:   math.exp
// CHECK:   vector.store %{{.+}}, %[[ROW]]
// CHECK:   vector.reduction <add>
// CHECK:   arith.divf
func.func @softmax(%n: index, %m: index, %x: memref<?x?xf32> {plan.extents = array<i64: 0, 1>},
                   %o: memref<?x?xf32> {plan.extents = array<i64: 0, 1>}) {
  cpu.group ins(%x, %n, %m : memref<?x?xf32>, index, index) outs(%o : memref<?x?xf32>) {
  ^bb0(%a: tensor<?x?xf32>, %rn: index, %rm: index, %b: tensor<?x?xf32>):
    %ninf = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %e1 = tensor.empty(%rn) : tensor<?xf32>
    %e2 = tensor.empty(%rn, %rm) : tensor<?x?xf32>
    %f1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], cpu.rows = array<i64: 0>} outs(%e1 : tensor<?xf32>) {
    ^bb0(%q: f32):
      linalg.yield %ninf : f32
    } -> tensor<?xf32>
    %f2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], cpu.rows = array<i64: 0>} outs(%e1 : tensor<?xf32>) {
    ^bb0(%q: f32):
      linalg.yield %zero : f32
    } -> tensor<?xf32>
    %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"], cpu.rows = array<i64: 0>} ins(%a : tensor<?x?xf32>) outs(%f1 : tensor<?xf32>) {
    ^bb0(%p: f32, %q: f32):
      %s = arith.maximumf %q, %p : f32
      linalg.yield %s : f32
    } -> tensor<?xf32>
    %exp = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"], cpu.rows = array<i64: 0>} ins(%a, %max : tensor<?x?xf32>, tensor<?xf32>) outs(%e2 : tensor<?x?xf32>) {
    ^bb0(%p: f32, %r: f32, %q: f32):
      %s = arith.subf %p, %r : f32
      %t = math.exp %s : f32
      linalg.yield %t : f32
    } -> tensor<?x?xf32>
    %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"], cpu.rows = array<i64: 0>} ins(%exp : tensor<?x?xf32>) outs(%f2 : tensor<?xf32>) {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %q, %p fastmath<reassoc> : f32
      linalg.yield %s : f32
    } -> tensor<?xf32>
    %div = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"], cpu.rows = array<i64: 0>} ins(%exp, %sum : tensor<?x?xf32>, tensor<?xf32>) outs(%b : tensor<?x?xf32>) {
    ^bb0(%p: f32, %r: f32, %q: f32):
      %s = arith.divf %p, %r : f32
      linalg.yield %s : f32
    } -> tensor<?x?xf32>
    cpu.group_yield %div : tensor<?x?xf32>
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Tests that a transposition is done in tiles: full ones without masks, and rests at both ends whose loads and stores
// are masked or skipped.
// CHECK-LABEL: func @transpose
// CHECK: scf.forall
// CHECK: scf.for %{{.+}} step %c8
// CHECK: scf.for %{{.+}} step %c8
// CHECK-COUNT-8: vector.load
// CHECK: vector.shuffle
// CHECK-COUNT-8: vector.store
// CHECK: scf.if
// CHECK-COUNT-8: vector.maskedload
// CHECK: vector.store
// CHECK-COUNT-7: scf.if
// CHECK: scf.if
// CHECK: vector.create_mask
// CHECK: arith.select
// CHECK: vector.maskedstore
func.func @transpose(%n: index, %m: index, %x: memref<?x?xf32> {plan.extents = array<i64: 0, 1>},
                     %o: memref<?x?xf32> {plan.extents = array<i64: 1, 0>}) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<?x?xf32>) outs(%o : memref<?x?xf32>) {
  ^bb0(%p: f32, %q: f32):
    linalg.yield %p : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// Tests that rows of two dimensions that cannot be one are counted as one: the digits of a task's first row are
// computed once, then counted on.
// CHECK-LABEL: func @digits
// CHECK-SAME: %[[A:[^ ,:]+]]: index, %[[B:[^ ,:]+]]: index, %[[C:[^ ,:]+]]: index
// CHECK: %[[ROWS:.+]] = arith.muli %[[A]], %[[B]]
// CHECK: scf.forall
// CHECK: %[[J:.+]] = arith.remui %[[FIRST:.+]], %[[B]]
// CHECK: %[[I:.+]] = arith.divui %[[FIRST]], %[[B]]
// CHECK: scf.for %{{.+}} = %[[FIRST]] to %{{.+}} step %c1 iter_args(%{{.+}} = %[[I]], %[[DIGIT:.+]] = %[[J]])
// CHECK: scf.for
// CHECK: %[[NEXT:.+]] = arith.addi %[[DIGIT]], %c1
// CHECK: arith.cmpi eq, %[[NEXT]], %[[B]]
func.func @digits(%a: index, %b: index, %c: index, %x: memref<?x?x?xf32> {plan.extents = array<i64: 1, 0, 2>},
                  %o: memref<?x?x?xf32> {plan.extents = array<i64: 0, 1, 2>}) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0, d2)>, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : memref<?x?x?xf32>) outs(%o : memref<?x?x?xf32>) {
  ^bb0(%p: f32, %q: f32):
    linalg.yield %p : f32
  }
  return
}

// -----

// Tests that a piece of a concatenation, at an offset that is an extent, is written in place.
// CHECK-LABEL: func @piece
// CHECK-SAME: %[[N:[^ ,:]+]]: index
// CHECK: %[[BASE:.+]], %[[OFFSET:.+]], %{{.+}}:2, %{{.+}}:2 = memref.extract_strided_metadata
// CHECK: scf.forall
// CHECK: vector.load
// CHECK: vector.store
func.func @piece(%n: index, %m: index, %k: index, %x: memref<?x?xf32> {plan.extents = array<i64: 1, 2>},
                 %o: memref<?x?xf32> {plan.extents = array<i64: 0, 2>}) {
  %at = arith.subi %n, %m : index
  %v = memref.subview %o[%at, 0] [%m, %k] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
  memref.copy %x, %v : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
  return
}

// -----

// Tests that inside of a parallel loop nothing is split.
// CHECK-LABEL: func @nested
// CHECK: scf.forall
// CHECK-NOT: scf.forall
// CHECK: scf.for
func.func @nested(%n: index, %x: memref<?xf32> {plan.extents = array<i64: 0>}, %o: memref<?xf32> {plan.extents = array<i64: 0>}) {
  scf.forall (%i) in (4) {
    linalg.exp ins(%x : memref<?xf32>) outs(%o : memref<?xf32>)
  }
  return
}
