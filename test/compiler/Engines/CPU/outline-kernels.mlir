// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: latewood-opt %s --split-input-file --pass-pipeline='builtin.module(latewood-outline-kernels{fewest=2})' | FileCheck %s
// RUN: latewood-opt %s --split-input-file --pass-pipeline='builtin.module(latewood-outline-kernels)' | FileCheck %s --check-prefix=WHOLE

// Tests that equal parts become one function; two that differ in a constant do not. Distinct buffers are noalias.
// A function of few parts stays whole.
// CHECK-LABEL: func.func @equal(
// CHECK-SAME: %[[A:.+]]: memref<8xf32>, %[[B:.+]]: memref<8xf32>)
// CHECK: %[[T:.+]] = memref.alloc()
// CHECK: call @equal_kernel_0(%[[A]], %[[T]])
// CHECK: call @equal_kernel_0(%[[T]], %[[B]])
// CHECK: call @equal_kernel_1(%[[A]], %[[T]])
// CHECK-NOT: memref.copy
// CHECK: func.func private @equal_kernel_{{.}}(%{{.+}}: memref<8xf32> {llvm.noalias}, %{{.+}}: memref<8xf32> {llvm.noalias}) attributes {cpu.kernel}
// WHOLE-LABEL: func.func @equal(
// WHOLE-NOT: call
// WHOLE-COUNT-3: linalg.generic
#id = affine_map<(d0) -> (d0)>
func.func @equal(%a: memref<8xf32>, %b: memref<8xf32>) {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %t = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<8xf32>) outs(%t : memref<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %one : f32
    linalg.yield %y : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%t : memref<8xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %one : f32
    linalg.yield %y : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<8xf32>) outs(%t : memref<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %two : f32
    linalg.yield %y : f32
  }
  return
}

// -----

// Tests that slices at different places are the same code, and that two views of one buffer are not noalias.
// CHECK-LABEL: func.func @slices(
// CHECK: %[[BASE0:.+]], %[[OFFSET0:.+]], %{{.+}}, %{{.+}} = memref.extract_strided_metadata
// CHECK: call @slices_kernel_0(%[[BASE0]], %[[OFFSET0]], %{{.+}}, %{{.+}})
// CHECK: call @slices_kernel_0(
// CHECK-NOT: memref.copy
// CHECK: func.func private @slices_kernel_0(%{{[a-z0-9]+}}: memref<f32>, %{{[a-z0-9]+}}: index, %{{[a-z0-9]+}}: memref<f32>, %{{[a-z0-9]+}}: index)
// CHECK: memref.copy
// CHECK-NOT: @slices_kernel_1
func.func @slices(%x: memref<8x4xf32>) {
  %a = memref.subview %x[1, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<1x4xf32, strided<[4, 1], offset: 4>>
  %b = memref.subview %x[2, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<1x4xf32, strided<[4, 1], offset: 8>>
  %c = memref.subview %x[3, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<1x4xf32, strided<[4, 1], offset: 12>>
  memref.copy %a, %b : memref<1x4xf32, strided<[4, 1], offset: 4>> to memref<1x4xf32, strided<[4, 1], offset: 8>>
  memref.copy %b, %c : memref<1x4xf32, strided<[4, 1], offset: 8>> to memref<1x4xf32, strided<[4, 1], offset: 12>>
  return
}

// -----

// Tests buffers of dynamic shape: a kernel is given bases and extents, and makes views of dynamic shape itself, so that it knows
// how their strides come about. Slices at different places are one kernel.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME: %{{.+}}: index, %[[M:.+]]: index
// CHECK: call @dynamic_kernel_0(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}})
// CHECK: call @dynamic_kernel_0(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}})
// CHECK-NOT: memref.copy
// CHECK: func.func private @dynamic_kernel_0(
// CHECK-COUNT-2: memref.reinterpret_cast %{{.+}} to offset: [0], sizes: [%{{.+}}, %{{.+}}], strides: [%{{.+}}, 1] : memref<f32> to memref<?x?xf32>
// CHECK: memref.subview
// CHECK: memref.copy
// CHECK-NOT: @dynamic_kernel_1
func.func @dynamic(%x: memref<?x?xf32> {plan.extents = array<i64: 1, 2>}, %n: index, %m: index, %i: index, %j: index, %y: memref<?x?xf32> {plan.extents = array<i64: 1, 2>}) {
  %a = memref.subview %x[%i, 0] [1, %m] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
  %b = memref.subview %y[%i, 0] [1, %m] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
  memref.copy %a, %b : memref<1x?xf32, strided<[?, 1], offset: ?>> to memref<1x?xf32, strided<[?, 1], offset: ?>>
  %c = memref.subview %x[%j, 0] [1, %m] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
  %d = memref.subview %y[%j, 0] [1, %m] [1, 1] : memref<?x?xf32> to memref<1x?xf32, strided<[?, 1], offset: ?>>
  memref.copy %c, %d : memref<1x?xf32, strided<[?, 1], offset: ?>> to memref<1x?xf32, strided<[?, 1], offset: ?>>
  return
}
