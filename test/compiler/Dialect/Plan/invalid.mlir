// RUN: latewood-opt %s --split-input-file --verify-diagnostics

// Tests that (C1) of plan.cluster is checked: the yielded types are the result types.
func.func @f(%a: tensor<4xf32>) {
  %0 = plan.cluster target(#plan.cpu_engine) -> tensor<5xf32> {
    // expected-error @below {{gives (tensor<4xf32>) where the cluster's results are (tensor<5xf32>)}}
    plan.yield %a : tensor<4xf32>
  }
  return
}

// -----

// Tests that (C2) of plan.dps_cluster is checked: the region's arguments are the operands.
func.func @f(%a: tensor<4xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{has region arguments (tensor<5xf32>, tensor<4xf32>) where its operands are (tensor<4xf32>, tensor<4xf32>)}}
  %0 = plan.dps_cluster target(#plan.cpu_engine) ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%x: tensor<5xf32>, %out: tensor<4xf32>):
    %1 = arith.negf %out : tensor<4xf32>
    plan.yield %1 : tensor<4xf32>
  } -> tensor<4xf32>
  return
}

// -----

// Tests that (C3) of plan.dps_cluster is checked: one destination per result.
func.func @f(%a: tensor<4xf32>) {
  // expected-error @below {{has destinations () where its results are (tensor<4xf32>)}}
  %0 = plan.dps_cluster target(#plan.cpu_engine) ins(%a : tensor<4xf32>) {
  ^bb0(%x: tensor<4xf32>):
    %1 = arith.negf %x : tensor<4xf32>
    plan.yield %1 : tensor<4xf32>
  } -> tensor<4xf32>
  return
}

// -----

// Tests that (C4) of plan.dps_cluster is checked: no result is an argument.
func.func @f(%a: tensor<4xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{result 0 is an argument of the cluster}}
  %0 = plan.dps_cluster target(#plan.cpu_engine) ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%x: tensor<4xf32>, %out: tensor<4xf32>):
    plan.yield %x : tensor<4xf32>
  } -> tensor<4xf32>
  return
}

// -----

// Tests that (C4) of plan.dps_cluster is checked: no result is given twice.
func.func @f(%a: tensor<4xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{result 1 is the same value as an earlier result}}
  %0:2 = plan.dps_cluster target(#plan.cpu_engine) ins(%a : tensor<4xf32>) outs(%o, %o : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%x: tensor<4xf32>, %p: tensor<4xf32>, %q: tensor<4xf32>):
    %1 = arith.negf %x : tensor<4xf32>
    plan.yield %1, %1 : tensor<4xf32>, tensor<4xf32>
  } -> tensor<4xf32>, tensor<4xf32>
  return
}

// -----

// Tests that (C1) of plan.call is checked: the callee exists.
func.func @f(%a: tensor<4xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{calls @cpu::@missing, which is no function}}
  %0 = plan.call @cpu::@missing(%a) outs(%o) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C1) of plan.call is checked: as many operands as the callee has arguments.
func.func private @g(tensor<4xf32>)
func.func @f(%a: tensor<4xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{has 2 operands where @g takes 1 arguments}}
  %0 = plan.call @g(%a) outs(%o) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C2) of plan.call is checked: on buffers there are no results.
func.func private @g(memref<4xf32>)
func.func @f(%o: memref<4xf32>) {
  // expected-error @below {{has 1 results; on buffers the destinations are the results}}
  %0 = plan.call @g() outs(%o) : (memref<4xf32>) -> memref<4xf32>
  return
}

// -----

// Tests that (C5) of the closed clusters is checked: one list of extents for each operand.
func.func @f(%a: tensor<?xf32>, %n: index) {
  // expected-error @below {{has extents of 1 operands where it has 2}}
  %0 = plan.alloc_cluster target(#plan.cpu_engine) ins(%a, %n : tensor<?xf32>, index) {
  ^bb0(%x: tensor<?xf32>, %k: index):
    %1 = arith.negf %x : tensor<?xf32>
    plan.yield %1 : tensor<?xf32>
  } {extents = [array<i64: 1>]} -> tensor<?xf32>
  return
}

// -----

// Tests that (C5) of the closed clusters is checked: an extent for each dynamic dimension.
func.func @f(%a: tensor<?xf32>, %n: index) {
  // expected-error @below {{has extents array<i64> of operand 0, which has 1 dynamic dimensions}}
  %0 = plan.alloc_cluster target(#plan.cpu_engine) ins(%a, %n : tensor<?xf32>, index) {
  ^bb0(%x: tensor<?xf32>, %k: index):
    %1 = arith.negf %x : tensor<?xf32>
    plan.yield %1 : tensor<?xf32>
  } {extents = [array<i64>, array<i64>]} -> tensor<?xf32>
  return
}

// -----

// Tests that (C5) of the closed clusters is checked: extents are operands of type index.
func.func @f(%a: tensor<?xf32>, %n: index) {
  // expected-error @below {{has extent 0 of operand 0, which is no operand of type index}}
  %0 = plan.alloc_cluster target(#plan.cpu_engine) ins(%a, %n : tensor<?xf32>, index) {
  ^bb0(%x: tensor<?xf32>, %k: index):
    %1 = arith.negf %x : tensor<?xf32>
    plan.yield %1 : tensor<?xf32>
  } {extents = [array<i64: 0>, array<i64>]} -> tensor<?xf32>
  return
}

// -----

// Tests that (C1) of plan.with_shape is checked: an extent for each dynamic dimension.
func.func @f(%a: tensor<?x?xf32>, %n: index) {
  // expected-error @below {{has 1 extents for 'tensor<?x?xf32>', which has 2 dynamic dimensions}}
  %0 = plan.with_shape %a(%n) : tensor<?x?xf32>
  return
}

// -----

// Tests that (C1) of plan.with_values is checked: a scalar for each element.
func.func @f(%a: tensor<2xi32>, %n: i32) {
  // expected-error @below {{has 1 scalars for 'tensor<2xi32>', which has 2 elements}}
  %0 = plan.with_values %a(%n) : tensor<2xi32>, i32
  return
}

// -----

// Tests that (C1) of plan.with_values is checked: scalars of the element type.
func.func @f(%a: tensor<1xi32>, %n: i64) {
  // expected-error @below {{has a scalar of type 'i64' for 'tensor<1xi32>'}}
  %0 = plan.with_values %a(%n) : tensor<1xi32>, i64
  return
}

// -----

// Tests that (C1) of plan.with_values is checked: integers.
func.func @f(%a: tensor<1xf32>, %n: i64) {
  // expected-error @below {{needs integers or indices, got 'tensor<1xf32>'}}
  %0 = plan.with_values %a(%n) : tensor<1xf32>, i64
  return
}

// -----

// Tests that (C1) of plan.assert is checked: a condition.
func.func @f(%a: tensor<1xi1>) {
  // expected-error @below {{needs an i1 or a 0-dimensional one as its condition, got 'tensor<1xi1>'}}
  plan.assert %a, "no" : tensor<1xi1>
  return
}

// -----

// Tests that (C1) of plan.assert is checked: integer values.
func.func @f(%a: i1, %b: f32) {
  // expected-error @below {{needs integers or 0-dimensional ones as values, got 'f32'}}
  plan.assert %a, "no {0}"(%b) : i1, f32
  return
}

// -----

// Tests that (C1) of plan.transfer is checked: nothing but the memory space changes.
func.func @f(%a: tensor<4xf32>) {
  // expected-error @below {{it may change nothing but the memory space}}
  %0 = plan.transfer %a : tensor<4xf32> to tensor<5xf32, #plan.memory_space<device>>
  return
}

// -----

// Tests that (C1) of plan.transfer is checked: encodings are memory spaces.
func.func @f(%a: tensor<4xf32>) {
  // expected-error @below {{moves a tensor with encoding 1 : i64, which is no memory space}}
  %0 = plan.transfer %a : tensor<4xf32> to tensor<4xf32, 1 : i64>
  return
}

// -----

// Tests that (C1) of bounds is checked: lists of one length.
// expected-error @below {{bounds need as many entries in min, opt and max, got 1, 2 and 2}}
func.func private @f(tensor<?x4xf32> {plan.bounds = #plan.bounds<min = [1], opt = [2, 4], max = [3, 4]>})

// -----

// Tests that (C1) of bounds is checked: in order.
// expected-error @below {{bounds need min <= opt <= max, got 1, 9 and 3 in entry 0}}
func.func private @f(tensor<?xf32> {plan.bounds = #plan.bounds<min = [1], opt = [9], max = [3]>})

// -----

// Tests that allocated results have the identity layout: strides with gaps.
func.func private @g(memref<4xf32>)
func.func @f(%a: memref<4xf32>) {
  // expected-error @below {{result 0 needs the identity layout: allocated results are row-major with offset 0}}
  %0 = plan.call_alloc @g(%a) : (memref<4xf32>) -> memref<4x4xf32, strided<[8, 1]>>
  return
}

// -----

// Tests that allocated results have the identity layout: an offset.
func.func private @g(memref<4xf32>)
func.func @f(%a: memref<4xf32>) {
  // expected-error @below {{result 0 needs the identity layout: allocated results are row-major with offset 0}}
  %0 = plan.call_alloc @g(%a) : (memref<4xf32>) -> memref<4x4xf32, strided<[4, 1], offset: 2>>
  return
}

// -----

// Tests that allocated results have the identity layout: strides that are not known.
func.func private @g(memref<4xf32>)
func.func @f(%a: memref<4xf32>) {
  // expected-error @below {{result 0 needs the identity layout: allocated results are row-major with offset 0}}
  %0 = plan.call_alloc @g(%a) : (memref<4xf32>) -> memref<4x4xf32, strided<[?, ?], offset: ?>>
  return
}
