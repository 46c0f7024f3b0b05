// RUN: latewood-opt %s --split-input-file --verify-diagnostics

// Tests that brackets must match.
// expected-error @below {{expected the text of a mesh in matching brackets}}
sdy.mesh @mesh = <["x"=2>]

// -----

// Tests that a sharding is a text in brackets.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{expected the text of a sharding in matching brackets}}
  %0 = sdy.sharding_constraint %x @mesh : tensor<4xf32>
  return
}
