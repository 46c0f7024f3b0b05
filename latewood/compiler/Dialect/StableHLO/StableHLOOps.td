// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All ops of the `stablehlo` dialect, by family. TableGen reads this file.

#ifndef LATEWOOD_COMPILER_DIALECT_STABLEHLO_STABLEHLOOPS_TD
#define LATEWOOD_COMPILER_DIALECT_STABLEHLO_STABLEHLOOPS_TD

include "latewood/compiler/Dialect/StableHLO/ElementwiseOps.td"
include "latewood/compiler/Dialect/StableHLO/TensorOps.td"
include "latewood/compiler/Dialect/StableHLO/ContractionOps.td"
include "latewood/compiler/Dialect/StableHLO/NormalizationOps.td"
include "latewood/compiler/Dialect/StableHLO/ReductionOps.td"
include "latewood/compiler/Dialect/StableHLO/ControlFlowOps.td"
include "latewood/compiler/Dialect/StableHLO/DynamicOps.td"
include "latewood/compiler/Dialect/StableHLO/CollectiveOps.td"
include "latewood/compiler/Dialect/StableHLO/TransferOps.td"
include "latewood/compiler/Dialect/StableHLO/LegacyOps.td"

#endif // LATEWOOD_COMPILER_DIALECT_STABLEHLO_STABLEHLOOPS_TD
