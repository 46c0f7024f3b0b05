// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values: shapes and strides are checked, views stay inside their storage and keep it alive, copies follow strides.

#include "TestExecutable.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace latewood::runtime;
using namespace latewood::test;

namespace {
Ref<Client> makeClient() { return *Client::create(); }
using List = std::vector<int64_t>;
std::span<const int64_t> span(const List &list) { return list; }

Ref<MemRefValue> iota(Client &client, List shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  std::vector<float> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0.f);
  return memref(client, ElementType::f32, shape, numbers);
}
} // namespace

TEST(Value, CreateMemRef) {
  auto client = makeClient();
  auto value = *client->createMemRef(ElementType::bf16, span({2, 3, 4}));
  EXPECT_EQ(value->sizeInBytes(), 48);
  EXPECT_EQ(List(value->strides().begin(), value->strides().end()), (List{12, 4, 1}));
  EXPECT_TRUE(value->hasCanonicalStrides());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(value->data()) % 64, 0u);
  EXPECT_EQ(value->str(), "memref<2x3x4xbf16>");
}

TEST(Value, RanksBeyondTheInlineOnes) {
  auto client = makeClient();
  auto value = *client->createMemRef(ElementType::i8, span({2, 1, 2, 1, 2, 1, 2, 1, 2, 3}));
  EXPECT_EQ(value->rank(), 10);
  EXPECT_EQ(value->elementCount(), 96);
  EXPECT_EQ(value->strides()[0], 48);
}

TEST(Value, BadShapes) {
  auto client = makeClient();
  EXPECT_EQ(client->createMemRef(ElementType::f32, span({-1})).status().str(),
            "InvalidArgument: shape [?] has a negative extent");
  EXPECT_EQ(client->createMemRef(ElementType::f32, span({INT64_MAX, 3})).status().code(), StatusCode::invalidArgument);
  EXPECT_EQ(client->createMemRef(ElementType::invalid, span({1})).status().code(), StatusCode::invalidArgument);
  EXPECT_EQ(client->createMemRef(ElementType::f32, span({INT64_MAX / 8})).status().code(), StatusCode::outOfMemory);
  EXPECT_TRUE(client->createMemRef(ElementType::f32, span({0, 1 << 30})).isOk());
}

TEST(Value, EmptyValuesHaveAnAddress) {
  auto client = makeClient();
  EXPECT_NE((*client->createMemRef(ElementType::f32, span({0})))->data(), nullptr);
  EXPECT_NE((*client->createHostView(nullptr, ElementType::f32, span({3, 0})))->data(), nullptr);
  EXPECT_EQ(client->createHostView(nullptr, ElementType::f32, span({3})).status().code(), StatusCode::invalidArgument);
}

TEST(Value, ViewsCallTheirReleaseFunctionOnce) {
  auto client = makeClient();
  float memory[4] = {1, 2, 3, 4};
  int released = 0;
  {
    auto view = *client->createHostView(memory, ElementType::f32, span({4}), {}, false, [&] { ++released; });
    auto part = *view->slice(span({1}), span({3}), span({1}));
    view.reset();
    EXPECT_EQ(released, 0);
    EXPECT_EQ(static_cast<float *>(part->data()), memory + 1);
  }
  EXPECT_EQ(released, 1);
  // On failure, too.
  EXPECT_FALSE(client->createHostView(memory, ElementType::f32, span({-4}), {}, false, [&] { ++released; }).isOk());
  EXPECT_EQ(released, 2);
  auto *odd = reinterpret_cast<uint8_t *>(memory) + 1;
  EXPECT_FALSE(client->createHostView(odd, ElementType::f32, span({2}), {}, false, [&] { ++released; }).isOk());
  EXPECT_EQ(released, 3);
}

TEST(Value, StridedViews) {
  auto client = makeClient();
  float memory[6] = {0, 1, 2, 3, 4, 5};
  auto transposed = *client->createHostView(memory, ElementType::f32, span({3, 2}), span({1, 3}));
  EXPECT_FALSE(transposed->hasCanonicalStrides());
  EXPECT_EQ(transposed->str(), "memref<3x2xf32, strided<[1, 3]>>");
  EXPECT_EQ(elements<float>(*client->copyToHost(*transposed)), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  auto reversed = *client->createHostView(memory + 5, ElementType::f32, span({6}), span({-1}));
  EXPECT_EQ(elements<float>(*client->copyToHost(*reversed)), (std::vector<float>{5, 4, 3, 2, 1, 0}));
}

TEST(Value, UnitAndZeroExtentsLeaveStridesFree) {
  auto client = makeClient();
  float memory[4] = {};
  EXPECT_TRUE((*client->createHostView(memory, ElementType::f32, span({1, 4}), span({77, 1})))->hasCanonicalStrides());
  EXPECT_TRUE((*client->createHostView(memory, ElementType::f32, span({4, 0}), span({9, 9})))->hasCanonicalStrides());
  EXPECT_FALSE((*client->createHostView(memory, ElementType::f32, span({2, 1}), span({2, 1})))->hasCanonicalStrides());
}

TEST(Value, SlicesAreCheckedAndShareMemory) {
  auto client = makeClient();
  auto value = iota(*client, {4, 5});
  auto part = *value->slice(span({1, 0}), span({4, 5}), span({2, 3}));
  EXPECT_EQ(List(part->shape().begin(), part->shape().end()), (List{2, 2}));
  EXPECT_EQ(elements<float>(*client->copyToHost(*part)), (std::vector<float>{5, 8, 15, 18}));
  EXPECT_EQ(part->storage(), value->storage());
  EXPECT_FALSE(value->slice(span({0, 0}), span({4, 6}), span({1, 1})).isOk());
  EXPECT_FALSE(value->slice(span({0, 0}), span({4, 5}), span({0, 1})).isOk());
  EXPECT_FALSE(value->slice(span({3, 0}), span({2, 5}), span({1, 1})).isOk());
  EXPECT_FALSE(value->slice(span({0}), span({2}), span({1})).isOk());
  EXPECT_EQ((*value->slice(span({4, 5}), span({4, 5}), span({1, 1})))->elementCount(), 0);
}

TEST(Value, Reshape) {
  auto client = makeClient();
  auto value = iota(*client, {4, 6});
  EXPECT_EQ((*value->reshape(span({2, 12})))->str(), "memref<2x12xf32>");
  EXPECT_FALSE(value->reshape(span({5, 5})).isOk());
  auto part = *value->slice(span({0, 0}), span({4, 3}), span({1, 1}));
  EXPECT_NE(part->reshape(span({12})).status().message().find("do not match canonical strides [3, 1]"),
            std::string::npos);
}

TEST(Value, CopiesCheckTheirTypes) {
  auto client = makeClient();
  auto a = iota(*client, {4}), b = iota(*client, {5});
  EXPECT_EQ(client->copyInto(*a, *b).message(), "copy: expected memref<4xf32>, got memref<5xf32>");
  float memory[4];
  auto readOnly = *client->createHostView(memory, ElementType::f32, span({4}), {}, true);
  EXPECT_FALSE(client->copyInto(*a, *readOnly).isOk());
}

TEST(Value, MemoryIsCounted) {
  auto client = makeClient();
  auto value = *client->createMemRef(ElementType::f32, span({1024}));
  EXPECT_EQ(client->statistics().system.liveBytes, 4096);
  auto view = *value->reshape(span({32, 32}));
  value.reset();
  EXPECT_EQ(client->statistics().system.liveBytes, 4096);
  view.reset();
  EXPECT_EQ(client->statistics().system.liveBytes, 0);
}

TEST(Value, ValuesOutliveTheirClient) {
  Ref<MemRefValue> value;
  {
    auto client = makeClient();
    value = iota(*client, {8});
  }
  EXPECT_EQ(elements<float>(value)[7], 7);
}
