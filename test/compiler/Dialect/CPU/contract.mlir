// RUN: latewood-opt %s | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --mlir-print-op-generic | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" | FileCheck %s --check-prefix=BUFFERS

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#n = affine_map<(m, n, k) -> (n)>
#scalar = affine_map<(m, n, k) -> ()>

// Tests that a product with an epilogue, on tensors, prints as it parses, and that it is computed in its destination.
// CHECK-LABEL: func.func @tensors(
// CHECK: %[[R:.*]] = cpu.contract ins(%{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<8x16xf32>)
// CHECK-SAME: extras(%{{.*}}, %{{.*}} : tensor<16xf32>, f32) outs(%{{.*}} : tensor<4x16xf32>)
// CHECK-SAME: maps [#{{.*}}, #{{.*}}, #{{.*}}, #{{.*}}, #{{.*}}] {
// CHECK: ^bb0(%[[ACC:.*]]: f32, %[[BIAS:.*]]: f32, %[[SCALE:.*]]: f32):
// CHECK:   %[[Y:.*]] = math.fma %[[ACC]], %[[SCALE]], %[[BIAS]] : f32
// CHECK:   cpu.yield %[[Y]] : f32
// CHECK: } -> tensor<4x16xf32>
// BUFFERS-LABEL: func.func @tensors(
// BUFFERS-SAME: %[[X:.*]]: memref<4x8xf32>, %[[W:.*]]: memref<8x16xf32>, %[[B:.*]]: memref<16xf32>, %[[S:.*]]: f32, %[[O:.*]]: memref<4x16xf32>)
// BUFFERS-NOT: memref.alloc
// BUFFERS: cpu.contract ins(%[[X]], %[[W]] : {{.*}}) extras(%[[B]], %[[S]] : memref<16xf32>, f32) outs(%[[O]] : memref<4x16xf32>)
// BUFFERS-NOT: memref.copy
func.func @tensors(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %b: tensor<16xf32>, %s: f32, %o: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %0 = cpu.contract ins(%x, %w : tensor<4x8xf32>, tensor<8x16xf32>) extras(%b, %s : tensor<16xf32>, f32)
    outs(%o : tensor<4x16xf32>) maps [#mk, #kn, #n, #scalar, #mn] {
  ^bb0(%acc: f32, %bias: f32, %scale: f32):
    %1 = math.fma %acc, %scale, %bias : f32
    cpu.yield %1 : f32
  } -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// Tests that a residual that is read where the result is written shares its buffer with the result.
// BUFFERS-LABEL: func.func @residual(
// BUFFERS-SAME: %[[X:.*]]: memref<4x8xf32>, %[[W:.*]]: memref<8x16xf32>, %[[R:.*]]: memref<4x16xf32>)
// BUFFERS-NOT: memref.alloc
// BUFFERS: cpu.contract ins(%[[X]], %[[W]] : {{.*}}) extras(%[[R]] : memref<4x16xf32>) outs(%[[R]] : memref<4x16xf32>)
func.func @residual(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %r: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %0 = cpu.contract ins(%x, %w : tensor<4x8xf32>, tensor<8x16xf32>) extras(%r : tensor<4x16xf32>)
    outs(%r : tensor<4x16xf32>) maps [#mk, #kn, #mn, #mn] {
  ^bb0(%acc: f32, %residual: f32):
    %1 = arith.addf %acc, %residual : f32
    cpu.yield %1 : f32
  } -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// Tests that a factor never shares its buffer with the result.
// BUFFERS-LABEL: func.func @square(
// BUFFERS: memref.alloc
func.func @square(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = cpu.contract ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%x : tensor<8x8xf32>) maps [#mk, #kn, #mn] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  } -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Tests batched products on buffers, narrow unsigned factors, and a layout with strides.
// CHECK-LABEL: func.func @buffers(
// CHECK: cpu.contract ins(%{{.*}}, %{{.*}} : memref<2x4x8xi8>, memref<8x16x2xi8, strided<[64, 4, 1], offset: ?>>)
// CHECK-SAME: outs(%{{.*}} : memref<2x4x16xi32>) maps [{{.*}}] attributes {lhs_unsigned} {
func.func @buffers(%x: memref<2x4x8xi8>, %w: memref<8x16x2xi8, strided<[64, 4, 1], offset: ?>>, %o: memref<2x4x16xi32>) {
  cpu.contract ins(%x, %w : memref<2x4x8xi8>, memref<8x16x2xi8, strided<[64, 4, 1], offset: ?>>) outs(%o : memref<2x4x16xi32>)
    maps [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n, b)>, affine_map<(b, m, n, k) -> (b, m, n)>]
    attributes {lhs_unsigned} {
  ^bb0(%acc: i32):
    cpu.yield %acc : i32
  }
  return
}

// Tests calls of the library.
// CHECK-LABEL: func.func @call(
// CHECK: cpu.library_call "lw_packB_f32"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : memref<64xf32>, index, memref<8x8xf32>, index, index
func.func @call(%d: memref<64xf32>, %s: memref<8x8xf32>, %i: index) {
  cpu.library_call "lw_packB_f32"(%d, %i, %s, %i, %i) : memref<64xf32>, index, memref<8x8xf32>, index, index
  return
}
