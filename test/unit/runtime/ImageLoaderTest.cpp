// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The image loader: images work from memory and from a file, side by side; what breaks a rule is refused by name; and
// no bytes whatever make it read or write outside (run under the address sanitizer).

#include "latewood/runtime/ImageLoader.h"
#include "TestExecutable.h"
#include "latewood/format/abi.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <random>
#include <thread>
#include <unistd.h>

using namespace latewood::runtime;
using latewood::test::readImage;

namespace {
std::string refusal(std::span<const uint8_t> bytes) {
  auto image = Image::load(bytes);
  return image.isOk() ? "loaded" : std::string(image.status().message());
}

size_t mappings() {
  std::ifstream file("/proc/self/maps");
  size_t lines = 0;
  for (std::string line; std::getline(file, line);)
    ++lines;
  return lines;
}
} // namespace

TEST(ImageLoader, FindsFunctions) {
  for (const char *name : {"functions", "functions-rela"}) {
    auto bytes = readImage(name);
    auto image = Image::load(bytes);
    ASSERT_TRUE(image.isOk()) << image.status().str();
    EXPECT_NE((*image)->find("f_nothing"), nullptr);
    EXPECT_EQ((*image)->find("f_unknown"), nullptr);
    // The bytes are not needed any more.
    std::fill(bytes.begin(), bytes.end(), 0);
    EXPECT_EQ(reinterpret_cast<lw_function>((*image)->find("f_nothing"))(nullptr), 0);
  }
}

TEST(ImageLoader, FromAFileAtAnOffset) {
  auto bytes = readImage("functions");
  std::FILE *file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  std::vector<uint8_t> padding(8192, 'x');
  std::fwrite(padding.data(), 1, padding.size(), file);
  std::fwrite(bytes.data(), 1, bytes.size(), file);
  std::fflush(file);
  auto first = Image::load(bytes, fileno(file), 8192), second = Image::load(bytes, fileno(file), 8192);
  std::fclose(file);
  ASSERT_TRUE(first.isOk() && second.isOk());
  EXPECT_NE((*first)->base(), (*second)->base());
  first->reset();
  EXPECT_EQ(reinterpret_cast<lw_function>((*second)->find("f_nothing"))(nullptr), 0);
  EXPECT_FALSE(Image::load(bytes, 0, 100).isOk());
}

TEST(ImageLoader, RefusesWhatBreaksARule) {
  EXPECT_EQ(refusal(readImage("mutable")), "cannot load the image: it has mutable data");
  EXPECT_EQ(refusal(readImage("undefined")), "cannot load the image: symbol 'somethingElse' is undefined");
  EXPECT_EQ(refusal({}), "cannot load the image: expected at least 64 bytes, got 0");
  std::vector<uint8_t> text(200, 'a');
  EXPECT_EQ(refusal(text), "cannot load the image: expected an ELF shared object for x86-64");
}

TEST(ImageLoader, EveryTruncationIsHandled) {
  auto bytes = readImage("functions");
  for (size_t size = 0; size < bytes.size(); size += 3) {
    // A copy of its own, so that the sanitizer sees its end.
    std::vector<uint8_t> part(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    (void)refusal(part);
  }
}

TEST(ImageLoader, MutationsAreHandledAndLeakNothing) {
  size_t before = mappings();
  for (const char *name : {"functions", "functions-rela"}) {
    auto original = readImage(name);
    std::mt19937 random(1);
    for (int round = 0; round < 5000; ++round) {
      auto bytes = original;
      for (unsigned k = 0; k <= random() % 4; ++k)
        // Headers and tables lie in front.
        bytes[random() % std::min<size_t>(bytes.size(), round % 2 ? 1600 : bytes.size())] =
            static_cast<uint8_t>(random());
      (void)refusal(bytes);
    }
  }
  // A leak would show thousands; sanitizers map a few of their own.
  EXPECT_LE(mappings(), before + 100);
}

TEST(ImageLoader, ManyThreads) {
  auto bytes = readImage("functions");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        auto image = Image::load(bytes);
        ASSERT_TRUE(image.isOk());
        EXPECT_EQ(reinterpret_cast<lw_function>((*image)->find("f_nothing"))(nullptr), 0);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}
