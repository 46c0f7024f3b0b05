// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Given results that overlap arguments or each other: computed as if nothing overlapped.

#include "TestExecutable.h"

#include <gtest/gtest.h>

using namespace latewood::runtime;
using namespace latewood::test;

namespace {
using Floats = std::vector<float>;

class SessionOverlapTest : public testing::Test {
protected:
  Ref<Session> session = openFunctions();
  Client &client = *session->client();
  Floats memory = Floats{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

  Ref<Value> view(size_t offset, int64_t count) {
    const int64_t shape[] = {count};
    return *client.createHostView(memory.data() + offset, ElementType::f32, shape);
  }
  void run(std::string_view function, const std::vector<Ref<Value>> &arguments,
           const std::vector<Ref<Value>> &outputs) {
    auto results = session->execute(function, arguments, outputs);
    ASSERT_TRUE(results.isOk()) << results.status().str();
  }
  Floats part(size_t offset, size_t count) {
    auto begin = memory.begin() + static_cast<ptrdiff_t>(offset);
    return Floats(begin, begin + static_cast<ptrdiff_t>(count));
  }
  uint64_t staged() { return session->statistics().staging.count; }
};
} // namespace

TEST_F(SessionOverlapTest, SwapIntoTheArguments) {
  auto a = view(0, 4), b = view(4, 4);
  run("swap", {a, b}, {a, b});
  EXPECT_EQ(part(0, 8), (Floats{5, 6, 7, 8, 1, 2, 3, 4}));
}

TEST_F(SessionOverlapTest, SwapIntoOneArgument) {
  auto a = view(0, 4), b = view(4, 4);
  run("swap", {a, b}, {a, view(8, 4)});
  EXPECT_EQ(part(0, 12), (Floats{5, 6, 7, 8, 5, 6, 7, 8, 1, 2, 3, 4}));
  EXPECT_EQ(staged(), 1u);
}

TEST_F(SessionOverlapTest, TheArgumentItself) {
  auto a = view(0, 8);
  run("reverse", {a}, {a});
  EXPECT_EQ(part(0, 8), (Floats{8, 7, 6, 5, 4, 3, 2, 1}));
}

TEST_F(SessionOverlapTest, PartOfTheArgument) {
  run("reverse", {view(0, 8)}, {view(4, 8)});
  EXPECT_EQ(part(4, 8), (Floats{8, 7, 6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(part(0, 4), (Floats{1, 2, 3, 4}));
}

TEST_F(SessionOverlapTest, SafePairsAreNotStaged) {
  auto a = view(0, 8);
  run("double", {a}, {a});
  EXPECT_EQ(part(0, 8), (Floats{2, 4, 6, 8, 10, 12, 14, 16}));
  EXPECT_EQ(staged(), 0u);
  // Only at the same address.
  run("double", {view(0, 8)}, {view(2, 8)});
  EXPECT_EQ(part(2, 8), (Floats{4, 8, 12, 16, 20, 24, 28, 32}));
  EXPECT_EQ(staged(), 1u);
}

TEST_F(SessionOverlapTest, NeighboursAreNotStaged) {
  run("reverse", {view(0, 8)}, {view(8, 8)});
  EXPECT_EQ(staged(), 0u);
  EXPECT_EQ(part(8, 8), (Floats{8, 7, 6, 5, 4, 3, 2, 1}));
}

TEST_F(SessionOverlapTest, ResultsThatShareBytesAreCopiedInOrder) {
  run("swap", {view(0, 4), view(4, 4)}, {view(8, 4), view(10, 4)});
  EXPECT_EQ(part(8, 6), (Floats{5, 6, 1, 2, 3, 4}));
  EXPECT_EQ(staged(), 2u);
}

TEST_F(SessionOverlapTest, TwoViewsOfOneStorage) {
  auto base = floats(client, {1, 2, 3, 4, 5, 6, 7, 8});
  const int64_t shape[] = {4};
  Ref<Value> low = *MemRefValue::create(base->storage(), 0, ElementType::f32, shape);
  Ref<Value> high = *MemRefValue::create(base->storage(), 16, ElementType::f32, shape);
  run("swap", {low, high}, {high, low});
  // swap(low, high) = (old high, old low); written to (high, low), nothing moves.
  EXPECT_EQ(elements<float>(base), (Floats{1, 2, 3, 4, 5, 6, 7, 8}));
}
