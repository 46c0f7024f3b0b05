// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parallel loops: every task once, scratch of its own for every thread, loops inside loops, many callers.

#include "latewood/runtime/ThreadPool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>
#include <xmmintrin.h>

using namespace latewood::runtime;

namespace {
struct Counts {
  explicit Counts(size_t tasks) : counts(tasks) {}
  std::vector<std::atomic<int>> counts;
  std::atomic<bool> wasCorrupted{false};

  static void body(void *frame, int64_t begin, int64_t end, void *scratch) {
    auto &self = *static_cast<Counts *>(frame);
    auto *numbers = static_cast<int64_t *>(scratch);
    for (int64_t i = begin; i < end; ++i) {
      for (int k = 0; k < 64; ++k)
        numbers[k] = i;
      self.counts[static_cast<size_t>(i)].fetch_add(1);
      for (int k = 0; k < 64; ++k)
        if (numbers[k] != i)
          self.wasCorrupted = true;
    }
  }
};
} // namespace

TEST(ThreadPool, EveryTaskRunsOnce) {
  for (int threads : {1, 2, 4}) {
    auto pool = *ThreadPool::create(threads);
    EXPECT_EQ(pool->threadCount(), threads);
    for (size_t tasks : {0u, 1u, 2u, 3u, 100u, 5000u}) {
      Counts counts(tasks);
      EXPECT_TRUE(pool->parallelFor(Counts::body, &counts, static_cast<int64_t>(tasks), 512));
      for (auto &count : counts.counts)
        ASSERT_EQ(count.load(), 1);
      EXPECT_FALSE(counts.wasCorrupted);
    }
  }
}

TEST(ThreadPool, ManyCallers) {
  auto pool = *ThreadPool::create(3);
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 200; ++repeat) {
        Counts counts(37);
        EXPECT_TRUE(pool->parallelFor(Counts::body, &counts, 37, 512));
        for (auto &count : counts.counts)
          ASSERT_EQ(count.load(), 1);
        EXPECT_FALSE(counts.wasCorrupted);
      }
    });
  for (std::thread &caller : callers)
    caller.join();
}

TEST(ThreadPool, TasksRunInTheDefaultFloatingPointEnvironment) {
  auto pool = *ThreadPool::create(2);
  unsigned saved = _mm_getcsr();
  _mm_setcsr(saved | 0x8040);
  std::atomic<bool> isDefault{true};
  auto body = [](void *frame, int64_t, int64_t, void *) {
    if ((_mm_getcsr() & ~0x3fu) != 0x1f80)
      *static_cast<std::atomic<bool> *>(frame) = false;
  };
  EXPECT_TRUE(pool->parallelFor(body, &isDefault, 64, 0));
  EXPECT_EQ(_mm_getcsr() & ~0x3fu, (saved | 0x8040) & ~0x3fu);
  _mm_setcsr(saved);
  EXPECT_TRUE(isDefault);
}

TEST(ThreadPool, ScratchIsAligned) {
  auto pool = *ThreadPool::create(2);
  std::atomic<int> misaligned{0};
  auto body = [](void *frame, int64_t, int64_t, void *scratch) {
    if (reinterpret_cast<uintptr_t>(scratch) % 64 != 0)
      ++*static_cast<std::atomic<int> *>(frame);
    std::memset(scratch, 1, 1 << 20);
  };
  EXPECT_TRUE(pool->parallelFor(body, &misaligned, 8, 1 << 20));
  EXPECT_EQ(misaligned, 0);
}

TEST(ThreadPool, ImpossibleScratchIsReported) {
  auto pool = *ThreadPool::create(2);
  auto body = [](void *, int64_t, int64_t, void *) {};
  EXPECT_FALSE(pool->parallelFor(body, nullptr, 8, INT64_MAX));
  EXPECT_FALSE(pool->parallelFor(body, nullptr, 1, INT64_MAX));
}

TEST(ThreadPool, NumberOfThreads) {
  EXPECT_FALSE(ThreadPool::create(-1).isOk());
  setenv("LATEWOOD_NUM_THREADS", "3", 1);
  EXPECT_EQ((*ThreadPool::create(0))->threadCount(), 3);
  EXPECT_EQ((*ThreadPool::create(2))->threadCount(), 2);
  setenv("LATEWOOD_NUM_THREADS", "many", 1);
  EXPECT_EQ(ThreadPool::create(0).status().message(),
            "LATEWOOD_NUM_THREADS: expected a number from 1 to 1024, got 'many'");
  unsetenv("LATEWOOD_NUM_THREADS");
}
