// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The engine of the thread pool: loops that are open for help, and threads that look for them. Internal to
// ThreadPool.cpp and Workers.cpp.
//
// A loop lives in one of a fixed number of slots. Its state is two words:
//   claim      generation | next unit   a range of units is taken by one compare-and-swap. The generation changes when
//   the
//                                       slot gets another loop, so a thread that was delayed between reading the loop
//                                       and taking from it cannot take from the wrong one.
//   remaining  units not yet done, and one bit that says that the caller sleeps until they are
// Slots are never freed while the pool lives, so a delayed thread reads a stale loop at worst, and then fails to claim.
// The caller takes units like everybody else, and returns when `remaining` is 0: it waits for the units that others
// have taken, never for others to look in.
//
// Threads without work spin for some microseconds, because the next loop of the same program is usually that close,
// and then sleep on a futex.

#ifndef LATEWOOD_RUNTIME_WORKERS_H
#define LATEWOOD_RUNTIME_WORKERS_H

#include "latewood/runtime/ThreadPool.h"

#include <array>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace latewood::runtime {

/// Runs one range on this thread, in the default floating point environment. False: no memory for scratch.
bool runTasks(lw_body body, void *frame, int64_t begin, int64_t end, int64_t scratchBytes);
/// This thread is inside a task.
bool isInsideTask();

class ThreadPool::Workers {
public:
  explicit Workers(int32_t helpers) : helpers(helpers) {}
  ~Workers();

  bool run(lw_body body, void *frame, int64_t tasks, int64_t scratchBytes);

private:
  struct alignas(64) Slot {
    std::atomic<uint64_t> claim{0};
    /// Of the loop; valid for whoever has claimed units of it.
    std::atomic<lw_body> body{nullptr};
    std::atomic<void *> frame{nullptr};
    std::atomic<int64_t> tasks{0}, tasksPerUnit{1}, scratchBytes{0};
    std::atomic<uint32_t> units{0};
    std::atomic<bool> hasMemory{true};
    alignas(64) std::atomic<uint32_t> remaining{0};
    std::atomic<bool> isTaken{false};
  };

  void start();
  void serve();
  Slot *takeSlot();
  /// Takes and runs one range of the slot's loop; false if there was none.
  bool help(Slot &slot);
  bool helpAny();
  void waitUntilDone(Slot &slot);

  const int32_t helpers;
  std::array<Slot, 16> slots;
  /// One more for each loop that is opened; what idle threads watch.
  alignas(64) std::atomic<uint32_t> openings{0};
  alignas(64) std::atomic<uint32_t> sleepers{0};
  std::atomic<bool> isStopping{false};
  std::once_flag started;
  std::vector<std::thread> threads;
  int32_t process = 0;
};

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_WORKERS_H
