// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams: order, events between streams, errors at `sync`, and endings.

#include "latewood/runtime/Stream.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace latewood::runtime;

TEST(Stream, WorkRunsInOrder) {
  auto stream = *Stream::create();
  std::vector<int> order;
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(stream
                    ->enqueue([&order, i] {
                      order.push_back(i);
                      return okStatus();
                    })
                    .isOk());
  EXPECT_TRUE(stream
                  ->runInOrder([&] {
                    order.push_back(100);
                    return okStatus();
                  })
                  .isOk());
  ASSERT_EQ(order.size(), 101u);
  for (int i = 0; i <= 100; ++i)
    EXPECT_EQ(order[static_cast<size_t>(i)], i);
  EXPECT_TRUE(stream->isIdle());
}

TEST(Stream, TheFirstFailureIsDeliveredOnce) {
  auto stream = *Stream::create();
  int ran = 0;
  (void)stream->enqueue([&] { return ++ran, invalidArgument("first"); });
  (void)stream->enqueue([&] { return ++ran, invalidArgument("second"); });
  EXPECT_EQ(stream->sync().message(), "first");
  EXPECT_EQ(ran, 2);
  EXPECT_TRUE(stream->sync().isOk());
}

TEST(Stream, EventsOrderStreams) {
  auto a = *Stream::create(), b = *Stream::create();
  std::atomic<int> value{0};
  (void)a->enqueue([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    value = 1;
    return okStatus();
  });
  auto event = *a->record();
  EXPECT_TRUE(b->waitFor(event).isOk());
  int seen = -1;
  (void)b->enqueue([&] {
    seen = value;
    return okStatus();
  });
  EXPECT_TRUE(b->sync().isOk());
  EXPECT_EQ(seen, 1);
  EXPECT_TRUE(event->isReady());
  EXPECT_TRUE(event->wait().isOk());
}

TEST(Stream, EventsOfIdleStreamsAreReady) {
  auto stream = *Stream::create();
  EXPECT_TRUE((*stream->record())->isReady());
}

TEST(Stream, DroppingAStreamWaitsForItsWork) {
  int ran = 0;
  {
    auto stream = *Stream::create();
    for (int i = 0; i < 10; ++i)
      (void)stream->enqueue([&] { return ++ran, okStatus(); });
  }
  EXPECT_EQ(ran, 10);
}

TEST(Stream, WorkMayDropTheLastReference) {
  auto event = [] {
    auto stream = *Stream::create();
    (void)stream->enqueue([stream] { return okStatus(); });
    return *stream->record();
  }();
  EXPECT_TRUE(event->wait().isOk());
}

TEST(Stream, WaitingForItselfIsAnError) {
  auto stream = *Stream::create();
  Status inside;
  (void)stream->enqueue([&] {
    inside = stream->sync();
    return okStatus();
  });
  EXPECT_TRUE(stream->sync().isOk());
  EXPECT_EQ(inside.code(), StatusCode::failedPrecondition);
}

TEST(Stream, ManyThreads) {
  auto stream = *Stream::create();
  int value = 0; // Guarded by the stream's order alone.
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        auto work = [&] { return ++value, okStatus(); };
        if ((i + t) % 2)
          (void)stream->runInOrder(work);
        else
          (void)stream->enqueue(work);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_TRUE(stream->sync().isOk());
  EXPECT_EQ(value, 800);
}

TEST(Stream, AForkedChildMakesItsOwn) {
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the thread sanitizer ends children that start threads";
#endif
  auto stream = *Stream::create();
  ASSERT_TRUE(stream->enqueue([] { return okStatus(); }).isOk());
  ASSERT_TRUE(stream->sync().isOk());
  pid_t child = fork();
  if (child == 0) {
    alarm(10); // a child that waits for a thread of its parent would wait for ever
    Status status = stream->enqueue([] { return okStatus(); });
    bool isRefused = status.code() == StatusCode::failedPrecondition && stream->sync().isOk();
    stream.reset();
    auto own = *Stream::create();
    bool hasRun = false;
    bool isWhole = own->enqueue([&] { return hasRun = true, okStatus(); }).isOk() && own->sync().isOk();
    _exit(isRefused && isWhole && hasRun ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(stream->enqueue([] { return okStatus(); }).isOk());
  EXPECT_TRUE(stream->sync().isOk());
}
