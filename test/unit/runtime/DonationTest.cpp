// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Donation: the result gets the argument's memory where that is possible, the argument is gone, and nobody who still
// looks at the memory is harmed.

#include "TestExecutable.h"
#include "latewood/runtime/DLPack.h"

#include <gtest/gtest.h>

using namespace latewood::runtime;
using namespace latewood::test;

namespace {
using Floats = std::vector<float>;

class DonationTest : public testing::Test {
protected:
  Ref<Session> session = openFunctions();
  Client &client = *session->client();
  Ref<MemRefValue> value = floats(client, {1, 2, 3, 4, 5, 6, 7, 8});
  void *data = value->data();

  StatusOr<std::vector<Ref<Value>>> run(std::string_view function, const std::vector<Ref<Value>> &arguments,
                                        const std::vector<Ref<Value>> &outputs = {}) {
    return session->execute(function, arguments, outputs);
  }
};

const char *const isGone = "the value was donated to a call, which took its memory; it cannot be used again";
} // namespace

TEST_F(DonationTest, TheResultGetsTheMemory) {
  auto results = run("donate", {value});
  ASSERT_TRUE(results.isOk()) << results.status().str();
  EXPECT_EQ(asMemRef((*results)[0].get())->data(), data);
  EXPECT_EQ(elements<float>((*results)[0]), (Floats{2, 4, 6, 8, 10, 12, 14, 16}));
  EXPECT_EQ(session->statistics().results.count, 0u);
  EXPECT_EQ(session->statistics().staging.count, 0u);
}

TEST_F(DonationTest, DonatedValuesAreGone) {
  ASSERT_TRUE(run("donate", {value}).isOk());
  EXPECT_TRUE(value->isDonated());
  EXPECT_EQ(run("donate", {value}).status().message(), "function 'donate', argument 0: " + std::string(isGone));
  EXPECT_EQ(run("double", {value}).status().code(), StatusCode::failedPrecondition);
  EXPECT_EQ(client.copyToHost(*value).status().message(), isGone);
  EXPECT_FALSE(dlpack::exportTensorVersioned(value).isOk());
  const int64_t start[] = {0}, limit[] = {4}, step[] = {1};
  EXPECT_FALSE(value->slice(start, limit, step).isOk());
  EXPECT_FALSE(value->reshape(std::vector<int64_t>{2, 4}).isOk());
}

TEST_F(DonationTest, ChainsStayInOneBlock) {
  Ref<Value> x = std::move(value);
  for (int i = 0; i < 100; ++i) {
    auto results = run("donate", {x});
    ASSERT_TRUE(results.isOk());
    x = (*results)[0];
    ASSERT_EQ(asMemRef(x.get())->data(), data);
  }
}

TEST_F(DonationTest, MemoryThatOthersLookAtIsNotTaken) {
  const int64_t start[] = {0}, limit[] = {4}, step[] = {1};
  auto slice = *value->slice(start, limit, step);
  auto results = run("donate", {value});
  ASSERT_TRUE(results.isOk());
  EXPECT_NE(asMemRef((*results)[0].get())->data(), data);
  EXPECT_EQ(elements<float>(slice), (Floats{1, 2, 3, 4}));
  EXPECT_TRUE(value->isDonated());

  auto other = floats(client, Floats(8, 1));
  auto *tensor = *dlpack::exportTensor(other);
  ASSERT_TRUE(run("donate", {other}).isOk());
  EXPECT_EQ(static_cast<float *>(tensor->tensor.data)[0], 1);
  tensor->deleter(tensor);
}

TEST_F(DonationTest, FunctionsThatDoNotWorkInPlace) {
  auto results = run("donate_aside", {value});
  ASSERT_TRUE(results.isOk());
  EXPECT_EQ(elements<float>((*results)[0]), (Floats{8, 7, 6, 5, 4, 3, 2, 1}));
  EXPECT_TRUE(value->isDonated());
}

TEST_F(DonationTest, GivenResultsAreWritten) {
  auto out = floats(client, Floats(8, 0));
  ASSERT_TRUE(run("donate", {value}, {out}).isOk());
  EXPECT_EQ(elements<float>(out), (Floats{2, 4, 6, 8, 10, 12, 14, 16}));
  EXPECT_TRUE(value->isDonated());
}

TEST_F(DonationTest, MemoryOfOthersIsNotTaken) {
  Floats memory(8, 3);
  const int64_t shape[] = {8};
  auto view = *client.createHostView(memory.data(), ElementType::f32, shape);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(elements<float>((*run("donate", {view}))[0]), Floats(8, 6));
  EXPECT_EQ(memory, Floats(8, 3));
}

TEST_F(DonationTest, DonatingTwiceInOneCall) {
  auto a = floats(client, {1, 2, 3, 4});
  EXPECT_EQ(run("donate_first", {a, a}).status().message(),
            "function 'donate_first', argument 0: the argument is donated, and argument 1 shares its memory");
  EXPECT_FALSE(a->isDonated());
  ASSERT_TRUE(run("donate_first", {a, floats(client, {5, 6, 7, 8})}).isOk());
  EXPECT_TRUE(a->isDonated());
}

TEST_F(DonationTest, FailedCallsGiveBack) {
  auto number = memref<int32_t>(client, ElementType::i32, {}, {-1});
  EXPECT_FALSE(run("donate_check", {number}).isOk());
  EXPECT_FALSE(number->isDonated());
  EXPECT_FALSE(run("donate", {number}).isOk());
  EXPECT_FALSE(number->isDonated());
}

TEST_F(DonationTest, OnAStream) {
  auto stream = *Stream::create();
  const FunctionSignature &function = *session->executable()->findFunction("donate");
  Ref<Value> x = value;
  for (int i = 0; i < 3; ++i) {
    Value *arguments[] = {x.get()};
    Ref<Value> results[1];
    ASSERT_TRUE(session->enqueue(function, arguments, results, *stream).isOk());
    EXPECT_FALSE(session->enqueue(function, arguments, results, *stream).isOk());
    x = results[0];
  }
  ASSERT_TRUE(stream->sync().isOk());
  EXPECT_EQ(elements<float>(x), (Floats{8, 16, 24, 32, 40, 48, 56, 64}));
}
