// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads images: ELF shared objects that import nothing. dlopen is not used: given a file descriptor's name again it
// returns the object that had the name before, and it would resolve symbols against the process. Here an image is a
// mapping of its own, found by nobody else, and gone with its object.
//
// In: the bytes of the image, and optionally the open file and the offset where they lie, so that code pages are mapped
// from the file and shared between processes. Out: the segments mapped with their protections, never both writable and
// executable, relocated against themselves. Refused: anything that refers to something outside (undefined symbols,
// needed libraries), runs code at load (constructors), or has per-thread or mutable process-wide state; every offset
// and size is checked, so that no bytes whatever make the loader read or write outside the image.

#ifndef LATEWOOD_RUNTIME_IMAGELOADER_H
#define LATEWOOD_RUNTIME_IMAGELOADER_H

#include "latewood/runtime/Status.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace latewood::runtime {

class Image {
public:
  /// `fileDescriptor` -1: no file. Else the image lies in it at `fileOffset`, a multiple of the page size; it is not
  /// kept.
  static StatusOr<std::unique_ptr<Image>> load(std::span<const uint8_t> bytes, int fileDescriptor = -1,
                                               uint64_t fileOffset = 0);
  ~Image();
  Image(const Image &) = delete;
  Image &operator=(const Image &) = delete;

  /// Address of an exported function; null if there is none.
  void *find(const std::string &symbol) const;

  /// The function that begins at this address, if the image says its names; else "". The bytes that the image was
  /// loaded from must still be there. For traces: it looks through all symbols.
  std::string_view nameOf(const void *code) const;

  /// For debuggers: where vaddr 0 of the image lies, and how much is mapped.
  uint8_t *base() const { return start; }
  size_t sizeInBytes() const { return size; }

private:
  friend class ImageReader;
  Image() = default;

  uint8_t *start = nullptr;
  size_t size = 0;
  std::span<const uint8_t> bytes;
  std::unordered_map<std::string, void *> exports;
};

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_IMAGELOADER_H
