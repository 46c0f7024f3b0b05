// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host programs that are Lua source. The source is parsed once for each executable; each session has an interpreter of
// its own, made from the parsed form, so that sessions run in parallel. An interpreter has no libraries: a program sees
// the tables below and its own functions, and can open no file, load no code and start no process. It is trusted all
// the same: its functions take addresses.
//
//   core   argument extents, constants, workspace, output slots, temporary memory, copies, numbers in buffers, failures
//   cpu    functions of the image, found by name when the program is loaded, and their launches
//   int    division, remainder and shifts as the host program defines them, where Lua's own differ
//
// A module for another engine is another such table. compiler/Translate/ExecutorToLua.cpp writes the programs.
//
// Errors. A failure below Lua is recorded in the call, as for native code, and ends the program by a Lua error, which
// is caught where the program was started; Lua unwinds by jumps, so no function that can raise an error has anything to
// destroy.
//
//   identity   the object
//   ownership  the program belongs to its executable and refers to its image; a state needs its program only at
//   creation threads    a program is immutable; a state is used by one call at a time
//
// Internal.

#ifndef LATEWOOD_RUNTIME_LUAHOST_H
#define LATEWOOD_RUNTIME_LUAHOST_H

#include "latewood/format/abi.h"
#include "latewood/runtime/Status.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace latewood::runtime {

class Image;

class LuaProgram {
public:
  /// `symbols` are the globals that the functions of the executable are. `image` may be null where nothing is launched,
  /// and outlives the program.
  static StatusOr<std::unique_ptr<LuaProgram>> parse(std::string_view source, std::vector<std::string> symbols,
                                                     const Image *image);

private:
  friend class LuaState;
  std::vector<char> code;
  std::vector<std::string> symbols;
  const Image *image = nullptr;
};

class LuaState {
public:
  static StatusOr<std::unique_ptr<LuaState>> create(const LuaProgram &program);
  ~LuaState();

  /// Runs function `index` with `argumentCount` arguments. 0, or the failure is recorded in the call.
  int32_t call(size_t index, lw_call *frame, size_t argumentCount);

private:
  LuaState();
  struct Interpreter;
  std::unique_ptr<Interpreter> interpreter;
};

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_LUAHOST_H
