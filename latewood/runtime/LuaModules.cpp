// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a Lua host program can do. Each function checks the types of what it is given, because a mistake there would
// otherwise crash far away; addresses and sizes it must believe. None has local objects with destructors: a Lua error
// jumps. Lua's auxiliary library is not used: it brings files and standard error with it.

#include "latewood/runtime/LuaModules.h"

#include "latewood/runtime/ImageLoader.h"
#include "latewood/runtime/TraceEvents.h"

#include <algorithm>
#include <cstring>
#include <lua.hpp>
#include <span>
#include <utility>

namespace latewood::runtime {

namespace {
constexpr int maxValues = 64;

LuaContext &contextOf(lua_State *lua) { return **static_cast<LuaContext **>(lua_getextraspace(lua)); }
lw_call *callOf(lua_State *lua) { return contextOf(lua).call; }

/// Ends the program; the failure is recorded.
int raise(lua_State *lua) {
  lua_pushnil(lua);
  return lua_error(lua);
}

/// Ends the program: an operand is not what it must be.
[[noreturn]] void raiseOperand(lua_State *lua, int index, const char *expected) {
  lua_pushfstring(lua, "operand %d: expected %s, got %s", index, expected, lua_typename(lua, lua_type(lua, index)));
  lua_error(lua);
  __builtin_unreachable();
}

int64_t checkInteger(lua_State *lua, int index) {
  int isInteger = 0;
  lua_Integer value = lua_isinteger(lua, index) ? lua_tointegerx(lua, index, &isInteger) : 0;
  if (!isInteger)
    raiseOperand(lua, index, "an integer");
  return value;
}

uint8_t *checkBuffer(lua_State *lua, int index) {
  if (!lua_islightuserdata(lua, index))
    raiseOperand(lua, index, "a buffer");
  return static_cast<uint8_t *>(lua_touserdata(lua, index));
}

const char *checkString(lua_State *lua, int index, size_t &length) {
  if (lua_type(lua, index) != LUA_TSTRING)
    raiseOperand(lua, index, "a string");
  return lua_tolstring(lua, index, &length);
}

/// A value as a word: an address, an integer, 0 or 1.
int64_t checkWord(lua_State *lua, int index) {
  switch (lua_type(lua, index)) {
  case LUA_TLIGHTUSERDATA:
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(lua_touserdata(lua, index)));
  case LUA_TBOOLEAN:
    return lua_toboolean(lua, index);
  default:
    return checkInteger(lua, index);
  }
}

/// The values from `first` on; their number.
int checkWords(lua_State *lua, int first, int64_t *words) {
  int count = lua_gettop(lua) - first + 1;
  if (count > maxValues)
    raiseOperand(lua, first + maxValues, "nothing");
  for (int i = 0; i < count; ++i)
    words[i] = checkWord(lua, first + i);
  return std::max(count, 0);
}

/// The words of the table at `index`, in memory that Lua owns; their number.
int64_t *tableWords(lua_State *lua, int index, lua_Integer &count) {
  if (!lua_istable(lua, index))
    raiseOperand(lua, index, "a table");
  count = static_cast<lua_Integer>(lua_rawlen(lua, index));
  auto *words = static_cast<int64_t *>(lua_newuserdatauv(lua, static_cast<size_t>(count) * sizeof(int64_t), 0));
  for (lua_Integer i = 0; i < count; ++i) {
    lua_rawgeti(lua, index, i + 1);
    words[i] = checkWord(lua, -1);
    lua_pop(lua, 1);
  }
  return words;
}

//===--- core ----------------------------------------------------------------------------------------------------===//

int coreDim(lua_State *lua) {
  lua_pushinteger(lua, callOf(lua)->argument_shapes[checkInteger(lua, 1)][checkInteger(lua, 2)]);
  return 1;
}

int coreConstant(lua_State *lua) {
  lua_pushlightuserdata(lua, const_cast<void *>(callOf(lua)->constants[checkInteger(lua, 1)]));
  return 1;
}

int coreWorkspace(lua_State *lua) {
  lua_pushlightuserdata(lua, static_cast<uint8_t *>(callOf(lua)->workspace) + checkInteger(lua, 1));
  return 1;
}

/// The product of element size and extents; the largest number where it does not fit, -1 if an extent is negative.
int coreBytes(lua_State *lua) {
  int64_t words[maxValues];
  int count = checkWords(lua, 1, words);
  int64_t bytes = 1;
  bool isNegative = false;
  for (int i = 0; i < count; ++i) {
    if (__builtin_mul_overflow(bytes, words[i], &bytes))
      bytes = INT64_MAX;
    isNegative |= words[i] < 0;
  }
  lua_pushinteger(lua, isNegative ? -1 : bytes);
  return 1;
}

/// request(slot, bytes, alignment, extents...): without extents the shape is static, or not known yet.
int coreRequest(lua_State *lua) {
  int64_t extents[maxValues];
  int64_t slot = checkInteger(lua, 1), bytes = checkInteger(lua, 2), alignment = checkInteger(lua, 3);
  int rank = checkWords(lua, 4, extents);
  lw_call *call = callOf(lua);
  void *memory = call->api->request(call, slot, bytes, alignment, rank != 0 ? extents : nullptr);
  if (!memory)
    return raise(lua);
  lua_pushlightuserdata(lua, memory);
  return 1;
}

int coreShape(lua_State *lua) {
  int64_t extents[maxValues] = {};
  int64_t slot = checkInteger(lua, 1);
  checkWords(lua, 2, extents);
  lw_call *call = callOf(lua);
  return call->api->shape(call, slot, extents) == 0 ? 0 : raise(lua);
}

int coreAlloc(lua_State *lua) {
  lw_call *call = callOf(lua);
  void *memory = call->api->allocate(call, checkInteger(lua, 1), LATEWOOD_ALIGNMENT);
  if (!memory)
    return raise(lua);
  lua_pushlightuserdata(lua, memory);
  return 1;
}

int coreFree(lua_State *lua) {
  lw_call *call = callOf(lua);
  call->api->release(call, checkBuffer(lua, 1));
  return 0;
}

int coreOffset(lua_State *lua) {
  lua_pushlightuserdata(lua, checkBuffer(lua, 1) + checkInteger(lua, 2));
  return 1;
}

/// copy(target, source, bytes)
int coreCopy(lua_State *lua) {
  uint8_t *target = checkBuffer(lua, 1);
  const uint8_t *source = checkBuffer(lua, 2);
  std::memmove(target, source, static_cast<size_t>(std::max<int64_t>(checkInteger(lua, 3), 0)));
  return 0;
}

/// fill(buffer, bytes, bits, size): elements of `size` bytes with these bits.
int coreFill(lua_State *lua) {
  uint8_t *buffer = checkBuffer(lua, 1);
  int64_t bytes = checkInteger(lua, 2), bits = checkInteger(lua, 3), size = checkInteger(lua, 4);
  if (size < 1 || size > 8)
    raiseOperand(lua, 4, "1 to 8");
  for (int64_t offset = 0; offset < bytes; offset += size)
    std::memcpy(buffer + offset, &bits, static_cast<size_t>(size));
  return 0;
}

/// load(buffer, offset)
template <typename T>
int coreLoad(lua_State *lua) {
  T value;
  std::memcpy(&value, checkBuffer(lua, 1) + checkInteger(lua, 2), sizeof value);
  lua_pushinteger(lua, value);
  return 1;
}

int coreLoadBoolean(lua_State *lua) {
  lua_pushboolean(lua, checkBuffer(lua, 1)[checkInteger(lua, 2)] != 0);
  return 1;
}

/// store(buffer, offset, value)
template <typename T>
int coreStore(lua_State *lua) {
  auto value = static_cast<T>(checkWord(lua, 3));
  std::memcpy(checkBuffer(lua, 1) + checkInteger(lua, 2), &value, sizeof value);
  return 0;
}

/// fail(message, values...)
int coreFail(lua_State *lua) {
  int64_t values[maxValues];
  size_t length = 0;
  const char *message = checkString(lua, 1, length);
  int count = checkWords(lua, 2, values);
  lw_call *call = callOf(lua);
  call->api->fail_format(call, message, static_cast<int64_t>(length), values, count);
  return raise(lua);
}

//===--- cpu -----------------------------------------------------------------------------------------------------===//

using Kernel = void (*)(lw_call *call, const int64_t *words);

void *findKernel(const Image *image, const char *name) noexcept {
  try {
    return image ? image->find(name) : nullptr;
  } catch (...) {
    return nullptr;
  }
}

int cpuKernel(lua_State *lua) {
  size_t length = 0;
  const char *name = checkString(lua, 1, length);
  void *kernel = findKernel(contextOf(lua).image, name);
  if (!kernel) {
    lua_pushfstring(lua, "the image has no function '%s'", name);
    return lua_error(lua);
  }
  lua_pushlightuserdata(lua, kernel);
  return 1;
}

/// Outside of the function that can raise errors: it has something to destroy.
void launch(const LuaContext &context, Kernel kernel, const int64_t *words) noexcept {
  const void *code = reinterpret_cast<const void *>(kernel);
  if (trace::isOn() && context.image && trace::needsName(code))
    trace::nameCode(code, context.image->nameOf(code));
  trace::Span span("launch", "launch", code, {}, {});
  kernel(context.call, words);
}

/// launch(kernel, operands...) or launch(kernel, {operands...})
int cpuLaunch(lua_State *lua) {
  auto kernel = reinterpret_cast<Kernel>(checkBuffer(lua, 1));
  int64_t few[maxValues];
  int64_t *words = few;
  lua_Integer count;
  if (lua_istable(lua, 2))
    words = tableWords(lua, 2, count);
  else
    checkWords(lua, 2, words);
  launch(contextOf(lua), kernel, words);
  lw_call *call = callOf(lua);
  return call->api->has_failed(call) == 0 ? 0 : raise(lua);
}

//===--- engine --------------------------------------------------------------------------------------------------===//

/// Operands from words: data, rank, extents, for each. A rank of -1: the data is a number, which is put into memory.
lw_operand *checkOperands(lua_State *lua, int index, lua_Integer &count) {
  lua_Integer words;
  int64_t *list = tableWords(lua, index, words);
  auto *operands =
      static_cast<lw_operand *>(lua_newuserdatauv(lua, static_cast<size_t>(words) * sizeof(lw_operand), 0));
  count = 0;
  for (lua_Integer at = 0; at + 1 < words; at += 2 + std::max<int64_t>(list[at + 1], 0)) {
    bool isNumber = list[at + 1] < 0;
    operands[count++] = {isNumber ? static_cast<void *>(list + at) : reinterpret_cast<void *>(list[at]), list + at + 2};
  }
  return operands;
}

/// alloc(bytes): memory of the engines' device
int engineAlloc(lua_State *lua) {
  lw_call *call = callOf(lua);
  void *memory = call->api->allocate_device(call, checkInteger(lua, 1));
  if (!memory)
    return raise(lua);
  lua_pushlightuserdata(lua, memory);
  return 1;
}

/// enqueue(engine, {input words...}, {output words...})
int engineEnqueue(lua_State *lua) {
  lua_Integer inputs, outputs;
  int64_t number = checkInteger(lua, 1);
  lw_operand *input = checkOperands(lua, 2, inputs), *output = checkOperands(lua, 3, outputs);
  lw_call *call = callOf(lua);
  return call->api->enqueue(call, number, input, inputs, output, outputs) == 0 ? 0 : raise(lua);
}

/// enqueue_alloc(engine, {input words...}, {slot, rank, ...}): a table with each result's buffer and all its extents.
int engineEnqueueAlloc(lua_State *lua) {
  lua_Integer inputs, words;
  int64_t number = checkInteger(lua, 1);
  lw_operand *input = checkOperands(lua, 2, inputs);
  int64_t *list = tableWords(lua, 3, words);
  lua_Integer count = words / 2;
  auto bytes = static_cast<size_t>(count) * (sizeof(lw_operand) + sizeof(int64_t));
  auto *results = static_cast<lw_operand *>(lua_newuserdatauv(lua, bytes, 0));
  auto *slots = reinterpret_cast<int64_t *>(results + count);
  for (lua_Integer i = 0; i < count; ++i)
    slots[i] = list[2 * i];
  lw_call *call = callOf(lua);
  if (call->api->enqueue_alloc(call, number, input, inputs, slots, results, count) != 0)
    return raise(lua);
  lua_createtable(lua, static_cast<int>(words), 0);
  lua_Integer at = 0;
  for (lua_Integer i = 0; i < count; ++i) {
    lua_pushlightuserdata(lua, results[i].data);
    lua_rawseti(lua, -2, ++at);
    for (int64_t d = 0; d < list[2 * i + 1]; ++d) {
      lua_pushinteger(lua, results[i].extents[d]);
      lua_rawseti(lua, -2, ++at);
    }
  }
  return 1;
}

//===--- int -----------------------------------------------------------------------------------------------------===//

int intDivS(lua_State *lua) {
  int64_t a = checkInteger(lua, 1), b = checkInteger(lua, 2);
  lua_pushinteger(lua, b == 0 ? -1 : a == INT64_MIN && b == -1 ? a : a / b);
  return 1;
}

int intRemS(lua_State *lua) {
  int64_t a = checkInteger(lua, 1), b = checkInteger(lua, 2);
  lua_pushinteger(lua, b == 0 ? a : b == -1 ? 0 : a % b);
  return 1;
}

int intDivU(lua_State *lua) {
  auto a = static_cast<uint64_t>(checkInteger(lua, 1)), b = static_cast<uint64_t>(checkInteger(lua, 2));
  lua_pushinteger(lua, static_cast<int64_t>(b == 0 ? UINT64_MAX : a / b));
  return 1;
}

int intRemU(lua_State *lua) {
  auto a = static_cast<uint64_t>(checkInteger(lua, 1)), b = static_cast<uint64_t>(checkInteger(lua, 2));
  lua_pushinteger(lua, static_cast<int64_t>(b == 0 ? a : a % b));
  return 1;
}

int intShl(lua_State *lua) {
  auto a = static_cast<uint64_t>(checkInteger(lua, 1)), count = static_cast<uint64_t>(checkInteger(lua, 2));
  lua_pushinteger(lua, static_cast<int64_t>(count < 64 ? a << count : 0));
  return 1;
}

int intShrU(lua_State *lua) {
  auto a = static_cast<uint64_t>(checkInteger(lua, 1)), count = static_cast<uint64_t>(checkInteger(lua, 2));
  lua_pushinteger(lua, static_cast<int64_t>(count < 64 ? a >> count : 0));
  return 1;
}

int intShrS(lua_State *lua) {
  int64_t a = checkInteger(lua, 1);
  auto count = static_cast<uint64_t>(checkInteger(lua, 2));
  lua_pushinteger(lua, a >> std::min<uint64_t>(count, 63));
  return 1;
}

struct Function {
  const char *name;
  lua_CFunction function;
};
constexpr Function coreFunctions[] = {{"dim", coreDim},
                                      {"constant", coreConstant},
                                      {"workspace", coreWorkspace},
                                      {"bytes", coreBytes},
                                      {"request", coreRequest},
                                      {"shape", coreShape},
                                      {"alloc", coreAlloc},
                                      {"free", coreFree},
                                      {"offset", coreOffset},
                                      {"copy", coreCopy},
                                      {"fill", coreFill},
                                      {"load_i1", coreLoadBoolean},
                                      {"load_i8", coreLoad<int8_t>},
                                      {"load_i16", coreLoad<int16_t>},
                                      {"load_i32", coreLoad<int32_t>},
                                      {"load_i64", coreLoad<int64_t>},
                                      {"store_i1", coreStore<int8_t>},
                                      {"store_i8", coreStore<int8_t>},
                                      {"store_i16", coreStore<int16_t>},
                                      {"store_i32", coreStore<int32_t>},
                                      {"store_i64", coreStore<int64_t>},
                                      {"fail", coreFail}};
constexpr Function cpuFunctions[] = {{"kernel", cpuKernel}, {"launch", cpuLaunch}};
constexpr Function engineFunctions[] = {
    {"alloc", engineAlloc}, {"enqueue", engineEnqueue}, {"enqueue_alloc", engineEnqueueAlloc}};
constexpr Function intFunctions[] = {{"div_s", intDivS}, {"rem_s", intRemS}, {"div_u", intDivU}, {"rem_u", intRemU},
                                     {"shl", intShl},    {"shr_u", intShrU}, {"shr_s", intShrS}};
} // namespace

void openLuaModules(lua_State *lua) {
  using Functions = std::span<const Function>;
  for (auto [name, functions] :
       {std::pair("core", Functions(coreFunctions)), std::pair("cpu", Functions(cpuFunctions)),
        std::pair("engine", Functions(engineFunctions)), std::pair("int", Functions(intFunctions))}) {
    lua_createtable(lua, 0, static_cast<int>(functions.size()));
    for (const Function &function : functions) {
      lua_pushcfunction(lua, function.function);
      lua_setfield(lua, -2, function.name);
    }
    lua_setglobal(lua, name);
  }
}

} // namespace latewood::runtime
