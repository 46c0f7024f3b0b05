// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a session has of the GPU. Engines run in one stream, in the order in which the host program calls them: what one
// leaves on the device the next finds complete, and nothing waits in between. Uploads have a stream of their own, so
// that the inputs of the next run can come while this one computes; events order the two:
//
//   uploaded    recorded behind the uploads of a run: the run waits for it
//   consumed    recorded by TensorRT when a run has read its inputs (setInputConsumedEvent): the next uploads into the
//               same memory wait for it
//
// Memory is given back in the order of the stream that used it last, so that nothing waits for that either.
#ifndef LATEWOOD_RUNTIME_TENSORRT_DEVICE_H
#define LATEWOOD_RUNTIME_TENSORRT_DEVICE_H

#include "latewood/runtime/Engine.h"
#include "latewood/runtime/TensorRT/Libraries.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace latewood::tensorrt {

class Device;

/// A block of device memory that grows.
class DeviceBuffer {
public:
  /// Blocks of device memory are aligned to this.
  static constexpr size_t alignment = 256;

  DeviceBuffer(Device &device, cudaStream_t stream) : device(&device), stream(stream) {}
  DeviceBuffer(DeviceBuffer &&other) noexcept
      : device(other.device), stream(other.stream), memory(std::exchange(other.memory, nullptr)),
        capacity(std::exchange(other.capacity, 0)) {}
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept {
    std::swap(device, other.device);
    std::swap(stream, other.stream);
    std::swap(memory, other.memory);
    std::swap(capacity, other.capacity);
    return *this;
  }
  ~DeviceBuffer() { release(); }

  void *data() const { return memory; }
  size_t bytes() const { return capacity; }

  /// Makes room for `bytes`; contents are lost when it grows. The memory is never null after success: the vendor's
  /// library takes no null address, even for an empty tensor.
  runtime::Status reserve(size_t bytes);
  void release() noexcept;

private:
  Device *device;
  cudaStream_t stream;
  void *memory = nullptr;
  size_t capacity = 0;
};

/// Destroyed when its work is done.
class Stream {
public:
  explicit Stream(const CUDA &cuda) : cuda(cuda) {}
  Stream(const Stream &) = delete;
  ~Stream() {
    if (handle)
      cuda.synchronize(handle), cuda.destroyStream(handle);
  }
  runtime::Status create();

  const CUDA &cuda;
  cudaStream_t handle = nullptr;
};

class Event {
public:
  explicit Event(const CUDA &cuda) : cuda(cuda) {}
  Event(const Event &) = delete;
  ~Event() {
    if (handle)
      cuda.destroyEvent(handle);
  }
  runtime::Status create();

  const CUDA &cuda;
  cudaEvent_t handle = nullptr;
};

class Device final : public runtime::EngineDevice {
public:
  explicit Device(const CUDA &cuda) : cuda(cuda), compute(cuda), upload(cuda) {}
  runtime::Status create();

  runtime::StatusOr<void *> allocate(int64_t bytes) override;
  bool release(const void *memory) noexcept override;
  void releaseAll() noexcept override { passed.clear(); }
  bool owns(const void *memory) const noexcept override;
  runtime::EngineCounters counters() const noexcept override { return counted; }
  /// Bytes at an address of `allocate`.
  size_t capacityOf(const void *memory) const noexcept;

  /// Takes over what an engine has allocated, as if by `allocate`.
  void *adopt(DeviceBuffer &&buffer);

  const CUDA &cuda;
  // Before all memory, which goes back in their order.
  Stream compute, upload;
  runtime::EngineCounters counted;

private:
  /// What passes between engines.
  std::vector<DeviceBuffer> passed;
};

} // namespace latewood::tensorrt

#endif // LATEWOOD_RUNTIME_TENSORRT_DEVICE_H
