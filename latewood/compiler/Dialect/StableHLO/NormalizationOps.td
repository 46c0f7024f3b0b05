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
  let arguments = (ins StableHLO_FloatTensor:$operand, StableHLO_FloatVector:$scale, StableHLO_FloatVector:$offset,
                       StableHLO_FloatVector:$mean, StableHLO_FloatVector:$variance, F32Attr:$epsilon,
                       I64Attr:$feature_index);
  let results = (outs StableHLO_FloatTensor:$result);
}

def StableHLO_BatchNormTrainingOp : StableHLO_InferOp<"batch_norm_training", [Pure]> {
  let summary = "normalizes with the operand's own mean and variance, and returns them";
  let description = [{
    Constraints: (C1) `feature_index` is a dimension of the operand; (C2) one element type; (C3)-(C6) scale, offset and the
    returned mean and variance have one entry a feature; (C7) operand and output have the same type.
  }];
  let arguments = (ins StableHLO_FloatTensor:$operand, StableHLO_FloatVector:$scale, StableHLO_FloatVector:$offset,
                       F32Attr:$epsilon, I64Attr:$feature_index);
  let results = (outs StableHLO_FloatTensor:$output, StableHLO_FloatVector:$batch_mean,
                      StableHLO_FloatVector:$batch_var);
}

def StableHLO_BatchNormGradOp : StableHLO_InferOp<"batch_norm_grad", [Pure]> {
  let summary = "gradients of batch_norm_training";
  let description = [{
    Constraints: (C1) `feature_index` is a dimension of the operand; (C2) one element type; (C3) operand and both gradients of
    its kind have one shape; (C4), (C5) scale, mean, variance and the gradients of their kind have one entry a feature.
  }];
  let arguments = (ins StableHLO_FloatTensor:$operand, StableHLO_FloatVector:$scale, StableHLO_FloatVector:$mean,
                       StableHLO_FloatVector:$variance, StableHLO_FloatTensor:$grad_output, F32Attr:$epsilon,
                       I64Attr:$feature_index);
  let results = (outs StableHLO_FloatTensor:$grad_operand, StableHLO_FloatVector:$grad_scale,
                      StableHLO_FloatVector:$grad_offset);
}

#endif // LATEWOOD_COMPILER_DIALECT_STABLEHLO_NORMALIZATIONOPS_TD
