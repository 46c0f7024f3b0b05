// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The records of the zip format, read with a check of every offset and size, and written.

#include "latewood/tools/Zip.h"

#include <algorithm>
#include <zlib.h>

using namespace latewood::runtime;

namespace latewood::tools {

namespace {
constexpr uint32_t localHeader = 0x04034b50, directoryHeader = 0x02014b50, endRecord = 0x06054b50;
constexpr uint32_t endRecord64 = 0x06064b50, endLocator64 = 0x07064b50;
constexpr uint32_t elsewhere32 = 0xffffffff;
constexpr uint16_t elsewhere16 = 0xffff, zip64Field = 1;
constexpr uint16_t stored = 0, deflated = 8;

Status malformed(const std::string &why) { return dataCorruption("not a valid .npz archive: " + why); }

/// Little-endian numbers at checked offsets. Out of range reads set `isOutside` and give 0.
class Reader {
public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes(bytes) {}

  bool has(uint64_t offset, uint64_t size) const { return offset <= bytes.size() && size <= bytes.size() - offset; }
  uint64_t number(uint64_t offset, int width) {
    if (!has(offset, static_cast<uint64_t>(width))) {
      isOutside = true;
      return 0;
    }
    uint64_t value = 0;
    for (int i = width - 1; i >= 0; --i)
      value = value << 8 | bytes[offset + static_cast<uint64_t>(i)];
    return value;
  }
  uint16_t u16(uint64_t offset) { return static_cast<uint16_t>(number(offset, 2)); }
  uint32_t u32(uint64_t offset) { return static_cast<uint32_t>(number(offset, 4)); }
  uint64_t u64(uint64_t offset) { return number(offset, 8); }

  std::span<const uint8_t> bytes;
  bool isOutside = false;
};

void append(std::string &text, uint64_t number, int width) {
  for (int i = 0; i < width; ++i)
    text += static_cast<char>(number >> (8 * i));
}

/// zlib counts in 32 bits.
uint32_t crcOf(std::span<const uint8_t> bytes, uint32_t crc = 0) {
  for (size_t done = 0; done < bytes.size();) {
    size_t part = std::min<size_t>(bytes.size() - done, 1u << 30);
    crc = static_cast<uint32_t>(crc32(crc, bytes.data() + done, static_cast<uInt>(part)));
    done += part;
  }
  return crc;
}

bool inflateAll(std::span<const uint8_t> packed, std::span<uint8_t> out) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return false;
  size_t in = 0, filled = 0;
  int code = Z_OK;
  while (code == Z_OK) {
    size_t inPart = std::min<size_t>(packed.size() - in, 1u << 30),
           outPart = std::min<size_t>(out.size() - filled, 1u << 30);
    stream.next_in = const_cast<Bytef *>(packed.data() + in);
    stream.avail_in = static_cast<uInt>(inPart);
    // zlib wants a place to write to even when there is nothing left to write.
    Bytef nothing;
    stream.next_out = outPart ? out.data() + filled : &nothing;
    stream.avail_out = static_cast<uInt>(outPart);
    code = inflate(&stream, Z_NO_FLUSH);
    in += inPart - stream.avail_in;
    filled += outPart - stream.avail_out;
  }
  inflateEnd(&stream);
  return code == Z_STREAM_END && filled == out.size();
}
} // namespace

StatusOr<std::vector<ZipEntry>> readZip(std::span<const uint8_t> bytes) {
  Reader reader(bytes);
  // The end record is 22 bytes and a comment of at most 65535.
  constexpr uint64_t endSize = 22;
  if (bytes.size() < endSize)
    return malformed("it has only " + std::to_string(bytes.size()) + " bytes");
  uint64_t end = bytes.size() - endSize;
  uint64_t lowest = end > 0xffff ? end - 0xffff : 0;
  while (reader.u32(end) != endRecord) {
    if (end == lowest)
      return malformed("it has no end record; is it truncated?");
    --end;
  }
  uint64_t count = reader.u16(end + 10), directory = reader.u32(end + 16);
  if (count == elsewhere16 || directory == elsewhere32) {
    if (end < 20 || reader.u32(end - 20) != endLocator64)
      return malformed("its zip64 end locator is missing");
    uint64_t end64 = reader.u64(end - 12);
    if (reader.u32(end64) != endRecord64)
      return malformed("its zip64 end record is missing");
    count = reader.u64(end64 + 32);
    directory = reader.u64(end64 + 48);
  }

  std::vector<ZipEntry> entries;
  uint64_t position = directory;
  for (uint64_t i = 0; i < count; ++i) {
    if (reader.u32(position) != directoryHeader || reader.isOutside)
      return malformed("entry " + std::to_string(i) + " of its directory is missing");
    ZipEntry entry;
    entry.method = reader.u16(position + 10);
    entry.crc = reader.u32(position + 16);
    entry.packedSize = reader.u32(position + 20);
    entry.size = reader.u32(position + 24);
    entry.headerOffset = reader.u32(position + 42);
    uint64_t nameSize = reader.u16(position + 28), extraSize = reader.u16(position + 30);
    uint64_t commentSize = reader.u16(position + 32);
    bool isEncrypted = reader.u16(position + 8) & 1;
    uint64_t name = position + 46, extra = name + nameSize;
    if (reader.isOutside || !reader.has(name, nameSize + extraSize + commentSize))
      return malformed("entry " + std::to_string(i) + " of its directory is truncated");
    entry.name.assign(reinterpret_cast<const char *>(bytes.data()) + name, nameSize);
    if (isEncrypted)
      return unimplemented("entry '" + entry.name + "' is encrypted");
    for (uint64_t field = extra; field + 4 <= extra + extraSize;) {
      uint64_t size = reader.u16(field + 2), at = field + 4;
      if (reader.u16(field) == zip64Field)
        for (uint64_t *number : {&entry.size, &entry.packedSize, &entry.headerOffset})
          if (*number == elsewhere32 && at + 8 <= field + 4 + size) {
            *number = reader.u64(at);
            at += 8;
          }
      field += 4 + size;
    }
    entries.push_back(std::move(entry));
    position = extra + extraSize + commentSize;
  }
  if (reader.isOutside)
    return malformed("its directory does not lie in it");
  return entries;
}

Status openZipEntry(std::span<const uint8_t> bytes, const ZipEntry &entry, std::vector<uint8_t> &inflated,
                    std::span<const uint8_t> &contents) {
  Reader reader(bytes);
  auto fail = [&](const std::string &why) { return malformed("entry '" + entry.name + "' " + why); };
  if (reader.u32(entry.headerOffset) != localHeader || reader.isOutside)
    return fail("has no header");
  uint64_t data = entry.headerOffset + 30 + reader.u16(entry.headerOffset + 26) + reader.u16(entry.headerOffset + 28);
  if (reader.isOutside || !reader.has(data, entry.packedSize))
    return fail("does not lie in the archive");
  std::span<const uint8_t> packed = bytes.subspan(data, entry.packedSize);
  if (entry.method == stored) {
    if (entry.size != entry.packedSize)
      return fail("is stored with two different sizes");
    contents = packed;
  } else if (entry.method == deflated) {
    // Deflate shrinks to 1/1032 at best: a larger claim is a lie that must not become an allocation.
    if (entry.size / 1040 > entry.packedSize + 1)
      return fail("claims an impossible size");
    inflated.resize(entry.size);
    if (!inflateAll(packed, inflated))
      return fail("cannot be inflated");
    contents = inflated;
  } else {
    return unimplemented("entry '" + entry.name + "' is compressed with method " + std::to_string(entry.method));
  }
  if (crcOf(contents) != entry.crc)
    return fail("is corrupt: its checksum is wrong");
  return okStatus();
}

void ZipWriter::put(std::span<const uint8_t> bytes) {
  sink(bytes);
  position += bytes.size();
}

void ZipWriter::put(const std::string &bytes) {
  put(std::span<const uint8_t>(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
}

// Every entry carries 64-bit sizes, as NumPy writes them: one form for all sizes.
void ZipWriter::add(const std::string &name, std::span<const std::span<const uint8_t>> parts) {
  ZipEntry entry;
  entry.name = name;
  entry.headerOffset = position;
  for (std::span<const uint8_t> part : parts) {
    entry.crc = crcOf(part, entry.crc);
    entry.size += part.size();
  }
  entry.packedSize = entry.size;
  std::string header;
  append(header, localHeader, 4);
  append(header, 45, 2); // version needed
  append(header, 0, 2);  // flags
  append(header, stored, 2);
  append(header, 0, 2);      // time
  append(header, 0x0021, 2); // 1980-01-01: archives of equal results are equal
  append(header, entry.crc, 4);
  append(header, elsewhere32, 4);
  append(header, elsewhere32, 4);
  append(header, name.size(), 2);
  append(header, 20, 2);
  header += name;
  append(header, zip64Field, 2);
  append(header, 16, 2);
  append(header, entry.size, 8);
  append(header, entry.packedSize, 8);
  put(header);
  for (std::span<const uint8_t> part : parts)
    put(part);
  entries.push_back(std::move(entry));
}

void ZipWriter::finish() {
  uint64_t directory = position;
  for (const ZipEntry &entry : entries) {
    std::string header;
    append(header, directoryHeader, 4);
    append(header, 45, 2);
    append(header, 45, 2);
    append(header, 0, 2);
    append(header, stored, 2);
    append(header, 0, 2);
    append(header, 0x0021, 2);
    append(header, entry.crc, 4);
    append(header, elsewhere32, 4);
    append(header, elsewhere32, 4);
    append(header, entry.name.size(), 2);
    append(header, 28, 2);
    append(header, 0, 2); // comment
    append(header, 0, 2); // volume
    append(header, 0, 2); // attributes
    append(header, 0, 4);
    append(header, elsewhere32, 4);
    header += entry.name;
    append(header, zip64Field, 2);
    append(header, 24, 2);
    append(header, entry.size, 8);
    append(header, entry.packedSize, 8);
    append(header, entry.headerOffset, 8);
    put(header);
  }
  uint64_t directorySize = position - directory, end64 = position;
  std::string end;
  append(end, endRecord64, 4);
  append(end, 44, 8);
  append(end, 45, 2);
  append(end, 45, 2);
  append(end, 0, 4);
  append(end, 0, 4);
  append(end, entries.size(), 8);
  append(end, entries.size(), 8);
  append(end, directorySize, 8);
  append(end, directory, 8);
  append(end, endLocator64, 4);
  append(end, 0, 4);
  append(end, end64, 8);
  append(end, 1, 4);
  append(end, endRecord, 4);
  append(end, 0, 2);
  append(end, 0, 2);
  append(end, std::min<uint64_t>(entries.size(), elsewhere16), 2);
  append(end, std::min<uint64_t>(entries.size(), elsewhere16), 2);
  append(end, std::min<uint64_t>(directorySize, elsewhere32), 4);
  append(end, elsewhere32, 4);
  append(end, 0, 2);
  put(end);
}

} // namespace latewood::tools
