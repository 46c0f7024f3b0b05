// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface, on the C++ objects: statuses, clients, executables, sessions, streams. Buffers are in
// CApiBuffers.cpp; what both use, and how a function of this interface begins and ends, is in CApiHandles.h.

#include "latewood/runtime/CApiHandles.h"

#include "latewood/runtime/Trace.h"

#include <algorithm>
#include <array>

using namespace latewood::runtime;
using namespace latewood::runtime::capi;

//===--- Handles and statuses ------------------------------------------------------------------------------------===//

#define LATEWOOD_CHECK_TYPE(name) static_assert(LATEWOOD_TYPE_##name == static_cast<int>(ElementType::name));
LATEWOOD_ELEMENT_TYPES(LATEWOOD_CHECK_TYPE)
#undef LATEWOOD_CHECK_TYPE
static_assert(LATEWOOD_INTERNAL == static_cast<int>(StatusCode::internal) &&
              LATEWOOD_UNAVAILABLE == static_cast<int>(StatusCode::unavailable) &&
              LATEWOOD_DATA_CORRUPTION == static_cast<int>(StatusCode::dataCorruption));
static_assert(LATEWOOD_DYNAMIC_EXTENT == dynamicExtent);

#define LATEWOOD_COUNTED(name)                                                                                         \
  void latewood_##name##_retain(latewood_##name *name) {                                                               \
    if (name)                                                                                                          \
      unwrap(name)->retain();                                                                                          \
  }                                                                                                                    \
  void latewood_##name##_release(latewood_##name *name) {                                                              \
    if (name)                                                                                                          \
      unwrap(name)->release();                                                                                         \
  }
LATEWOOD_COUNTED(client)
LATEWOOD_COUNTED(executable)
LATEWOOD_COUNTED(buffer)
LATEWOOD_COUNTED(session)
LATEWOOD_COUNTED(stream)
LATEWOOD_COUNTED(event)

uint32_t latewood_c_api_version() { return LATEWOOD_C_API_VERSION; }
const char *latewood_version() { return LATEWOOD_VERSION; }

latewood_status_code latewood_status_get_code(const latewood_status *status) {
  if (!status)
    return LATEWOOD_OK;
  if (status == noMemoryForStatus())
    return LATEWOOD_OUT_OF_MEMORY;
  return static_cast<latewood_status_code>(status->status.code());
}

const char *latewood_status_get_message(const latewood_status *status) {
  if (!status)
    return "";
  return status == noMemoryForStatus() ? "no memory" : status->message.c_str();
}

void latewood_status_destroy(latewood_status *status) {
  if (status != noMemoryForStatus())
    delete status;
}

const char *latewood_status_code_name(latewood_status_code code) {
  return statusCodeName(static_cast<StatusCode>(code)).data();
}

const char *latewood_element_type_name(latewood_element_type type) {
  ElementType known = elementType(type);
  return known == ElementType::invalid ? "invalid" : elementTypeName(known).data();
}

size_t latewood_element_type_size(latewood_element_type type) {
  ElementType known = elementType(type);
  return known == ElementType::invalid ? 0 : static_cast<size_t>(bytesOf(known));
}

//===--- Clients -------------------------------------------------------------------------------------------------===//

latewood_status *latewood_client_create(const latewood_client_options *options, latewood_client **out) {
  return guarded([&]() -> Status {
    LATEWOOD_REQUIRE(out);
    latewood_client_options given;
    LATEWOOD_RETURN_IF_ERROR(readOptions(options, given));
    ClientOptions clientOptions;
    clientOptions.threadCount = given.thread_count;
    return give(Client::create(clientOptions), out);
  });
}

int32_t latewood_client_thread_count(const latewood_client *client) { return unwrap(client)->threadCount(); }

latewood_status *latewood_client_get_statistics(const latewood_client *client, latewood_client_statistics *statistics) {
  return guarded([&]() -> Status {
    LATEWOOD_REQUIRE(client);
    LATEWOOD_REQUIRE(statistics);
    SystemCounter system = unwrap(client)->statistics().system;
    return writeInfo({0, system.allocations, system.releases, system.liveBytes, system.peakBytes}, statistics);
  });
}

//===--- Executables ---------------------------------------------------------------------------------------------===//

namespace {
Status loadOptions(const latewood_load_options *options, LoadOptions &result) {
  latewood_load_options given;
  LATEWOOD_RETURN_IF_ERROR(readOptions(options, given));
  result.verifyFully = given.verify_fully != 0;
  result.inspectOnly = given.inspect_only != 0;
  return okStatus();
}
} // namespace

latewood_status *latewood_executable_load(const char *path, const latewood_load_options *options,
                                          latewood_executable **out) {
  return guarded([&]() -> Status {
    LATEWOOD_REQUIRE(path);
    LATEWOOD_REQUIRE(out);
    LoadOptions given;
    LATEWOOD_RETURN_IF_ERROR(loadOptions(options, given));
    return give(Executable::load(path, given), out);
  });
}

latewood_status *latewood_executable_load_memory(const void *bytes, size_t size, const latewood_load_options *options,
                                                 latewood_executable **out) {
  return guarded([&]() -> Status {
    LATEWOOD_REQUIRE(bytes);
    LATEWOOD_REQUIRE(out);
    LoadOptions given;
    LATEWOOD_RETURN_IF_ERROR(loadOptions(options, given));
    std::span<const uint8_t> file(static_cast<const uint8_t *>(bytes), size);
    return give(Executable::fromBytes(file, given), out);
  });
}

const char *latewood_executable_name(const latewood_executable *executable) {
  return unwrap(executable)->name().c_str();
}

size_t latewood_executable_function_count(const latewood_executable *executable) {
  return unwrap(executable)->functions().size();
}

const latewood_function *latewood_executable_function(const latewood_executable *executable, size_t index) {
  const std::vector<FunctionSignature> &functions = unwrap(executable)->functions();
  return index < functions.size() ? wrap(&functions[index]) : nullptr;
}

latewood_status *latewood_executable_find_function(const latewood_executable *executable, const char *name,
                                                   const latewood_function **out) {
  return guarded([&]() -> Status {
    LATEWOOD_REQUIRE(executable);
    LATEWOOD_REQUIRE(name);
    LATEWOOD_REQUIRE(out);
    LATEWOOD_ASSIGN_OR_RETURN(const FunctionSignature *function, unwrap(executable)->getFunction(name));
    *out = wrap(function);
    return okStatus();
  });
}

const char *latewood_function_name(const latewood_function *function) { return unwrap(function).name.c_str(); }
size_t latewood_function_argument_count(const latewood_function *function) { return unwrap(function).arguments.size(); }
size_t latewood_function_result_count(const latewood_function *function) { return unwrap(function).results.size(); }

namespace {
Status describe(const std::vector<ValueSignature> &values, size_t index, bool isDonated, latewood_value_info *info) {
  if (index >= values.size())
    return invalidArgument("there is no value " + std::to_string(index) + " of " + std::to_string(values.size()));
  const ValueSignature &value = values[index];
  auto extents = [](const std::vector<int64_t> &list) { return list.empty() ? nullptr : list.data(); };
  return writeInfo({0, value.name.c_str(), static_cast<latewood_element_type>(value.elementType), value.rank(),
                    extents(value.shape), extents(value.min), extents(value.opt), extents(value.max), isDonated},
                   info);
}
} // namespace

latewood_status *latewood_function_argument(const latewood_function *function, size_t index,
                                            latewood_value_info *info) {
  return guarded([&]() -> Status {
    LATEWOOD_REQUIRE(function);
    LATEWOOD_REQUIRE(info);
    const std::vector<AliasSignature> &aliases = unwrap(function).aliases;
    bool isDonated = std::any_of(aliases.begin(), aliases.end(), [&](const AliasSignature &alias) {
      return alias.kind == AliasSignature::Kind::donated && alias.argument == index;
    });
    return describe(unwrap(function).arguments, index, isDonated, info);
  });
}

latewood_status *latewood_function_result(const latewood_function *function, size_t index, latewood_value_info *info) {
  return guarded([&]() -> Status {
    LATEWOOD_REQUIRE(function);
    LATEWOOD_REQUIRE(info);
    return describe(unwrap(function).results, index, false, info);
  });
}

//===--- Sessions ------------------------------------------------------------------------------------------------===//

latewood_status *latewood_session_create(latewood_client *client, latewood_executable *executable,
                                         latewood_session **out) {
  return guarded([&]() -> Status {
    LATEWOOD_REQUIRE(client);
    LATEWOOD_REQUIRE(executable);
    LATEWOOD_REQUIRE(out);
    return give(Session::create(Ref<Client>::share(unwrap(client)), Ref<Executable>::share(unwrap(executable))), out);
  });
}

namespace {
/// A list of a call's length, on the stack where it is short: a call allocates nothing.
template <typename T>
class ShortList {
public:
  explicit ShortList(size_t count) : count(count) {
    if (count > few.size())
      many.resize(count);
  }
  std::span<T> get() { return count > few.size() ? std::span<T>(many) : std::span<T>(few).first(count); }

private:
  size_t count;
  std::array<T, 16> few{};
  std::vector<T> many;
};

Status call(latewood_session *session, const latewood_function *function, latewood_buffer *const *arguments,
            size_t argument_count, latewood_buffer **results, size_t result_count, latewood_stream *stream) {
  LATEWOOD_REQUIRE(session);
  LATEWOOD_REQUIRE(function);
  if (!arguments && argument_count != 0)
    return missing("arguments");
  if (!results && result_count != 0)
    return missing("results");
  ShortList<Value *> values(argument_count);
  ShortList<Ref<Value>> slots(result_count);
  for (size_t i = 0; i < argument_count; ++i)
    values.get()[i] = unwrap(arguments[i]);
  for (size_t i = 0; i < result_count; ++i)
    slots.get()[i] = Ref<Value>::share(unwrap(results[i]));
  Session &callee = *unwrap(session);
  LATEWOOD_RETURN_IF_ERROR(stream ? callee.enqueue(unwrap(function), values.get(), slots.get(), *unwrap(stream))
                                  : callee.call(unwrap(function), values.get(), slots.get()));
  for (size_t i = 0; i < result_count; ++i)
    if (!results[i])
      results[i] = wrap(asMemRef(slots.get()[i].leak()));
  return okStatus();
}
} // namespace

latewood_status *latewood_session_call(latewood_session *session, const latewood_function *function,
                                       latewood_buffer *const *arguments, size_t argument_count,
                                       latewood_buffer **results, size_t result_count) {
  return guarded(
      [&] { return call(session, function, arguments, argument_count, results, result_count, /*stream=*/nullptr); });
}

latewood_status *latewood_session_output_shape(latewood_session *session, const latewood_function *function,
                                               latewood_buffer *const *arguments, size_t argument_count, size_t result,
                                               int64_t *extents) {
  return guarded([&]() -> Status {
    LATEWOOD_REQUIRE(session);
    LATEWOOD_REQUIRE(function);
    if (!arguments && argument_count != 0)
      return missing("arguments");
    const FunctionSignature &signature = unwrap(function);
    if (result >= signature.results.size())
      return invalidArgument("function '" + signature.name + "' has no result " + std::to_string(result));
    if (!extents && signature.results[result].rank() != 0)
      return missing("extents");
    std::vector<Ref<Value>> values;
    values.reserve(argument_count);
    for (size_t i = 0; i < argument_count; ++i)
      values.push_back(Ref<Value>::share(unwrap(arguments[i])));
    LATEWOOD_ASSIGN_OR_RETURN(auto shapes, unwrap(session)->outputShapes(signature.name, values));
    std::copy(shapes[result].begin(), shapes[result].end(), extents);
    return okStatus();
  });
}

latewood_status *latewood_session_enqueue(latewood_session *session, const latewood_function *function,
                                          latewood_buffer *const *arguments, size_t argument_count,
                                          latewood_buffer **results, size_t result_count, latewood_stream *stream) {
  return guarded([&]() -> Status {
    LATEWOOD_REQUIRE(stream);
    return call(session, function, arguments, argument_count, results, result_count, stream);
  });
}

latewood_status *latewood_session_get_statistics(const latewood_session *session,
                                                 latewood_session_statistics *statistics) {
  return guarded([&]() -> Status {
    LATEWOOD_REQUIRE(session);
    LATEWOOD_REQUIRE(statistics);
    SessionStatistics now = unwrap(session)->statistics();
    auto counter = [](const AllocationCounter &counter) -> latewood_allocation_counter {
      return {counter.count, counter.bytes, counter.liveBytes, counter.peakBytes};
    };
    return writeInfo({0,
                      now.calls,
                      now.failedCalls,
                      counter(now.results),
                      counter(now.temporaries),
                      counter(now.staging),
                      now.workspaceBytes,
                      now.scratchBytesPerThread,
                      now.system.allocations,
                      now.system.releases,
                      now.system.liveBytes,
                      now.system.peakBytes,
                      now.cachedBytes,
                      now.callNanoseconds,
                      now.longestCallNanoseconds,
                      now.argumentBytes,
                      now.resultBytes,
                      now.engines.runs,
                      now.engines.uploads,
                      now.engines.uploadedBytes,
                      now.engines.downloads,
                      now.engines.downloadedBytes,
                      now.engines.liveBytes,
                      now.engines.peakBytes},
                     statistics);
  });
}

void latewood_session_release_cached_memory(latewood_session *session) { unwrap(session)->releaseCachedMemory(); }

latewood_status *latewood_trace_start() {
  return guarded([] { return Trace::start(); });
}

latewood_status *latewood_trace_stop(const char *path) {
  return guarded([&]() -> Status {
    LATEWOOD_REQUIRE(path);
    return Trace::stop(path);
  });
}

//===--- Streams and events --------------------------------------------------------------------------------------===//

latewood_status *latewood_stream_create(latewood_stream **out) {
  return guarded([&]() -> Status {
    LATEWOOD_REQUIRE(out);
    return give(Stream::create(), out);
  });
}

latewood_status *latewood_stream_synchronize(latewood_stream *stream) {
  return guarded([&]() -> Status {
    LATEWOOD_REQUIRE(stream);
    return unwrap(stream)->sync();
  });
}

int32_t latewood_stream_is_idle(const latewood_stream *stream) { return unwrap(stream)->isIdle(); }

latewood_status *latewood_stream_record(latewood_stream *stream, latewood_event **out) {
  return guarded([&]() -> Status {
    LATEWOOD_REQUIRE(stream);
    LATEWOOD_REQUIRE(out);
    return give(unwrap(stream)->record(), out);
  });
}

latewood_status *latewood_stream_wait_for(latewood_stream *stream, latewood_event *event) {
  return guarded([&]() -> Status {
    LATEWOOD_REQUIRE(stream);
    LATEWOOD_REQUIRE(event);
    return unwrap(stream)->waitFor(Ref<Event>::share(unwrap(event)));
  });
}

int32_t latewood_event_is_ready(const latewood_event *event) { return unwrap(event)->isReady(); }

latewood_status *latewood_event_wait(latewood_event *event) {
  return guarded([&]() -> Status {
    LATEWOOD_REQUIRE(event);
    return unwrap(event)->wait();
  });
}
