// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The module for TensorRT's engines, against the stand-in for the vendor's libraries (StandIn.cpp, StandInCUDA.cpp).

#include "StandInPrograms.h"

#include "latewood/runtime/Trace.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace latewood;
using namespace latewood::runtime;
using namespace latewood::test;

namespace {

// The stand-ins take the vendor's place wherever the environment names no other library (a GPU's own, say).
const bool hasStandIns = [] {
  setenv("LATEWOOD_TENSORRT_LIBRARY", LATEWOOD_TEST_TENSORRT, /*overwrite=*/0);
  setenv("LATEWOOD_CUDART_LIBRARY", LATEWOOD_TEST_CUDART, /*overwrite=*/0);
  return true;
}();

TEST(TensorRT, RunsInDestinationStyle) {
  Ref<Session> session = open();
  EXPECT_EQ(first(call(session, "given", {{1, 2, 3, 4}, {5, 6, 7, 8}})), (Floats{106, 208, 310, 412}));
  Ref<Value> given = test::floats(*session->client(), {0, 0, 0, 0});
  first(call(session, "given", {{1, 2, 3, 4}, {0, 0, 0, 0}}, {given}));
  EXPECT_EQ(elements<float>(given), (Floats{101, 202, 303, 404}));
}

TEST(TensorRT, AllocatesResultsInEveryOrderOfRequests) {
  Ref<Session> session = open();
  for (const char *words : {"", "late", "twice", "shrink", "zero", "zero,twice,shrink", "zero,twice,shrink,late"}) {
    behave(words);
    EXPECT_EQ(first(call(session, "allocating", {{1, -2, 3, -4, 5}})), (Floats{1, 3, 5})) << words;
    EXPECT_EQ(first(call(session, "allocating", {{-1}})), Floats{}) << words;
    EXPECT_EQ(first(call(session, "allocating", {{}})), Floats{}) << words;
    EXPECT_EQ(first(call(session, "twice", {{7, -2}})), (Floats{7})) << words;
    EXPECT_EQ(first(call(session, "allocating_on_device", {{7, -2, 8}})), (Floats{7, 8})) << words;
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

TEST(TensorRT, ShapesThatAreNotToldOrWrongAreErrors) {
  Ref<Session> session = open();
  const char *words[] = {"mute", "wrong", "align"};
  const char *reasons[] = {"gave no shape of out0", "expected 1 dimensions", "aligned to 4096 bytes"};
  for (size_t i = 0; i < 3; ++i) {
    behave(words[i]);
    for (const char *name : {"allocating", "twice", "allocating_on_device"}) {
      Results failed = call(session, name, {{1, 2}});
      ASSERT_FALSE(failed.isOk()) << words[i];
      EXPECT_NE(failed.status().str().find(reasons[i]), std::string::npos) << failed.status().str();
    }
    behave("");
    EXPECT_EQ(first(call(session, "allocating", {{1, -3, 2}})), (Floats{1, 2}));
  }
}

TEST(TensorRT, RefusesAResultOfAnotherShape) {
  Ref<Session> session = open();
  Results failed = call(session, "mistaken", {{1, 2, 3, 4}, {5, 6, 7, 8}});
  ASSERT_FALSE(failed.isOk());
  EXPECT_NE(failed.status().str().find("[4]"), std::string::npos) << failed.status().str();
  EXPECT_NE(failed.status().str().find("[3]"), std::string::npos) << failed.status().str();
}

TEST(TensorRT, WhatEnginesPassOnStaysOnTheDevice) {
  Ref<Session> session = open();
  auto counted = [&] { return session->statistics().engines; };
  EngineCounters before = counted();
  EXPECT_EQ(first(call(session, "given_on_device", {{1, 2, 3, 4}, {5, 6, 7, 8}})), (Floats{211, 414, 617, 820}));
  EngineCounters after = counted();
  EXPECT_EQ(after.runs - before.runs, 2u);
  // Two inputs, the second of them twice; one result.
  EXPECT_EQ(after.uploads - before.uploads, 3u);
  EXPECT_EQ(after.uploadedBytes - before.uploadedBytes, 48u);
  EXPECT_EQ(after.downloads - before.downloads, 1u);
  EXPECT_EQ(after.downloadedBytes - before.downloadedBytes, 16u);
  EXPECT_EQ(first(call(session, "static_on_device", {{1, 2, 3, 4}, {5, 6, 7, 8}})), (Floats{211, 414, 617, 820}));
  EXPECT_EQ(first(call(session, "allocating_on_device", {{1, -2, 3}})), (Floats{1, 3}));
  // A call gives back what it does not release itself.
  int64_t held = counted().liveBytes;
  for (int i = 0; i < 100; ++i) {
    (void)call(session, "static_on_device", {{1, 2, 3, 4}, {5, 6, 7, 8}});
    (void)call(session, "allocating_on_device", {{1, -2, 3}});
  }
  EXPECT_EQ(counted().liveBytes, held);
  EXPECT_GE(counted().peakBytes, held);
}

TEST(TensorRT, RefusesTooLittleMemoryOnTheDevice) {
  Ref<Session> session = open();
  // The same, with memory that is too small for what the host program says.
  Results failed = call(session, "mistaken_on_device", {{1, 2, 3, 4}, {5, 6, 7, 8}});
  ASSERT_FALSE(failed.isOk());
  EXPECT_NE(failed.status().str().find("[4000]"), std::string::npos) << failed.status().str();
  EXPECT_EQ(first(call(session, "given", {{1, 2, 3, 4}, {5, 6, 7, 8}})), (Floats{106, 208, 310, 412}));
}

TEST(TensorRT, TensorsOfTheHost) {
  Ref<Session> session = open("host,profiles");
  int64_t lengths[] = {5, 5, 0, 100, 7};
  for (const char *name : {"counting", "counting_on_device"})
    for (int64_t length : lengths) {
      Results results = count(session, name, length);
      ASSERT_TRUE(results.isOk()) << results.status().str();
      std::vector<int64_t> numbers = elements<int64_t>((*results)[0]);
      ASSERT_EQ(static_cast<int64_t>(numbers.size()), length) << name;
      if (length > 0)
        EXPECT_EQ(numbers.back(), length - 1);
    }
  // Values are part of the choice of a profile.
  Results refused = count(session, "counting", 101);
  ASSERT_FALSE(refused.isOk());
  EXPECT_NE(refused.status().str().find("with the values 101"), std::string::npos) << refused.status().str();
  EXPECT_NE(refused.status().str().find("with the values 0 to 100"), std::string::npos) << refused.status().str();
  // Nothing is told again that the engine knows.
  (void)count(session, "counting", 7);
  int64_t addresses = askEngine("standin_addresses_set");
  (void)count(session, "counting", 7);
  EXPECT_EQ(askEngine("standin_addresses_set"), addresses);
  behave("");
}

TEST(TensorRT, RecordsCopiesAndRuns) {
  Ref<Session> session = open();
  ASSERT_TRUE(Trace::start().isOk());
  (void)call(session, "given_on_device", {{1, 2, 3, 4}, {5, 6, 7, 8}});
  std::string path = testing::TempDir() + "/tensorrt-trace.json";
  ASSERT_TRUE(Trace::stop(path).isOk());
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  for (const char *event :
       {"\"add\"", "copy to the device", "copy from the device", "wait for the device", "allocate on the device"})
    EXPECT_NE(text.str().find(event), std::string::npos) << event;
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
  Ref<Session> session = open("profiles");
  EXPECT_EQ(first(call(session, "allocating", {{1, -2, 3}})), (Floats{1, 3}));
  EXPECT_EQ(first(call(session, "allocating", {Floats(100, 2.0f)})), Floats(100, 2.0f));
  EXPECT_EQ(first(call(session, "allocating", {{4, -2, 3}})), (Floats{4, 3}));
  Results refused = call(session, "allocating", {Floats(5000, 1.0f)});
  ASSERT_FALSE(refused.isOk());
  EXPECT_NE(refused.status().str().find("no optimization profile"), std::string::npos) << refused.status().str();
  EXPECT_NE(refused.status().str().find("in0: 5000; it was made for (0) in0: 1 to 8; (1) in0: 9 to 4096"),
            std::string::npos)
      << refused.status().str();
  EXPECT_EQ(first(call(session, "allocating", {{4, -2, 3}})), (Floats{4, 3}));
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
  int64_t blocks = ask("standin_live_blocks"), streams = ask("standin_live_streams"),
          events = ask("standin_live_events");
  Ref<Value> result;
  {
    Ref<Session> session = open();
    size_t lengths[] = {5, 0, 1, 1000, 0, 7, 7};
    for (size_t length : lengths)
      (void)call(session, "allocating", {Floats(length, 1.0f)});
    int64_t bytes = ask("standin_live_bytes");
    for (int i = 0; i < 10000; ++i) {
      size_t length = lengths[static_cast<size_t>(i) % 7];
      const char *name = i % 3 == 0 ? "allocating_on_device" : "allocating";
      ASSERT_EQ(first(call(session, name, {Floats(length, 1.0f)})).size(), length);
    }
    EXPECT_EQ(ask("standin_live_bytes"), bytes);
    result = (*call(session, "allocating", {{1, -1, 2}}))[0];
  }
  EXPECT_EQ(ask("standin_live_blocks"), blocks);
  EXPECT_EQ(ask("standin_live_streams"), streams);
  EXPECT_EQ(ask("standin_live_events"), events);
  EXPECT_EQ(ask("standin_mistakes"), 0);
  // It outlives session, executable, client and engines.
  EXPECT_EQ(elements<float>(result), (Floats{1, 2}));
}

TEST(TensorRT, ResultsOutliveEverythingInEveryOrderOfDropping) {
  // Client, executable, session, and the first of two results, in all orders; the second result is last.
  std::vector<int> order = {0, 1, 2, 3};
  int64_t blocks = ask("standin_live_blocks");
  do {
    Ref<Client> client = *Client::create({});
    Ref<Executable> executable = *Executable::fromBytes(writeHosts());
    Ref<Session> session = *Session::create(client, executable);
    Ref<Value> one = (*call(session, "allocating", {{1, -1, 2}}))[0];
    Ref<Value> other = (*call(session, "given_on_device", {{1, 2, 3, 4}, {5, 6, 7, 8}}))[0];
    for (int what : order) {
      if (what == 0)
        client = {};
      else if (what == 1)
        executable = {};
      else if (what == 2)
        session = {};
      else
        one = {};
      ASSERT_EQ(elements<float>(other), (Floats{211, 414, 617, 820}));
      if (one)
        ASSERT_EQ(elements<float>(one), (Floats{1, 2}));
    }
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(ask("standin_live_blocks"), blocks);
  EXPECT_EQ(ask("standin_mistakes"), 0);
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
