// RUN: latewood-opt %s --split-input-file --verify-diagnostics

// (C1) of engine
// expected-error @+1 {{i8}}
executor.engine @e of "tensorrt" version "1" serialized dense<1> : tensor<2xi32>

// -----

// (C1) of enqueue
func.func @none(%a: memref<4xf32>) {
  // expected-error @+1 {{@missing}}
  executor.enqueue @missing(%a) outs(%a) : memref<4xf32>, memref<4xf32>
  return
}

// -----

// (C2) of enqueue_alloc: strides that are not known
executor.engine @e of "tensorrt" version "1" serialized dense<1> : tensor<2xi8>
func.func @strides(%a: memref<4xf32>) {
  // expected-error @+1 {{strided<[?, ?], offset: ?>}}
  %0, %n:2 = executor.enqueue_alloc @e(%a) slots [0] : (memref<4xf32>) -> (memref<?x?xf32, strided<[?, ?], offset: ?>>), (index, index)
  return
}

// -----

// (C3) of enqueue_alloc
executor.engine @e of "tensorrt" version "1" serialized dense<1> : tensor<2xi8>
func.func @extents(%a: memref<4xf32>) {
  // expected-error @+1 {{needs 1 slots and 2 extents, got 1 and 1}}
  %0, %n = executor.enqueue_alloc @e(%a) slots [0] : (memref<4xf32>) -> (memref<?x?xf32>), (index)
  return
}

// -----

// Memory of the device is for engines: the host does not load,
func.func @load() -> i32 {
  %0 = executor.alloc : memref<4xi32, #plan.memory_space<device>>
  // expected-error @+1 {{needs memory of the host, got 'memref<4xi32, #plan.memory_space<device>>'}}
  %1 = executor.load %0 at 0 : memref<4xi32, #plan.memory_space<device>> to i32
  return %1 : i32
}

// -----

// copy,
func.func @copy() {
  %0 = executor.alloc : memref<4xi32, #plan.memory_space<device>>
  // expected-error @+1 {{needs memory of the host}}
  executor.copy %0 to %0 : memref<4xi32, #plan.memory_space<device>>
  return
}

// -----

// or fill it.
func.func @fill() {
  %0 = executor.alloc : memref<4xi32, #plan.memory_space<device>>
  // expected-error @+1 {{needs memory of the host}}
  executor.fill %0 with 0 : i32 to memref<4xi32, #plan.memory_space<device>>
  return
}
