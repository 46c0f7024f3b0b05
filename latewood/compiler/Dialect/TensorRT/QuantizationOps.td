// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Explicit quantization. It is symmetric: there are no zero points.

#ifndef LATEWOOD_COMPILER_DIALECT_TENSORRT_QUANTIZATIONOPS_TD
#define LATEWOOD_COMPILER_DIALECT_TENSORRT_QUANTIZATIONOPS_TD

include "latewood/compiler/Dialect/TensorRT/TensorRTAttributes.td"

def TensorRT_ScaleTensor : TensorRT_TensorOf<!listconcat(TensorRT_Floats, [F8E8M0FNU, F8E4M3FN])>;

def TensorRT_QuantizeOp : TensorRT_LayerOp<"quantize"> {
  let summary = "clamp(round(x / scale)) (IQuantizeLayer)";
  let description = [{
    Rounds to the nearest, ties to even, and saturates. A scalar scale holds for the whole tensor; a vector for the slices along
    `axis`; a scale of the input's rank for blocks.

    Constraints: (C1) shapes agree; (C2) the scale is a scalar, or a vector with `axis` and one element a slice, or has the input's
    rank, and then each extent divides the input's; (C3) blocks only for i4, f8E4M3FN, f4E2M1FN; (C4) a scale of f16 or bf16 has the
    input's element type, one of f8E8M0FNU is for blocks of f8E4M3FN, one of f8E4M3FN for blocks of f4E2M1FN.
  }];
  let arguments = (ins TensorRT_NonScalarOf<TensorRT_Floats>:$input, TensorRT_ScaleTensor:$scale, OptionalAttr<I64Attr>:$axis);
  let results = (outs TensorRT_NonScalarOf<TensorRT_Quantized>:$result);
  let assemblyFormat = "$input `,` $scale attr-dict `:` functional-type(operands, results)";
}

def TensorRT_DequantizeOp : TensorRT_LayerOp<"dequantize"> {
  let summary = "x * scale (IDequantizeLayer)";
  let description = [{
    Constraints: as for quantize, with (C4) for the result's element type.
  }];
  let arguments = (ins TensorRT_NonScalarOf<TensorRT_Quantized>:$input, TensorRT_ScaleTensor:$scale,
                       OptionalAttr<I64Attr>:$axis);
  let results = (outs TensorRT_NonScalarOf<TensorRT_Floats>:$result);
  let assemblyFormat = "$input `,` $scale attr-dict `:` functional-type(operands, results)";
}

def TensorRT_DynamicQuantizeOp : TensorRT_LayerOp<"dynamic_quantize"> {
  let summary = "quantization of blocks, by scales that it computes (IDynamicQuantizeLayer)";
  let description = [{
    `blockShape` says how many elements along each dimension share a scale. `doubleQuantScale` quantizes the scales themselves
    (f4E2M1FN with scales of f8E4M3FN).

    Constraints: (C1) shapes of input and result agree; (C2) `blockShape` has one entry a dimension, which divides the extent; the
    scales' extents are the quotients; (C3) element types of result and scales are f4E2M1FN and f8E4M3FN, f8E4M3FN and f8E8M0FNU or f32,
    or i8 and f32; (C4) `doubleQuantScale` is given exactly with scales of f8E4M3FN.
  }];
  let arguments = (ins TensorRT_NonScalarOf<TensorRT_Floats>:$input, Optional<0DTensorOf<TensorRT_Floats>>:$doubleQuantScale,
                       DenseI64ArrayAttr:$blockShape);
  let results = (outs TensorRT_NonScalarOf<[F4E2M1FN, F8E4M3FN, I8]>:$result,
                      TensorRT_NonScalarOf<[F8E4M3FN, F8E8M0FNU, F32]>:$scales);
  let assemblyFormat = [{
    $input (`double_quant_scale` `(` $doubleQuantScale^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
}

#endif // LATEWOOD_COMPILER_DIALECT_TENSORRT_QUANTIZATIONOPS_TD
