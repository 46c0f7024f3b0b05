// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The module for TensorRT's engines, against the stand-in for the vendor's libraries (StandIn.cpp, StandInCUDA.cpp).

#include "latewood/format/Container.h"
#include "latewood/format/ElementTypes.h"
#include "latewood/format/abi.h"
#include "test/unit/runtime/TestExecutable.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

using namespace latewood;
using namespace latewood::runtime;
using namespace latewood::test;

namespace {

/// A function of a stand-in library, which the module has opened.
template <typename Function>
Function *standIn(const char *variable, const char *name) {
  void *library = dlopen(std::getenv(variable), RTLD_NOW);
  auto *function = library ? reinterpret_cast<Function *>(dlsym(library, name)) : nullptr;
  if (!function)
    ADD_FAILURE() << "no function " << name;
  return function;
}
int64_t ask(const char *name) { return standIn<int64_t()>("LATEWOOD_CUDART_LIBRARY", name)(); }
int64_t askEngine(const char *name) { return standIn<int64_t()>("LATEWOOD_TENSORRT_LIBRARY", name)(); }
void behave(const char *words) { standIn<void(const char *)>("LATEWOOD_TENSORRT_LIBRARY", "standin_behave")(words); }

/// An engine of the stand-in, whose `main` is a function of functions.c.
std::vector<uint8_t> makeEngine(const std::string &name) {
  format::ExecutableT metadata = describeFunctions();
  for (auto &function : metadata.functions)
    if (function->name == name)
      function->name = "main";
  std::vector<uint8_t> bytes = {'S', 'T', 'A', 'N', 'D', 'I', 'N', '1'}, file = writeFunctions(metadata);
  bytes.insert(bytes.end(), file.begin(), file.end());
  return bytes;
}

std::unique_ptr<format::ValueT> floats(std::vector<int64_t> shape) {
  auto value = std::make_unique<format::ValueT>();
  value->element_type = format::ElementType::f32;
  value->shape = std::move(shape);
  return value;
}

/// The host programs of hosts.c, with engine 0 = `positive` and engine 1 = `add`.
std::vector<uint8_t> writeHosts() {
  format::ExecutableT metadata = describeFunctions();
  metadata.functions.clear();
  metadata.constants.clear();
  metadata.images[0]->segment = 0;
  auto add = [&](const char *name, std::vector<std::vector<int64_t>> arguments, std::vector<int64_t> result) {
    auto function = std::make_unique<format::FunctionT>();
    function->name = name;
    function->symbol = std::string("h_") + name;
    for (auto &shape : arguments)
      function->arguments.push_back(floats(shape));
    function->results.push_back(floats(result));
    metadata.functions.push_back(std::move(function));
  };
  add("allocating", {{-1}}, {-1});
  add("twice", {{-1}}, {-1});
  add("given", {{4}, {4}}, {4});
  add("mistaken", {{4}, {4}}, {3});
  for (uint32_t i = 0; i < 2; ++i) {
    auto engine = std::make_unique<format::EngineT>();
    engine->name = i == 0 ? "positive" : "add";
    engine->library = "tensorrt";
    engine->segment = 1 + i;
    metadata.engines.push_back(std::move(engine));
  }
  std::vector<uint8_t> image = readImage("hosts"), positive = makeEngine("positive"), sum = makeEngine("add");
  format::SegmentInput segments[3];
  segments[0] = {format::SegmentKind::image, "x86-64", image, 0};
  segments[1] = {format::SegmentKind::engine, "positive", positive, 0};
  segments[2] = {format::SegmentKind::engine, "add", sum, 0};
  std::vector<uint8_t> bytes;
  EXPECT_EQ(format::write(metadata, segments, bytes), "");
  return bytes;
}

Ref<Session> open() {
  behave("");
  auto client = *Client::create({});
  auto executable = Executable::fromBytes(writeHosts());
  EXPECT_TRUE(executable.isOk()) << executable.status().str();
  auto session = Session::create(client, *executable);
  EXPECT_TRUE(session.isOk()) << session.status().str();
  return *session;
}

using Results = StatusOr<std::vector<Ref<Value>>>;

Results call(const Ref<Session> &session, const char *name, std::vector<std::vector<float>> arguments,
             std::vector<Ref<Value>> outputs = {}) {
  std::vector<Ref<Value>> values;
  for (auto &argument : arguments)
    values.push_back(test::floats(*session->client(), argument));
  return session->execute(name, values, outputs, nullptr);
}

std::vector<float> first(const Results &results) {
  EXPECT_TRUE(results.isOk()) << results.status().str();
  return results.isOk() ? elements<float>((*results)[0]) : std::vector<float>();
}

using Floats = std::vector<float>;

TEST(TensorRT, RunsInDestinationStyle) {
  Ref<Session> session = open();
  EXPECT_EQ(first(call(session, "given", {{1, 2, 3, 4}, {5, 6, 7, 8}})), (Floats{106, 208, 310, 412}));
  Ref<Value> given = test::floats(*session->client(), {0, 0, 0, 0});
  first(call(session, "given", {{1, 2, 3, 4}, {0, 0, 0, 0}}, {given}));
  EXPECT_EQ(elements<float>(given), (Floats{101, 202, 303, 404}));
}

TEST(TensorRT, AllocatesResultsInEveryOrderOfRequests) {
  Ref<Session> session = open();
  for (const char *words : {"", "twice", "shrink", "zero", "zero,twice,shrink"}) {
    behave(words);
    EXPECT_EQ(first(call(session, "allocating", {{1, -2, 3, -4, 5}})), (Floats{1, 3, 5})) << words;
    EXPECT_EQ(first(call(session, "allocating", {{-1}})), Floats{}) << words;
    EXPECT_EQ(first(call(session, "allocating", {{}})), Floats{}) << words;
    EXPECT_EQ(first(call(session, "twice", {{7, -2}})), (Floats{7})) << words;
  }
}

TEST(TensorRT, WritesIntoTheCallersBuffer) {
  Ref<Session> session = open();
  Ref<Value> given = test::floats(*session->client(), {0, 0});
  EXPECT_EQ(first(call(session, "allocating", {{1, -2, 3}}, {given})), (Floats{1, 3}));
  EXPECT_EQ(elements<float>(given), (Floats{1, 3}));
  // One element too small: an error, and the session lives on.
  Ref<Value> small = test::floats(*session->client(), {9});
  Results refused = call(session, "allocating", {{1, -2, 3}}, {small});
  ASSERT_FALSE(refused.isOk());
  EXPECT_NE(refused.status().str().find("shape"), std::string::npos) << refused.status().str();
  EXPECT_EQ(elements<float>(small), Floats{9});
  EXPECT_EQ(first(call(session, "allocating", {{1, -2, 3}})), (Floats{1, 3}));
}

TEST(TensorRT, SaysWhatTheLibrarySaysWhenItFails) {
  Ref<Session> session = open();
  behave("fail");
  Results failed = call(session, "allocating", {{1, 2}});
  ASSERT_FALSE(failed.isOk());
  EXPECT_NE(failed.status().str().find("engine 'positive' failed: the engine fails, as it was told to"),
            std::string::npos)
      << failed.status().str();
  behave("");
  EXPECT_EQ(first(call(session, "allocating", {{1, 2}})), (Floats{1, 2}));
}

TEST(TensorRT, RefusesAResultOfAnotherShape) {
  Ref<Session> session = open();
  Results failed = call(session, "mistaken", {{1, 2, 3, 4}, {5, 6, 7, 8}});
  ASSERT_FALSE(failed.isOk());
  EXPECT_NE(failed.status().str().find("[4]"), std::string::npos) << failed.status().str();
  EXPECT_NE(failed.status().str().find("[3]"), std::string::npos) << failed.status().str();
}

TEST(TensorRT, FailedAllocationsAreErrors) {
  Ref<Session> session = open();
  auto *fail = standIn<void(int64_t)>("LATEWOOD_CUDART_LIBRARY", "standin_fail_allocation");
  for (int64_t n = 1; n <= 2; ++n) {
    fail(n);
    Results failed = call(session, "allocating", {Floats(static_cast<size_t>(1000 * n), 1.0f)});
    fail(0);
    ASSERT_FALSE(failed.isOk()) << n;
    EXPECT_EQ(failed.status().code(), StatusCode::outOfMemory) << failed.status().str();
    EXPECT_EQ(first(call(session, "allocating", {{3, -1}})), Floats{3});
  }
}

TEST(TensorRT, ChoosesAProfileByTheShapes) {
  Ref<Session> session = open();
  behave("profiles");
  EXPECT_EQ(first(call(session, "allocating", {{1, -2, 3}})), (Floats{1, 3}));
  EXPECT_EQ(first(call(session, "allocating", {Floats(100, 2.0f)})), Floats(100, 2.0f));
  EXPECT_EQ(first(call(session, "allocating", {{4, -2, 3}})), (Floats{4, 3}));
  Results refused = call(session, "allocating", {Floats(5000, 1.0f)});
  ASSERT_FALSE(refused.isOk());
  EXPECT_NE(refused.status().str().find("no optimization profile"), std::string::npos) << refused.status().str();
  EXPECT_NE(refused.status().str().find("5000"), std::string::npos) << refused.status().str();
  behave("");
}

TEST(TensorRT, TellsTheContextOnlyWhatChanged) {
  Ref<Session> session = open();
  (void)call(session, "given", {{1, 2, 3, 4}, {5, 6, 7, 8}});
  int64_t addresses = askEngine("standin_addresses_set"), shapes = askEngine("standin_shapes_set");
  for (int i = 0; i < 10; ++i)
    (void)call(session, "given", {{1, 2, 3, 4}, {5, 6, 7, 8}});
  EXPECT_EQ(askEngine("standin_addresses_set"), addresses);
  EXPECT_EQ(askEngine("standin_shapes_set"), shapes);
}

TEST(TensorRT, MemoryDoesNotGrowAndNothingIsLeft) {
  int64_t blocks = ask("standin_live_blocks"), streams = ask("standin_live_streams");
  Ref<Value> result;
  {
    Ref<Session> session = open();
    size_t lengths[] = {5, 0, 1, 1000, 0, 7, 7};
    for (size_t length : lengths)
      (void)call(session, "allocating", {Floats(length, 1.0f)});
    int64_t bytes = ask("standin_live_bytes");
    for (int i = 0; i < 10000; ++i) {
      size_t length = lengths[static_cast<size_t>(i) % 7];
      ASSERT_EQ(first(call(session, "allocating", {Floats(length, 1.0f)})).size(), length);
    }
    EXPECT_EQ(ask("standin_live_bytes"), bytes);
    result = (*call(session, "allocating", {{1, -1, 2}}))[0];
  }
  EXPECT_EQ(ask("standin_live_blocks"), blocks);
  EXPECT_EQ(ask("standin_live_streams"), streams);
  // It outlives session, executable, client and engines.
  EXPECT_EQ(elements<float>(result), (Floats{1, 2}));
}

TEST(TensorRT, EnginesThatCannotBeReadAreErrors) {
  open();
  std::vector<uint8_t> file = writeHosts();
  auto spoilt = std::search(file.begin(), file.end(), "STANDIN1", &"STANDIN1"[8]);
  ASSERT_NE(spoilt, file.end());
  // Damage is found by the checksum, before the vendor's library sees it.
  *spoilt = 'X';
  auto executable = Executable::fromBytes(file);
  ASSERT_FALSE(executable.isOk());
  EXPECT_EQ(executable.status().code(), StatusCode::dataCorruption) << executable.status().str();
}

} // namespace
