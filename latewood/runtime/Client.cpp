// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the client makes: memory, copies, windows, streams. Sizes are checked before anything is allocated.

#include "latewood/runtime/Client.h"

#include "latewood/runtime/Exceptions.h"
#include "latewood/runtime/Memory.h"
#include "latewood/runtime/ResultMaker.h"
#include "latewood/runtime/ThreadPool.h"

#include <algorithm>
#include <mutex>

namespace latewood::runtime {

struct Device::LazyStream {
  std::mutex mutex;
  Ref<Stream> stream;
};

Device::Device(std::string name, int32_t index)
    : deviceName(std::move(name)), deviceIndex(index), lazyStream(std::make_unique<LazyStream>()) {}
Device::~Device() = default;

StatusOr<Ref<Stream>> Device::stream() {
  return withoutExceptions([&]() -> StatusOr<Ref<Stream>> {
    std::lock_guard lock(lazyStream->mutex);
    if (!lazyStream->stream) {
      LATEWOOD_ASSIGN_OR_RETURN(lazyStream->stream, Stream::create());
    }
    return lazyStream->stream;
  });
}

Client::Client() : counters(Ref<MemoryCounters>::adopt(new MemoryCounters)) {}
Client::~Client() = default;

StatusOr<Ref<Client>> Client::create(const ClientOptions &options) {
  return withoutExceptions([&]() -> StatusOr<Ref<Client>> {
    auto client = Ref<Client>::adopt(new Client);
    LATEWOOD_ASSIGN_OR_RETURN(client->pool, ThreadPool::create(options.threadCount));
    client->deviceList.push_back(Ref<Device>::adopt(new Device("host", 0)));
    return client;
  });
}

int32_t Client::threadCount() const { return pool->threadCount(); }

ClientStatistics Client::statistics() const { return {counters->snapshot()}; }

StatusOr<Ref<MemRefValue>> Client::createMemRef(ElementType type, std::span<const int64_t> shape) {
  return withoutExceptions([&]() -> StatusOr<Ref<MemRefValue>> {
    int64_t bytes = 0;
    LATEWOOD_RETURN_IF_ERROR(checkShape(type, shape, bytes));
    LATEWOOD_ASSIGN_OR_RETURN(Ref<Storage> storage, Storage::allocate(bytes, counters));
    return ResultMaker::make(std::move(storage), type, shape.data(), static_cast<int64_t>(shape.size()));
  });
}

namespace {
/// A memref on foreign memory whose first element is at `data`.
StatusOr<Ref<MemRefValue>> view(void *data, ElementType type, std::span<const int64_t> shape,
                                std::span<const int64_t> strides, MemorySpace space, bool isReadOnly,
                                std::function<void()> release) {
  // Whatever fails, it is called: by the storage, once that has taken it over.
  bool isReleaseOurs = true;
  auto result = withoutExceptions([&]() -> StatusOr<Ref<MemRefValue>> {
    int64_t bytes = 0, low = 0, high = 0;
    std::vector<int64_t> canonical;
    LATEWOOD_RETURN_IF_ERROR(checkShape(type, shape, bytes));
    if (strides.empty()) {
      canonical = canonicalStrides(shape);
      strides = canonical;
    }
    if (strides.size() != shape.size())
      return invalidArgument("expected " + std::to_string(shape.size()) + " strides for shape " + shapeText(shape) +
                             ", got " + std::to_string(strides.size()));
    LATEWOOD_RETURN_IF_ERROR(byteRange(type, shape, strides, low, high));
    if (!data && bytes != 0)
      return invalidArgument("a view of shape " + shapeText(shape) + " needs memory, got a null pointer");
    // Compiled code may be handed the address even where it reads nothing.
    alignas(64) static uint8_t nothing[64];
    auto *first = static_cast<uint8_t *>(data ? data : nothing);
    isReleaseOurs = false;
    // Strides may be negative: the storage begins at the lowest element.
    Ref<Storage> storage = Storage::view(first + low, high - low, space, isReadOnly, std::move(release));
    return MemRefValue::create(std::move(storage), -low, type, shape, strides);
  });
  if (isReleaseOurs && release)
    release();
  return result;
}
} // namespace

StatusOr<Ref<MemRefValue>> Client::createMemRef(const void *data, ElementType type, std::span<const int64_t> shape,
                                                std::span<const int64_t> strides) {
  return withoutExceptions([&]() -> StatusOr<Ref<MemRefValue>> {
    LATEWOOD_ASSIGN_OR_RETURN(Ref<MemRefValue> source,
                              view(const_cast<void *>(data), type, shape, strides, MemorySpace::host, true, {}));
    return copyToHost(*source);
  });
}

StatusOr<Ref<MemRefValue>> Client::createHostView(void *data, ElementType type, std::span<const int64_t> shape,
                                                  std::span<const int64_t> strides, bool isReadOnly,
                                                  std::function<void()> release) {
  return view(data, type, shape, strides, MemorySpace::host, isReadOnly, std::move(release));
}

StatusOr<Ref<MemRefValue>> Client::createDeviceView(void *data, ElementType type, std::span<const int64_t> shape,
                                                    const Device &device, std::function<void()> release) {
  return view(data, type, shape, {}, device.space(), false, std::move(release));
}

StatusOr<Ref<ScalarValue>> Client::createScalar(ElementType type, const void *bytes) {
  return withoutExceptions([&]() -> StatusOr<Ref<ScalarValue>> { return ScalarValue::create(type, bytes); });
}

StatusOr<Ref<MemRefValue>> Client::copyToHost(const MemRefValue &value, Stream *stream) {
  return withoutExceptions([&]() -> StatusOr<Ref<MemRefValue>> {
    LATEWOOD_ASSIGN_OR_RETURN(Ref<MemRefValue> copy, createMemRef(value.elementType(), value.shape()));
    LATEWOOD_RETURN_IF_ERROR(copyInto(value, *copy, stream));
    return copy;
  });
}

StatusOr<Ref<MemRefValue>> Client::copyToDevice(const MemRefValue &value, const Device &device, Stream *stream) {
  return withoutExceptions([&]() -> StatusOr<Ref<MemRefValue>> {
    bool isOurs = std::any_of(deviceList.begin(), deviceList.end(), [&](const auto &d) { return d.get() == &device; });
    if (!isOurs)
      return invalidArgument("device '" + device.name() + "' belongs to another client");
    return copyToHost(value, stream);
  });
}

Status Client::copyInto(const MemRefValue &value, const MemRefValue &existing, Stream *stream) {
  return withoutExceptions([&]() -> Status {
    if (!stream)
      return copyElements(value, existing);
    return stream->runInOrder([&] { return copyElements(value, existing); });
  });
}

} // namespace latewood::runtime
