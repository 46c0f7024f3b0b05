// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stand-in for CUDA's runtime library, for tests on machines without a GPU: "device" memory is the host's, and work
// in a stream is done at once. It counts what lives, and can be told to fail.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {
std::mutex mutex;
std::unordered_map<void *, size_t> blocks;
int64_t liveBytes = 0, peakBytes = 0, allocations = 0;
std::atomic<int64_t> streams{0}, failing{0};

constexpr int invalidValue = 1, outOfMemory = 2;
} // namespace

EXPORT int cudaMallocAsync(void **memory, size_t bytes, void *) {
  if (failing.load() > 0 && failing.fetch_sub(1) == 1)
    return outOfMemory;
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (!*memory)
    return outOfMemory;
  std::lock_guard lock(mutex);
  blocks[*memory] = bytes;
  ++allocations;
  liveBytes += static_cast<int64_t>(bytes);
  peakBytes = std::max(peakBytes, liveBytes);
  return 0;
}

EXPORT int cudaFreeAsync(void *memory, void *) {
  std::lock_guard lock(mutex);
  auto found = blocks.find(memory);
  if (found == blocks.end())
    return invalidValue; // freed twice, or never allocated
  liveBytes -= static_cast<int64_t>(found->second);
  blocks.erase(found);
  std::free(memory);
  return 0;
}

EXPORT int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int, void *) {
  std::memcpy(to, from, bytes);
  return 0;
}

EXPORT int cudaStreamCreateWithFlags(void **stream, unsigned) {
  static char place;
  ++streams;
  *stream = &place;
  return 0;
}

EXPORT int cudaStreamDestroy(void *) {
  --streams;
  return 0;
}

EXPORT int cudaStreamSynchronize(void *) { return 0; }

EXPORT const char *cudaGetErrorString(int error) { return error == outOfMemory ? "out of memory" : "invalid value"; }

/// What tests ask: blocks, bytes and streams alive, the most bytes, and allocations so far.
EXPORT int64_t standin_live_blocks() {
  std::lock_guard lock(mutex);
  return static_cast<int64_t>(blocks.size());
}
EXPORT int64_t standin_live_bytes() {
  std::lock_guard lock(mutex);
  return liveBytes;
}
EXPORT int64_t standin_peak_bytes() {
  std::lock_guard lock(mutex);
  return peakBytes;
}
EXPORT int64_t standin_allocations() {
  std::lock_guard lock(mutex);
  return allocations;
}
EXPORT int64_t standin_live_streams() { return streams.load(); }
/// The n-th allocation from now on fails; 0: none.
EXPORT void standin_fail_allocation(int64_t n) { failing.store(n); }
