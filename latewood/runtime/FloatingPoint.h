// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled code assumes the IEEE default environment; the caller may have another (JAX and PyTorch set flush-to-zero on
// their threads). It is set for the duration of a call, on every thread that runs part of it. Reading the register
// costs little and writing it more, so it is written only when it differs.

#ifndef LATEWOOD_RUNTIME_FLOATINGPOINT_H
#define LATEWOOD_RUNTIME_FLOATINGPOINT_H

#include <xmmintrin.h>

namespace latewood::runtime {

class DefaultFloatingPoint {
public:
  DefaultFloatingPoint() : saved(_mm_getcsr()) {
    // Exception flags are sticky and mean nothing here: only the control bits are compared.
    if ((saved & ~flags) != defaults)
      _mm_setcsr(defaults);
  }
  ~DefaultFloatingPoint() {
    if ((saved & ~flags) != defaults)
      _mm_setcsr(saved);
  }
  DefaultFloatingPoint(const DefaultFloatingPoint &) = delete;
  DefaultFloatingPoint &operator=(const DefaultFloatingPoint &) = delete;

private:
  static constexpr unsigned flags = 0x3f;
  static constexpr unsigned defaults = 0x1f80;
  unsigned saved;
};

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_FLOATINGPOINT_H
