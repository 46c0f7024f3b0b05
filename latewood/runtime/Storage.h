// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Storage: a block of memory with an owner. Values are typed windows on a storage; several values may share one, and
// the memory lives until the last of them has gone.
//
//   identity   the object; `data()` never changes while it lives
//   ownership  owned memory is freed (or goes back to its pool) at the end; a view calls its release function instead
//   threads    may be shared and dropped on any thread
//   streams    memory that a call on a stream is going to write is not ready until that call has run: `waitUntilReady`
//              before touching it. Functions of this library that read memory wait by themselves

#ifndef LATEWOOD_RUNTIME_STORAGE_H
#define LATEWOOD_RUNTIME_STORAGE_H

#include "latewood/runtime/Memory.h"
#include "latewood/runtime/Ref.h"
#include "latewood/runtime/Signature.h"
#include "latewood/runtime/Status.h"
#include "latewood/runtime/Stream.h"

#include <functional>

namespace latewood::runtime {

class LATEWOOD_API Storage : public RefCounted {
public:
  /// New memory on the host, 64-byte aligned, contents undefined. `bytes` may be 0; `data()` is not null even then.
  static StatusOr<Ref<Storage>> allocate(int64_t bytes, const Ref<MemoryCounters> &counters);

  /// Memory of somebody else. `release` is called once, on whatever thread drops the last reference, and must not
  /// throw; it may be empty where the owner promises to outlive everything. Without memory, std::bad_alloc, after
  /// `release`.
  static Ref<Storage> view(void *data, int64_t bytes, MemorySpace space, bool isReadOnly,
                           std::function<void()> release);

  uint8_t *data() const { return start; }
  int64_t sizeInBytes() const { return size; }
  MemorySpace space() const { return memorySpace; }
  bool isReadOnly() const { return readOnly; }
  /// Memory of somebody else.
  bool isView() const { return kind == Kind::view; }

  /// False while a call on a stream is going to write this memory, and after such a call has failed.
  bool isReady() const { return !hasWriter.load(std::memory_order_acquire); }
  /// Blocks until that call has run. Fails if it failed: then the contents are undefined.
  Status waitUntilReady() const;
  /// The event of that call; null if the memory is ready.
  Ref<Event> writer() const;
  /// For sessions: from now on, `event` says when the memory is ready.
  void setWriter(Ref<Event> event);
  /// For sessions: the call of this event has run; the memory is ready, unless another call is going to write it.
  void clearWriter(const Event &event) const;

protected:
  enum class Kind : uint8_t { owned, view, pooled };

  Storage(Kind kind, uint8_t *start, int64_t size) : start(start), size(size), kind(kind) {}
  ~Storage() override;

  uint8_t *start;
  int64_t size;
  mutable std::atomic<bool> hasWriter{false};
  mutable Ref<Event> writerEvent;
  MemorySpace memorySpace = MemorySpace::host;
  bool readOnly = false;
  Kind kind;

private:
  std::function<void()> releaseView;
  Ref<MemoryCounters> counters;
};

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_STORAGE_H
