// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The Lua library, opened when the first host program in Lua is loaded: machines that run native host programs only
// need not have it. Internal.

#ifndef LATEWOOD_RUNTIME_LUALIBRARY_H
#define LATEWOOD_RUNTIME_LUALIBRARY_H

#include "latewood/runtime/Status.h"

namespace latewood::runtime {

/// Before the first use of a Lua function. Fails where the library is not installed, and tries again the next time.
Status openLuaLibrary();

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_LUALIBRARY_H
