// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The conversion of TensorRT's layers to StableHLO and CHLO, one function per family.
//
// A function of a family gives nothing for a layer that is not its own, else the values that take its place, or a
// failure that it has reported. Shapes may be dynamic where StableHLO has the dynamic form; what computes with
// constants of the result's shape (resizing, windows) needs static ones, and says so.
#pragma once

#include "latewood/compiler/Dialect/TensorRT/TensorRT.h"
#include "latewood/compiler/Input/TensorExpression.h"
#include <optional>

namespace latewood::input {

using LocBuilder = mlir::ImplicitLocOpBuilder;
using Values = llvm::SmallVector<mlir::Value>;
using LayerResults = std::optional<mlir::FailureOr<llvm::SmallVector<mlir::Value>>>;

LayerResults lowerPointwise(LocBuilder &b, mlir::Operation *op);   // …Pointwise.cpp
LayerResults lowerNormalizing(LocBuilder &b, mlir::Operation *op); // …Normalizing.cpp
LayerResults lowerContraction(LocBuilder &b, mlir::Operation *op); // …Contraction.cpp
LayerResults lowerShape(LocBuilder &b, mlir::Operation *op);       // …Shape.cpp
LayerResults lowerIndexing(LocBuilder &b, mlir::Operation *op);    // …Indexing.cpp
LayerResults lowerReduction(LocBuilder &b, mlir::Operation *op);   // …Reduction.cpp
LayerResults lowerSampling(LocBuilder &b, mlir::Operation *op);    // …Sampling.cpp

/// The extents of `x`, as a vector of i64.
mlir::Value extentsOf(LocBuilder &b, mlir::Value x);
/// A number for each element of `x`, whose shape may be dynamic.
Tensor number(const Tensor &x, double value);
/// `x` with extents of 1 repeated to `type`, dimension by dimension. `extents` are those of `type`, where that is
/// dynamic.
Tensor broadcastTo(const Tensor &x, mlir::RankedTensorType type, mlir::Value extents = {});
/// broadcast_in_dim with a vector of extents.
Tensor broadcastDynamic(mlir::RankedTensorType type, const Tensor &x, mlir::Value extents,
                        llvm::ArrayRef<int64_t> dims);
/// Operands repeated to the shape that they have together.
llvm::SmallVector<Tensor> broadcastTogether(LocBuilder &b, mlir::ValueRange operands);
/// Sum, product, maximum or minimum along `axes`, which are dropped.
Tensor reduceAlong(const Tensor &x, tensorrt::ReduceOperation operation, llvm::ArrayRef<int64_t> axes);
/// As above with the axes kept, and repeated to x's shape.
Tensor reduceAndRepeat(const Tensor &x, tensorrt::ReduceOperation operation, llvm::ArrayRef<int64_t> axes);
/// exp(x - max) / sum along an axis.
Tensor softmax(const Tensor &x, int64_t axis);
/// Slices of one element of each indexed dimension, at index vectors in the last dimension of `indices`, which index
/// the dimensions `first`, `first + 1`...; the dimensions in front of `first` are batches. All indices must be inside.
Tensor gatherVectors(const Tensor &data, const Tensor &indices, int64_t first, mlir::RankedTensorType type);

} // namespace latewood::input
