// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one call of a function works with: the function, prepared (in its final size, so that a call allocates nothing),
// and the frame. The frame is the `lw_call` that compiled code sees, with the runtime's own part behind it; the table
// `callbacks` is how compiled code comes back. Internal.

#ifndef LATEWOOD_RUNTIME_CALLFRAME_H
#define LATEWOOD_RUNTIME_CALLFRAME_H

#include "latewood/format/abi.h"
#include "latewood/runtime/Engine.h"
#include "latewood/runtime/EntryChecks.h"
#include "latewood/runtime/Exceptions.h"
#include "latewood/runtime/ImageLoader.h"
#include "latewood/runtime/OutputSlots.h"
#include "latewood/runtime/ThreadPool.h"

#include <atomic>
#include <memory>
#include <span>
#include <vector>

namespace latewood::runtime {

/// One function, prepared: everything a call needs, in its final size.
struct FunctionState {
  FunctionState(const FunctionSignature &signature, lw_function entry, ResultPool &pool);

  /// An argument that calls take from the caller, and the result that may get its memory.
  struct Donation {
    uint32_t argument;
    uint32_t result;
    bool isInPlace;
  };

  const FunctionSignature &signature;
  lw_function entry;
  OutputSlots slots;
  std::vector<ValuePlan> argumentPlans;
  std::vector<Donation> donations;
  std::vector<const void *> data;
  std::vector<int64_t> bytes;
  std::vector<const int64_t *> shapes;
};

/// What compiled code sees, and what the callbacks need behind it.
struct CallFrame : lw_call {
  FunctionState *function = nullptr;
  ResultPool *pool = nullptr;
  ThreadPool *threads = nullptr;
  /// Knows the names of functions; null where the program launches nothing.
  const Image *image = nullptr;
  /// The executable's engines, and what this session runs them with.
  std::span<const std::unique_ptr<Engine>> engines;
  std::span<const std::unique_ptr<EngineContext>> engineContexts;
  /// What the session has of their device; null where there are no engines.
  EngineDevice *device = nullptr;
  /// Blocks that compiled code has allocated and not released.
  PooledStorage *temporaries = nullptr;
  std::atomic<int64_t> scratchBytes{0};
  /// Set by the first failure, which then owns `failure`: tasks of a parallel loop may fail at the same time.
  std::atomic<bool> hasFailed{false};
  Status failure;

  /// `make` gives the status, and may run out of memory on the way.
  template <typename Make>
  void fail(Make make) noexcept {
    Status status = withoutExceptions(make);
    if (!hasFailed.exchange(true))
      failure = std::move(status);
  }
};

/// What compiled code calls, with a CallFrame as its `call`.
extern const lw_api callbacks;

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_CALLFRAME_H
