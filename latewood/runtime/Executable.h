// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An executable: a file of compiled functions, verified, with its code ready to run. The best of its images that this
// machine can run is chosen and loaded at once; constants stay where they are in the file's memory.
//
//   identity   the object; loading a file twice gives two executables that share the file's pages
//   ownership  reference-counted; sessions hold it. It owns its mapping of the file: the file may be deleted or
//   replaced
//              by renaming while it is in use, but must not be changed in place (the kernel would deliver SIGBUS)
//   threads    immutable: shared freely, in any number of sessions
//   trust      an executable is code. What is checked is that it is intact and fits this machine, not what it does

#ifndef LATEWOOD_RUNTIME_EXECUTABLE_H
#define LATEWOOD_RUNTIME_EXECUTABLE_H

#include "latewood/runtime/Ref.h"
#include "latewood/runtime/Signature.h"
#include "latewood/runtime/Status.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace latewood::runtime {

struct LoadOptions {
  /// Verify the checksums of constants, too, which reads the whole file.
  bool verifyFully = false;
  /// Open the file to look at it: no code is loaded, so that a file for another machine opens, too. Sessions refuse it.
  bool inspectOnly = false;
};

class LATEWOOD_API Executable final : public RefCounted {
public:
  /// Maps a file.
  static StatusOr<Ref<Executable>> load(const std::string &path, const LoadOptions &options = {});
  /// Opens a file in memory, from a copy.
  static StatusOr<Ref<Executable>> fromBytes(std::span<const uint8_t> bytes, const LoadOptions &options = {});
  /// Opens a file in memory, in place where it is 64-byte aligned (else from a copy). `release` is called once, when
  /// the bytes are no longer needed, also on failure.
  static StatusOr<Ref<Executable>> fromBytes(std::span<const uint8_t> bytes, std::function<void()> release,
                                             const LoadOptions &options = {});

  /// One of the raw parts of the file.
  struct Segment {
    std::string name;
    /// "constant", "image", "host_source", "engine", "debug".
    std::string kind;
    std::span<const uint8_t> bytes;
    int64_t alignment = 0;
    uint64_t offset = 0;
  };
  struct Image {
    std::string triple, cpu;
    std::vector<std::string> features;
    uint32_t segment = 0;
    /// Features that this machine lacks; empty: it can run the image.
    std::vector<std::string> missingFeatures;
  };
  struct Constant {
    std::string name;
    MemRefType type;
    uint32_t segment = 0;
  };

  const std::string &name() const;
  const std::string &producer() const;
  /// The canonical options that it was compiled with.
  const std::string &options() const;
  const std::vector<FunctionSignature> &functions() const;
  /// Null if there is no such function.
  const FunctionSignature *findFunction(std::string_view name) const;
  /// An error that lists the functions that there are.
  StatusOr<const FunctionSignature *> getFunction(std::string_view name) const;
  const std::vector<Segment> &segments() const;
  const std::vector<Image> &images() const;
  const std::vector<Constant> &constants() const;
  /// Index of the image whose code is loaded; -1 if none is.
  int32_t loadedImage() const;
  /// The bytes of the file.
  std::span<const uint8_t> file() const;
  /// For a person: signatures, images, constants, segments, provenance.
  std::string describe() const;

  struct State;
  /// For sessions.
  const State &internals() const { return *state; }

private:
  Executable();
  ~Executable() override;
  std::unique_ptr<State> state;
};

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_EXECUTABLE_H
