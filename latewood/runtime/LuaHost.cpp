// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interpreters. Everything that can raise a Lua error runs inside a protected call, also making the tables and loading
// the program; what crosses that border is a pointer to a structure outside.

#include "latewood/runtime/LuaHost.h"

#include "latewood/runtime/FaultInjection.h"
#include "latewood/runtime/LuaLibrary.h"
#include "latewood/runtime/LuaModules.h"

#include <cstdlib>
#include <lua.hpp>

namespace latewood::runtime {

namespace {
/// A host program keeps small numbers and addresses; one that needs more than this has lost its way.
constexpr size_t memoryLimit = size_t(256) << 20;

void *allocate(void *counter, void *block, size_t oldSize, size_t newSize) {
  auto &used = *static_cast<size_t *>(counter);
  if (!block)
    oldSize = 0; // then it says what kind of object it is for
  if (newSize == 0) {
    std::free(block);
    used -= oldSize;
    return nullptr;
  }
  if (newSize > oldSize && (newSize - oldSize > memoryLimit - used || faults::strike()))
    return nullptr;
  void *result = std::realloc(block, newSize);
  if (result)
    used += newSize - oldSize;
  return result;
}

/// An interpreter without libraries.
class State {
public:
  State() : lua(lua_newstate(allocate, &used)) {
    if (lua)
      *static_cast<LuaContext **>(lua_getextraspace(lua)) = &context;
  }
  ~State() {
    if (lua)
      lua_close(lua);
  }
  State(const State &) = delete;
  State &operator=(const State &) = delete;

  /// Calls function(argument), which leaves `results` values on the stack.
  Status run(lua_CFunction function, void *argument, int results) {
    if (!lua || !lua_checkstack(lua, 8))
      return outOfMemory("host program: no memory for the interpreter");
    lua_pushcfunction(lua, function);
    lua_pushlightuserdata(lua, argument);
    return finish(lua_pcall(lua, 1, results, 0));
  }

  /// The failure that a protected call has ended with, if any. A failure that is recorded in the call has no text.
  Status finish(int code) {
    if (code == LUA_OK)
      return okStatus();
    const char *text = lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1) : "";
    Status status = code == LUA_ERRMEM ? outOfMemory("host program: " + std::string(text))
                                       : internalError("host program: " + std::string(text));
    lua_pop(lua, 1);
    return status;
  }

  size_t used = 0;
  LuaContext context;
  lua_State *lua;
};

int raise(lua_State *lua, const char *format, const char *what) {
  lua_pushfstring(lua, format, what);
  return lua_error(lua);
}

//===--- Parsing -------------------------------------------------------------------------------------------------===//

struct Source {
  std::string_view text;
  bool isRead = false;
};

const char *read(lua_State *, void *data, size_t *size) {
  auto &source = *static_cast<Source *>(data);
  *size = source.isRead ? 0 : source.text.size();
  source.isRead = true;
  return *size ? source.text.data() : nullptr;
}

int append(lua_State *, const void *bytes, size_t size, void *target) noexcept {
  try {
    auto *first = static_cast<const char *>(bytes);
    static_cast<std::vector<char> *>(target)->insert(static_cast<std::vector<char> *>(target)->end(), first,
                                                     first + size);
    return 0;
  } catch (...) {
    return 1;
  }
}

struct Parsing {
  Source source;
  std::vector<char> *code;
};

/// Text only: a file must not bring code that the interpreter would believe.
int parseSource(lua_State *lua) {
  auto &parsing = *static_cast<Parsing *>(lua_touserdata(lua, 1));
  if (lua_load(lua, read, &parsing.source, "=host", "t") != LUA_OK)
    return lua_error(lua);
  if (lua_dump(lua, append, parsing.code, /*strip=*/0) != 0)
    return raise(lua, "not enough memory for '%s'", "the program");
  return 0;
}

//===--- Loading -------------------------------------------------------------------------------------------------===//

struct Loading {
  Source code;
  const std::string *symbols;
  size_t symbolCount;
};

struct Calling {
  size_t index;
  size_t argumentCount;
};

/// Upvalues: the functions, and the table of the arguments.
int callFunction(lua_State *lua) {
  auto &calling = *static_cast<Calling *>(lua_touserdata(lua, 1));
  lw_call *frame = (*static_cast<LuaContext **>(lua_getextraspace(lua)))->call;
  for (size_t i = 0; i < calling.argumentCount; ++i) {
    lua_pushlightuserdata(lua, frame->arguments[i]);
    lua_rawseti(lua, lua_upvalueindex(2), static_cast<lua_Integer>(i) + 1);
  }
  lua_rawgeti(lua, lua_upvalueindex(1), static_cast<lua_Integer>(calling.index) + 1);
  lua_pushvalue(lua, lua_upvalueindex(2));
  lua_call(lua, 1, 0);
  return 0;
}

/// Runs the program, which defines its functions, and leaves `callFunction` for them.
int loadProgram(lua_State *lua) {
  auto &loading = *static_cast<Loading *>(lua_touserdata(lua, 1));
  openLuaModules(lua);
  if (lua_load(lua, read, &loading.code, "=host", "b") != LUA_OK)
    return lua_error(lua);
  lua_call(lua, 0, 0);
  lua_createtable(lua, static_cast<int>(loading.symbolCount), 0);
  for (size_t i = 0; i < loading.symbolCount; ++i) {
    if (lua_getglobal(lua, loading.symbols[i].c_str()) != LUA_TFUNCTION)
      return raise(lua, "there is no function '%s'", loading.symbols[i].c_str());
    lua_rawseti(lua, -2, static_cast<lua_Integer>(i) + 1);
  }
  lua_newtable(lua);
  lua_pushcclosure(lua, callFunction, 2);
  return 1;
}
} // namespace

StatusOr<std::unique_ptr<LuaProgram>> LuaProgram::parse(std::string_view source, std::vector<std::string> symbols,
                                                        const Image *image) {
  LATEWOOD_RETURN_IF_ERROR(openLuaLibrary());
  State state;
  auto program = std::make_unique<LuaProgram>();
  Parsing parsing{{source}, &program->code};
  LATEWOOD_RETURN_IF_ERROR(state.run(parseSource, &parsing, 0));
  program->symbols = std::move(symbols);
  program->image = image;
  return program;
}

struct LuaState::Interpreter : State {};

LuaState::LuaState() : interpreter(std::make_unique<Interpreter>()) {}
LuaState::~LuaState() = default;

StatusOr<std::unique_ptr<LuaState>> LuaState::create(const LuaProgram &program) {
  std::unique_ptr<LuaState> state(new LuaState);
  state->interpreter->context.image = program.image;
  Loading loading{{{program.code.data(), program.code.size()}}, program.symbols.data(), program.symbols.size()};
  LATEWOOD_RETURN_IF_ERROR(state->interpreter->run(loadProgram, &loading, 1));
  return state;
}

int32_t LuaState::call(size_t index, lw_call *frame, size_t argumentCount) {
  Interpreter &self = *interpreter;
  self.context.call = frame;
  Calling calling{index, argumentCount};
  // The only value on the stack is the function that calls the others (and what a call may have left that found no
  // memory for its own failure).
  lua_settop(self.lua, 1);
  lua_pushvalue(self.lua, 1);
  lua_pushlightuserdata(self.lua, &calling);
  int code = lua_pcall(self.lua, 1, 0, 0);
  if (code == LUA_OK) [[likely]]
    return 0;
  bool isRecorded = lua_isnil(self.lua, -1);
  Status status = self.finish(code);
  if (isRecorded)
    return 1;
  return frame->api->fail(frame, static_cast<int32_t>(status.code()), status.message().data(),
                          static_cast<int64_t>(status.message().size()));
}

} // namespace latewood::runtime
