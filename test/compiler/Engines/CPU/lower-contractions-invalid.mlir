// RUN: latewood-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(latewood-lower-contractions))'

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Tests that products are compiled for a target.
// expected-error @below {{is in no module with the attribute 'plan.target': products are compiled for a target}}
func.func @noTarget(%x: memref<4x8xf32>, %w: memref<8x16xf32>, %o: memref<4x16xf32>) {
  cpu.contract ins(%x, %w : memref<4x8xf32>, memref<8x16xf32>) outs(%o : memref<4x16xf32>) maps [#mk, #kn, #mn] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

module attributes {plan.target = #plan.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4", features = "">} {
// Tests that products must be on buffers.
func.func @tensors(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %o: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // expected-error @below {{must be on buffers here: it runs after bufferization}}
  %0 = cpu.contract ins(%x, %w : tensor<4x8xf32>, tensor<8x16xf32>) outs(%o : tensor<4x16xf32>) maps [#mk, #kn, #mn] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  } -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}
}
