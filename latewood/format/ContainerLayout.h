// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The header of an executable file as bytes, and the check of metadata: what reader and writer share and nobody else
// needs. All numbers are little-endian, as on the only machines that run these files.

#ifndef LATEWOOD_FORMAT_CONTAINERLAYOUT_H
#define LATEWOOD_FORMAT_CONTAINERLAYOUT_H

#include "latewood/format/Container.h"

#include <bit>

namespace latewood::format {

static_assert(std::endian::native == std::endian::little);

/// The first byte is no text, CR LF shows line-end conversion, and 0x1a stops a listing.
inline constexpr uint8_t magic[8] = {0x89, 'L', 'W', 'X', '\r', '\n', 0x1a, '\n'};

struct Header {
  uint8_t magic[8];
  uint32_t formatVersion;
  uint32_t headerSize;
  uint64_t fileSize;
  uint64_t metadataOffset;
  uint64_t metadataSize;
  uint64_t metadataChecksum;
  uint64_t reserved;
  /// Of the 56 bytes before it.
  uint64_t headerChecksum;
};
static_assert(sizeof(Header) == headerSize);

inline bool isPowerOfTwo(uint64_t number) { return std::has_single_bit(number); }
inline uint64_t alignUp(uint64_t offset, uint64_t alignment) { return (offset + alignment - 1) & ~(alignment - 1); }

/// The alignment that a segment of this kind has at least.
uint64_t requiredAlignment(SegmentKind kind);

/// Checks everything in verified FlatBuffer metadata that its schema cannot say. Returns what is wrong, or "".
std::string checkMetadata(const Executable &metadata, uint64_t endOfMetadata, uint64_t fileSize);

} // namespace latewood::format

#endif // LATEWOOD_FORMAT_CONTAINERLAYOUT_H
