// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where exceptions end. The runtime throws none itself; the C++ library does when there is no memory, and every entry
// point turns that into a status. Internal.

#ifndef LATEWOOD_RUNTIME_EXCEPTIONS_H
#define LATEWOOD_RUNTIME_EXCEPTIONS_H

#include "latewood/runtime/Status.h"

#include <exception>
#include <type_traits>

namespace latewood::runtime {

/// Gives what `body` gives, a Status or a StatusOr; without memory, that failure.
template <typename Body>
auto withoutExceptions(Body &&body) noexcept -> std::invoke_result_t<Body> {
  try {
    return body();
  } catch (...) {
    return Status::noMemory();
  }
}

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_EXCEPTIONS_H
