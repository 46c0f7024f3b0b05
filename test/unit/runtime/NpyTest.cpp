// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NumPy's files: what is written is read back, and no bytes whatever do more than give an error.

#include "latewood/tools/Npy.h"
#include "TestExecutable.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <zlib.h>

using namespace latewood;
using namespace latewood::runtime;
using namespace latewood::test;

namespace {
std::vector<uint8_t> npy(const std::string &header, const std::vector<uint8_t> &data) {
  std::string text = std::string("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size());
  text += '\0';
  text += header;
  std::vector<uint8_t> bytes(text.begin(), text.end());
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

std::vector<uint8_t> slurp(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::vector<uint8_t>(std::istreambuf_iterator<char>(file), {});
}

class NpyTest : public testing::Test {
protected:
  Ref<Client> client = *Client::create();
  std::string path = testing::TempDir() + "latewood-npy-test-" + std::to_string(getpid());
  ~NpyTest() override { std::remove(path.c_str()); }
};
} // namespace

TEST_F(NpyTest, NpzRoundTrip) {
  path += ".npz";
  auto a = memref<float>(*client, ElementType::f32, {2, 3}, {1, 2, 3, 4, 5, 6});
  auto b = memref<uint16_t>(*client, ElementType::bf16, {2}, {0x3f80, 0x4000});
  auto c = *client->createMemRef(ElementType::i64, std::vector<int64_t>{0, 4});
  double number = 2.5;
  auto d = *client->createScalar(ElementType::f64, &number);
  const tools::NamedValue values[] = {{"a", a}, {"b", b}, {"c", c}, {"d", d}};
  ASSERT_TRUE(tools::writeArrays(path, values).isOk());
  auto arrays = tools::readArrays(*client, path);
  ASSERT_TRUE(arrays.isOk()) << arrays.status().str();
  ASSERT_EQ(arrays->size(), 4u);
  EXPECT_EQ((*arrays)[0].name, "a");
  EXPECT_EQ((*arrays)[0].value->str(), "memref<2x3xf32>");
  EXPECT_EQ(elements<float>((*arrays)[0].value), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ((*arrays)[1].descr, "<V2");
  EXPECT_EQ(asMemRef(tools::resolve((*arrays)[1], ElementType::bf16)->get())->str(), "memref<2xbf16>");
  EXPECT_FALSE(tools::resolve((*arrays)[1], ElementType::f16).isOk());
  EXPECT_EQ((*arrays)[2].value->str(), "memref<0x4xi64>");
  EXPECT_EQ((*arrays)[3].value->str(), "memref<f64>");
}

TEST_F(NpyTest, NpyRoundTripAndAlignment) {
  path += ".npy";
  auto a = memref<int32_t>(*client, ElementType::i32, {3}, {1, 2, 3});
  const tools::NamedValue values[] = {{"a", a}};
  ASSERT_TRUE(tools::writeArrays(path, values).isOk());
  EXPECT_EQ(slurp(path).size(), 128u + 12u);
  auto arrays = *tools::readArrays(*client, path);
  EXPECT_EQ(elements<int32_t>(arrays[0].value), (std::vector<int32_t>{1, 2, 3}));
  const tools::NamedValue two[] = {{"a", a}, {"b", a}};
  EXPECT_FALSE(tools::writeArrays(path, two).isOk());
}

TEST_F(NpyTest, FortranOrder) {
  auto array =
      tools::parseNpy(*client, npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", {1, 2, 3, 4, 5, 6}));
  ASSERT_TRUE(array.isOk()) << array.status().str();
  EXPECT_EQ(elements<uint8_t>(array->value), (std::vector<uint8_t>{1, 3, 5, 2, 4, 6}));
}

TEST_F(NpyTest, BadFiles) {
  auto problem = [&](const std::vector<uint8_t> &bytes) { return tools::parseNpy(*client, bytes).status().str(); };
  EXPECT_NE(problem({1, 2, 3}).find("expected it to begin with \\x93NUMPY"), std::string::npos);
  EXPECT_NE(problem(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", {0, 0, 0, 0}))
                .find("expected 8 bytes of data for shape [2] and type '<f4', got 4"),
            std::string::npos);
  EXPECT_NE(problem(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", {0, 0, 0, 0})).find("big-endian"),
            std::string::npos);
  EXPECT_NE(problem(npy("{'descr': 'U5', 'fortran_order': False, 'shape': (1,), }", {})).find("'U5'"),
            std::string::npos);
  EXPECT_NE(problem(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", {})).find("structured"),
            std::string::npos);
  EXPECT_NE(problem(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 9999999999), }", {}))
                .find("more bytes than can be counted"),
            std::string::npos);
  EXPECT_EQ(tools::readArrays(*client, path + "-missing").status().code(), StatusCode::notFound);
}

TEST_F(NpyTest, DeflatedEntries) {
  // One deflated entry, as numpy.savez_compressed writes it.
  std::vector<uint8_t> contents =
      npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1000,), }\n", std::vector<uint8_t>(1000, 7));
  std::vector<uint8_t> packed(2000);
  z_stream stream{};
  ASSERT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = contents.data();
  stream.avail_in = static_cast<uInt>(contents.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  ASSERT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  std::vector<uint8_t> archive;
  auto put = [&](uint64_t number, int width) {
    for (int i = 0; i < width; ++i)
      archive.push_back(static_cast<uint8_t>(number >> (8 * i)));
  };
  auto crc = crc32(0, contents.data(), static_cast<uInt>(contents.size()));
  auto fields = [&] {
    put(0, 2), put(8, 2), put(0, 4), put(crc, 4), put(packed.size(), 4), put(contents.size(), 4), put(5, 2), put(0, 2);
  };
  const std::string name = "a.npy";
  put(0x04034b50, 4), put(20, 2), fields();
  archive.insert(archive.end(), name.begin(), name.end());
  archive.insert(archive.end(), packed.begin(), packed.end());
  size_t directory = archive.size();
  put(0x02014b50, 4), put(20, 2), put(20, 2), fields(), put(0, 2), put(0, 2), put(0, 2), put(0, 4), put(0, 4);
  archive.insert(archive.end(), name.begin(), name.end());
  size_t size = archive.size() - directory;
  put(0x06054b50, 4), put(0, 4), put(1, 2), put(1, 2), put(size, 4), put(directory, 4), put(0, 2);
  auto arrays = tools::parseNpz(*client, archive);
  ASSERT_TRUE(arrays.isOk()) << arrays.status().str();
  EXPECT_EQ(elements<uint8_t>((*arrays)[0].value), std::vector<uint8_t>(1000, 7));

  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    auto mutated = archive;
    for (unsigned k = 0; k <= random() % 3; ++k)
      mutated[random() % mutated.size()] = static_cast<uint8_t>(random());
    mutated.resize(mutated.size() - (round % 3 == 0 ? random() % mutated.size() : 0));
    (void)tools::parseNpz(*client, mutated);
  }
}

TEST_F(NpyTest, DamagedArchivesAreTold) {
  path += ".npz";
  auto a = memref<float>(*client, ElementType::f32, {4}, {1, 2, 3, 4});
  const tools::NamedValue values[] = {{"a", a}, {"b", a}};
  ASSERT_TRUE(tools::writeArrays(path, values).isOk());
  auto bytes = slurp(path);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(tools::parseNpz(*client, std::span(bytes).first(size)).isOk()) << size;
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    auto mutated = bytes;
    for (unsigned k = 0; k <= random() % 3; ++k)
      mutated[random() % mutated.size()] = static_cast<uint8_t>(random());
    (void)tools::parseNpz(*client, mutated);
  }
}
