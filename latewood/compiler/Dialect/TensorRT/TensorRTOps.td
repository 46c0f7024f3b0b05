// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All ops of the `tensorrt` dialect, by family. TableGen reads this file.

#ifndef LATEWOOD_COMPILER_DIALECT_TENSORRT_TENSORRTOPS_TD
#define LATEWOOD_COMPILER_DIALECT_TENSORRT_TENSORRTOPS_TD

include "latewood/compiler/Dialect/TensorRT/PointwiseOps.td"
include "latewood/compiler/Dialect/TensorRT/ContractionOps.td"
include "latewood/compiler/Dialect/TensorRT/ReductionOps.td"
include "latewood/compiler/Dialect/TensorRT/ShapeOps.td"
include "latewood/compiler/Dialect/TensorRT/IndexingOps.td"
include "latewood/compiler/Dialect/TensorRT/SamplingOps.td"
include "latewood/compiler/Dialect/TensorRT/QuantizationOps.td"
include "latewood/compiler/Dialect/TensorRT/ControlFlowOps.td"
include "latewood/compiler/Dialect/TensorRT/StructureOps.td"

#endif // LATEWOOD_COMPILER_DIALECT_TENSORRT_TENSORRTOPS_TD
