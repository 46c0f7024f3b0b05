// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: latewood-opt %s --split-input-file --latewood-expand-operations | FileCheck %s

// Tests that a few largest elements are found by reductions over keys of value and index.
// CHECK-LABEL: func @top_k_few
// CHECK: %[[BITS:.+]] = stablehlo.bitcast_convert %{{.+}} : (tensor<4x100xf32>) -> tensor<4x100xi32>
// CHECK: stablehlo.iota dim = 1 : tensor<4x100xi32>
// CHECK: stablehlo.or {{.+}} : tensor<4x100xi64>
// CHECK-COUNT-2: stablehlo.reduce{{.+}}applies stablehlo.maximum across dimensions = [1] : (tensor<4x100xi64>, tensor<i64>)
// CHECK-NOT: stablehlo.sort
func.func @top_k_few(%x: tensor<4x100xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>) {
  %values, %indices = chlo.top_k(%x, k = 2) : tensor<4x100xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
  return %values, %indices : tensor<4x2xf32>, tensor<4x2xi32>
}

// -----

// Tests that more are found by sorting, and that a value of 16 bits shares 32 bits with its index.
// CHECK-LABEL: func @top_k_many
// CHECK: "stablehlo.sort"(%{{[^,]+}})
// CHECK: (tensor<1000xi32>) -> tensor<1000xi32>
// CHECK: stablehlo.slice {{.+}} [0:500] : (tensor<1000xi32>) -> tensor<500xi32>
func.func @top_k_many(%x: tensor<1000xf16>) -> (tensor<500xf16>, tensor<500xi32>) {
  %values, %indices = chlo.top_k(%x, k = 500) : tensor<1000xf16> -> (tensor<500xf16>, tensor<500xi32>)
  return %values, %indices : tensor<500xf16>, tensor<500xi32>
}

// -----

// Tests that special functions of narrow floats are computed in f32 and rounded once.
// CHECK-LABEL: func @lgamma
// CHECK: stablehlo.convert %{{.+}} : (tensor<8xbf16>) -> tensor<8xf32>
// CHECK-NOT: bf16
// CHECK: stablehlo.log_plus_one {{.+}} : tensor<8xf32>
// CHECK: stablehlo.convert %{{.+}} : (tensor<8xf32>) -> tensor<8xbf16>
// CHECK-NOT: chlo.
func.func @lgamma(%x: tensor<8xbf16>) -> tensor<8xbf16> {
  %0 = chlo.lgamma %x : tensor<8xbf16> -> tensor<8xbf16>
  return %0 : tensor<8xbf16>
}

// -----

// Tests that constants have the shape of the operand where it is dynamic.
// CHECK-LABEL: func @dynamic
// CHECK: stablehlo.get_dimension_size
// CHECK: stablehlo.dynamic_broadcast_in_dim
// CHECK-NOT: chlo.
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = chlo.lgamma %x : tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// Tests that statistics are sums over all dimensions but the feature's.
// CHECK-LABEL: func @batch_norm
// CHECK: %[[SUM:.+]] = stablehlo.reduce(%{{.+}} init: %{{.+}}) applies stablehlo.add across dimensions = [0, 2] : (tensor<4x3x5xf32>, tensor<f32>) -> tensor<3xf32>
// CHECK: stablehlo.divide %[[SUM]]
// CHECK: stablehlo.reduce
// CHECK: stablehlo.sqrt
func.func @batch_norm(%x: tensor<4x3x5xf32>, %s: tensor<3xf32>, %o: tensor<3xf32>) -> (tensor<4x3x5xf32>, tensor<3xf32>, tensor<3xf32>) {
  %y, %m, %v = "stablehlo.batch_norm_training"(%x, %s, %o) {epsilon = 0.125 : f32, feature_index = 1 : i64} : (tensor<4x3x5xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<4x3x5xf32>, tensor<3xf32>, tensor<3xf32>)
  return %y, %m, %v : tensor<4x3x5xf32>, tensor<3xf32>, tensor<3xf32>
}

// -----

// Tests that a small system is solved by a loop over its rows.
// CHECK-LABEL: func @triangular
// CHECK: stablehlo.compare{{ *}}GT
// CHECK: stablehlo.while
// CHECK: stablehlo.dynamic_update_slice
// CHECK-NOT: stablehlo.dot_general
func.func @triangular(%a: tensor<8x8xf32>, %b: tensor<8x2xf32>) -> tensor<8x2xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<8x8xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

// -----

// Tests that blocks of a large matrix meet in matrix products.
// CHECK-LABEL: func @cholesky
// CHECK: stablehlo.while
// CHECK: stablehlo.dot_general {{.+}} : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
// CHECK: stablehlo.while
// CHECK-NOT: stablehlo.cholesky
func.func @cholesky(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.cholesky %a, lower = true : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

// Tests that a transform of composite length is two products with factors between them.
// CHECK-LABEL: func @fft
// CHECK: stablehlo.real
// CHECK: stablehlo.imag
// CHECK: stablehlo.dot_general {{.+}} : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
// CHECK: stablehlo.dot_general {{.+}} : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
// CHECK: stablehlo.complex
func.func @fft(%x: tensor<2x128xcomplex<f32>>) -> tensor<2x128xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = FFT, length = [128] : (tensor<2x128xcomplex<f32>>) -> tensor<2x128xcomplex<f32>>
  return %0 : tensor<2x128xcomplex<f32>>
}

// -----

// Tests that the first product of a transform of real numbers takes them alone, and the last one of a real result makes
// nothing else.
// CHECK-LABEL: func @real_fft
// CHECK: stablehlo.dot_general {{.+}} : (tensor<16x16xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
// CHECK: stablehlo.dot_general {{.+}} : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
// CHECK: stablehlo.dot_general {{.+}} : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
// CHECK: stablehlo.dot_general {{.+}} : (tensor<32x16xf32>, tensor<16x8xf32>) -> tensor<32x8xf32>
func.func @real_fft(%x: tensor<2x128xf32>) -> tensor<2x128xf32> {
  %0 = stablehlo.fft %x, type = RFFT, length = [128] : (tensor<2x128xf32>) -> tensor<2x65xcomplex<f32>>
  %1 = stablehlo.fft %0, type = IRFFT, length = [128] : (tensor<2x65xcomplex<f32>>) -> tensor<2x128xf32>
  return %1 : tensor<2x128xf32>
}

// -----

// Tests that dynamic operations of static types become static ones, where bounds can be computed.
// CHECK-LABEL: func @static_forms
// CHECK: stablehlo.reshape
// CHECK: stablehlo.pad %{{.+}}, %{{.+}}, low = [1, 2], high = [0, 1], interior = [0, 1]
// CHECK: stablehlo.dynamic_slice
// CHECK-NOT: get_dimension_size
func.func @static_forms(%x: tensor<2x3xf32>, %at: tensor<2xi32>, %zero: tensor<f32>) -> (tensor<4x6xf32>, tensor<2x2xf32>, tensor<i32>) {
  %shape = stablehlo.constant dense<[3, 2]> : tensor<2xi32>
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<3x2xf32>
  %one = stablehlo.constant dense<1> : tensor<2xi32>
  %low = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %high = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
  %1 = stablehlo.dynamic_pad %0, %zero, %low, %high, %high : (tensor<3x2xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4x6xf32>
  %limit = stablehlo.add %at, %shape : tensor<2xi32>
  %2 = stablehlo.real_dynamic_slice %x, %at, %limit, %one : (tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
  %3 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
  return %1, %2, %3 : tensor<4x6xf32>, tensor<2x2xf32>, tensor<i32>
}

// -----

// Tests that an assertion about static shapes vanishes, and that another one is the host's.
// CHECK-LABEL: func @assertions
// CHECK-COUNT-1: plan.assert %{{.+}}, "n is {0}"(%{{.+}})
// CHECK-NOT: shape_assertion
// CHECK-NOT: plan.assert
func.func @assertions(%x: tensor<2x3xf32>, %n: tensor<i32>) {
  %0 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %1 = stablehlo.compare EQ, %0, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%1, %0) {api_version = 2 : i32, error_message = "got {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  %2 = stablehlo.compare EQ, %n, %three, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%2, %n) {api_version = 2 : i32, error_message = "n is {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  return
}

// -----

// Tests that one process is its own group.
// CHECK-LABEL: func @alone
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
// CHECK: return %[[X]], %[[X]]
func.func @alone(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<0> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Tests that batches may be dynamic: slices at computed places are gathers whose sizes are extents.
// CHECK-LABEL: func @batched_cholesky
// CHECK: stablehlo.dynamic_iota
// CHECK: stablehlo.while
// CHECK: "stablehlo.dynamic_gather"
// CHECK-NOT: stablehlo.cholesky
func.func @batched_cholesky(%x: tensor<?x8x8xf32>) -> tensor<?x8x8xf32> {
  %0 = stablehlo.cholesky %x, lower = true : tensor<?x8x8xf32>
  return %0 : tensor<?x8x8xf32>
}

// -----

// Tests that the mean over dynamic dimensions divides by their product.
// CHECK-LABEL: func @normalization
// CHECK: stablehlo.get_dimension_size %{{.*}}, dim = 0
// CHECK: stablehlo.divide
// CHECK-NOT: batch_norm
func.func @normalization(%x: tensor<?x4xf32>, %s: tensor<4xf32>) -> tensor<?x4xf32> {
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %s) {epsilon = 1.0e-3 : f32, feature_index = 1 : i64}
      : (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %0#0 : tensor<?x4xf32>
}

// -----

// Tests that a window of the dimension's length that is computed becomes one that is longer than any dimension, and that
// the host asserts the length.
// CHECK-LABEL: func @prefix_sums
// CHECK: %[[REACHES:.*]] = stablehlo.compare GE
// CHECK: plan.assert %[[REACHES]], "a window of {0} elements moves over {1}
// CHECK: "stablehlo.reduce_window"
// CHECK-SAME: padding = dense<{{\[\[}}1099511627775, 0]]>
// CHECK-SAME: window_dimensions = array<i64: 1099511627776>
func.func @prefix_sums(%x: tensor<?xf32>) -> tensor<?xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %less = stablehlo.constant dense<-1> : tensor<i32>
  %none = stablehlo.constant dense<0> : tensor<1xi32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %size = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %before = stablehlo.add %n, %less : tensor<i32>
  %low = stablehlo.reshape %before : (tensor<i32>) -> tensor<1xi32>
  %pair = stablehlo.concatenate %low, %none, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %padding = stablehlo.reshape %pair : (tensor<2xi32>) -> tensor<1x2xi32>
  %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %zero, %size, %one, %one, %one, %padding) {called_computations = [@sum]}
      : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @sum(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %a, %b : tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Tests that the largest elements of a computed number are the first ones of a sort.
// CHECK-LABEL: func @top_k
// CHECK: "stablehlo.sort"
// CHECK: stablehlo.real_dynamic_slice
func.func @top_k(%x: tensor<4x?xf32>, %k: tensor<i32>) -> (tensor<4x?xf32>, tensor<4x?xi32>) {
  %0:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %k) : (tensor<4x?xf32>, tensor<i32>) -> (tensor<4x?xf32>, tensor<4x?xi32>)
  return %0#0, %0#1 : tensor<4x?xf32>, tensor<4x?xi32>
}
