// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shape rules that many ops share. Everywhere `?` (ShapedType::kDynamic) means "not known": it agrees with any extent,
// and what is computed from it is not known either. Functions that find a broken constraint report it through
// `emitOptionalError`, with the op's name and the constraint's number, since inference runs before an op exists.

#ifndef LATEWOOD_COMPILER_DIALECT_STABLEHLO_SHAPES_H
#define LATEWOOD_COMPILER_DIALECT_STABLEHLO_SHAPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/TypeRange.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace latewood::stablehlo {

/// True if the types agree pairwise: equal, or tensors of equal element type whose shapes agree up to `?`.
bool areCompatible(mlir::TypeRange lhs, mlir::TypeRange rhs);
/// As `areCompatible`, but elements may be quantized with different scales and zero points.
bool haveCompatibleBaselines(mlir::TypeRange lhs, mlir::TypeRange rhs);
/// As `areCompatible`, without looking at element types.
bool haveCompatibleShapes(mlir::TypeRange lhs, mlir::TypeRange rhs);

/// True if two extents can be equal.
inline bool extentsAgree(int64_t lhs, int64_t rhs) {
  return lhs == rhs || mlir::ShapedType::isDynamic(lhs) || mlir::ShapedType::isDynamic(rhs);
}

/// Reports that a constraint of the named op does not hold. Always fails.
template <typename... Args>
llvm::LogicalResult emitConstraint(std::optional<mlir::Location> location, llvm::StringRef op,
                                   llvm::StringRef constraint, Args &&...message) {
  return mlir::emitOptionalError(location, "'", op, "' op (", constraint, ") ", std::forward<Args>(message)...);
}

/// Reports that the op's result types are not those that follow from its operands. Always fails.
llvm::LogicalResult emitWrongResultTypes(mlir::Operation *op, mlir::TypeRange expected);

/// The type of an elementwise result: operands must have one element type, up to scales and zero points, and agreeing
/// shapes (C1); of each dimension the known extent is taken.
llvm::LogicalResult inferElementwise(llvm::StringRef op, std::optional<mlir::Location> location,
                                     mlir::TypeRange operands, llvm::SmallVectorImpl<mlir::Type> &types);

/// Merges `other` into `shape`: known extents replace `?`. Fails, silently, if ranks or known extents differ.
llvm::LogicalResult mergeShape(llvm::SmallVectorImpl<int64_t> &shape, llvm::ArrayRef<int64_t> other);

/// True if all entries are at least 0 and less than `limit`.
bool areInRange(llvm::ArrayRef<int64_t> dimensions, int64_t limit);
/// True if no entry stands twice in the concatenation of both lists.
bool areUnique(llvm::ArrayRef<int64_t> dimensions, llvm::ArrayRef<int64_t> more = {});

/// Checks that `operand` can be broadcast to `result`, its dimensions becoming `dimensions` of it: the constraints C2
/// to C5 of broadcast_in_dim and of its dynamic form.
llvm::LogicalResult verifyBroadcast(mlir::Operation *op, mlir::RankedTensorType operand, mlir::RankedTensorType result,
                                    llvm::ArrayRef<int64_t> dimensions);

/// Arithmetic on extents with a result that does not fit in 63 bits gives the largest extent instead, which no tensor
/// has.
int64_t saturate(__int128 extent);

/// One dimension of a sliding window.
struct WindowDimension {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t baseDilation = 1;
  int64_t windowDilation = 1;
  int64_t low = 0;
  int64_t high = 0;
};
/// The number of positions of a window along an extent (`?` if either is not known).
int64_t countWindows(int64_t extent, const WindowDimension &window);
/// The size of a window that covers any dimension, whatever its extent: longer than a tensor can be, so that a scan
/// along a dynamic dimension can be written with it.
inline constexpr int64_t kWholeWindow = int64_t(1) << 40;

/// The dimensions of a product of tensors that are batched and contracted, on each side.
struct DotDimensions {
  llvm::ArrayRef<int64_t> lhsBatching, rhsBatching, lhsContracting, rhsContracting;
};
/// The shape of a product of tensors: batch, free dimensions of lhs, free dimensions of rhs without `rhsGroups`.
/// Reports broken constraints by the numbers that dot_general has for them, or all as `constraint`.
llvm::FailureOr<llvm::SmallVector<int64_t>> inferDotShape(llvm::StringRef op, std::optional<mlir::Location> location,
                                                          mlir::RankedTensorType lhs, mlir::RankedTensorType rhs,
                                                          const DotDimensions &dimensions,
                                                          llvm::ArrayRef<int64_t> rhsGroups = {},
                                                          llvm::StringRef constraint = {});

/// The element type of a complex type's parts, or the type itself.
mlir::Type getRealType(mlir::Type elementType);

/// True for a quantized element type, or a tensor of such elements.
bool isQuantized(mlir::Type type);
/// True for a tensor of elements that are quantized per axis, with one scale for each slice.
bool isPerAxisQuantized(mlir::RankedTensorType type);
/// The dimension of a per-axis quantization, or nothing.
std::optional<int64_t> getQuantizedDimension(mlir::Type elementType);
/// A per-axis quantized type with another dimension; any other type as it is.
mlir::Type withQuantizedDimension(mlir::Type elementType, int64_t dimension);
/// The integer type that holds a quantized element, and the float type of the numbers that such integers stand for.
/// Any other type as it is.
mlir::Type getStorageType(mlir::Type elementType);
mlir::Type getExpressedType(mlir::Type elementType);
/// True if two element types are equal up to scales and zero points.
bool haveSameBaseline(mlir::Type lhs, mlir::Type rhs);

/// True if a value of element type `from` can be accumulated in `to`: equal, or both signed, both unsigned, both
/// floating-point or both complex, and `to` not narrower; or both quantized, where that holds of their storage types.
bool isPromotable(mlir::Type from, mlir::Type to);

} // namespace latewood::stablehlo

#endif // LATEWOOD_COMPILER_DIALECT_STABLEHLO_SHAPES_H
