// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The client: what a process holds once. It knows the devices, owns the threads that compiled code runs on, and makes
// buffers, scalars and streams.
//
//   identity   the object; a process may have several, with different numbers of threads
//   ownership  reference-counted; sessions hold their client, values do not need it
//   threads    every method may be called on any thread
//   streams    a method that takes a stream acts after the work enqueued there, and has completed when it returns

#ifndef LATEWOOD_RUNTIME_CLIENT_H
#define LATEWOOD_RUNTIME_CLIENT_H

#include "latewood/runtime/Statistics.h"
#include "latewood/runtime/Stream.h"
#include "latewood/runtime/Value.h"

#include <vector>

namespace latewood::runtime {

class MemoryCounters;
class ThreadPool;

struct ClientOptions {
  /// Threads for parallel loops, the calling one included. 0: the environment variable LATEWOOD_NUM_THREADS, or
  /// else the processors that this process may use.
  int32_t threadCount = 0;
};

/// Something that runs code and has memory. The host is device 0 of every client.
class LATEWOOD_API Device final : public RefCounted {
public:
  /// "host".
  const std::string &name() const { return deviceName; }
  int32_t index() const { return deviceIndex; }
  MemorySpace space() const { return MemorySpace::host; }
  /// The device's own stream, made when first asked for.
  StatusOr<Ref<Stream>> stream();

private:
  friend class Client;
  Device(std::string name, int32_t index);
  ~Device() override;
  std::string deviceName;
  int32_t deviceIndex;
  struct LazyStream;
  std::unique_ptr<LazyStream> lazyStream;
};

class LATEWOOD_API Client final : public RefCounted {
public:
  static StatusOr<Ref<Client>> create(const ClientOptions &options = {});

  const std::vector<Ref<Device>> &devices() const { return deviceList; }
  int32_t threadCount() const;

  /// New memory, contents undefined, canonical strides, 64-byte aligned.
  StatusOr<Ref<MemRefValue>> createMemRef(ElementType type, std::span<const int64_t> shape);
  /// New memory with a copy of the elements at `data`. `strides` in elements; empty: canonical.
  StatusOr<Ref<MemRefValue>> createMemRef(const void *data, ElementType type, std::span<const int64_t> shape,
                                          std::span<const int64_t> strides = {});
  /// A window on the caller's memory, which lives until `release` has been called. `data` may be null only when there
  /// are no elements. `strides` in elements; empty: canonical.
  StatusOr<Ref<MemRefValue>> createHostView(void *data, ElementType type, std::span<const int64_t> shape,
                                            std::span<const int64_t> strides = {}, bool isReadOnly = false,
                                            std::function<void()> release = {});
  /// A window on memory of a device. The host is the only device of this build: fails for any other.
  StatusOr<Ref<MemRefValue>> createDeviceView(void *data, ElementType type, std::span<const int64_t> shape,
                                              const Device &device, std::function<void()> release = {});
  StatusOr<Ref<ScalarValue>> createScalar(ElementType type, const void *bytes);

  /// A canonical copy in the memory of a device (of the host: a copy all the same, so that the result is never shared).
  StatusOr<Ref<MemRefValue>> copyToDevice(const MemRefValue &value, const Device &device, Stream *stream = nullptr);
  /// A canonical copy in host memory.
  StatusOr<Ref<MemRefValue>> copyToHost(const MemRefValue &value, Stream *stream = nullptr);
  /// Copies the elements into `existing`, which has the same element type and shape.
  Status copyInto(const MemRefValue &value, const MemRefValue &existing, Stream *stream = nullptr);

  StatusOr<Ref<Stream>> createStream() { return Stream::create(); }

  ClientStatistics statistics() const;

  /// For sessions.
  ThreadPool &threads() const { return *pool; }
  const Ref<MemoryCounters> &memoryCounters() const { return counters; }

private:
  Client();
  ~Client() override;
  std::vector<Ref<Device>> deviceList;
  std::unique_ptr<ThreadPool> pool;
  Ref<MemoryCounters> counters;
};

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_CLIENT_H
