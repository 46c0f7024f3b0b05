// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Texts of statuses.

#include "latewood/runtime/Status.h"

#include <new>

namespace latewood::runtime {

std::string_view statusCodeName(StatusCode code) {
  switch (code) {
  case StatusCode::ok:
    return "OK";
  case StatusCode::invalidArgument:
    return "InvalidArgument";
  case StatusCode::notFound:
    return "NotFound";
  case StatusCode::outOfMemory:
    return "OutOfMemory";
  case StatusCode::unimplemented:
    return "Unimplemented";
  case StatusCode::dataCorruption:
    return "DataCorruption";
  case StatusCode::failedPrecondition:
    return "FailedPrecondition";
  case StatusCode::unavailable:
    return "Unavailable";
  case StatusCode::internal:
    return "InternalError";
  }
  return "Unknown";
}

std::string Status::str() const {
  if (isOk())
    return "OK";
  return std::string(statusCodeName(code())) + ": " + state->message;
}

//===--- Without memory ------------------------------------------------------------------------------------------===//

Status::State *Status::noMemoryState() noexcept {
  // Never destroyed: there may be statuses after static objects. The text is short enough to lie in the string itself.
  alignas(State) static char storage[sizeof(State)];
  static auto *state = new (storage) State{StatusCode::outOfMemory, "no memory"};
  return state;
}

void Status::Deleter::operator()(State *state) const noexcept {
  if (state != noMemoryState())
    delete state;
}

Status Status::noMemory() noexcept {
  Status status;
  status.state = Pointer(noMemoryState());
  return status;
}

Status::Status(StatusCode code, std::string message) noexcept {
  if (code == StatusCode::ok)
    return;
  try {
    state = Pointer(new State{code, std::move(message)});
  } catch (...) {
    state = Pointer(noMemoryState());
  }
}

Status::Pointer Status::copyOf(const State &state) noexcept {
  if (&state == noMemoryState())
    return Pointer(noMemoryState());
  try {
    return Pointer(new State(state));
  } catch (...) {
    return Pointer(noMemoryState());
  }
}

Status Status::withContext(std::string_view context) && noexcept {
  if (!state)
    return {};
  try {
    return Status(state->code, std::string(context) + ": " + state->message);
  } catch (...) {
    return std::move(*this);
  }
}

} // namespace latewood::runtime
