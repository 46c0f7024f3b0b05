// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `tensorrt` dialect in C++. TensorRTDialect.td says what it is for.
//
// To build a network from it: every op names the method of INetworkDefinition in its summary; attributes that are
// enumerations cast to those of nvinfer1. A Value's ConstantOp, where `getConstant` finds one, is what becomes weights.

#ifndef LATEWOOD_COMPILER_DIALECT_TENSORRT_TENSORRT_H
#define LATEWOOD_COMPILER_DIALECT_TENSORRT_TENSORRT_H

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include <functional>

#include "latewood/compiler/Dialect/TensorRT/TensorRTDialect.h.inc"
#include "latewood/compiler/Dialect/TensorRT/TensorRTEnums.h.inc"

namespace latewood::tensorrt {

/// The most dimensions that a tensor may have.
inline constexpr int64_t kMaxRank = 8;
/// The most elements that a top_k layer can find.
inline constexpr int64_t kMaxTopK = 3840;

/// The constant that `value` is, or null.
mlir::DenseElementsAttr getConstant(mlir::Value value);

/// The elements of a constant of integers, or nothing. A null value gives nothing.
std::optional<llvm::SmallVector<int64_t>> getConstantInts(mlir::Value value);

/// Dimensions of an axis list as the bit mask that nvinfer1 takes.
uint32_t toAxisMask(llvm::ArrayRef<int64_t> axes);

/// The shape of operands that broadcast against each other: equal ranks, extents equal or 1. Nothing, if they do not.
/// Where an extent is not known and the other one is 1 or not known either, the result's is not known.
std::optional<llvm::SmallVector<int64_t>> broadcastShapes(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes);

/// True if `shape` can be repeated to `onto`, which keeps its own extents: equal ranks, extents equal or 1.
bool broadcastsOnto(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> onto);

/// The shape of `shuffle`'s reshape step on a tensor of shape `input`. Nothing if it does not fit.
std::optional<llvm::SmallVector<int64_t>> resolveReshape(llvm::ArrayRef<int64_t> input, llvm::ArrayRef<int64_t> reshape,
                                                         bool zeroIsPlaceholder);

/// An einsum's equation, taken apart.
struct EinsumEquation {
  llvm::SmallVector<std::string> inputs; // one letter a dimension
  std::string output;
};
/// Fails with a sentence that says what is wrong with it.
std::optional<EinsumEquation> parseEinsum(llvm::StringRef equation, std::string &error);

} // namespace latewood::tensorrt

#define GET_ATTRDEF_CLASSES
#include "latewood/compiler/Dialect/TensorRT/TensorRTAttributes.h.inc"

#define GET_OP_CLASSES
#include "latewood/compiler/Dialect/TensorRT/TensorRTOps.h.inc"

#endif // LATEWOOD_COMPILER_DIALECT_TENSORRT_TENSORRT_H
