// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The container of an executable file (extension .lwx).
//
//     offset 0    header, 64 bytes: magic, version, sizes, checksums
//     offset 64   metadata: the FlatBuffer `Executable` of executable.fbs
//     then        segments, in the order of `Executable.segments`, each at a multiple of its alignment;
//                 every byte between two parts is zero
//
// Constants are 64-byte aligned and images page-aligned, so that a reader maps the file and uses both in place.
//
// The writer is deterministic: equal input gives equal bytes. The reader trusts nothing: after `Container::open` has
// succeeded every offset, index, enumerator and shape in the metadata is in range, and every string and list that
// the schema requires is there, so that nobody checks again. What is *not* checked is what the code does: an executable
// is trusted code.
//
// Checksums: header, metadata, and every segment that holds code or decides how code runs (images, host sources,
// engines) at each open; constants, debug segments and the zero bytes between parts only on `Verify::full`, since that
// reads the whole file. With `Verify::full` any corruption of any byte is found.

#ifndef LATEWOOD_FORMAT_CONTAINER_H
#define LATEWOOD_FORMAT_CONTAINER_H

#include "latewood/format/executable_generated.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace latewood::format {

inline constexpr uint32_t formatVersion = 1;
inline constexpr uint64_t headerSize = 64;
inline constexpr uint64_t constantAlignment = 64;
inline constexpr uint64_t imageAlignment = 4096;
inline constexpr int64_t dynamicExtent = -1;

using Bytes = std::span<const uint8_t>;

//===--- Writing -------------------------------------------------------------------------------------------------===//

/// One segment to write. `data` is only referenced, and must live until the write has returned.
struct SegmentInput {
  SegmentKind kind = SegmentKind::constant;
  std::string name;
  Bytes data;
  /// A power of two; 0 takes the kind's own: 64 bytes, or a page for images.
  uint64_t alignment = 0;
};

/// Where the bytes of a file go, in order.
using Sink = std::function<void(Bytes)>;

/// Writes the executable that `metadata` describes. `metadata.segments` is ignored: the writer fills it from `segments`
/// with offsets and checksums, and the indices in `metadata` refer to `segments`. Returns an empty string, or why these
/// metadata cannot be written (the checks of the reader: what is written can be opened), and then nothing was written.
[[nodiscard]] std::string write(const ExecutableT &metadata, std::span<const SegmentInput> segments, const Sink &sink);

/// The same, into memory.
[[nodiscard]] std::string write(const ExecutableT &metadata, std::span<const SegmentInput> segments,
                                std::vector<uint8_t> &bytes);

/// Convenience for a segment that holds text.
inline Bytes asBytes(std::string_view text) { return {reinterpret_cast<const uint8_t *>(text.data()), text.size()}; }

//===--- Reading -------------------------------------------------------------------------------------------------===//

enum class Verify : uint8_t {
  /// Header, metadata, bounds, and checksums of everything but constants.
  code,
  /// Every byte of the file.
  full,
};

/// Why a file was refused.
enum class ReadError : uint8_t {
  none,
  /// Does not begin as an executable file.
  notAnExecutable,
  /// Made for another version of the format.
  otherVersion,
  /// Shorter or longer than its header says.
  truncated,
  /// A checksum or a check of the contents failed.
  corrupt,
};

/// A verified view of the bytes of an executable file. Does not own them: whoever opens it keeps them alive, unchanged,
/// and 64-byte aligned (checked), for as long as the container and anything taken from it is used.
class Container {
public:
  /// Verifies and opens `file`. On failure returns the kind of error, puts into `message` what was expected and what
  /// was found, and leaves `container` unchanged.
  [[nodiscard]] static ReadError open(Bytes file, Verify verify, Container &container, std::string &message);

  Container() = default;

  /// Valid after a successful `open`.
  const Executable &metadata() const { return *metadata_; }
  Bytes file() const { return file_; }
  /// The bytes of a segment of the metadata.
  Bytes segment(uint32_t index) const;

private:
  Bytes file_;
  const Executable *metadata_ = nullptr;
};

/// The checksum of segments and metadata: XXH3, 64 bits.
uint64_t checksum(Bytes bytes);

} // namespace latewood::format

#endif // LATEWOOD_FORMAT_CONTAINER_H
