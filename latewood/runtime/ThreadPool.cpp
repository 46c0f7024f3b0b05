// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On TBB: an arena with as many slots as threads. TBB's own waiting rule is what makes one scratch block per thread
// sufficient: a thread that waits for its loop may take ranges of another loop, but only between its own.

#include "latewood/runtime/ThreadPool.h"

#include "latewood/runtime/FloatingPoint.h"
#include "latewood/runtime/Memory.h"

#include <atomic>
#include <cstdlib>
#include <sched.h>
#include <string>
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace latewood::runtime {

namespace {
/// Scratch memory of one thread. `depth` counts the tasks that it is inside of.
class ThreadScratch {
public:
  ~ThreadScratch() { freeMemory(memory, size); }

  void *get(int64_t bytes) {
    if (bytes > size) {
      freeMemory(memory, size);
      memory = allocateMemory(bytes);
      size = memory ? bytes : 0;
    }
    return memory;
  }

  int depth = 0;

private:
  void *memory = nullptr;
  int64_t size = 0;
};

thread_local ThreadScratch threadScratch;

/// Runs one range on this thread. False: no memory.
bool runRange(lw_body body, void *frame, int64_t begin, int64_t end, int64_t scratchBytes) {
  ThreadScratch &scratch = threadScratch;
  DefaultFloatingPoint floatingPoint;
  if (scratchBytes <= 0) {
    ++scratch.depth;
    body(frame, begin, end, nullptr);
    --scratch.depth;
    return true;
  }
  // Inside a task the thread's block is in use.
  bool isNested = scratch.depth > 0;
  void *memory = isNested ? allocateMemory(scratchBytes) : scratch.get(scratchBytes);
  if (!memory)
    return false;
  ++scratch.depth;
  body(frame, begin, end, memory);
  --scratch.depth;
  if (isNested)
    freeMemory(memory, scratchBytes);
  return true;
}

int32_t usableProcessors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return 1;
  int count = CPU_COUNT(&set);
  return count < 1 ? 1 : count;
}
} // namespace

struct ThreadPool::Arena {
  explicit Arena(int threads)
      : limit(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(threads)), arena(threads) {}
  tbb::global_control limit;
  tbb::task_arena arena;
};

StatusOr<std::unique_ptr<ThreadPool>> ThreadPool::create(int32_t threadCount) {
  constexpr int32_t most = 1024;
  if (threadCount < 0 || threadCount > most)
    return invalidArgument("number of threads: expected 0 to " + std::to_string(most) + ", got " +
                           std::to_string(threadCount));
  if (threadCount == 0) {
    if (const char *text = std::getenv("LATEWOOD_NUM_THREADS"); text && *text) {
      char *end = nullptr;
      long number = std::strtol(text, &end, 10);
      if (*end || number < 1 || number > most)
        return invalidArgument("LATEWOOD_NUM_THREADS: expected a number from 1 to " + std::to_string(most) +
                               ", got '" + text + "'");
      threadCount = static_cast<int32_t>(number);
    } else {
      threadCount = usableProcessors();
    }
  }
  return std::unique_ptr<ThreadPool>(new ThreadPool(threadCount));
}

ThreadPool::ThreadPool(int32_t threads)
    : threads(threads), arena(threads > 1 ? std::make_unique<Arena>(threads) : nullptr) {}
ThreadPool::~ThreadPool() = default;

bool ThreadPool::parallelFor(lw_body body, void *frame, int64_t tasks, int64_t scratchBytes) {
  if (tasks <= 0)
    return true;
  if (tasks == 1 || threads == 1 || threadScratch.depth > 0)
    return runRange(body, frame, 0, tasks, scratchBytes);
  std::atomic<bool> hasMemory{true};
  arena->arena.execute([&] {
    tbb::parallel_for(tbb::blocked_range<int64_t>(0, tasks), [&](const tbb::blocked_range<int64_t> &range) {
      if (!runRange(body, frame, range.begin(), range.end(), scratchBytes))
        hasMemory.store(false, std::memory_order_relaxed);
    });
  });
  return hasMemory.load(std::memory_order_relaxed);
}

} // namespace latewood::runtime
