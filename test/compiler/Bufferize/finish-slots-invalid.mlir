// RUN: latewood-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(latewood-finish-slots))'

// Tests that a result whose layout is not that of the row-major order is refused.
func.func @columns() -> memref<4x4xf32, strided<[1, 4]>> {
  %0 = executor.request 0 : memref<4x4xf32>
  %t = memref.alloc() : memref<4x4xf32, strided<[1, 4]>>
  // expected-error @below {{result 0 has type 'memref<4x4xf32, strided<[1, 4]>>', but results are row-major with offset 0}}
  return %t : memref<4x4xf32, strided<[1, 4]>>
}

// -----

// Tests that strides that are known only at run time are refused.
func.func @unknown(%a: memref<4x4xf32, strided<[?, 1], offset: ?>>) -> memref<4x4xf32, strided<[?, 1], offset: ?>> {
  %0 = executor.request 0 : memref<4x4xf32>
  // expected-error @below {{results are row-major with offset 0}}
  return %a : memref<4x4xf32, strided<[?, 1], offset: ?>>
}

// -----

// Tests that every result needs a slot.
func.func @forgotten(%a: memref<4xf32>) -> memref<4xf32> {
  // expected-error @below {{result 0 has no output slot}}
  return %a : memref<4xf32>
}
