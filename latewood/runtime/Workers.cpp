// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How loops are opened, joined, and left: the slots of Workers.h, and the threads that sleep while there is none.

#include "latewood/runtime/Workers.h"

#include "latewood/runtime/FaultInjection.h"

#include <algorithm>
#include <climits>
#include <emmintrin.h>
#include <exception>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

namespace latewood::runtime {

namespace {
constexpr uint32_t unitBits = 32;
constexpr uint32_t sleepingBit = 1u << 31;
/// Below sleepingBit with room to spare; larger loops have several tasks in a unit.
constexpr int64_t mostUnits = 1 << 24;
/// How long a thread without work watches before it sleeps, in cycles of the time stamp counter: 20 to 50 microseconds.
constexpr uint64_t spinCycles = 100000;

uint32_t unitOf(uint64_t claim) { return static_cast<uint32_t>(claim); }

void futexWait(std::atomic<uint32_t> &word, uint32_t expected) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}
void futexWake(std::atomic<uint32_t> &word, int count) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

/// Watches until `condition` holds; false after some time.
template <typename Condition>
bool spinUntil(Condition condition) {
  uint64_t start = __rdtsc();
  do {
    for (int i = 0; i < 32; ++i) {
      if (condition())
        return true;
      _mm_pause();
    }
  } while (__rdtsc() - start < spinCycles);
  return false;
}
} // namespace

ThreadPool::Workers::~Workers() {
  isStopping.store(true);
  openings.fetch_add(1);
  futexWake(openings, INT_MAX);
  for (std::thread &thread : threads) {
    // After a fork the threads are the parent's, and not there to be joined.
    if (process == getpid())
      thread.join();
    else
      thread.detach();
  }
}

void ThreadPool::Workers::start() {
  process = getpid();
  // Fewer threads than asked for are slower and not wrong.
  try {
    for (int32_t i = 0; i < helpers && !faults::strike(); ++i) {
      threads.emplace_back([this] { serve(); });
      pthread_setname_np(threads.back().native_handle(), "latewood");
    }
  } catch (const std::exception &) {
  }
}

void ThreadPool::Workers::serve() {
  while (!isStopping.load()) {
    // Read before looking: a loop that is opened afterwards changes it.
    uint32_t seen = openings.load();
    while (helpAny())
      ;
    if (spinUntil([&] { return openings.load(std::memory_order_relaxed) != seen; }))
      continue;
    sleepers.fetch_add(1);
    if (openings.load() == seen && !isStopping.load())
      futexWait(openings, seen);
    sleepers.fetch_sub(1);
  }
}

ThreadPool::Workers::Slot *ThreadPool::Workers::takeSlot() {
  for (Slot &slot : slots)
    if (!slot.isTaken.load(std::memory_order_relaxed) && !slot.isTaken.exchange(true, std::memory_order_acquire))
      return &slot;
  return nullptr;
}

bool ThreadPool::Workers::help(Slot &slot) {
  uint64_t claim = slot.claim.load(std::memory_order_acquire);
  while (true) {
    uint32_t next = unitOf(claim), units = slot.units.load(std::memory_order_acquire);
    if (next >= units)
      return false;
    lw_body body = slot.body.load(std::memory_order_acquire);
    void *frame = slot.frame.load(std::memory_order_acquire);
    int64_t tasks = slot.tasks.load(std::memory_order_acquire);
    int64_t tasksPerUnit = slot.tasksPerUnit.load(std::memory_order_acquire);
    int64_t scratchBytes = slot.scratchBytes.load(std::memory_order_acquire);
    // Large ranges first, small ones to fill the end.
    uint32_t count = std::max<uint32_t>(1, (units - next) / (2 * static_cast<uint32_t>(helpers + 1)));
    if (!slot.claim.compare_exchange_weak(claim, claim + count, std::memory_order_acq_rel, std::memory_order_acquire))
      continue;
    // The generation was the same before and after: what was read belongs to the loop.
    int64_t begin = next * tasksPerUnit, end = std::min(tasks, (next + int64_t(count)) * tasksPerUnit);
    if (!runTasks(body, frame, begin, end, scratchBytes))
      slot.hasMemory.store(false, std::memory_order_relaxed);
    if (slot.remaining.fetch_sub(count, std::memory_order_acq_rel) == (sleepingBit | count))
      futexWake(slot.remaining, 1);
    return true;
  }
}

bool ThreadPool::Workers::helpAny() {
  bool hasHelped = false;
  for (Slot &slot : slots)
    while (help(slot))
      hasHelped = true;
  return hasHelped;
}

void ThreadPool::Workers::waitUntilDone(Slot &slot) {
  auto isDone = [&] { return slot.remaining.load(std::memory_order_acquire) == 0; };
  if (spinUntil(isDone))
    return;
  uint32_t now = slot.remaining.fetch_or(sleepingBit, std::memory_order_acq_rel) | sleepingBit;
  while (now != sleepingBit) {
    futexWait(slot.remaining, now);
    now = slot.remaining.load(std::memory_order_acquire);
  }
  slot.remaining.store(0, std::memory_order_relaxed);
}

bool ThreadPool::Workers::run(lw_body body, void *frame, int64_t tasks, int64_t scratchBytes) {
  Slot *slot = takeSlot();
  // More loops at once than slots: every thread is busy anyway.
  if (!slot)
    return runTasks(body, frame, 0, tasks, scratchBytes);
  std::call_once(started, [this] { start(); });

  // The slot is closed (all units taken) since its last loop. The new generation comes first, and the fields are stored
  // with release and loaded with acquire: a thread that has read one of the new fields sees the new generation when it
  // tries to claim by an old word, and fails.
  uint64_t generation = ((slot->claim.load(std::memory_order_relaxed) >> unitBits) + 1) << unitBits;
  slot->claim.store(generation | UINT32_MAX, std::memory_order_seq_cst);
  int64_t tasksPerUnit = (tasks - 1) / mostUnits + 1;
  auto units = static_cast<uint32_t>((tasks - 1) / tasksPerUnit + 1);
  slot->body.store(body, std::memory_order_release);
  slot->frame.store(frame, std::memory_order_release);
  slot->tasks.store(tasks, std::memory_order_release);
  slot->tasksPerUnit.store(tasksPerUnit, std::memory_order_release);
  slot->scratchBytes.store(scratchBytes, std::memory_order_release);
  slot->units.store(units, std::memory_order_release);
  slot->hasMemory.store(true, std::memory_order_relaxed);
  slot->remaining.store(units, std::memory_order_relaxed);
  slot->claim.store(generation, std::memory_order_release);

  openings.fetch_add(1);
  if (sleepers.load() != 0)
    futexWake(openings, static_cast<int>(std::min<int64_t>(units - 1, helpers)));

  while (help(*slot))
    ;
  waitUntilDone(*slot);
  bool hasMemory = slot->hasMemory.load(std::memory_order_relaxed);
  slot->isTaken.store(false, std::memory_order_release);
  return hasMemory;
}

} // namespace latewood::runtime
