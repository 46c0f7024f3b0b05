// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface, on the C++ objects: a handle is the address of the object, and the reference that the caller owns is
// the object's own. Every function that can fail runs inside `guarded`, which is where exceptions end (there is one
// kind: no memory) and where a Status becomes an object of its own.

#include "latewood/runtime/latewood.h"

#include "latewood/runtime/DLPack.h"
#include "latewood/runtime/Session.h"
#include "latewood/runtime/Trace.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

using namespace latewood::runtime;

struct latewood_status {
  Status status;
  /// The message of a Status is a view; C wants its end marked.
  std::string message;
};

//===--- Handles and statuses ------------------------------------------------------------------------------------===//

#define LATEWOOD_CHECK_TYPE(name) static_assert(LATEWOOD_TYPE_##name == static_cast<int>(ElementType::name));
LATEWOOD_ELEMENT_TYPES(LATEWOOD_CHECK_TYPE)
#undef LATEWOOD_CHECK_TYPE
static_assert(LATEWOOD_INTERNAL == static_cast<int>(StatusCode::internal) &&
              LATEWOOD_UNAVAILABLE == static_cast<int>(StatusCode::unavailable) &&
              LATEWOOD_DATA_CORRUPTION == static_cast<int>(StatusCode::dataCorruption));
static_assert(LATEWOOD_DYNAMIC_EXTENT == dynamicExtent);

namespace {
template <typename T>
struct HandleOf;
/// Ties the names of a C and a C++ object together.
#define LATEWOOD_HANDLE(Object, handle)                                                                                \
  template <>                                                                                                          \
  struct HandleOf<Object> {                                                                                            \
    using Type = handle;                                                                                               \
  };                                                                                                                   \
  handle *wrap(Object *object) { return reinterpret_cast<handle *>(object); }                                          \
  Object *unwrap(const handle *object) { return reinterpret_cast<Object *>(const_cast<handle *>(object)); }
LATEWOOD_HANDLE(Client, latewood_client)
LATEWOOD_HANDLE(Executable, latewood_executable)
LATEWOOD_HANDLE(MemRefValue, latewood_buffer)
LATEWOOD_HANDLE(Session, latewood_session)
LATEWOOD_HANDLE(Stream, latewood_stream)
LATEWOOD_HANDLE(Event, latewood_event)
#undef LATEWOOD_HANDLE

const latewood_function *wrap(const FunctionSignature *function) {
  return reinterpret_cast<const latewood_function *>(function);
}
const FunctionSignature &unwrap(const latewood_function *function) {
  return *reinterpret_cast<const FunctionSignature *>(function);
}

/// What is returned when there is no memory for a status. Never destroyed.
latewood_status *noMemoryForStatus() {
  alignas(latewood_status) static char storage[sizeof(latewood_status)];
  return reinterpret_cast<latewood_status *>(storage);
}

latewood_status *report(Status status) noexcept {
  if (status.isOk())
    return nullptr;
  try {
    std::string message(status.message());
    return new latewood_status{std::move(status), std::move(message)};
  } catch (...) {
    return noMemoryForStatus();
  }
}

/// Runs the body of an entry point.
template <typename Body>
latewood_status *guarded(Body body) noexcept {
  try {
    return report(body());
  } catch (const std::bad_alloc &) {
    return noMemoryForStatus();
  } catch (const std::exception &error) {
    return report(internalError("an exception: " + std::string(error.what())));
  }
}

/// The reference goes to the caller.
template <typename T>
Status give(StatusOr<Ref<T>> made, typename HandleOf<T>::Type **out) {
  if (!made.isOk())
    return std::move(made).status();
  *out = wrap((*std::move(made)).leak());
  return okStatus();
}

Status missing(const char *name) { return invalidArgument(std::string("'") + name + "' must not be NULL"); }

/// The options of the caller: what its header knew of, and defaults for the rest.
template <typename Options>
Status readOptions(const Options *given, Options &options) {
  options = {};
  if (!given)
    return okStatus();
  if (given->struct_size < sizeof(size_t))
    return invalidArgument("options: struct_size is " + std::to_string(given->struct_size) + "; set it to sizeof");
  std::memcpy(&options, given, std::min(given->struct_size, sizeof options));
  return okStatus();
}

/// Fills in a structure of the caller, as much of it as its header knew of.
template <typename Info>
Status writeInfo(Info info, Info *target) {
  if (target->struct_size < sizeof(size_t))
    return invalidArgument("struct_size is " + std::to_string(target->struct_size) + "; set it to sizeof");
  info.struct_size = target->struct_size;
  std::memcpy(target, &info, std::min(target->struct_size, sizeof info));
  return okStatus();
}

StatusOr<std::span<const int64_t>> shapeOf(int64_t rank, const int64_t *shape, const char *name) {
  if (rank < 0 || rank > 64)
    return invalidArgument("rank: expected 0 to 64, got " + std::to_string(rank));
  if (rank != 0 && !shape)
    return missing(name);
  return std::span<const int64_t>(shape, static_cast<size_t>(rank));
}

ElementType elementType(latewood_element_type type) {
  // A number outside the range of the internal type must not become another number.
  return type >= LATEWOOD_TYPE_i1 && type <= LATEWOOD_TYPE_complex_f64 ? static_cast<ElementType>(type)
                                                                       : ElementType::invalid;
}
} // namespace

#define LATEWOOD_REQUIRE(name)                                                                                         \
  if (!(name))                                                                                                         \
  return missing(#name)

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

//===--- Buffers -------------------------------------------------------------------------------------------------===//

latewood_status *latewood_buffer_create(latewood_client *client, latewood_element_type type, int64_t rank,
                                        const int64_t *shape, latewood_buffer **out) {
  return guarded([&]() -> Status {
    LATEWOOD_REQUIRE(client);
    LATEWOOD_REQUIRE(out);
    LATEWOOD_ASSIGN_OR_RETURN(std::span<const int64_t> extents, shapeOf(rank, shape, "shape"));
    return give(unwrap(client)->createMemRef(elementType(type), extents), out);
  });
}

latewood_status *latewood_buffer_create_copy(latewood_client *client, const void *data, latewood_element_type type,
                                             int64_t rank, const int64_t *shape, const int64_t *strides,
                                             latewood_buffer **out) {
  return guarded([&]() -> Status {
    LATEWOOD_REQUIRE(client);
    LATEWOOD_REQUIRE(out);
    LATEWOOD_ASSIGN_OR_RETURN(std::span<const int64_t> extents, shapeOf(rank, shape, "shape"));
    std::span<const int64_t> steps(strides, strides ? extents.size() : 0);
    return give(unwrap(client)->createMemRef(data, elementType(type), extents, steps), out);
  });
}

latewood_status *latewood_buffer_create_view(latewood_client *client, void *data, latewood_element_type type,
                                             int64_t rank, const int64_t *shape, const int64_t *strides,
                                             int32_t is_read_only, latewood_release_callback release, void *context,
                                             latewood_buffer **out) {
  // Of what is checked here; from the creation on the storage sees to it.
  bool isPending = release != nullptr;
  latewood_status *status = guarded([&]() -> Status {
    LATEWOOD_REQUIRE(client);
    LATEWOOD_REQUIRE(out);
    LATEWOOD_ASSIGN_OR_RETURN(std::span<const int64_t> extents, shapeOf(rank, shape, "shape"));
    std::span<const int64_t> steps(strides, strides ? extents.size() : 0);
    std::function<void()> callback;
    if (release)
      callback = [release, context] { release(context); };
    isPending = false;
    return give(
        unwrap(client)->createHostView(data, elementType(type), extents, steps, is_read_only != 0, std::move(callback)),
        out);
  });
  if (isPending)
    release(context);
  return status;
}

latewood_element_type latewood_buffer_type(const latewood_buffer *buffer) {
  return static_cast<latewood_element_type>(unwrap(buffer)->elementType());
}
int64_t latewood_buffer_rank(const latewood_buffer *buffer) { return unwrap(buffer)->rank(); }
const int64_t *latewood_buffer_shape(const latewood_buffer *buffer) { return unwrap(buffer)->shape().data(); }
const int64_t *latewood_buffer_strides(const latewood_buffer *buffer) { return unwrap(buffer)->strides().data(); }
int64_t latewood_buffer_element_count(const latewood_buffer *buffer) { return unwrap(buffer)->elementCount(); }
size_t latewood_buffer_size(const latewood_buffer *buffer) {
  return static_cast<size_t>(unwrap(buffer)->sizeInBytes());
}
int32_t latewood_buffer_is_read_only(const latewood_buffer *buffer) { return unwrap(buffer)->isReadOnly(); }
void *latewood_buffer_data(const latewood_buffer *buffer) { return unwrap(buffer)->data(); }
int32_t latewood_buffer_is_ready(const latewood_buffer *buffer) { return unwrap(buffer)->isReady(); }

latewood_status *latewood_buffer_wait(const latewood_buffer *buffer) {
  return guarded([&]() -> Status {
    LATEWOOD_REQUIRE(buffer);
    return unwrap(buffer)->waitUntilReady();
  });
}

latewood_status *latewood_buffer_slice(const latewood_buffer *buffer, const int64_t *start, const int64_t *limit,
                                       const int64_t *step, latewood_buffer **out) {
  return guarded([&]() -> Status {
    LATEWOOD_REQUIRE(buffer);
    LATEWOOD_REQUIRE(out);
    auto rank = static_cast<size_t>(unwrap(buffer)->rank());
    if (rank != 0 && !start)
      return missing("start");
    if (rank != 0 && !limit)
      return missing("limit");
    std::vector<int64_t> ones(step ? 0 : rank, 1);
    return give(unwrap(buffer)->slice({start, rank}, {limit, rank}, {step ? step : ones.data(), rank}), out);
  });
}

latewood_status *latewood_buffer_reshape(const latewood_buffer *buffer, int64_t rank, const int64_t *shape,
                                         latewood_buffer **out) {
  return guarded([&]() -> Status {
    LATEWOOD_REQUIRE(buffer);
    LATEWOOD_REQUIRE(out);
    LATEWOOD_ASSIGN_OR_RETURN(std::span<const int64_t> extents, shapeOf(rank, shape, "shape"));
    return give(unwrap(buffer)->reshape(extents), out);
  });
}

namespace {
/// The structures of the protocol under our names and under those that the header declares are the same.
template <typename Ours, typename Theirs>
latewood_status *exportDLPack(latewood_buffer *buffer, Theirs **out,
                              StatusOr<Ours *> (*convert)(const Ref<MemRefValue> &)) {
  return guarded([&]() -> Status {
    LATEWOOD_REQUIRE(buffer);
    LATEWOOD_REQUIRE(out);
    LATEWOOD_RETURN_IF_ERROR(unwrap(buffer)->waitUntilReady());
    LATEWOOD_ASSIGN_OR_RETURN(Ours * tensor, convert(Ref<MemRefValue>::share(unwrap(buffer))));
    *out = reinterpret_cast<Theirs *>(tensor);
    return okStatus();
  });
}

template <typename Ours, typename Theirs>
latewood_status *importDLPack(Theirs *theirs, latewood_buffer **out) {
  auto *tensor = reinterpret_cast<Ours *>(theirs);
  return guarded([&]() -> Status {
    LATEWOOD_REQUIRE(tensor);
    if (!out) {
      if (tensor->deleter)
        tensor->deleter(tensor);
      return missing("out");
    }
    return give(dlpack::importTensor(tensor), out);
  });
}
} // namespace

latewood_status *latewood_buffer_export_dlpack(latewood_buffer *buffer, DLManagedTensorVersioned **out) {
  return exportDLPack<dlpack::ManagedTensorVersioned>(
      buffer, out, [](const Ref<MemRefValue> &value) { return dlpack::exportTensorVersioned(value); });
}
latewood_status *latewood_buffer_export_dlpack_unversioned(latewood_buffer *buffer, DLManagedTensor **out) {
  return exportDLPack<dlpack::ManagedTensor>(buffer, out, dlpack::exportTensor);
}
latewood_status *latewood_buffer_import_dlpack(DLManagedTensorVersioned *tensor, latewood_buffer **out) {
  return importDLPack<dlpack::ManagedTensorVersioned>(tensor, out);
}
latewood_status *latewood_buffer_import_dlpack_unversioned(DLManagedTensor *tensor, latewood_buffer **out) {
  return importDLPack<dlpack::ManagedTensor>(tensor, out);
}

namespace {
/// The caller's memory as a value with the type of `buffer`, for a copy. It need not be aligned: bytes are copied.
Status copyOutside(MemRefValue &buffer, void *data, size_t size, bool isRead) {
  if (size != static_cast<size_t>(buffer.sizeInBytes()))
    return invalidArgument("expected " + std::to_string(buffer.sizeInBytes()) + " bytes for " + buffer.str() +
                           ", got " + std::to_string(size));
  if (size == 0)
    return buffer.waitUntilReady();
  if (buffer.hasCanonicalStrides() || reinterpret_cast<uintptr_t>(data) % alignmentOf(buffer.elementType()) != 0) {
    LATEWOOD_RETURN_IF_ERROR(buffer.waitUntilReady());
    if (!isRead && buffer.isReadOnly())
      return invalidArgument("copy: the destination is read-only");
    if (buffer.hasCanonicalStrides()) {
      std::memmove(isRead ? data : buffer.data(), isRead ? buffer.data() : data, size);
      return okStatus();
    }
    // Through aligned memory.
    std::vector<std::max_align_t> aligned(size / sizeof(std::max_align_t) + 1);
    if (!isRead)
      std::memcpy(aligned.data(), data, size);
    LATEWOOD_RETURN_IF_ERROR(copyOutside(buffer, aligned.data(), size, isRead));
    if (isRead)
      std::memcpy(data, aligned.data(), size);
    return okStatus();
  }
  Ref<Storage> storage = Storage::view(data, static_cast<int64_t>(size), MemorySpace::host, false, {});
  LATEWOOD_ASSIGN_OR_RETURN(Ref<MemRefValue> outside,
                            MemRefValue::create(std::move(storage), 0, buffer.elementType(), buffer.shape()));
  return isRead ? copyElements(buffer, *outside) : copyElements(*outside, buffer);
}
} // namespace

latewood_status *latewood_buffer_read(const latewood_buffer *buffer, void *data, size_t size) {
  return guarded([&]() -> Status {
    LATEWOOD_REQUIRE(buffer);
    if (!data && size != 0)
      return missing("data");
    return copyOutside(*unwrap(buffer), data, size, /*isRead=*/true);
  });
}

latewood_status *latewood_buffer_write(latewood_buffer *buffer, const void *data, size_t size) {
  return guarded([&]() -> Status {
    LATEWOOD_REQUIRE(buffer);
    if (!data && size != 0)
      return missing("data");
    return copyOutside(*unwrap(buffer), const_cast<void *>(data), size, /*isRead=*/false);
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
    return writeInfo({0, now.calls, now.failedCalls, counter(now.results), counter(now.temporaries),
                      counter(now.staging), now.workspaceBytes, now.scratchBytesPerThread, now.system.allocations,
                      now.system.releases, now.system.liveBytes, now.system.peakBytes, now.cachedBytes,
                      now.callNanoseconds, now.longestCallNanoseconds, now.argumentBytes, now.resultBytes},
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
