// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the runtime reports failure. Every function that can fail returns a Status, or a StatusOr that holds the value;
// no exception leaves the library. A status that is ok is a null pointer: making, moving and testing one costs nothing,
// which a call of a compiled function counts on.
//
// A message says which thing was wrong, what was expected, and what was found. `withContext` puts the outer thing in
// front
// ("function 'main', argument 0: …").
//
// A status never throws: without memory for a message, what is reported is that there is no memory.

#ifndef LATEWOOD_RUNTIME_STATUS_H
#define LATEWOOD_RUNTIME_STATUS_H

#include "latewood/runtime/Export.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace latewood::runtime {

/// The numbers are part of the ABI of compiled code (`lw_api::fail`) and of the C API: they are only appended to.
enum class StatusCode : int32_t {
  ok = 0,
  /// The caller gave something that the callee cannot take.
  invalidArgument = 1,
  /// A file, function, or library that does not exist.
  notFound = 2,
  /// The system gave no memory.
  outOfMemory = 3,
  /// Valid, but this build or this machine cannot do it.
  unimplemented = 4,
  /// A file whose contents are not what they were when written.
  dataCorruption = 5,
  /// Valid, but not in this state: a donated buffer, for example.
  failedPrecondition = 6,
  /// The machine lacks something: a CPU feature, a device, a vendor library.
  unavailable = 7,
  /// A fault of ours.
  internal = 8,
};

/// "InvalidArgument", "NotFound", …
LATEWOOD_API std::string_view statusCodeName(StatusCode code);

class [[nodiscard]] Status {
public:
  /// Success.
  Status() = default;
  LATEWOOD_API Status(StatusCode code, std::string message) noexcept;
  /// The failure that needs no memory itself.
  LATEWOOD_API static Status noMemory() noexcept;

  Status(Status &&) = default;
  Status &operator=(Status &&) = default;
  Status(const Status &other) noexcept : state(other.state ? copyOf(*other.state) : nullptr) {}
  Status &operator=(const Status &other) noexcept { return *this = Status(other); }

  bool isOk() const { return !state; }
  explicit operator bool() const = delete;
  StatusCode code() const { return state ? state->code : StatusCode::ok; }
  /// Without the code. Empty on success.
  std::string_view message() const { return state ? std::string_view(state->message) : std::string_view(); }
  /// "InvalidArgument: function 'main': …", or "OK".
  LATEWOOD_API std::string str() const;
  /// The same failure with "context: " in front of its message; success stays success.
  LATEWOOD_API Status withContext(std::string_view context) && noexcept;

private:
  struct State {
    StatusCode code;
    std::string message;
  };
  struct Deleter {
    LATEWOOD_API void operator()(State *state) const noexcept;
  };
  using Pointer = std::unique_ptr<State, Deleter>;
  static State *noMemoryState() noexcept;
  LATEWOOD_API static Pointer copyOf(const State &state) noexcept;

  Pointer state;
};

inline Status okStatus() { return {}; }
inline Status invalidArgument(std::string message) { return {StatusCode::invalidArgument, std::move(message)}; }
inline Status notFound(std::string message) { return {StatusCode::notFound, std::move(message)}; }
inline Status outOfMemory(std::string message) { return {StatusCode::outOfMemory, std::move(message)}; }
inline Status unimplemented(std::string message) { return {StatusCode::unimplemented, std::move(message)}; }
inline Status dataCorruption(std::string message) { return {StatusCode::dataCorruption, std::move(message)}; }
inline Status failedPrecondition(std::string message) { return {StatusCode::failedPrecondition, std::move(message)}; }
inline Status unavailable(std::string message) { return {StatusCode::unavailable, std::move(message)}; }
inline Status internalError(std::string message) { return {StatusCode::internal, std::move(message)}; }

/// A value, or why there is none.
template <typename T>
class [[nodiscard]] StatusOr {
public:
  StatusOr(T value) : value(std::move(value)) {}
  /// `status` must be a failure; a success here is a fault of the caller and becomes an internal error.
  StatusOr(Status status) : failure(status.isOk() ? internalError("a success without a value") : std::move(status)) {}

  bool isOk() const { return value.has_value(); }
  const Status &status() const & { return failure; }
  Status status() && { return std::move(failure); }

  /// Only when isOk().
  T &operator*() & { return *value; }
  const T &operator*() const & { return *value; }
  T &&operator*() && { return std::move(*value); }
  T *operator->() { return &*value; }
  const T *operator->() const { return &*value; }

private:
  std::optional<T> value;
  Status failure;
};

} // namespace latewood::runtime

#define LATEWOOD_CONCATENATE_(a, b) a##b
#define LATEWOOD_CONCATENATE(a, b) LATEWOOD_CONCATENATE_(a, b)

/// Returns from the enclosing function if the status is a failure.
#define LATEWOOD_RETURN_IF_ERROR(...)                                                                                  \
  do {                                                                                                                 \
    if (::latewood::runtime::Status status_ = (__VA_ARGS__); !status_.isOk())                                          \
      return status_;                                                                                                  \
  } while (false)

/// Declares or assigns `target` from a StatusOr, or returns its failure from the enclosing function.
#define LATEWOOD_ASSIGN_OR_RETURN(target, ...)                                                                         \
  auto LATEWOOD_CONCATENATE(statusOr_, __LINE__) = (__VA_ARGS__);                                                      \
  if (!LATEWOOD_CONCATENATE(statusOr_, __LINE__).isOk())                                                               \
    return std::move(LATEWOOD_CONCATENATE(statusOr_, __LINE__)).status();                                              \
  target = *std::move(LATEWOOD_CONCATENATE(statusOr_, __LINE__))

#endif // LATEWOOD_RUNTIME_STATUS_H
