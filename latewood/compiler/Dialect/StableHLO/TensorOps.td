// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that make tensors or move their elements: constants, iota, broadcasts, reshapes, slices, padding, concatenation and
// indexed access. None has side effects. Verifiers and type inference stand in TensorOps.cpp and IndexingOps.cpp.

#ifndef LATEWOOD_COMPILER_DIALECT_STABLEHLO_TENSOROPS_TD
#define LATEWOOD_COMPILER_DIALECT_STABLEHLO_TENSOROPS_TD

include "latewood/compiler/Dialect/StableHLO/StableHLOAttributes.td"

def StableHLO_ConstantOp : StableHLO_InferOp<"constant", [ConstantLike, Pure,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a constant tensor";
  let description = [{
    Example: `%cst = stablehlo.constant dense<0.0> : tensor<4xf32>`

    The value of a quantized constant is a tensor of its storage type; it prints as
    `stablehlo.constant() {value = dense<3> : tensor<2xi8>} : () -> tensor<2x!quant.uniform<i8:f32, 0.5>>`.

    Constraints: (C1), (C2) value and result have the same type.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs StableHLO_TensorOrPerAxis:$output);
  let extraClassDefinition = "";
  let hasCustomAssemblyFormat = 1;
  let hasFolder = 1;
}

def StableHLO_IotaOp : StableHLO_Op<"iota", [Pure]> {
  let summary = "numbers 0, 1, 2... along one dimension";
  let description = "Constraints: (C1) `iota_dimension` is a dimension of the result.";
  let arguments = (ins I64Attr:$iota_dimension);
  let results = (outs StableHLO_IntRealOrComplexTensor:$output);
  let assemblyFormat = "`dim` `=` $iota_dimension attr-dict `:` type($output)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def StableHLO_BroadcastInDimOp : StableHLO_Op<"broadcast_in_dim", [Pure]> {
  let summary = "repeats a tensor along new dimensions and along dimensions of extent 1";
  let description = [{
    Dimension i of the operand becomes dimension `broadcast_dimensions[i]` of the result.

    Example: `%r = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>`

    Constraints: (C1) the element types agree; (C2) one entry a dimension of the operand; (C3) each a dimension of the result;
    (C4) all different; (C5) an operand's extent is 1 or the result's; (C6) the dimension of a per-axis quantization is moved
    too, and a single scale is repeated.
  }];
  let arguments = (ins StableHLO_TensorOrPerAxis:$operand, DenseI64ArrayAttr:$broadcast_dimensions);
  let results = (outs StableHLO_TensorOrPerAxis:$result);
  let assemblyFormat = "$operand `,` `dims` `=` $broadcast_dimensions attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def StableHLO_ReshapeOp : StableHLO_Op<"reshape", [Pure]> {
  let summary = "the same elements in the same row-major order under another shape";
  let description = [{
    Constraints: (C1) the element types agree; (C2) the numbers of elements agree; (C3) so do those before, in and after the
    dimension of a per-axis quantization.
  }];
  let arguments = (ins StableHLO_TensorOrPerAxis:$operand);
  let results = (outs StableHLO_TensorOrPerAxis:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def StableHLO_TransposeOp : StableHLO_InferOp<"transpose", [Pure]> {
  let summary = "permutes dimensions";
  let description = [{
    Dimension i of the result is dimension `permutation[i]` of the operand.

    Constraints: (C1) the element types agree; (C2) `permutation` is one of the operand's dimensions; (C3) the result's shape
    is the permuted shape; (C4) the dimension of a per-axis quantization is permuted too.
  }];
  let arguments = (ins StableHLO_TensorOrPerAxis:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs StableHLO_TensorOrPerAxis:$result);
  let assemblyFormat = "$operand `,` `dims` `=` $permutation attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def StableHLO_ReverseOp : StableHLO_InferOp<"reverse", [Pure]> {
  let summary = "reverses the order of the elements along dimensions";
  let description = [{
    Constraints: (C1) operand and result have the same type; (C2) the dimensions are different; (C3) each is a dimension of
    the operand.
  }];
  let arguments = (ins StableHLO_Tensor:$operand, DenseI64ArrayAttr:$dimensions);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $dimensions attr-dict `:` custom<SameTypes>(type($operand), type($result))
  }];
  let hasFolder = 1;
}

def StableHLO_SliceOp : StableHLO_InferOp<"slice", [Pure]> {
  let summary = "a strided part of a tensor";
  let description = [{
    Example: `%r = stablehlo.slice %x [0:4, 1:8:2] : (tensor<8x8xf32>) -> tensor<4x4xf32>` (start : limit : stride)

    Constraints: (C1) the element types agree; (C2) one start, limit and stride a dimension; (C3) 0 <= start <= limit <=
    extent; (C4) strides are positive; (C5) the result's extents are ceil((limit - start) / stride).
  }];
  let arguments = (ins StableHLO_Tensor:$operand, DenseI64ArrayAttr:$start_indices, DenseI64ArrayAttr:$limit_indices,
                       DenseI64ArrayAttr:$strides);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand custom<SliceRanges>($start_indices, $limit_indices, $strides) attr-dict `:`
    functional-type(operands, results)
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def StableHLO_ConcatenateOp : StableHLO_InferOp<"concatenate", [Pure]> {
  let summary = "joins tensors along a dimension";
  let description = [{
    Constraints: (C1) the inputs' element types agree; (C2) so do their shapes, outside of `dimension`; (C3) there is an
    input; (C4) `dimension` is a dimension of the inputs; (C5), (C6) the result has that element type and shape, with the
    sum of the extents along `dimension`.
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, I64Attr:$dimension);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    custom<OperandsThenComma>($inputs) `dim` `=` $dimension attr-dict `:` functional-type(operands, results)
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def StableHLO_PadOp : StableHLO_InferOp<"pad", [Pure]> {
  let summary = "surrounds and interleaves a tensor with a value";
  let description = [{
    Low and high padding may be negative and then remove elements.

    Constraints: (C1) operand, value and result have one element type; (C2) one entry of each list a dimension; (C3) interior
    padding is not negative; (C4) the result's extents are low + n + max(n - 1, 0) * interior + high.
  }];
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_ScalarTensor:$padding_value,
                       DenseI64ArrayAttr:$edge_padding_low, DenseI64ArrayAttr:$edge_padding_high,
                       DenseI64ArrayAttr:$interior_padding);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $padding_value `,` `low` `=` $edge_padding_low `,` `high` `=` $edge_padding_high `,`
    `interior` `=` $interior_padding attr-dict `:` functional-type(operands, results)
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def StableHLO_GetDimensionSizeOp : StableHLO_InferOp<"get_dimension_size", [Pure]> {
  let summary = "an extent of a tensor, as i32";
  let description = "Constraints: (C1) `dimension` is a dimension of the operand.";
  let arguments = (ins StableHLO_TensorOrPerAxis:$operand, I64Attr:$dimension);
  let results = (outs StableHLO_ScalarI32Tensor:$result);
  let assemblyFormat = "$operand `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def StableHLO_SetDimensionSizeOp : StableHLO_Op<"set_dimension_size", [Pure]> {
  let summary = "a tensor with one extent declared to be smaller";
  let description = "Constraints: (C1) `dimension` is a dimension of the operand.";
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_ScalarI32Tensor:$size, I64Attr:$dimension);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = "$operand `,` $size `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Indexed access
//===----------------------------------------------------------------------===//

def StableHLO_DynamicSliceOp : StableHLO_InferOp<"dynamic_slice", [Pure]> {
  let summary = "a part of a tensor at computed offsets";
  let description = [{
    Start indices are clamped so that the slice lies inside the operand.

    Constraints: (C1) the element types agree; (C2) one start and size a dimension; (C3) the start indices have one type; (C4)
    0 <= size <= extent; (C5) the result's shape is `slice_sizes`.
  }];
  let arguments = (ins StableHLO_Tensor:$operand, Variadic<StableHLO_ScalarIntTensor>:$start_indices,
                       DenseI64ArrayAttr:$slice_sizes);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` custom<OperandsThenComma>($start_indices) `sizes` `=` $slice_sizes attr-dict `:`
    functional-type(operands, results)
  }];
  let hasCanonicalizer = 1;
  let hasFolder = 1;
}

def StableHLO_DynamicUpdateSliceOp : StableHLO_InferOp<"dynamic_update_slice", [Pure]> {
  let summary = "a tensor with a part at computed offsets replaced";
  let description = [{
    Start indices are clamped so that the update lies inside the operand.

    Constraints: (C1) operand and result have the same type; (C2) so do the element types of operand and update; (C3) and
    their ranks; (C4) one start index a dimension; (C5) the start indices have one type; (C6) the update fits.
  }];
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_Tensor:$update,
                       Variadic<StableHLO_ScalarIntTensor>:$start_indices);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def StableHLO_GatherOp : StableHLO_InferOp<"gather", [Pure]> {
  let summary = "slices of a tensor at indices from another";
  let description = [{
    Every index vector of `start_indices` selects one slice of `slice_sizes`; out-of-bounds slices are moved inside.

    Constraints: (C1)-(C21) relate `dimension_numbers` and `slice_sizes` to the operands' ranks and extents; (C22) gives the
    result's shape; (C23) the element types agree. See the verifier, which names each.
  }];
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_IntTensor:$start_indices,
                       StableHLO_GatherDimensionNumbers:$dimension_numbers, DenseI64ArrayAttr:$slice_sizes,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs StableHLO_Tensor:$result);
}

def StableHLO_ScatterOp : StableHLO_InferOp<"scatter", [RecursivelySpeculatable, RecursiveMemoryEffects,
    SameVariadicOperandSize, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "combines slices into a tensor at given indices";
  let description = [{
    Every index vector of `scatter_indices` addresses one window of each input; `update_computation` combines what stands
    there with the update. Updates outside of the input are skipped. Without `unique_indices` the order of updates to one
    element is not specified.

    Constraints: (C1)-(C22) relate `scatter_dimension_numbers` to the operands' ranks and extents; (C23) gives the type of
    `update_computation`; (C24), (C25) the results'. See the verifier, which names each.
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, StableHLO_IntTensor:$scatter_indices,
                       Variadic<StableHLO_Tensor>:$updates,
                       StableHLO_ScatterDimensionNumbers:$scatter_dimension_numbers,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$unique_indices);
  let regions = (region SizedRegion<1>:$update_computation);
  let results = (outs Variadic<StableHLO_Tensor>);
  let extraClassDefinition = sameShapes;
  let hasRegionVerifier = 1;
}

#endif // LATEWOOD_COMPILER_DIALECT_STABLEHLO_TENSOROPS_TD
