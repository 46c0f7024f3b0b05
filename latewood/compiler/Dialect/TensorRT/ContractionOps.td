// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products, convolutions, pooling and attention.

#ifndef LATEWOOD_COMPILER_DIALECT_TENSORRT_CONTRACTIONOPS_TD
#define LATEWOOD_COMPILER_DIALECT_TENSORRT_CONTRACTIONOPS_TD

include "latewood/compiler/Dialect/TensorRT/TensorRTAttributes.td"

def TensorRT_MatrixMultiplyOp : TensorRT_InferOp<"matrix_multiply"> {
  let summary = "a product of matrices or vectors (IMatrixMultiplyLayer)";
  let description = [{
    `kNONE` and `kTRANSPOSE` take the last two dimensions as a matrix, `kVECTOR` the last one as a vector. Dimensions in front are
    a collection, and broadcast along extents of 1.

    Constraints: (C1) the element types agree; (C2) each input has the dimensions that its operation needs; (C3) the numbers of
    collection dimensions agree, and their extents are equal or 1; (C4) the summed extents agree.
  }];
  let arguments = (ins TensorRT_FloatTensor:$input0,
                       TensorRT_FloatTensor:$input1,
                       TensorRT_MatrixOperationAttr:$op0, TensorRT_MatrixOperationAttr:$op1);
  let results = (outs TensorRT_FloatTensor:$result);
  let assemblyFormat = "$input0 `,` $input1 attr-dict `:` functional-type(operands, results)";
}

def TensorRT_EinsumOp : TensorRT_InferOp<"einsum"> {
  let summary = "a sum of products by Einstein's convention (IEinsumLayer)";
  let description = [{
    `equation` has lower-case letters for dimensions, as in `bij,bjk->bik`.

    Constraints: (C1) there are inputs, of one element type; (C2) the equation is well formed: one term an input, one letter a
    dimension, no letter in the result that no input has, none twice; without `->` the result has the letters that occur once, in
    alphabetical order; (C3) extents of one letter are equal or 1.
  }];
  let arguments = (ins Variadic<TensorRT_FloatTensor>:$inputs, StrAttr:$equation);
  let results = (outs TensorRT_FloatTensor:$result);
  let assemblyFormat = "$inputs attr-dict `:` functional-type(operands, results)";
}

class TensorRT_ConvolutionLikeOp<string mnemonic> : TensorRT_InferOp<mnemonic> {
  let arguments = (ins TensorRT_FloatTensor:$input, TensorRT_FloatTensor:$kernel, Optional<TensorRT_FloatTensor>:$bias,
                       DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$pre_padding, DenseI64ArrayAttr:$post_padding,
                       DefaultValuedAttr<I64Attr, "1">:$num_groups, OptionalAttr<DenseI64ArrayAttr>:$dilation);
  let results = (outs TensorRT_FloatTensor:$result);
  let assemblyFormat = [{
    `in` `(` $input `)` `kernel` `(` $kernel `)` (`bias` `(` $bias^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// One entry per spatial dimension.
    ::llvm::SmallVector<int64_t> getDilations() {
      if (auto dilation = getDilation())
        return ::llvm::SmallVector<int64_t>(*dilation);
      return ::llvm::SmallVector<int64_t>(getStride().size(), 1);
    }
  }];
}

def TensorRT_ConvolutionOp : TensorRT_ConvolutionLikeOp<"convolution"> {
  let summary = "a convolution (IConvolutionLayer)";
  let description = [{
    The input is [N, C, spatial...], the kernel [K, C / num_groups, spatial...], the bias [K]. A kernel that is a constant becomes
    the layer's weights, any other one its second input.

    Constraints: (C1) the element types agree; (C2) there are 2 or 3 spatial dimensions, and all lists have one entry for each;
    (C3) strides and dilations are positive, paddings are not negative; (C4) `num_groups` divides C and K, and the kernel has C /
    num_groups channels; (C5) the bias has K elements; (C6) the kernel fits into the padded input.
  }];
}

def TensorRT_DeconvolutionOp : TensorRT_ConvolutionLikeOp<"deconvolution"> {
  let summary = "a transposed convolution (IDeconvolutionLayer)";
  let description = [{
    The input is [N, C, spatial...], the kernel [C, K / num_groups, spatial...], the bias [K]; the result's extents are (n - 1) *
    stride + dilation * (kernel - 1) + 1 - pre_padding - post_padding.

    Constraints: (C1) to (C5) as for convolution, with C and K of this kernel; (C6) the result's extents are positive; (C7) elements
    are f32 or f16.
  }];
}

def TensorRT_PoolingOp : TensorRT_InferOp<"pooling"> {
  let summary = "a reduction of sliding windows (IPoolingLayer)";
  let description = [{
    The windows slide over the last dimensions, one for each entry of `windowSize`. `kMAX_AVERAGE_BLEND` is (1 - blendFactor) *
    maximum + blendFactor * average.

    Constraints: (C1) there are 2 or 3 entries in each list, and at least one more dimension; (C2) windows and strides are
    positive; (C3) paddings are not negative and smaller than the window; (C4) `blendFactor` only with `kMAX_AVERAGE_BLEND`; (C5) i8
    only in windows of 2 dimensions.
  }];
  let arguments = (ins TensorRT_TensorOf<!listconcat(TensorRT_Floats, [I8])>:$input, DenseI64ArrayAttr:$windowSize,
                       DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$prePadding, DenseI64ArrayAttr:$postPadding,
                       TensorRT_PoolingTypeAttr:$poolingType, OptionalAttr<F32Attr>:$blendFactor,
                       DefaultValuedAttr<BoolAttr, "true">:$averageCountExcludesPadding);
  let results = (outs TensorRT_TensorOf<!listconcat(TensorRT_Floats, [I8])>:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

def TensorRT_AttentionOp : TensorRT_InferOp<"attention", [AttrSizedOperandSegments]> {
  let summary = "attention: normalize(query * transposed key, mask) * value (IAttention)";
  let description = [{
    `kPADDED_BHND`: [batch, heads, tokens, size]; `kPACKED_NHD`: [tokens of all sequences, heads, size], with the lengths as running
    sums. Scores are not scaled: scale the query. Heads of the query may be a multiple of those of key and value. A mask of i1 says
    where a position may be seen, any other mask is added.

    Constraints: (C1) the element types agree; (C2) each input has the rank of its form; (C3) batch, size of a head of query and
    key, and heads and tokens of key and value agree; the query's heads are a multiple of the key's; (C4) the mask has 4
    dimensions, broadcast to [batch, heads, tokens of the query, tokens of the key], is i1 or of the query's element type, and not
    given with a causal mask; (C5) `normalizationQuantizeToType` is f8E4M3FN or i8, and given with its scale; (C6) a packed form has
    its lengths.
  }];
  let arguments = (ins TensorRT_FloatTensor:$query, TensorRT_FloatTensor:$key, TensorRT_FloatTensor:$value,
                       Optional<TensorRT_TensorOf<!listconcat(TensorRT_Floats, [I1])>>:$mask,
                       Optional<TensorRT_FloatTensor>:$normalizationQuantizeScale,
                       Optional<1DTensorOf<[I32]>>:$queryLengths, Optional<1DTensorOf<[I32]>>:$keyValueLengths,
                       DefaultValuedAttr<TensorRT_AttentionNormalizationOpAttr,
                                         "::latewood::tensorrt::AttentionNormalizationOp::kSOFTMAX">:$normalizationOperation,
                       DefaultValuedAttr<TensorRT_CausalMaskKindAttr,
                                         "::latewood::tensorrt::CausalMaskKind::kNONE">:$causalKind,
                       DefaultValuedAttr<TensorRT_AttentionIOFormAttr,
                                         "::latewood::tensorrt::AttentionIOForm::kPADDED_BHND">:$queryForm,
                       DefaultValuedAttr<TensorRT_AttentionIOFormAttr,
                                         "::latewood::tensorrt::AttentionIOForm::kPADDED_BHND">:$keyValueForm,
                       DefaultValuedAttr<BoolAttr, "false">:$decomposable,
                       OptionalAttr<TypeAttr>:$normalizationQuantizeToType);
  let results = (outs TensorRT_FloatTensor:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` `(` $mask^ `)`)? (`quantize_scale` `(` $normalizationQuantizeScale^ `)`)?
    (`query_lengths` `(` $queryLengths^ `)`)? (`key_value_lengths` `(` $keyValueLengths^ `)`)? attr-dict `:`
    functional-type(operands, results)
  }];
}

def TensorRT_RotaryEmbeddingOp : TensorRT_InferOp<"rotary_embedding"> {
  let summary = "rotates pairs of elements by angles of their position (IRotaryEmbeddingLayer)";
  let description = [{
    The input is [batch, heads, tokens, size]. Pairs are adjacent elements if `interleaved`, else elements of the two halves. The
    first `rotaryEmbeddingDim` elements take part; 0 means all. Without `positionIds` the caches are [batch, tokens, pairs], with
    them [positions, pairs].

    Constraints: (C1) the element types agree; (C2) the input has 4 dimensions; (C3) the caches have one shape, of the rank and
    extents above; (C4) `positionIds` is [batch, tokens]; (C5) `rotaryEmbeddingDim` is even, and not more than the size.
  }];
  let arguments = (ins TensorRT_FloatTensor:$input, TensorRT_FloatTensor:$cosCache, TensorRT_FloatTensor:$sinCache,
                       Optional<TensorRT_IndexTensor>:$positionIds, DefaultValuedAttr<BoolAttr, "false">:$interleaved,
                       DefaultValuedAttr<I64Attr, "0">:$rotaryEmbeddingDim);
  let results = (outs TensorRT_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $cosCache `,` $sinCache (`positions` `(` $positionIds^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
}

def TensorRT_KVCacheUpdateOp : TensorRT_InferOp<"kv_cache_update"> {
  let summary = "writes new keys or values into a cache (IKVCacheUpdateLayer)";
  let description = [{
    result[i, :, writeIndices[i] + s, :] = update[i, :, s, :]; everything else is the cache. In an engine the result lies in the
    cache's memory.

    Constraints: (C1) cache and update have one element type and 4 dimensions, [batch, heads, tokens, size], that agree outside of
    the tokens; (C2) `writeIndices` and `updateLengths` are [batch].
  }];
  let arguments = (ins TensorRT_FloatTensor:$cache, TensorRT_FloatTensor:$update, 1DTensorOf<TensorRT_Ints>:$writeIndices,
                       Optional<1DTensorOf<TensorRT_Ints>>:$updateLengths,
                       DefaultValuedAttr<TensorRT_KVCacheModeAttr,
                                         "::latewood::tensorrt::KVCacheMode::kLINEAR">:$cacheMode);
  let results = (outs TensorRT_FloatTensor:$result);
  let assemblyFormat = [{
    $cache `,` $update `,` $writeIndices (`lengths` `(` $updateLengths^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
}

def TensorRT_MoEOp : TensorRT_InferOp<"moe", [AttrSizedOperandSegments]> {
  let summary = "a mixture of experts (IMoELayer)";
  let description = [{
    For each token and each of its selected experts: down(activation(gate(x)) * up(x)), weighted by the scores and summed.

    Constraints: (C1) `hiddenStates` is [batch, tokens, hidden], `selectedExperts` and `scores` are [batch, tokens, k]; (C2) gate and
    up weights are [experts, hidden, inner], down weights [experts, inner, hidden]; (C3) all biases or none are given: [experts,
    inner] twice and [experts, hidden]; (C4) the element types of states, scores, weights and biases agree.
  }];
  let arguments = (ins TensorRT_FloatTensor:$hiddenStates, TensorRT_TensorOf<[I32]>:$selectedExperts,
                       TensorRT_FloatTensor:$scores, TensorRT_FloatTensor:$gateWeights, TensorRT_FloatTensor:$upWeights,
                       TensorRT_FloatTensor:$downWeights, Optional<TensorRT_FloatTensor>:$gateBias,
                       Optional<TensorRT_FloatTensor>:$upBias, Optional<TensorRT_FloatTensor>:$downBias,
                       DefaultValuedAttr<TensorRT_MoEActTypeAttr,
                                         "::latewood::tensorrt::MoEActType::kSILU">:$activationType);
  let results = (outs TensorRT_FloatTensor:$result);
  let assemblyFormat = [{
    $hiddenStates `,` $selectedExperts `,` $scores `weights` `(` $gateWeights `,` $upWeights `,` $downWeights `)`
    (`biases` `(` $gateBias^ `,` $upBias `,` $downBias `)`)? attr-dict `:` functional-type(operands, results)
  }];
}

#endif // LATEWOOD_COMPILER_DIALECT_TENSORRT_CONTRACTIONOPS_TD
