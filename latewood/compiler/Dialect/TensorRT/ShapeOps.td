// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layers that make tensors, or move elements without looking at them.
//
// Extents that are only known at run time are vectors of i32 or i64 ("shape tensors"), which TensorRT computes on its host: made by
// `shape`, arithmetic, slices and concatenation.

#ifndef LATEWOOD_COMPILER_DIALECT_TENSORRT_SHAPEOPS_TD
#define LATEWOOD_COMPILER_DIALECT_TENSORRT_SHAPEOPS_TD

include "latewood/compiler/Dialect/TensorRT/TensorRTAttributes.td"

def TensorRT_ConstantOp : TensorRT_InferOp<"constant", [ConstantLike]> {
  let summary = "weights, or another constant (IConstantLayer)";
  let description = [{
    TensorRT itself has no constants of i1, and of i8 only for `dequantize`; a network gets others by converting integers.

    Example: `%c = tensorrt.constant dense<1.0> : tensor<4xf32>`
  }];
  let arguments = (ins ElementsAttr:$weights);
  let results = (outs TensorRT_MovableTensor:$result);
  let hasCustomAssemblyFormat = 1;
  let hasFolder = 1;
}

def TensorRT_ShapeOp : TensorRT_InferOp<"shape"> {
  let summary = "the extents of a tensor, as a vector (IShapeLayer)";
  let arguments = (ins TensorRT_Tensor:$input);
  let results = (outs 1DTensorOf<[I64]>:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def TensorRT_ShuffleOp : TensorRT_InferOp<"shuffle"> {
  let summary = "transposes, reshapes and transposes (IShuffleLayer)";
  let description = [{
    Each step may be absent. In `reshape` (or the vector `dynamicReshape`), -1 is what remains, and 0, if `zeroIsPlaceholder`, the
    extent at this place before. A transpose names for each dimension of its result the one that it comes from.

    Constraints: (C1) transposes are permutations; (C2) `reshape` and `dynamicReshape` are not both given; (C3) at most one -1, none
    less than that; (C4) a placeholder stands where a dimension was; (C5) the numbers of elements agree; (C6) the result has at most 8
    dimensions.
  }];
  let arguments = (ins TensorRT_MovableTensor:$input, Optional<TensorRT_ShapeTensor>:$dynamicReshape,
                       OptionalAttr<DenseI64ArrayAttr>:$firstTranspose, OptionalAttr<DenseI64ArrayAttr>:$reshape,
                       OptionalAttr<DenseI64ArrayAttr>:$secondTranspose,
                       DefaultValuedAttr<BoolAttr, "true">:$zeroIsPlaceholder);
  let results = (outs TensorRT_MovableTensor:$result);
  let assemblyFormat = "$input (`shape` `(` $dynamicReshape^ `)`)? attr-dict `:` functional-type(operands, results)";
}

def TensorRT_TransposeOp : TensorRT_InferOp<"transpose"> {
  let summary = "permutes dimensions (IShuffleLayer)";
  let description = [{
    Dimension i of the result is dimension `permutation[i]` of the input.

    Constraints: (C1) `permutation` is one of the input's dimensions.
  }];
  let arguments = (ins TensorRT_MovableTensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs TensorRT_MovableTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def TensorRT_ReshapeOp : TensorRT_LayerOp<"reshape"> {
  let summary = "the same elements in row-major order under another shape (IShuffleLayer)";
  let description = [{
    The result's type says the shape. Where it is not known, `shape` is a vector with it.

    Constraints: (C1) the element types agree; (C2) the numbers of elements agree; (C3) without `shape` at most one extent of the result
    is not known; (C4) `shape` has one element a dimension.
  }];
  let arguments = (ins TensorRT_MovableTensor:$input, Optional<TensorRT_ShapeTensor>:$shape);
  let results = (outs TensorRT_MovableTensor:$result);
  let assemblyFormat = "$input (`shape` `(` $shape^ `)`)? attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def TensorRT_SqueezeOp : TensorRT_InferOp<"squeeze"> {
  let summary = "removes dimensions of extent 1 (ISqueezeLayer)";
  let description = "Constraints: (C1) `axes` names different dimensions of the input; (C2) their extents are 1.";
  let arguments = (ins TensorRT_NumberOrBoolTensor:$input, DenseI64ArrayAttr:$axes);
  let results = (outs TensorRT_NumberOrBoolTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

def TensorRT_UnsqueezeOp : TensorRT_InferOp<"unsqueeze"> {
  let summary = "inserts dimensions of extent 1 (IUnsqueezeLayer)";
  let description = [{
    `axes` are dimensions of the result.

    Constraints: (C1) `axes` names different dimensions of the result; (C2) which has at most 8.
  }];
  let arguments = (ins TensorRT_NumberOrBoolTensor:$input, DenseI64ArrayAttr:$axes);
  let results = (outs TensorRT_NumberOrBoolTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

def TensorRT_BroadcastOp : TensorRT_LayerOp<"broadcast"> {
  let summary = "repeats a tensor along new dimensions and along dimensions of extent 1 (ISliceLayer with strides of 0)";
  let description = [{
    Dimension i of the input becomes dimension `broadcastDims[i]` of the result, whose extents are its type's, or those in the vector
    `shape`.

    Constraints: (C1) the element types agree; (C2) one entry of `broadcastDims` a dimension of the input, ascending, each a dimension
    of the result; (C3) an input's extent is 1 or the result's; (C4) a result whose shape is not known has `shape`, with one element a
    dimension.
  }];
  let arguments = (ins TensorRT_NumberOrBoolTensor:$input, Optional<TensorRT_ShapeTensor>:$shape, DenseI64ArrayAttr:$broadcastDims);
  let results = (outs TensorRT_NumberOrBoolTensor:$result);
  let assemblyFormat = "$input (`shape` `(` $shape^ `)`)? attr-dict `:` functional-type(operands, results)";
}

def TensorRT_SliceOp : TensorRT_InferOp<"slice", [AttrSizedOperandSegments]> {
  let summary = "a strided part of a tensor (ISliceLayer)";
  let description = [{
    Element i of the result is element start + i * stride of the input; strides may be 0 and negative. Start, size and stride are
    vectors, or attributes where they are known. `mode` says what lies outside of the input.

    Constraints: (C1) start, size and stride are each given in one of the two forms, with one entry a dimension; (C2) sizes are not
    negative; (C3) with `kSTRICT_BOUNDS` the part lies inside the input; (C4) `fill`, a scalar of the input's element type, is given
    with `kFILL`, and only then.
  }];
  let arguments = (ins TensorRT_NumberOrBoolTensor:$input, Optional<TensorRT_ShapeTensor>:$start, Optional<TensorRT_ShapeTensor>:$size,
                       Optional<TensorRT_ShapeTensor>:$stride, Optional<TensorRT_NumberOrBoolTensor>:$fill,
                       OptionalAttr<DenseI64ArrayAttr>:$staticStart, OptionalAttr<DenseI64ArrayAttr>:$staticSize,
                       OptionalAttr<DenseI64ArrayAttr>:$staticStride,
                       DefaultValuedAttr<TensorRT_SampleModeAttr,
                                         "::latewood::tensorrt::SampleMode::kSTRICT_BOUNDS">:$mode);
  let results = (outs TensorRT_NumberOrBoolTensor:$result);
  let assemblyFormat = [{
    $input (`start` `(` $start^ `)`)? (`size` `(` $size^ `)`)? (`stride` `(` $stride^ `)`)? (`fill` `(` $fill^ `)`)?
    attr-dict `:` functional-type(operands, results)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$input, "::llvm::ArrayRef<int64_t>":$start, "::llvm::ArrayRef<int64_t>":$size,
                   "::llvm::ArrayRef<int64_t>":$stride, CArg<"SampleMode", "SampleMode::kSTRICT_BOUNDS">:$mode,
                   CArg<"::mlir::Value", "{}">:$fill)>
  ];
}

def TensorRT_ConcatenationOp : TensorRT_InferOp<"concatenation"> {
  let summary = "joins tensors along an axis (IConcatenationLayer)";
  let description = [{
    Constraints: (C1) there are inputs, of one element type and rank; (C2) `axis` is a dimension; (C3) extents agree outside of it.
  }];
  let arguments = (ins Variadic<TensorRT_MovableTensor>:$inputs, I64Attr:$axis);
  let results = (outs TensorRT_MovableTensor:$result);
  let assemblyFormat = "$inputs attr-dict `:` functional-type(operands, results)";
}

def TensorRT_PaddingOp : TensorRT_InferOp<"padding"> {
  let summary = "surrounds the last two dimensions with zeros (IPaddingLayer)";
  let description = [{
    Negative padding removes elements.

    Constraints: (C1) the input has at least 4 dimensions; (C2) both lists have 2 entries; (C3) no extent becomes negative.
  }];
  let arguments = (ins TensorRT_TensorOf<!listconcat(TensorRT_Floats, [I8])>:$input, DenseI64ArrayAttr:$prePadding,
                       DenseI64ArrayAttr:$postPadding);
  let results = (outs TensorRT_TensorOf<!listconcat(TensorRT_Floats, [I8])>:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

def TensorRT_LinspaceOp : TensorRT_LayerOp<"linspace", [AttrSizedOperandSegments]> {
  let summary = "numbers start + step * index (IFillLayer)";
  let description = [{
    With attributes the result has one dimension; with operands, `step` has one element for each of its dimensions.

    Constraints: (C1) start and step are both attributes or both operands; (C2) with attributes the result is 1-dimensional; (C3) with
    operands, both have the result's element type, and `step` one element a dimension; (C4) `shape` is given exactly if an extent of
    the result is not known, with one element a dimension.
  }];
  let arguments = (ins Optional<TensorRT_ShapeTensor>:$shape, Optional<0DTensorOf<[I32, I64, F32]>>:$start,
                       Optional<1DTensorOf<[I32, I64, F32]>>:$step, OptionalAttr<F64Attr>:$staticStart,
                       OptionalAttr<F64Attr>:$staticStep);
  let results = (outs TensorRT_TensorOf<[I32, I64, F32]>:$result);
  let assemblyFormat = [{
    (`shape` `(` $shape^ `)`)? (`start` `(` $start^ `)`)? (`step` `(` $step^ `)`)? attr-dict `:`
    functional-type(operands, results)
  }];
}

// No CSE: two layers draw different numbers.
class TensorRT_RandomOp<string mnemonic, string first, string second>
    : TensorRT_Op<mnemonic, [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let description = [{
    Constraints: (C1) parameters are both attributes or both operands; (C2) operands have the result's element type; (C3) `shape` is
    given exactly if an extent of the result is not known, with one element a dimension.
  }];
  let arguments = !con((ins Optional<TensorRT_ShapeTensor>:$shape),
      !dag(ins, [Optional<0DTensorOf<[F32, F16]>>, Optional<0DTensorOf<[F32, F16]>>], [first, second]),
      !dag(ins, [OptionalAttr<F64Attr>, OptionalAttr<F64Attr>], ["static_" # first, "static_" # second]));
  let results = (outs TensorRT_TensorOf<[F32, F16]>:$result);
  let hasVerifier = 1;
}
def TensorRT_RandomUniformOp : TensorRT_RandomOp<"random_uniform", "low", "high"> {
  let summary = "numbers evenly distributed in [low, high) (IFillLayer)";
  let assemblyFormat = [{
    (`shape` `(` $shape^ `)`)? (`low` `(` $low^ `)`)? (`high` `(` $high^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
}
def TensorRT_RandomNormalOp : TensorRT_RandomOp<"random_normal", "mean", "std"> {
  let summary = "normally distributed numbers (IFillLayer)";
  let assemblyFormat = [{
    (`shape` `(` $shape^ `)`)? (`mean` `(` $mean^ `)`)? (`std` `(` $std^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
}

def TensorRT_ReverseSequenceOp : TensorRT_InferOp<"reverse_sequence"> {
  let summary = "reverses the beginnings of sequences (IReverseSequenceLayer)";
  let description = [{
    The first `sequenceLens[i]` elements along `sequenceAxis` of slice i along `batchAxis` change their order.

    Constraints: (C1) both axes are dimensions of the input, different ones; (C2) `sequenceLens` has one element a slice.
  }];
  let arguments = (ins TensorRT_NumberOrBoolTensor:$input, 1DTensorOf<TensorRT_Ints>:$sequenceLens,
                       DefaultValuedAttr<I64Attr, "1">:$batchAxis, DefaultValuedAttr<I64Attr, "0">:$sequenceAxis);
  let results = (outs TensorRT_NumberOrBoolTensor:$result);
  let assemblyFormat = "$input `,` $sequenceLens attr-dict `:` functional-type(operands, results)";
}

#endif // LATEWOOD_COMPILER_DIALECT_TENSORRT_SHAPEOPS_TD
