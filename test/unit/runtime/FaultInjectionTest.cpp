// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every operation that a scenario asks of the system fails in turn: alone, and with all that come after it. Each time
// there is an error, or the result is right all the same (where there is another way: fewer threads, memory that could
// be given back first); no exception comes out, nothing hangs; and the next call, with the same objects, is right. What
// leaks is found by the address sanitizer. Built with LATEWOOD_FAULT_INJECTION only.

#include "TestExecutable.h"

#include "latewood/runtime/FaultInjection.h"
#include "latewood/runtime/Trace.h"
#include "latewood/runtime/latewood.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <unistd.h>

using namespace latewood::runtime;
using namespace latewood::test;

//===--- The C++ library's memory --------------------------------------------------------------------------------===//

void *operator new(size_t bytes) {
  void *memory = faults::strike() ? nullptr : std::malloc(bytes);
  if (!memory)
    throw std::bad_alloc();
  return memory;
}
void *operator new(size_t bytes, std::align_val_t alignment) {
  auto unit = static_cast<size_t>(alignment);
  void *memory = faults::strike() ? nullptr : std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
  if (!memory)
    throw std::bad_alloc();
  return memory;
}
void *operator new(size_t bytes, const std::nothrow_t &) noexcept {
  return faults::strike() ? nullptr : std::malloc(bytes);
}
void *operator new[](size_t bytes) { return operator new(bytes); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory, size_t) noexcept { std::free(memory); }
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void *memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace {
//===--- The walk ------------------------------------------------------------------------------------------------===//

/// What went wrong where nothing may: it must not need memory itself.
const char *wrong = nullptr;
void require(bool condition, const char *what) {
  if (!condition && !wrong)
    wrong = what;
}

/// `scenario` makes calls and gives the first failure; it must allocate nothing itself. `reset` puts the objects that
/// it works on back to where they were.
template <typename Scenario, typename Reset>
void walk(const char *name, Scenario scenario, Reset reset) {
  SCOPED_TRACE(name);
  reset();
  faults::arm(0, false);
  Status status = scenario();
  int64_t operations = faults::operations.load();
  ASSERT_TRUE(status.isOk()) << status.str();
  ASSERT_EQ(wrong, nullptr);
  // A loop of a thousand equal operations is not more to the point than one of five hundred.
  int64_t errors = 0, walks = 0, step = (operations - 1) / 500 + 1;
  for (bool isLasting : {false, true})
    for (int64_t n = 1; n <= operations; n += step) {
      ++walks;
      reset();
      faults::arm(n, isLasting);
      bool hasThrown = false;
      try {
        status = scenario();
      } catch (...) {
        hasThrown = true;
      }
      faults::disarm();
      ASSERT_FALSE(hasThrown) << "an exception came out when operation " << n << " failed";
      ASSERT_EQ(wrong, nullptr) << "when operation " << n << (isLasting ? " and all later ones" : "") << " failed";
      if (!status.isOk()) {
        ++errors;
        EXPECT_FALSE(status.message().empty());
      }
      reset();
      status = scenario();
      ASSERT_TRUE(status.isOk()) << "after operation " << n << " had failed: " << status.str();
      ASSERT_EQ(wrong, nullptr) << "after operation " << n << " had failed";
    }
  std::printf("%-28s %lld operations, %lld failures reported of %lld\n", name, static_cast<long long>(operations),
              static_cast<long long>(errors), static_cast<long long>(walks));
  EXPECT_GT(errors, 0);
}
void nothing() {}

/// The elements of a result are these.
void requireFloats(const Ref<Value> &value, std::initializer_list<float> expected, const char *what) {
  MemRefValue *memref = asMemRef(value.get());
  require(memref && memref->elementCount() == static_cast<int64_t>(expected.size()) &&
              std::memcmp(memref->data(), expected.begin(), expected.size() * sizeof(float)) == 0,
          what);
}

class FaultInjectionTest : public testing::Test {
protected:
  std::vector<uint8_t> file = writeFunctions();
  Ref<Session> session = openFunctions(2);
  Client &client = *session->client();
  Ref<Value> a = floats(client, {1, 2, 3, 4}), b = floats(client, {5, 6, 7, 8});

  void SetUp() override { wrong = nullptr; }
  const FunctionSignature &find(const char *name) { return *session->executable()->findFunction(name); }
  /// The next call starts without memory at hand.
  auto forget() {
    return [this] { session->releaseCachedMemory(); };
  }
};
} // namespace

//===--- Scenarios -----------------------------------------------------------------------------------------------===//

TEST_F(FaultInjectionTest, LoadFromMemory) {
  walk(
      "load from memory",
      [&]() -> Status {
        LATEWOOD_ASSIGN_OR_RETURN(Ref<Executable> executable, Executable::fromBytes(file));
        require(executable->findFunction("add") != nullptr, "the executable has its functions");
        return okStatus();
      },
      nothing);
}

TEST_F(FaultInjectionTest, LoadFromFile) {
  std::string path = testing::TempDir() + "/latewood-faults-" + std::to_string(getpid()) + ".lwx";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(file.data()), static_cast<std::streamsize>(file.size()));
  LoadOptions options;
  options.verifyFully = true;
  walk(
      "load from a file",
      [&]() -> Status {
        LATEWOOD_ASSIGN_OR_RETURN(Ref<Executable> executable, Executable::load(path, options));
        require(executable->findFunction("add") != nullptr, "the executable has its functions");
        return okStatus();
      },
      nothing);
  std::remove(path.c_str());
}

TEST_F(FaultInjectionTest, ClientAndSession) {
  walk(
      "client and session",
      [&]() -> Status {
        LATEWOOD_ASSIGN_OR_RETURN(Ref<Client> own, Client::create({2}));
        LATEWOOD_ASSIGN_OR_RETURN(Ref<Session> created, Session::create(own, session->executable()));
        Value *arguments[] = {a.get(), b.get()};
        Ref<Value> results[1];
        LATEWOOD_RETURN_IF_ERROR(created->call(find("add"), arguments, results));
        requireFloats(results[0], {106, 208, 310, 412}, "the new session calls");
        return okStatus();
      },
      nothing);
}

TEST_F(FaultInjectionTest, HostProgramInLua) {
  auto metadata = describeFunctions();
  auto negate = std::move(metadata.functions[0]);
  metadata.functions.clear();
  negate->symbol = "f";
  metadata.functions.push_back(std::move(negate));
  metadata.constants.clear();
  metadata.images.clear();
  metadata.host = latewood::format::HostBackend::lua;
  metadata.host_source = 0;
  const char source[] = "function f(args) core.copy(core.request(0, 16, 64), args[2], 16) end";
  latewood::format::SegmentInput segment = {latewood::format::SegmentKind::host_source,
                                            "host",
                                            {reinterpret_cast<const uint8_t *>(source), sizeof source - 1},
                                            0};
  std::vector<uint8_t> program;
  ASSERT_EQ(latewood::format::write(metadata, {&segment, 1}, program), "");
  walk(
      "host program in Lua",
      [&]() -> Status {
        LATEWOOD_ASSIGN_OR_RETURN(Ref<Executable> executable, Executable::fromBytes(program));
        LATEWOOD_ASSIGN_OR_RETURN(Ref<Session> created, Session::create(session->client(), executable));
        Value *arguments[] = {a.get(), b.get()};
        Ref<Value> results[1];
        LATEWOOD_RETURN_IF_ERROR(created->call(executable->functions()[0], arguments, results));
        requireFloats(results[0], {5, 6, 7, 8}, "the program in Lua copies");
        return okStatus();
      },
      nothing);
}

TEST_F(FaultInjectionTest, Buffers) {
  int released = 0;
  float elements[] = {1, 2, 3, 4, 5, 6};
  int64_t shape[] = {3, 2}, strides[] = {1, 3};
  walk(
      "buffers",
      [&]() -> Status {
        int before = released;
        auto view =
            client.createHostView(elements, ElementType::f32, shape, strides, false, [&released] { ++released; });
        if (!view.isOk()) {
          require(released == before + 1, "a view that fails is released");
          return view.status();
        }
        LATEWOOD_ASSIGN_OR_RETURN(Ref<MemRefValue> copy, client.copyToHost(**view));
        requireFloats(copy, {1, 4, 2, 5, 3, 6}, "the copy has the elements");
        const int64_t start[] = {1, 0}, limit[] = {3, 2}, step[] = {1, 1}, flat[] = {4};
        LATEWOOD_ASSIGN_OR_RETURN(Ref<MemRefValue> slice, copy->slice(start, limit, step));
        LATEWOOD_ASSIGN_OR_RETURN(Ref<MemRefValue> reshaped, slice->reshape(flat));
        requireFloats(reshaped, {2, 5, 3, 6}, "the slice has the elements");
        float number = 3;
        LATEWOOD_ASSIGN_OR_RETURN(Ref<ScalarValue> scalar, client.createScalar(ElementType::f32, &number));
        return client.copyInto(*copy, **view);
      },
      [&] {
        float original[] = {1, 2, 3, 4, 5, 6};
        std::memcpy(elements, original, sizeof elements);
      });
}

TEST_F(FaultInjectionTest, CallsThatAllocate) {
  walk(
      "results allocated",
      [&]() -> Status {
        Value *arguments[] = {a.get(), b.get()};
        Ref<Value> results[2];
        Status status = session->call(find("swap"), arguments, results);
        if (!status.isOk()) {
          require(!results[0] && !results[1], "a call that fails leaves the slots alone");
          return status;
        }
        requireFloats(results[0], {5, 6, 7, 8}, "first");
        requireFloats(results[1], {1, 2, 3, 4}, "second");
        return okStatus();
      },
      forget());
}

TEST_F(FaultInjectionTest, CallsIntoGivenBuffers) {
  Ref<Value> x = floats(client, {0, 0, 0, 0}), y = floats(client, {0, 0, 0, 0});
  auto call = [&](Ref<Value> first, Ref<Value> second) -> Status {
    Value *arguments[] = {x.get(), y.get()};
    Ref<Value> results[] = {first, second};
    Status status = session->call(find("swap"), arguments, results);
    if (!status.isOk()) {
      require(results[0] == first && results[1] == second, "a call that fails leaves the slots alone");
      return status;
    }
    requireFloats(results[0], {5, 6, 7, 8}, "first");
    requireFloats(results[1], {1, 2, 3, 4}, "second");
    return okStatus();
  };
  auto reset = [&] {
    session->releaseCachedMemory();
    float one[] = {1, 2, 3, 4}, two[] = {5, 6, 7, 8};
    std::memcpy(asMemRef(x.get())->data(), one, sizeof one);
    std::memcpy(asMemRef(y.get())->data(), two, sizeof two);
  };
  // Over its own arguments: through memory aside.
  walk("given, overlapping", [&] { return call(x, y); }, reset);
  walk("one given, one allocated", [&] { return call(nullptr, y); }, reset);
}

TEST_F(FaultInjectionTest, DynamicShapesTemporariesAndLoops) {
  Ref<Value> mixed = floats(client, {-1, 2, -3, 4}), many = floats(client, std::vector<float>(64, 1));
  Ref<Value> matrix = memref(client, ElementType::f32, {1024, 64}, std::vector<float>(1024 * 64, 3));
  walk(
      "dynamic shape",
      [&]() -> Status {
        Value *arguments[] = {mixed.get()};
        Ref<Value> results[1];
        LATEWOOD_RETURN_IF_ERROR(session->call(find("positive"), arguments, results));
        requireFloats(results[0], {2, 4}, "the positive elements");
        return okStatus();
      },
      forget());
  walk(
      "temporaries and workspace",
      [&]() -> Status {
        Value *arguments[] = {many.get()};
        Ref<Value> results[1];
        LATEWOOD_RETURN_IF_ERROR(session->call(find("temporaries"), arguments, results));
        require(static_cast<float *>(asMemRef(results[0].get())->data())[63] == 5, "through temporaries");
        return okStatus();
      },
      [&] {
        // A new session: the workspace is kept otherwise.
        session = *Session::create(session->client(), session->executable());
      });
  int64_t generations = 5;
  Ref<ScalarValue> length = *client.createScalar(ElementType::i64, &generations);
  walk(
      "a loop that makes what it carries anew",
      [&]() -> Status {
        Value *arguments[] = {length.get()};
        Ref<Value> results[1];
        LATEWOOD_RETURN_IF_ERROR(session->call(find("generations"), arguments, results));
        require(static_cast<int64_t *>(asMemRef(results[0].get())->data())[4] == 4, "the last generation");
        return okStatus();
      },
      forget());
  for (const char *name : {"squares", "nested"})
    walk(
        name,
        [&]() -> Status {
          Value *arguments[] = {matrix.get()};
          Ref<Value> results[1];
          LATEWOOD_RETURN_IF_ERROR(session->call(find(name), arguments, results));
          require(static_cast<float *>(asMemRef(results[0].get())->data())[65535] == (*name == 's' ? 9 : 4), "loop");
          return okStatus();
        },
        forget());
}

TEST_F(FaultInjectionTest, TracesAreWholeOrNotThere) {
  std::filesystem::path folder = testing::TempDir() + "/latewood-faults-" + std::to_string(getpid());
  std::filesystem::create_directory(folder);
  std::string path = folder / "trace.json";
  walk(
      "a trace",
      [&]() -> Status {
        LATEWOOD_RETURN_IF_ERROR(Trace::start());
        Value *arguments[] = {a.get(), b.get()};
        Ref<Value> results[1];
        Status status = session->call(find("add"), arguments, results);
        Status written = Trace::stop(path);
        return status.isOk() ? written : status;
      },
      [&] {
        // The whole of it, or nothing; the file before it has another name.
        for (const auto &entry : std::filesystem::directory_iterator(folder)) {
          require(entry.path() == path, "nothing stays beside the trace");
          std::ifstream file(path);
          std::string text{std::istreambuf_iterator<char>(file), {}};
          require(text.ends_with("}}\n"), "the trace is whole");
        }
        std::filesystem::remove(path);
        session->releaseCachedMemory();
      });
  std::filesystem::remove_all(folder);
}

TEST_F(FaultInjectionTest, FailingCallsStayFailures) {
  int32_t number = -1;
  Ref<Value> negative = *client.createScalar(ElementType::i32, &number);
  walk(
      "failures of programs",
      [&]() -> Status {
        Ref<Value> results[1];
        Value *arguments[] = {negative.get()};
        Status status = session->call(find("check"), arguments, results);
        require(!status.isOk(), "a failing call fails");
        require(!session->call(find("add"), arguments, results).isOk(), "a wrong call fails");
        return status.code() == StatusCode::invalidArgument ? okStatus() : status;
      },
      forget());
}

TEST_F(FaultInjectionTest, Donation) {
  Ref<Value> donated;
  for (const char *name : {"donate", "donate_aside"})
    walk(
        name,
        [&]() -> Status {
          Value *arguments[] = {donated.get()};
          Ref<Value> results[1];
          Status status = session->call(find(name), arguments, results);
          if (!status.isOk()) {
            require(!results[0], "a call that fails leaves the slots alone");
            return status;
          }
          require(asMemRef(donated.get())->isDonated(), "the argument was taken");
          require(static_cast<float *>(asMemRef(results[0].get())->data())[0] == (name[6] ? 8 : 2), "result");
          return okStatus();
        },
        [&] {
          session->releaseCachedMemory();
          donated = floats(client, {1, 2, 3, 4, 5, 6, 7, 8});
        });
}

TEST_F(FaultInjectionTest, Streams) {
  walk(
      "streams",
      [&]() -> Status {
        LATEWOOD_ASSIGN_OR_RETURN(Ref<Stream> stream, Stream::create());
        Value *arguments[] = {a.get(), b.get()};
        Ref<Value> first[2], second[2];
        LATEWOOD_RETURN_IF_ERROR(session->enqueue(find("swap"), arguments, first, *stream));
        Value *chained[] = {first[0].get(), first[1].get()};
        LATEWOOD_RETURN_IF_ERROR(session->enqueue(find("swap"), chained, second, *stream));
        LATEWOOD_ASSIGN_OR_RETURN(Ref<Event> event, stream->record());
        LATEWOOD_RETURN_IF_ERROR(event->wait());
        LATEWOOD_RETURN_IF_ERROR(asMemRef(second[0].get())->waitUntilReady());
        LATEWOOD_RETURN_IF_ERROR(stream->sync());
        requireFloats(second[0], {1, 2, 3, 4}, "swapped twice");
        LATEWOOD_RETURN_IF_ERROR(session->call(find("swap"), arguments, second, stream.get()));
        requireFloats(second[0], {5, 6, 7, 8}, "swapped in order");
        return okStatus();
      },
      forget());
}

TEST_F(FaultInjectionTest, CInterface) {
  walk(
      "C interface",
      [&]() -> Status {
        latewood_client *own = nullptr;
        latewood_executable *executable = nullptr;
        latewood_session *created = nullptr;
        latewood_buffer *buffer = nullptr, *result = nullptr;
        const latewood_function *function = nullptr;
        int64_t shape[] = {8};
        float elements[8] = {1, 2, 3, 4, 5, 6, 7, 8};
        latewood_status *status = latewood_client_create(nullptr, &own);
        if (!status)
          status = latewood_executable_load_memory(file.data(), file.size(), nullptr, &executable);
        if (!status)
          status = latewood_session_create(own, executable, &created);
        if (!status)
          status = latewood_executable_find_function(executable, "double", &function);
        if (!status)
          status = latewood_buffer_create_copy(own, elements, LATEWOOD_TYPE_f32, 1, shape, nullptr, &buffer);
        if (!status)
          status = latewood_session_call(created, function, &buffer, 1, &result, 1);
        latewood_buffer *slice = nullptr, *shared = nullptr;
        DLManagedTensorVersioned *tensor = nullptr;
        const int64_t start[] = {4}, limit[] = {8};
        if (!status)
          status = latewood_buffer_slice(result, start, limit, nullptr, &slice);
        if (!status)
          status = latewood_buffer_export_dlpack(slice, &tensor);
        if (!status)
          status = latewood_buffer_import_dlpack(tensor, &shared);
        require(status || static_cast<float *>(latewood_buffer_data(shared))[3] == 16, "shared");
        latewood_buffer_release(slice);
        latewood_buffer_release(shared);
        if (!status)
          status = latewood_buffer_read(result, elements, sizeof elements);
        require(status || elements[7] == 16, "doubled");
        Status outcome = status ? Status::noMemory() : okStatus();
        require(!status || *latewood_status_get_message(status) != 0, "a failure has a message");
        latewood_status_destroy(status);
        latewood_buffer_release(buffer);
        latewood_buffer_release(result);
        latewood_session_release(created);
        latewood_executable_release(executable);
        latewood_client_release(own);
        return outcome;
      },
      nothing);
}
