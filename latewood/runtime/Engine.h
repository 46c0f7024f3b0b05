// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Engines of vendor libraries. An executable may hold serialized engines beside its images; the host program runs them
// by number (`lw_api::enqueue`, `lw_api::enqueue_alloc`). What knows how to run one is an *engine module*: a shared
// library of ours, `liblatewood_<library>.so` beside this runtime, which in turn opens the vendor's library. Both are
// opened when the first session needs them, so that a program without engines needs neither.
//
//   EngineModule    one for each vendor library, for the whole process
//   Engine          a deserialized engine; belongs to an executable, shared by its sessions
//   EngineDevice    what one session has of the device: the order of its work, and memory that engines pass on there
//   EngineContext   what one session needs to run an engine: one call at a time
//
// Memory is the host's, row-major, and a module moves it to the device and back; except for what the host program has
// allocated on the device, which is known by its address and is used as it is. A result's place on the host is asked
// for when its extents are final: the caller's buffer, or memory of exactly that size. Internal to runtime and modules.

#ifndef LATEWOOD_RUNTIME_ENGINE_H
#define LATEWOOD_RUNTIME_ENGINE_H

#include "latewood/runtime/ElementType.h"
#include "latewood/runtime/Statistics.h"
#include "latewood/runtime/Status.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace latewood::runtime {

/// A tensor that an engine reads.
struct EngineInput {
  const void *data;       // on the host, or of EngineDevice::allocate
  const int64_t *extents; // as many as the engine's input has dimensions
};

/// Where the results of one run go.
class EngineResults {
public:
  /// Memory on the host for result `index`, whose extents are final: `bytes` bytes, aligned to an element. Called once
  /// for each result that does not stay on the device, in order. Null: there is none, and the run ends; why is known to
  /// the implementation.
  virtual void *place(size_t index, std::span<const int64_t> extents, int64_t bytes) = 0;

  /// Whether result `index` stays on the device.
  virtual bool staysOnDevice(size_t index) const = 0;
  /// Where it is wanted there; null: the engine chooses, and allocates with EngineDevice.
  virtual void *deviceMemory(size_t index) const = 0;
  /// It is at `memory`, of the device, with these extents. False: the run ends, as for `place`.
  virtual bool keep(size_t index, std::span<const int64_t> extents, void *memory) = 0;

protected:
  ~EngineResults() = default;
};

/// Used by one thread at a time, as its session is.
class EngineDevice {
public:
  virtual ~EngineDevice() = default;
  /// Memory of the device, for engines of this session to read and write.
  virtual StatusOr<void *> allocate(int64_t bytes) = 0;
  /// False: it is not memory of `allocate`. What engines still do with it may go on.
  virtual bool release(const void *memory) noexcept = 0;
  /// Releases what is left: a call has ended.
  virtual void releaseAll() noexcept = 0;
  virtual bool owns(const void *memory) const noexcept = 0;
  virtual EngineCounters counters() const noexcept = 0;
};

class EngineContext {
public:
  virtual ~EngineContext() = default;
  /// Runs the engine; when it returns, all results are where they were placed, inputs on the host have been read, and
  /// what stays on the device is there for engines that run later. After a failure the context can run again.
  virtual Status run(std::span<const EngineInput> inputs, EngineResults &results) = 0;
};

class EngineModule;

class Engine {
public:
  virtual ~Engine() = default;
  /// `device` is of the same module, and outlives the context.
  virtual StatusOr<std::unique_ptr<EngineContext>> createContext(EngineDevice &device) = 0;
  virtual EngineModule &module() = 0;
  virtual std::string_view name() const = 0;
  virtual size_t inputCount() const = 0;
  virtual size_t resultCount() const = 0;
};

class EngineModule {
public:
  virtual ~EngineModule() = default;
  /// Makes an engine of its serialized form, which may be dropped afterwards. `name` is for messages, and so is
  /// `version`, of the library that made it, as far as it is known. Thread-safe.
  virtual StatusOr<std::unique_ptr<Engine>> load(std::span<const uint8_t> serialized, const std::string &name,
                                                 const std::string &version) = 0;
  virtual StatusOr<std::unique_ptr<EngineDevice>> createDevice() = 0;

  /// The module for engines of `library` ("tensorrt"), opened at the first call. Thread-safe.
  static StatusOr<EngineModule *> open(const std::string &library);
};

/// Changes with the classes above: a module and a runtime of different versions refuse each other.
inline constexpr uint32_t engineModuleVersion = 2;

/// What a module exports, as `latewood_engine_module`. `make` gives the process's only module, or fails with what is
/// missing and how to install it.
struct EngineModuleEntry {
  uint32_t version;
  StatusOr<EngineModule *> (*make)();
};

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_ENGINE_H
