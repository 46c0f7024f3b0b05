// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Texts of statuses.

#include "latewood/runtime/Status.h"

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

Status Status::withContext(std::string_view context) && {
  if (state)
    state->message = std::string(context) + ": " + state->message;
  return std::move(*this);
}

} // namespace latewood::runtime
