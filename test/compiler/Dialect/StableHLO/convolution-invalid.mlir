// RUN: latewood-opt %s --split-input-file --verify-diagnostics

// Tests that (C1) of convolution is checked: operands of one rank.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x2x4xf32>) {
  // expected-error @below {{(C1) requires operands of one rank of at least 2}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that (C2) of convolution is checked: one stride a spatial dimension.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{(C2) requires one entry of window_strides for each of the 2 spatial dimensions}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that (C3) of convolution is checked: positive strides.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{(C3) requires positive window_strides}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 0]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that (C4) of convolution is checked: one padding pair a spatial dimension.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{(C4) requires padding of shape [2, 2], but got}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [ [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that (C5) of convolution is checked: one dilation of the input a spatial dimension.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{(C5) requires one entry of lhs_dilation for each of the 2 spatial dimensions}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {lhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that (C6) of convolution is checked: positive dilations of the input.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{(C6) requires positive lhs_dilation}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {lhs_dilate = [1, 0]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that (C7) of convolution is checked: one dilation of the kernel a spatial dimension.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{(C7) requires one entry of rhs_dilation for each of the 2 spatial dimensions}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {rhs_dilate = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that (C8) of convolution is checked: positive dilations of the kernel.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{(C8) requires positive rhs_dilation}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {rhs_dilate = [1, -1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that (C9) of convolution is checked: one reversal a spatial dimension.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{(C9) requires one entry of window_reversal for each of the 2 spatial dimensions}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that (C10) of convolution is checked: a batch that the groups divide.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{(C10) requires an input batch that batch_group_count divides, but got 1 and 2}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that (C11) of convolution is checked: features that the groups divide.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{(C11) requires input features that feature_group_count divides, but got 2 and 3}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that (C12) of convolution is checked: spatial dimensions of the input.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{(C12) requires 2 input spatial dimensions, but got 1}}
  %0 = "stablehlo.convolution"(%x, %k) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 1 : i64}> : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that (C13) of convolution is checked: different dimensions of the input.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{(C13) requires input dimensions that are all different and in range}}
  %0 = "stablehlo.convolution"(%x, %k) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 3], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 1 : i64}> : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that (C13) of convolution is checked: dimensions of the input in range.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{(C13) requires input dimensions that are all different and in range}}
  %0 = "stablehlo.convolution"(%x, %k) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 4], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 1 : i64}> : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that (C14) of convolution is checked: the kernel's input features.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{(C14) requires kernel input features to be the input features of one group, 1, but got 2}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that (C15) of convolution is checked: output features that batch groups divide.
func.func @f(%x: tensor<3x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{(C15) requires kernel output features that batch_group_count divides, but got 4}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 3 : i64, feature_group_count = 1 : i64} : (tensor<3x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that (C16) of convolution is checked: output features that feature groups divide.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x1x3xf32>) {
  // expected-error @below {{(C16) requires kernel output features that feature_group_count divides, but got 3}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x1x3xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that (C17) of convolution is checked: spatial dimensions of the kernel.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{(C17) requires 2 kernel spatial dimensions, but got 3}}
  %0 = "stablehlo.convolution"(%x, %k) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1, 2], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 1 : i64}> : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that (C18) of convolution is checked: different dimensions of the kernel.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{(C18) requires kernel dimensions that are all different and in range}}
  %0 = "stablehlo.convolution"(%x, %k) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 3, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 1 : i64}> : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that (C19) of convolution is checked: spatial dimensions of the output.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{(C19) requires 2 output spatial dimensions, but got 0}}
  %0 = "stablehlo.convolution"(%x, %k) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = []>, feature_group_count = 1 : i64}> : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that (C20) of convolution is checked: different dimensions of the output.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{(C20) requires output dimensions that are all different and in range}}
  %0 = "stablehlo.convolution"(%x, %k) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = -1, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 1 : i64}> : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that (C21) of convolution is checked: a positive number of feature groups.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{(C21) requires a positive feature_group_count, but got 0}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 0 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that (C22) of convolution is checked: a positive number of batch groups.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{(C22) requires a positive batch_group_count, but got -1}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = -1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that (C23) of convolution is checked: one kind of groups.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{(C23) requires feature_group_count or batch_group_count to be 1}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 2 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that (C24) of convolution is checked: two precisions.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{(C24) requires two precisions, but got 1}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>]} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that (C25) of convolution is checked: the result's shape.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{(C25) requires a result of type 'tensor<1x6x6x4xf32>', but got 'tensor<1x6x7x4xf32>'}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x7x4xf32>
  return
}

// -----

// Tests that (C26) of convolution is checked: the result's rank.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{(C26) requires a result of rank 4}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4x1xf32>
  return
}

// -----

// Tests that (C27) of convolution is checked: one element type.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf64>) {
  // expected-error @below {{(C27) requires operands of one element type that can be promoted to the result's}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf64>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that a dimension that is given twice is refused.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{dimension 'b' is given twice}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, b, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}

// -----

// Tests that a window attribute that does not exist is refused.
func.func @f(%x: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  // expected-error @below {{unknown field 'strides', expected one of stride, pad}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {strides = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
  return
}
