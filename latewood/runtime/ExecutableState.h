// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an executable is inside: the bytes and who keeps them, the metadata in the API's terms, and the code. Internal.

#ifndef LATEWOOD_RUNTIME_EXECUTABLESTATE_H
#define LATEWOOD_RUNTIME_EXECUTABLESTATE_H

#include "latewood/format/Container.h"
#include "latewood/format/abi.h"
#include "latewood/runtime/Engine.h"
#include "latewood/runtime/Executable.h"
#include "latewood/runtime/ImageLoader.h"
#include "latewood/runtime/LuaHost.h"

namespace latewood::runtime {

/// The bytes of a file, 64-byte aligned, and what happens to them at the end.
class FileBytes {
public:
  FileBytes() = default;
  FileBytes(FileBytes &&other) noexcept { *this = std::move(other); }
  FileBytes &operator=(FileBytes &&other) noexcept {
    std::swap(bytes, other.bytes);
    std::swap(release, other.release);
    std::swap(fileDescriptor, other.fileDescriptor);
    return *this;
  }
  ~FileBytes();

  static StatusOr<FileBytes> map(const std::string &path);
  static StatusOr<FileBytes> copy(std::span<const uint8_t> bytes);
  static FileBytes borrow(std::span<const uint8_t> bytes, std::function<void()> release);

  /// The descriptor is only needed while images are loaded.
  void closeDescriptor();

  std::span<const uint8_t> bytes;
  int fileDescriptor = -1;

private:
  std::function<void()> release;
};

struct Executable::State {
  FileBytes bytes;
  format::Container container;
  std::string name, producer, options;
  std::vector<FunctionSignature> functions;
  std::vector<Segment> segments;
  std::vector<Image> images;
  std::vector<Constant> constants;
  int32_t loadedImage = -1;

  /// False when the file was opened for inspection only.
  bool isLoaded = false;
  std::unique_ptr<runtime::Image> image;
  /// In the order of their numbers.
  std::vector<std::unique_ptr<Engine>> engines;
  /// The host program, where it is Lua source.
  std::unique_ptr<LuaProgram> luaProgram;
  /// The code of function i; null where the host program is Lua source.
  std::vector<lw_function> entries;
  /// `lw_call::constants`.
  std::vector<const void *> constantData;

  Status readMetadata();
  Status loadCode();
  Status loadEngines();
  Status loadLua();
};

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_EXECUTABLESTATE_H
