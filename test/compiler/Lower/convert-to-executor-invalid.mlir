// RUN: latewood-opt %s --split-input-file --verify-diagnostics --latewood-convert-to-executor

// Tests that an operation without a host form is refused.
func.func @main(%a: memref<4xf32>) {
  // expected-error @below {{'memref.assume_alignment' has no form in the host program}}
  %0 = memref.assume_alignment %a, 16 : memref<4xf32>
  return
}

// -----

// Tests that a cluster that its engine has not compiled is refused.
module @cpu {
  func.func private @f(memref<4xf32>)
}
func.func @main(%a: memref<4xf32>) {
  // expected-error @below {{callee @cpu::@f has not been compiled by its engine}}
  plan.call @cpu::@f() outs(%a) : (memref<4xf32>) -> ()
  return
}
