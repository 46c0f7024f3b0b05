// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layers that compute each element on its own, and normalizations along axes.

#ifndef LATEWOOD_COMPILER_DIALECT_TENSORRT_POINTWISEOPS_TD
#define LATEWOOD_COMPILER_DIALECT_TENSORRT_POINTWISEOPS_TD

include "latewood/compiler/Dialect/TensorRT/TensorRTAttributes.td"

def TensorRT_ActivationOp : TensorRT_InferOp<"activation"> {
  let summary = "an activation function of each element (IActivationLayer)";
  let description = [{
    `alpha` and `beta` parametrize the function as nvinfer1 says; where absent they are 0.

    Example: `%r = tensorrt.activation %x {activationType = #tensorrt<activation_type kRELU>} : (tensor<4xf32>) -> tensor<4xf32>`

    Constraints: (C1) integers only with `kRELU`; (C2) `alpha` and `beta` only where the function has them.
  }];
  let arguments = (ins TensorRT_NumberTensor:$input, TensorRT_ActivationTypeAttr:$activationType,
                       OptionalAttr<F32Attr>:$alpha, OptionalAttr<F32Attr>:$beta);
  let results = (outs TensorRT_NumberTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

def TensorRT_UnaryOp : TensorRT_InferOp<"unary"> {
  let summary = "a function of each element (IUnaryLayer)";
  let description = [{
    Constraints: (C1) `kNOT` takes i1; `kABS`, `kNEG` and `kSIGN` take floats and integers; all others take floats. (C2) `kISINF`
    and `kISNAN` give i1.
  }];
  let arguments = (ins TensorRT_NumberOrBoolTensor:$input, TensorRT_UnaryOperationAttr:$unaryOperation);
  let results = (outs TensorRT_NumberOrBoolTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

def TensorRT_ElementWiseOp : TensorRT_InferOp<"element_wise"> {
  let summary = "a function of two elements (IElementWiseLayer)";
  let description = [{
    Integers: `kDIV` rounds toward zero, `kFLOOR_DIV` toward minus infinity; both wrap on overflow.

    Constraints: (C1) the element types agree; (C2) ranks are equal, and extents are equal or 1; (C3) `kAND`, `kOR` and `kXOR` take
    i1; `kEQUAL` takes everything; all others take floats and integers, `kPOW` no i8; (C4) comparisons give i1.
  }];
  let arguments = (ins TensorRT_NumberOrBoolTensor:$input1, TensorRT_NumberOrBoolTensor:$input2,
                       TensorRT_ElementWiseOperationAttr:$elementwiseOperation);
  let results = (outs TensorRT_NumberOrBoolTensor:$result);
  let assemblyFormat = "$input1 `,` $input2 attr-dict `:` functional-type(operands, results)";
}

def TensorRT_SelectOp : TensorRT_InferOp<"select"> {
  let summary = "one of two elements, by a condition (ISelectLayer)";
  let description = [{
    Constraints: (C1) both inputs have one element type; (C2) ranks are equal, and extents are equal or 1.
  }];
  let arguments = (ins TensorRT_BoolTensor:$condition, TensorRT_NumberOrBoolTensor:$thenInput,
                       TensorRT_NumberOrBoolTensor:$elseInput);
  let results = (outs TensorRT_NumberOrBoolTensor:$result);
  let assemblyFormat = "$condition `,` $thenInput `,` $elseInput attr-dict `:` functional-type(operands, results)";
}

def TensorRT_CastOp : TensorRT_LayerOp<"cast"> {
  let summary = "conversion of the element type (ICastLayer)";
  let description = [{
    To i1: whether the element is not 0. From i1: 0 or 1. Floats become integers by rounding toward zero.

    Constraints: (C1) shapes agree; (C2) ui8 converts from and to floats only.
  }];
  let arguments = (ins TensorRT_TensorOf<!listconcat(TensorRT_NumbersOrBool, [UI8])>:$input);
  let results = (outs TensorRT_TensorOf<!listconcat(TensorRT_NumbersOrBool, [UI8])>:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def TensorRT_IdentityOp : TensorRT_InferOp<"identity"> {
  let summary = "the input (IIdentityLayer)";
  let arguments = (ins TensorRT_Tensor:$input);
  let results = (outs TensorRT_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def TensorRT_ParametricReLUOp : TensorRT_InferOp<"parametric_relu"> {
  let summary = "x where x is not negative, x times a slope elsewhere (IParametricReLULayer)";
  let description = [{
    Constraints: (C1) the element types agree; (C2) ranks are equal, and an extent of `slope` is the input's or 1.
  }];
  let arguments = (ins TensorRT_FloatTensor:$input, TensorRT_FloatTensor:$slope);
  let results = (outs TensorRT_FloatTensor:$result);
  let assemblyFormat = "$input `,` $slope attr-dict `:` functional-type(operands, results)";
}

def TensorRT_ScaleOp : TensorRT_InferOp<"scale"> {
  let summary = "(x * scale + shift) ^ power (IScaleLayer)";
  let description = [{
    Absent coefficients are 0 (`shift`) and 1 (`scale`, `power`).

    Constraints: (C1) the input has at least 4 dimensions; (C2) `channelAxis` is one of them; (C3) coefficients have the input's
    element type, and there are 1 (`kUNIFORM`), as many as the extent of `channelAxis` (`kCHANNEL`), or as many as elements from
    `channelAxis` on (`kELEMENTWISE`).
  }];
  let arguments = (ins TensorRT_FloatTensor:$input, TensorRT_ScaleModeAttr:$mode, OptionalAttr<ElementsAttr>:$shift,
                       OptionalAttr<ElementsAttr>:$scale, OptionalAttr<ElementsAttr>:$power,
                       DefaultValuedAttr<I64Attr, "1">:$channelAxis);
  let results = (outs TensorRT_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

def TensorRT_LRNOp : TensorRT_InferOp<"lrn"> {
  let summary = "local response normalization across channels (ILRNLayer)";
  let description = [{
    x / (k + alpha / window * sum of squares of the `window` channels around)^beta.

    Constraints: (C1) the input has at least 3 dimensions, of which the third last is the channel; (C2) `window` is odd and lies in
    [1, 15].
  }];
  let arguments = (ins TensorRT_FloatTensor:$input, I64Attr:$window, F32Attr:$alpha, F32Attr:$beta, F32Attr:$k);
  let results = (outs TensorRT_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

def TensorRT_SoftMaxOp : TensorRT_InferOp<"softmax"> {
  let summary = "softmax along an axis (ISoftMaxLayer)";
  let description = "Constraints: (C1) `axis` is a dimension of the input.";
  let arguments = (ins TensorRT_FloatTensor:$input, I64Attr:$axis);
  let results = (outs TensorRT_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

def TensorRT_RaggedSoftMaxOp : TensorRT_InferOp<"ragged_softmax"> {
  let summary = "softmax of sequences of different lengths (IRaggedSoftMaxLayer)";
  let description = [{
    The input is [N, Z, S]; `bounds` [N, Z, 1] says how many of the S elements of a sequence count. The others become 0.

    Constraints: (C1) both have 3 dimensions; (C2) N and Z agree, and the last extent of `bounds` is 1.
  }];
  let arguments = (ins TensorRT_FloatTensor:$input, TensorRT_TensorOf<[I32]>:$bounds);
  let results = (outs TensorRT_FloatTensor:$result);
  let assemblyFormat = "$input `,` $bounds attr-dict `:` functional-type(operands, results)";
}

def TensorRT_NormalizationOp : TensorRT_InferOp<"normalization"> {
  let summary = "zero mean and unit variance along axes, then scale and bias (INormalizationLayer)";
  let description = [{
    (x - mean) / sqrt(variance + eps) * scale + bias; with `num_groups` other than 1, the channels (dimension 1) are normalized in
    that many groups.

    Constraints: (C1) the element types agree; (C2) `axis` names different dimensions of the input, at least one; (C3) ranks are
    equal, and extents of `scale` and `bias` are the input's or 1; (C4) `num_groups` divides the channels, and then `axis` is all
    dimensions after the channels; (C5) `scale` and `bias` have one shape.
  }];
  let arguments = (ins TensorRT_FloatTensor:$input, TensorRT_FloatTensor:$scale, TensorRT_FloatTensor:$bias,
                       DenseI64ArrayAttr:$axis, DefaultValuedAttr<F32Attr, "1e-5f">:$eps,
                       DefaultValuedAttr<I64Attr, "1">:$num_groups);
  let results = (outs TensorRT_FloatTensor:$result);
  let assemblyFormat = "$input `,` $scale `,` $bias attr-dict `:` functional-type(operands, results)";
}

def TensorRT_CumulativeOp : TensorRT_InferOp<"cumulative"> {
  let summary = "running sums along an axis (ICumulativeLayer)";
  let description = "Constraints: (C1) `axis` is a dimension of the input.";
  let arguments = (ins TensorRT_TensorOf<!listconcat(TensorRT_Floats, TensorRT_Ints)>:$input, I64Attr:$axis,
                       TensorRT_CumulativeOperationAttr:$cumulativeOperation, DefaultValuedAttr<BoolAttr, "false">:$exclusive,
                       DefaultValuedAttr<BoolAttr, "false">:$reverse);
  let results = (outs TensorRT_TensorOf<!listconcat(TensorRT_Floats, TensorRT_Ints)>:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

#endif // LATEWOOD_COMPILER_DIALECT_TENSORRT_POINTWISEOPS_TD
