// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executables: from a file and from memory, the right image chosen, and every wrong file told for what it is.

#include "TestExecutable.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <unistd.h>

using namespace latewood;
using namespace latewood::runtime;
using namespace latewood::test;

namespace {
/// A file that is removed at the end.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::vector<uint8_t> &bytes) {
    std::string pattern = testing::TempDir() + "latewoodXXXXXX";
    int descriptor = mkstemp(pattern.data());
    path = pattern;
    EXPECT_EQ(write(descriptor, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    close(descriptor);
  }
  ~TemporaryFile() { remove(); }
  void remove() { std::remove(path.c_str()); }
  std::string path;
};

std::string refusal(const format::ExecutableT &metadata) {
  return Executable::fromBytes(writeFunctions(metadata)).status().str();
}
} // namespace

TEST(Executable, FromAFile) {
  TemporaryFile file(writeFunctions());
  LoadOptions full;
  full.verifyFully = true;
  auto executable = Executable::load(file.path, full);
  ASSERT_TRUE(executable.isOk()) << executable.status().str();
  EXPECT_EQ((*executable)->name(), "functions");
  EXPECT_EQ((*executable)->loadedImage(), 0);
  EXPECT_EQ((*executable)->functions()[0].str(), "add(memref<4xf32>, memref<4xf32>) -> (memref<4xf32>)");
  EXPECT_EQ((*executable)->findFunction("none"), nullptr);
  EXPECT_NE((*executable)
                ->getFunction("none")
                .status()
                .message()
                .find("there is no function 'none' in the executable; "
                      "it has 'add', 'swap'"),
            std::string::npos);
  // The mapping stays when the name has gone.
  file.remove();
  auto client = *Client::create();
  auto session = *Session::create(client, *executable);
  const Ref<Value> arguments[] = {floats(*client, {1, 2, 3, 4}), floats(*client, {1, 1, 1, 1})};
  auto results = session->execute("add", arguments);
  ASSERT_TRUE(results.isOk()) << results.status().str();
  EXPECT_EQ(elements<float>((*results)[0]), (std::vector<float>{102, 203, 304, 405}));
}

TEST(Executable, ConstantsAreUsedInPlace) {
  auto executable = *Executable::fromBytes(writeFunctions());
  const auto &segment = executable->segments()[executable->constants()[0].segment];
  EXPECT_EQ(reinterpret_cast<uintptr_t>(segment.bytes.data()) % 64, 0u);
  EXPECT_GE(segment.bytes.data(), executable->file().data());
}

TEST(Executable, BorrowedBytesAreReleasedOnce) {
  auto bytes = writeFunctions();
  int released = 0;
  {
    auto executable = *Executable::fromBytes(bytes, [&] { ++released; });
    EXPECT_EQ(executable->functions().size(), describeFunctions().functions.size());
  }
  EXPECT_EQ(released, 1);
  EXPECT_FALSE(Executable::fromBytes(std::span(bytes).first(50), [&] { ++released; }).isOk());
  EXPECT_EQ(released, 2);
}

TEST(Executable, TheBestImageIsTaken) {
  auto metadata = describeFunctions();
  auto other = std::make_unique<format::ImageT>(*metadata.images[0]);
  other->target->cpu = "future";
  other->target->features = {"sse2", "quantum", "tachyon"};
  metadata.images.insert(metadata.images.begin(), std::move(other));
  auto executable = *Executable::fromBytes(writeFunctions(metadata));
  EXPECT_EQ(executable->loadedImage(), 1);
}

TEST(Executable, OfEquallyWideImagesTheOneMadeForMoreIsTaken) {
  auto metadata = describeFunctions();
  auto other = std::make_unique<format::ImageT>(*metadata.images[0]);
  other->target->features = {"sse2", "sse", "cmov"};
  metadata.images.push_back(std::move(other));
  metadata.images.push_back(std::make_unique<format::ImageT>(*metadata.images[1]));
  auto bytes = writeFunctions(metadata);
  EXPECT_EQ((*Executable::fromBytes(bytes))->loadedImage(), 1);
  LoadOptions inspect;
  inspect.inspectOnly = true;
  auto executable = *Executable::fromBytes(bytes, inspect);
  EXPECT_EQ(executable->loadedImage(), -1);
  EXPECT_NE(executable->describe().find("the best for this machine"), std::string::npos);
}

TEST(Executable, FilesForAnotherCPU) {
  auto metadata = describeFunctions();
  metadata.images[0]->target->cpu = "future";
  metadata.images[0]->target->features = {"sse2", "quantum", "tachyon"};
  EXPECT_EQ(refusal(metadata), "Unavailable: file for another CPU: its code for future needs quantum, tachyon, which "
                               "this machine lacks");
  // It can be looked at all the same, but not run.
  LoadOptions inspect;
  inspect.inspectOnly = true;
  auto executable = *Executable::fromBytes(writeFunctions(metadata), inspect);
  EXPECT_NE(executable->describe().find("this machine lacks quantum, tachyon"), std::string::npos);
  EXPECT_EQ(Session::create(*Client::create(), executable).status().code(), StatusCode::failedPrecondition);
  metadata.images[0]->target->triple = "aarch64-unknown-linux-gnu";
  EXPECT_NE(refusal(metadata).find("architecture of aarch64"), std::string::npos);
}

TEST(Executable, OtherABIVersions) {
  auto metadata = describeFunctions();
  metadata.abi_version = 99;
  EXPECT_EQ(refusal(metadata), "Unavailable: expected code for ABI version 1, but the file has version 99");
}

TEST(Executable, MissingSymbols) {
  auto metadata = describeFunctions();
  metadata.functions[0]->symbol = "f_missing";
  EXPECT_EQ(refusal(metadata), "DataCorruption: the image has no symbol 'f_missing' for function 'add'");
}

TEST(Executable, WrongFiles) {
  EXPECT_EQ(Executable::load("/nonexistent/file.lwx").status().code(), StatusCode::notFound);
  EXPECT_EQ(Executable::load("/").status().code(), StatusCode::invalidArgument);
  TemporaryFile empty({});
  EXPECT_NE(Executable::load(empty.path).status().message().find("the file is empty"), std::string::npos);
  TemporaryFile text(std::vector<uint8_t>(100, 'a'));
  EXPECT_NE(Executable::load(text.path).status().message().find("not a Latewood executable"), std::string::npos);
  auto bytes = writeFunctions();
  bytes.resize(bytes.size() - 1);
  TemporaryFile truncated(bytes);
  EXPECT_NE(Executable::load(truncated.path).status().message().find("the file is truncated"), std::string::npos);
}

TEST(Executable, CorruptionNeverReachesCode) {
  auto original = writeFunctions();
  for (size_t i = 0; i < original.size(); ++i) {
    auto bytes = original;
    bytes[i] ^= 0x5a;
    LoadOptions full;
    full.verifyFully = true;
    EXPECT_FALSE(Executable::fromBytes(bytes, full).isOk()) << "byte " << i;
    (void)Executable::fromBytes(bytes);
  }
}

TEST(Executable, Describe) {
  auto text = (*Executable::fromBytes(writeFunctions()))->describe();
  for (const char *part : {"executable 'functions'", "function negate", "argument 0  memref<?x2xf32>  min [1, 2]",
                           "x86-64", "in use", "constant 0  memref<4xf32>", "safe at the same address"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}
