// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks from malloc or from mmap, by size, and what is counted of them.

#include "latewood/runtime/Memory.h"

#include "latewood/runtime/FaultInjection.h"
#include "latewood/runtime/TraceEvents.h"

#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>

namespace latewood::runtime {

RefCounted::~RefCounted() = default;
void RefCounted::dispose() { delete this; }

namespace {
constexpr int64_t hugePage = 2 << 20;
constexpr int64_t mappedFrom = 1 << 20;

int64_t roundUp(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }
int64_t mappedSize(int64_t bytes) { return roundUp(bytes, bytes >= hugePage ? hugePage : 4096); }
} // namespace

void *allocateMemory(int64_t bytes) {
  if (bytes < 0 || bytes > INT64_MAX - 2 * hugePage || faults::strike())
    return nullptr;
  trace::Span span("memory", "allocate", {"bytes", bytes});
  if (bytes < mappedFrom)
    return std::aligned_alloc(memoryAlignment,
                              static_cast<size_t>(roundUp(std::max<int64_t>(bytes, 1), memoryAlignment)));
  int64_t size = mappedSize(bytes);
  int64_t slack = size >= hugePage ? hugePage : 0;
  void *mapping =
      mmap(nullptr, static_cast<size_t>(size + slack), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED)
    return nullptr;
  if (slack == 0)
    return mapping;
  // Keep the aligned part.
  auto address = reinterpret_cast<int64_t>(mapping);
  int64_t begin = roundUp(address, hugePage), end = begin + size;
  if (begin != address)
    munmap(mapping, static_cast<size_t>(begin - address));
  if (end != address + size + slack)
    munmap(reinterpret_cast<void *>(end), static_cast<size_t>(address + size + slack - end));
  // Only a hint: without huge pages the memory is as good.
  (void)madvise(reinterpret_cast<void *>(begin), static_cast<size_t>(size), MADV_HUGEPAGE);
  return reinterpret_cast<void *>(begin);
}

void freeMemory(void *memory, int64_t bytes) {
  if (!memory)
    return;
  trace::Span span("memory", "free", {"bytes", bytes});
  if (bytes < mappedFrom)
    std::free(memory);
  else
    munmap(memory, static_cast<size_t>(mappedSize(bytes)));
}

} // namespace latewood::runtime
