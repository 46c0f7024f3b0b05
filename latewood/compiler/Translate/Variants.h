// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same program compiled for several targets, made into one.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include <cstdint>
#include <vector>

namespace latewood::translate {

/// Gives the variants the same list of constants, so that constant number i is the same in each: code finds constants
/// by number, and a file has one list. What only some variants need is added to the others, unused. Returns for each
/// constant the one variant that uses it, or -1.
std::vector<int32_t> shareConstants(mlir::ArrayRef<mlir::ModuleOp> variants);

/// Fails, with an error, unless all variants have the same functions with the same signatures.
mlir::LogicalResult checkSameFunctions(mlir::ArrayRef<mlir::ModuleOp> variants);

} // namespace latewood::translate
