// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block of device memory that grows. Streams order its uses: memory is given back behind the work that was enqueued
// before, so that nothing waits.
#ifndef LATEWOOD_RUNTIME_TENSORRT_MEMORY_H
#define LATEWOOD_RUNTIME_TENSORRT_MEMORY_H

#include "latewood/runtime/TensorRT/Libraries.h"

#include <string>
#include <utility>

namespace latewood::tensorrt {

class DeviceBuffer {
public:
  /// Blocks of device memory are aligned to this.
  static constexpr size_t alignment = 256;

  DeviceBuffer(const CUDA &cuda, cudaStream_t stream) : cuda(&cuda), stream(stream) {}
  DeviceBuffer(DeviceBuffer &&other) noexcept
      : cuda(other.cuda), stream(other.stream), memory(std::exchange(other.memory, nullptr)),
        capacity(std::exchange(other.capacity, 0)) {}
  DeviceBuffer &operator=(DeviceBuffer &&) = delete;
  ~DeviceBuffer() { release(); }

  void *data() const { return memory; }
  size_t bytes() const { return capacity; }

  /// Makes room for `bytes`; contents are lost when it grows. The memory is never null after success: the vendor's
  /// library takes no null address, even for an empty tensor.
  runtime::Status reserve(size_t bytes) {
    if (memory && bytes <= capacity)
      return runtime::okStatus();
    release();
    size_t rounded = (std::max<size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
    LATEWOOD_RETURN_IF_ERROR(cuda->check(cuda->allocate(&memory, rounded, stream),
                                         "cannot allocate " + std::to_string(bytes) + " bytes on the device"));
    capacity = rounded;
    return runtime::okStatus();
  }

  void release() {
    if (memory)
      cuda->release(memory, stream);
    memory = nullptr;
    capacity = 0;
  }

private:
  const CUDA *cuda;
  cudaStream_t stream;
  void *memory = nullptr;
  size_t capacity = 0;
};

} // namespace latewood::tensorrt

#endif // LATEWOOD_RUNTIME_TENSORRT_MEMORY_H
