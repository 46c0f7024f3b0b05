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

// Tests that (C4) of executor.request is checked: only a dynamic shape can be unknown.
func.func @f() {
  // expected-error @below {{is unshaped, but 'memref<4xf32>' has a static shape}}
  %0 = executor.request 0 unshaped : memref<4xf32>
  return
}

// -----

// Tests that (C5) of executor.request is checked: elements have a form in memory.
func.func @f() {
  // expected-error @below {{has elements of type 'memref<2xf32>', which has no form in memory}}
  %0 = executor.request 0 : memref<4xmemref<2xf32>>
  return
}

// -----

// Tests that (C1) of executor.shape is checked: a slot is not negative.
func.func @f(%n: index) {
  // expected-error @below {{has the negative slot -2}}
  executor.shape -2[%n]
  return
}

// -----

// Tests that (C1) of executor.alloc is checked: the identity layout.
func.func @f() {
  // expected-error @below {{needs a buffer with the identity layout}}
  %0 = executor.alloc : memref<4x4xf32, strided<[8, 1]>>
  return
}

// -----

// Tests that (C2) of executor.alloc is checked: one size per dynamic dimension.
func.func @f(%n: index) {
  // expected-error @below {{has 1 sizes for 2 dynamic dimensions}}
  %0 = executor.alloc[%n] : memref<?x?xf32>
  return
}

// -----

// Tests that (C1) of executor.free is checked: only allocated memory is freed.
func.func @f(%a: memref<4xf32>) {
  // expected-error @below {{needs a buffer that executor.alloc made}}
  executor.free %a : memref<4xf32>
  return
}

// -----

// Tests that (C1) of executor.view is checked: the identity layout.
func.func @f(%a: memref<4x4xf32>) {
  // expected-error @below {{needs a buffer with the identity layout}}
  %0 = executor.view %a : memref<4x4xf32> to memref<4x4xf32, strided<[1, 4]>>
  return
}

// -----

// Tests that (C2) of executor.view is checked: one size per dynamic dimension.
func.func @f(%a: memref<4x4xf32>) {
  // expected-error @below {{has 0 sizes for 1 dynamic dimensions}}
  %0 = executor.view %a : memref<4x4xf32> to memref<?xf32>
  return
}

// -----

// Tests that (C3) of executor.view is checked: a view is not larger than what it sees.
func.func @f(%a: memref<4x4xf32>) {
  // expected-error @below {{sees 68 bytes of a buffer of 64}}
  %0 = executor.view %a : memref<4x4xf32> to memref<17xf32>
  return
}

// -----

// Tests that (C1) of executor.dim is checked: the dimension exists.
func.func @f(%a: memref<4x?xf32>) {
  // expected-error @below {{asks for dimension 2 of 'memref<4x?xf32>'}}
  %0 = executor.dim %a, 2 : memref<4x?xf32>
  return
}

// -----

// Tests that (C2) of executor.dim is checked: the extent is visible.
func.func @f(%a: memref<?xf32>, %c: i1) {
  %0 = scf.if %c -> memref<?xf32> {
    scf.yield %a : memref<?xf32>
  } else {
    scf.yield %a : memref<?xf32>
  }
  // expected-error @below {{asks for an extent that is not visible}}
  %1 = executor.dim %0, 0 : memref<?xf32>
  return
}

// -----

// Tests that (C1) of executor.load is checked: a static shape.
func.func @f(%a: memref<?xi32>) {
  // expected-error @below {{needs a buffer with a static shape and the identity layout}}
  %0 = executor.load %a at 0 : memref<?xi32> to i32
  return
}

// -----

// Tests that (C2) of executor.load is checked: the element exists.
func.func @f(%a: memref<2x2xi32>) {
  // expected-error @below {{names element 4 of the 4 of 'memref<2x2xi32>'}}
  %0 = executor.load %a at 4 : memref<2x2xi32> to i32
  return
}

// -----

// Tests that (C3) of executor.load is checked: elements are integers of the result's width.
func.func @f(%a: memref<4xi32>) {
  // expected-error @below {{reads or writes elements of type 'i32' as 'i64'}}
  %0 = executor.load %a at 0 : memref<4xi32> to i64
  return
}

// -----

// Tests that (C3) of executor.store is checked: elements are integers.
func.func @f(%a: memref<4xf32>, %v: i32) {
  // expected-error @below {{reads or writes elements of type 'f32' as 'i32'}}
  executor.store %v to %a at 0 : i32 to memref<4xf32>
  return
}

// -----

// Tests that (C1) of executor.copy is checked: the identity layout.
func.func @f(%a: memref<4x4xf32, strided<[?, ?]>>, %b: memref<4x4xf32, strided<[?, ?]>>) {
  // expected-error @below {{needs a buffer with the identity layout}}
  executor.copy %a to %b : memref<4x4xf32, strided<[?, ?]>>
  return
}

// -----

// Tests that (C2) of executor.fill is checked: a number of the element type.
func.func @f(%a: memref<4xf32>) {
  // expected-error @below {{needs a number of type 'f32' that takes 1, 2, 4 or 8 bytes, got 1.000000e+00 : f64}}
  executor.fill %a with 1.0 : f64 to memref<4xf32>
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

// Tests that (C1) of executor.launch is checked: the callee takes the frame, the operands and the workspace.
llvm.func @g(!llvm.ptr, !llvm.ptr)
func.func @f(%a: memref<4xf32>) {
  // expected-error @below {{has 1 operands where @g has type}}
  executor.launch @g(%a) : memref<4xf32>
  return
}

// -----

// Tests that (C1) of executor.launch is checked: scalars have the width that the callee takes.
llvm.func @g(!llvm.ptr, i32, !llvm.ptr)
func.func @f(%a: index) {
  // expected-error @below {{an integer for each scalar, and a workspace}}
  executor.launch @g(%a) : index
  return
}

// -----

// Tests that (C1) of executor.assert is checked: the message names values that there are.
func.func @f(%c: i1, %n: index) {
  // expected-error @below {{has a message with {1} and 1 values}}
  executor.assert %c, "{0} and {1}"(%n) : index
  return
}

// -----

// Tests that (C1) of executor.scalar is checked: the host computes integers.
func.func @f() {
  // expected-error @below {{must be i1, an integer of 8, 16, 32 or 64 bits, or index, but got 'f32'}}
  %0 = executor.scalar 1.0 : f32
  return
}

// -----

// Tests that arithmetic on i1 is refused.
func.func @f(%a: i1) {
  // expected-error @below {{must be an integer of 8, 16, 32 or 64 bits, or index, but got 'i1'}}
  %0 = executor.add %a, %a : i1
  return
}

// -----

// Tests that public results have the identity layout.
// expected-error @below {{result 1 needs a memref type with the identity layout}}
func.func @f() attributes {executor.results = [memref<4xf32>, memref<4x4xf32, strided<[8, 1]>>]} {
  return
}

// -----

// Tests that donated arguments and their results exist.
// expected-error @below {{names argument 1 and result 0, which do not both exist}}
func.func @f(%a: memref<4xf32>) attributes {executor.donated = array<i64: 1, 0>, executor.results = [memref<4xf32>]} {
  return
}

// -----

// Tests that there are two hosts.
// expected-error @below {{attribute 'executor.host' is "native" or "lua"}}
module attributes {executor.host = "forth"} {
}
