// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory from the system, and the counters that watch it. Internal to the runtime.
//
// Small blocks come from malloc. Large ones are mapped on their own, at a multiple of the size of a huge page and with
// the request to use them: a 64 MB result then costs 32 page faults instead of 16384, and goes back to the system
// whole.

#ifndef LATEWOOD_RUNTIME_MEMORY_H
#define LATEWOOD_RUNTIME_MEMORY_H

#include "latewood/runtime/Ref.h"
#include "latewood/runtime/Statistics.h"

namespace latewood::runtime {

inline constexpr int64_t memoryAlignment = 64;

/// 64-byte aligned; null if there is none. 0 bytes give a block, too.
void *allocateMemory(int64_t bytes);
/// `bytes` as in the allocation.
void freeMemory(void *memory, int64_t bytes);

/// Counts what a client took from the system. Shared by everything that may free memory after the client has gone.
class MemoryCounters final : public RefCounted {
public:
  void allocated(int64_t bytes) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    int64_t now = liveBytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    int64_t peak = peakBytes.load(std::memory_order_relaxed);
    while (now > peak && !peakBytes.compare_exchange_weak(peak, now, std::memory_order_relaxed))
      ;
  }
  void released(int64_t bytes) {
    releases.fetch_add(1, std::memory_order_relaxed);
    liveBytes.fetch_sub(bytes, std::memory_order_relaxed);
  }
  SystemCounter snapshot() const {
    return {allocations.load(std::memory_order_relaxed), releases.load(std::memory_order_relaxed),
            liveBytes.load(std::memory_order_relaxed), peakBytes.load(std::memory_order_relaxed)};
  }

private:
  std::atomic<uint64_t> allocations{0}, releases{0};
  std::atomic<int64_t> liveBytes{0}, peakBytes{0};
};

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_MEMORY_H
