// RUN: latewood-opt %s --split-input-file --verify-diagnostics --latewood-check-signatures

// Tests that a module without a public function is refused.
// expected-error @below {{the module has no public function; expected one, usually 'main'}}
module {
  func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> {
    return %a : tensor<4xf32>
  }
}

// -----

// Tests that types without a form in memory are refused.
// expected-error @below {{public function 'main': argument 0 is 'tensor<*xf32>'; expected a ranked tensor of integers, floats or complex numbers}}
func.func @main(%a: tensor<*xf32>) {
  return
}

// -----

// Tests that tensors whose bytes cannot be counted are refused.
// expected-error @below {{public function 'main': argument 0 is 'tensor<4611686018427387904x4xf32>', which has more bytes than can be counted}}
func.func @main(%a: tensor<4611686018427387904x4xf32>) {
  return
}
