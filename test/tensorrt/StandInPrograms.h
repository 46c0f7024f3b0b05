// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host programs with engines of the stand-in, and how tests call them and ask the stand-ins.
#ifndef LATEWOOD_TEST_TENSORRT_STANDINPROGRAMS_H
#define LATEWOOD_TEST_TENSORRT_STANDINPROGRAMS_H

#include "latewood/format/Container.h"
#include "latewood/format/ElementTypes.h"
#include "latewood/format/abi.h"
#include "test/unit/runtime/TestExecutable.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace latewood::test {
using namespace latewood::runtime;

/// A function of a stand-in library, which the module has opened.
template <typename Function>
Function *standIn(const char *variable, const char *name) {
  void *library = dlopen(std::getenv(variable), RTLD_NOW);
  auto *function = library ? reinterpret_cast<Function *>(dlsym(library, name)) : nullptr;
  if (!function)
    ADD_FAILURE() << "no function " << name;
  return function;
}
inline int64_t ask(const char *name) { return standIn<int64_t()>("LATEWOOD_CUDART_LIBRARY", name)(); }
inline int64_t askEngine(const char *name) { return standIn<int64_t()>("LATEWOOD_TENSORRT_LIBRARY", name)(); }
inline void behave(const char *words) {
  standIn<void(const char *)>("LATEWOOD_TENSORRT_LIBRARY", "standin_behave")(words);
}

/// An engine of the stand-in, whose `main` is a function of functions.c.
inline std::vector<uint8_t> makeEngine(const std::string &name) {
  format::ExecutableT metadata = describeFunctions();
  std::erase_if(metadata.functions, [&](const auto &function) { return function->name != name; });
  metadata.functions.front()->name = "main";
  std::vector<uint8_t> bytes = {'S', 'T', 'A', 'N', 'D', 'I', 'N', '1'}, file = writeFunctions(metadata);
  bytes.insert(bytes.end(), file.begin(), file.end());
  return bytes;
}

inline std::unique_ptr<format::ValueT> describe(std::vector<int64_t> shape,
                                                format::ElementType type = format::ElementType::f32) {
  auto value = std::make_unique<format::ValueT>();
  value->element_type = type;
  value->shape = std::move(shape);
  return value;
}

/// The host programs of hosts.c, with the engines 0 = `positive`, 1 = `add`, 2 = `grow` and 3 = `length`.
/// `version` made the engines; `positive` may be other bytes than it should.
inline std::vector<uint8_t> writeHosts(const std::string &version = "",
                                       const std::vector<uint8_t> *positive = nullptr) {
  format::ExecutableT metadata = describeFunctions();
  metadata.functions.clear();
  metadata.constants.clear();
  metadata.images[0]->segment = 0;
  auto add = [&](const char *name, std::vector<std::vector<int64_t>> arguments, std::vector<int64_t> result,
                 format::ElementType type = format::ElementType::f32) {
    auto function = std::make_unique<format::FunctionT>();
    function->name = name;
    function->symbol = std::string("h_") + name;
    for (auto &shape : arguments)
      function->arguments.push_back(describe(shape, type));
    function->results.push_back(describe(result, type));
    metadata.functions.push_back(std::move(function));
  };
  for (const char *name : {"allocating", "twice", "allocating_on_device"})
    add(name, {{-1}}, {-1});
  for (const char *name : {"given", "given_on_device", "static_on_device", "mistaken_on_device"})
    add(name, {{4}, {4}}, {4});
  add("mistaken", {{4}, {4}}, {3});
  for (const char *name : {"counting", "counting_on_device"})
    add(name, {{}}, {-1}, format::ElementType::i64);
  const char *names[] = {"positive", "add", "grow", "length"};
  for (uint32_t i = 0; i < 4; ++i) {
    auto engine = std::make_unique<format::EngineT>();
    engine->name = names[i];
    engine->library = "tensorrt";
    engine->version = version;
    engine->segment = 1 + i;
    metadata.engines.push_back(std::move(engine));
  }
  std::vector<uint8_t> image = readImage("hosts"), engines[4];
  format::SegmentInput segments[5];
  segments[0] = {format::SegmentKind::image, "x86-64", image, 0};
  for (size_t i = 0; i < 4; ++i) {
    engines[i] = i == 0 && positive ? *positive : makeEngine(names[i]);
    segments[1 + i] = {format::SegmentKind::engine, names[i], engines[i], 0};
  }
  std::vector<uint8_t> bytes;
  EXPECT_EQ(format::write(metadata, segments, bytes), "");
  return bytes;
}

inline Ref<Session> open(const char *words = "") {
  behave(words);
  auto client = *Client::create({});
  auto executable = Executable::fromBytes(writeHosts());
  EXPECT_TRUE(executable.isOk()) << executable.status().str();
  auto session = Session::create(client, *executable);
  EXPECT_TRUE(session.isOk()) << session.status().str();
  return *session;
}

using Results = StatusOr<std::vector<Ref<Value>>>;

inline Results call(const Ref<Session> &session, const char *name, std::vector<std::vector<float>> arguments,
                    std::vector<Ref<Value>> outputs = {}) {
  std::vector<Ref<Value>> values;
  for (auto &argument : arguments)
    values.push_back(test::floats(*session->client(), argument));
  return session->execute(name, values, outputs, nullptr);
}

inline Results count(const Ref<Session> &session, const char *name, int64_t length) {
  Ref<Value> argument = *session->client()->createScalar(ElementType::i64, &length);
  return session->execute(name, std::vector<Ref<Value>>{argument});
}

inline std::vector<float> first(const Results &results) {
  EXPECT_TRUE(results.isOk()) << results.status().str();
  return results.isOk() ? elements<float>((*results)[0]) : std::vector<float>();
}

using Floats = std::vector<float>;

} // namespace latewood::test

#endif // LATEWOOD_TEST_TENSORRT_STANDINPROGRAMS_H
