// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Storage: a block of memory with an owner. Values are typed windows on a storage; several values may share one, and the
// memory lives until the last of them has gone.
//
//   identity   the object; `data()` never changes while it lives
//   ownership  owned memory is freed (or goes back to its pool) at the end; a view calls its release function instead
//   threads    immutable after creation; may be shared and dropped on any thread
//   streams    host memory has no stream: nothing is in flight when a function of this library has returned

#ifndef LATEWOOD_RUNTIME_STORAGE_H
#define LATEWOOD_RUNTIME_STORAGE_H

#include "latewood/runtime/Memory.h"
#include "latewood/runtime/Ref.h"
#include "latewood/runtime/Signature.h"
#include "latewood/runtime/Status.h"

#include <functional>

namespace latewood::runtime {

class LATEWOOD_API Storage : public RefCounted {
public:
  /// New memory on the host, 64-byte aligned, contents undefined. `bytes` may be 0; `data()` is not null even then.
  static StatusOr<Ref<Storage>> allocate(int64_t bytes, const Ref<MemoryCounters> &counters);

  /// Memory of somebody else. `release` is called once, on whatever thread drops the last reference, and must not throw;
  /// it may be empty where the owner promises to outlive everything.
  static Ref<Storage> view(void *data, int64_t bytes, MemorySpace space, bool isReadOnly, std::function<void()> release);

  uint8_t *data() const { return start; }
  int64_t sizeInBytes() const { return size; }
  MemorySpace space() const { return memorySpace; }
  bool isReadOnly() const { return readOnly; }
  /// Memory of somebody else.
  bool isView() const { return kind == Kind::view; }

protected:
  enum class Kind : uint8_t { owned, view, pooled };

  Storage(Kind kind, uint8_t *start, int64_t size) : start(start), size(size), kind(kind) {}
  ~Storage() override;

  uint8_t *start;
  int64_t size;
  MemorySpace memorySpace = MemorySpace::host;
  bool readOnly = false;
  Kind kind;

private:
  std::function<void()> releaseView;
  Ref<MemoryCounters> counters;
};

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_STORAGE_H
