// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lua's functions are defined here under their own names, for this library only; each goes on to the function of that
// name in the library that was opened. So the rest of the runtime is written against Lua's header as if it were linked.
// Errors of Lua jump across these functions, which have nothing to destroy.

#include "latewood/runtime/LuaLibrary.h"

#include <cstdarg>
#include <dlfcn.h>
#include <lua.hpp>
#include <mutex>

// What the runtime uses: X(result, name, parameters, arguments). lua_pushfstring is made of lua_pushvfstring.
// clang-format off
#define LATEWOOD_LUA_FUNCTIONS(X)                                                                                      \
  X(lua_State *, lua_newstate, (lua_Alloc f, void *data), (f, data))                                                   \
  X(void, lua_close, (lua_State *L), (L))                                                                              \
  X(int, lua_gettop, (lua_State *L), (L))                                                                              \
  X(void, lua_settop, (lua_State *L, int index), (L, index))                                                           \
  X(void, lua_pushvalue, (lua_State *L, int index), (L, index))                                                        \
  X(int, lua_checkstack, (lua_State *L, int count), (L, count))                                                        \
  X(int, lua_isinteger, (lua_State *L, int index), (L, index))                                                         \
  X(int, lua_type, (lua_State *L, int index), (L, index))                                                              \
  X(const char *, lua_typename, (lua_State *L, int type), (L, type))                                                   \
  X(lua_Integer, lua_tointegerx, (lua_State *L, int index, int *isNumber), (L, index, isNumber))                       \
  X(int, lua_toboolean, (lua_State *L, int index), (L, index))                                                         \
  X(const char *, lua_tolstring, (lua_State *L, int index, size_t *length), (L, index, length))                        \
  X(lua_Unsigned, lua_rawlen, (lua_State *L, int index), (L, index))                                                   \
  X(void *, lua_touserdata, (lua_State *L, int index), (L, index))                                                     \
  X(void, lua_pushnil, (lua_State *L), (L))                                                                            \
  X(void, lua_pushinteger, (lua_State *L, lua_Integer number), (L, number))                                            \
  X(const char *, lua_pushvfstring, (lua_State *L, const char *format, va_list values), (L, format, values))           \
  X(void, lua_pushcclosure, (lua_State *L, lua_CFunction function, int upvalues), (L, function, upvalues))             \
  X(void, lua_pushboolean, (lua_State *L, int value), (L, value))                                                      \
  X(void, lua_pushlightuserdata, (lua_State *L, void *address), (L, address))                                          \
  X(int, lua_getglobal, (lua_State *L, const char *name), (L, name))                                                   \
  X(int, lua_rawgeti, (lua_State *L, int index, lua_Integer n), (L, index, n))                                         \
  X(void, lua_createtable, (lua_State *L, int elements, int fields), (L, elements, fields))                            \
  X(void *, lua_newuserdatauv, (lua_State *L, size_t size, int values), (L, size, values))                             \
  X(void, lua_setglobal, (lua_State *L, const char *name), (L, name))                                                  \
  X(void, lua_setfield, (lua_State *L, int index, const char *name), (L, index, name))                                 \
  X(void, lua_rawseti, (lua_State *L, int index, lua_Integer n), (L, index, n))                                        \
  X(void, lua_callk, (lua_State *L, int arguments, int results, lua_KContext context, lua_KFunction k),                \
    (L, arguments, results, context, k))                                                                               \
  X(int, lua_pcallk, (lua_State *L, int arguments, int results, int handler, lua_KContext context, lua_KFunction k),   \
    (L, arguments, results, handler, context, k))                                                                      \
  X(int, lua_load, (lua_State *L, lua_Reader reader, void *data, const char *name, const char *mode),                  \
    (L, reader, data, name, mode))                                                                                     \
  X(int, lua_dump, (lua_State *L, lua_Writer writer, void *data, int strip), (L, writer, data, strip))                 \
  X(int, lua_error, (lua_State *L), (L))
// clang-format on

namespace {
struct LuaFunctions {
#define LATEWOOD_MEMBER(result, name, parameters, arguments) result(*name) parameters;
  LATEWOOD_LUA_FUNCTIONS(LATEWOOD_MEMBER)
#undef LATEWOOD_MEMBER
};
LuaFunctions functions;
} // namespace

extern "C" {
#define LATEWOOD_DEFINE(result, name, parameters, arguments)                                                           \
  __attribute__((visibility("hidden"))) result(name) parameters { return functions.name arguments; }
LATEWOOD_LUA_FUNCTIONS(LATEWOOD_DEFINE)
#undef LATEWOOD_DEFINE

__attribute__((visibility("hidden"))) const char *(lua_pushfstring)(lua_State * L, const char *format, ...) {
  va_list values;
  va_start(values, format);
  const char *text = functions.lua_pushvfstring(L, format, values);
  va_end(values);
  return text;
}
}

namespace latewood::runtime {

Status openLuaLibrary() {
  static std::mutex mutex;
  static bool isOpen = false;
  std::lock_guard lock(mutex);
  if (isOpen)
    return okStatus();
  auto refuse = [](std::string why) {
    return unavailable("the host program is in Lua, whose library cannot be used: " + std::move(why) +
                       "; install Lua 5.4 (on Debian the package liblua5.4-0), or compile the program with "
                       "--host=native");
  };
  void *library = nullptr;
  std::string problem;
  // The names that Debian, and others, give it.
  for (const char *name : {LATEWOOD_LUA_SONAME, "liblua5.4.so.0", "liblua.so.5.4", "liblua5.4.so"}) {
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library)
      break;
    const char *why = dlerror();
    if (problem.empty())
      problem = why ? why : name;
  }
  if (!library)
    return refuse(problem);
  // Never closed: interpreters may live as long as the process.
#define LATEWOOD_FIND(result, name, parameters, arguments)                                                             \
  functions.name = reinterpret_cast<result(*) parameters>(dlsym(library, #name));                                      \
  if (!functions.name)                                                                                                 \
    return refuse("it has no function " #name);
  LATEWOOD_LUA_FUNCTIONS(LATEWOOD_FIND)
#undef LATEWOOD_FIND
  isOpen = true;
  return okStatus();
}

} // namespace latewood::runtime
