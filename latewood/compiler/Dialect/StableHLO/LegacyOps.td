// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that old programs hold and that the specification has left: each is a special case, or a short form, of another op.
// Phase Input replaces them. LegacyOps.cpp has the verifiers.

#ifndef LATEWOOD_COMPILER_DIALECT_STABLEHLO_LEGACYOPS_TD
#define LATEWOOD_COMPILER_DIALECT_STABLEHLO_LEGACYOPS_TD

include "latewood/compiler/Dialect/StableHLO/StableHLOAttributes.td"

def StableHLO_BroadcastOp : StableHLO_InferOp<"broadcast", [Pure]> {
  let summary = "repeats a tensor along new major dimensions";
  let description = [{
    Example: `%r = stablehlo.broadcast %x, sizes = [1, 2] : (tensor<3xi32>) -> tensor<1x2x3xi32>`

    Constraints: (C1) no size is negative; (C2) the result's shape is the sizes and the operand's shape.
  }];
  let arguments = (ins StableHLO_Tensor:$operand, DenseI64ArrayAttr:$broadcast_sizes);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` `sizes` `=` $broadcast_sizes attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_DotOp : StableHLO_InferOp<"dot", [Pure]> {
  let summary = "product of vectors and matrices";
  let description = [{
    Contracts the last dimension of `lhs` with the first one of `rhs`. The result's element type may be wider.

    Example: `%0 = stablehlo.dot %a, %b : (tensor<1x2xi32>, tensor<2x3xi32>) -> tensor<1x3xi32>`

    Constraints: (C1) operands of one or two dimensions; (C2) the contracted extents agree; (C3) two precisions; (C4) one element
    type.
  }];
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_TensorOrPerAxis:$rhs,
                       OptionalAttr<StableHLO_PrecisionConfig>:$precision_config);
  let results = (outs StableHLO_TensorOrPerAxis:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `` custom<Precision>($precision_config) attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDefinition = sameShapes;
  let hasVerifier = 1;
}

def StableHLO_EinsumOp : StableHLO_Op<"einsum", [Pure]> {
  let summary = "sum of products in Einstein's notation";
  let description = [{
    Each letter of `einsum_config` names a dimension; `...` stands for the dimensions without letter. Letters of both operands are
    multiplied along, letters that the result lacks are summed over. Without `->`, the result has the letters that stand once.

    Example: `%r = stablehlo.einsum %a, %b, config = "ab,bc->ac" : (tensor<4x16xf32>, tensor<16x4xf32>) -> tensor<4x4xf32>`

    Constraints: (C1) the notation is well-formed and fits the operands; (C2) equal letters have equal extents; (C3) the result
    has the extents of its letters; (C4) one element type, which can be promoted to the result's.
  }];
  let arguments = (ins StableHLO_PlainTensor:$lhs, StableHLO_PlainTensor:$rhs, StrAttr:$einsum_config);
  let results = (outs StableHLO_PlainTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def StableHLO_UnaryEinsumOp : StableHLO_Op<"unary_einsum", [Pure]> {
  let summary = "diagonal, sum and transpose in Einstein's notation";
  let description = [{
    As `einsum`, with one operand, with the same constraint numbers.

    Example: `%r = "stablehlo.unary_einsum"(%a) {einsum_config = "ab->a"} : (tensor<4x16xf32>) -> tensor<4xf32>`
  }];
  let arguments = (ins StableHLO_PlainTensor:$operand, StrAttr:$einsum_config);
  let results = (outs StableHLO_PlainTensor:$result);
  let assemblyFormat = "$operand `,` `config` `=` $einsum_config attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def StableHLO_TorchIndexSelectOp : StableHLO_InferOp<"torch_index_select", [Pure]> {
  let summary = "slices at given indices along one dimension";
  let description = [{
    Takes, for each index, the operand's slice at it along `dim`, within each element of the first `batch_dims` dimensions, which
    both have. An index out of bounds counts as the nearest one in bounds.

    Example: `%r = "stablehlo.torch_index_select"(%x, %i) {dim = 2 : i64, batch_dims = 1 : i64} : (tensor<8x128x3072x64xf32>,
    tensor<8x16x1024xi32>) -> tensor<8x128x16x1024x64xf32>`

    Constraints: (C1) `dim` is a dimension of the operand; (C2) `batch_dims` is at most `dim` and the index's rank; (C3) the batch
    extents agree; (C4) the result's shape is the operand's with the index's other extents in place of `dim`.
  }];
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_IntTensor:$index, I64Attr:$dim, I64Attr:$batch_dims);
  let results = (outs StableHLO_Tensor:$result);
}

def StableHLO_TraceOp : StableHLO_Op<"trace"> {
  let summary = "shows a value to a debugger";
  let description = "Has no effect on what a program computes.";
  let arguments = (ins StableHLO_Tensor:$operand, StrAttr:$tag);
  let assemblyFormat = "$operand `,` $tag attr-dict `:` type($operand)";
}

#endif // LATEWOOD_COMPILER_DIALECT_STABLEHLO_LEGACYOPS_TD
