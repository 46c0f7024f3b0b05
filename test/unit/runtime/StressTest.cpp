// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What holds once must hold always: many threads making many calls on what they share, thousands of loads, and objects
// dropped in every order. Right results are checked here; races are for the thread sanitizer, and use after release and
// leaks for the address sanitizer, under which these tests run as well.

#include "TestExecutable.h"

#include "latewood/runtime/latewood.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>
#include <unistd.h>

using namespace latewood::runtime;
using namespace latewood::test;

namespace {
using Floats = std::vector<float>;

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
// What was released is kept aside for a while, and each access has a shadow: resident memory says nothing.
constexpr bool isMemoryCountable = false;
#else
constexpr bool isMemoryCountable = true;
#endif

int64_t residentBytes() {
  int64_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// Files and mappings that the process has open.
std::pair<size_t, size_t> openThings() {
  auto files = std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  std::ifstream maps("/proc/self/maps");
  auto mappings = std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
  return {static_cast<size_t>(files), static_cast<size_t>(mappings)};
}

/// A file that is there as long as the object.
struct ExecutableFile {
  std::string path = testing::TempDir() + "latewood-stress-" + std::to_string(getpid()) + ".lwx";
  ExecutableFile() {
    auto bytes = writeFunctions();
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  }
  ~ExecutableFile() { std::filesystem::remove(path); }
};

/// A thread's calls: through sessions of its own and through one that all threads share, with every way of getting a
/// result. Returns how many were wrong.
int makeCalls(Session &own, Session &shared, int thread, int count) {
  Client &client = *own.client();
  auto value = static_cast<float>(thread);
  Ref<Value> four = floats(client, Floats(4, value)), other = floats(client, Floats(4, 1));
  Ref<Value> eight = floats(client, Floats(8, value)), many = floats(client, Floats(64, value));
  Ref<Value> mixed = floats(client, {-1, value + 1, -2, value + 2});
  Ref<Value> given = floats(client, Floats(8));
  int wrong = 0;
  auto expect = [&](Session &session, const char *name, std::vector<Value *> arguments, Ref<Value> slot,
                    const Floats &expected) {
    Ref<Value> results[2] = {std::move(slot)};
    auto *function = session.executable()->findFunction(name);
    Status status = session.call(*function, arguments, {results, function->results.size()});
    wrong += !status.isOk() || elements<float>(results[0]) != expected;
  };
  for (int i = 0; i < count; ++i) {
    Session &session = i % 8 == 7 ? shared : own;
    switch (i % 7) {
    case 0:
      expect(session, "add", {four.get(), other.get()}, nullptr, {value + 101, value + 201, value + 301, value + 401});
      break;
    case 1:
      expect(session, "double", {eight.get()}, nullptr, Floats(8, 2 * value));
      break;
    case 2:
      expect(session, "double", {eight.get()}, given, Floats(8, 2 * value));
      break;
    case 3:
      expect(session, "positive", {mixed.get()}, nullptr, {value + 1, value + 2});
      break;
    case 4:
      expect(session, "swap", {four.get(), other.get()}, nullptr, Floats(4, 1));
      break;
    case 5:
      expect(session, "temporaries", {many.get()}, nullptr, Floats(64, 2 * value + 3));
      break;
    case 6: {
      Ref<Value> donated = floats(client, Floats(8, value));
      expect(session, "donate", {donated.get()}, nullptr, Floats(8, 2 * value));
      break;
    }
    }
  }
  return wrong;
}
} // namespace

TEST(Stress, SixteenThreadsTenThousandCalls) {
  constexpr int threadCount = 16, callCount = 10000;
  auto shared = openFunctions(2);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < threadCount; ++t)
    threads.emplace_back([&, t] {
      auto own = *Session::create(shared->client(), shared->executable());
      wrong += makeCalls(*own, *shared, t, callCount);
      if (own->statistics().failedCalls != 0)
        ++wrong;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(shared->statistics().calls, uint64_t(threadCount) * (callCount / 8));
}

TEST(Stress, TenThousandLoads) {
  ExecutableFile file;
  auto client = *Client::create({1});
  auto bytes = writeFunctions();
  Ref<Value> argument = floats(*client, Floats(8, 3));
  auto load = [&](int i) {
    LoadOptions options;
    options.verifyFully = i % 3 == 0;
    auto executable = i % 2 ? *Executable::load(file.path, options) : *Executable::fromBytes(bytes, options);
    auto session = *Session::create(client, executable);
    Value *arguments[] = {argument.get()};
    Ref<Value> results[1];
    ASSERT_TRUE(session->call(*executable->findFunction("double"), arguments, results).isOk());
    ASSERT_EQ(elements<float>(results[0]), Floats(8, 6));
  };
  for (int i = 0; i < 500; ++i)
    load(i);
  auto before = openThings();
  int64_t resident = residentBytes();
  for (int i = 0; i < 10000; ++i)
    load(i);
  EXPECT_EQ(openThings().first, before.first);
  if (isMemoryCountable) {
    EXPECT_LE(openThings().second, before.second + 4);
    // Less than a byte in ten of what one lost object in each load would take.
    EXPECT_LT(residentBytes() - resident, 1 << 18);
  }
  EXPECT_EQ(client->statistics().system.liveBytes, 32) << "only the argument is left";
}

TEST(Stress, ObjectsAreDroppedInEveryOrder) {
  auto bytes = writeFunctions();
  enum { client, executable, session, stream, argument, slice, count };
  int order[count];
  for (int i = 0; i < count; ++i)
    order[i] = i;
  do {
    latewood_client *theClient = nullptr;
    latewood_executable *theExecutable = nullptr;
    latewood_session *theSession = nullptr;
    latewood_stream *theStream = nullptr;
    latewood_buffer *theArgument = nullptr, *theResult = nullptr, *theSlice = nullptr;
    const latewood_function *function = nullptr;
    const float elements[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const int64_t shape[1] = {8}, start[1] = {6}, limit[1] = {8};
    ASSERT_EQ(latewood_client_create(nullptr, &theClient), nullptr);
    ASSERT_EQ(latewood_executable_load_memory(bytes.data(), bytes.size(), nullptr, &theExecutable), nullptr);
    ASSERT_EQ(latewood_session_create(theClient, theExecutable, &theSession), nullptr);
    ASSERT_EQ(latewood_stream_create(&theStream), nullptr);
    ASSERT_EQ(latewood_executable_find_function(theExecutable, "double", &function), nullptr);
    ASSERT_EQ(latewood_buffer_create_copy(theClient, elements, LATEWOOD_TYPE_f32, 1, shape, nullptr, &theArgument),
              nullptr);
    // Two calls in a stream: everything may go while they run.
    latewood_buffer *first = nullptr;
    ASSERT_EQ(latewood_session_enqueue(theSession, function, &theArgument, 1, &first, 1, theStream), nullptr);
    ASSERT_EQ(latewood_session_enqueue(theSession, function, &first, 1, &theResult, 1, theStream), nullptr);
    latewood_buffer_release(first);
    ASSERT_EQ(latewood_buffer_slice(theResult, start, limit, nullptr, &theSlice), nullptr);
    for (int object : order)
      switch (object) {
      case client:
        latewood_client_release(theClient);
        break;
      case executable:
        latewood_executable_release(theExecutable);
        break;
      case session:
        latewood_session_release(theSession);
        break;
      case stream:
        latewood_stream_release(theStream);
        break;
      case argument:
        latewood_buffer_release(theArgument);
        break;
      case slice:
        ASSERT_EQ(latewood_buffer_wait(theSlice), nullptr);
        ASSERT_EQ(static_cast<const float *>(latewood_buffer_data(theSlice))[1], 32);
        latewood_buffer_release(theSlice);
        break;
      }
    // The result is the last that anybody holds.
    float after[8] = {};
    ASSERT_EQ(latewood_buffer_wait(theResult), nullptr);
    ASSERT_EQ(latewood_buffer_read(theResult, after, sizeof after), nullptr);
    ASSERT_EQ(after[7], 32);
    latewood_buffer_release(theResult);
  } while (std::next_permutation(order, order + count));
}
