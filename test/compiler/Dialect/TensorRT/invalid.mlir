// RUN: latewood-opt %s --split-input-file --verify-diagnostics

// Tests that a tensor has at most 8 dimensions.
func.func @f(%x: tensor<1x1x1x1x1x1x1x1x2xf32>) {
  // expected-error @below {{operand #0 must be ranked tensor of at most 8 dimensions}}
  %0 = tensorrt.identity %x : (tensor<1x1x1x1x1x1x1x1x2xf32>) -> tensor<1x1x1x1x1x1x1x1x2xf32>
  return
}

// -----

// Tests that f64 is no element type.
func.func @f(%x: tensor<2xf64>) {
  // expected-error @below {{operand #0 must be ranked tensor}}
  %0 = tensorrt.identity %x : (tensor<2xf64>) -> tensor<2xf64>
  return
}

// -----

// Tests that a product takes floats only.
func.func @f(%x: tensor<2x2xi32>) {
  // expected-error @below {{operand #0 must be ranked tensor}}
  %0 = tensorrt.matrix_multiply %x, %x {op0 = #tensorrt<matrix_operation kNONE>, op1 = #tensorrt<matrix_operation kNONE>} : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  return
}

// -----

// Tests that the written result is the inferred one.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{requires result type 'tensor<2x3xf32>' by its operands, but got 'tensor<2x4xf32>'}}
  %0 = tensorrt.activation %x {activationType = #tensorrt<activation_type kRELU>} : (tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

// Tests that (C1) of activation is checked: integers only for kRELU.
func.func @f(%x: tensor<2xi32>) {
  // expected-error @below {{(C1) requires floats for kTANH}}
  %0 = tensorrt.activation %x {activationType = #tensorrt<activation_type kTANH>} : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

// Tests that (C2) of activation is checked: parameters that the function has.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C2) requires no parameter that kRELU does not have}}
  %0 = tensorrt.activation %x {activationType = #tensorrt<activation_type kRELU>, alpha = 1.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C1) of unary is checked: kNOT takes booleans.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C1) requires an element type that kNOT takes}}
  %0 = tensorrt.unary %x {unaryOperation = #tensorrt<unary_operation kNOT>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C1) of unary is checked: kEXP takes floats.
func.func @f(%x: tensor<2xi32>) {
  // expected-error @below {{(C1) requires an element type that kEXP takes}}
  %0 = tensorrt.unary %x {unaryOperation = #tensorrt<unary_operation kEXP>} : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

// Tests that (C1) of element_wise is checked: one element type.
func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x3xf16>) {
  // expected-error @below {{(C1) requires operands of one element type}}
  %0 = tensorrt.element_wise %x, %y {elementwiseOperation = #tensorrt<element_wise_operation kSUM>} : (tensor<2x3xf32>, tensor<2x3xf16>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C2) of element_wise is checked: equal ranks.
func.func @f(%x: tensor<2x3xf32>, %y: tensor<3xf32>) {
  // expected-error @below {{(C2) requires operands of one rank whose extents are equal or 1}}
  %0 = tensorrt.element_wise %x, %y {elementwiseOperation = #tensorrt<element_wise_operation kSUM>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C2) of element_wise is checked: only extents of 1 broadcast.
func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x2xf32>) {
  // expected-error @below {{(C2) requires operands of one rank whose extents are equal or 1}}
  %0 = tensorrt.element_wise %x, %y {elementwiseOperation = #tensorrt<element_wise_operation kSUM>} : (tensor<2x3xf32>, tensor<2x2xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C3) of element_wise is checked: logic takes booleans.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C3) requires an element type that kAND takes}}
  %0 = tensorrt.element_wise %x, %x {elementwiseOperation = #tensorrt<element_wise_operation kAND>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C3) of element_wise is checked: arithmetic takes numbers.
func.func @f(%x: tensor<2xi1>) {
  // expected-error @below {{(C3) requires an element type that kSUM takes}}
  %0 = tensorrt.element_wise %x, %x {elementwiseOperation = #tensorrt<element_wise_operation kSUM>} : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}

// -----

// Tests that (C1) of select is checked: one element type.
func.func @f(%c: tensor<2xi1>, %x: tensor<2xf32>, %y: tensor<2xi32>) {
  // expected-error @below {{(C1) requires operands of one element type}}
  %0 = tensorrt.select %c, %x, %y : (tensor<2xi1>, tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

// Tests that (C2) of select is checked: shapes broadcast.
func.func @f(%c: tensor<3xi1>, %x: tensor<2xf32>) {
  // expected-error @below {{(C2) requires operands of one rank}}
  %0 = tensorrt.select %c, %x, %x : (tensor<3xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// Tests that (C1) of cast is checked: one shape.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C1) requires input and result of one shape}}
  %0 = tensorrt.cast %x : (tensor<2x3xf32>) -> tensor<3x2xf16>
  return
}

// -----

// Tests that (C2) of cast is checked: ui8 and floats only.
func.func @f(%x: tensor<2xui8>) {
  // expected-error @below {{(C2) requires floats on the other side of ui8}}
  %0 = tensorrt.cast %x : (tensor<2xui8>) -> tensor<2xi32>
  return
}

// -----

// Tests that (C1) of parametric_relu is checked: one element type.
func.func @f(%x: tensor<2xf32>, %y: tensor<2xf16>) {
  // expected-error @below {{(C1) requires operands of one element type}}
  %0 = tensorrt.parametric_relu %x, %y : (tensor<2xf32>, tensor<2xf16>) -> tensor<2xf32>
  return
}

// -----

// Tests that (C2) of parametric_relu is checked: slopes broadcast to the input.
func.func @f(%x: tensor<1xf32>, %y: tensor<2xf32>) {
  // expected-error @below {{(C2) requires slopes that broadcast}}
  %0 = tensorrt.parametric_relu %x, %y : (tensor<1xf32>, tensor<2xf32>) -> tensor<1xf32>
  return
}

// -----

// Tests that (C1) of scale is checked: 4 dimensions.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C1) requires an input of at least 4 dimensions}}
  %0 = tensorrt.scale %x {mode = #tensorrt<scale_mode kUNIFORM>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C2) of scale is checked: the channel axis.
func.func @f(%x: tensor<1x2x3x4xf32>) {
  // expected-error @below {{(C2) requires a channel axis}}
  %0 = tensorrt.scale %x {mode = #tensorrt<scale_mode kUNIFORM>, channelAxis = 4 : i64} : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return
}

// -----

// Tests that (C3) of scale is checked: as many coefficients as channels.
func.func @f(%x: tensor<1x2x3x4xf32>) {
  // expected-error @below {{(C3) requires 2 coefficients}}
  %0 = tensorrt.scale %x {mode = #tensorrt<scale_mode kCHANNEL>, shift = dense<1.0> : tensor<3xf32>} : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return
}

// -----

// Tests that (C1) of lrn is checked: a channel.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C1) requires an input of at least 3 dimensions}}
  %0 = tensorrt.lrn %x {window = 3 : i64, alpha = 1.0 : f32, beta = 1.0 : f32, k = 1.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C2) of lrn is checked: an odd window.
func.func @f(%x: tensor<1x2x3x4xf32>) {
  // expected-error @below {{(C2) requires an odd window}}
  %0 = tensorrt.lrn %x {window = 4 : i64, alpha = 1.0 : f32, beta = 1.0 : f32, k = 1.0 : f32} : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return
}

// -----

// Tests that (C1) of softmax is checked: an axis of the input.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C1) requires an axis of}}
  %0 = tensorrt.softmax %x {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C1) of ragged_softmax is checked: 3 dimensions.
func.func @f(%x: tensor<2x3xf32>, %b: tensor<2x1xi32>) {
  // expected-error @below {{(C1) requires operands of 3 dimensions}}
  %0 = tensorrt.ragged_softmax %x, %b : (tensor<2x3xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C2) of ragged_softmax is checked: one bound a sequence.
func.func @f(%x: tensor<1x2x3xf32>, %b: tensor<1x3x1xi32>) {
  // expected-error @below {{(C2) requires one bound a sequence}}
  %0 = tensorrt.ragged_softmax %x, %b : (tensor<1x2x3xf32>, tensor<1x3x1xi32>) -> tensor<1x2x3xf32>
  return
}

// -----

// Tests that (C1) of normalization is checked: one element type.
func.func @f(%x: tensor<2x3xf32>, %s: tensor<1x3xf16>) {
  // expected-error @below {{(C1) requires operands of one element type}}
  %0 = tensorrt.normalization %x, %s, %s {axis = array<i64: 1>} : (tensor<2x3xf32>, tensor<1x3xf16>, tensor<1x3xf16>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C2) of normalization is checked: axes.
func.func @f(%x: tensor<2x4x3xf32>, %s: tensor<1x1x3xf32>) {
  // expected-error @below {{(C2) requires different dimensions}}
  %0 = tensorrt.normalization %x, %s, %s {axis = array<i64: 1, 1>} : (tensor<2x4x3xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>) -> tensor<2x4x3xf32>
  return
}

// -----

// Tests that (C3) of normalization is checked: scales broadcast.
func.func @f(%x: tensor<2x4x3xf32>, %s: tensor<1x2x3xf32>) {
  // expected-error @below {{(C3) requires a scale that broadcasts}}
  %0 = tensorrt.normalization %x, %s, %s {axis = array<i64: 2>} : (tensor<2x4x3xf32>, tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<2x4x3xf32>
  return
}

// -----

// Tests that (C4) of normalization is checked: groups divide the channels.
func.func @f(%x: tensor<2x4x3xf32>, %s: tensor<1x1x3xf32>) {
  // expected-error @below {{(C4) requires groups that divide the channels}}
  %0 = tensorrt.normalization %x, %s, %s {axis = array<i64: 2>, num_groups = 3 : i64} : (tensor<2x4x3xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>) -> tensor<2x4x3xf32>
  return
}

// -----

// Tests that (C4) of normalization is checked: axes of groups.
func.func @f(%x: tensor<2x4x3xf32>, %s: tensor<1x1x3xf32>) {
  // expected-error @below {{(C4) requires all dimensions behind the channels}}
  %0 = tensorrt.normalization %x, %s, %s {axis = array<i64: 1, 2>, num_groups = 2 : i64} : (tensor<2x4x3xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>) -> tensor<2x4x3xf32>
  return
}

// -----

// Tests that (C5) of normalization is checked: scale and bias of one shape.
func.func @f(%x: tensor<2x4x3xf32>, %s: tensor<1x1x3xf32>, %t: tensor<1x4x3xf32>) {
  // expected-error @below {{(C5) requires scale and bias of one shape}}
  %0 = tensorrt.normalization %x, %s, %t {axis = array<i64: 2>} : (tensor<2x4x3xf32>, tensor<1x1x3xf32>, tensor<1x4x3xf32>) -> tensor<2x4x3xf32>
  return
}

// -----

// Tests that (C1) of cumulative is checked: an axis of the input.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C1) requires an axis of}}
  %0 = tensorrt.cumulative %x {axis = -1 : i64, cumulativeOperation = #tensorrt<cumulative_operation kSUM>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C1) of matrix_multiply is checked: one element type.
func.func @f(%x: tensor<2x3xf32>, %y: tensor<3x2xf16>) {
  // expected-error @below {{(C1) requires operands of one element type}}
  %0 = tensorrt.matrix_multiply %x, %y {op0 = #tensorrt<matrix_operation kNONE>, op1 = #tensorrt<matrix_operation kNONE>} : (tensor<2x3xf32>, tensor<3x2xf16>) -> tensor<2x2xf32>
  return
}

// -----

// Tests that (C2) of matrix_multiply is checked: a matrix has 2 dimensions.
func.func @f(%x: tensor<3xf32>, %y: tensor<3x2xf32>) {
  // expected-error @below {{(C2) requires operands that have the dimensions}}
  %0 = tensorrt.matrix_multiply %x, %y {op0 = #tensorrt<matrix_operation kNONE>, op1 = #tensorrt<matrix_operation kNONE>} : (tensor<3xf32>, tensor<3x2xf32>) -> tensor<2xf32>
  return
}

// -----

// Tests that (C3) of matrix_multiply is checked: collections broadcast.
func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<3x4x2xf32>) {
  // expected-error @below {{(C3) requires collections}}
  %0 = tensorrt.matrix_multiply %x, %y {op0 = #tensorrt<matrix_operation kNONE>, op1 = #tensorrt<matrix_operation kNONE>} : (tensor<2x3x4xf32>, tensor<3x4x2xf32>) -> tensor<2x3x2xf32>
  return
}

// -----

// Tests that (C4) of matrix_multiply is checked: equal extents to sum over.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C4) requires equal extents to sum over, but got 3 and 2}}
  %0 = tensorrt.matrix_multiply %x, %x {op0 = #tensorrt<matrix_operation kNONE>, op1 = #tensorrt<matrix_operation kNONE>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C1) of einsum is checked: one element type.
func.func @f(%x: tensor<2x3xf32>, %y: tensor<3xf16>) {
  // expected-error @below {{(C1) requires inputs of one element type}}
  %0 = tensorrt.einsum %x, %y {equation = "ij,j->i"} : (tensor<2x3xf32>, tensor<3xf16>) -> tensor<2xf32>
  return
}

// -----

// Tests that (C2) of einsum is checked: lower-case letters.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C2) requires lower-case letters for dimensions, but got 'J'}}
  %0 = tensorrt.einsum %x {equation = "iJ->i"} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

// Tests that (C2) of einsum is checked: letters of the result occur.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C2) requires letters in the result that an input has}}
  %0 = tensorrt.einsum %x {equation = "ij->k"} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

// Tests that (C2) of einsum is checked: one term an input.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C2) requires one term an input}}
  %0 = tensorrt.einsum %x {equation = "ij,jk->ik"} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

// Tests that (C2) of einsum is checked: one letter a dimension.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C2) requires one letter a dimension}}
  %0 = tensorrt.einsum %x {equation = "i->i"} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

// Tests that (C3) of einsum is checked: equal extents of a letter.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C3) requires extents of 'i' that are equal or 1}}
  %0 = tensorrt.einsum %x {equation = "ii->i"} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

// Tests that (C1) of convolution is checked: one element type.
func.func @f(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf16>) {
  // expected-error @below {{(C1) requires operands of one element type}}
  %0 = tensorrt.convolution in(%x) kernel(%w) {stride = array<i64: 1, 1>, pre_padding = array<i64: 0, 0>, post_padding = array<i64: 0, 0>} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf16>) -> tensor<1x6x3x3xf32>
  return
}

// -----

// Tests that (C2) of convolution is checked: 2 or 3 spatial dimensions.
func.func @f(%x: tensor<1x4x5xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @below {{(C2) requires an input and a kernel of 2 or 3 spatial dimensions}}
  %0 = tensorrt.convolution in(%x) kernel(%w) {stride = array<i64: 1>, pre_padding = array<i64: 0>, post_padding = array<i64: 0>} : (tensor<1x4x5xf32>, tensor<6x4x3xf32>) -> tensor<1x6x3xf32>
  return
}

// -----

// Tests that (C2) of convolution is checked: one entry a spatial dimension.
func.func @f(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @below {{(C2) requires lists with one entry a spatial dimension}}
  %0 = tensorrt.convolution in(%x) kernel(%w) {stride = array<i64: 1>, pre_padding = array<i64: 0, 0>, post_padding = array<i64: 0, 0>} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x3x3xf32>
  return
}

// -----

// Tests that (C3) of convolution is checked: positive strides.
func.func @f(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @below {{(C3) requires strides and dilations that are positive}}
  %0 = tensorrt.convolution in(%x) kernel(%w) {stride = array<i64: 0, 1>, pre_padding = array<i64: 0, 0>, post_padding = array<i64: 0, 0>} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x3x3xf32>
  return
}

// -----

// Tests that (C3) of convolution is checked: no negative padding.
func.func @f(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @below {{(C3) requires paddings that are not negative}}
  %0 = tensorrt.convolution in(%x) kernel(%w) {stride = array<i64: 1, 1>, pre_padding = array<i64: -1, 0>, post_padding = array<i64: 0, 0>} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x3x3xf32>
  return
}

// -----

// Tests that (C4) of convolution is checked: the kernel's channels.
func.func @f(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @below {{(C4) requires a kernel for the channels}}
  %0 = tensorrt.convolution in(%x) kernel(%w) {stride = array<i64: 1, 1>, pre_padding = array<i64: 0, 0>, post_padding = array<i64: 0, 0>, num_groups = 2 : i64} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x3x3xf32>
  return
}

// -----

// Tests that (C5) of convolution is checked: one bias a map.
func.func @f(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{(C5) requires a bias of 6 elements}}
  %0 = tensorrt.convolution in(%x) kernel(%w) bias(%b) {stride = array<i64: 1, 1>, pre_padding = array<i64: 0, 0>, post_padding = array<i64: 0, 0>} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>, tensor<4xf32>) -> tensor<1x6x3x3xf32>
  return
}

// -----

// Tests that (C6) of convolution is checked: the kernel fits.
func.func @f(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @below {{(C6) requires a kernel that fits into the padded input}}
  %0 = tensorrt.convolution in(%x) kernel(%w) {stride = array<i64: 1, 1>, pre_padding = array<i64: 0, 0>, post_padding = array<i64: 0, 0>, dilation = array<i64: 3, 3>} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x3x3xf32>
  return
}

// -----

// Tests that (C4) of deconvolution is checked: the kernel's channels.
func.func @f(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @below {{(C4) requires a kernel for the channels}}
  %0 = tensorrt.deconvolution in(%x) kernel(%w) {stride = array<i64: 1, 1>, pre_padding = array<i64: 0, 0>, post_padding = array<i64: 0, 0>} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>) -> tensor<1x4x7x7xf32>
  return
}

// -----

// Tests that (C6) of deconvolution is checked: something is left.
func.func @f(%x: tensor<1x4x1x1xf32>, %w: tensor<4x6x3x3xf32>) {
  // expected-error @below {{(C6) requires extents of the result that are positive}}
  %0 = tensorrt.deconvolution in(%x) kernel(%w) {stride = array<i64: 1, 1>, pre_padding = array<i64: 3, 3>, post_padding = array<i64: 0, 0>} : (tensor<1x4x1x1xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x1x1xf32>
  return
}

// -----

// Tests that (C1) of pooling is checked: 2 or 3 dimensions.
func.func @f(%x: tensor<1x1x5x5xf32>) {
  // expected-error @below {{(C1) requires lists of 2 or 3 entries}}
  %0 = tensorrt.pooling %x {windowSize = array<i64: 2>, stride = array<i64: 1>, prePadding = array<i64: 0>, postPadding = array<i64: 0>, poolingType = #tensorrt<pooling_type kMAX>} : (tensor<1x1x5x5xf32>) -> tensor<1x1x4x4xf32>
  return
}

// -----

// Tests that (C2) of pooling is checked: positive strides.
func.func @f(%x: tensor<1x1x5x5xf32>) {
  // expected-error @below {{(C2) requires windows and strides that are positive}}
  %0 = tensorrt.pooling %x {windowSize = array<i64: 2, 2>, stride = array<i64: 0, 1>, prePadding = array<i64: 0, 0>, postPadding = array<i64: 0, 0>, poolingType = #tensorrt<pooling_type kMAX>} : (tensor<1x1x5x5xf32>) -> tensor<1x1x4x4xf32>
  return
}

// -----

// Tests that (C3) of pooling is checked: padding smaller than the window.
func.func @f(%x: tensor<1x1x5x5xf32>) {
  // expected-error @below {{(C3) requires paddings from 0 to less than the window}}
  %0 = tensorrt.pooling %x {windowSize = array<i64: 2, 2>, stride = array<i64: 1, 1>, prePadding = array<i64: 2, 0>, postPadding = array<i64: 0, 0>, poolingType = #tensorrt<pooling_type kMAX>} : (tensor<1x1x5x5xf32>) -> tensor<1x1x4x4xf32>
  return
}

// -----

// Tests that (C4) of pooling is checked: a blend factor only for blends.
func.func @f(%x: tensor<1x1x5x5xf32>) {
  // expected-error @below {{(C4) requires no blend factor for kMAX}}
  %0 = tensorrt.pooling %x {windowSize = array<i64: 2, 2>, stride = array<i64: 1, 1>, prePadding = array<i64: 0, 0>, postPadding = array<i64: 0, 0>, poolingType = #tensorrt<pooling_type kMAX>, blendFactor = 0.5 : f32} : (tensor<1x1x5x5xf32>) -> tensor<1x1x4x4xf32>
  return
}

// -----

// Tests that (C1) of attention is checked: one element type.
func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x6x8xf16>) {
  // expected-error @below {{(C1) requires operands of one element type}}
  %0 = tensorrt.attention %q, %k, %k : (tensor<2x4x5x8xf32>, tensor<2x4x6x8xf16>, tensor<2x4x6x8xf16>) -> tensor<2x4x5x8xf32>
  return
}

// -----

// Tests that (C2) of attention is checked: ranks.
func.func @f(%q: tensor<4x5x8xf32>) {
  // expected-error @below {{(C2) requires 4 dimensions of padded and 3 of packed inputs}}
  %0 = tensorrt.attention %q, %q, %q : (tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>) -> tensor<4x5x8xf32>
  return
}

// -----

// Tests that (C3) of attention is checked: inputs fit together.
func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x3x6x8xf32>) {
  // expected-error @below {{(C3) requires inputs that fit together}}
  %0 = tensorrt.attention %q, %k, %k : (tensor<2x4x5x8xf32>, tensor<2x3x6x8xf32>, tensor<2x3x6x8xf32>) -> tensor<2x4x5x8xf32>
  return
}

// -----

// Tests that (C4) of attention is checked: one kind of mask.
func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x6x8xf32>, %m: tensor<2x4x5x6xi1>) {
  // expected-error @below {{(C4) requires a mask or a causal mask, but got both}}
  %0 = tensorrt.attention %q, %k, %k mask(%m) {causalKind = #tensorrt<causal_mask_kind kUPPER_LEFT>} : (tensor<2x4x5x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x5x6xi1>) -> tensor<2x4x5x8xf32>
  return
}

// -----

// Tests that (C4) of attention is checked: the mask broadcasts to the scores.
func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x6x8xf32>, %m: tensor<2x4x6x6xi1>) {
  // expected-error @below {{(C4) requires a mask that broadcasts to the scores}}
  %0 = tensorrt.attention %q, %k, %k mask(%m) : (tensor<2x4x5x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x6x6xi1>) -> tensor<2x4x5x8xf32>
  return
}

// -----

// Tests that (C5) of attention is checked: a quantized type has a scale.
func.func @f(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x6x8xf32>) {
  // expected-error @below {{(C5) requires a quantized type of the scores}}
  %0 = tensorrt.attention %q, %k, %k {normalizationQuantizeToType = i8} : (tensor<2x4x5x8xf32>, tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>) -> tensor<2x4x5x8xf32>
  return
}

// -----

// Tests that (C6) of attention is checked: packed sequences have lengths.
func.func @f(%q: tensor<5x4x8xf32>) {
  // expected-error @below {{(C6) requires the lengths of packed sequences}}
  %0 = tensorrt.attention %q, %q, %q {queryForm = #tensorrt<attention_io_form kPACKED_NHD>, keyValueForm = #tensorrt<attention_io_form kPACKED_NHD>} : (tensor<5x4x8xf32>, tensor<5x4x8xf32>, tensor<5x4x8xf32>) -> tensor<5x4x8xf32>
  return
}

// -----

// Tests that (C2) of rotary_embedding is checked: 4 dimensions.
func.func @f(%x: tensor<4x8xf32>, %c: tensor<1x4x4xf32>) {
  // expected-error @below {{(C2) requires an input of 4 dimensions}}
  %0 = tensorrt.rotary_embedding %x, %c, %c : (tensor<4x8xf32>, tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<4x8xf32>
  return
}

// -----

// Tests that (C3) of rotary_embedding is checked: caches.
func.func @f(%x: tensor<1x2x4x8xf32>, %c: tensor<1x4x8xf32>) {
  // expected-error @below {{(C3) requires caches}}
  %0 = tensorrt.rotary_embedding %x, %c, %c : (tensor<1x2x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> tensor<1x2x4x8xf32>
  return
}

// -----

// Tests that (C5) of rotary_embedding is checked: an even number of elements.
func.func @f(%x: tensor<1x2x4x8xf32>, %c: tensor<1x4x4xf32>) {
  // expected-error @below {{(C5) requires an even number of elements to rotate}}
  %0 = tensorrt.rotary_embedding %x, %c, %c {rotaryEmbeddingDim = 3 : i64} : (tensor<1x2x4x8xf32>, tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x2x4x8xf32>
  return
}

// -----

// Tests that (C1) of kv_cache_update is checked: the update fits.
func.func @f(%x: tensor<1x2x4x8xf32>, %u: tensor<1x2x5x8xf32>, %i: tensor<1xi32>) {
  // expected-error @below {{(C1) requires an update of the cache's type and extents}}
  %0 = tensorrt.kv_cache_update %x, %u, %i : (tensor<1x2x4x8xf32>, tensor<1x2x5x8xf32>, tensor<1xi32>) -> tensor<1x2x4x8xf32>
  return
}

// -----

// Tests that (C2) of kv_cache_update is checked: one index a batch.
func.func @f(%x: tensor<1x2x4x8xf32>, %i: tensor<2xi32>) {
  // expected-error @below {{(C2) requires one index or length a batch}}
  %0 = tensorrt.kv_cache_update %x, %x, %i : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<2xi32>) -> tensor<1x2x4x8xf32>
  return
}

// -----

// Tests that (C1) of moe is checked: scores for the selected experts.
func.func @f(%h: tensor<1x3x4xf32>, %e: tensor<1x3x2xi32>, %s: tensor<1x3x3xf32>, %g: tensor<6x4x5xf32>, %o: tensor<6x5x4xf32>) {
  // expected-error @below {{(C1) requires states, experts and scores}}
  %0 = tensorrt.moe %h, %e, %s weights(%g, %g, %o) : (tensor<1x3x4xf32>, tensor<1x3x2xi32>, tensor<1x3x3xf32>, tensor<6x4x5xf32>, tensor<6x4x5xf32>, tensor<6x5x4xf32>) -> tensor<1x3x4xf32>
  return
}

// -----

// Tests that (C2) of moe is checked: weights fit.
func.func @f(%h: tensor<1x3x4xf32>, %e: tensor<1x3x2xi32>, %s: tensor<1x3x2xf32>, %g: tensor<6x4x5xf32>, %o: tensor<6x5x4xf32>) {
  // expected-error @below {{(C2) requires weights that fit}}
  %0 = tensorrt.moe %h, %e, %s weights(%g, %g, %g) : (tensor<1x3x4xf32>, tensor<1x3x2xi32>, tensor<1x3x2xf32>, tensor<6x4x5xf32>, tensor<6x4x5xf32>, tensor<6x4x5xf32>) -> tensor<1x3x4xf32>
  return
}

// -----

// Tests that (C1) of reduce is checked: an axis.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C1) requires different dimensions}}
  %0 = tensorrt.reduce %x {reduceAxes = array<i64>, reduceOperation = #tensorrt<reduce_operation kSUM>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C1) of reduce is checked: axes of the input.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C1) requires different dimensions}}
  %0 = tensorrt.reduce %x {reduceAxes = array<i64: 2>, reduceOperation = #tensorrt<reduce_operation kSUM>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C1) of top_k is checked: one of the last four dimensions.
func.func @f(%x: tensor<5x1x1x1x2xf32>) {
  // expected-error @below {{(C1) requires one of the last four dimensions}}
  %0:2 = tensorrt.top_k %x {k = 1 : i64, axis = 0 : i64, topkOperation = #tensorrt<top_k_operation kMAX>} : (tensor<5x1x1x1x2xf32>) -> (tensor<1x1x1x1x2xf32>, tensor<1x1x1x1x2xi32>)
  return
}

// -----

// Tests that (C2) of top_k is checked: k is not more than the extent.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C2) requires k from 1 to 3840}}
  %0:2 = tensorrt.top_k %x {k = 4 : i64, axis = 1 : i64, topkOperation = #tensorrt<top_k_operation kMAX>} : (tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xi32>)
  return
}

// -----

// Tests that (C2) of top_k is checked: at most 3840.
func.func @f(%x: tensor<1x5000xf32>) {
  // expected-error @below {{(C2) requires k from 1 to 3840}}
  %0:2 = tensorrt.top_k %x {k = 3841 : i64, axis = 1 : i64, topkOperation = #tensorrt<top_k_operation kMAX>} : (tensor<1x5000xf32>) -> (tensor<1x3841xf32>, tensor<1x3841xi32>)
  return
}

// -----

// Tests that (C1) of argmax is checked: a vector is no matrix.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C1) requires an input of at least 2 dimensions}}
  %0:2 = tensorrt.argmax %x {axis = 0 : i64} : (tensor<4xf32>) -> (tensor<1xf32>, tensor<1xi32>)
  return
}

// -----

// Tests that (C1) of argmax is checked: an axis.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C1) requires one of the last four dimensions}}
  %0:2 = tensorrt.argmax %x {axis = 2 : i64} : (tensor<2x3xf32>) -> (tensor<2x1xf32>, tensor<2x1xi32>)
  return
}

// -----

// Tests that (C1) of argmin is checked: an axis.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C1) requires one of the last four dimensions}}
  %0:2 = tensorrt.argmin %x {axis = -1 : i64} : (tensor<2x3xf32>) -> (tensor<2x1xf32>, tensor<2x1xi32>)
  return
}

// -----

// Tests that (C1) of non_zero is checked: a dimension.
func.func @f(%x: tensor<f32>) {
  // expected-error @below {{operand #0 must be ranked tensor of 1 to 8 dimensions}}
  %0 = tensorrt.non_zero %x : (tensor<f32>) -> tensor<0x?xi32>
  return
}

// -----

// Tests that non_zero gives one row a dimension.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{requires result type 'tensor<2x?xi32>'}}
  %0 = tensorrt.non_zero %x : (tensor<2x3xf32>) -> tensor<3x?xi32>
  return
}

// -----

// Tests that (C1) of nms is checked: boxes of 4 numbers.
func.func @f(%b: tensor<1x9x5xf32>, %s: tensor<1x9x3xf32>, %n: tensor<i32>) {
  // expected-error @below {{(C1) requires boxes of 4 numbers}}
  %0:2 = tensorrt.nms %b, %s, %n : (tensor<1x9x5xf32>, tensor<1x9x3xf32>, tensor<i32>) -> (tensor<?x3xi32>, tensor<i32>)
  return
}

// -----

// Tests that (C1) of shuffle is checked: a permutation.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C1) requires a permutation}}
  %0 = tensorrt.shuffle %x {firstTranspose = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C2) of shuffle is checked: one new shape.
func.func @f(%x: tensor<2x3xf32>, %s: tensor<2xi64>) {
  // expected-error @below {{(C2) requires the new shape as an attribute or as an operand}}
  %0 = tensorrt.shuffle %x shape(%s) {reshape = array<i64: 6>} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<6xf32>
  return
}

// -----

// Tests that (C3) of shuffle is checked: one -1.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C5) requires a new shape that the elements}}
  %0 = tensorrt.shuffle %x {reshape = array<i64: -1, -1>} : (tensor<2x3xf32>) -> tensor<6x1xf32>
  return
}

// -----

// Tests that (C5) of shuffle is checked: as many elements.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C5) requires a new shape that the elements}}
  %0 = tensorrt.shuffle %x {reshape = array<i64: 4, -1>} : (tensor<2x3xf32>) -> tensor<4x1xf32>
  return
}

// -----

// Tests that (C1) of transpose is checked: a permutation.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C1) requires a permutation}}
  %0 = tensorrt.transpose %x {permutation = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

// Tests that (C1) of reshape is checked: one element type.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C1) requires input and result of one element type}}
  %0 = tensorrt.reshape %x : (tensor<2x3xf32>) -> tensor<6xf16>
  return
}

// -----

// Tests that (C2) of reshape is checked: as many elements.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C2) requires equally many elements}}
  %0 = tensorrt.reshape %x : (tensor<2x3xf32>) -> tensor<5xf32>
  return
}

// -----

// Tests that (C3) of reshape is checked: one unknown extent.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C3) requires 'shape'}}
  %0 = tensorrt.reshape %x : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return
}

// -----

// Tests that (C4) of reshape is checked: one element a dimension.
func.func @f(%x: tensor<2x3xf32>, %s: tensor<3xi64>) {
  // expected-error @below {{(C4) requires one element of 'shape' a dimension}}
  %0 = tensorrt.reshape %x shape(%s) : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<?x?xf32>
  return
}

// -----

// Tests that (C1) of squeeze is checked: axes of the input.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C1) requires different dimensions}}
  %0 = tensorrt.squeeze %x {axes = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

// Tests that (C2) of squeeze is checked: extents of 1.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C2) requires dimensions of extent 1}}
  %0 = tensorrt.squeeze %x {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3xf32>
  return
}

// -----

// Tests that (C1) of unsqueeze is checked: axes of the result.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C1) requires different dimensions of a result of 3 dimensions}}
  %0 = tensorrt.unsqueeze %x {axes = array<i64: 3>} : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
  return
}

// -----

// Tests that (C2) of unsqueeze is checked: 8 dimensions.
func.func @f(%x: tensor<1x1x1x1x1x1x1x1xf32>) {
  // expected-error @below {{must be ranked tensor of at most 8 dimensions}}
  %0 = tensorrt.unsqueeze %x {axes = array<i64: 0>} : (tensor<1x1x1x1x1x1x1x1xf32>) -> tensor<1x1x1x1x1x1x1x1x1xf32>
  return
}

// -----

// Tests that (C1) of broadcast is checked: one element type.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C1) requires input and result of one element type}}
  %0 = tensorrt.broadcast %x {broadcastDims = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf16>
  return
}

// -----

// Tests that (C2) of broadcast is checked: ascending dimensions.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C2) requires one dimension of}}
  %0 = tensorrt.broadcast %x {broadcastDims = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

// Tests that (C3) of broadcast is checked: extents of 1 or the result's.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C3) requires extents that are 1 or the result's}}
  %0 = tensorrt.broadcast %x {broadcastDims = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// Tests that (C4) of broadcast is checked: an unknown shape is given.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C4) requires 'shape'}}
  %0 = tensorrt.broadcast %x {broadcastDims = array<i64: 1, 2>} : (tensor<2x3xf32>) -> tensor<?x2x3xf32>
  return
}

// -----

// Tests that (C1) of slice is checked: one entry a dimension.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C1) requires start, size and stride}}
  %0 = tensorrt.slice %x {staticStart = array<i64: 0>, staticSize = array<i64: 1, 1>, staticStride = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<1x1xf32>
  return
}

// -----

// Tests that (C1) of slice is checked: one of the two forms.
func.func @f(%x: tensor<2x3xf32>, %s: tensor<2xi64>) {
  // expected-error @below {{(C1) requires start, size and stride}}
  %0 = tensorrt.slice %x start(%s) {staticStart = array<i64: 0, 0>, staticSize = array<i64: 1, 1>, staticStride = array<i64: 1, 1>} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<1x1xf32>
  return
}

// -----

// Tests that (C2) of slice is checked: sizes.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C2) requires sizes that are not negative}}
  %0 = tensorrt.slice %x {staticStart = array<i64: 0, 0>, staticSize = array<i64: 1, -1>, staticStride = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<1x1xf32>
  return
}

// -----

// Tests that (C3) of slice is checked: inside the input.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C3) requires a part inside of}}
  %0 = tensorrt.slice %x {staticStart = array<i64: 0, 1>, staticSize = array<i64: 2, 3>, staticStride = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C4) of slice is checked: a fill for kFILL.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C4) requires 'fill' with kFILL, and only then}}
  %0 = tensorrt.slice %x {staticStart = array<i64: 0, 1>, staticSize = array<i64: 2, 3>, staticStride = array<i64: 1, 1>, mode = #tensorrt<sample_mode kFILL>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C4) of slice is checked: a fill of the input's element type.
func.func @f(%x: tensor<2x3xf32>, %f: tensor<f16>) {
  // expected-error @below {{(C4) requires a scalar of 'f32' to fill with}}
  %0 = tensorrt.slice %x fill(%f) {staticStart = array<i64: 0, 1>, staticSize = array<i64: 2, 3>, staticStride = array<i64: 1, 1>, mode = #tensorrt<sample_mode kFILL>} : (tensor<2x3xf32>, tensor<f16>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C1) of concatenation is checked: one element type.
func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x3xf16>) {
  // expected-error @below {{(C1) requires inputs of one element type and rank}}
  %0 = tensorrt.concatenation %x, %y {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf16>) -> tensor<4x3xf32>
  return
}

// -----

// Tests that (C2) of concatenation is checked: an axis.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C2) requires an axis of}}
  %0 = tensorrt.concatenation %x, %x {axis = 2 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// Tests that (C3) of concatenation is checked: equal extents.
func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error @below {{(C3) requires equal extents outside of axis 0}}
  %0 = tensorrt.concatenation %x, %y {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

// Tests that (C1) of padding is checked: 4 dimensions.
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{(C1) requires an input of at least 4 dimensions}}
  %0 = tensorrt.padding %x {prePadding = array<i64: 1, 1>, postPadding = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<4x5xf32>
  return
}

// -----

// Tests that (C2) of padding is checked: 2 dimensions.
func.func @f(%x: tensor<1x1x5x5xf32>) {
  // expected-error @below {{(C2) requires paddings of 2 dimensions}}
  %0 = tensorrt.padding %x {prePadding = array<i64: 1>, postPadding = array<i64: 1, 1>} : (tensor<1x1x5x5xf32>) -> tensor<1x1x7x7xf32>
  return
}

// -----

// Tests that (C3) of padding is checked: something may be left.
func.func @f(%x: tensor<1x1x5x5xf32>) {
  // expected-error @below {{(C3) requires extents that do not become negative}}
  %0 = tensorrt.padding %x {prePadding = array<i64: -6, 0>, postPadding = array<i64: 0, 0>} : (tensor<1x1x5x5xf32>) -> tensor<1x1x0x5xf32>
  return
}

// -----

// Tests that (C1) of linspace is checked: start and step in one form.
func.func @f() {
  // expected-error @below {{(C1) requires start and step}}
  %0 = tensorrt.linspace {staticStart = 0.0 : f64} : () -> tensor<4xf32>
  return
}

// -----

// Tests that (C2) of linspace is checked: one dimension.
func.func @f() {
  // expected-error @below {{(C2) requires a result of one dimension}}
  %0 = tensorrt.linspace {staticStart = 0.0 : f64, staticStep = 1.0 : f64} : () -> tensor<4x2xf32>
  return
}

// -----

// Tests that (C3) of linspace is checked: one step a dimension.
func.func @f(%f: tensor<f32>, %s: tensor<1xf32>) {
  // expected-error @below {{(C3) requires start and one step a dimension}}
  %0 = tensorrt.linspace start(%f) step(%s) : (tensor<f32>, tensor<1xf32>) -> tensor<4x2xf32>
  return
}

// -----

// Tests that (C4) of linspace is checked: an unknown shape is given.
func.func @f() {
  // expected-error @below {{(C4) requires 'shape'}}
  %0 = tensorrt.linspace {staticStart = 0.0 : f64, staticStep = 1.0 : f64} : () -> tensor<?xf32>
  return
}

// -----

// Tests that (C1) of random_uniform is checked: parameters in one form.
func.func @f(%f: tensor<f32>) {
  // expected-error @below {{(C1) requires both parameters}}
  %0 = tensorrt.random_uniform low(%f) {static_high = 1.0 : f64} : (tensor<f32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C2) of random_normal is checked: parameters of the result's element type.
func.func @f(%f: tensor<f16>) {
  // expected-error @below {{(C2) requires parameters of the element type}}
  %0 = tensorrt.random_normal mean(%f) std(%f) : (tensor<f16>, tensor<f16>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C3) of random_normal is checked: an unknown shape is given.
func.func @f() {
  // expected-error @below {{(C3) requires 'shape'}}
  %0 = tensorrt.random_normal {static_mean = 0.0 : f64, static_std = 1.0 : f64} : () -> tensor<?xf32>
  return
}

// -----

// Tests that (C1) of reverse_sequence is checked: two axes.
func.func @f(%x: tensor<2x3xf32>, %l: tensor<3xi32>) {
  // expected-error @below {{(C1) requires two dimensions}}
  %0 = tensorrt.reverse_sequence %x, %l {batchAxis = 0 : i64} : (tensor<2x3xf32>, tensor<3xi32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C2) of reverse_sequence is checked: one length a slice.
func.func @f(%x: tensor<2x3xf32>, %l: tensor<2xi32>) {
  // expected-error @below {{(C2) requires one length a slice}}
  %0 = tensorrt.reverse_sequence %x, %l : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C1) of gather is checked: an axis.
func.func @f(%x: tensor<2x3xf32>, %i: tensor<4xi32>) {
  // expected-error @below {{(C1) requires an axis of}}
  %0 = tensorrt.gather %x, %i {axis = 2 : i64} : (tensor<2x3xf32>, tensor<4xi32>) -> tensor<2x4xf32>
  return
}

// -----

// Tests that (C2) of gather is checked: the common dimension.
func.func @f(%x: tensor<2x3xf32>, %i: tensor<4xi32>) {
  // expected-error @below {{(C2) requires first extents that are equal or 1}}
  %0 = tensorrt.gather %x, %i {axis = 1 : i64, numElementWiseDims = 1 : i64} : (tensor<2x3xf32>, tensor<4xi32>) -> tensor<2xf32>
  return
}

// -----

// Tests that (C3) of gather is checked: 8 dimensions.
func.func @f(%x: tensor<1x1x1x1x2xf32>, %i: tensor<1x1x1x1x1xi32>) {
  // expected-error @below {{(C3) requires a result of at most 8 dimensions}}
  %0 = tensorrt.gather %x, %i {axis = 4 : i64} : (tensor<1x1x1x1x2xf32>, tensor<1x1x1x1x1xi32>) -> tensor<1x1x1x1x1x1x1x1xf32>
  return
}

// -----

// Tests that (C2) of gather_nd is checked: index vectors.
func.func @f(%x: tensor<2x3xf32>, %i: tensor<4x3xi32>) {
  // expected-error @below {{(C2) requires index vectors of known length}}
  %0 = tensorrt.gather_nd %x, %i : (tensor<2x3xf32>, tensor<4x3xi32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C3) of gather_nd is checked: equal elementwise extents.
func.func @f(%x: tensor<2x3xf32>, %i: tensor<4x1xi32>) {
  // expected-error @below {{(C3) requires equal extents}}
  %0 = tensorrt.gather_nd %x, %i {numElementWiseDims = 1 : i64} : (tensor<2x3xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C1) of gather_elements is checked: equal ranks.
func.func @f(%x: tensor<2x3xf32>, %i: tensor<4xi32>) {
  // expected-error @below {{(C1) requires operands of one rank}}
  %0 = tensorrt.gather_elements %x, %i {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C2) of gather_elements is checked: an axis.
func.func @f(%x: tensor<2x3xf32>, %i: tensor<4x3xi32>) {
  // expected-error @below {{(C2) requires an axis of}}
  %0 = tensorrt.gather_elements %x, %i {axis = 2 : i64} : (tensor<2x3xf32>, tensor<4x3xi32>) -> tensor<4x3xf32>
  return
}

// -----

// Tests that (C1) of scatter_nd is checked: one element type.
func.func @f(%x: tensor<2x3xf32>, %i: tensor<4x1xi32>, %u: tensor<4x3xf16>) {
  // expected-error @below {{(C1) requires data and updates of one element type}}
  %0 = tensorrt.scatter_nd %x, %i, %u : (tensor<2x3xf32>, tensor<4x1xi32>, tensor<4x3xf16>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C2) of scatter_nd is checked: index vectors.
func.func @f(%x: tensor<2x3xf32>, %i: tensor<4x3xi32>, %u: tensor<4xf32>) {
  // expected-error @below {{(C2) requires index vectors of known length}}
  %0 = tensorrt.scatter_nd %x, %i, %u : (tensor<2x3xf32>, tensor<4x3xi32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C3) of scatter_nd is checked: updates.
func.func @f(%x: tensor<2x3xf32>, %i: tensor<4x1xi32>, %u: tensor<4x2xf32>) {
  // expected-error @below {{(C3) requires updates of type 'tensor<4x3xf32>'}}
  %0 = tensorrt.scatter_nd %x, %i, %u : (tensor<2x3xf32>, tensor<4x1xi32>, tensor<4x2xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C2) of scatter_elements is checked: one shape.
func.func @f(%x: tensor<2x3xf32>, %i: tensor<2x2xi32>) {
  // expected-error @below {{(C2) requires indices and updates of one shape}}
  %0 = tensorrt.scatter_elements %x, %i, %x {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x2xi32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C3) of scatter_elements is checked: an axis.
func.func @f(%x: tensor<2x3xf32>, %i: tensor<2x3xi32>) {
  // expected-error @below {{(C3) requires an axis of}}
  %0 = tensorrt.scatter_elements %x, %i, %x {axis = 2 : i64} : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C4) of scatter_elements is checked: indices are not longer.
func.func @f(%x: tensor<2x3xf32>, %i: tensor<3x3xi32>, %u: tensor<3x3xf32>) {
  // expected-error @below {{(C4) requires indices that are not longer}}
  %0 = tensorrt.scatter_elements %x, %i, %u {axis = 1 : i64} : (tensor<2x3xf32>, tensor<3x3xi32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// Tests that (C1) of one_hot is checked: two values.
func.func @f(%i: tensor<2xi32>, %v: tensor<3xf32>, %d: tensor<i32>) {
  // expected-error @below {{(C1) requires an off and an on value}}
  %0 = tensorrt.one_hot %i, %v, %d {axis = 0 : i64} : (tensor<2xi32>, tensor<3xf32>, tensor<i32>) -> tensor<?x2xf32>
  return
}

// -----

// Tests that (C2) of one_hot is checked: an axis.
func.func @f(%i: tensor<2xi32>, %v: tensor<2xf32>, %d: tensor<i32>) {
  // expected-error @below {{(C2) requires an axis from -2 to 1}}
  %0 = tensorrt.one_hot %i, %v, %d {axis = 2 : i64} : (tensor<2xi32>, tensor<2xf32>, tensor<i32>) -> tensor<?x2xf32>
  return
}

// -----

// Tests that (C1) of resize_linear is checked: one rank.
func.func @f(%x: tensor<1x1x5x5xf32>) {
  // expected-error @below {{(C1) requires input and result of one element type and rank}}
  %0 = tensorrt.resize_linear %x {coordinateTransformation = #tensorrt<resize_coordinate_transformation kASYMMETRIC>, selectorForSinglePixel = #tensorrt<resize_selector kFORMULA>} : (tensor<1x1x5x5xf32>) -> tensor<1x5x5xf32>
  return
}

// -----

// Tests that (C2) of resize_cubic is checked: the last 2 dimensions.
func.func @f(%x: tensor<1x1x5x5xf32>) {
  // expected-error @below {{(C2) requires that only the last 2 extents change}}
  %0 = tensorrt.resize_cubic %x {coordinateTransformation = #tensorrt<resize_coordinate_transformation kASYMMETRIC>, selectorForSinglePixel = #tensorrt<resize_selector kFORMULA>} : (tensor<1x1x5x5xf32>) -> tensor<1x2x5x5xf32>
  return
}

// -----

// Tests that (C3) of resize_linear is checked: one scale a dimension.
func.func @f(%x: tensor<1x1x5x5xf32>) {
  // expected-error @below {{(C3) requires one new extent or scale a dimension}}
  %0 = tensorrt.resize_linear %x {scales = array<f32: 1.0>, coordinateTransformation = #tensorrt<resize_coordinate_transformation kASYMMETRIC>, selectorForSinglePixel = #tensorrt<resize_selector kFORMULA>} : (tensor<1x1x5x5xf32>) -> tensor<1x1x5x5xf32>
  return
}

// -----

// Tests that (C4) of resize_linear is checked: an unknown shape is given.
func.func @f(%x: tensor<1x1x5x5xf32>) {
  // expected-error @below {{(C4) requires 'outputShape' or 'scales'}}
  %0 = tensorrt.resize_linear %x {coordinateTransformation = #tensorrt<resize_coordinate_transformation kASYMMETRIC>, selectorForSinglePixel = #tensorrt<resize_selector kFORMULA>} : (tensor<1x1x5x5xf32>) -> tensor<1x1x?x?xf32>
  return
}

// -----

// Tests that (C5) of resize_linear is checked: scales give the result.
func.func @f(%x: tensor<1x1x5x5xf32>) {
  // expected-error @below {{(C5) requires scales that are positive and give}}
  %0 = tensorrt.resize_linear %x {scales = array<f32: 1.0, 1.0, 2.0, 1.0>, coordinateTransformation = #tensorrt<resize_coordinate_transformation kASYMMETRIC>, selectorForSinglePixel = #tensorrt<resize_selector kFORMULA>} : (tensor<1x1x5x5xf32>) -> tensor<1x1x5x5xf32>
  return
}

// -----

// Tests that (C2) of grid_sample is checked: points.
func.func @f(%x: tensor<1x1x5x5xf32>, %g: tensor<1x3x3x3xf32>) {
  // expected-error @below {{(C2) requires images of 4 dimensions and a grid of points}}
  %0 = tensorrt.grid_sample %x, %g : (tensor<1x1x5x5xf32>, tensor<1x3x3x3xf32>) -> tensor<1x1x3x3xf32>
  return
}

// -----

// Tests that (C3) of grid_sample is checked: the mode.
func.func @f(%x: tensor<1x1x5x5xf32>, %g: tensor<1x3x3x2xf32>) {
  // expected-error @below {{(C3) requires kCLAMP, kFILL or kREFLECT}}
  %0 = tensorrt.grid_sample %x, %g {sampleMode = #tensorrt<sample_mode kWRAP>} : (tensor<1x1x5x5xf32>, tensor<1x3x3x2xf32>) -> tensor<1x1x3x3xf32>
  return
}

// -----

// Tests that quantize takes no scalars.
func.func @f(%x: tensor<f32>) {
  // expected-error @below {{operand #0 must be ranked tensor of 1 to 8 dimensions}}
  %0 = tensorrt.quantize %x, %x : (tensor<f32>, tensor<f32>) -> tensor<i8>
  return
}

// -----

// Tests that (C1) of quantize is checked: one shape.
func.func @f(%x: tensor<4x32xf32>, %s: tensor<f32>) {
  // expected-error @below {{(C1) requires input and result of one shape}}
  %0 = tensorrt.quantize %x, %s : (tensor<4x32xf32>, tensor<f32>) -> tensor<4x16xi8>
  return
}

// -----

// Tests that (C2) of quantize is checked: one scale a slice.
func.func @f(%x: tensor<4x32xf32>, %s: tensor<5xf32>) {
  // expected-error @below {{(C2) requires a scale for the tensor}}
  %0 = tensorrt.quantize %x, %s {axis = 0 : i64} : (tensor<4x32xf32>, tensor<5xf32>) -> tensor<4x32xi8>
  return
}

// -----

// Tests that (C3) of quantize is checked: no blocks of i8.
func.func @f(%x: tensor<4x32xf32>, %s: tensor<4x2xf32>) {
  // expected-error @below {{(C3) requires i4, f8E4M3FN or f4E2M1FN for blocks}}
  %0 = tensorrt.quantize %x, %s : (tensor<4x32xf32>, tensor<4x2xf32>) -> tensor<4x32xi8>
  return
}

// -----

// Tests that (C4) of quantize is checked: a scale of the input's element type.
func.func @f(%x: tensor<4x32xf32>, %s: tensor<f16>) {
  // expected-error @below {{(C4) requires a scale of an element type}}
  %0 = tensorrt.quantize %x, %s : (tensor<4x32xf32>, tensor<f16>) -> tensor<4x32xi8>
  return
}

// -----

// Tests that (C4) of dequantize is checked: a scale of the result's element type.
func.func @f(%x: tensor<4x32xi8>, %s: tensor<f16>) {
  // expected-error @below {{(C4) requires a scale of an element type}}
  %0 = tensorrt.dequantize %x, %s : (tensor<4x32xi8>, tensor<f16>) -> tensor<4x32xf32>
  return
}

// -----

// Tests that (C2) of dynamic_quantize is checked: blocks divide the input.
func.func @f(%x: tensor<4x32xf32>) {
  // expected-error @below {{(C2) requires blocks that divide}}
  %0:2 = tensorrt.dynamic_quantize %x {blockShape = array<i64: 3, 16>} : (tensor<4x32xf32>) -> (tensor<4x32xi8>, tensor<4x2xf32>)
  return
}

// -----

// Tests that (C3) of dynamic_quantize is checked: element types go together.
func.func @f(%x: tensor<4x32xf32>) {
  // expected-error @below {{(C3) requires element types of result and scales that go together}}
  %0:2 = tensorrt.dynamic_quantize %x {blockShape = array<i64: 1, 16>} : (tensor<4x32xf32>) -> (tensor<4x32xf4E2M1FN>, tensor<4x2xf32>)
  return
}

// -----

// Tests that (C4) of dynamic_quantize is checked: the scales' scale.
func.func @f(%x: tensor<4x32xf32>) {
  // expected-error @below {{(C4) requires 'doubleQuantScale'}}
  %0:2 = tensorrt.dynamic_quantize %x {blockShape = array<i64: 1, 16>} : (tensor<4x32xf32>) -> (tensor<4x32xf4E2M1FN>, tensor<4x2xf8E4M3FN>)
  return
}

// -----

// Tests that (C1) of opaque_plugin is checked: a name.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C1) requires the name of a plugin}}
  %0 = tensorrt.opaque_plugin(%x) {pluginName = "", pluginVersion = "1", pluginNamespace = "", creatorParams = {}} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C2) of opaque_plugin is checked: fields.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C2) requires fields of numbers, strings, types}}
  %0 = tensorrt.opaque_plugin(%x) {pluginName = "P", pluginVersion = "1", pluginNamespace = "", creatorParams = {a = {}}} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C3) of opaque_plugin is checked: shape inputs.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C3) requires shape inputs}}
  %0 = tensorrt.opaque_plugin(%x) {pluginName = "P", pluginVersion = "1", pluginNamespace = "", creatorParams = {}, numShapeInputs = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C1) of if is checked: the types of yielded values.
func.func @f(%c: tensor<i1>) {
  // expected-error @below {{(C1) requires yielded values of types}}
  %0 = tensorrt.if(%c : tensor<i1>) -> tensor<2xf32> {
    %1 = tensorrt.constant dense<1.0> : tensor<3xf32>
    tensorrt.yield %1 : tensor<3xf32>
  } else {
    %1 = tensorrt.constant dense<1.0> : tensor<2xf32>
    tensorrt.yield %1 : tensor<2xf32>
  }
  return
}

// -----

// Tests that (C1) of while is checked: what is yielded is what is carried.
func.func @f(%c: tensor<i1>, %n: tensor<i32>, %x: tensor<f32>) {
  // expected-error @below {{(C1) requires yielded values of types}}
  %1 = tensorrt.while(%n) : (tensor<i32>) -> tensor<i32> {
  ^bb0(%i: tensor<i32>):
    tensorrt.condition(%c : tensor<i1>) %i : tensor<i32>
  } do {
  ^bb0(%i: tensor<i32>):
    tensorrt.yield %x : tensor<f32>
  }
  return
}

// -----

// Tests that (C1) of for is checked: bounds of one type.
func.func @f(%n: tensor<i32>, %m: tensor<i64>, %x: tensor<f32>) {
  // expected-error @below {{(C1) requires bounds, step and the first argument of one type}}
  %1 = tensorrt.for %n to %m step %n init(%x) : (tensor<i32>, tensor<i64>, tensor<i32>, tensor<f32>) -> tensor<f32> {
  ^bb0(%i: tensor<i32>, %y: tensor<f32>):
    tensorrt.yield %y : tensor<f32>
  }
  return
}

// -----

// Tests that (C1) of call is checked: an engine.
func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32>
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{(C1) requires a function in a tensorrt.module}}
  %0 = tensorrt.call_alloc @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

tensorrt.module @engines {
  func.func @g(%x: tensor<4xf32>, %y: tensor<?xf32>) -> (tensor<4xf32>, tensor<2xf32>) {
    %0 = tensorrt.constant dense<1.0> : tensor<2xf32>
    return %x, %0 : tensor<4xf32>, tensor<2xf32>
  }
}
// Tests that (C2) of call_alloc is checked at every input, also behind one that agrees.
func.func @inputs(%x: tensor<4xf32>, %y: tensor<3xi32>) {
  // expected-error @below {{(C2) requires type 'tensor<?xf32>' of inputs 1, as @engines::@g has, but got 'tensor<3xi32>'}}
  %0:2 = tensorrt.call_alloc @engines::@g(%x, %y) : (tensor<4xf32>, tensor<3xi32>) -> (tensor<4xf32>, tensor<2xf32>)
  return
}

// -----

tensorrt.module @engines {
  func.func @g(%x: tensor<4xf32>, %y: tensor<?xf32>) -> (tensor<4xf32>, tensor<2xf32>) {
    %0 = tensorrt.constant dense<1.0> : tensor<2xf32>
    return %x, %0 : tensor<4xf32>, tensor<2xf32>
  }
}
// Tests that (C3) of call_alloc is checked at every result.
func.func @results(%x: tensor<4xf32>) {
  // expected-error @below {{(C3) requires type 'tensor<2xf32>' of results 1}}
  %0:2 = tensorrt.call_alloc @engines::@g(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<3xf32>)
  return
}

// -----

tensorrt.module @engines {
  func.func @g(%x: tensor<4xf32>, %y: tensor<?xf32>) -> (tensor<4xf32>, tensor<2xf32>) {
    %0 = tensorrt.constant dense<1.0> : tensor<2xf32>
    return %x, %0 : tensor<4xf32>, tensor<2xf32>
  }
}
// Tests that (C4) of call is checked: one result a destination.
func.func @destinations(%x: tensor<4xf32>, %o: tensor<2xf32>) {
  // expected-error @below {{expected the number of tensor results (2) to be equal to the number of output tensors (1)}}
  %0:2 = tensorrt.call @engines::@g(%x, %x) outs(%o) : (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>) -> (tensor<4xf32>, tensor<2xf32>)
  return
}

// -----

// Tests that (C1) of activation is checked: i8 only with kRELU.
func.func @f(%x: tensor<4xi8>) {
  // expected-error @below {{(C1) requires floats for kSIGMOID}}
  %0 = tensorrt.activation %x {activationType = #tensorrt<activation_type kSIGMOID>} : (tensor<4xi8>) -> tensor<4xi8>
  return
}

// -----

// Tests that (C3) of element_wise is checked: kPOW takes no i8.
func.func @f(%x: tensor<4xi8>) {
  // expected-error @below {{(C3) requires an element type that kPOW takes}}
  %0 = tensorrt.element_wise %x, %x {elementwiseOperation = #tensorrt<element_wise_operation kPOW>} : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  return
}

// -----

// Tests that (C2) of reduce is checked: kAVG takes no i8.
func.func @f(%x: tensor<4xi8>) {
  // expected-error @below {{(C2) requires an element type that kAVG takes}}
  %0 = tensorrt.reduce %x {reduceAxes = array<i64: 0>, reduceOperation = #tensorrt<reduce_operation kAVG>} : (tensor<4xi8>) -> tensor<i8>
  return
}

// -----

// Tests that (C5) of pooling is checked: i8 only in windows of 2 dimensions.
func.func @f(%x: tensor<1x2x4x4x4xi8>) {
  // expected-error @below {{(C5) requires windows of 2 dimensions for i8}}
  %0 = tensorrt.pooling %x {windowSize = array<i64: 2, 2, 2>, stride = array<i64: 1, 1, 1>, prePadding = array<i64: 0, 0, 0>, postPadding = array<i64: 0, 0, 0>, poolingType = #tensorrt<pooling_type kMAX>} : (tensor<1x2x4x4x4xi8>) -> tensor<1x2x3x3x3xi8>
  return
}

// -----

// Tests that (C7) of deconvolution is checked: no bf16.
func.func @f(%x: tensor<1x4x2x2xbf16>, %w: tensor<4x6x3x3xbf16>) {
  // expected-error @below {{(C7) requires elements of f32 or f16}}
  %0 = tensorrt.deconvolution in(%x) kernel(%w) {stride = array<i64: 1, 1>, pre_padding = array<i64: 0, 0>, post_padding = array<i64: 0, 0>} : (tensor<1x4x2x2xbf16>, tensor<4x6x3x3xbf16>) -> tensor<1x6x4x4xbf16>
  return
}

// -----

// Tests that ui8 is not moved.
func.func @f(%x: tensor<2x3xui8>) {
  // expected-error @below {{operand #0 must be ranked tensor}}
  %0 = tensorrt.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xui8>) -> tensor<3x2xui8>
  return
}

// -----

// Tests that quantized elements but i8 are not sliced.
func.func @f(%x: tensor<4xf8E4M3FN>) {
  // expected-error @below {{operand #0 must be ranked tensor}}
  %0 = tensorrt.slice %x {staticStart = array<i64: 1>, staticSize = array<i64: 2>, staticStride = array<i64: 1>} : (tensor<4xf8E4M3FN>) -> tensor<2xf8E4M3FN>
  return
}

// -----

// Tests that quantized elements but i8 are not gathered.
func.func @f(%x: tensor<4xi4>, %i: tensor<2xi32>) {
  // expected-error @below {{operand #0 must be ranked tensor}}
  %0 = tensorrt.gather %x, %i {axis = 0 : i64} : (tensor<4xi4>, tensor<2xi32>) -> tensor<2xi4>
  return
}

// -----

// Tests that integers but i8 are not padded.
func.func @f(%x: tensor<1x1x2x2xi32>) {
  // expected-error @below {{operand #0 must be ranked tensor}}
  %0 = tensorrt.padding %x {prePadding = array<i64: 1, 1>, postPadding = array<i64: 0, 0>} : (tensor<1x1x2x2xi32>) -> tensor<1x1x3x3xi32>
  return
}

// -----

// Tests that (C2) of pooling is checked: windows that are not too large.
func.func @f(%x: tensor<1x1x?x5xf32>) {
  // expected-error @below {{(C2) requires windows of less than 100000 elements}}
  %0 = tensorrt.pooling %x {windowSize = array<i64: 50000, 2>, stride = array<i64: 1, 1>, prePadding = array<i64: 0, 0>, postPadding = array<i64: 0, 0>, poolingType = #tensorrt<pooling_type kMAX>} : (tensor<1x1x?x5xf32>) -> tensor<1x1x?x4xf32>
  return
}
