// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products and convolutions, and the linear algebra and Fourier transforms of the specification. None has side
// effects. A result's element type may be wider than the operands': it is the type of the accumulation.

#ifndef LATEWOOD_COMPILER_DIALECT_STABLEHLO_CONTRACTIONOPS_TD
#define LATEWOOD_COMPILER_DIALECT_STABLEHLO_CONTRACTIONOPS_TD

include "latewood/compiler/Dialect/StableHLO/StableHLOAttributes.td"

def StableHLO_DotGeneralOp : StableHLO_InferOp<"dot_general", [Pure]> {
  let summary = "sums of products over contracted dimensions";
  let description = [{
    The result's dimensions are the batching ones, then the remaining ones of lhs, then those of rhs.

    Example: `%r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x2xf32>) ->
    tensor<4x2xf32>`

    Constraints: (C1), (C2) equally many batching and contracting dimensions on both sides; (C3)-(C8) they are different and
    in range; (C9), (C10) their extents agree; (C11) two precisions; (C12) the result's shape; (C13) the operands' element
    types agree unless `algorithm` says otherwise; (C14)-(C20) relate quantized operands and result; (C21) `algorithm` needs default precisions; (C22)-(C24) its counts are positive.
  }];
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_TensorOrPerAxis:$rhs,
                       StableHLO_DotDimensionNumbers:$dot_dimension_numbers,
                       OptionalAttr<StableHLO_PrecisionConfig>:$precision_config,
                       OptionalAttr<StableHLO_DotAlgorithm>:$algorithm);
  let results = (outs StableHLO_TensorOrPerAxis:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` custom<DotDimensions>($dot_dimension_numbers)
    `` custom<PrecisionAndAlgorithm>($precision_config, $algorithm)
    attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDefinition = sameShapes;
  let hasVerifier = 1;
}

class StableHLO_ConvolutionBase<string mnemonic> : StableHLO_Op<mnemonic, [Pure]> {
  let results = (outs StableHLO_TensorOrPerAxis:$result);
  let hasVerifier = 1;
  string windowAccessors = [{
    /// Window parameters with their defaults filled in: one entry a spatial dimension.
    ::llvm::SmallVector<int64_t> getStrides();
    ::llvm::SmallVector<int64_t> getInputDilations();
    ::llvm::SmallVector<int64_t> getKernelDilations();
    ::llvm::SmallVector<bool> getReversals();
  }];
  let extraClassDeclaration = windowAccessors;
}

def StableHLO_ConvolutionOp : StableHLO_ConvolutionBase<"convolution"> {
  let summary = "products of a kernel with windows of a tensor, summed";
  let description = [{
    Constraints: (C1)-(C24) relate dimension numbers, window attributes and group counts to the operands; (C25), (C26) give
    the result's shape; (C27) the element types agree (the result's may be wider); (C28)-(C34) relate quantized operands and result. See the verifier, which names each.
  }];
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_TensorOrPerAxis:$rhs, OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<I64ElementsAttr>:$padding, OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
                       OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation, OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
                       StableHLO_ConvDimensionNumbers:$dimension_numbers, I64Attr:$feature_group_count,
                       I64Attr:$batch_group_count, OptionalAttr<StableHLO_PrecisionConfig>:$precision_config);
  let assemblyFormat = [{
    `(` operands `)` `dim_numbers` `=` custom<ConvolutionDimensions>($dimension_numbers) `,` `window` `=`
    custom<WindowAttributes>($window_strides, $padding, $lhs_dilation, $rhs_dilation, $window_reversal)
    attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = windowAccessors # [{
    /// Padding as pairs (low, high), one a spatial dimension.
    ::llvm::SmallVector<std::pair<int64_t, int64_t>> getPaddingPairs();
  }];
}

def StableHLO_DynamicConvOp : StableHLO_ConvolutionBase<"dynamic_conv"> {
  let summary = "a convolution whose padding is computed";
  let description = "As `convolution`, with the same constraint numbers; (C4) asks of `padding` the shape [N - 2, 2].";
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_TensorOrPerAxis:$rhs, 2DTensorOf<[StableHLO_Int]>:$padding,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides, OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
                       OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation, OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
                       StableHLO_ConvDimensionNumbers:$dimension_numbers, I64Attr:$feature_group_count,
                       I64Attr:$batch_group_count, OptionalAttr<StableHLO_PrecisionConfig>:$precision_config);
}

def StableHLO_FftOp : StableHLO_InferOp<"fft", [Pure]> {
  let summary = "forward or inverse discrete Fourier transform of the minor dimensions";
  let description = [{
    Constraints: (C1) the operand has the dimensions that are transformed; (C2) the element types fit `fft_type`; (C3) one to
    three dimensions; (C4) `fft_length` gives the minor extents of the real side; (C5) the result's shape.
  }];
  let arguments = (ins StableHLO_FloatOrComplexTensor:$operand, StableHLO_FftTypeAttr:$fft_type,
                       DenseI64ArrayAttr:$fft_length);
  let results = (outs StableHLO_FloatOrComplexTensor:$result);
  let assemblyFormat = [{
    $operand `,` `type` `=` `` $fft_type `,` `length` `=` $fft_length attr-dict `:` functional-type(operands, results)
  }];
}

def StableHLO_CholeskyOp : StableHLO_InferOp<"cholesky", [Pure]> {
  let summary = "Cholesky factors of a batch of matrices";
  let description = [{
    Constraints: (C1) operand and result have the same type; (C2) the operand has two dimensions or more; (C3) the minor two
    extents agree.
  }];
  let arguments = (ins StableHLO_RealOrComplexTensor:$a, DefaultValuedOptionalAttr<BoolAttr, "false">:$lower);
  let results = (outs StableHLO_RealOrComplexTensor:$result);
  let assemblyFormat = "$a (`,` `lower` `=` $lower^)? attr-dict `:` custom<SameTypes>(type($a), type($result))";
  let extraClassDefinition = sameBaselines;
}

def StableHLO_TriangularSolveOp : StableHLO_InferOp<"triangular_solve", [Pure]> {
  let summary = "solves systems of equations with a triangular matrix";
  let description = [{
    Constraints: (C1) a and b have one element type; (C2) equal ranks of two or more; (C3) the shapes agree outside of the
    solved dimension, and a is square; (C4) the result has b's type.
  }];
  let arguments = (ins StableHLO_RealOrComplexTensor:$a, StableHLO_RealOrComplexTensor:$b, BoolAttr:$left_side,
                       BoolAttr:$lower, BoolAttr:$unit_diagonal, StableHLO_TransposeAttr:$transpose_a);
  let results = (outs StableHLO_RealOrComplexTensor:$result);
  let extraClassDefinition = sameBaselines;
}

#endif // LATEWOOD_COMPILER_DIALECT_STABLEHLO_CONTRACTIONOPS_TD
