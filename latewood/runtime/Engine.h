// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Engines of vendor libraries. An executable may hold serialized engines beside its images; the host program runs them
// by number (`lw_api::enqueue`, `lw_api::enqueue_alloc`). What knows how to run one is an *engine module*: a shared
// library of ours, `liblatewood_<library>.so` beside this runtime, which in turn opens the vendor's library. Both are
// opened when the first session needs them, so that a program without engines needs neither.
//
//   EngineModule    one for each vendor library, for the whole process
//   Engine          a deserialized engine; belongs to an executable, shared by its sessions
//   EngineContext   what one session needs to run an engine: one call at a time
//
// Memory on both sides is the host's, row-major; a module moves it to a device and back. A result's place is asked for
// when its extents are final: the caller's buffer, or memory of exactly that size. Internal to runtime and modules.

#ifndef LATEWOOD_RUNTIME_ENGINE_H
#define LATEWOOD_RUNTIME_ENGINE_H

#include "latewood/runtime/ElementType.h"
#include "latewood/runtime/Status.h"

#include <memory>
#include <span>
#include <string>

namespace latewood::runtime {

/// A tensor that an engine reads.
struct EngineInput {
  const void *data;
  const int64_t *extents; // as many as the engine's input has dimensions
};

/// Where the results of one run go.
class EngineResults {
public:
  /// Memory for result `index`, whose extents are final: `bytes` bytes, aligned to an element. Called once for each
  /// result, in order. Null: there is none, and the run ends; why is known to the implementation.
  virtual void *place(size_t index, std::span<const int64_t> extents, int64_t bytes) = 0;

protected:
  ~EngineResults() = default;
};

class EngineContext {
public:
  virtual ~EngineContext() = default;
  /// Runs the engine; when it returns, all results are where they were placed. After a failure the context can run
  /// again.
  virtual Status run(std::span<const EngineInput> inputs, EngineResults &results) = 0;
};

class Engine {
public:
  virtual ~Engine() = default;
  virtual StatusOr<std::unique_ptr<EngineContext>> createContext() = 0;
  virtual size_t inputCount() const = 0;
  virtual size_t resultCount() const = 0;
};

class EngineModule {
public:
  virtual ~EngineModule() = default;
  /// Makes an engine of its serialized form, which may be dropped afterwards. `name` is for messages.
  virtual StatusOr<std::unique_ptr<Engine>> load(std::span<const uint8_t> serialized, const std::string &name) = 0;

  /// The module for engines of `library` ("tensorrt"), opened at the first call. Thread-safe.
  static StatusOr<EngineModule *> open(const std::string &library);
};

/// Changes with the classes above: a module and a runtime of different versions refuse each other.
inline constexpr uint32_t engineModuleVersion = 1;

/// What a module exports, as `latewood_engine_module`. `make` gives the process's only module, or fails with what is
/// missing and how to install it.
struct EngineModuleEntry {
  uint32_t version;
  StatusOr<EngineModule *> (*make)();
};

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_ENGINE_H
