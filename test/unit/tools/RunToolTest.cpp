// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// latewood-run from the outside: what it prints, what it writes, and that everything that can be wrong ends in one
// message on standard error and exit status 1.

#include "../runtime/TestExecutable.h"

#include "latewood/tools/Npy.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace latewood;
using namespace latewood::runtime;
using namespace latewood::test;

namespace {
class RunToolTest : public testing::Test {
protected:
  std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("latewood-run-test-" + std::to_string(getpid()));
  Ref<Client> client = *Client::create();

  void SetUp() override {
    std::filesystem::create_directories(folder);
    put("f.lwx", writeFunctions());
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  void put(const std::string &name, const std::vector<uint8_t> &bytes) {
    std::ofstream(folder / name, std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  template <typename T>
  void array(const std::string &name, ElementType type, std::vector<int64_t> shape, const std::vector<T> &elements) {
    const tools::NamedValue values[] = {{name, memref(*client, type, std::move(shape), elements)}};
    ASSERT_TRUE(tools::writeArrays((folder / name).string(), values).isOk());
  }

  struct Outcome {
    int status;
    /// Standard output and standard error together.
    std::string text;
  };
  Outcome run(const std::string &arguments) {
    std::string command = "cd '" + folder.string() + "' && '" LATEWOOD_RUN "' " + arguments + " 2>&1";
    std::FILE *pipe = popen(command.c_str(), "r");
    Outcome outcome;
    char buffer[4096];
    for (size_t part; (part = std::fread(buffer, 1, sizeof buffer, pipe)) != 0;)
      outcome.text.append(buffer, part);
    int status = pclose(pipe);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
  }
  void expectError(const std::string &arguments, const std::string &message) {
    Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 1) << arguments;
    EXPECT_NE(outcome.text.find("latewood-run: error: "), std::string::npos) << outcome.text;
    EXPECT_NE(outcome.text.find(message), std::string::npos) << outcome.text;
  }
};
} // namespace

TEST_F(RunToolTest, ArraysInAndOut) {
  array<float>("a.npy", ElementType::f32, {4}, {1, 2, 3, 4});
  array<float>("b.npy", ElementType::f32, {4}, {10, 20, 30, 40});
  Outcome outcome = run("f.lwx --function add --input a.npy --input=b.npy --output out.npz --repeat 5 --threads 1");
  EXPECT_EQ(outcome.status, 0) << outcome.text;
  for (const char *part :
       {"argument 1   memref<4xf32>", "result   0   memref<4xf32>", "first call", "4 more", "median"})
    EXPECT_NE(outcome.text.find(part), std::string::npos) << part << " in\n" << outcome.text;
  auto results = *tools::readArrays(*client, (folder / "out.npz").string());
  EXPECT_EQ(results[0].name, "out0");
  EXPECT_EQ(elements<float>(results[0].value), (std::vector<float>{111, 222, 333, 444}));
}

TEST_F(RunToolTest, ArchivesByNumberAndInOrder) {
  auto a = floats(*client, {1, 2, 3, 4}), b = floats(*client, {5, 6, 7, 8});
  const tools::NamedValue numbered[] = {{"out0", floats(*client, {0})}, {"in1", b}, {"in0", a}};
  const tools::NamedValue plain[] = {{"x", a}, {"y", b}};
  ASSERT_TRUE(tools::writeArrays((folder / "n.npz").string(), numbered).isOk());
  ASSERT_TRUE(tools::writeArrays((folder / "p.npz").string(), plain).isOk());
  for (const char *name : {"n.npz", "p.npz"}) {
    Outcome outcome = run("f.lwx --function swap --output s.npz --input " + std::string(name));
    ASSERT_EQ(outcome.status, 0) << outcome.text;
    auto results = *tools::readArrays(*client, (folder / "s.npz").string());
    EXPECT_EQ(elements<float>(results[0].value), (std::vector<float>{5, 6, 7, 8}));
    EXPECT_EQ(elements<float>(results[1].value), (std::vector<float>{1, 2, 3, 4}));
  }
}

TEST_F(RunToolTest, RandomArgumentsAreTheSameEveryTime) {
  ASSERT_EQ(run("f.lwx --function negate --random=7 --output a.npy").status, 0);
  ASSERT_EQ(run("f.lwx --function negate --random=7 --output b.npy --destinations").status, 1);
  ASSERT_EQ(run("f.lwx --function negate --random=7 --output b.npy").status, 0);
  auto a = *tools::readArrays(*client, (folder / "a.npy").string());
  auto b = *tools::readArrays(*client, (folder / "b.npy").string());
  EXPECT_EQ(a[0].value->str(), "memref<4x2xf32>");
  EXPECT_EQ(elements<float>(a[0].value), elements<float>(b[0].value));
}

TEST_F(RunToolTest, Inspect) {
  Outcome outcome = run("f.lwx --inspect");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.text.find("function add"), std::string::npos);
  EXPECT_EQ(run("--help").status, 0);
}

TEST_F(RunToolTest, WrongFiles) {
  expectError("missing.lwx", "NotFound: cannot open 'missing.lwx'");
  put("text.lwx", std::vector<uint8_t>(100, 'x'));
  expectError("text.lwx", "not a Latewood executable");
  auto bytes = writeFunctions();
  bytes.resize(bytes.size() / 2);
  put("half.lwx", bytes);
  expectError("half.lwx", "the file is truncated: expected");
  bytes = writeFunctions();
  bytes[200] ^= 1;
  put("corrupt.lwx", bytes);
  expectError("corrupt.lwx", "the metadata are corrupt: expected checksum");
  auto metadata = describeFunctions();
  metadata.images[0]->target->features = {"quantum"};
  put("foreign.lwx", writeFunctions(metadata));
  expectError("foreign.lwx", "file for another CPU: its code for x86-64 needs quantum");
  EXPECT_EQ(run("foreign.lwx --inspect").status, 0);
}

TEST_F(RunToolTest, CorruptConstantsAreFoundOnDemand) {
  auto bytes = writeFunctions();
  const float first = 100;
  auto *pattern = reinterpret_cast<const uint8_t *>(&first);
  auto found = std::search(bytes.begin(), bytes.end(), pattern, pattern + 4);
  ASSERT_NE(found, bytes.end());
  *found ^= 1;
  put("constant.lwx", bytes);
  EXPECT_EQ(run("constant.lwx --function add --random").status, 0);
  expectError("constant.lwx --function add --random --verify=full", "segment 0 (constant 'bias') is corrupt");
}

TEST_F(RunToolTest, WrongArguments) {
  array<float>("a.npy", ElementType::f32, {4}, {1, 2, 3, 4});
  array<float>("short.npy", ElementType::f32, {3}, {1, 2, 3});
  array<float>("matrix.npy", ElementType::f32, {2, 2}, {1, 2, 3, 4});
  array<int32_t>("ints.npy", ElementType::i32, {4}, {1, 2, 3, 4});
  expectError("f.lwx --function nope", "there is no function 'nope' in the executable; it has 'add'");
  expectError("f.lwx --function add --input a.npy",
              "expects 2 arguments, got 1; argument 1 (memref<4xf32>) is missing");
  expectError("f.lwx --function add --input a.npy --input a.npy --input a.npy", "expects 2 arguments");
  expectError("f.lwx --function add --input a.npy --input ints.npy",
              "argument 1: function expects a memref type with element type f32, but the array has NumPy's type '<i4'");
  expectError("f.lwx --function add --input short.npy --input a.npy",
              "argument 0: Runtime shape mismatch: expected [4], got [3]");
  expectError("f.lwx --function add --input a.npy --input matrix.npy", "(rank 1), got shape [2, 2] (rank 2)");
  expectError("f.lwx --function add --input f.lwx", "'f.lwx': not a valid .npy file");
}

TEST_F(RunToolTest, TracesAreWritten) {
  array<float>("a.npy", ElementType::f32, {4}, {1, 2, 3, 4});
  Outcome outcome = run("f.lwx --function add --input a.npy --input a.npy --repeat 3 --trace out.json");
  EXPECT_EQ(outcome.status, 0) << outcome.text;
  std::stringstream text;
  text << std::ifstream(folder / "out.json").rdbuf();
  EXPECT_NE(text.str().find("\"cat\":\"call\",\"name\":\"add\""), std::string::npos) << text.str();
  outcome = run("f.lwx --function nothing --trace no/such/folder/out.json");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.text.find("cannot write the trace 'no/such/folder/out.json'"), std::string::npos) << outcome.text;
  // A run that fails is recorded until then.
  std::filesystem::remove(folder / "out.json");
  outcome = run("f.lwx --function forget --trace out.json");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(std::filesystem::exists(folder / "out.json"));
}

TEST_F(RunToolTest, OutputsAreWholeOrNotThere) {
  auto names = [&] {
    std::set<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(folder))
      names.insert(entry.path().filename().string());
    return names;
  };
  put("old.npz", {'o', 'l', 'd'});
  auto before = names();
  // Files cannot grow: as on a full disk.
  std::string full = "; (trap '' XFSZ; ulimit -f 0; exec '" LATEWOOD_RUN "' f.lwx --function swap --random ";
  for (const char *output : {"--output new.npz", "--output old.npz", "--trace new.json"}) {
    Outcome outcome = run("--help >help.txt" + full + output + ")");
    EXPECT_EQ(outcome.status, 1) << outcome.text;
    EXPECT_NE(outcome.text.find("latewood-run: error: Unavailable: cannot write"), std::string::npos) << outcome.text;
    EXPECT_NE(outcome.text.find("File too large"), std::string::npos) << outcome.text;
  }
  before.insert("help.txt");
  EXPECT_EQ(names(), before);
  EXPECT_EQ(std::filesystem::file_size(folder / "old.npz"), 3u);
  // A link stays a link, and what it leads to is written.
  std::filesystem::create_symlink("old.npz", folder / "link.npz");
  EXPECT_EQ(run("f.lwx --function swap --random --output link.npz").status, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.npz"));
  EXPECT_EQ((*tools::readArrays(*client, (folder / "old.npz").string())).size(), 2u);
  EXPECT_EQ(run("f.lwx --function swap --random --output /dev/null").status, 0);
  expectError("f.lwx --function swap --random --output /dev/full", "No space left on device");
  EXPECT_EQ(run("f.lwx --inspect >/dev/full").status, 1);
}

TEST_F(RunToolTest, WrongOptions) {
  expectError("", "expected an executable file");
  expectError("f.lwx g.lwx", "expected one executable file, got 'f.lwx' and 'g.lwx'");
  expectError("f.lwx --repeat 0", "--repeat: expected a number from 1, got '0'");
  expectError("f.lwx --function forget --repeat 1000000000000000000", "forget");
  expectError("f.lwx --repeat", "option --repeat needs a value");
  expectError("f.lwx --inspect=yes", "option --inspect takes no value");
  expectError("f.lwx --verify=some", "--verify: expected 'full' or 'code', got 'some'");
  expectError("f.lwx --bogus", "there is no option '--bogus'");
  expectError("f.lwx --function swap --random --output x.npy", "a .npy file holds one array, and there are 2");
  expectError("f.lwx --function add --random --output missing/x.npz", "cannot write 'missing/x.npz'");
}
