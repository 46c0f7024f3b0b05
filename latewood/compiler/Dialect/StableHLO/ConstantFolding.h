// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluation of ops on constant tensors.
//
// Folding never changes what a program computes: integers wrap as at run time; floating-point values are folded for f32
// and f64 only, where one correctly rounded operation is what the machine does too; and a NaN is never made, as its
// bits are the machine's choice. Large tensors are not folded, since that trades instructions for memory; a splat costs
// nothing and is.

#ifndef LATEWOOD_COMPILER_DIALECT_STABLEHLO_CONSTANTFOLDING_H
#define LATEWOOD_COMPILER_DIALECT_STABLEHLO_CONSTANTFOLDING_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include <optional>

namespace latewood::stablehlo {

/// The largest number of elements that folding evaluates one by one.
inline constexpr int64_t maxFoldedElements = 256;

/// True if a tensor of this type may be written out as a constant.
inline bool isFoldableShape(mlir::ShapedType type) {
  return type.hasStaticShape() && type.getNumElements() <= maxFoldedElements;
}

/// True for the floating-point types whose arithmetic is folded.
inline bool isFoldableFloat(mlir::Type type) { return type.isF32() || type.isF64(); }

/// Applies `function` to corresponding elements of constants of element kind `T` (APInt or APFloat) and collects what
/// it returns (APInt or APFloat, in a std::optional; no value stops folding). A splat operand counts as broadcast. Null
/// if an operand is not constant or the result would be large.
template <typename T, typename Function>
mlir::Attribute foldElements(mlir::Type resultType, llvm::ArrayRef<mlir::Attribute> operands, Function function) {
  using Result = typename std::decay_t<decltype(*function(std::declval<llvm::ArrayRef<T>>()))>;
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(resultType);
  if (!type || !type.hasStaticShape() || !type.getElementType().isIntOrFloat())
    return {};
  llvm::SmallVector<mlir::DenseElementsAttr> constants;
  bool allSplat = true;
  for (mlir::Attribute operand : operands) {
    auto constant = llvm::dyn_cast_or_null<mlir::DenseElementsAttr>(operand);
    if (!constant || constant.empty())
      return {};
    allSplat &= constant.isSplat();
    constants.push_back(constant);
  }
  if (type.getNumElements() == 0 || (!allSplat && !isFoldableShape(type)))
    return {};

  llvm::SmallVector<T> values;
  llvm::SmallVector<Result> results;
  for (int64_t i = 0, end = allSplat ? 1 : type.getNumElements(); i < end; ++i) {
    values.clear();
    for (mlir::DenseElementsAttr constant : constants)
      values.push_back(constant.isSplat() ? constant.getSplatValue<T>() : constant.getValues<T>()[i]);
    std::optional<Result> result = function(llvm::ArrayRef<T>(values));
    if (!result)
      return {};
    results.push_back(*result);
  }
  return mlir::DenseElementsAttr::get(type, llvm::ArrayRef<Result>(results));
}

/// The splat of an integer over a static tensor type; null for a dynamic one.
inline mlir::Attribute splatInteger(mlir::Type type, int64_t value) {
  auto tensor = llvm::cast<mlir::RankedTensorType>(type);
  if (!tensor.hasStaticShape() || !tensor.getElementType().isIntOrFloat())
    return {};
  unsigned width = tensor.getElementType().getIntOrFloatBitWidth();
  return mlir::DenseElementsAttr::get(tensor, llvm::APInt(width, value, /*isSigned=*/true, /*implicitTrunc=*/true));
}

/// True if the attribute is a splat of an integer with the given value (in two's complement).
inline bool isSplatInteger(mlir::Attribute attribute, int64_t value) {
  auto constant = llvm::dyn_cast_or_null<mlir::DenseIntElementsAttr>(attribute);
  if (!constant || !constant.isSplat() || constant.empty())
    return false;
  llvm::APInt actual = constant.getSplatValue<llvm::APInt>();
  return actual == llvm::APInt(actual.getBitWidth(), value, /*isSigned=*/true, /*implicitTrunc=*/true);
}

/// True if the attribute is a splat of a floating-point number that equals `value` exactly, sign of zero included.
inline bool isSplatFloat(mlir::Attribute attribute, double value) {
  auto constant = llvm::dyn_cast_or_null<mlir::DenseFPElementsAttr>(attribute);
  if (!constant || !constant.isSplat() || constant.empty())
    return false;
  return constant.getSplatValue<llvm::APFloat>().isExactlyValue(value);
}

} // namespace latewood::stablehlo

#endif // LATEWOOD_COMPILER_DIALECT_STABLEHLO_CONSTANTFOLDING_H
