// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stand-in for CUDA's runtime library, for tests on machines without a GPU: "device" memory is the host's, and work
// in a stream is done at once. It counts what lives, looks whether events order what has to be ordered, and can be told
// to fail: `standin_fail_call(n)` lets the n-th call from now on fail, whichever it is.
//
// An environment variable, STANDIN_CUDA, says what machine this is: "no-driver", "no-device", or (default) one GPU.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

// The names of CUDA's own types, which are part of the functions'.
struct CUstream_st {};
struct CUevent_st {};
using Stream = CUstream_st *;
using Event = CUevent_st *;

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {
std::mutex mutex;
std::unordered_map<void *, size_t> blocks;
std::unordered_set<void *> streamHandles, eventHandles;
int64_t liveBytes = 0, peakBytes = 0, allocations = 0, mistakes = 0;
std::atomic<int64_t> failingAllocation{0}, failingCall{0}, calls{0};

constexpr int invalidValue = 1, outOfMemory = 2, driverTooOld = 35, noDevice = 100, unknown = 999;

/// Whether this call fails, as it was told to.
bool strike() {
  ++calls;
  return failingCall.load() > 0 && failingCall.fetch_sub(1) == 1;
}

std::string_view machine() {
  const char *given = std::getenv("STANDIN_CUDA");
  return given ? given : "";
}

void require(bool condition) {
  if (!condition)
    ++mistakes;
}
} // namespace

EXPORT int cudaGetDeviceCount(int *count) {
  *count = 0;
  if (machine() == "no-driver")
    return driverTooOld;
  if (machine() == "no-device")
    return noDevice;
  *count = 1;
  return 0;
}

EXPORT int cudaGetDevice(int *device) {
  *device = 0;
  return 0;
}

EXPORT int cudaDeviceGetAttribute(int *value, int attribute, int) {
  *value = attribute == 75 ? 9 : 0; // compute capability 9.0
  return 0;
}

EXPORT int cudaMallocAsync(void **memory, size_t bytes, Stream stream) {
  if (strike() || (failingAllocation.load() > 0 && failingAllocation.fetch_sub(1) == 1))
    return outOfMemory;
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (!*memory)
    return outOfMemory;
  std::lock_guard lock(mutex);
  require(streamHandles.contains(stream));
  blocks[*memory] = bytes;
  ++allocations;
  liveBytes += static_cast<int64_t>(bytes);
  peakBytes = std::max(peakBytes, liveBytes);
  return 0;
}

EXPORT int cudaFreeAsync(void *memory, Stream stream) {
  std::lock_guard lock(mutex);
  require(streamHandles.contains(stream));
  auto found = blocks.find(memory);
  require(found != blocks.end()); // freed twice, or never allocated
  if (found == blocks.end())
    return invalidValue;
  liveBytes -= static_cast<int64_t>(found->second);
  blocks.erase(found);
  std::free(memory);
  return 0;
}

EXPORT int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int, Stream) {
  if (strike())
    return unknown;
  if (bytes != 0)
    std::memcpy(to, from, bytes);
  return 0;
}

EXPORT int cudaStreamCreateWithFlags(Stream *stream, unsigned) {
  if (strike())
    return unknown;
  *stream = new CUstream_st;
  std::lock_guard lock(mutex);
  streamHandles.insert(*stream);
  return 0;
}

EXPORT int cudaStreamDestroy(Stream stream) {
  std::lock_guard lock(mutex);
  require(streamHandles.erase(stream) == 1);
  delete stream;
  return 0;
}

EXPORT int cudaStreamSynchronize(Stream stream) {
  {
    std::lock_guard lock(mutex);
    require(streamHandles.contains(stream));
  }
  return strike() ? unknown : 0;
}

EXPORT int cudaEventCreateWithFlags(Event *event, unsigned) {
  if (strike())
    return unknown;
  *event = new CUevent_st;
  std::lock_guard lock(mutex);
  eventHandles.insert(*event);
  return 0;
}

EXPORT int cudaEventDestroy(Event event) {
  std::lock_guard lock(mutex);
  require(eventHandles.erase(event) == 1);
  delete event;
  return 0;
}

EXPORT int cudaEventRecord(Event event, Stream stream) {
  std::lock_guard lock(mutex);
  require(eventHandles.contains(event) && streamHandles.contains(stream));
  return strike() ? unknown : 0;
}

EXPORT int cudaStreamWaitEvent(Stream stream, Event event, unsigned) {
  std::lock_guard lock(mutex);
  require(eventHandles.contains(event) && streamHandles.contains(stream));
  return strike() ? unknown : 0;
}

EXPORT const char *cudaGetErrorString(int error) {
  return error == outOfMemory ? "out of memory" : error == unknown ? "unknown error" : "invalid value";
}

/// What tests ask: blocks, bytes, streams and events alive, the most bytes, and allocations so far.
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
EXPORT int64_t standin_live_streams() {
  std::lock_guard lock(mutex);
  return static_cast<int64_t>(streamHandles.size());
}
EXPORT int64_t standin_live_events() {
  std::lock_guard lock(mutex);
  return static_cast<int64_t>(eventHandles.size());
}
/// Handles that were used when they were none: freed, destroyed, or never made.
EXPORT int64_t standin_mistakes() {
  std::lock_guard lock(mutex);
  return mistakes;
}
/// The n-th allocation from now on fails; 0: none.
EXPORT void standin_fail_allocation(int64_t n) { failingAllocation.store(n); }
/// The n-th call from now on fails, of those that may; 0: none. And how many there were.
EXPORT void standin_fail_call(int64_t n) { failingCall.store(n); }
EXPORT int64_t standin_calls() { return calls.load(); }
