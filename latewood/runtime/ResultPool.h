// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of a session's calls: results, temporaries, staging. A fresh page costs microseconds, so memory that is given
// back is kept and used again: from the second equal call on, the system is asked for nothing.
//
// Blocks have size classes, eight to each power of two, and a free list for each class. Taking is under a lock that is
// nearly always free: the running call takes, and rarely a thread that prepares a call on a stream. Blocks come back
// from any thread (results are dropped anywhere), without the lock: onto one atomic stack, which is emptied as a whole
// when a free list runs dry; a stack that is only pushed to and emptied has no ABA problem.
//
// How much is kept: never more than twice what was in use at once, plus a little. The largest free blocks go first.
//
// Lifetime: each block in use holds a reference to the pool. When the session goes, it closes the pool, which frees the
// free blocks; blocks that come back later are freed then.

#ifndef LATEWOOD_RUNTIME_RESULTPOOL_H
#define LATEWOOD_RUNTIME_RESULTPOOL_H

#include "latewood/runtime/BinaryLock.h"
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

  /// A block with one reference, or null if there is no memory.
  PooledStorage *take(int64_t bytes, int64_t alignment, Purpose purpose);

  void releaseCached();
  void readStatistics(SessionStatistics &statistics);
  /// Called by the session at its end.
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

  /// Of everything but `returned` and `closed`.
  BinaryLock mutex;
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
