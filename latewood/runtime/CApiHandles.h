// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the files of the C interface share: handles and the objects behind them, the entry of a function, the structures
// of older headers. A handle is the address of the object, and the reference that the caller owns is the object's own.
// Every function that can fail runs inside `guarded`, which is where exceptions end (there is one kind: no memory) and
// where a Status becomes an object of its own. Internal.

#ifndef LATEWOOD_RUNTIME_CAPIHANDLES_H
#define LATEWOOD_RUNTIME_CAPIHANDLES_H

#include "latewood/runtime/Session.h"
#include "latewood/runtime/latewood.h"

#include <algorithm>
#include <cstring>
#include <new>

struct latewood_status {
  latewood::runtime::Status status;
  /// The message of a Status is a view; C wants its end marked.
  std::string message;
};

namespace latewood::runtime::capi {
template <typename T>
struct HandleOf;
/// Ties the names of a C and a C++ object together.
#define LATEWOOD_HANDLE(Object, handle)                                                                                \
  template <>                                                                                                          \
  struct HandleOf<Object> {                                                                                            \
    using Type = handle;                                                                                               \
  };                                                                                                                   \
  inline handle *wrap(Object *object) { return reinterpret_cast<handle *>(object); }                                   \
  inline Object *unwrap(const handle *object) { return reinterpret_cast<Object *>(const_cast<handle *>(object)); }
LATEWOOD_HANDLE(Client, latewood_client)
LATEWOOD_HANDLE(Executable, latewood_executable)
LATEWOOD_HANDLE(MemRefValue, latewood_buffer)
LATEWOOD_HANDLE(Session, latewood_session)
LATEWOOD_HANDLE(Stream, latewood_stream)
LATEWOOD_HANDLE(Event, latewood_event)
#undef LATEWOOD_HANDLE

inline const latewood_function *wrap(const FunctionSignature *function) {
  return reinterpret_cast<const latewood_function *>(function);
}
inline const FunctionSignature &unwrap(const latewood_function *function) {
  return *reinterpret_cast<const FunctionSignature *>(function);
}

/// What is returned when there is no memory for a status. Never destroyed.
inline latewood_status *noMemoryForStatus() {
  alignas(latewood_status) static char storage[sizeof(latewood_status)];
  return reinterpret_cast<latewood_status *>(storage);
}

inline latewood_status *report(Status status) noexcept {
  if (status.isOk())
    return nullptr;
  try {
    std::string message(status.message());
    return new latewood_status{std::move(status), std::move(message)};
  } catch (...) {
    return noMemoryForStatus();
  }
}

/// Runs the body of an entry point.
template <typename Body>
latewood_status *guarded(Body body) noexcept {
  try {
    return report(body());
  } catch (const std::bad_alloc &) {
    return noMemoryForStatus();
  } catch (const std::exception &error) {
    return report(internalError("an exception: " + std::string(error.what())));
  }
}

/// The reference goes to the caller.
template <typename T>
Status give(StatusOr<Ref<T>> made, typename HandleOf<T>::Type **out) {
  if (!made.isOk())
    return std::move(made).status();
  *out = wrap((*std::move(made)).leak());
  return okStatus();
}

inline Status missing(const char *name) { return invalidArgument(std::string("'") + name + "' must not be NULL"); }

/// The options of the caller: what its header knew of, and defaults for the rest.
template <typename Options>
Status readOptions(const Options *given, Options &options) {
  options = {};
  if (!given)
    return okStatus();
  if (given->struct_size < sizeof(size_t))
    return invalidArgument("options: struct_size is " + std::to_string(given->struct_size) + "; set it to sizeof");
  std::memcpy(&options, given, std::min(given->struct_size, sizeof options));
  return okStatus();
}

/// Fills in a structure of the caller, as much of it as its header knew of.
template <typename Info>
Status writeInfo(Info info, Info *target) {
  if (target->struct_size < sizeof(size_t))
    return invalidArgument("struct_size is " + std::to_string(target->struct_size) + "; set it to sizeof");
  info.struct_size = target->struct_size;
  std::memcpy(target, &info, std::min(target->struct_size, sizeof info));
  return okStatus();
}

inline StatusOr<std::span<const int64_t>> shapeOf(int64_t rank, const int64_t *shape, const char *name) {
  if (rank < 0 || rank > 64)
    return invalidArgument("rank: expected 0 to 64, got " + std::to_string(rank));
  if (rank != 0 && !shape)
    return missing(name);
  return std::span<const int64_t>(shape, static_cast<size_t>(rank));
}

inline ElementType elementType(latewood_element_type type) {
  // A number outside the range of the internal type must not become another number.
  return type >= LATEWOOD_TYPE_i1 && type <= LATEWOOD_TYPE_complex_f64 ? static_cast<ElementType>(type)
                                                                       : ElementType::invalid;
}
} // namespace latewood::runtime::capi

#define LATEWOOD_REQUIRE(name)                                                                                         \
  if (!(name))                                                                                                         \
  return missing(#name)

#endif // LATEWOOD_RUNTIME_CAPIHANDLES_H
