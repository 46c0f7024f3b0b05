// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Output slots: where the results of one call go. Every result of a public function passes through its slot, whether
// the caller gave a buffer for it or not, so one piece of compiled code serves both conventions:
//
//   compiled code          caller gave a buffer                        caller gave nothing
//   request(i, n, shape)   the buffer, if it can be written in place   memory from the pool
//                          else memory aside, copied at the end
//   shape(i, extents)      must be the buffer's shape                  becomes the result's shape
//
// A buffer is not written in place when it overlaps an argument (unless the signature says that this pair is safe at
// the same address) or another given buffer, when the shape is not known at the request, or when the request is larger
// than the buffer. All results are complete before any is copied: `f(a, b) = (b, a)` into (a, b) swaps.
//
//   in         arguments and given buffers have passed the entry checks
//   out        `finish` gives every result its value, or `abandon` gives all memory back
//
// Internal. One object for each function of a session, used by one call at a time and by the thread that makes it.

#ifndef LATEWOOD_RUNTIME_OUTPUTSLOTS_H
#define LATEWOOD_RUNTIME_OUTPUTSLOTS_H

#include "latewood/runtime/EntryChecks.h"
#include "latewood/runtime/ResultPool.h"

namespace latewood::runtime {

class OutputSlots {
public:
  OutputSlots(const FunctionSignature &signature, ResultPool &pool);

  const std::vector<ValuePlan> &plans() const { return resultPlans; }

  /// Starts a call. `arguments[i]` is the data of argument i, with `argumentBytes[i]` bytes; `given[i]` is the memref
  /// for result i, or null.
  void begin(const void *const *arguments, const int64_t *argumentBytes, size_t argumentCount,
             std::span<const Ref<Value>> given);

  /// `lw_api::request`. Null: `failure` says why.
  void *request(int64_t result, int64_t bytes, int64_t alignment, const int64_t *shape, Status &failure);
  /// `lw_api::shape`. False: `failure` says why.
  bool setShape(int64_t result, const int64_t *extents, Status &failure);

  /// Ends a call that succeeded: copies what was made aside, and puts allocated results into `results`.
  Status finish(std::span<Ref<Value>> results);
  /// Ends a call that failed.
  void abandon();

private:
  struct Slot {
    MemRefValue *given = nullptr;
    /// What the last request was answered with.
    uint8_t *memory = nullptr;
    /// Memory aside, or of an allocated result.
    PooledStorage *block = nullptr;
    /// The given buffer must not be written before the function has returned.
    bool isStaged = false;
    /// The extents of the result are known: always for static shapes.
    bool hasShape = false;
    /// In `extents`, rank entries.
    size_t firstExtent = 0;
  };

  Status finishSlots(std::span<Ref<Value>> results);
  void markOverlaps(const void *const *arguments, const int64_t *argumentBytes, size_t argumentCount);
  bool overlapsArgument(size_t result, const void *const *arguments, const int64_t *argumentBytes,
                        size_t argumentCount) const;
  bool mayBeSameAddress(size_t argument, size_t result) const;
  int64_t bytesOfResult(size_t result) const;
  Status named(size_t result, Status status) const;

  const FunctionSignature &signature;
  ResultPool &pool;
  std::vector<ValuePlan> resultPlans;
  std::vector<Slot> slots;
  std::vector<int64_t> extents;
  /// Results that the caller gave a buffer for, in this call.
  std::vector<uint32_t> givenResults;
};

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_OUTPUTSLOTS_H
