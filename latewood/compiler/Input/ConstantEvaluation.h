// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What small integer tensors (shapes, paddings, limits) are known to hold. Programs with computed shapes build them
// from constants and extents, so that one element of a tensor may be known where another is not.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace latewood::input {

/// The value of `value` when folding what computes it gives a constant, else null.
mlir::Attribute evaluate(mlir::Value value);

/// All elements of an integer tensor of static shape, row-major, when all are known.
std::optional<llvm::SmallVector<int64_t>> evaluateIntegers(mlir::Value value);

/// Element `index` (row-major) of an integer tensor of static shape, when it is known.
std::optional<int64_t> evaluateElement(mlir::Value value, int64_t index);

/// The elements of a tensor of `count` extents, `?` (ShapedType::kDynamic) for those that are not known.
llvm::SmallVector<int64_t> evaluateExtents(mlir::Value value, int64_t count);

} // namespace latewood::input
