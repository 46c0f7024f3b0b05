// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layers that find values between elements.

#ifndef LATEWOOD_COMPILER_DIALECT_TENSORRT_SAMPLINGOPS_TD
#define LATEWOOD_COMPILER_DIALECT_TENSORRT_SAMPLINGOPS_TD

include "latewood/compiler/Dialect/TensorRT/TensorRTAttributes.td"

class TensorRT_ResizeOp<string mnemonic, string how, dag more> : TensorRT_LayerOp<mnemonic> {
  let summary = "a tensor of other extents, by " # how # " (IResizeLayer)";
  let description = [{
    The result's extents are its type's, or those in the vector `outputShape`, or floor(extent * scale).

    Constraints: (C1) the element types and the ranks agree; (C2) extents that differ are among the last dimensions: any for nearest, 3
    for linear, 2 for cubic; (C3) `outputShape` and `scales` have one entry a dimension, and are not both given; (C4) a result whose
    shape is not known has one of them; (C5) scales are positive, and give the result's extents.
  }];
  let arguments = !con((ins TensorRT_TensorOf<!listconcat(TensorRT_Floats, [I8])>:$input,
                            Optional<TensorRT_ShapeTensor>:$outputShape, OptionalAttr<DenseF32ArrayAttr>:$scales,
                            TensorRT_ResizeCoordinateTransformationAttr:$coordinateTransformation), more,
                       (ins TensorRT_ResizeSelectorAttr:$selectorForSinglePixel));
  let results = (outs TensorRT_TensorOf<!listconcat(TensorRT_Floats, [I8])>:$result);
  let assemblyFormat = "$input (`shape` `(` $outputShape^ `)`)? attr-dict `:` functional-type(operands, results)";
}
def TensorRT_ResizeNearestOp : TensorRT_ResizeOp<"resize_nearest", "the nearest element",
    (ins TensorRT_ResizeRoundModeAttr:$nearestRounding)>;
def TensorRT_ResizeLinearOp : TensorRT_ResizeOp<"resize_linear", "linear interpolation", (ins)>;
def TensorRT_ResizeCubicOp : TensorRT_ResizeOp<"resize_cubic", "cubic interpolation",
    (ins DefaultValuedAttr<F32Attr, "-0.75f">:$cubicCoeff)>;

def TensorRT_GridSampleOp : TensorRT_InferOp<"grid_sample"> {
  let summary = "values of an image at given points (IGridSampleLayer)";
  let description = [{
    The input is [N, C, H, W]; the grid [N, h, w, 2] has a point (x, y), in [-1, 1], for each pixel of the result [N, C, h, w].

    Constraints: (C1) the element types agree; (C2) both have 4 dimensions, N agrees, and the grid's last extent is 2; (C3) `sampleMode`
    is `kCLAMP`, `kFILL` or `kREFLECT`.
  }];
  let arguments = (ins TensorRT_FloatTensor:$input, TensorRT_FloatTensor:$grid,
                       DefaultValuedAttr<TensorRT_InterpolationModeAttr,
                                         "::latewood::tensorrt::InterpolationMode::kLINEAR">:$interpolationMode,
                       DefaultValuedAttr<BoolAttr, "false">:$alignCorners,
                       DefaultValuedAttr<TensorRT_SampleModeAttr, "::latewood::tensorrt::SampleMode::kFILL">:$sampleMode);
  let results = (outs TensorRT_FloatTensor:$result);
  let assemblyFormat = "$input `,` $grid attr-dict `:` functional-type(operands, results)";
}

#endif // LATEWOOD_COMPILER_DIALECT_TENSORRT_SAMPLINGOPS_TD
