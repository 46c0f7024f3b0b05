// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls: results given, allocated and mixed; shapes that are known late; every wrong argument told for what it is;
// failures that leave the session usable; memory that is used again and counted.

#include "TestExecutable.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>
#include <xmmintrin.h>

using namespace latewood;
using namespace latewood::runtime;
using namespace latewood::test;

namespace {
using Values = std::vector<Ref<Value>>;
using Floats = std::vector<float>;

class SessionTest : public testing::Test {
protected:
  Ref<Session> session = openFunctions();
  Client &client = *session->client();

  Ref<MemRefValue> f32(const Floats &elements) { return floats(client, elements); }
  Ref<ScalarValue> i32(int32_t number) { return *client.createScalar(ElementType::i32, &number); }
  Ref<ScalarValue> i64(int64_t number) { return *client.createScalar(ElementType::i64, &number); }

  Values run(std::string_view function, const Values &arguments, const Values &outputs = {}) {
    auto results = session->execute(function, arguments, outputs);
    EXPECT_TRUE(results.isOk()) << results.status().str();
    return results.isOk() ? *results : Values();
  }
  std::string failure(std::string_view function, const Values &arguments, const Values &outputs = {}) {
    auto results = session->execute(function, arguments, outputs);
    EXPECT_FALSE(results.isOk());
    // Whatever went wrong, the next call is right.
    Values next = run("add", {f32({1, 2, 3, 4}), f32({0, 0, 0, 0})});
    EXPECT_EQ(elements<float>(next[0]), (Floats{101, 202, 303, 404}));
    return results.status().str();
  }
};
} // namespace

TEST_F(SessionTest, AllocatedResults) {
  Values results = run("add", {f32({1, 2, 3, 4}), f32({10, 20, 30, 40})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(elements<float>(results[0]), (Floats{111, 222, 333, 444}));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(asMemRef(results[0].get())->data()) % 64, 0u);
}

TEST_F(SessionTest, GivenResultsAreWrittenInPlaceAndReturned) {
  auto out = f32({0, 0, 0, 0});
  Values results = run("add", {f32({1, 2, 3, 4}), f32({1, 1, 1, 1})}, {out});
  EXPECT_EQ(results[0].get(), out.get());
  EXPECT_EQ(elements<float>(out), (Floats{102, 203, 304, 405}));
  SessionStatistics statistics = session->statistics();
  EXPECT_EQ(statistics.results.count, 0u);
  EXPECT_EQ(statistics.staging.count, 0u);
  EXPECT_EQ(statistics.system.allocations, 0u);
}

TEST_F(SessionTest, SomeGivenSomeAllocated) {
  auto a = f32({1, 2, 3, 4}), b = f32({5, 6, 7, 8}), out = f32({0, 0, 0, 0});
  Values results = run("swap", {a, b}, {nullptr, out});
  EXPECT_EQ(elements<float>(results[0]), (Floats{5, 6, 7, 8}));
  EXPECT_EQ(results[1].get(), out.get());
  EXPECT_EQ(elements<float>(out), (Floats{1, 2, 3, 4}));
}

TEST_F(SessionTest, ScalarsAndEmptyResults) {
  float x = 41;
  uint8_t y = 0;
  Values results =
      run("scalars", {*client.createScalar(ElementType::f32, &x), *client.createScalar(ElementType::i1, &y)});
  EXPECT_EQ(asMemRef(results[0].get())->rank(), 0);
  EXPECT_EQ(elements<float>(results[0]), Floats{42});
  EXPECT_EQ(elements<uint8_t>(results[1]), std::vector<uint8_t>{1});
  EXPECT_EQ(asMemRef(results[2].get())->elementCount(), 0);
  // A memref of rank 0 does as well.
  results = run("scalars",
                {memref<float>(client, ElementType::f32, {}, {1}), memref<uint8_t>(client, ElementType::i1, {}, {1})});
  EXPECT_EQ(elements<float>(results[0]), Floats{2});
  EXPECT_EQ(elements<uint8_t>(results[1]), std::vector<uint8_t>{0});
}

TEST_F(SessionTest, ShapesKnownAfterTheRequest) {
  auto results = run("positive", {f32({1, -2, 3, -4, 5})});
  EXPECT_EQ(elements<float>(results[0]), (Floats{1, 3, 5}));
  EXPECT_EQ(asMemRef(run("positive", {f32({-1})})[0].get())->elementCount(), 0);
  EXPECT_EQ(asMemRef(run("positive", {f32({})})[0].get())->elementCount(), 0);
  // A given memref gets a copy when its shape is right.
  auto out = f32({0, 0});
  run("positive", {f32({7, -1, 8})}, {out});
  EXPECT_EQ(elements<float>(out), (Floats{7, 8}));
  EXPECT_EQ(failure("positive", {f32({7, 1, 8})}, {out}),
            "InvalidArgument: function 'positive', result 0: Runtime shape mismatch: the result has shape [3], but the "
            "given memref has shape [2]");
}

TEST_F(SessionTest, ShapesKnownAtTheRequest) {
  auto in = memref<float>(client, ElementType::f32, {2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(elements<float>(run("negate", {in})[0]), (Floats{-1, -2, -3, -4}));
  auto out = memref<float>(client, ElementType::f32, {2, 2}, {0, 0, 0, 0});
  uint64_t staged = session->statistics().staging.count;
  run("negate", {in}, {out});
  EXPECT_EQ(elements<float>(out), (Floats{-1, -2, -3, -4}));
  EXPECT_EQ(session->statistics().staging.count, staged);
  auto wrong = memref<float>(client, ElementType::f32, {1, 2}, {0, 0});
  EXPECT_NE(failure("negate", {in}, {wrong}).find("Runtime shape mismatch"), std::string::npos);
}

TEST_F(SessionTest, BoundsAreChecked) {
  auto in = memref<float>(client, ElementType::f32, {9, 2}, Floats(18, 1));
  EXPECT_EQ(failure("negate", {in}), "InvalidArgument: function 'negate', argument 0: Runtime shape mismatch: expected "
                                     "[?, 2], got [9, 2]: dimension 0 is 9, but must be between 1 and 8");
}

TEST_F(SessionTest, BoundsOfValuesAreChecked) {
  EXPECT_EQ(failure("limited", {i64(1001)}),
            "InvalidArgument: function 'limited', argument 0: element 0 is 1001, but must "
            "be between -3 and 1000");
  auto array = memref<int64_t>(client, ElementType::i64, {}, {-4});
  EXPECT_NE(failure("limited", {array}).find("element 0 is -4, but must be between -3 and 1000"), std::string::npos);
}

TEST_F(SessionTest, ShapesWithoutResults) {
  auto shapes = session->outputShapes("limited", Values{i64(7)});
  ASSERT_TRUE(shapes.isOk()) << shapes.status().str();
  EXPECT_EQ(*shapes, (std::vector<std::vector<int64_t>>{{7}, {2}, {dynamicExtent}}));
  // A function whose shapes are in its signature needs none.
  auto known = session->outputShapes("scalars", Values{i64(7), i64(7)});
  ASSERT_TRUE(known.isOk());
  EXPECT_EQ(*known, (std::vector<std::vector<int64_t>>{{}, {}, {0}}));
  EXPECT_NE(session->outputShapes("limited", Values{}).status().str().find("expects 1 arguments, got 0"),
            std::string::npos);
  EXPECT_FALSE(session->outputShapes("nobody", Values{}).isOk());
}

TEST_F(SessionTest, RequestsMayGrow) {
  EXPECT_EQ(elements<int64_t>(run("grow", {i64(5)})[0]), (std::vector<int64_t>{0, 1, 2, 3, 4}));
  auto large = elements<int64_t>(run("grow", {i64(100000)})[0]);
  EXPECT_EQ(large.size(), 100000u);
  EXPECT_EQ(large.back(), 99999);
  EXPECT_EQ(session->statistics().results.liveBytes, 0);
}

TEST_F(SessionTest, WrongArguments) {
  auto good = f32({1, 2, 3, 4});
  EXPECT_EQ(failure("add", {good}), "InvalidArgument: function 'add' expects 2 arguments, got 1");
  EXPECT_EQ(failure("add", {good, memref<int32_t>(client, ElementType::i32, {4}, {1, 2, 3, 4})}),
            "InvalidArgument: function 'add', argument 1: function expects a memref type with element type f32 and "
            "shape [4], got element type i32");
  EXPECT_EQ(failure("add", {good, memref<float>(client, ElementType::f32, {2, 2}, {1, 2, 3, 4})}),
            "InvalidArgument: function 'add', argument 1: function expects a memref type with element type f32 and "
            "shape [4] (rank 1), got shape [2, 2] (rank 2)");
  EXPECT_EQ(failure("add", {f32({1, 2, 3}), good}),
            "InvalidArgument: function 'add', argument 0: Runtime shape mismatch: "
            "expected [4], got [3]");
  const int64_t start[] = {0}, limit[] = {8}, step[] = {2};
  EXPECT_EQ(
      failure("add", {*f32({1, 2, 3, 4, 5, 6, 7, 8})->slice(start, limit, step), good}),
      "InvalidArgument: function 'add', argument 0: Given strides [2] do not match canonical strides [1] for shape "
      "[4]; copy the value to make it contiguous");
  EXPECT_EQ(failure("add", {good, nullptr}),
            "InvalidArgument: function 'add', argument 1: function expects a memref type "
            "with element type f32 and shape [4], got nothing");
  EXPECT_NE(failure("add", {good, i32(1)}).find("got a scalar of element type i32"), std::string::npos);
  EXPECT_EQ(failure("check", {i64(1)}), "InvalidArgument: function 'check', argument 0: function expects a memref type "
                                        "with element type i32 and shape [], got a scalar of element type i64");
  EXPECT_NE(failure("nosuch", {}).find("NotFound: there is no function 'nosuch'"), std::string::npos);
}

TEST_F(SessionTest, WrongGivenResults) {
  auto good = f32({1, 2, 3, 4});
  EXPECT_EQ(failure("add", {good, good}, {good, good}),
            "InvalidArgument: function 'add' has 1 results, got 2 output arguments");
  EXPECT_EQ(failure("add", {good, good}, {f32({0, 0, 0, 0, 0})}),
            "InvalidArgument: function 'add', result 0: Runtime shape mismatch: expected [4], got [5]");
  EXPECT_NE(failure("swap", {good, good}, {good, memref<double>(client, ElementType::f64, {4}, {1, 2, 3, 4})})
                .find("result 1: function expects a memref type with element type f32"),
            std::string::npos);
  EXPECT_NE(failure("check", {i32(1)}, {i32(1)}).find("a result needs a memref"), std::string::npos);
  float memory[8] = {};
  const int64_t shape[] = {4}, strides[] = {2};
  EXPECT_NE(failure("add", {good, good}, {*client.createHostView(memory, ElementType::f32, shape, strides)})
                .find("result 0: Given strides [2] do not match canonical strides [1] for shape [4]"),
            std::string::npos);
  EXPECT_NE(failure("add", {good, good}, {*client.createHostView(memory, ElementType::f32, shape, {}, true)})
                .find("result 0: the memref to write is read-only"),
            std::string::npos);
}

TEST_F(SessionTest, FunctionsThatFail) {
  EXPECT_EQ(elements<int32_t>(run("check", {i32(5)})[0]), std::vector<int32_t>{5});
  EXPECT_EQ(failure("check", {i32(-5)}), "InvalidArgument: function 'check': the number must not be negative");
  EXPECT_EQ(elements<int32_t>(run("check", {i32(6)})[0]), std::vector<int32_t>{6});
  EXPECT_EQ(failure("failing_tasks", {}), "InvalidArgument: function 'failing_tasks': a task failed");
  EXPECT_EQ(session->statistics().results.liveBytes, 0);
  EXPECT_EQ(session->statistics().failedCalls, 2u);
}

TEST_F(SessionTest, FunctionsThatBreakTheContract) {
  EXPECT_NE(failure("forget", {}).find("InternalError: function 'forget', result 0: the function returned without"),
            std::string::npos);
  EXPECT_NE(failure("short", {}).find("result 0: requested 1 of 4 bytes"), std::string::npos);
  EXPECT_NE(failure("range", {}).find("requested 4 bytes for result 5 of 0"), std::string::npos);
}

TEST_F(SessionTest, TemporariesAndWorkspace) {
  Values results = run("temporaries", {f32(Floats(64, 1))});
  EXPECT_EQ(elements<float>(results[0]), Floats(64, 5));
  SessionStatistics statistics = session->statistics();
  EXPECT_EQ(statistics.temporaries.count, 2u);
  EXPECT_EQ(statistics.temporaries.liveBytes, 0);
  EXPECT_EQ(statistics.workspaceBytes, 256);
  run("temporaries", {f32(Floats(64, 1))});
  EXPECT_EQ(session->statistics().workspaceBytes, 256);
}

TEST_F(SessionTest, LoopsThatAllocate) {
  Values results = run("generations", {i64(1000)});
  EXPECT_EQ(elements<int64_t>(results[0]).size(), 1000u);
  EXPECT_EQ(elements<int64_t>(results[0]).back(), 999);
  SessionStatistics statistics = session->statistics();
  EXPECT_EQ(statistics.temporaries.count, 2001u);
  EXPECT_EQ(statistics.temporaries.liveBytes, 0);
  // Two generations, and what the last engine function needed.
  EXPECT_EQ(statistics.temporaries.peakBytes, 8 * (999 + 1000 + 1000));
  int64_t held = statistics.system.liveBytes;
  for (int i = 0; i < 10; ++i)
    run("generations", {i64(1000)});
  EXPECT_LE(session->statistics().system.liveBytes, held + 65536);
}

TEST_F(SessionTest, AddressesInsideTheImage) {
  EXPECT_EQ(elements<int32_t>(run("table", {i32(5)})[0]), std::vector<int32_t>{(((5 + 1) * 2 - 3) + 1) * 2 - 3});
}

TEST_F(SessionTest, FloatingPointEnvironment) {
  unsigned saved = _mm_getcsr();
  _mm_setcsr(saved | 0x8040 | 0x6000); // flush to zero, denormals are zero, round towards zero
  float tiny = std::numeric_limits<float>::min(), half = 0.5f;
  Values results =
      run("multiply", {*client.createScalar(ElementType::f32, &tiny), *client.createScalar(ElementType::f32, &half)});
  unsigned after = _mm_getcsr();
  _mm_setcsr(saved);
  EXPECT_EQ(after & ~0x3fu, (saved | 0x8040 | 0x6000) & ~0x3fu);
  uint32_t bits = elements<uint32_t>(results[0])[0];
  EXPECT_EQ(bits, 0x00400000u);
}

TEST_F(SessionTest, ResultsOfEarlierCallsStay) {
  std::vector<Ref<Value>> kept;
  for (int k = 0; k < 50; ++k)
    kept.push_back(run("double", {f32(Floats(8, float(k)))})[0]);
  for (size_t k = 0; k < kept.size(); k += 2)
    kept[k].reset();
  for (int k = 0; k < 50; ++k)
    kept.push_back(run("double", {f32(Floats(8, float(k)))})[0]);
  for (size_t k = 1; k < 50; k += 2)
    EXPECT_EQ(elements<float>(kept[k]), Floats(8, 2 * float(k)));
}

TEST_F(SessionTest, RepeatedCallsTakeNothingFromTheSystem) {
  auto a = f32({1, 2, 3, 4});
  Value *arguments[] = {a.get(), a.get()};
  Ref<Value> results[1];
  const FunctionSignature &add = *session->executable()->findFunction("add");
  ASSERT_TRUE(session->call(add, arguments, results).isOk());
  results[0].reset();
  void *address = nullptr;
  uint64_t before = session->statistics().system.allocations;
  for (int i = 0; i < 100000; ++i) {
    ASSERT_TRUE(session->call(add, arguments, results).isOk());
    address = asMemRef(results[0].get())->data();
    results[0].reset();
  }
  EXPECT_NE(address, nullptr);
  SessionStatistics statistics = session->statistics();
  EXPECT_EQ(statistics.system.allocations, before);
  EXPECT_EQ(statistics.results.count, 100001u);
  EXPECT_EQ(statistics.results.peakBytes, 16);
}

TEST_F(SessionTest, ResultsOutliveEverything) {
  Values results = run("double", {f32(Floats(8, 3))});
  auto *data = static_cast<float *>(asMemRef(results[0].get())->data());
  session.reset();
  EXPECT_EQ(data[7], 6);
  results.clear();
}

TEST_F(SessionTest, CallsOnAStreamKeepItsOrder) {
  auto stream = *client.createStream();
  auto a = f32(Floats(8, 1));
  auto *data = static_cast<float *>(a->data());
  (void)stream->enqueue([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    data[0] = 21;
    return okStatus();
  });
  const Ref<Value> arguments[] = {a};
  auto results = session->execute("double", arguments, {}, stream.get());
  ASSERT_TRUE(results.isOk());
  EXPECT_EQ(elements<float>((*results)[0])[0], 42);
}

TEST_F(SessionTest, OneSessionManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const Ref<Value> arguments[] = {f32(Floats(8, float(t)))};
      for (int i = 0; i < 300; ++i) {
        auto results = session->execute("double", arguments);
        ASSERT_TRUE(results.isOk());
        ASSERT_EQ(elements<float>((*results)[0]), Floats(8, 2 * float(t)));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(session->statistics().calls, 1200u);
}

TEST_F(SessionTest, ManySessionsOneExecutable) {
  auto parallelClient = *Client::create({2});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      auto own = *Session::create(parallelClient, session->executable());
      const Ref<Value> arguments[] = {
          memref<float>(*parallelClient, ElementType::f32, {1024, 64}, Floats(65536, float(t)))};
      for (int i = 0; i < 20; ++i) {
        auto results = own->execute(i % 2 ? "squares" : "nested", arguments);
        ASSERT_TRUE(results.isOk());
        ASSERT_EQ(elements<float>((*results)[0]), Floats(65536, i % 2 ? float(t * t) : float(t + 1)));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Session, BadOptions) {
  auto client = *Client::create();
  auto executable = *Executable::fromBytes(writeFunctions());
  RuntimeSessionOptions options;
  options.deviceId = 1;
  EXPECT_EQ(Session::create(client, executable, options).status().message(),
            "session options: device 1 of 1 does not exist");
  options = {};
  options.features = {"cpu", "tensorrt"};
  EXPECT_EQ(Session::create(client, executable, options).status().code(), StatusCode::unavailable);
  EXPECT_FALSE(Session::create(nullptr, executable).isOk());
}

TEST(Session, FunctionsOfAnotherExecutable) {
  auto session = openFunctions(), other = openFunctions();
  Ref<Value> results[1];
  EXPECT_EQ(session->call(*other->executable()->findFunction("forget"), {}, results).code(),
            StatusCode::invalidArgument);
}
