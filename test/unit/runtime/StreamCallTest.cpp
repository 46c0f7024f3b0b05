// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls on streams: they return at once, run in order, hand their failures on, and keep what they need alive.

#include "TestExecutable.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

using namespace latewood::runtime;
using namespace latewood::test;

namespace {
using Floats = std::vector<float>;

class StreamCallTest : public testing::Test {
protected:
  Ref<Session> session = openFunctions();
  Client &client = *session->client();
  Ref<Stream> stream = *Stream::create();
  Ref<Event> gate = Event::create();
  Ref<Stream> gateStream;

  /// Nothing enqueued later runs before the gate is opened.
  void closeGate() { ASSERT_TRUE(stream->waitFor(gate).isOk()); }
  void openGate() { gate->complete(okStatus()); }

  Status enqueue(std::string_view function, const std::vector<Ref<Value>> &arguments, std::span<Ref<Value>> results) {
    std::vector<Value *> values;
    for (const Ref<Value> &argument : arguments)
      values.push_back(argument.get());
    return session->enqueue(*session->executable()->findFunction(function), values, results, *stream);
  }
  Ref<Value> i32(int32_t number) { return *client.createScalar(ElementType::i32, &number); }
};
} // namespace

TEST_F(StreamCallTest, ReturnsBeforeItRuns) {
  closeGate();
  Ref<Value> results[1];
  ASSERT_TRUE(enqueue("double", {floats(client, Floats(8, 3))}, results).isOk());
  MemRefValue &result = *asMemRef(results[0].get());
  EXPECT_EQ(result.str(), "memref<8xf32>");
  EXPECT_FALSE(result.isReady());
  EXPECT_FALSE(stream->isIdle());
  openGate();
  ASSERT_TRUE(result.waitUntilReady().isOk());
  EXPECT_TRUE(result.isReady());
  EXPECT_EQ(elements<float>(results[0]), Floats(8, 6));
}

TEST_F(StreamCallTest, ChainsRunInOrder) {
  closeGate();
  Ref<Value> value = floats(client, Floats(8, 1));
  for (int i = 0; i < 10; ++i) {
    Ref<Value> results[1];
    ASSERT_TRUE(enqueue("double", {value}, results).isOk());
    value = results[0];
  }
  openGate();
  ASSERT_TRUE(stream->sync().isOk());
  EXPECT_EQ(elements<float>(value), Floats(8, 1024));
}

TEST_F(StreamCallTest, OneBufferWrittenAndReadInTurns) {
  closeGate();
  Ref<Value> a = floats(client, Floats(8, 1)), b = floats(client, Floats(8, 0));
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(enqueue("double", {a}, std::span(&b, 1)).isOk());
    ASSERT_TRUE(enqueue("reverse", {b}, std::span(&a, 1)).isOk());
  }
  openGate();
  ASSERT_TRUE(stream->sync().isOk());
  EXPECT_EQ(elements<float>(a), Floats(8, 32));
}

TEST_F(StreamCallTest, FailuresAreDeliveredAndHandedOn) {
  closeGate();
  Ref<Value> failed[1], next[1];
  ASSERT_TRUE(enqueue("check", {i32(-1)}, failed).isOk());
  ASSERT_TRUE(enqueue("check", {failed[0]}, next).isOk());
  openGate();
  EXPECT_EQ(asMemRef(failed[0].get())->waitUntilReady().message(),
            "the call that writes this memory failed: function 'check': the number must not be negative");
  EXPECT_EQ(asMemRef(next[0].get())->waitUntilReady().message(),
            "the call that writes this memory failed: function 'check', argument 0: the call that writes this memory "
            "failed: function 'check': the number must not be negative");
  EXPECT_EQ(stream->sync().message(), "function 'check': the number must not be negative");
  EXPECT_TRUE(stream->sync().isOk());
  // A direct call with such a value fails, too; another one works.
  const Ref<Value> poisoned[] = {failed[0]}, good[] = {i32(4)};
  EXPECT_FALSE(session->execute("check", poisoned).isOk());
  EXPECT_EQ(elements<int32_t>((*session->execute("check", good))[0]), std::vector<int32_t>{4});
  // And a buffer that is written anew is good again.
  ASSERT_TRUE(session->execute("check", good, failed).isOk());
  EXPECT_EQ(elements<int32_t>(failed[0]), std::vector<int32_t>{4});
}

TEST_F(StreamCallTest, WrongArgumentsAreToldAtOnce) {
  closeGate();
  Ref<Value> results[1];
  EXPECT_NE(enqueue("double", {i32(1)}, results).message().find("argument 0: function expects a memref type"),
            std::string_view::npos);
  EXPECT_FALSE(results[0]);
  openGate();
}

TEST_F(StreamCallTest, DirectCallsWaitForTheirArguments) {
  closeGate();
  Ref<Value> results[1];
  ASSERT_TRUE(enqueue("double", {floats(client, Floats(8, 3))}, results).isOk());
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    openGate();
  });
  const Ref<Value> arguments[] = {results[0]};
  EXPECT_EQ(elements<float>((*session->execute("double", arguments))[0]), Floats(8, 12));
  opener.join();
}

TEST_F(StreamCallTest, OtherStreamsWaitForTheirArguments) {
  closeGate();
  Ref<Value> first[1], second[1];
  ASSERT_TRUE(enqueue("double", {floats(client, Floats(8, 3))}, first).isOk());
  stream.swap(gateStream);
  stream = *Stream::create();
  ASSERT_TRUE(enqueue("double", {first[0]}, second).isOk());
  openGate();
  ASSERT_TRUE(stream->sync().isOk());
  EXPECT_EQ(elements<float>(second[0]), Floats(8, 12));
}

TEST_F(StreamCallTest, LateShapesAreSynchronous) {
  Ref<Value> results[1];
  ASSERT_TRUE(enqueue("positive", {floats(client, {1, -1, 2})}, results).isOk());
  EXPECT_TRUE(asMemRef(results[0].get())->isReady());
  EXPECT_EQ(elements<float>(results[0]), (Floats{1, 2}));
}

TEST_F(StreamCallTest, EverythingMayBeDroppedAtOnce) {
  closeGate();
  Ref<Value> results[1];
  ASSERT_TRUE(enqueue("double", {floats(client, Floats(8, 3))}, results).isOk());
  session.reset();
  openGate();
  ASSERT_TRUE(asMemRef(results[0].get())->waitUntilReady().isOk());
  EXPECT_EQ(elements<float>(results[0]), Floats(8, 6));
}

TEST_F(StreamCallTest, MemoryIsUsedAgain) {
  for (int i = 0; i < 1000; ++i) {
    Ref<Value> results[1];
    ASSERT_TRUE(enqueue("double", {floats(client, Floats(8, 3))}, results).isOk());
    if (i % 10 == 9)
      ASSERT_TRUE(stream->sync().isOk());
  }
  ASSERT_TRUE(stream->sync().isOk());
  EXPECT_LE(session->statistics().system.allocations, 12u);
}

TEST_F(StreamCallTest, StreamsAreFoundByTheirHandle) {
  uintptr_t handle = stream->handle();
  EXPECT_EQ(Stream::find(handle), stream);
  EXPECT_FALSE(Stream::find(0x1234));
  stream.reset();
  EXPECT_FALSE(Stream::find(handle));
}
