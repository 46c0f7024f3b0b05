// RUN: latewood-opt %s --split-input-file --verify-diagnostics

// Tests that (C1) of executor.request is checked: the identity layout.
func.func @f() {
  // expected-error @below {{needs the identity layout: results are row-major with offset 0}}
  %0 = executor.request 0 : memref<4x4xf32, strided<[8, 1]>>
  return
}

// -----

// Tests that (C1) of executor.request is checked: strides that are unknown until run time are refused.
func.func @f(%n: index) {
  // expected-error @below {{needs the identity layout: results are row-major with offset 0}}
  %0 = executor.request 0[%n] : memref<?x4xf32, strided<[?, ?], offset: ?>>
  return
}

// -----

// Tests that (C1) of executor.request is checked: a ranked type.
func.func @f() {
  // expected-error @below {{needs a ranked type}}
  %0 = executor.request 0 : memref<*xf32>
  return
}

// -----

// Tests that (C2) of executor.request is checked: a slot is not negative.
func.func @f() {
  // expected-error @below {{has the negative slot -1}}
  %0 = executor.request -1 : memref<4xf32>
  return
}

// -----

// Tests that (C3) of executor.request is checked: one size per dynamic dimension.
func.func @f() {
  // expected-error @below {{has 0 sizes for 1 dynamic dimensions}}
  %0 = executor.request 0 : memref<?xf32>
  return
}

// -----

// Tests that (C1) of executor.get_constant is checked: the constant exists.
func.func @f() {
  // expected-error @below {{names @missing, which is no executor.constant}}
  %0 = executor.get_constant @missing : memref<4xf32>
  return
}

// -----

// Tests that (C1) of executor.get_constant is checked: the constant has that type.
executor.constant @c = dense<1.0> : tensor<4xf32>
func.func @f() {
  // expected-error @below {{has type 'memref<5xf32>' where the constant is 'tensor<4xf32>'}}
  %0 = executor.get_constant @c : memref<5xf32>
  return
}

// -----

// Tests that (C1) of executor.workspace is checked: aligned offsets.
func.func @f() {
  // expected-error @below {{needs an offset that is a multiple of 64, got 4}}
  %0 = executor.workspace at 4 : memref<5xf32>
  return
}

// -----

// Tests that (C2) of executor.workspace is checked: a static shape.
func.func @f() {
  // expected-error @below {{needs a buffer with a static shape and the identity layout}}
  %0 = executor.workspace at 64 : memref<?xf32>
  return
}

// -----

// Tests that (C1) of executor.copy is checked: a static shape.
func.func @f(%a: memref<?xf32>, %b: memref<?xf32>) {
  // expected-error @below {{needs a buffer with a static shape and the identity layout}}
  executor.copy %a to %b : memref<?xf32>
  return
}

// -----

// Tests that (C1) of executor.launch is checked: the callee is a function of an image.
func.func private @g(memref<4xf32>)
func.func @f(%a: memref<4xf32>) {
  // expected-error @below {{names @g, which is no function of an image}}
  executor.launch @g(%a) : memref<4xf32>
  return
}

// -----

// Tests that (C1) of executor.launch is checked: the callee takes the frame, the buffers and the workspace.
llvm.func @g(!llvm.ptr, !llvm.ptr)
func.func @f(%a: memref<4xf32>) {
  // expected-error @below {{has 1 buffers where @g has type}}
  executor.launch @g(%a) : memref<4xf32>
  return
}
