// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "latewood/runtime/Storage.h"

#include "latewood/runtime/Memory.h"

namespace latewood::runtime {

StatusOr<Ref<Storage>> Storage::allocate(int64_t bytes, const Ref<MemoryCounters> &counters) {
  void *memory = allocateMemory(bytes);
  if (!memory)
    return outOfMemory("cannot allocate " + std::to_string(bytes) + " bytes");
  auto storage = Ref<Storage>::adopt(new Storage(Kind::owned, static_cast<uint8_t *>(memory), bytes));
  storage->counters = counters;
  if (counters)
    counters->allocated(bytes);
  return storage;
}

Ref<Storage> Storage::view(void *data, int64_t bytes, MemorySpace space, bool isReadOnly,
                           std::function<void()> release) {
  auto storage = Ref<Storage>::adopt(new Storage(Kind::view, static_cast<uint8_t *>(data), bytes));
  storage->memorySpace = space;
  storage->readOnly = isReadOnly;
  storage->releaseView = std::move(release);
  return storage;
}

Storage::~Storage() {
  if (kind == Kind::owned) {
    freeMemory(start, size);
    if (counters)
      counters->released(size);
  } else if (kind == Kind::view && releaseView) {
    releaseView();
  }
}

} // namespace latewood::runtime
