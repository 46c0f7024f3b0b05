// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is missing, does not fit, or fails: each is an error that says what to do, and the session, or the next attempt,
// works. Libraries are opened once in a process, so that other machines are other processes here.

#include "StandInPrograms.h"

#include <cstdio>
#include <cstdlib>

using namespace latewood;
using namespace latewood::runtime;
using namespace latewood::test;

namespace {

/// Loads the programs on a machine that `variable` describes, and writes what the runtime says.
[[noreturn]] void loadWith(const char *variable, const char *value, const char *madeBy = "") {
  setenv(variable, value, 1);
  auto executable = Executable::fromBytes(writeHosts(madeBy));
  std::fprintf(stderr, "%s\n", executable.status().str().c_str());
  std::fflush(stderr);
  _exit(executable.isOk() ? 1 : 0);
}

class TensorRTMachine : public testing::Test {
protected:
  TensorRTMachine() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  testing::ExitedWithCode isRefused{0};
};

TEST_F(TensorRTMachine, WithoutTheLibrary) {
  EXPECT_EXIT(loadWith("LATEWOOD_TENSORRT_LIBRARY", "/nowhere/libnvinfer.so"), isRefused,
              "TensorRT cannot be opened, as LATEWOOD_TENSORRT_LIBRARY says: .*nowhere");
}

TEST_F(TensorRTMachine, WithoutCUDA) {
  EXPECT_EXIT(loadWith("LATEWOOD_CUDART_LIBRARY", "/nowhere/libcudart.so"), isRefused,
              "CUDA's runtime library cannot be opened, as LATEWOOD_CUDART_LIBRARY says: .*nowhere");
}

TEST_F(TensorRTMachine, WithAnotherLibraryInItsPlace) {
  EXPECT_EXIT(loadWith("LATEWOOD_TENSORRT_LIBRARY", std::getenv("LATEWOOD_CUDART_LIBRARY")), isRefused,
              "TensorRT has no function getInferLibVersion");
}

TEST_F(TensorRTMachine, WithoutADriver) {
  EXPECT_EXIT(loadWith("STANDIN_CUDA", "no-driver"), isRefused, "CUDA error 35.: install NVIDIA's driver, or a newer");
}

TEST_F(TensorRTMachine, WithoutAGPU) {
  EXPECT_EXIT(loadWith("STANDIN_CUDA", "no-device"), isRefused, "CUDA sees none: .* CUDA_VISIBLE_DEVICES");
}

TEST_F(TensorRTMachine, WithAnOldLibrary) {
  EXPECT_EXIT(loadWith("STANDIN_TENSORRT_VERSION", "100300"), isRefused,
              "too old: TensorRT 10.3.0, where this build of Latewood needs TensorRT ");
}

TEST_F(TensorRTMachine, WithANewLibrary) {
  EXPECT_EXIT(loadWith("STANDIN_TENSORRT_VERSION", "990000"), isRefused, "too new: TensorRT 99.0.0");
}

TEST_F(TensorRTMachine, WithAnEngineOfRTX) {
  EXPECT_EXIT(loadWith("STANDIN_CUDA", "", "TensorRT-RTX 1.7.1"), isRefused,
              "engine 'positive' was made by TensorRT-RTX 1.7.1, and cannot be run by TensorRT .*LATEWOOD_TENSORRT_"
              "LIBRARY");
}

TEST_F(TensorRTMachine, WithRTXAndAnotherEngine) {
  EXPECT_EXIT(loadWith("STANDIN_TENSORRT_VERSION", "10701", "TensorRT 11.1.0"), isRefused,
              "engine 'positive' was made by TensorRT 11.1.0, and cannot be run by TensorRT-RTX 1.7.1");
}

TEST_F(TensorRTMachine, WithPluginsThatAreMissing) {
  EXPECT_EXIT(loadWith("LATEWOOD_TENSORRT_PLUGINS", "/nowhere/plugins.so"), isRefused,
              "cannot load the plugins in '/nowhere/plugins.so', as LATEWOOD_TENSORRT_PLUGINS says: .*nowhere");
}

TEST_F(TensorRTMachine, WithPlugins) {
  auto isLoaded = [] {
    const char *library = std::getenv("LATEWOOD_CUDART_LIBRARY"); // as good as any
    setenv("LATEWOOD_TENSORRT_PLUGINS", (std::string(library) + ":" + library).c_str(), 1);
    auto executable = Executable::fromBytes(writeHosts());
    std::fprintf(stderr, "%s\n", executable.status().str().c_str());
    _exit(executable.isOk() && askEngine("standin_plugin_libraries") == 2 ? 0 : 1);
  };
  EXPECT_EXIT(isLoaded(), isRefused, "");
}

TEST(TensorRTFailure, EnginesOfAnotherVersionOrGPU) {
  Ref<Session> session = open();
  standIn<void(int64_t)>("LATEWOOD_TENSORRT_LIBRARY", "standin_fail_call")(1);
  auto executable = Executable::fromBytes(writeHosts("TensorRT 11.0.0"));
  ASSERT_FALSE(executable.isOk());
  std::string text = executable.status().str();
  for (const char *part :
       {"engine 'positive', made by TensorRT 11.0.0, cannot be used by TensorRT ",
        "compute capability 9.0: deserializeCudaEngine fails, as it was told to", "compile the program for these"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  EXPECT_EQ(text.find("knows better"), std::string::npos) << text;
  // The next attempt works, and so does the session that was there.
  EXPECT_TRUE(Executable::fromBytes(writeHosts("TensorRT 11.0.0")).isOk());
  EXPECT_EQ(first(call(session, "allocating", {{1, -2}})), Floats{1});
}

/// An engine's bytes, in an executable whose checksums are right.
TEST(TensorRTFailure, EnginesThatAreDamaged) {
  Ref<Session> session = open();
  std::vector<uint8_t> whole = makeEngine("positive");
  std::vector<std::vector<uint8_t>> damaged = {{}, {whole.begin(), whole.begin() + 4}, whole, whole, whole};
  damaged[2].resize(whole.size() / 2);
  damaged[3][0] ^= 0xff;
  damaged[4][whole.size() / 2] ^= 0xff;
  for (const std::vector<uint8_t> &engine : damaged) {
    auto executable = Executable::fromBytes(writeHosts("", &engine));
    ASSERT_FALSE(executable.isOk());
    EXPECT_NE(executable.status().str().find("engine 'positive'"), std::string::npos) << executable.status().str();
  }
  EXPECT_EQ(first(call(session, "allocating", {{1, -2}})), Floats{1});
}

/// Each call of the vendor's libraries that may fail does so in turn, while a program is loaded, a session is made, and
/// functions of all kinds are called.
void failEachCall(const char *library, const char *words) {
  SCOPED_TRACE(words);
  behave(words);
  auto *fail = standIn<void(int64_t)>(library, "standin_fail_call");
  auto *calls = standIn<int64_t()>(library, "standin_calls");
  std::vector<uint8_t> file = writeHosts();
  Ref<Client> client = *Client::create({});
  auto scenario = [&]() -> Status {
    LATEWOOD_ASSIGN_OR_RETURN(Ref<Executable> executable, Executable::fromBytes(file));
    LATEWOOD_ASSIGN_OR_RETURN(Ref<Session> session, Session::create(client, executable));
    Status failure;
    // A call that fails is followed by others of the same session.
    for (const char *name : {"allocating", "given", "twice", "given_on_device", "allocating_on_device",
                             "static_on_device", "allocating"}) {
      bool isAllocating = std::string_view(name).find("given") && std::string_view(name).find("static");
      std::vector<std::vector<float>> arguments = {{1, 2, 3, 4}};
      if (!isAllocating)
        arguments.push_back({5, 6, 7, 8});
      Results results = call(session, name, arguments);
      if (!results.isOk())
        failure = results.status();
      else
        EXPECT_EQ(elements<float>((*results)[0]).size(), 4u);
    }
    return failure;
  };
  int64_t before = calls();
  Status status = scenario();
  ASSERT_TRUE(status.isOk()) << status.str();
  int64_t count = calls() - before, blocks = ask("standin_live_blocks"), streams = ask("standin_live_streams"),
          events = ask("standin_live_events");
  ASSERT_GT(count, 20);
  int64_t errors = 0;
  for (int64_t n = 1; n <= count; ++n) {
    fail(n);
    status = scenario();
    fail(0);
    // What objects do at their end has nobody to tell.
    errors += !status.isOk();
    EXPECT_TRUE(status.isOk() || !status.message().empty()) << "call " << n;
    EXPECT_EQ(ask("standin_live_blocks"), blocks) << "call " << n;
    EXPECT_EQ(ask("standin_live_streams"), streams) << "call " << n;
    EXPECT_EQ(ask("standin_live_events"), events) << "call " << n;
  }
  EXPECT_GT(errors, count * 3 / 4);
  EXPECT_EQ(ask("standin_mistakes"), 0);
  behave("");
}

TEST(TensorRTFailure, EachCallOfTensorRTFailsInTurn) {
  open();
  for (const char *words : {"", "late,twice,zero", "profiles"})
    failEachCall("LATEWOOD_TENSORRT_LIBRARY", words);
}

TEST(TensorRTFailure, EachCallOfCUDAFailsInTurn) {
  open();
  for (const char *words : {"", "late,twice,zero"})
    failEachCall("LATEWOOD_CUDART_LIBRARY", words);
}

} // namespace
