// RUN: latewood-opt %s | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --mlir-print-op-generic | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --emit-bytecode | latewood-opt | FileCheck %s

// Tests that every layer prints as it was read, in pretty and generic form and through bytecode, and that written types are those
// that the layers infer.

// CHECK-LABEL: func @pointwise
func.func @pointwise(%x: tensor<2x4x6x8xf32>, %y: tensor<1x4x1x8xf32>, %i: tensor<2x4x6x8xi64>, %c: tensor<1x1x1x8xi1>,
                     %ragged: tensor<2x3x5xf32>, %bounds: tensor<2x3x1xi32>) {
  // CHECK: tensorrt.activation %{{.*}} {activationType = #tensorrt<activation_type kRELU>} : (tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %0 = tensorrt.activation %x {activationType = #tensorrt<activation_type kRELU>} : (tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  // CHECK: tensorrt.activation %{{.*}} {activationType = #tensorrt<activation_type kCLIP>, alpha = -1.000000e+00 : f32, beta = 2.000000e+00 : f32}
  %1 = tensorrt.activation %x {activationType = #tensorrt<activation_type kCLIP>, alpha = -1.0 : f32, beta = 2.0 : f32} : (tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  // CHECK: tensorrt.activation %{{.*}} {activationType = #tensorrt<activation_type kRELU>} : (tensor<2x4x6x8xi64>)
  %2 = tensorrt.activation %i {activationType = #tensorrt<activation_type kRELU>} : (tensor<2x4x6x8xi64>) -> tensor<2x4x6x8xi64>
  // CHECK: tensorrt.unary %{{.*}} {unaryOperation = #tensorrt<unary_operation kISNAN>} : (tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xi1>
  %3 = tensorrt.unary %x {unaryOperation = #tensorrt<unary_operation kISNAN>} : (tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xi1>
  // CHECK: tensorrt.unary %{{.*}} {unaryOperation = #tensorrt<unary_operation kNOT>} : (tensor<2x4x6x8xi1>) -> tensor<2x4x6x8xi1>
  %4 = tensorrt.unary %3 {unaryOperation = #tensorrt<unary_operation kNOT>} : (tensor<2x4x6x8xi1>) -> tensor<2x4x6x8xi1>
  // CHECK: tensorrt.element_wise %{{.*}}, %{{.*}} {elementwiseOperation = #tensorrt<element_wise_operation kSUM>} : (tensor<2x4x6x8xf32>, tensor<1x4x1x8xf32>) -> tensor<2x4x6x8xf32>
  %5 = tensorrt.element_wise %x, %y {elementwiseOperation = #tensorrt<element_wise_operation kSUM>} : (tensor<2x4x6x8xf32>, tensor<1x4x1x8xf32>) -> tensor<2x4x6x8xf32>
  // CHECK: tensorrt.element_wise %{{.*}} {elementwiseOperation = #tensorrt<element_wise_operation kLESS>} : {{.*}} -> tensor<2x4x6x8xi1>
  %6 = tensorrt.element_wise %y, %x {elementwiseOperation = #tensorrt<element_wise_operation kLESS>} : (tensor<1x4x1x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xi1>
  // CHECK: tensorrt.select %{{.*}} : (tensor<1x1x1x8xi1>, tensor<2x4x6x8xf32>, tensor<1x4x1x8xf32>) -> tensor<2x4x6x8xf32>
  %7 = tensorrt.select %c, %x, %y : (tensor<1x1x1x8xi1>, tensor<2x4x6x8xf32>, tensor<1x4x1x8xf32>) -> tensor<2x4x6x8xf32>
  // CHECK: tensorrt.cast %{{.*}} : (tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xbf16>
  %8 = tensorrt.cast %x : (tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xbf16>
  // CHECK: tensorrt.identity %{{.*}} : (tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  %9 = tensorrt.identity %x : (tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  // CHECK: tensorrt.parametric_relu %{{.*}} : (tensor<2x4x6x8xf32>, tensor<1x4x1x8xf32>) -> tensor<2x4x6x8xf32>
  %10 = tensorrt.parametric_relu %x, %y : (tensor<2x4x6x8xf32>, tensor<1x4x1x8xf32>) -> tensor<2x4x6x8xf32>
  // CHECK: tensorrt.scale %{{.*}} {mode = #tensorrt<scale_mode kCHANNEL>, scale = dense<2.000000e+00> : tensor<4xf32>}
  %11 = tensorrt.scale %x {mode = #tensorrt<scale_mode kCHANNEL>, scale = dense<2.0> : tensor<4xf32>} : (tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  // CHECK: tensorrt.lrn %{{.*}} {alpha = 1.000000e+00 : f32, beta = 5.000000e-01 : f32, k = 2.000000e+00 : f32, window = 3 : i64}
  %12 = tensorrt.lrn %x {window = 3 : i64, alpha = 1.0 : f32, beta = 0.5 : f32, k = 2.0 : f32} : (tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  // CHECK: tensorrt.softmax %{{.*}} {axis = 3 : i64}
  %13 = tensorrt.softmax %x {axis = 3 : i64} : (tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32>
  // CHECK: tensorrt.ragged_softmax %{{.*}} : (tensor<2x3x5xf32>, tensor<2x3x1xi32>) -> tensor<2x3x5xf32>
  %14 = tensorrt.ragged_softmax %ragged, %bounds : (tensor<2x3x5xf32>, tensor<2x3x1xi32>) -> tensor<2x3x5xf32>
  // CHECK: tensorrt.normalization %{{.*}} {axis = array<i64: 1, 3>
  %15 = tensorrt.normalization %x, %y, %y {axis = array<i64: 1, 3>, eps = 1.0e-5 : f32} : (tensor<2x4x6x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>) -> tensor<2x4x6x8xf32>
  // CHECK: tensorrt.cumulative %{{.*}} {axis = 2 : i64, cumulativeOperation = #tensorrt<cumulative_operation kSUM>, reverse = true}
  %16 = tensorrt.cumulative %i {axis = 2 : i64, cumulativeOperation = #tensorrt<cumulative_operation kSUM>, reverse = true} : (tensor<2x4x6x8xi64>) -> tensor<2x4x6x8xi64>
  return
}

// CHECK-LABEL: func @contractions
func.func @contractions(%a: tensor<3x4x5xf32>, %b: tensor<1x6x5xf32>, %v: tensor<3x5xf32>, %x: tensor<2x4x9x9xf16>,
                        %w: tensor<8x2x3x3xf16>, %bias: tensor<8xf16>, %d: tensor<4x3x3x3xf16>, %q: tensor<2x8x7x16xf16>,
                        %k: tensor<2x4x5x16xf16>, %mask: tensor<2x1x7x5xi1>, %cache: tensor<2x7x8xf16>, %at: tensor<2xi32>,
                        %h: tensor<1x3x4xf32>, %e: tensor<1x3x2xi32>, %s: tensor<1x3x2xf32>, %g: tensor<6x4x5xf32>, %o: tensor<6x5x4xf32>) {
  // CHECK: tensorrt.matrix_multiply %{{.*}} {op0 = #tensorrt<matrix_operation kNONE>, op1 = #tensorrt<matrix_operation kTRANSPOSE>} : (tensor<3x4x5xf32>, tensor<1x6x5xf32>) -> tensor<3x4x6xf32>
  %0 = tensorrt.matrix_multiply %a, %b {op0 = #tensorrt<matrix_operation kNONE>, op1 = #tensorrt<matrix_operation kTRANSPOSE>} : (tensor<3x4x5xf32>, tensor<1x6x5xf32>) -> tensor<3x4x6xf32>
  // CHECK: tensorrt.matrix_multiply {{.*}} : (tensor<3x4x5xf32>, tensor<3x5xf32>) -> tensor<3x4xf32>
  %1 = tensorrt.matrix_multiply %a, %v {op0 = #tensorrt<matrix_operation kNONE>, op1 = #tensorrt<matrix_operation kVECTOR>} : (tensor<3x4x5xf32>, tensor<3x5xf32>) -> tensor<3x4xf32>
  // CHECK: tensorrt.einsum %{{.*}}, %{{.*}} {equation = "bij,bkj->ikb"} : (tensor<3x4x5xf32>, tensor<1x6x5xf32>) -> tensor<4x6x3xf32>
  %2 = tensorrt.einsum %a, %b {equation = "bij,bkj->ikb"} : (tensor<3x4x5xf32>, tensor<1x6x5xf32>) -> tensor<4x6x3xf32>
  // CHECK: tensorrt.einsum {{.*}} {equation = "ij,ij"} : {{.*}} -> tensor<f32>
  %3 = tensorrt.einsum %v, %v {equation = "ij,ij"} : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<f32>
  // CHECK: tensorrt.convolution in(%{{.*}}) kernel(%{{.*}}) bias(%{{.*}}) {dilation = array<i64: 1, 2>, num_groups = 2 : i64
  %4 = tensorrt.convolution in(%x) kernel(%w) bias(%bias) {stride = array<i64: 2, 1>, pre_padding = array<i64: 1, 1>, post_padding = array<i64: 1, 1>, num_groups = 2 : i64, dilation = array<i64: 1, 2>} : (tensor<2x4x9x9xf16>, tensor<8x2x3x3xf16>, tensor<8xf16>) -> tensor<2x8x5x7xf16>
  // CHECK: tensorrt.deconvolution in(%{{.*}}) kernel(%{{.*}}) {{.*}} -> tensor<2x3x19x19xf16>
  %5 = tensorrt.deconvolution in(%x) kernel(%d) {stride = array<i64: 2, 2>, pre_padding = array<i64: 0, 0>, post_padding = array<i64: 0, 0>} : (tensor<2x4x9x9xf16>, tensor<4x3x3x3xf16>) -> tensor<2x3x19x19xf16>
  // CHECK: tensorrt.pooling %{{.*}} {poolingType = #tensorrt<pooling_type kMAX>
  %6 = tensorrt.pooling %x {windowSize = array<i64: 3, 3>, stride = array<i64: 2, 2>, prePadding = array<i64: 1, 1>, postPadding = array<i64: 1, 1>, poolingType = #tensorrt<pooling_type kMAX>} : (tensor<2x4x9x9xf16>) -> tensor<2x4x5x5xf16>
  // CHECK: tensorrt.attention %{{.*}}, %{{.*}}, %{{.*}} mask(%{{.*}}) : (tensor<2x8x7x16xf16>, tensor<2x4x5x16xf16>, tensor<2x4x5x16xf16>, tensor<2x1x7x5xi1>) -> tensor<2x8x7x16xf16>
  %7 = tensorrt.attention %q, %k, %k mask(%mask) : (tensor<2x8x7x16xf16>, tensor<2x4x5x16xf16>, tensor<2x4x5x16xf16>, tensor<2x1x7x5xi1>) -> tensor<2x8x7x16xf16>
  // CHECK: tensorrt.attention {{.*}} {causalKind = #tensorrt<causal_mask_kind kLOWER_RIGHT>}
  %8 = tensorrt.attention %q, %k, %k {causalKind = #tensorrt<causal_mask_kind kLOWER_RIGHT>} : (tensor<2x8x7x16xf16>, tensor<2x4x5x16xf16>, tensor<2x4x5x16xf16>) -> tensor<2x8x7x16xf16>
  // CHECK: tensorrt.rotary_embedding %{{.*}}, %{{.*}}, %{{.*}} {interleaved = true}
  %9 = tensorrt.rotary_embedding %q, %cache, %cache {interleaved = true} : (tensor<2x8x7x16xf16>, tensor<2x7x8xf16>, tensor<2x7x8xf16>) -> tensor<2x8x7x16xf16>
  // CHECK: tensorrt.kv_cache_update %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x8x7x16xf16>, tensor<2x8x7x16xf16>, tensor<2xi32>) -> tensor<2x8x7x16xf16>
  %10 = tensorrt.kv_cache_update %q, %q, %at : (tensor<2x8x7x16xf16>, tensor<2x8x7x16xf16>, tensor<2xi32>) -> tensor<2x8x7x16xf16>
  // CHECK: tensorrt.moe %{{.*}}, %{{.*}}, %{{.*}} weights(%{{.*}}, %{{.*}}, %{{.*}})
  %11 = tensorrt.moe %h, %e, %s weights(%g, %g, %o) : (tensor<1x3x4xf32>, tensor<1x3x2xi32>, tensor<1x3x2xf32>, tensor<6x4x5xf32>, tensor<6x4x5xf32>, tensor<6x5x4xf32>) -> tensor<1x3x4xf32>
  return
}

// CHECK-LABEL: func @reductions
func.func @reductions(%x: tensor<2x4x6xf32>, %k: tensor<i32>, %boxes: tensor<1x9x4xf32>, %scores: tensor<1x9x3xf32>, %n: tensor<i32>, %t: tensor<f32>) {
  // CHECK: tensorrt.reduce %{{.*}} {keepDimensions = true, reduceAxes = array<i64: 0, 2>, reduceOperation = #tensorrt<reduce_operation kAVG>} : (tensor<2x4x6xf32>) -> tensor<1x4x1xf32>
  %0 = tensorrt.reduce %x {reduceAxes = array<i64: 0, 2>, keepDimensions = true, reduceOperation = #tensorrt<reduce_operation kAVG>} : (tensor<2x4x6xf32>) -> tensor<1x4x1xf32>
  // CHECK: tensorrt.top_k %{{.*}} {axis = 2 : i64, k = 3 : i64, topkOperation = #tensorrt<top_k_operation kMAX>} : (tensor<2x4x6xf32>) -> (tensor<2x4x3xf32>, tensor<2x4x3xi64>)
  %1:2 = tensorrt.top_k %x {k = 3 : i64, axis = 2 : i64, topkOperation = #tensorrt<top_k_operation kMAX>} : (tensor<2x4x6xf32>) -> (tensor<2x4x3xf32>, tensor<2x4x3xi64>)
  // CHECK: tensorrt.top_k %{{.*}} k(%{{.*}})
  %2:2 = tensorrt.top_k %x k(%k) {k = 3 : i64, axis = 2 : i64, topkOperation = #tensorrt<top_k_operation kMIN>} : (tensor<2x4x6xf32>, tensor<i32>) -> (tensor<2x4x?xf32>, tensor<2x4x?xi32>)
  // CHECK: tensorrt.argmax %{{.*}} {axis = 1 : i64} : (tensor<2x4x6xf32>) -> (tensor<2x1x6xf32>, tensor<2x1x6xi32>)
  %3:2 = tensorrt.argmax %x {axis = 1 : i64} : (tensor<2x4x6xf32>) -> (tensor<2x1x6xf32>, tensor<2x1x6xi32>)
  // CHECK: tensorrt.argmin %{{.*}} {axis = 0 : i64}
  %4:2 = tensorrt.argmin %x {axis = 0 : i64} : (tensor<2x4x6xf32>) -> (tensor<1x4x6xf32>, tensor<1x4x6xi32>)
  // CHECK: tensorrt.non_zero %{{.*}} : (tensor<2x4x6xf32>) -> tensor<3x?xi64>
  %5 = tensorrt.non_zero %x : (tensor<2x4x6xf32>) -> tensor<3x?xi64>
  // CHECK: tensorrt.nms %{{.*}}, %{{.*}}, %{{.*}} iou(%{{.*}}) score(%{{.*}}) {topKBoxLimit = 100 : i64}
  %6:2 = tensorrt.nms %boxes, %scores, %n iou(%t) score(%t) {topKBoxLimit = 100 : i64} : (tensor<1x9x4xf32>, tensor<1x9x3xf32>, tensor<i32>, tensor<f32>, tensor<f32>) -> (tensor<?x3xi32>, tensor<i32>)
  return
}

// CHECK-LABEL: func @shapes
func.func @shapes(%x: tensor<2x3x4xf32>, %d: tensor<?x3x4xf32>, %s2: tensor<2xi64>, %s3: tensor<3xi64>, %f: tensor<f32>, %step: tensor<2xf32>,
                  %u: tensor<2x1x4xf32>, %p: tensor<1x1x5x5xf32>, %len: tensor<3xi32>) {
  // CHECK: tensorrt.constant dense<1.000000e+00> : tensor<4xf32>
  %0 = tensorrt.constant dense<1.0> : tensor<4xf32>
  // CHECK: tensorrt.shape %{{.*}} : (tensor<?x3x4xf32>) -> tensor<3xi64>
  %1 = tensorrt.shape %d : (tensor<?x3x4xf32>) -> tensor<3xi64>
  // CHECK: tensorrt.shuffle %{{.*}} {firstTranspose = array<i64: 2, 0, 1>, reshape = array<i64: 4, -1>, secondTranspose = array<i64: 1, 0>} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %2 = tensorrt.shuffle %x {firstTranspose = array<i64: 2, 0, 1>, reshape = array<i64: 4, -1>, secondTranspose = array<i64: 1, 0>} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  // CHECK: tensorrt.shuffle %{{.*}} shape(%{{.*}}) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %3 = tensorrt.shuffle %x shape(%s2) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  // CHECK: tensorrt.transpose %{{.*}} {permutation = array<i64: 1, 0, 2>} : (tensor<?x3x4xf32>) -> tensor<3x?x4xf32>
  %4 = tensorrt.transpose %d {permutation = array<i64: 1, 0, 2>} : (tensor<?x3x4xf32>) -> tensor<3x?x4xf32>
  // CHECK: tensorrt.reshape %{{.*}} : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
  %5 = tensorrt.reshape %d : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
  // CHECK: tensorrt.reshape %{{.*}} shape(%{{.*}}) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %6 = tensorrt.reshape %x shape(%s2) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  // CHECK: tensorrt.squeeze %{{.*}} {axes = array<i64: 1>} : (tensor<2x1x4xf32>) -> tensor<2x4xf32>
  %7 = tensorrt.squeeze %u {axes = array<i64: 1>} : (tensor<2x1x4xf32>) -> tensor<2x4xf32>
  // CHECK: tensorrt.unsqueeze %{{.*}} {axes = array<i64: 0, 2>} : (tensor<?x3x4xf32>) -> tensor<1x?x1x3x4xf32>
  %8 = tensorrt.unsqueeze %d {axes = array<i64: 0, 2>} : (tensor<?x3x4xf32>) -> tensor<1x?x1x3x4xf32>
  // CHECK: tensorrt.broadcast %{{.*}} {broadcastDims = array<i64: 0, 1, 2>} : (tensor<2x1x4xf32>) -> tensor<2x3x4xf32>
  %9 = tensorrt.broadcast %u {broadcastDims = array<i64: 0, 1, 2>} : (tensor<2x1x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: tensorrt.broadcast %{{.*}} shape(%{{.*}}) {broadcastDims = array<i64: 0, 1, 2>} : (tensor<2x1x4xf32>, tensor<3xi64>) -> tensor<2x?x4xf32>
  %10 = tensorrt.broadcast %u shape(%s3) {broadcastDims = array<i64: 0, 1, 2>} : (tensor<2x1x4xf32>, tensor<3xi64>) -> tensor<2x?x4xf32>
  // CHECK: tensorrt.slice %{{.*}} {staticSize = array<i64: 2, 2, 4>, staticStart = array<i64: 0, 2, 0>, staticStride = array<i64: 1, -1, 1>} : (tensor<2x3x4xf32>) -> tensor<2x2x4xf32>
  %11 = tensorrt.slice %x {staticStart = array<i64: 0, 2, 0>, staticSize = array<i64: 2, 2, 4>, staticStride = array<i64: 1, -1, 1>} : (tensor<2x3x4xf32>) -> tensor<2x2x4xf32>
  // CHECK: tensorrt.slice %{{.*}} start(%{{.*}}) size(%{{.*}}) fill(%{{.*}}) {mode = #tensorrt<sample_mode kFILL>, staticStride = array<i64: 1, 1, 1>}
  %12 = tensorrt.slice %x start(%s3) size(%s3) fill(%f) {staticStride = array<i64: 1, 1, 1>, mode = #tensorrt<sample_mode kFILL>} : (tensor<2x3x4xf32>, tensor<3xi64>, tensor<3xi64>, tensor<f32>) -> tensor<?x?x?xf32>
  // CHECK: tensorrt.concatenation %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x1x4xf32>) -> tensor<2x4x4xf32>
  %13 = tensorrt.concatenation %x, %u {axis = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x1x4xf32>) -> tensor<2x4x4xf32>
  // CHECK: tensorrt.padding %{{.*}} {postPadding = array<i64: 0, 2>, prePadding = array<i64: -1, 1>} : (tensor<1x1x5x5xf32>) -> tensor<1x1x4x8xf32>
  %14 = tensorrt.padding %p {prePadding = array<i64: -1, 1>, postPadding = array<i64: 0, 2>} : (tensor<1x1x5x5xf32>) -> tensor<1x1x4x8xf32>
  // CHECK: tensorrt.linspace {staticStart = 0.000000e+00 : f64, staticStep = 2.000000e+00 : f64} : () -> tensor<5xi32>
  %15 = tensorrt.linspace {staticStart = 0.0 : f64, staticStep = 2.0 : f64} : () -> tensor<5xi32>
  // CHECK: tensorrt.linspace shape(%{{.*}}) start(%{{.*}}) step(%{{.*}}) : (tensor<2xi64>, tensor<f32>, tensor<2xf32>) -> tensor<?x4xf32>
  %16 = tensorrt.linspace shape(%s2) start(%f) step(%step) : (tensor<2xi64>, tensor<f32>, tensor<2xf32>) -> tensor<?x4xf32>
  // CHECK: tensorrt.random_uniform {static_high = 1.000000e+00 : f64, static_low = 0.000000e+00 : f64} : () -> tensor<5xf32>
  %17 = tensorrt.random_uniform {static_low = 0.0 : f64, static_high = 1.0 : f64} : () -> tensor<5xf32>
  // CHECK: tensorrt.random_normal mean(%{{.*}}) std(%{{.*}}) : (tensor<f32>, tensor<f32>) -> tensor<5xf32>
  %18 = tensorrt.random_normal mean(%f) std(%f) : (tensor<f32>, tensor<f32>) -> tensor<5xf32>
  // CHECK: tensorrt.reverse_sequence %{{.*}}, %{{.*}} : (tensor<2x3x4xf32>, tensor<3xi32>) -> tensor<2x3x4xf32>
  %19 = tensorrt.reverse_sequence %x, %len : (tensor<2x3x4xf32>, tensor<3xi32>) -> tensor<2x3x4xf32>
  return
}

// CHECK-LABEL: func @indexing
func.func @indexing(%x: tensor<5x3x4xf32>, %i: tensor<2x6xi32>, %v: tensor<7x2xi64>, %e: tensor<5x3x2xi32>, %u: tensor<7x4xf32>, %w: tensor<5x3x2xf32>, %on: tensor<2xf32>) {
  // CHECK: tensorrt.gather %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<5x3x4xf32>, tensor<2x6xi32>) -> tensor<5x2x6x4xf32>
  %0 = tensorrt.gather %x, %i {axis = 1 : i64} : (tensor<5x3x4xf32>, tensor<2x6xi32>) -> tensor<5x2x6x4xf32>
  // CHECK: tensorrt.gather_nd %{{.*}}, %{{.*}} : (tensor<5x3x4xf32>, tensor<7x2xi64>) -> tensor<7x4xf32>
  %1 = tensorrt.gather_nd %x, %v : (tensor<5x3x4xf32>, tensor<7x2xi64>) -> tensor<7x4xf32>
  // CHECK: tensorrt.gather_elements %{{.*}}, %{{.*}} {axis = 2 : i64} : (tensor<5x3x4xf32>, tensor<5x3x2xi32>) -> tensor<5x3x2xf32>
  %2 = tensorrt.gather_elements %x, %e {axis = 2 : i64} : (tensor<5x3x4xf32>, tensor<5x3x2xi32>) -> tensor<5x3x2xf32>
  // CHECK: tensorrt.scatter_nd %{{.*}}, %{{.*}}, %{{.*}} : (tensor<5x3x4xf32>, tensor<7x2xi64>, tensor<7x4xf32>) -> tensor<5x3x4xf32>
  %3 = tensorrt.scatter_nd %x, %v, %u : (tensor<5x3x4xf32>, tensor<7x2xi64>, tensor<7x4xf32>) -> tensor<5x3x4xf32>
  // CHECK: tensorrt.scatter_elements %{{.*}}, %{{.*}}, %{{.*}} {axis = 2 : i64}
  %4 = tensorrt.scatter_elements %x, %e, %w {axis = 2 : i64} : (tensor<5x3x4xf32>, tensor<5x3x2xi32>, tensor<5x3x2xf32>) -> tensor<5x3x4xf32>
  %depth = tensorrt.constant dense<10> : tensor<i32>
  // CHECK: tensorrt.one_hot %{{.*}}, %{{.*}}, %{{.*}} {axis = -1 : i64} : (tensor<2x6xi32>, tensor<2xf32>, tensor<i32>) -> tensor<2x6x10xf32>
  %5 = tensorrt.one_hot %i, %on, %depth {axis = -1 : i64} : (tensor<2x6xi32>, tensor<2xf32>, tensor<i32>) -> tensor<2x6x10xf32>
  return
}

// CHECK-LABEL: func @sampling
func.func @sampling(%x: tensor<1x2x4x4xf32>, %s: tensor<4xi64>, %g: tensor<1x5x6x2xf32>) {
  // CHECK: tensorrt.resize_nearest %{{.*}} {coordinateTransformation = #tensorrt<resize_coordinate_transformation kHALF_PIXEL>, nearestRounding = #tensorrt<resize_round_mode kFLOOR>
  %0 = tensorrt.resize_nearest %x {scales = array<f32: 1.0, 1.0, 2.0, 1.5>, coordinateTransformation = #tensorrt<resize_coordinate_transformation kHALF_PIXEL>, nearestRounding = #tensorrt<resize_round_mode kFLOOR>, selectorForSinglePixel = #tensorrt<resize_selector kFORMULA>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x8x6xf32>
  // CHECK: tensorrt.resize_linear %{{.*}} shape(%{{.*}})
  %1 = tensorrt.resize_linear %x shape(%s) {coordinateTransformation = #tensorrt<resize_coordinate_transformation kALIGN_CORNERS>, selectorForSinglePixel = #tensorrt<resize_selector kUPPER>} : (tensor<1x2x4x4xf32>, tensor<4xi64>) -> tensor<1x2x?x?xf32>
  // CHECK: tensorrt.resize_cubic
  %2 = tensorrt.resize_cubic %x {coordinateTransformation = #tensorrt<resize_coordinate_transformation kASYMMETRIC>, cubicCoeff = -0.5 : f32, selectorForSinglePixel = #tensorrt<resize_selector kFORMULA>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x9x3xf32>
  // CHECK: tensorrt.grid_sample %{{.*}}, %{{.*}} {alignCorners = true} : (tensor<1x2x4x4xf32>, tensor<1x5x6x2xf32>) -> tensor<1x2x5x6xf32>
  %3 = tensorrt.grid_sample %x, %g {alignCorners = true} : (tensor<1x2x4x4xf32>, tensor<1x5x6x2xf32>) -> tensor<1x2x5x6xf32>
  return
}

// CHECK-LABEL: func @quantization
func.func @quantization(%x: tensor<4x32xf32>, %s: tensor<f32>, %c: tensor<4xf32>, %b: tensor<4x2xf8E8M0FNU>) {
  // CHECK: tensorrt.quantize %{{.*}}, %{{.*}} : (tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xi8>
  %0 = tensorrt.quantize %x, %s : (tensor<4x32xf32>, tensor<f32>) -> tensor<4x32xi8>
  // CHECK: tensorrt.quantize %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<4x32xf32>, tensor<4xf32>) -> tensor<4x32xf8E4M3FN>
  %1 = tensorrt.quantize %x, %c {axis = 0 : i64} : (tensor<4x32xf32>, tensor<4xf32>) -> tensor<4x32xf8E4M3FN>
  // CHECK: tensorrt.dequantize %{{.*}}, %{{.*}} : (tensor<4x32xf8E4M3FN>, tensor<4x2xf8E8M0FNU>) -> tensor<4x32xbf16>
  %2 = tensorrt.dequantize %1, %b : (tensor<4x32xf8E4M3FN>, tensor<4x2xf8E8M0FNU>) -> tensor<4x32xbf16>
  // CHECK: tensorrt.dynamic_quantize %{{.*}} double_quant_scale(%{{.*}}) {blockShape = array<i64: 1, 16>} : (tensor<4x32xf32>, tensor<f32>) -> (tensor<4x32xf4E2M1FN>, tensor<4x2xf8E4M3FN>)
  %3:2 = tensorrt.dynamic_quantize %x double_quant_scale(%s) {blockShape = array<i64: 1, 16>} : (tensor<4x32xf32>, tensor<f32>) -> (tensor<4x32xf4E2M1FN>, tensor<4x2xf8E4M3FN>)
  return
}

// CHECK-LABEL: func @control
func.func @control(%c: tensor<i1>, %a: tensor<4xf32>, %b: tensor<4xf32>, %n: tensor<i32>) -> (tensor<4xf32>, tensor<i32>, tensor<4xf32>) {
  // CHECK: tensorrt.if(%{{.*}} : tensor<i1>) -> tensor<4xf32> {
  %0 = tensorrt.if(%c : tensor<i1>) -> tensor<4xf32> {
    // CHECK: tensorrt.yield %{{.*}} : tensor<4xf32>
    tensorrt.yield %a : tensor<4xf32>
  // CHECK: } else {
  } else {
    tensorrt.yield %b : tensor<4xf32>
  }
  // CHECK: tensorrt.while(%{{.*}}) : (tensor<i32>) -> tensor<i32> {
  %1 = tensorrt.while(%n) : (tensor<i32>) -> tensor<i32> {
  ^bb0(%i: tensor<i32>):
    %limit = tensorrt.constant dense<10> : tensor<i32>
    %less = tensorrt.element_wise %i, %limit {elementwiseOperation = #tensorrt<element_wise_operation kLESS>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    // CHECK: tensorrt.condition(%{{.*}} : tensor<i1>) %{{.*}} : tensor<i32>
    tensorrt.condition(%less : tensor<i1>) %i : tensor<i32>
  // CHECK: } do {
  } do {
  ^bb0(%i: tensor<i32>):
    %next = tensorrt.element_wise %i, %n {elementwiseOperation = #tensorrt<element_wise_operation kSUM>} : (tensor<i32>, tensor<i32>) -> tensor<i32>
    tensorrt.yield %next : tensor<i32>
  }
  // CHECK: tensorrt.for %{{.*}} to %{{.*}} step %{{.*}} init(%{{.*}}) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<4xf32>) -> tensor<4xf32> {
  %2 = tensorrt.for %n to %1 step %n init(%a) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i32>, %x: tensor<4xf32>):
    tensorrt.yield %x : tensor<4xf32>
  }
  // CHECK: tensorrt.assertion %{{.*}}, "must hold" : tensor<i1>
  tensorrt.assertion %c, "must hold" : tensor<i1>
  return %0, %1, %2 : tensor<4xf32>, tensor<i32>, tensor<4xf32>
}

// CHECK-LABEL: tensorrt.module @engines
tensorrt.module @engines {
  func.func @double(%x: tensor<?xf32>) -> tensor<?xf32> {
    %0 = tensorrt.element_wise %x, %x {elementwiseOperation = #tensorrt<element_wise_operation kSUM>} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
}

// CHECK-LABEL: func @structure
func.func @structure(%x: tensor<4xf32>, %out: tensor<4xf32>) {
  // CHECK: tensorrt.call @engines::@double(%{{.*}}) outs(%{{.*}}) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %0 = tensorrt.call @engines::@double(%x) outs(%out) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: tensorrt.call_alloc @engines::@double(%{{.*}}) : (tensor<4xf32>) -> tensor<?xf32>
  %1 = tensorrt.call_alloc @engines::@double(%x) : (tensor<4xf32>) -> tensor<?xf32>
  // CHECK: tensorrt.opaque_plugin(%{{.*}}) {creatorParams = {mode = 3 : i64, name = "x"}, pluginName = "P", pluginNamespace = "", pluginVersion = "1"} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tensorrt.opaque_plugin(%x) {pluginName = "P", pluginVersion = "1", pluginNamespace = "", creatorParams = {mode = 3 : i64, name = "x"}} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
