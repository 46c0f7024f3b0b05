// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Failures on demand, for tests (CMake option LATEWOOD_FAULT_INJECTION; without it this is nothing). Everything that
// the runtime asks of the system asks `faults::strike()` first, and fails as the system would when it says so: memory,
// files, mappings, protections, threads. A test counts the operations of a scenario, and then lets each of them fail in
// turn. What the C++ library allocates is reached by replacing `operator new` in the test. Internal.

#ifndef LATEWOOD_RUNTIME_FAULTINJECTION_H
#define LATEWOOD_RUNTIME_FAULTINJECTION_H

#include <atomic>
#include <cstdint>

namespace latewood::runtime::faults {

#ifdef LATEWOOD_FAULT_INJECTION

/// Operations since `arm`.
inline std::atomic<int64_t> operations{0};
/// The number of the operation that fails, from 1; 0: none.
inline std::atomic<int64_t> first{0};
/// All after it fail, too.
inline std::atomic<bool> isLasting{false};

inline void arm(int64_t operation, bool lasting) {
  operations.store(0);
  isLasting.store(lasting);
  first.store(operation);
}
inline void disarm() { first.store(0); }

/// True: the operation that is about to be done fails.
inline bool strike() {
  int64_t number = operations.fetch_add(1) + 1, failing = first.load();
  return failing != 0 && (number == failing || (number > failing && isLasting.load()));
}

#else

constexpr bool strike() { return false; }

#endif

} // namespace latewood::runtime::faults

#endif // LATEWOOD_RUNTIME_FAULTINJECTION_H
