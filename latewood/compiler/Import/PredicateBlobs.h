// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Large boolean constants are written as strings of hexadecimal digits, in one of two ways: MLIR up to 22 reads and
// writes one bit an element, later ones a byte an element. Here the second becomes the first, so that texts of both are
// read. The two differ in length for more than one element, so which one a constant has is never guessed.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace latewood::import {

/// The text with every `dense<"0x…"> : tensor<…xi1>` of a byte an element packed to bits; nothing if there is none.
/// Lines stay lines.
std::optional<std::string> packPredicateBlobs(llvm::StringRef text);

} // namespace latewood::import
