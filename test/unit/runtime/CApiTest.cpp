// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface: what it adds to the core that it stands on, which is handles, slots, sizes of structures, and that
// everything wrong ends in a status.

#include "TestExecutable.h"

#include "latewood/runtime/latewood.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

using namespace latewood::test;

namespace {
using Floats = std::vector<float>;

/// Destroys the status; "" for success.
std::string text(latewood_status *status) {
  std::string result;
  if (status)
    result = std::string(latewood_status_code_name(latewood_status_get_code(status))) + ": " +
             latewood_status_get_message(status);
  latewood_status_destroy(status);
  return result;
}
#define EXPECT_OK(...) EXPECT_EQ(text(__VA_ARGS__), "")

class CApiTest : public testing::Test {
protected:
  latewood_client *client = nullptr;
  latewood_executable *executable = nullptr;
  latewood_session *session = nullptr;

  void SetUp() override {
    latewood_client_options options = {sizeof options, 2};
    ASSERT_EQ(text(latewood_client_create(&options, &client)), "");
    std::vector<uint8_t> file = writeFunctions();
    ASSERT_EQ(text(latewood_executable_load_memory(file.data(), file.size(), nullptr, &executable)), "");
    ASSERT_EQ(text(latewood_session_create(client, executable, &session)), "");
  }
  void TearDown() override {
    latewood_session_release(session);
    latewood_executable_release(executable);
    latewood_client_release(client);
  }

  const latewood_function *find(const char *name) {
    const latewood_function *function = nullptr;
    EXPECT_OK(latewood_executable_find_function(executable, name, &function));
    return function;
  }
  latewood_buffer *floats(const Floats &elements) {
    latewood_buffer *buffer = nullptr;
    int64_t shape[] = {static_cast<int64_t>(elements.size())};
    EXPECT_OK(latewood_buffer_create_copy(client, elements.data(), LATEWOOD_TYPE_f32, 1, shape, nullptr, &buffer));
    return buffer;
  }
  static Floats read(const latewood_buffer *buffer) {
    Floats elements(static_cast<size_t>(latewood_buffer_element_count(buffer)));
    EXPECT_OK(latewood_buffer_read(buffer, elements.data(), elements.size() * sizeof(float)));
    return elements;
  }
};
} // namespace

TEST_F(CApiTest, SaysWhatItIs) {
  EXPECT_EQ(latewood_c_api_version(), uint32_t(LATEWOOD_C_API_VERSION));
  EXPECT_STRNE(latewood_version(), "");
  EXPECT_EQ(latewood_client_thread_count(client), 2);
  EXPECT_STREQ(latewood_element_type_name(LATEWOOD_TYPE_complex_f64), "complex<f64>");
  EXPECT_EQ(latewood_element_type_size(LATEWOOD_TYPE_complex_f64), 16u);
  for (int number : {-1, 0, 31, 257, 256 + 27}) {
    EXPECT_STREQ(latewood_element_type_name(static_cast<latewood_element_type>(number)), "invalid") << number;
    EXPECT_EQ(latewood_element_type_size(static_cast<latewood_element_type>(number)), 0u) << number;
  }
  EXPECT_EQ(latewood_status_get_code(nullptr), LATEWOOD_OK);
  EXPECT_STREQ(latewood_status_get_message(nullptr), "");
}

TEST_F(CApiTest, Signatures) {
  EXPECT_STREQ(latewood_executable_name(executable), "functions");
  size_t count = latewood_executable_function_count(executable);
  EXPECT_EQ(latewood_executable_function(executable, count), nullptr);
  bool isFound = false;
  for (size_t i = 0; i < count; ++i)
    isFound |= latewood_executable_function(executable, i) == find("negate");
  EXPECT_TRUE(isFound);

  const latewood_function *negate = find("negate");
  EXPECT_STREQ(latewood_function_name(negate), "negate");
  ASSERT_EQ(latewood_function_argument_count(negate), 1u);
  ASSERT_EQ(latewood_function_result_count(negate), 1u);
  latewood_value_info info = {};
  info.struct_size = sizeof info;
  EXPECT_OK(latewood_function_argument(negate, 0, &info));
  EXPECT_STREQ(info.name, "");
  EXPECT_EQ(info.type, LATEWOOD_TYPE_f32);
  ASSERT_EQ(info.rank, 2);
  EXPECT_EQ(info.shape[0], LATEWOOD_DYNAMIC_EXTENT);
  EXPECT_EQ(info.shape[1], 2);
  EXPECT_EQ(info.min_shape[0], 1);
  EXPECT_EQ(info.opt_shape[0], 4);
  EXPECT_EQ(info.max_shape[0], 8);
  EXPECT_EQ(info.is_donated, 0);
  EXPECT_OK(latewood_function_result(negate, 0, &info));
  EXPECT_EQ(info.max_shape, nullptr);
  EXPECT_OK(latewood_function_argument(find("donate"), 0, &info));
  EXPECT_EQ(info.is_donated, 1);
  EXPECT_OK(latewood_function_argument(find("check"), 0, &info));
  EXPECT_EQ(info.rank, 0);
  EXPECT_EQ(info.shape, nullptr);

  EXPECT_EQ(text(latewood_function_argument(negate, 1, &info)), "InvalidArgument: there is no value 1 of 1");
  const latewood_function *none = nullptr;
  EXPECT_EQ(text(latewood_executable_find_function(executable, "none", &none)).substr(0, 54),
            "NotFound: there is no function 'none' in the executabl");
}

TEST_F(CApiTest, StructuresOfOlderHeaders) {
  // A header that knew of the first two fields only: what is behind them is not touched.
  latewood_value_info info;
  std::memset(&info, 0x5a, sizeof info);
  info.struct_size = offsetof(latewood_value_info, type);
  EXPECT_OK(latewood_function_argument(find("negate"), 0, &info));
  EXPECT_EQ(info.struct_size, offsetof(latewood_value_info, type));
  EXPECT_STREQ(info.name, "");
  EXPECT_EQ(info.rank, 0x5a5a5a5a5a5a5a5a);
  info.struct_size = 0;
  EXPECT_EQ(text(latewood_function_argument(find("negate"), 0, &info)),
            "InvalidArgument: struct_size is 0; set it to sizeof");

  latewood_client *other = nullptr;
  latewood_client_options options = {sizeof(size_t), -7};
  EXPECT_OK(latewood_client_create(&options, &other));
  latewood_client_release(other);
  options.struct_size = 0;
  EXPECT_EQ(text(latewood_client_create(&options, &other)),
            "InvalidArgument: options: struct_size is 0; set it to sizeof");
  options.struct_size = sizeof options;
  EXPECT_EQ(text(latewood_client_create(&options, &other)),
            "InvalidArgument: number of threads: expected 0 to 1024, got -7");
}

TEST_F(CApiTest, Slots) {
  latewood_buffer *arguments[] = {floats({1, 2, 3, 4}), floats({5, 6, 7, 8})};
  latewood_buffer *given = floats({0, 0, 0, 0}), *results[] = {nullptr, given};
  EXPECT_OK(latewood_session_call(session, find("swap"), arguments, 2, results, 2));
  ASSERT_NE(results[0], nullptr);
  EXPECT_EQ(results[1], given);
  EXPECT_EQ(read(results[0]), (Floats{5, 6, 7, 8}));
  EXPECT_EQ(read(given), (Floats{1, 2, 3, 4}));

  latewood_session_statistics statistics = {};
  statistics.struct_size = sizeof statistics;
  EXPECT_OK(latewood_session_get_statistics(session, &statistics));
  EXPECT_EQ(statistics.calls, 1u);
  EXPECT_EQ(statistics.results.count, 1u);
  EXPECT_EQ(statistics.results.live_bytes, 16);

  // A result outlives everything that made it.
  latewood_session_release(std::exchange(session, nullptr));
  latewood_executable_release(std::exchange(executable, nullptr));
  latewood_client_release(std::exchange(client, nullptr));
  EXPECT_EQ(read(results[0]), (Floats{5, 6, 7, 8}));
  for (latewood_buffer *buffer : {arguments[0], arguments[1], results[0], given})
    latewood_buffer_release(buffer);
}

TEST_F(CApiTest, FailuresLeaveSlotsAlone) {
  int32_t number = -1;
  latewood_buffer *argument = nullptr, *result = nullptr;
  EXPECT_OK(latewood_buffer_create_copy(client, &number, LATEWOOD_TYPE_i32, 0, nullptr, nullptr, &argument));
  EXPECT_EQ(text(latewood_session_call(session, find("check"), &argument, 1, &result, 1)),
            "InvalidArgument: function 'check': the number must not be negative");
  EXPECT_EQ(result, nullptr);
  EXPECT_EQ(text(latewood_session_call(session, find("check"), nullptr, 0, &result, 1)),
            "InvalidArgument: function 'check' expects 1 arguments, got 0");
  latewood_buffer *nothing = nullptr;
  EXPECT_NE(text(latewood_session_call(session, find("check"), &nothing, 1, &result, 1)), "");
  EXPECT_EQ(text(latewood_session_call(session, find("check"), nullptr, 1, &result, 1)),
            "InvalidArgument: 'arguments' must not be NULL");
  EXPECT_EQ(text(latewood_session_call(nullptr, find("check"), &argument, 1, &result, 1)),
            "InvalidArgument: 'session' must not be NULL");
  number = 5;
  EXPECT_OK(latewood_buffer_write(argument, &number, sizeof number));
  EXPECT_OK(latewood_session_call(session, find("check"), &argument, 1, &result, 1));
  EXPECT_EQ(*static_cast<int32_t *>(latewood_buffer_data(result)), 5);
  latewood_buffer_release(result);
  latewood_buffer_release(argument);
}

TEST_F(CApiTest, Views) {
  int released = 0;
  auto release = [](void *context) { ++*static_cast<int *>(context); };
  float elements[] = {1, 2, 3, 4, 5, 6};
  int64_t shape[] = {3, 2}, strides[] = {1, 3};
  latewood_buffer *view = nullptr;
  EXPECT_OK(latewood_buffer_create_view(client, elements, LATEWOOD_TYPE_f32, 2, shape, strides, 0, release, &released,
                                        &view));
  EXPECT_EQ(latewood_buffer_strides(view)[1], 3);
  EXPECT_EQ(latewood_buffer_shape(view)[0], 3);
  EXPECT_EQ(read(view), (Floats{1, 4, 2, 5, 3, 6}));
  Floats numbers = {10, 40, 20, 50, 30, 60};
  EXPECT_OK(latewood_buffer_write(view, numbers.data(), latewood_buffer_size(view)));
  EXPECT_EQ(elements[1], 20);
  // The other side need not be aligned.
  char bytes[25];
  EXPECT_OK(latewood_buffer_read(view, bytes + 1, 24));
  EXPECT_EQ(std::memcmp(bytes + 1, numbers.data(), 24), 0);
  EXPECT_EQ(text(latewood_buffer_read(view, bytes, 20)),
            "InvalidArgument: expected 24 bytes for memref<3x2xf32, strided<[1, 3]>>, got 20");
  latewood_buffer_retain(view);
  latewood_buffer_release(view);
  EXPECT_EQ(released, 0);
  latewood_buffer_release(view);
  EXPECT_EQ(released, 1);

  EXPECT_OK(latewood_buffer_create_view(client, elements, LATEWOOD_TYPE_f32, 2, shape, nullptr, 1, release, &released,
                                        &view));
  EXPECT_EQ(latewood_buffer_is_read_only(view), 1);
  EXPECT_EQ(text(latewood_buffer_write(view, numbers.data(), 24)),
            "InvalidArgument: copy: the destination is read-only");
  latewood_buffer_release(view);
  EXPECT_EQ(released, 2);

  // Also where there is no view.
  for (int64_t rank : {-1, 2}) {
    int before = released;
    latewood_buffer *none = nullptr;
    EXPECT_NE(text(latewood_buffer_create_view(client, elements, static_cast<latewood_element_type>(999), rank, shape,
                                               nullptr, 0, release, &released, &none)),
              "");
    EXPECT_EQ(none, nullptr);
    EXPECT_EQ(released, before + 1);
  }
}

TEST_F(CApiTest, SlicesAndReshapes) {
  int released = 0;
  auto release = [](void *context) { ++*static_cast<int *>(context); };
  float elements[] = {1, 2, 3, 4, 5, 6};
  int64_t shape[] = {3, 2}, start[] = {1, 0}, limit[] = {3, 2}, step[] = {1, 2}, flat[] = {4}, wrong[] = {5};
  latewood_buffer *base = nullptr, *slice = nullptr, *strided = nullptr, *reshaped = nullptr, *none = nullptr;
  EXPECT_OK(latewood_buffer_create_view(client, elements, LATEWOOD_TYPE_f32, 2, shape, nullptr, 0, release, &released,
                                        &base));
  EXPECT_OK(latewood_buffer_slice(base, start, limit, nullptr, &slice));
  EXPECT_OK(latewood_buffer_slice(base, start, limit, step, &strided));
  EXPECT_OK(latewood_buffer_reshape(slice, 1, flat, &reshaped));
  EXPECT_EQ(latewood_buffer_data(slice), elements + 2);
  EXPECT_EQ(read(strided), (Floats{3, 5}));
  EXPECT_EQ(read(reshaped), (Floats{3, 4, 5, 6}));

  // Out of bounds, and what cannot be reshaped.
  EXPECT_NE(text(latewood_buffer_slice(base, limit, start, nullptr, &none)), "");
  limit[0] = 4;
  EXPECT_NE(text(latewood_buffer_slice(base, start, limit, nullptr, &none)), "");
  start[0] = -1, limit[0] = 3;
  EXPECT_NE(text(latewood_buffer_slice(base, start, limit, nullptr, &none)), "");
  start[0] = 1, step[0] = 0;
  EXPECT_NE(text(latewood_buffer_slice(base, start, limit, step, &none)), "");
  EXPECT_EQ(text(latewood_buffer_slice(base, nullptr, limit, step, &none)),
            "InvalidArgument: 'start' must not be NULL");
  EXPECT_NE(text(latewood_buffer_reshape(slice, 1, wrong, &none)), "");
  EXPECT_NE(text(latewood_buffer_reshape(strided, 1, flat, &none)), "");
  EXPECT_EQ(none, nullptr);

  // Each keeps the memory.
  for (latewood_buffer *buffer : {base, slice, strided}) {
    latewood_buffer_release(buffer);
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(read(reshaped), (Floats{3, 4, 5, 6}));
  latewood_buffer_release(reshaped);
  EXPECT_EQ(released, 1);
}

TEST_F(CApiTest, DLPack) {
  latewood_buffer *base = floats({1, 2, 3, 4, 5, 6, 7, 8}), *again = nullptr, *older = nullptr;
  const int64_t start[] = {2}, limit[] = {8}, step[] = {3};
  latewood_buffer *slice = nullptr;
  EXPECT_OK(latewood_buffer_slice(base, start, limit, step, &slice));
  DLManagedTensorVersioned *tensor = nullptr;
  DLManagedTensor *unversioned = nullptr;
  EXPECT_OK(latewood_buffer_export_dlpack(slice, &tensor));
  EXPECT_OK(latewood_buffer_export_dlpack_unversioned(slice, &unversioned));
  latewood_buffer_release(slice);
  latewood_buffer_release(base);
  EXPECT_OK(latewood_buffer_import_dlpack(tensor, &again));
  EXPECT_OK(latewood_buffer_import_dlpack_unversioned(unversioned, &older));
  EXPECT_EQ(latewood_buffer_data(again), latewood_buffer_data(older));
  EXPECT_EQ(latewood_buffer_strides(again)[0], 3);
  EXPECT_EQ(read(again), (Floats{3, 6}));
  latewood_buffer_release(again);
  EXPECT_EQ(read(older), (Floats{3, 6}));
  latewood_buffer_release(older);

  // Read-only memory needs the form that can say so.
  const float constant[] = {1};
  const int64_t one[] = {1};
  EXPECT_OK(latewood_buffer_create_view(client, const_cast<float *>(constant), LATEWOOD_TYPE_f32, 1, one, nullptr, 1,
                                        nullptr, nullptr, &base));
  EXPECT_NE(text(latewood_buffer_export_dlpack_unversioned(base, &unversioned)), "");
  EXPECT_OK(latewood_buffer_export_dlpack(base, &tensor));
  EXPECT_OK(latewood_buffer_import_dlpack(tensor, &again));
  EXPECT_EQ(latewood_buffer_is_read_only(again), 1);
  latewood_buffer_release(again);
  latewood_buffer_release(base);
  EXPECT_EQ(text(latewood_buffer_import_dlpack(nullptr, &again)), "InvalidArgument: 'tensor' must not be NULL");
}

TEST_F(CApiTest, CallsAreCountedAndTimed) {
  latewood_buffer *argument = floats(Floats(8, 1)), *wrong = floats(Floats(3, 1)), *result = nullptr;
  for (int i = 0; i < 3; ++i) {
    EXPECT_OK(latewood_session_call(session, find("double"), &argument, 1, &result, 1));
    latewood_buffer_release(std::exchange(result, nullptr));
  }
  EXPECT_NE(text(latewood_session_call(session, find("double"), &wrong, 1, &result, 1)), "");
  latewood_session_statistics statistics = {};
  statistics.struct_size = sizeof statistics;
  EXPECT_OK(latewood_session_get_statistics(session, &statistics));
  EXPECT_EQ(statistics.calls, 3u);
  EXPECT_EQ(statistics.argument_bytes, 3u * 32);
  EXPECT_EQ(statistics.result_bytes, 3u * 32);
  EXPECT_EQ(statistics.results.bytes, 3u * 32);
  EXPECT_GE(statistics.system_peak_bytes, 32);
  EXPECT_GT(statistics.call_nanoseconds, 0u);
  EXPECT_LE(statistics.longest_call_nanoseconds, statistics.call_nanoseconds);
  EXPECT_LT(statistics.call_nanoseconds, 10'000'000'000u);
  latewood_buffer_release(argument);
  latewood_buffer_release(wrong);
}

TEST_F(CApiTest, ShapesOfResults) {
  int64_t number = 7, extent = 0;
  latewood_buffer *argument = nullptr, *none = nullptr;
  EXPECT_OK(latewood_buffer_create_copy(client, &number, LATEWOOD_TYPE_i64, 0, nullptr, nullptr, &argument));
  EXPECT_EQ(latewood_buffer_type(argument), LATEWOOD_TYPE_i64);
  const latewood_function *limited = find("limited");
  for (auto [result, expected] : {std::pair<size_t, int64_t>(0, 7), {1, 2}, {2, LATEWOOD_DYNAMIC_EXTENT}}) {
    EXPECT_OK(latewood_session_output_shape(session, limited, &argument, 1, result, &extent));
    EXPECT_EQ(extent, expected);
  }
  EXPECT_EQ(text(latewood_session_output_shape(session, limited, &argument, 1, 3, &extent)),
            "InvalidArgument: function 'limited' has no result 3");
  EXPECT_EQ(text(latewood_session_output_shape(session, limited, &argument, 1, 0, nullptr)),
            "InvalidArgument: 'extents' must not be NULL");
  EXPECT_NE(text(latewood_session_output_shape(session, limited, &none, 1, 0, &extent)).find("argument 0"),
            std::string::npos);
  latewood_buffer_release(argument);
}

TEST_F(CApiTest, MemoryGoesBackToTheSystem) {
  latewood_buffer *argument = floats(Floats(8, 1)), *result = nullptr;
  EXPECT_OK(latewood_session_call(session, find("double"), &argument, 1, &result, 1));
  latewood_buffer_release(result);
  latewood_session_statistics statistics = {};
  statistics.struct_size = sizeof statistics;
  EXPECT_OK(latewood_session_get_statistics(session, &statistics));
  EXPECT_GE(statistics.cached_bytes, 32);
  latewood_session_release_cached_memory(session);
  EXPECT_OK(latewood_session_get_statistics(session, &statistics));
  EXPECT_EQ(statistics.cached_bytes, 0);
  latewood_buffer_release(argument);
}

TEST_F(CApiTest, Traces) {
  std::string path = testing::TempDir() + "CApiTest.trace.json";
  EXPECT_OK(latewood_trace_start());
  EXPECT_EQ(text(latewood_trace_start()).substr(0, 19), "FailedPrecondition:");
  latewood_buffer *argument = floats(Floats(8, 1)), *result = nullptr;
  EXPECT_OK(latewood_session_call(session, find("double"), &argument, 1, &result, 1));
  EXPECT_OK(latewood_trace_stop(path.c_str()));
  EXPECT_NE(text(latewood_trace_stop(path.c_str())), "");
  std::ifstream file(path);
  std::string trace((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_NE(trace.find("\"double\""), std::string::npos);
  std::remove(path.c_str());
  latewood_buffer_release(argument);
  latewood_buffer_release(result);
}

TEST_F(CApiTest, Streams) {
  latewood_stream *stream = nullptr, *other = nullptr;
  EXPECT_OK(latewood_stream_create(&stream));
  EXPECT_OK(latewood_stream_create(&other));
  latewood_buffer *value = floats(Floats(8, 1));
  for (int i = 0; i < 10; ++i) {
    latewood_buffer *result = nullptr;
    EXPECT_OK(latewood_session_enqueue(session, find("double"), &value, 1, &result, 1, stream));
    latewood_buffer_release(value);
    value = result;
  }
  latewood_event *event = nullptr;
  EXPECT_OK(latewood_stream_record(stream, &event));
  EXPECT_OK(latewood_stream_wait_for(other, event));
  EXPECT_OK(latewood_event_wait(event));
  EXPECT_EQ(latewood_event_is_ready(event), 1);
  latewood_event_release(event);
  EXPECT_OK(latewood_buffer_wait(value));
  EXPECT_EQ(latewood_buffer_is_ready(value), 1);
  EXPECT_EQ(read(value), Floats(8, 1024));
  latewood_buffer_release(value);

  int32_t number = -1;
  latewood_buffer *argument = nullptr, *result = nullptr;
  EXPECT_OK(latewood_buffer_create_copy(client, &number, LATEWOOD_TYPE_i32, 0, nullptr, nullptr, &argument));
  EXPECT_OK(latewood_session_enqueue(session, find("check"), &argument, 1, &result, 1, stream));
  EXPECT_EQ(text(latewood_buffer_wait(result)), "InvalidArgument: the call that writes this memory failed: function "
                                                "'check': the number must not be negative");
  EXPECT_EQ(text(latewood_stream_synchronize(stream)),
            "InvalidArgument: function 'check': the number must not be negative");
  EXPECT_OK(latewood_stream_synchronize(stream));
  EXPECT_EQ(latewood_stream_is_idle(stream), 1);
  EXPECT_EQ(text(latewood_session_enqueue(session, find("check"), &argument, 1, &result, 1, nullptr)),
            "InvalidArgument: 'stream' must not be NULL");
  latewood_buffer_release(argument);
  latewood_buffer_release(result);
  latewood_stream_release(stream);
  latewood_stream_release(other);
}

TEST_F(CApiTest, Files) {
  latewood_executable *none = nullptr;
  EXPECT_EQ(text(latewood_executable_load("no-such-file.lwx", nullptr, &none)),
            "NotFound: cannot open 'no-such-file.lwx': No such file or directory");
  EXPECT_EQ(text(latewood_executable_load(nullptr, nullptr, &none)), "InvalidArgument: 'path' must not be NULL");
  std::vector<uint8_t> file = writeFunctions();
  file[file.size() - 1] ^= 1;
  EXPECT_EQ(text(latewood_executable_load_memory(file.data(), file.size(), nullptr, &none)).substr(0, 15),
            "DataCorruption:");
  EXPECT_EQ(none, nullptr);
  file[file.size() - 1] ^= 1;
  latewood_load_options options = {sizeof options, 1, 1};
  EXPECT_OK(latewood_executable_load_memory(file.data(), file.size(), &options, &none));
  latewood_session *refused = nullptr;
  EXPECT_EQ(text(latewood_session_create(client, none, &refused)),
            "FailedPrecondition: the executable was opened for inspection only");
  latewood_executable_release(none);
  latewood_client_statistics statistics = {};
  statistics.struct_size = sizeof statistics;
  EXPECT_OK(latewood_client_get_statistics(client, &statistics));
}
