// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The result pool: blocks are used again, come back from any thread, outlive the pool's owner, and do not pile up.

#include "latewood/runtime/ResultPool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

using namespace latewood::runtime;

namespace {
struct Fixture {
  Ref<MemoryCounters> counters = Ref<MemoryCounters>::adopt(new MemoryCounters);
  Ref<ResultPool> pool = Ref<ResultPool>::adopt(new ResultPool(counters));
  ~Fixture() {
    if (pool)
      pool->close();
  }
  Ref<Storage> take(int64_t bytes, int64_t alignment = 64) {
    return Ref<Storage>::adopt(pool->take(bytes, alignment, Purpose::result));
  }
  SessionStatistics statistics() {
    SessionStatistics result;
    pool->readStatistics(result);
    return result;
  }
};
} // namespace

TEST(ResultPool, EveryBlockIsLargeEnoughAndAligned) {
  Fixture fixture;
  for (int64_t bytes = 0; bytes < 100000; bytes = bytes * 5 / 4 + 1)
    for (int64_t alignment : {64, 256, 4096}) {
      auto block = fixture.take(bytes, alignment);
      ASSERT_TRUE(block);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block->data()) % static_cast<uintptr_t>(alignment), 0u);
      EXPECT_EQ(block->sizeInBytes(), bytes);
      std::memset(block->data(), 1, static_cast<size_t>(bytes));
    }
}

TEST(ResultPool, DroppedBlocksAreUsedAgain) {
  Fixture fixture;
  auto a = fixture.take(5000), b = fixture.take(5000);
  EXPECT_NE(a->data(), b->data());
  uint8_t *address = a->data();
  a.reset();
  EXPECT_EQ(fixture.take(5000)->data(), address);
  for (int i = 0; i < 1000; ++i)
    fixture.take(4999);
  EXPECT_EQ(fixture.statistics().system.allocations, 2u);
  EXPECT_EQ(fixture.statistics().results.count, 1003u);
  EXPECT_EQ(fixture.statistics().results.liveBytes, 5000);
}

TEST(ResultPool, SizesThatVaryDoNotPileUp) {
  Fixture fixture;
  for (int64_t megabytes = 1; megabytes <= 64; ++megabytes)
    fixture.take(megabytes << 20);
  for (int64_t megabytes = 64; megabytes > 0; --megabytes)
    fixture.take(megabytes << 20);
  EXPECT_LE(fixture.statistics().system.peakBytes, 150ll << 20);
}

TEST(ResultPool, BlocksComeBackFromOtherThreads) {
  Fixture fixture;
  for (int round = 0; round < 50; ++round) {
    std::vector<Ref<Storage>> blocks;
    for (int i = 0; i < 40; ++i)
      blocks.push_back(fixture.take(1000 + i));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([part = std::vector<Ref<Storage>>(
                                blocks.begin() + 10 * t, blocks.begin() + 10 * t + 10)]() mutable { part.clear(); });
    blocks.clear();
    for (std::thread &thread : threads)
      thread.join();
  }
  EXPECT_LE(fixture.statistics().system.allocations, 80u);
  EXPECT_EQ(fixture.statistics().results.liveBytes, 0);
}

TEST(ResultPool, BlocksOutliveTheSession) {
  Fixture fixture;
  auto counters = fixture.counters;
  auto kept = fixture.take(100), dropped = fixture.take(100);
  dropped.reset();
  fixture.pool->close();
  fixture.pool.reset();
  std::memset(kept->data(), 1, 100);
  EXPECT_GT(counters->snapshot().liveBytes, 0);
  kept.reset();
  EXPECT_EQ(counters->snapshot().liveBytes, 0);
}

TEST(ResultPool, ImpossibleSizes) {
  Fixture fixture;
  EXPECT_FALSE(fixture.take(-1));
  EXPECT_FALSE(fixture.take(INT64_MAX));
  EXPECT_FALSE(fixture.take(INT64_MAX / 16));
  EXPECT_TRUE(fixture.take(10));
}
