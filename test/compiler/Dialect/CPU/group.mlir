// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: latewood-opt %s | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --mlir-print-op-generic | latewood-opt | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// Tests that a group comes back on tensors.
// CHECK-LABEL: func @tensors
// CHECK: %{{.+}} = cpu.group ins(%{{.+}} : tensor<8xf32>) outs(%{{.+}} : tensor<8xf32>) {
// CHECK: cpu.group_yield %{{.+}} : tensor<8xf32>
// CHECK: } -> tensor<8xf32>
func.func @tensors(%x: tensor<8xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  %r = cpu.group ins(%x : tensor<8xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
    %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<8xf32>) outs(%b : tensor<8xf32>) {
    ^bb0(%p: f32, %q: f32):
      %s = math.exp %p : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    cpu.group_yield %0 : tensor<8xf32>
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// Tests that on buffers a group has no results, and tensors inside.
// CHECK-LABEL: func @buffers
// CHECK: cpu.group ins(%{{.+}} : memref<8xf32>) outs(%{{.+}} : memref<8xf32>) {
// CHECK-NEXT: ^bb0(%{{.+}}: tensor<8xf32>, %{{.+}}: tensor<8xf32>):
func.func @buffers(%x: memref<8xf32>, %o: memref<8xf32>) {
  cpu.group ins(%x : memref<8xf32>) outs(%o : memref<8xf32>) {
  ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
    %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<8xf32>) outs(%b : tensor<8xf32>) {
    ^bb0(%p: f32, %q: f32):
      %s = math.exp %p : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    cpu.group_yield %0 : tensor<8xf32>
  }
  return
}

func.func private @body(index, index, memref<8xf32>)

// Tests the form of a parallel loop.
// CHECK-LABEL: func @parallel
// CHECK: cpu.parallel_for @body tasks(%{{.+}}) args(%{{.+}} : memref<8xf32>)
func.func @parallel(%n: index, %x: memref<8xf32>) {
  cpu.parallel_for @body tasks(%n) args(%x : memref<8xf32>)
  return
}
