// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: latewood-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(latewood-lower-groups,canonicalize,cse))' | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// Tests that a small problem is straight code: two full vectors, and a masked step for the rest; no parallel loop.
// CHECK-LABEL: func @small
// CHECK: %[[MASK:.+]] = arith.constant dense<[true, true, true, false, false, false, false, false]> : vector<8xi1>
// CHECK-NOT: scf.forall
// CHECK: scf.for
// CHECK: vector.load %{{.+}} : memref<19xf32>, vector<8xf32>
// CHECK: math.exp %{{.+}} : vector<8xf32>
// CHECK: vector.store
// CHECK: vector.maskedload %{{.+}}, %[[MASK]]
// CHECK: math.exp
// CHECK: vector.maskedstore %{{.+}}, %[[MASK]]
func.func @small(%x: memref<19xf32>, %o: memref<19xf32>) {
  cpu.group ins(%x : memref<19xf32>) outs(%o : memref<19xf32>) {
  ^bb0(%a: tensor<19xf32>, %b: tensor<19xf32>):
    %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<19xf32>) outs(%b : tensor<19xf32>) {
    ^bb0(%p: f32, %q: f32):
      %s = math.exp %p : f32
      linalg.yield %s : f32
    } -> tensor<19xf32>
    cpu.group_yield %0 : tensor<19xf32>
  }
  return
}

// -----

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// Tests that loops that are one in memory become one, split into tasks; no rest where the length allows it.
// CHECK-LABEL: func @flat
// CHECK: scf.forall
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK-NOT: maskedload
func.func @flat(%x: memref<64x128x64xf32>, %o: memref<64x128x64xf32>) {
  cpu.group ins(%x : memref<64x128x64xf32>) outs(%o : memref<64x128x64xf32>) {
  ^bb0(%a: tensor<64x128x64xf32>, %b: tensor<64x128x64xf32>):
    %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a : tensor<64x128x64xf32>) outs(%b : tensor<64x128x64xf32>) {
    ^bb0(%p: f32, %q: f32):
      %s = math.exp %p : f32
      linalg.yield %s : f32
    } -> tensor<64x128x64xf32>
    cpu.group_yield %0 : tensor<64x128x64xf32>
  }
  return
}

// -----

// Tests that a sum along the rows carries several vectors and combines them once.
// CHECK-LABEL: func @row_sums
// CHECK: scf.for
// CHECK: scf.for {{.+}} iter_args(%{{.+}} = %{{.+}}, %{{.+}} = %{{.+}}, %{{.+}} = %{{.+}}, %{{.+}} = %{{.+}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK-COUNT-4: arith.addf %{{.+}}, %{{.+}} fastmath<reassoc> : vector<8xf32>
// CHECK: vector.reduction <add>, %{{.+}} fastmath<reassoc> : vector<8xf32> into f32
// CHECK: memref.store
func.func @row_sums(%x: memref<4x64xf32>, %o: memref<4xf32>) {
  cpu.group ins(%x : memref<4x64xf32>) outs(%o : memref<4xf32>) {
  ^bb0(%a: tensor<4x64xf32>, %b: tensor<4xf32>):
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x64xf32>) outs(%b : tensor<4xf32>) {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %q, %p fastmath<reassoc> : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    cpu.group_yield %0 : tensor<4xf32>
  }
  return
}

// -----

// Tests that a sum along the columns carries vectors of results.
// CHECK-LABEL: func @column_sums
// CHECK: scf.for {{.+}} iter_args({{.+}}) -> (vector<8xf32>
// CHECK-NOT: vector.reduction
func.func @column_sums(%x: memref<64x16xf32>, %o: memref<16xf32>) {
  cpu.group ins(%x : memref<64x16xf32>) outs(%o : memref<16xf32>) {
  ^bb0(%a: tensor<64x16xf32>, %b: tensor<16xf32>):
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%a : tensor<64x16xf32>) outs(%b : tensor<16xf32>) {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %q, %p fastmath<reassoc> : f32
      linalg.yield %s : f32
    } -> tensor<16xf32>
    cpu.group_yield %0 : tensor<16xf32>
  }
  return
}

// -----

// Tests that a sum whose order is fixed is not reordered.
// CHECK-LABEL: func @ordered
// CHECK: scf.for {{.+}} -> (f32)
// CHECK-NOT: vector
func.func @ordered(%x: memref<64xf32>, %o: memref<f32>) {
  cpu.group ins(%x : memref<64xf32>) outs(%o : memref<f32>) {
  ^bb0(%a: tensor<64xf32>, %b: tensor<f32>):
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%a : tensor<64xf32>) outs(%b : tensor<f32>) {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %q, %p : f32
      linalg.yield %s : f32
    } -> tensor<f32>
    cpu.group_yield %0 : tensor<f32>
  }
  return
}

// -----

// Tests that a transposition loads and stores full vectors, and turns squares around in registers.
// CHECK-LABEL: func @transposition
// CHECK-COUNT-8: vector.load
// CHECK: vector.shuffle
// CHECK-COUNT-8: vector.store
// CHECK-NOT: vector.gather
// CHECK-NOT: memref.load
func.func @transposition(%x: memref<32x16xf32>, %o: memref<16x32xf32>) {
  linalg.transpose ins(%x : memref<32x16xf32>) outs(%o : memref<16x32xf32>) permutation = [1, 0]
  return
}

// -----

// Tests that looking up rows of a table is a contiguous copy of each row.
// CHECK-LABEL: func @lookup
// CHECK: memref.load %{{.+}} : memref<5xi32>
// CHECK: vector.load %{{.+}} : memref<6400xf32>, vector<8xf32>
// CHECK: vector.store
// CHECK-NOT: vector.gather
func.func @lookup(%table: memref<100x64xf32>, %i: memref<5xi32>, %o: memref<5x64xf32>) {
  cpu.group ins(%table, %i : memref<100x64xf32>, memref<5xi32>) outs(%o : memref<5x64xf32>) {
  ^bb0(%t: tensor<100x64xf32>, %a: tensor<5xi32>, %b: tensor<5x64xf32>):
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<5xi32>) outs(%b : tensor<5x64xf32>) {
    ^bb0(%p: i32, %q: f32):
      %r = arith.index_cast %p : i32 to index
      %c = linalg.index 1 : index
      %e = tensor.extract %t[%r, %c] : tensor<100x64xf32>
      linalg.yield %e : f32
    } -> tensor<5x64xf32>
    cpu.group_yield %0 : tensor<5x64xf32>
  }
  return
}

// -----

// Tests that an empty tensor is no work, and a value without dimensions is scalar code.
// CHECK-LABEL: func @edges
// CHECK-NOT: scf.for
// CHECK: memref.load %{{.+}} : memref<1xf32>
// CHECK: arith.addf
// CHECK: memref.store
// CHECK-NOT: scf.for
func.func @edges(%n: memref<0x4xf32>, %m: memref<0x4xf32>, %x: memref<f32>, %o: memref<f32>) {
  memref.copy %n, %m : memref<0x4xf32> to memref<0x4xf32>
  linalg.add ins(%x, %x : memref<f32>, memref<f32>) outs(%o : memref<f32>)
  return
}
