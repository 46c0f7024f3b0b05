// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the runtime allocated, so that "this call allocates nothing beyond its results" is a number and not a claim.
// Two views: by purpose, as calls ask for memory (a session's statistics), and by origin, as the system is asked for it
// (both). In a loop of equal calls the first keep counting and the second stand still: that is the pool at work.

#ifndef LATEWOOD_RUNTIME_STATISTICS_H
#define LATEWOOD_RUNTIME_STATISTICS_H

#include <cstdint>

namespace latewood::runtime {

/// Memory asked for with one purpose, in bytes as asked for.
struct AllocationCounter {
  uint64_t count = 0;
  uint64_t bytes = 0;
  int64_t liveBytes = 0;
  int64_t peakBytes = 0;
};

/// Memory that came from the system and goes back to it.
struct SystemCounter {
  uint64_t allocations = 0;
  uint64_t releases = 0;
  int64_t liveBytes = 0;
  int64_t peakBytes = 0;
};

/// What engines of vendor libraries did in a session.
struct EngineCounters {
  uint64_t runs = 0;
  /// Copies to their device and back, in number and in bytes. What one engine gives another stays there.
  uint64_t uploads = 0, uploadedBytes = 0;
  uint64_t downloads = 0, downloadedBytes = 0;
  /// Memory of the device that the session holds: inputs, results, and what passes between engines.
  int64_t liveBytes = 0;
  int64_t peakBytes = 0;
};

struct SessionStatistics {
  /// Calls that succeeded, and calls that failed.
  uint64_t calls = 0;
  uint64_t failedCalls = 0;
  /// Time inside of calls: of all, and of the longest. What calls wait for before they begin (their arguments, another
  /// call of the session) is not in it.
  uint64_t callNanoseconds = 0;
  uint64_t longestCallNanoseconds = 0;
  /// Bytes of the arguments and of the results of calls that succeeded.
  uint64_t argumentBytes = 0;
  uint64_t resultBytes = 0;
  /// Results that the runtime allocated.
  AllocationCounter results;
  /// Memory that compiled code asked for during a call (`lw_api::allocate`).
  AllocationCounter temporaries;
  /// Stand-ins for a caller's buffer that could not be written in place: each is a copy as well.
  AllocationCounter staging;
  /// The planned memory of the functions called so far: one block, kept.
  int64_t workspaceBytes = 0;
  /// Largest scratch memory that a parallel loop asked for, for each thread.
  int64_t scratchBytesPerThread = 0;
  /// What the session took from the system for all of the above, scratch excepted; its peak is the memory that the
  /// session needed.
  SystemCounter system;
  /// Of these, released results waiting to be used again.
  int64_t cachedBytes = 0;
  EngineCounters engines;
};

struct ClientStatistics {
  /// Memory of buffers that were created through the client, of its sessions, and of executables read into memory.
  SystemCounter system;
};

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_STATISTICS_H
