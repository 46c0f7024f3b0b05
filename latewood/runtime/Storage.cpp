// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Storage that is owned and storage that is a view, and the event that a reader waits for.

#include "latewood/runtime/Storage.h"

#include "latewood/runtime/Exceptions.h"
#include "latewood/runtime/Memory.h"
#include "latewood/runtime/TraceEvents.h"

#include <mutex>
#include <new>

namespace latewood::runtime {

StatusOr<Ref<Storage>> Storage::allocate(int64_t bytes, const Ref<MemoryCounters> &counters) {
  void *memory = allocateMemory(bytes);
  if (!memory)
    return withoutExceptions([&] { return outOfMemory("cannot allocate " + std::to_string(bytes) + " bytes"); });
  auto *object = new (std::nothrow) Storage(Kind::owned, static_cast<uint8_t *>(memory), bytes);
  if (!object) {
    freeMemory(memory, bytes);
    return Status::noMemory();
  }
  auto storage = Ref<Storage>::adopt(object);
  storage->counters = counters;
  if (counters) {
    counters->allocated(bytes);
    trace::counter("memory", {"bytes", counters->snapshot().liveBytes});
  }
  return storage;
}

Ref<Storage> Storage::view(void *data, int64_t bytes, MemorySpace space, bool isReadOnly,
                           std::function<void()> release) {
  auto *object = new (std::nothrow) Storage(Kind::view, static_cast<uint8_t *>(data), bytes);
  if (!object) {
    if (release)
      release();
    throw std::bad_alloc();
  }
  auto storage = Ref<Storage>::adopt(object);
  storage->memorySpace = space;
  storage->readOnly = isReadOnly;
  storage->releaseView = std::move(release);
  return storage;
}

namespace {
/// Guards the writers of all storages: they change at calls on streams only.
std::mutex writerMutex;
} // namespace

Ref<Event> Storage::writer() const {
  if (isReady())
    return nullptr;
  std::lock_guard lock(writerMutex);
  return writerEvent;
}

void Storage::setWriter(Ref<Event> event) {
  std::lock_guard lock(writerMutex);
  hasWriter.store(static_cast<bool>(event), std::memory_order_release);
  writerEvent.swap(event);
}

Status Storage::waitUntilReady() const {
  Ref<Event> event = writer();
  if (!event)
    return okStatus();
  if (Status status = event->wait(); !status.isOk())
    return std::move(status).withContext("the call that writes this memory failed");
  clearWriter(*event);
  return okStatus();
}

void Storage::clearWriter(const Event &event) const {
  // Dropped after the lock: the last reference to an event ends here.
  Ref<Event> last;
  std::lock_guard lock(writerMutex);
  if (writerEvent.get() == &event) {
    writerEvent.swap(last);
    hasWriter.store(false, std::memory_order_release);
  }
}

Storage::~Storage() {
  if (kind == Kind::owned) {
    freeMemory(start, size);
    if (counters) {
      counters->released(size);
      trace::counter("memory", {"bytes", counters->snapshot().liveBytes});
    }
  } else if (kind == Kind::view && releaseView) {
    releaseView();
  }
}

} // namespace latewood::runtime
