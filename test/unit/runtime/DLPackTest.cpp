// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DLPack: round trips share memory, lifetimes hold in every order, and what cannot be expressed is refused.

#include "latewood/runtime/DLPack.h"
#include "TestExecutable.h"

#include <gtest/gtest.h>

using namespace latewood::runtime;
using namespace latewood::test;

TEST(DLPack, RoundTripSharesMemory) {
  auto client = *Client::create();
  auto value = floats(*client, {1, 2, 3});
  void *data = value->data();
  auto *tensor = *dlpack::exportTensorVersioned(value);
  value.reset();
  auto imported = *dlpack::importTensor(tensor);
  EXPECT_EQ(imported->data(), data);
  EXPECT_EQ(elements<float>(imported), (std::vector<float>{1, 2, 3}));
  imported.reset();
  EXPECT_EQ(client->statistics().system.liveBytes, 0);
}

TEST(DLPack, UnversionedRoundTrip) {
  auto client = *Client::create();
  auto *tensor = *dlpack::exportTensor(floats(*client, {4, 5}));
  tensor->tensor.strides = nullptr;
  auto imported = *dlpack::importTensor(tensor, true);
  EXPECT_EQ(elements<float>(imported), (std::vector<float>{4, 5}));
}

TEST(DLPack, ReadOnlyMemoryNeedsTheVersionedForm) {
  auto client = *Client::create();
  float memory[2] = {};
  const int64_t shape[] = {2};
  auto value = *client->createHostView(memory, ElementType::f32, shape, {}, true);
  EXPECT_FALSE(dlpack::exportTensor(value).isOk());
  auto *tensor = *dlpack::exportTensorVersioned(value);
  EXPECT_EQ(tensor->flags, dlpack::flagReadOnly);
  EXPECT_TRUE((*dlpack::importTensor(tensor))->isReadOnly());
}

TEST(DLPack, EveryTypeWithACodeGoesBothWays) {
  for (uint8_t number = 1; number <= static_cast<uint8_t>(ElementType::complex_f64); ++number) {
    auto type = static_cast<ElementType>(number);
    auto code = dlpack::dataType(type);
    EXPECT_EQ(code.isOk(), bitsOf(type) >= 8 || type == ElementType::i1) << elementTypeName(type);
    if (code.isOk()) {
      EXPECT_EQ(*dlpack::elementType(*code), type);
    }
  }
}

TEST(DLPack, RefusedTensorsAreGivenBack) {
  int deleted = 0;
  float memory[4] = {};
  int64_t shape[] = {2, 2}, strides[] = {1, 2};
  dlpack::ManagedTensor tensor{};
  tensor.tensor = {memory, {dlpack::deviceCPU, 0}, 2, {2, 32, 1}, shape, strides, 0};
  tensor.context = &deleted;
  tensor.deleter = [](dlpack::ManagedTensor *self) { ++*static_cast<int *>(self->context); };
  auto result = dlpack::importTensor(&tensor, true);
  EXPECT_EQ(result.status().message(), "Given strides [1, 2] do not match canonical strides [2, 1] for shape [2, 2]");
  EXPECT_EQ(deleted, 1);
  tensor.tensor.device.type = dlpack::deviceCUDA;
  EXPECT_EQ(dlpack::importTensor(&tensor).status().code(), StatusCode::unimplemented);
  EXPECT_EQ(deleted, 2);
  tensor.tensor.device.type = dlpack::deviceCPU;
  {
    auto value = *dlpack::importTensor(&tensor);
  }
  EXPECT_EQ(deleted, 3);
}
