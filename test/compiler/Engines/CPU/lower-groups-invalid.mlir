// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: latewood-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(latewood-lower-groups))'

#id = affine_map<(d0) -> (d0)>

// Tests that a body without a vector form is said to run one element at a time.
func.func @scalar(%x: memref<512xf32>, %o: memref<512xf32>) {
  // expected-remark@+1 {{not vectorized: operation 'scf.if' has no vector form}}
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<512xf32>) outs(%o : memref<512xf32>) {
  ^bb0(%p: f32, %q: f32):
    %z = arith.constant 0.0 : f32
    %c = arith.cmpf ogt, %p, %z : f32
    %r = scf.if %c -> f32 {
      scf.yield %p : f32
    } else {
      scf.yield %z : f32
    }
    linalg.yield %r : f32
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// Tests that tensors at this point are an error.
func.func @tensors(%x: tensor<8xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{is on tensors where buffers are expected}}
  %0 = linalg.exp ins(%x : tensor<8xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Tests that a layout that is not known is an error.
func.func @layout(%x: memref<8x8xf32, strided<[?, ?]>>, %o: memref<8x8xf32>) {
  // expected-error@+1 {{works on a buffer of unknown layout}}
  linalg.exp ins(%x : memref<8x8xf32, strided<[?, ?]>>) outs(%o : memref<8x8xf32>)
  return
}
