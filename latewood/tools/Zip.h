// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As much of the zip format as .npz files use: entries stored or deflated, sizes beyond 4 GiB (zip64), no encryption,
// one volume. Reading goes by the central directory, since local headers may have been written before sizes were known;
// writing stores, because results are read back soon and rarely compress.

#ifndef LATEWOOD_TOOLS_ZIP_H
#define LATEWOOD_TOOLS_ZIP_H

#include "latewood/runtime/Status.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace latewood::tools {

struct ZipEntry {
  std::string name;
  uint16_t method = 0;
  uint32_t crc = 0;
  uint64_t packedSize = 0, size = 0;
  uint64_t headerOffset = 0;
};

/// The entries of the archive in `bytes`, in the directory's order.
runtime::StatusOr<std::vector<ZipEntry>> readZip(std::span<const uint8_t> bytes);

/// The contents of an entry, checked against its CRC: in place where they are stored, else inflated into `inflated`.
runtime::Status openZipEntry(std::span<const uint8_t> bytes, const ZipEntry &entry, std::vector<uint8_t> &inflated,
                             std::span<const uint8_t> &contents);

/// Writes an archive, front to back.
class ZipWriter {
public:
  using Sink = std::function<void(std::span<const uint8_t>)>;
  explicit ZipWriter(Sink sink) : sink(std::move(sink)) {}

  /// Adds an entry whose contents are these parts, one after another.
  void add(const std::string &name, std::span<const std::span<const uint8_t>> parts);
  void finish();

private:
  void put(const std::string &bytes);
  void put(std::span<const uint8_t> bytes);

  Sink sink;
  uint64_t position = 0;
  std::vector<ZipEntry> entries;
};

} // namespace latewood::tools

#endif // LATEWOOD_TOOLS_ZIP_H
