// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layers that read or write elements at computed positions. Negative indices count from the end; what lies outside is read as 0.

#ifndef LATEWOOD_COMPILER_DIALECT_TENSORRT_INDEXINGOPS_TD
#define LATEWOOD_COMPILER_DIALECT_TENSORRT_INDEXINGOPS_TD

include "latewood/compiler/Dialect/TensorRT/TensorRTAttributes.td"

def TensorRT_GatherOp : TensorRT_InferOp<"gather"> {
  let summary = "slices along an axis (IGatherLayer, kDEFAULT)";
  let description = [{
    The result's shape is the data's, with the indices' shape in place of `axis`. With `numElementWiseDims` = 1 the first dimension of
    both is a common one, and broadcasts.

    Constraints: (C1) `axis` is a dimension of `data`, behind the elementwise ones; (C2) `numElementWiseDims` is 0 or 1, and both have
    that many dimensions, of extents that are equal or 1; (C3) the result has at most 8 dimensions.
  }];
  let arguments = (ins TensorRT_NumberOrBoolTensor:$data, TensorRT_IndexTensor:$indices, I64Attr:$axis,
                       DefaultValuedAttr<I64Attr, "0">:$numElementWiseDims);
  let results = (outs TensorRT_NumberOrBoolTensor:$result);
  let assemblyFormat = "$data `,` $indices attr-dict `:` functional-type(operands, results)";
}

def TensorRT_GatherNdOp : TensorRT_InferOp<"gather_nd"> {
  let summary = "slices at index vectors (IGatherLayer, kND)";
  let description = [{
    The last dimension of `indices` holds vectors that index the first dimensions of `data` behind the elementwise ones.

    Constraints: (C1) both have a dimension; (C2) the length of an index vector is known, at least 1 and not more than the dimensions
    that it may index; (C3) elementwise dimensions have equal extents; (C4) the result has at most 8 dimensions.
  }];
  let arguments = (ins TensorRT_NonScalarOf<TensorRT_NumbersOrBool>:$data, TensorRT_NonScalarOf<TensorRT_Ints>:$indices,
                       DefaultValuedAttr<I64Attr, "0">:$numElementWiseDims);
  let results = (outs TensorRT_NumberOrBoolTensor:$result);
  let assemblyFormat = "$data `,` $indices attr-dict `:` functional-type(operands, results)";
}

def TensorRT_GatherElementsOp : TensorRT_InferOp<"gather_elements"> {
  let summary = "elements at one computed coordinate (IGatherLayer, kELEMENT)";
  let description = [{
    Element j of the result is the data's at j, with the coordinate of `axis` replaced by the index at j.

    Constraints: (C1) ranks are equal; (C2) `axis` is a dimension.
  }];
  let arguments = (ins TensorRT_NonScalarOf<TensorRT_NumbersOrBool>:$data, TensorRT_NonScalarOf<TensorRT_Ints>:$indices,
                       I64Attr:$axis);
  let results = (outs TensorRT_NumberOrBoolTensor:$result);
  let assemblyFormat = "$data `,` $indices attr-dict `:` functional-type(operands, results)";
}

def TensorRT_ScatterNdOp : TensorRT_InferOp<"scatter_nd"> {
  let summary = "data with slices replaced at index vectors (IScatterLayer, kND)";
  let description = [{
    Two writes to one element are not defined.

    Constraints: (C1) data and updates have one element type; (C2) the length of an index vector is known, at least 1 and not more than
    the data's rank; (C3) the updates' shape is the indices' without its last extent, then the data's behind the indexed dimensions.
  }];
  let arguments = (ins TensorRT_NonScalarOf<TensorRT_NumbersOrBool>:$data, TensorRT_NonScalarOf<TensorRT_Ints>:$indices,
                       TensorRT_NumberOrBoolTensor:$updates);
  let results = (outs TensorRT_NumberOrBoolTensor:$result);
  let assemblyFormat = "$data `,` $indices `,` $updates attr-dict `:` functional-type(operands, results)";
}

def TensorRT_ScatterElementsOp : TensorRT_InferOp<"scatter_elements"> {
  let summary = "data with elements replaced at one computed coordinate (IScatterLayer, kELEMENT)";
  let description = [{
    Two writes to one element are not defined.

    Constraints: (C1) data and updates have one element type; (C2) ranks are equal, and so are the shapes of indices and updates; (C3)
    `axis` is a dimension; (C4) outside of it indices are not longer than the data.
  }];
  let arguments = (ins TensorRT_NonScalarOf<TensorRT_NumbersOrBool>:$data, TensorRT_NonScalarOf<TensorRT_Ints>:$indices,
                       TensorRT_NonScalarOf<TensorRT_NumbersOrBool>:$updates, DefaultValuedAttr<I64Attr, "0">:$axis);
  let results = (outs TensorRT_NumberOrBoolTensor:$result);
  let assemblyFormat = "$data `,` $indices `,` $updates attr-dict `:` functional-type(operands, results)";
}

def TensorRT_OneHotOp : TensorRT_InferOp<"one_hot"> {
  let summary = "one element on, all others off, along a new axis (IOneHotLayer)";
  let description = [{
    `values` is [off, on]; `depth`, a constant, is the extent of the new axis.

    Constraints: (C1) `values` has 2 elements; (C2) -rank - 1 <= axis <= rank of the indices; (C3) `depth` is positive; (C4) the result
    has at most 8 dimensions.
  }];
  let arguments = (ins TensorRT_TensorOf<[I32]>:$indices, 1DTensorOf<TensorRT_NumbersOrBool>:$values,
                       TensorRT_ScalarIndex:$depth, I64Attr:$axis);
  let results = (outs TensorRT_NumberOrBoolTensor:$result);
  let assemblyFormat = "$indices `,` $values `,` $depth attr-dict `:` functional-type(operands, results)";
}

#endif // LATEWOOD_COMPILER_DIALECT_TENSORRT_INDEXINGOPS_TD
