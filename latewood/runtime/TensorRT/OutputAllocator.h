// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory for a result whose size TensorRT knows only while it runs. During an enqueue TensorRT asks for memory, perhaps
// several times (more, less, or nothing at all), and says the final shape; both come from this object:
//
//   reallocateOutputAsync   grows the block. What was asked for earlier in the same enqueue is void, as TensorRT says;
//                           a smaller request keeps the block
//   notifyShape             the only source of the final extents
//
// The object belongs to a context and is registered with it once; it is destroyed after the context, which may point at
// it until then. Each run begins with `begin`. Neither call may throw: TensorRT is not made for that.
#ifndef LATEWOOD_RUNTIME_TENSORRT_OUTPUTALLOCATOR_H
#define LATEWOOD_RUNTIME_TENSORRT_OUTPUTALLOCATOR_H

#include "latewood/runtime/Exceptions.h"
#include "latewood/runtime/TensorRT/Device.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>

namespace latewood::tensorrt {

class OutputAllocator final : public nvinfer1::IOutputAllocator {
public:
  /// A tensor of the host has its memory there.
  OutputAllocator(Device &device, bool isOnHost)
      : device(device), block(device, device.compute.handle), isOnHost(isOnHost) {}

  void begin() {
    rank = -1;
    failure = runtime::okStatus();
  }

  void *reallocateOutputAsync(const char *, void *, uint64_t bytes, uint64_t alignment,
                              cudaStream_t) noexcept override {
    failure = runtime::withoutExceptions([&]() -> runtime::Status {
      if (alignment > DeviceBuffer::alignment)
        return runtime::unimplemented("TensorRT asks for memory aligned to " + std::to_string(alignment) + " bytes");
      if (!isOnHost)
        return block.reserve(bytes);
      if (!onHost || bytes > hostBytes) {
        onHost.reset(new (std::align_val_t(DeviceBuffer::alignment)) std::byte[std::max<uint64_t>(bytes, 1)]);
        hostBytes = bytes;
      }
      return runtime::okStatus();
    });
    return failure.isOk() ? memory() : nullptr;
  }

  void notifyShape(const char *, const nvinfer1::Dims &shape) noexcept override {
    rank = shape.nbDims;
    std::copy_n(shape.d, std::clamp(rank, 0, nvinfer1::Dims::MAX_DIMS), extents.begin());
  }

  /// The extents that this run has notified; nothing if it has not.
  std::optional<std::span<const int64_t>> shape() const {
    if (rank < 0 || rank > nvinfer1::Dims::MAX_DIMS)
      return std::nullopt;
    return std::span<const int64_t>(extents.data(), static_cast<size_t>(rank));
  }

  void *memory() const { return isOnHost ? onHost.get() : block.data(); }
  size_t bytes() const { return isOnHost ? hostBytes : block.bytes(); }
  /// The block, which is somebody else's from now on; the next run gets a new one.
  DeviceBuffer take() { return std::exchange(block, DeviceBuffer(device, device.compute.handle)); }
  /// Why memory was refused in this run.
  const runtime::Status &status() const { return failure; }

private:
  struct Free {
    void operator()(std::byte *memory) const { operator delete[](memory, std::align_val_t(DeviceBuffer::alignment)); }
  };

  Device &device;
  DeviceBuffer block;
  bool isOnHost;
  std::unique_ptr<std::byte[], Free> onHost;
  size_t hostBytes = 0;
  int32_t rank = -1;
  std::array<int64_t, nvinfer1::Dims::MAX_DIMS> extents{};
  runtime::Status failure;
};

} // namespace latewood::tensorrt

#endif // LATEWOOD_RUNTIME_TENSORRT_OUTPUTALLOCATOR_H
