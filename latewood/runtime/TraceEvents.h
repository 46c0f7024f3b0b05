// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the runtime's own code puts events into a recording (Trace.h). A Span is a stretch of time on one thread, an
// instant a point, a counter a number that has changed. Nothing here fails: an event that there is no memory for is
// counted as dropped. Internal, to the runtime and its engine modules.

#ifndef LATEWOOD_RUNTIME_TRACEEVENTS_H
#define LATEWOOD_RUNTIME_TRACEEVENTS_H

#include "latewood/runtime/Export.h"

#include <atomic>
#include <cstdint>
#include <string_view>

namespace latewood::runtime::trace {

extern LATEWOOD_API std::atomic<bool> isRecording;
inline bool isOn() { return __builtin_expect(isRecording.load(std::memory_order_relaxed), false); }

/// A number that is shown with an event; its name is a literal. Without a name there is none.
struct Number {
  const char *name = nullptr;
  int64_t value = 0;
};

/// Nanoseconds of a steady clock.
LATEWOOD_API int64_t now() noexcept;

/// The names are copied, the category is a literal. `code`, where not null, is an address whose name (see nameCode) is
/// put in the place of `name`.
LATEWOOD_API void recordSpan(const char *category, std::string_view name, const void *code, int64_t begin, Number first,
                             Number second) noexcept;
LATEWOOD_API void recordInstant(const char *category, std::string_view name, Number first, Number second) noexcept;
void recordCounter(std::string_view name, Number value) noexcept;

/// False: `code` has a name already.
bool needsName(const void *code) noexcept;
void nameCode(const void *code, std::string_view name) noexcept;

/// Records its own lifetime, if the recording is on when it begins.
class Span {
public:
  Span(const char *category, std::string_view name, Number first = {}, Number second = {})
      : Span(category, name, nullptr, first, second) {}
  Span(const char *category, std::string_view name, const void *code, Number first, Number second) {
    if (!isOn())
      return;
    this->category = category;
    this->name = name;
    this->code = code;
    this->first = first;
    this->second = second;
    begin = now();
  }
  ~Span() {
    if (__builtin_expect(category != nullptr, false))
      recordSpan(category, name, code, begin, first, second);
  }
  Span(const Span &) = delete;
  Span &operator=(const Span &) = delete;

private:
  /// Null: not recorded. The rest is set only when it is not.
  const char *category = nullptr;
  std::string_view name;
  const void *code;
  int64_t begin;
  Number first, second;
};

inline void instant(const char *category, std::string_view name, Number first = {}, Number second = {}) {
  if (isOn())
    recordInstant(category, name, first, second);
}
inline void counter(std::string_view name, Number value) {
  if (isOn())
    recordCounter(name, value);
}

} // namespace latewood::runtime::trace

#endif // LATEWOOD_RUNTIME_TRACEEVENTS_H
