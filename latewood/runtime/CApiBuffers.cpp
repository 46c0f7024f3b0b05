// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface: buffers. Made, viewed, sliced, copied, and exchanged with other libraries.

#include "latewood/runtime/CApiHandles.h"
#include "latewood/runtime/DLPack.h"

#include <cstddef>

using namespace latewood::runtime;
using namespace latewood::runtime::capi;

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
