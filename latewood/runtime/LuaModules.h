// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables that a Lua host program works with (LuaHost.h lists them). Internal.

#ifndef LATEWOOD_RUNTIME_LUAMODULES_H
#define LATEWOOD_RUNTIME_LUAMODULES_H

#include "latewood/format/abi.h"

struct lua_State;

namespace latewood::runtime {

class Image;

/// What the functions of the modules work on; `lua_getextraspace` of the state points at it.
struct LuaContext {
  lw_call *call = nullptr;
  const Image *image = nullptr;
};

/// Makes the tables, as globals. May raise a Lua error (no memory).
void openLuaModules(lua_State *lua);

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_LUAMODULES_H
