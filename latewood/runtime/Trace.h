// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A recording of what the runtime does, for chrome://tracing and Perfetto: loads, calls, launches, parallel loops with
// the ranges that each thread ran, copies, and memory. There is one recording at a time for the process, because the
// memory and the threads that it shows are the process's.
//
// When it is off, a place that could be recorded costs one test of one flag. When it is on, each thread writes to a
// buffer of its own.
//
//   threads   every function may be called on any thread; what is running when the recording starts or stops is in it
//             from, or until, then

#ifndef LATEWOOD_RUNTIME_TRACE_H
#define LATEWOOD_RUNTIME_TRACE_H

#include "latewood/runtime/Status.h"

namespace latewood::runtime {

class LATEWOOD_API Trace {
public:
  /// Fails if a recording is going on.
  static Status start();
  /// Ends the recording and writes it, as JSON in Chrome's trace event format. Fails if none is going on, or if the
  /// file cannot be written; the recording is over in any case.
  static Status stop(const std::string &path);
  static bool isOn();
};

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_TRACE_H
