// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recordings: valid JSON, with the events that there must be, nested in time as they were, on the threads where they
// were; and nothing of what happened before or after.

#include "TestExecutable.h"

#include "latewood/runtime/Trace.h"

#include <flatbuffers/flexbuffers.h>
#include <flatbuffers/idl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>
#include <unistd.h>

using namespace latewood::runtime;
using namespace latewood::test;

namespace {
using Floats = std::vector<float>;

struct TraceEvent {
  std::string phase, category, name;
  int64_t thread;
  double begin, duration;
  std::map<std::string, int64_t> numbers;

  bool contains(const TraceEvent &other) const {
    return begin <= other.begin && other.begin + other.duration <= begin + duration + 0.001;
  }
};

class TraceTest : public testing::Test {
protected:
  std::string path = testing::TempDir() + "/latewood-trace-" + std::to_string(getpid()) + ".json";
  void TearDown() override { std::filesystem::remove(path); }

  /// Ends the recording and reads it back.
  std::vector<TraceEvent> stop() {
    Status status = Trace::stop(path);
    EXPECT_TRUE(status.isOk()) << status.str();
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    flatbuffers::Parser parser;
    flexbuffers::Builder builder;
    EXPECT_TRUE(parser.ParseFlexBuffer(text.str().c_str(), nullptr, &builder)) << parser.error_;
    std::vector<TraceEvent> events;
    auto list = flexbuffers::GetRoot(builder.GetBuffer()).AsMap()["traceEvents"].AsVector();
    for (size_t i = 0; i < list.size(); ++i) {
      auto map = list[i].AsMap();
      if (map["ph"].AsString().str() == "M")
        continue;
      TraceEvent event{map["ph"].AsString().str(),
                       map["cat"].AsString().str(),
                       map["name"].AsString().str(),
                       map["tid"].AsInt64(),
                       map["ts"].AsDouble(),
                       map["dur"].AsDouble(),
                       {}};
      EXPECT_EQ(map["pid"].AsInt64(), getpid());
      auto numbers = map["args"].AsMap();
      for (size_t n = 0; n < numbers.size(); ++n)
        event.numbers[numbers.Keys()[n].AsKey()] = numbers.Values()[n].AsInt64();
      events.push_back(std::move(event));
    }
    return events;
  }

  static std::vector<TraceEvent> select(const std::vector<TraceEvent> &events, const std::string &category) {
    std::vector<TraceEvent> result;
    for (const TraceEvent &event : events)
      if (event.category == category)
        result.push_back(event);
    return result;
  }
};
} // namespace

TEST_F(TraceTest, CallsAndWhatIsInThem) {
  ASSERT_TRUE(Trace::start().isOk());
  Ref<Session> session = openFunctions();
  Client &client = *session->client();
  Ref<Value> argument = floats(client, Floats(64, 1));
  ASSERT_TRUE(session->execute("temporaries", {{argument}}).isOk());
  std::vector<TraceEvent> events = stop();
  EXPECT_EQ(select(events, "load").size(), 1u);
  EXPECT_EQ(select(events, "session").size(), 1u);
  std::vector<TraceEvent> calls = select(events, "call"), host = select(events, "host");
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].name, "temporaries");
  EXPECT_EQ(calls[0].phase, "X");
  EXPECT_EQ(calls[0].thread, gettid());
  ASSERT_EQ(host.size(), 3u);
  EXPECT_EQ(host[0].name, "request");
  EXPECT_EQ(host[0].numbers["bytes"], 256);
  EXPECT_EQ(host[2].name, "allocate");
  for (const TraceEvent &event : host)
    EXPECT_TRUE(calls[0].contains(event));
  bool hasCounter = false;
  for (TraceEvent event : select(events, "memory"))
    hasCounter |= event.phase == "C" && event.numbers["bytes"] > 0;
  EXPECT_TRUE(hasCounter);
}

TEST_F(TraceTest, LoopsHaveNamesAndRanges) {
  Ref<Session> session = openFunctions(2);
  Ref<Value> argument = memref(*session->client(), ElementType::f32, {1024, 64}, Floats(1024 * 64, 2));
  ASSERT_TRUE(Trace::start().isOk());
  ASSERT_TRUE(session->execute("squares", {{argument}}).isOk());
  std::vector<TraceEvent> events = stop(), loops = select(events, "loop"), tasks = select(events, "tasks");
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].name, "squares");
  EXPECT_EQ(loops[0].numbers["tasks"], 1024);
  EXPECT_EQ(loops[0].numbers["scratch bytes"], 256);
  ASSERT_FALSE(tasks.empty());
  int64_t sum = 0;
  for (const TraceEvent &range : tasks) {
    EXPECT_EQ(range.name, "squares");
    sum += range.numbers.at("end") - range.numbers.at("begin");
  }
  EXPECT_EQ(sum, 1024);
}

TEST_F(TraceTest, CopiesAndStreams) {
  Ref<Session> session = openFunctions();
  Client &client = *session->client();
  Ref<Value> a = floats(client, {1, 2, 3, 4}), b = floats(client, {5, 6, 7, 8});
  ASSERT_TRUE(Trace::start().isOk());
  ASSERT_TRUE(session->execute("swap", {{a, b}}, {{a, b}}).isOk());
  Ref<Stream> stream = *Stream::create();
  Ref<Value> results[2];
  Value *arguments[] = {a.get(), b.get()};
  ASSERT_TRUE(session->enqueue(*session->executable()->findFunction("swap"), arguments, results, *stream).isOk());
  ASSERT_TRUE(stream->sync().isOk());
  std::vector<TraceEvent> events = stop();
  EXPECT_EQ(select(events, "copy").size(), 2u);
  ASSERT_EQ(select(events, "enqueue").size(), 1u);
  std::vector<TraceEvent> calls = select(events, "call");
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_NE(calls[0].thread, calls[1].thread);
}

TEST_F(TraceTest, OneAtATime) {
  EXPECT_EQ(Trace::stop(path).str(), "FailedPrecondition: no trace is being recorded");
  ASSERT_TRUE(Trace::start().isOk());
  EXPECT_TRUE(Trace::isOn());
  EXPECT_EQ(Trace::start().str(), "FailedPrecondition: a trace is being recorded already");
  EXPECT_TRUE(stop().empty());
  EXPECT_FALSE(Trace::isOn());
  // What happens between recordings is in none.
  Ref<Session> session = openFunctions();
  ASSERT_TRUE(Trace::start().isOk());
  ASSERT_TRUE(session->execute("nothing", {}).isOk());
  EXPECT_EQ(stop().size(), 1u);
  ASSERT_TRUE(Trace::start().isOk());
  EXPECT_EQ(Trace::stop("/no/such/folder/trace.json").str(),
            "Unavailable: cannot write the trace '/no/such/folder/trace.json': No such file or directory");
  EXPECT_FALSE(Trace::isOn());
}

TEST_F(TraceTest, StartsAndStopsWhileOthersCall) {
  std::atomic<bool> isDone{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      Ref<Session> session = openFunctions();
      while (!isDone.load())
        EXPECT_TRUE(session->execute("nothing", {}).isOk());
    });
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(Trace::start().isOk());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    stop();
  }
  isDone.store(true);
  for (std::thread &thread : threads)
    thread.join();
}
