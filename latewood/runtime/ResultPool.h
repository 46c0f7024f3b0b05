// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of a session's calls: results, temporaries, staging. A fresh page costs microseconds, so memory that is given back
// is kept and used again: from the second equal call on, the system is asked for nothing.
//
// Blocks have size classes, eight to each power of two, and a free list for each class. Only the session takes blocks,
// under its own one-call-at-a-time rule, so the free lists need no lock. Blocks come back from any thread (results are
// dropped anywhere): onto one atomic stack, which the session empties as a whole when a free list runs dry; a stack that is
// only pushed to and emptied has no ABA problem.
//
// How much is kept: never more than twice what was in use at once, plus a little. The largest free blocks go first.
//
// Lifetime: each block in use holds a reference to the pool. When the session goes, it closes the pool, which frees the
// free blocks; blocks that come back later are freed then.

#ifndef LATEWOOD_RUNTIME_RESULTPOOL_H
#define LATEWOOD_RUNTIME_RESULTPOOL_H

#include "latewood/runtime/Memory.h"
#include "latewood/runtime/Storage.h"

#include <array>

namespace latewood::runtime {

class ResultPool;

enum class Purpose : uint8_t { result, temporary, staging };

class PooledStorage final : public Storage {
public:
  /// The next of a list that the block is in: free list, returned stack, or a call's temporaries.
  PooledStorage *next = nullptr;

private:
  friend class ResultPool;
  PooledStorage(ResultPool *pool, void *memory, int64_t capacity, int32_t sizeClass)
      : Storage(Kind::pooled, static_cast<uint8_t *>(memory), 0), pool(pool), memory(memory), capacity(capacity),
        sizeClass(sizeClass) {}
  ~PooledStorage() override;
  void dispose() override;

  ResultPool *pool;
  void *memory;
  int64_t capacity;
  int32_t sizeClass;
  Purpose purpose = Purpose::result;
};

class ResultPool final : public RefCounted {
public:
  explicit ResultPool(Ref<MemoryCounters> clientCounters) : clientCounters(std::move(clientCounters)) {}

  /// A block with one reference, or null if there is no memory. Only the session calls it.
  PooledStorage *take(int64_t bytes, int64_t alignment, Purpose purpose);

  /// Only the session calls these three.
  void releaseCached();
  void readStatistics(SessionStatistics &statistics);
  void close();

private:
  friend class PooledStorage;
  ~ResultPool() override;

  static constexpr int32_t sizeClasses = 8 * 58;
  static int32_t sizeClassOf(int64_t bytes);
  static int64_t capacityOf(int32_t sizeClass);

  PooledStorage *create(int32_t sizeClass);
  void destroy(PooledStorage *block);
  void destroyList(PooledStorage *list);
  void giveBack(PooledStorage *block);
  /// Moves what came back into the free lists.
  void collect();
  /// Destroys free blocks, largest first, until at most `limit` bytes are free.
  void shrink(int64_t limit);

  std::array<PooledStorage *, sizeClasses> freeLists{};
  std::atomic<PooledStorage *> returned{nullptr};
  std::atomic<bool> closed{false};
  int64_t cachedBytes = 0, usedBytes = 0, peakUsedBytes = 0;
  std::array<AllocationCounter, 3> counters{};
  MemoryCounters system;
  Ref<MemoryCounters> clientCounters;
};

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_RESULTPOOL_H
