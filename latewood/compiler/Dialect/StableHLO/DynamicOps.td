// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forms of tensor ops whose extents, paddings or bounds are operands, and random number generation. None has side effects.
// The written result type holds what is known about the shape.

#ifndef LATEWOOD_COMPILER_DIALECT_STABLEHLO_DYNAMICOPS_TD
#define LATEWOOD_COMPILER_DIALECT_STABLEHLO_DYNAMICOPS_TD

include "latewood/compiler/Dialect/StableHLO/StableHLOAttributes.td"

def StableHLO_DynamicBroadcastInDimOp : StableHLO_Op<"dynamic_broadcast_in_dim", [Pure]> {
  let summary = "broadcast_in_dim to a computed shape";
  let description = [{
    Constraints: (C1)-(C5) as `broadcast_in_dim`; (C7) one output extent a dimension of the result; (C8) the known expanding
    and nonexpanding dimensions are different; (C9), (C10) and dimensions of the operand.
  }];
  let arguments = (ins StableHLO_TensorOrPerAxis:$operand, StableHLO_ExtentTensor:$output_dimensions,
                       DenseI64ArrayAttr:$broadcast_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$known_expanding_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$known_nonexpanding_dimensions);
  let results = (outs StableHLO_TensorOrPerAxis:$result);
  let assemblyFormat = [{
    $operand `,` $output_dimensions `,` `dims` `=` $broadcast_dimensions attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def StableHLO_DynamicReshapeOp : StableHLO_Op<"dynamic_reshape", [Pure]> {
  let summary = "reshape to a computed shape";
  let description = [{
    Constraints: (C1) the element types agree; (C2) the numbers of elements agree; (C4) one output extent a dimension of the
    result.
  }];
  let arguments = (ins StableHLO_TensorOrPerAxis:$operand, StableHLO_ExtentTensor:$output_shape);
  let results = (outs StableHLO_TensorOrPerAxis:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def StableHLO_DynamicIotaOp : StableHLO_Op<"dynamic_iota", [Pure]> {
  let summary = "iota of a computed shape";
  let description = [{
    Constraints: (C1) `iota_dimension` is a dimension of the result; (C2) one output extent a dimension of the result.
  }];
  let arguments = (ins StableHLO_ExtentTensor:$output_shape, I64Attr:$iota_dimension);
  let results = (outs StableHLO_IntRealOrComplexTensor:$result);
  let assemblyFormat = "$output_shape `,` `dim` `=` $iota_dimension attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def StableHLO_DynamicPadOp : StableHLO_Op<"dynamic_pad", [Pure]> {
  let summary = "pad by computed amounts";
  let description = [{
    Constraints: (C1) the element types agree; (C2) one entry of each list a dimension; (C3), (C4) concern values and are
    checked when they are constant.
  }];
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_ScalarTensor:$padding_value,
                       StableHLO_ExtentTensor:$edge_padding_low, StableHLO_ExtentTensor:$edge_padding_high,
                       StableHLO_ExtentTensor:$interior_padding);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def StableHLO_RealDynamicSliceOp : StableHLO_Op<"real_dynamic_slice", [Pure]> {
  let summary = "slice with computed starts, limits and strides";
  let description = [{
    Constraints: (C1) the element types agree; (C2) one start, limit and stride a dimension.
  }];
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_ExtentTensor:$start_indices,
                       StableHLO_ExtentTensor:$limit_indices, StableHLO_ExtentTensor:$strides);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def StableHLO_DynamicGatherOp : StableHLO_Op<"dynamic_gather", [Pure]> {
  let summary = "gather of slices of a computed size";
  let description = "Constraints: those of `gather` that do not depend on the values of `slice_sizes`, under its numbers.";
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_IntTensor:$start_indices,
                       StableHLO_ExtentTensor:$slice_sizes, StableHLO_GatherDimensionNumbers:$dimension_numbers,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
}

def StableHLO_RngOp : StableHLO_Op<"rng", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "random numbers of a distribution";
  let description = [{
    Constraints: (C1) a, b and the result agree in element type; (C2) `NORMAL` needs a floating-point type; (C3) the result's
    shape is `shape`.
  }];
  let arguments = (ins StableHLO_ScalarPredIntOrFloatTensor:$a, StableHLO_ScalarPredIntOrFloatTensor:$b,
                       StableHLO_ExtentTensor:$shape, StableHLO_RngDistributionAttr:$rng_distribution);
  let results = (outs StableHLO_PredIntOrFloatTensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $shape `,` `distribution` `=` `` $rng_distribution attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_RngBitGeneratorOp : StableHLO_Op<"rng_bit_generator", [Pure,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "random bits and the generator's next state";
  let description = [{
    Constraints: (C1) the state keeps its type; (C2) its size fits the algorithm.
  }];
  let arguments = (ins StableHLO_RngAlgorithmAttr:$rng_algorithm, StableHLO_IntOrFloatTensor:$initial_state);
  let results = (outs StableHLO_IntOrFloatTensor:$output_state, StableHLO_IntOrFloatTensor:$output);
  let assemblyFormat = [{
    $initial_state `,` `algorithm` `=` `` $rng_algorithm attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // LATEWOOD_COMPILER_DIALECT_STABLEHLO_DYNAMICOPS_TD
