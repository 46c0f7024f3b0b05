// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds up the time of calls, for a price that a call of a hundred nanoseconds does not feel: in ticks of the
// processor's time stamp counter, which runs evenly on every processor that this code runs on, and which are turned
// into nanoseconds only when somebody asks, by what the counter and the system's clock did since the object was made.
// Internal; used under the session's lock.

#ifndef LATEWOOD_RUNTIME_CALLCLOCK_H
#define LATEWOOD_RUNTIME_CALLCLOCK_H

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <x86intrin.h>

namespace latewood::runtime {

class CallClock {
public:
  static uint64_t now() { return __rdtsc(); }

  /// Counts the time since `begin`, which `now` gave on this thread or another.
  void add(uint64_t begin) {
    uint64_t end = now(), ticks = end > begin ? end - begin : 0;
    totalTicks += ticks;
    longestTicks = std::max(longestTicks, ticks);
  }

  uint64_t total() const { return nanoseconds(totalTicks); }
  uint64_t longest() const { return nanoseconds(longestTicks); }

private:
  using Clock = std::chrono::steady_clock;

  uint64_t nanoseconds(uint64_t ticks) const {
    double passedTicks = static_cast<double>(now() - firstTick);
    double passed = std::chrono::duration<double, std::nano>(Clock::now() - firstTime).count();
    return static_cast<uint64_t>(static_cast<double>(ticks) * passed / std::max(passedTicks, 1.0));
  }

  uint64_t totalTicks = 0, longestTicks = 0;
  uint64_t firstTick = now();
  Clock::time_point firstTime = Clock::now();
};

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_CALLCLOCK_H
