// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The container: what is written is read back; equal input gives equal bytes; no truncation and no corruption passes.

#include "latewood/format/Container.h"
#include "latewood/format/ElementTypes.h"
#include "latewood/format/abi.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

using namespace latewood::format;

namespace {
/// A file in 64-byte aligned memory, as mapped files are.
class AlignedFile {
public:
  explicit AlignedFile(Bytes bytes)
      : memory(static_cast<uint8_t *>(std::aligned_alloc(64, (bytes.size() + 63) / 64 * 64 + 64))), size(bytes.size()) {
    if (size)
      std::memcpy(memory, bytes.data(), size);
  }
  ~AlignedFile() { std::free(memory); }
  AlignedFile(const AlignedFile &) = delete;
  uint8_t &operator[](size_t i) { return memory[i]; }
  Bytes first(size_t count) const { return {memory, count}; }
  Bytes bytes() const { return {memory, size}; }

private:
  uint8_t *memory;
  size_t size;
};

const uint8_t constantData[24] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
const uint8_t imageData[100] = {0x7f, 'E', 'L', 'F'};

ExecutableT describe() {
  ExecutableT metadata;
  metadata.name = "test";
  metadata.producer = "a test";
  metadata.abi_version = LATEWOOD_ABI_VERSION;
  metadata.options = "--option=1";
  auto value = [](std::vector<int64_t> shape) {
    auto result = std::make_unique<ValueT>();
    result->element_type = ElementType::f32;
    result->shape = std::move(shape);
    return result;
  };
  auto function = std::make_unique<FunctionT>();
  function->name = "main";
  function->symbol = "lw_entry_0";
  function->arguments.push_back(value({2, 3}));
  function->arguments.push_back(value({-1}));
  function->results.push_back(value({}));
  function->workspace_bytes = 4096;
  metadata.functions.push_back(std::move(function));
  auto constant = std::make_unique<ConstantT>();
  constant->element_type = ElementType::f32;
  constant->shape = {2, 3};
  metadata.constants.push_back(std::move(constant));
  auto image = std::make_unique<ImageT>();
  image->target = std::make_unique<TargetT>();
  image->target->triple = "x86_64-unknown-linux-gnu";
  image->target->cpu = "x86-64-v3";
  image->segment = 1;
  metadata.images.push_back(std::move(image));
  return metadata;
}

std::vector<SegmentInput> segments() {
  return {{SegmentKind::constant, "weights", constantData, 0}, {SegmentKind::image, "code", imageData, 0}};
}

std::vector<uint8_t> written(const ExecutableT &metadata = describe()) {
  std::vector<uint8_t> bytes;
  EXPECT_EQ(write(metadata, segments(), bytes), "");
  return bytes;
}

/// The message of a write that must fail.
std::string refusal(const ExecutableT &metadata) {
  std::vector<uint8_t> bytes;
  std::string problem = write(metadata, segments(), bytes);
  EXPECT_NE(problem, "");
  EXPECT_TRUE(bytes.empty());
  return problem;
}

ReadError open(Bytes file, Verify verify = Verify::full) {
  Container container;
  std::string message;
  ReadError error = Container::open(file, verify, container, message);
  EXPECT_EQ(error == ReadError::none, message.empty());
  return error;
}
} // namespace

TEST(Container, RoundTrip) {
  AlignedFile file(written());
  Container container;
  std::string message;
  ASSERT_EQ(Container::open(file.bytes(), Verify::full, container, message), ReadError::none) << message;
  const Executable &metadata = container.metadata();
  EXPECT_EQ(metadata.options()->str(), "--option=1");
  ASSERT_EQ(metadata.functions()->size(), 1u);
  EXPECT_EQ(metadata.functions()->Get(0)->symbol()->str(), "lw_entry_0");
  EXPECT_EQ(metadata.functions()->Get(0)->arguments()->Get(0)->shape()->Get(1), 3);
  ASSERT_EQ(metadata.segments()->size(), 2u);
  EXPECT_EQ(metadata.segments()->Get(0)->offset() % 64, 0u);
  EXPECT_EQ(metadata.segments()->Get(1)->offset() % 4096, 0u);
  EXPECT_EQ(std::memcmp(container.segment(0).data(), constantData, sizeof constantData), 0);
  EXPECT_EQ(container.segment(1).size(), sizeof imageData);
}

TEST(Container, EqualInputGivesEqualBytes) { EXPECT_EQ(written(), written()); }

TEST(Container, EmptyMetadata) {
  std::vector<uint8_t> bytes;
  ASSERT_EQ(write(ExecutableT(), {}, bytes), "");
  EXPECT_EQ(open(AlignedFile(bytes).bytes()), ReadError::none);
}

TEST(Container, EveryTruncationIsAnError) {
  std::vector<uint8_t> bytes = written();
  AlignedFile file(bytes);
  for (size_t size = 0; size < bytes.size(); ++size)
    ASSERT_NE(open(file.first(size), Verify::code), ReadError::none) << "at " << size << " bytes";
}

TEST(Container, BytesAfterTheEndAreAnError) {
  std::vector<uint8_t> bytes = written();
  bytes.push_back(0);
  EXPECT_EQ(open(AlignedFile(bytes).bytes()), ReadError::truncated);
}

TEST(Container, EveryCorruptionIsAnErrorWithFullVerification) {
  std::vector<uint8_t> bytes = written();
  AlignedFile file(bytes);
  for (size_t i = 0; i < bytes.size(); ++i)
    for (uint8_t flip : {0x01, 0x80, 0xff}) {
      file[i] ^= flip;
      ASSERT_NE(open(file.bytes()), ReadError::none) << "byte " << i << " flipped by " << int(flip);
      file[i] ^= flip;
    }
}

TEST(Container, ConstantsAreOnlyCheckedOnFullVerification) {
  std::vector<uint8_t> bytes = written();
  AlignedFile file(bytes);
  Container container;
  std::string message;
  ASSERT_EQ(Container::open(file.bytes(), Verify::code, container, message), ReadError::none);
  auto position = static_cast<size_t>(container.segment(0).data() - file.bytes().data());
  file[position] ^= 1;
  EXPECT_EQ(Container::open(file.bytes(), Verify::code, container, message), ReadError::none);
  EXPECT_EQ(Container::open(file.bytes(), Verify::full, container, message), ReadError::corrupt);
  EXPECT_NE(message.find("segment 0 (constant 'weights') is corrupt: expected checksum 0x"), std::string::npos)
      << message;
}

TEST(Container, ForeignFilesAreTold) {
  const std::string text = "ELF or anything else that is long enough to be taken for a header, which it is not at all";
  Container container;
  std::string message;
  AlignedFile file(asBytes(text));
  EXPECT_EQ(Container::open(file.bytes(), Verify::code, container, message), ReadError::notAnExecutable);
  EXPECT_EQ(open({}), ReadError::notAnExecutable);
}

TEST(Container, OtherVersionsAreTold) {
  AlignedFile file(written());
  file[8] = 2;
  Container container;
  std::string message;
  EXPECT_EQ(Container::open(file.bytes(), Verify::code, container, message), ReadError::otherVersion);
  EXPECT_EQ(message, "expected format version 1, but the file has version 2");
}

TEST(Container, InconsistentMetadataAreNotWritten) {
  ExecutableT metadata = describe();
  metadata.constants[0]->segment = 7;
  EXPECT_EQ(refusal(metadata), "constant 0: segment 7 of 2 does not exist");
  metadata = describe();
  metadata.constants[0]->shape = {2, 4};
  EXPECT_EQ(refusal(metadata), "constant 0: element type f32 and shape need 32 bytes, but segment 0 has 24");
  metadata = describe();
  metadata.images[0]->segment = 0;
  EXPECT_EQ(refusal(metadata), "image 0: expected a segment of kind image, but segment 0 is of kind constant");
  metadata = describe();
  metadata.functions[0]->arguments[0]->element_type = ElementType::invalid;
  EXPECT_EQ(refusal(metadata), "function 'main', argument 0: element type 0 is unknown");
  metadata = describe();
  metadata.functions[0]->arguments[0]->shape = {INT64_MAX, INT64_MAX};
  EXPECT_EQ(refusal(metadata), "function 'main', argument 0: has more bytes than can be counted");
  metadata = describe();
  metadata.functions[0]->arguments[0]->shape = {-2};
  EXPECT_EQ(refusal(metadata), "function 'main', argument 0: extent -2 of dimension 0");
  metadata = describe();
  metadata.functions.push_back(std::make_unique<FunctionT>(*metadata.functions[0]));
  EXPECT_EQ(refusal(metadata), "function 'main' is defined twice");
  metadata = describe();
  metadata.functions[0]->shape_function = "shapes";
  EXPECT_EQ(refusal(metadata), "function 'main': shape function 'shapes' does not exist");
  metadata = describe();
  metadata.functions[0]->aliases.push_back(std::make_unique<AliasT>());
  metadata.functions[0]->aliases[0]->argument = 2;
  EXPECT_EQ(refusal(metadata), "function 'main', alias 0: argument 2 or result 0 does not exist");
  metadata = describe();
  metadata.functions[0]->arguments[1]->bounds = std::make_unique<BoundsT>();
  metadata.functions[0]->arguments[1]->bounds->min = {3};
  metadata.functions[0]->arguments[1]->bounds->max = {2};
  EXPECT_EQ(refusal(metadata), "function 'main', argument 1: bounds 3, 3, 2 of dimension 0 are not in ascending order");
  metadata = describe();
  metadata.host = HostBackend::lua;
  EXPECT_EQ(refusal(metadata), "the host backend is lua, but there is no host source");
}

TEST(Container, SubByteConstantsMayBePacked) {
  ExecutableT metadata = describe();
  metadata.constants[0]->element_type = ElementType::i4;
  metadata.constants[0]->shape = {47};
  std::vector<uint8_t> bytes;
  EXPECT_EQ(write(metadata, segments(), bytes), "");
  metadata.constants[0]->shape = {24};
  EXPECT_EQ(write(metadata, segments(), bytes), "");
}

TEST(Container, MemoryMustBeAligned) {
  std::vector<uint8_t> bytes = written();
  AlignedFile padded(std::vector<uint8_t>(bytes.size() + 8));
  std::memcpy(&padded[8], bytes.data(), bytes.size());
  EXPECT_EQ(open({&padded[8], bytes.size()}), ReadError::corrupt);
}

TEST(ElementTypes, NamesAndNumbers) {
  for (uint8_t number = 1; number <= static_cast<uint8_t>(ElementType::MAX); ++number) {
    const ElementTypeInfo *info = elementTypeInfo(static_cast<ElementType>(number));
    ASSERT_NE(info, nullptr);
    EXPECT_EQ(parseElementType(info->name), static_cast<ElementType>(number));
    EXPECT_EQ(info->bytes, std::max(1, info->bits / 8));
  }
  EXPECT_EQ(elementTypeInfo(ElementType::invalid), nullptr);
  EXPECT_EQ(elementTypeInfo(static_cast<ElementType>(200)), nullptr);
  EXPECT_EQ(parseElementType("f31"), ElementType::invalid);
}
