// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strings in pass options. MLIR's textual pipelines lose quotes, braces, leading blanks and, in lists, commas; so every
// string that comes from outside is percent-encoded on its way into an option: what is left is [A-Za-z0-9_+./:=@-] and
// `%XX`.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <string>

namespace latewood::driver {

std::string encodeOptionText(llvm::StringRef text);

/// The inverse. A `%` that no two hexadecimal digits follow stands for itself, so that a plain value may be written by
/// hand.
std::string decodeOptionText(llvm::StringRef text);

} // namespace latewood::driver
