// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layers that reduce, choose or find elements.

#ifndef LATEWOOD_COMPILER_DIALECT_TENSORRT_REDUCTIONOPS_TD
#define LATEWOOD_COMPILER_DIALECT_TENSORRT_REDUCTIONOPS_TD

include "latewood/compiler/Dialect/TensorRT/TensorRTAttributes.td"

def TensorRT_ReduceOp : TensorRT_InferOp<"reduce"> {
  let summary = "a reduction along axes (IReduceLayer)";
  let description = [{
    Example: `%r = tensorrt.reduce %x {reduceAxes = array<i64: 1>, reduceOperation = #tensorrt<reduce_operation kSUM>} :
    (tensor<2x3xf32>) -> tensor<2xf32>`

    Constraints: (C1) `reduceAxes` names different dimensions of the input, at least one; (C2) `kAVG` takes no i8.
  }];
  let arguments = (ins TensorRT_NumberTensor:$input, DenseI64ArrayAttr:$reduceAxes,
                       DefaultValuedAttr<BoolAttr, "false">:$keepDimensions,
                       TensorRT_ReduceOperationAttr:$reduceOperation);
  let results = (outs TensorRT_NumberTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

def TensorRT_TopKOp : TensorRT_InferOp<"top_k"> {
  let summary = "the k largest or smallest elements along an axis, sorted, and their positions (ITopKLayer)";
  let description = [{
    `dynamicK`, where given, overrides `k`.

    Constraints: (C1) `axis` is one of the last four dimensions; (C2) 1 <= k <= 3840, and k is not more than the extent.
  }];
  let arguments = (ins TensorRT_TensorOf<!listconcat(TensorRT_Floats, TensorRT_Ints)>:$input,
                       Optional<TensorRT_ScalarIndex>:$dynamicK, I64Attr:$k, I64Attr:$axis,
                       TensorRT_TopKOperationAttr:$topkOperation);
  let results = (outs TensorRT_TensorOf<!listconcat(TensorRT_Floats, TensorRT_Ints)>:$values,
                      TensorRT_IndexTensor:$indices);
  let assemblyFormat = "$input (`k` `(` $dynamicK^ `)`)? attr-dict `:` functional-type(operands, results)";
  let extraClassDefinition = sameShapes;
}

class TensorRT_ArgOp<string mnemonic, string which> : TensorRT_InferOp<mnemonic> {
  let summary = which # " element along an axis, and its position (ITopKLayer with k = 1)";
  let description = [{
    The axis stays, with extent 1. Of equal elements the first one is taken.

    Constraints: (C1) `axis` is one of the last four dimensions.
  }];
  let arguments = (ins TensorRT_TensorOf<!listconcat(TensorRT_Floats, TensorRT_Ints)>:$input, I64Attr:$axis);
  let results = (outs TensorRT_TensorOf<!listconcat(TensorRT_Floats, TensorRT_Ints)>:$values,
                      TensorRT_IndexTensor:$indices);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let extraClassDefinition = sameShapes;
}
def TensorRT_ArgMinOp : TensorRT_ArgOp<"argmin", "the smallest">;
def TensorRT_ArgMaxOp : TensorRT_ArgOp<"argmax", "the largest">;

def TensorRT_NonZeroOp : TensorRT_InferOp<"non_zero"> {
  let summary = "positions of the elements that are not zero (INonZeroLayer)";
  let description = [{
    The result is [rank of the input, number of such elements]: each column a position, in lexical order. How many there are is known
    only when the engine has run.

    Constraints: (C1) the input has a dimension.
  }];
  let arguments = (ins TensorRT_NonScalarOf<!listconcat(TensorRT_Floats, [I32, I1])>:$input);
  let results = (outs TensorRT_IndexTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let extraClassDefinition = sameShapes;
}

def TensorRT_NMSOp : TensorRT_InferOp<"nms", [AttrSizedOperandSegments]> {
  let summary = "non-maximum suppression of boxes (INMSLayer)";
  let description = [{
    `boxes` is [batch, boxes, 4] or [batch, boxes, classes, 4], `scores` [batch, boxes, classes]. The rows of `selectedIndices` are
    (batch, class, box); `numOutputBoxes` says how many there are.

    Constraints: (C1) boxes and scores have one element type and the shapes above.
  }];
  let arguments = (ins TensorRT_TensorOf<[F32, F16]>:$boxes, TensorRT_TensorOf<[F32, F16]>:$scores,
                       0DTensorOf<[I32]>:$maxOutputBoxesPerClass, Optional<TensorRT_ScalarFloat>:$iouThreshold,
                       Optional<TensorRT_ScalarFloat>:$scoreThreshold,
                       DefaultValuedAttr<TensorRT_BoundingBoxFormatAttr,
                                         "::latewood::tensorrt::BoundingBoxFormat::kCORNER_PAIRS">:$boundingBoxFormat,
                       OptionalAttr<I64Attr>:$topKBoxLimit);
  let results = (outs TensorRT_IndexTensor:$selectedIndices, 0DTensorOf<[I32]>:$numOutputBoxes);
  let assemblyFormat = [{
    $boxes `,` $scores `,` $maxOutputBoxesPerClass (`iou` `(` $iouThreshold^ `)`)? (`score` `(` $scoreThreshold^ `)`)?
    attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDefinition = sameShapes;
}

#endif // LATEWOOD_COMPILER_DIALECT_TENSORRT_REDUCTIONOPS_TD
