// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interpreter of Lua host programs by itself: what a program may be, what it sees, and how its mistakes come back.
// What its operations compute is tested beside native code, in test/python/test_host_backends.py.

#include "latewood/runtime/LuaHost.h"

#include <gtest/gtest.h>
#include <lua.hpp>

using namespace latewood::runtime;

namespace {
/// A call whose failure is kept.
struct Call : lw_call {
  StatusCode code = StatusCode::ok;
  std::string message;
};

int32_t fail(lw_call *call, int32_t code, const char *message, int64_t length) {
  auto &self = static_cast<Call &>(*call);
  self.code = static_cast<StatusCode>(code);
  self.message.assign(message, static_cast<size_t>(length));
  return code;
}

int32_t failFormat(lw_call *call, const char *message, int64_t length, const int64_t *values, int64_t count) {
  auto &self = static_cast<Call &>(*call);
  self.code = StatusCode::invalidArgument;
  self.message.assign(message, static_cast<size_t>(length));
  for (int64_t i = 0; i < count; ++i)
    self.message += " " + std::to_string(values[i]);
  return 1;
}

void *noMemory(lw_call *, int64_t, int64_t, int64_t, const int64_t *) { return nullptr; }

int32_t hasFailed(lw_call *call) { return static_cast<Call *>(call)->code != StatusCode::ok ? 1 : 0; }

const lw_api api = {LATEWOOD_ABI_VERSION, sizeof(lw_api), nullptr, noMemory, nullptr, nullptr, nullptr, fail,
                    failFormat,           nullptr,        nullptr, hasFailed};

std::string parseError(std::string_view source) {
  auto program = LuaProgram::parse(source, {}, nullptr);
  return program.isOk() ? "" : std::string(program.status().message());
}

std::string loadError(std::string_view source, std::vector<std::string> symbols = {}) {
  auto program = LuaProgram::parse(source, std::move(symbols), nullptr);
  if (!program.isOk())
    return "parse: " + program.status().str();
  auto state = LuaState::create(**program);
  return state.isOk() ? "" : state.status().str();
}

/// Runs `body` as a function with the given arguments; the message of its failure.
std::string run(const std::string &body, std::vector<void *> arguments = {}, StatusCode *code = nullptr) {
  auto program = LuaProgram::parse("function f(args) " + body + " end", {"f"}, nullptr);
  if (!program.isOk())
    return program.status().str();
  auto state = LuaState::create(**program);
  if (!state.isOk())
    return state.status().str();
  Call call{};
  call.api = &api;
  call.arguments = arguments.data();
  int32_t result = (*state)->call(0, &call, arguments.size());
  EXPECT_EQ(result == 0, call.code == StatusCode::ok);
  if (code)
    *code = call.code;
  return call.message;
}
} // namespace

TEST(LuaHost, RefusesWhatIsNoLua) {
  EXPECT_NE(parseError("function f( end").find("host:1:"), std::string::npos);
  EXPECT_EQ(parseError(""), "");
}

TEST(LuaHost, RefusesPrecompiledCode) {
  std::string code = "\x1bLua";
  code += std::string(40, '\0');
  EXPECT_NE(parseError(code).find("attempt to load a binary chunk"), std::string::npos) << parseError(code);
}

TEST(LuaHost, HasNoLibraries) {
  for (const char *name : {"io", "os", "package", "debug", "load", "loadstring", "dofile", "require", "print", "pcall",
                           "setmetatable", "string", "table", "math", "coroutine", "utf8", "collectgarbage"})
    EXPECT_EQ(loadError(std::string("if ") + name + " ~= nil then error_" + name + "() end"), "") << name;
  EXPECT_EQ(loadError("if not (core and cpu and int) then missing() end"), "");
}

TEST(LuaHost, NeedsItsFunctions) {
  EXPECT_EQ(loadError("function f() end", {"f"}), "");
  EXPECT_NE(loadError("function f() end", {"f", "g"}).find("there is no function 'g'"), std::string::npos);
  EXPECT_NE(loadError("kernel = cpu.kernel('nowhere')").find("the image has no function 'nowhere'"), std::string::npos);
}

TEST(LuaHost, MistakesBecomeFailures) {
  StatusCode code;
  EXPECT_NE(run("local x = nil + 1", {}, &code).find("host program: host:1: attempt to perform arithmetic"),
            std::string::npos);
  EXPECT_EQ(code, StatusCode::internal);
  EXPECT_NE(run("core.copy(1, 2, 3)").find("operand 1: expected a buffer, got number"), std::string::npos);
  EXPECT_NE(run("core.fill(args[1], 1.5, 0, 1)", {&code}).find("operand 2: expected an integer, got number"),
            std::string::npos);
  EXPECT_NE(run("core.fill(args[1], 1, 0, 9)", {&code}).find("operand 4: expected 1 to 8"), std::string::npos);
  EXPECT_NE(run("local function g() return g() + 1 end g()").find("stack overflow"), std::string::npos);
}

TEST(LuaHost, FailuresAreReportedOnce) {
  StatusCode code;
  EXPECT_EQ(run("core.fail('wrong', 3, -4, true)", {}, &code), "wrong 3 -4 1");
  EXPECT_EQ(code, StatusCode::invalidArgument);
}

TEST(LuaHost, MemoryIsLimited) {
  StatusCode code;
  std::string message = run("local t = {} for i = 1, 1 << 40 do t[i] = i end", {}, &code);
  EXPECT_NE(message.find("not enough memory"), std::string::npos) << message;
  EXPECT_EQ(code, StatusCode::outOfMemory);
}

TEST(LuaHost, IsUsableAfterAFailure) {
  auto program = LuaProgram::parse("function f(args) if core.load_i8(args[1], 0) == 0 then core.fail('zero') end end",
                                   {"f"}, nullptr);
  ASSERT_TRUE(program.isOk()) << program.status().str();
  auto state = LuaState::create(**program);
  ASSERT_TRUE(state.isOk()) << state.status().str();
  for (int i = 0; i < 1000; ++i) {
    int8_t value = static_cast<int8_t>(i % 2);
    void *arguments[] = {&value};
    Call call{};
    call.api = &api;
    call.arguments = arguments;
    EXPECT_EQ((*state)->call(0, &call, 1) == 0, value != 0);
    EXPECT_EQ(call.message, value ? "" : "zero");
  }
}
