// RUN: latewood-opt %s --split-input-file --verify-diagnostics

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Tests (C1): tensors and buffers do not mix.
func.func @mixed(%x: tensor<4x8xf32>, %w: memref<8x16xf32>, %o: tensor<4x16xf32>) {
  // expected-error @below {{has tensors and buffers among its operands}}
  %0 = cpu.contract ins(%x, %w : tensor<4x8xf32>, memref<8x16xf32>) outs(%o : tensor<4x16xf32>) maps [#mk, #kn, #mn] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  } -> tensor<4x16xf32>
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Tests (C1): a product on tensors has a result.
func.func @noResult(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %o: tensor<4x16xf32>) {
  // expected-error @below {{on tensors must have one result of init's type}}
  cpu.contract ins(%x, %w : tensor<4x8xf32>, tensor<8x16xf32>) outs(%o : tensor<4x16xf32>) maps [#mk, #kn, #mn] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Tests (C2): one map per operand.
func.func @twoMaps(%x: memref<4x8xf32>, %w: memref<8x16xf32>, %o: memref<4x16xf32>) {
  // expected-error @below {{has 2 indexing maps for 3 operands}}
  cpu.contract ins(%x, %w : memref<4x8xf32>, memref<8x16xf32>) outs(%o : memref<4x16xf32>) maps [#mk, #mn] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#window = affine_map<(m, n, k) -> (m + k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Tests (C2): only lhs is indexed by sums.
func.func @window(%x: memref<4x8xf32>, %w: memref<8x16xf32>, %o: memref<4x16xf32>) {
  // expected-error @below {{indexing map 1 must be a projected permutation}}
  cpu.contract ins(%x, %w : memref<4x8xf32>, memref<8x16xf32>) outs(%o : memref<4x16xf32>) maps [#mk, #window, #mn] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#k = affine_map<(m, n, k) -> (k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Tests (C2): a map has a result for each dimension of its operand.
func.func @rank(%x: memref<4x8xf32>, %w: memref<8x16xf32>, %o: memref<4x16xf32>) {
  // expected-error @below {{indexing map 1 has 1 results for an operand with 2 dimensions}}
  cpu.contract ins(%x, %w : memref<4x8xf32>, memref<8x16xf32>) outs(%o : memref<4x16xf32>) maps [#mk, #k, #mn] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Tests (C3): extents agree.
func.func @extents(%x: memref<4x8xf32>, %w: memref<9x16xf32>, %o: memref<4x16xf32>) {
  // expected-error @below {{operand 0 has extent 8 for dimension 2 of the iteration space, another operand has 9}}
  cpu.contract ins(%x, %w : memref<4x8xf32>, memref<9x16xf32>) outs(%o : memref<4x16xf32>) maps [#mk, #kn, #mn] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#n = affine_map<(m, n, k) -> (n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Tests (C4): a dimension of one factor only is none that a product has.
func.func @loneDimension(%x: memref<4x8xf32>, %w: memref<16xf32>, %o: memref<4x16xf32>) {
  // expected-error @below {{dimension 2 must index at least two of lhs, rhs and init}}
  cpu.contract ins(%x, %w : memref<4x8xf32>, memref<16xf32>) outs(%o : memref<4x16xf32>) maps [#mk, #n, #mn] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#k = affine_map<(m, n, k) -> (k)>

// Tests (C5): there is no reduced dimension after the sum.
func.func @reducedExtra(%x: memref<4x8xf32>, %w: memref<8x16xf32>, %e: memref<8xf32>, %o: memref<4x16xf32>) {
  // expected-error @below {{extra operand 0 is indexed by a dimension that the result does not have}}
  cpu.contract ins(%x, %w : memref<4x8xf32>, memref<8x16xf32>) extras(%e : memref<8xf32>) outs(%o : memref<4x16xf32>)
    maps [#mk, #kn, #k, #mn] {
  ^bb0(%acc: f32, %extra: f32):
    cpu.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Tests (C6): the number of region arguments.
func.func @arguments(%x: memref<4x8xf32>, %w: memref<8x16xf32>, %o: memref<4x16xf32>) {
  // expected-error @below {{has 2 region arguments for an accumulator and 0 extra operands}}
  cpu.contract ins(%x, %w : memref<4x8xf32>, memref<8x16xf32>) outs(%o : memref<4x16xf32>) maps [#mk, #kn, #mn] {
  ^bb0(%acc: f32, %extra: f32):
    cpu.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Tests (C6): the type of what is yielded.
func.func @yield(%x: memref<4x8xf32>, %w: memref<8x16xf32>, %o: memref<4x16xbf16>) {
  // expected-error @below {{must end with cpu.yield of an element of init, 'bf16'}}
  cpu.contract ins(%x, %w : memref<4x8xf32>, memref<8x16xf32>) outs(%o : memref<4x16xbf16>) maps [#mk, #kn, #mn] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Tests (C7): one kind of numbers.
func.func @kinds(%x: memref<4x8xi32>, %w: memref<8x16xf32>, %o: memref<4x16xf32>) {
  // expected-error @below {{needs lhs, rhs and accumulator of one kind, integer or float, has 'i32', 'f32' and 'f32'}}
  cpu.contract ins(%x, %w : memref<4x8xi32>, memref<8x16xf32>) outs(%o : memref<4x16xf32>) maps [#mk, #kn, #mn] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Tests (C7): the accumulator holds every factor.
func.func @narrow(%x: memref<4x8xf32>, %w: memref<8x16xf32>, %o: memref<4x16xbf16>) {
  // expected-error @below {{has an accumulator of type 'bf16' that is narrower than a factor ('f32', 'f32')}}
  cpu.contract ins(%x, %w : memref<4x8xf32>, memref<8x16xf32>) outs(%o : memref<4x16xbf16>) maps [#mk, #kn, #mn] {
  ^bb0(%acc: bf16):
    cpu.yield %acc : bf16
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Tests (C8): an epilogue is arithmetic.
func.func @effects(%x: memref<4x8xf32>, %w: memref<8x16xf32>, %o: memref<4x16xf32>, %s: memref<f32>) {
  cpu.contract ins(%x, %w : memref<4x8xf32>, memref<8x16xf32>) outs(%o : memref<4x16xf32>) maps [#mk, #kn, #mn] {
  ^bb0(%acc: f32):
    // expected-error @below {{cannot stand in the epilogue of 'cpu.contract': it has side effects or regions}}
    memref.store %acc, %s[] : memref<f32>
    cpu.yield %acc : f32
  }
  return
}

// -----

#y = affine_map<(m, n, k) -> (m - k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Tests (C2): factors of a sum are positive.
func.func @negative(%x: memref<12xf32>, %w: memref<3x16xf32>, %o: memref<4x16xf32>) {
  // expected-error @below {{indexing map 0 must be linear}}
  cpu.contract ins(%x, %w : memref<12xf32>, memref<3x16xf32>) outs(%o : memref<4x16xf32>) maps [#y, #kn, #mn] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}

// -----

#y = affine_map<(m, n, k) -> (m * 2 + k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Tests (C3): a sum stays inside of lhs.
func.func @outside(%x: memref<8xf32>, %w: memref<3x16xf32>, %o: memref<4x16xf32>) {
  // expected-error @below {{reads lhs at position 8 of a dimension of extent 8}}
  cpu.contract ins(%x, %w : memref<8xf32>, memref<3x16xf32>) outs(%o : memref<4x16xf32>) maps [#y, #kn, #mn] {
  ^bb0(%acc: f32):
    cpu.yield %acc : f32
  }
  return
}

// -----

// Tests that a library call begins with a buffer (C1).
func.func @noBuffer(%i: index) {
  // expected-error @below {{needs a buffer as its first operand}}
  cpu.library_call "lw_packB_f32"(%i) : index
  return
}

// -----

// Tests that a buffer of a library call is followed by an index (C2).
func.func @noIndex(%d: memref<64xf32>) {
  // expected-error @below {{operand 0, a buffer, must be followed by an index}}
  cpu.library_call "lw_packB_f32"(%d, %d) : memref<64xf32>, memref<64xf32>
  return
}
