// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The threads of parallel loops. A loop is a number of tasks, fixed by the compiler from shapes alone; how tasks are
// grouped into ranges and which thread runs them depends on the moment, and results do not depend on it.
//
// The thread that makes the call takes part, and can finish a loop alone: the others only help, as they find the time.
// So a loop is right with no other thread at all (after a fork, say), and several sessions share one pool without
// waiting for each other.
//
// Each thread keeps one scratch block, grown when a loop asks for more: a loop in a steady state allocates nothing. A
// loop inside a task runs on the task's own thread, with scratch of its own.

#ifndef LATEWOOD_RUNTIME_THREADPOOL_H
#define LATEWOOD_RUNTIME_THREADPOOL_H

#include "latewood/format/abi.h"
#include "latewood/runtime/Status.h"

#include <memory>

namespace latewood::runtime {

class ThreadPool {
public:
  /// `threadCount` as in ClientOptions. Threads start with the first loop that can use them.
  static StatusOr<std::unique_ptr<ThreadPool>> create(int32_t threadCount);
  ~ThreadPool();

  int32_t threadCount() const { return threads; }

  /// Runs body over [0, tasks) and returns when all are done. False: there was no memory for scratch, and the body may
  /// have run for some tasks only.
  bool parallelFor(lw_body body, void *frame, int64_t tasks, int64_t scratchBytes);

private:
  class Workers;
  explicit ThreadPool(int32_t threads);
  int32_t threads;
  std::unique_ptr<Workers> workers;
};

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_THREADPOOL_H
