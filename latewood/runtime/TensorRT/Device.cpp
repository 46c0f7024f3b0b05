// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams, events and memory, and the counting of it.

#include "latewood/runtime/TensorRT/Device.h"

using namespace latewood::runtime;

namespace latewood::tensorrt {

namespace {
/// cudaStreamNonBlocking: does not wait for the stream that everybody shares.
constexpr unsigned nonBlocking = 1;
/// cudaEventDisableTiming
constexpr unsigned withoutTiming = 2;
} // namespace

Status DeviceBuffer::reserve(size_t bytes) {
  if (memory && bytes <= capacity)
    return okStatus();
  release();
  if (bytes > SIZE_MAX - alignment)
    return outOfMemory("cannot allocate " + std::to_string(bytes) + " bytes on the device");
  size_t rounded = (std::max<size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void *allocated = nullptr;
  LATEWOOD_RETURN_IF_ERROR(device->cuda.check(device->cuda.allocate(&allocated, rounded, stream),
                                              "cannot allocate " + std::to_string(bytes) + " bytes on the device"));
  memory = allocated;
  capacity = rounded;
  EngineCounters &counted = device->counted;
  counted.liveBytes += static_cast<int64_t>(capacity);
  counted.peakBytes = std::max(counted.peakBytes, counted.liveBytes);
  return okStatus();
}

void DeviceBuffer::release() noexcept {
  if (!memory)
    return;
  device->cuda.release(memory, stream);
  device->counted.liveBytes -= static_cast<int64_t>(capacity);
  memory = nullptr;
  capacity = 0;
}

Status Stream::create() { return cuda.check(cuda.createStream(&handle, nonBlocking), "cannot make a stream"); }

Status Event::create() { return cuda.check(cuda.createEvent(&handle, withoutTiming), "cannot make an event"); }

Status Device::create() {
  LATEWOOD_RETURN_IF_ERROR(compute.create());
  return upload.create();
}

StatusOr<void *> Device::allocate(int64_t bytes) {
  if (bytes < 0)
    return invalidArgument("cannot allocate " + std::to_string(bytes) + " bytes on the device");
  DeviceBuffer buffer(*this, compute.handle);
  LATEWOOD_RETURN_IF_ERROR(buffer.reserve(static_cast<size_t>(bytes)));
  return adopt(std::move(buffer));
}

void *Device::adopt(DeviceBuffer &&buffer) {
  passed.push_back(std::move(buffer));
  return passed.back().data();
}

bool Device::owns(const void *memory) const noexcept { return capacityOf(memory) != 0; }

size_t Device::capacityOf(const void *memory) const noexcept {
  for (const DeviceBuffer &buffer : passed)
    if (buffer.data() == memory)
      return buffer.bytes();
  return 0;
}

bool Device::release(const void *memory) noexcept {
  auto found =
      std::find_if(passed.begin(), passed.end(), [&](const DeviceBuffer &buffer) { return buffer.data() == memory; });
  if (found == passed.end())
    return false;
  passed.erase(found);
  return true;
}

} // namespace latewood::tensorrt
