// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bytes of constants as the executable file holds them.
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include <cstdint>
#include <vector>

namespace latewood::translate {

/// Elements in row-major order, little endian, each in a whole number of bytes (i1: 0 or 1; sub-byte types: one byte
/// each). Fails for attributes whose elements cannot be read as bytes.
mlir::FailureOr<std::vector<uint8_t>> getConstantData(mlir::ElementsAttr value);

} // namespace latewood::translate
