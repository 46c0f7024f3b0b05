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
// it until then. Each run begins with `begin`.
#ifndef LATEWOOD_RUNTIME_TENSORRT_OUTPUTALLOCATOR_H
#define LATEWOOD_RUNTIME_TENSORRT_OUTPUTALLOCATOR_H

#include "latewood/runtime/TensorRT/Memory.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

namespace latewood::tensorrt {

class OutputAllocator final : public nvinfer1::IOutputAllocator {
public:
  OutputAllocator(const CUDA &cuda, cudaStream_t stream) : block(cuda, stream) {}

  void begin() {
    rank = -1;
    failure = runtime::okStatus();
  }

  void *reallocateOutputAsync(const char *, void *, uint64_t bytes, uint64_t alignment, cudaStream_t) override {
    if (alignment > DeviceBuffer::alignment) {
      failure = runtime::unimplemented("TensorRT asks for memory aligned to " + std::to_string(alignment) + " bytes");
      return nullptr;
    }
    failure = block.reserve(bytes);
    return block.data();
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

  const DeviceBuffer &memory() const { return block; }
  /// Why memory was refused in this run.
  const runtime::Status &status() const { return failure; }

private:
  DeviceBuffer block;
  int32_t rank = -1;
  std::array<int64_t, nvinfer1::Dims::MAX_DIMS> extents{};
  runtime::Status failure;
};

} // namespace latewood::tensorrt

#endif // LATEWOOD_RUNTIME_TENSORRT_OUTPUTALLOCATOR_H
