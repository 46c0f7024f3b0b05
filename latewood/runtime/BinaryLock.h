// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lock for what is nearly always free: taking and leaving it are one atomic exchange and one store; only a thread
// that finds it taken goes to the system to wait. Internal.

#ifndef LATEWOOD_RUNTIME_BINARYLOCK_H
#define LATEWOOD_RUNTIME_BINARYLOCK_H

#include <atomic>
#include <cstdint>

namespace latewood::runtime {

class BinaryLock {
public:
  void lock() {
    while (isTaken.exchange(1, std::memory_order_acquire) != 0)
      isTaken.wait(1, std::memory_order_relaxed);
  }
  void unlock() {
    isTaken.store(0, std::memory_order_release);
    isTaken.notify_one();
  }

private:
  std::atomic<int32_t> isTaken{0};
};

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_BINARYLOCK_H
