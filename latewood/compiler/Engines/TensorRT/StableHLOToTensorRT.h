// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The conversion from StableHLO and CHLO to layers, one function per family of operations.
//
// A function of a family gives nothing for an operation that is not its own; else the values that take the operation's
// place, or a failure. Why it failed is in the builder's `reason`, or was reported by the layer that refused. It looks
// at the operation as it was (patterns see the old program) and takes operands by `b.map`. Element types do not change:
// what TensorRT has no type for is refused before.
#pragma once

#include "latewood/compiler/Engines/TensorRT/LayerBuilder.h"
#include <optional>
#include <string>

namespace latewood::tensorrt {

using Conversion = std::optional<Results>;

/// Functions of elements, conversions of element types (ConvertStableHLOToTensorRTElementwise.cpp).
Conversion convertElementwise(LayerBuilder &b, mlir::Operation *op);
/// Constants, reshapes, slices (ConvertStableHLOToTensorRTShape.cpp).
Conversion convertShape(LayerBuilder &b, mlir::Operation *op);
/// The dynamic forms of the same (ConvertStableHLOToTensorRTDynamic.cpp).
Conversion convertDynamic(LayerBuilder &b, mlir::Operation *op);
/// Products and convolutions (ConvertStableHLOToTensorRTContraction.cpp).
Conversion convertContraction(LayerBuilder &b, mlir::Operation *op);
/// Reductions, windows, sorting (ConvertStableHLOToTensorRTReduction.cpp).
Conversion convertReduction(LayerBuilder &b, mlir::Operation *op);
/// Gather and scatter (ConvertStableHLOToTensorRTIndexing.cpp).
Conversion convertIndexing(LayerBuilder &b, mlir::Operation *op);
/// Conditionals and loops (ConvertStableHLOToTensorRTControlFlow.cpp).
Conversion convertControlFlow(LayerBuilder &b, mlir::Operation *op);

/// One operation, by whichever family it belongs to. Results have exactly the types of the operation.
Results convertOperation(LayerBuilder &b, mlir::Operation *op);

/// The operations of `block` except its last one, at the builder's place. Fails with a reason that names the operation.
mlir::LogicalResult convertOperations(LayerBuilder &b, mlir::Block &block);

/// Why TensorRT cannot take `op`, or nothing if it can: asked by converting a copy of it.
std::optional<std::string> whyNotConvertible(mlir::Operation *op);

/// True unless the function lies in the module of another engine.
bool isForTensorRT(mlir::Operation *function);

} // namespace latewood::tensorrt
