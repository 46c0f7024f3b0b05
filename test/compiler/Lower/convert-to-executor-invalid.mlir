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

// -----

// Tests that the host computes no floats.
func.func @main(%a: memref<f32>) {
  // expected-error @below {{reads or writes an element of type 'f32'; the host computes integers}}
  %0 = memref.load %a[] : memref<f32>
  return
}

// -----

// Tests that a loop's step is a positive constant.
func.func @main(%n: index) {
  // expected-error @below {{counts signed, by a step that is a positive constant}}
  scf.for %i = %n to %n step %n {
  }
  return
}

// -----

// Tests that control flow carries no buffer whose layout is not canonical.
func.func @main(%a: memref<4xf32, strided<[2]>>, %c: i1) {
  // expected-error @below {{'scf.if' carries a value of type 'memref<4xf32, strided<[2]>>'}}
  %0 = scf.if %c -> memref<4xf32, strided<[2]>> {
    scf.yield %a : memref<4xf32, strided<[2]>>
  } else {
    scf.yield %a : memref<4xf32, strided<[2]>>
  }
  return
}

// -----

// Tests that a buffer of an iteration stays in it: every iteration has the same one.
func.func @main(%a: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %c1 step %c1 iter_args(%b = %a) -> memref<4xf32> {
    // expected-error @below {{a buffer that is allocated in a loop leaves its iteration}}
    %t = memref.alloc() : memref<4xf32>
    scf.yield %t : memref<4xf32>
  }
  return
}
