// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Taking and giving back of blocks, and when they go to the system.

#include "latewood/runtime/ResultPool.h"

#include "latewood/runtime/FaultInjection.h"
#include "latewood/runtime/TraceEvents.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>

namespace latewood::runtime {

namespace {
/// Kept in any case, so that small sessions never go to the system twice.
constexpr int64_t slackBytes = 1 << 20;
} // namespace

// Class 8 k + j, k > 0, holds blocks of (8 + j) << (k + 2) bytes; the classes below 8 are multiples of 64 bytes in
// disguise: everything is counted in units of 64 bytes, units below 8 are classes of their own.
int32_t ResultPool::sizeClassOf(int64_t bytes) {
  uint64_t units = (static_cast<uint64_t>(std::max<int64_t>(bytes, 1)) + 63) / 64;
  if (units <= 8)
    return static_cast<int32_t>(units) - 1;
  // units = (8 + j) * 2^k, rounded up.
  int k = std::bit_width(units) - 4;
  uint64_t steps = (units + (uint64_t(1) << k) - 1) >> k;
  return static_cast<int32_t>(8 * k + static_cast<int>(steps) - 1);
}

int64_t ResultPool::capacityOf(int32_t sizeClass) {
  if (sizeClass < 8)
    return 64 * (sizeClass + 1);
  int k = sizeClass / 8 - 1;
  int64_t steps = sizeClass % 8 + 9;
  return (steps << k) * 64;
}

PooledStorage::~PooledStorage() = default;
void PooledStorage::dispose() {
  // The next user starts with memory that is ready.
  if (!isReady())
    setWriter(nullptr);
  pool->giveBack(this);
}

ResultPool::~ResultPool() {
  destroyList(returned.load());
  for (PooledStorage *list : freeLists)
    destroyList(list);
}

PooledStorage *ResultPool::create(int32_t sizeClass) {
  int64_t capacity = capacityOf(sizeClass);
  // Make room by what fits nowhere else before growing.
  int64_t limit = 2 * std::max(peakUsedBytes, usedBytes + capacity) + slackBytes;
  shrink(std::max<int64_t>(0, limit - usedBytes - capacity));
  void *memory = allocateMemory(capacity);
  if (!memory) {
    shrink(0);
    memory = allocateMemory(capacity);
    if (!memory)
      return nullptr;
  }
  auto *block = faults::strike() ? nullptr : new (std::nothrow) PooledStorage(this, memory, capacity, sizeClass);
  if (!block) {
    freeMemory(memory, capacity);
    return nullptr;
  }
  system.allocated(capacity);
  if (clientCounters) {
    clientCounters->allocated(capacity);
    trace::counter("memory", {"bytes", clientCounters->snapshot().liveBytes});
  }
  return block;
}

void ResultPool::destroy(PooledStorage *block) {
  freeMemory(block->memory, block->capacity);
  system.released(block->capacity);
  if (clientCounters) {
    clientCounters->released(block->capacity);
    trace::counter("memory", {"bytes", clientCounters->snapshot().liveBytes});
  }
  delete block;
}

void ResultPool::destroyList(PooledStorage *list) {
  while (list) {
    PooledStorage *next = list->next;
    destroy(list);
    list = next;
  }
}

PooledStorage *ResultPool::take(int64_t bytes, int64_t alignment, Purpose purpose) {
  // Blocks are 64-byte aligned; more alignment is found inside a larger block.
  int64_t slack = alignment > memoryAlignment ? alignment - memoryAlignment : 0;
  if (bytes < 0 || bytes > (INT64_MAX >> 3) || slack > (1 << 21))
    return nullptr;
  int32_t sizeClass = sizeClassOf(bytes + slack);
  std::lock_guard lock(mutex);
  if (!freeLists[sizeClass])
    collect();
  PooledStorage *block = freeLists[sizeClass];
  if (block) {
    freeLists[sizeClass] = block->next;
    cachedBytes -= block->capacity;
    block->revive();
  } else {
    block = create(sizeClass);
    if (!block)
      return nullptr;
  }
  block->next = nullptr;
  block->size = bytes;
  block->purpose = purpose;
  block->start = static_cast<uint8_t *>(block->memory);
  if (slack) {
    auto address = reinterpret_cast<uintptr_t>(block->memory);
    auto mask = static_cast<uintptr_t>(alignment) - 1;
    block->start += ((address + mask) & ~mask) - address;
  }
  usedBytes += block->capacity;
  peakUsedBytes = std::max(peakUsedBytes, usedBytes);
  AllocationCounter &counter = counters[static_cast<size_t>(purpose)];
  ++counter.count;
  counter.bytes += static_cast<uint64_t>(bytes);
  counter.liveBytes += bytes;
  counter.peakBytes = std::max(counter.peakBytes, counter.liveBytes);
  retain();
  return block;
}

void ResultPool::giveBack(PooledStorage *block) {
  PooledStorage *top = returned.load(std::memory_order_relaxed);
  do
    block->next = top;
  while (!returned.compare_exchange_weak(top, block));
  // Sequentially consistent with close(): either it sees the block, or this sees the flag.
  if (closed.load())
    destroyList(returned.exchange(nullptr));
  release();
}

void ResultPool::collect() {
  if (!returned.load(std::memory_order_relaxed))
    return;
  PooledStorage *block = returned.exchange(nullptr, std::memory_order_acquire);
  while (block) {
    PooledStorage *next = block->next;
    counters[static_cast<size_t>(block->purpose)].liveBytes -= block->size;
    usedBytes -= block->capacity;
    cachedBytes += block->capacity;
    block->next = freeLists[block->sizeClass];
    freeLists[block->sizeClass] = block;
    block = next;
  }
}

void ResultPool::shrink(int64_t limit) {
  for (int32_t sizeClass = sizeClasses - 1; sizeClass >= 0 && cachedBytes > limit; --sizeClass)
    while (cachedBytes > limit && freeLists[sizeClass]) {
      PooledStorage *block = freeLists[sizeClass];
      freeLists[sizeClass] = block->next;
      cachedBytes -= block->capacity;
      destroy(block);
    }
}

void ResultPool::releaseCached() {
  std::lock_guard lock(mutex);
  collect();
  shrink(0);
}

void ResultPool::readStatistics(SessionStatistics &statistics) {
  std::lock_guard lock(mutex);
  collect();
  statistics.results = counters[static_cast<size_t>(Purpose::result)];
  statistics.temporaries = counters[static_cast<size_t>(Purpose::temporary)];
  statistics.staging = counters[static_cast<size_t>(Purpose::staging)];
  statistics.system = system.snapshot();
  statistics.cachedBytes = cachedBytes;
}

void ResultPool::close() {
  closed.store(true);
  std::lock_guard lock(mutex);
  collect();
  shrink(0);
}

} // namespace latewood::runtime
