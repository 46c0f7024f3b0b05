// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that are whole or not there.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace latewood::driver {

/// Writes a file; "-" is standard output. It is written beside its place and renamed: a failure or a signal leaves what
/// was there before. What is no file (a device, a pipe) is written where it is, and links stay links.
llvm::Error writeFile(llvm::StringRef path, llvm::StringRef data);

} // namespace latewood::driver
