// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batch normalization, forward and backward. `feature_index` is the dimension that keeps its statistics apart; all other
// dimensions are averaged over.

#ifndef LATEWOOD_COMPILER_DIALECT_STABLEHLO_NORMALIZATIONOPS_TD
#define LATEWOOD_COMPILER_DIALECT_STABLEHLO_NORMALIZATIONOPS_TD

include "latewood/compiler/Dialect/StableHLO/StableHLOAttributes.td"

def StableHLO_BatchNormInferenceOp : StableHLO_InferOp<"batch_norm_inference", [Pure]> {
  let summary = "normalizes with given mean and variance";
  let description = [{
    Constraints: (C1) `feature_index` is a dimension of the operand; (C2) one element type; (C3)-(C6) scale, offset, mean and
    variance have one entry a feature; (C7) operand and result have the same type.
  }];
  let arguments = (ins StableHLO_RealTensor:$operand, StableHLO_RealVector:$scale, StableHLO_RealVector:$offset,
                       StableHLO_RealVector:$mean, StableHLO_RealVector:$variance, F32Attr:$epsilon,
                       I64Attr:$feature_index);
  let results = (outs StableHLO_RealTensor:$result);
  let extraClassDefinition = sameBaselines;
}

def StableHLO_BatchNormTrainingOp : StableHLO_InferOp<"batch_norm_training", [Pure]> {
  let summary = "normalizes with the operand's own mean and variance, and returns them";
  let description = [{
    Constraints: (C1) `feature_index` is a dimension of the operand; (C2) one element type; (C3)-(C6) scale, offset and the
    returned mean and variance have one entry a feature; (C7) operand and output have the same type.
  }];
  let arguments = (ins StableHLO_RealTensor:$operand, StableHLO_RealVector:$scale, StableHLO_RealVector:$offset,
                       F32Attr:$epsilon, I64Attr:$feature_index);
  let results = (outs StableHLO_RealTensor:$output, StableHLO_RealVector:$batch_mean,
                      StableHLO_RealVector:$batch_var);
  let extraClassDefinition = sameBaselines;
}

def StableHLO_BatchNormGradOp : StableHLO_InferOp<"batch_norm_grad", [Pure]> {
  let summary = "gradients of batch_norm_training";
  let description = [{
    Constraints: (C1) `feature_index` is a dimension of the operand; (C2) one element type; (C3) operand and both gradients of
    its kind have one shape; (C4), (C5) scale, mean, variance and the gradients of their kind have one entry a feature.
  }];
  let arguments = (ins StableHLO_RealTensor:$operand, StableHLO_RealVector:$scale, StableHLO_RealVector:$mean,
                       StableHLO_RealVector:$variance, StableHLO_RealTensor:$grad_output, F32Attr:$epsilon,
                       I64Attr:$feature_index);
  let results = (outs StableHLO_RealTensor:$grad_operand, StableHLO_RealVector:$grad_scale,
                      StableHLO_RealVector:$grad_offset);
  let extraClassDefinition = sameBaselines;
}

#endif // LATEWOOD_COMPILER_DIALECT_STABLEHLO_NORMALIZATIONOPS_TD
