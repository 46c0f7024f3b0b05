// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing an executable. Offsets depend on the size of the metadata, which contain the offsets; so all fields are
// stored whatever their value (ForceDefaults), the size then depends on nothing that is filled in later, and packing
// twice gives the same size.

#include "latewood/format/ContainerLayout.h"

#include <cstring>

namespace latewood::format {

namespace {
void pack(const ExecutableT &metadata, flatbuffers::FlatBufferBuilder &builder) {
  builder.Clear();
  builder.ForceDefaults(true);
  FinishExecutableBuffer(builder, Executable::Pack(builder, &metadata));
}
} // namespace

std::string write(const ExecutableT &metadata, std::span<const SegmentInput> segments, const Sink &sink) {
  ExecutableT complete = metadata;
  complete.segments.clear();
  for (size_t i = 0; i < segments.size(); ++i) {
    const SegmentInput &input = segments[i];
    auto segment = std::make_unique<SegmentT>();
    segment->kind = input.kind;
    segment->name = input.name;
    segment->size = input.data.size();
    segment->alignment = input.alignment ? input.alignment : requiredAlignment(input.kind);
    if (!isPowerOfTwo(segment->alignment))
      return "segment " + std::to_string(i) + ": alignment " + std::to_string(segment->alignment) +
             " is not a power of two";
    segment->checksum = checksum(input.data);
    complete.segments.push_back(std::move(segment));
  }

  flatbuffers::FlatBufferBuilder builder;
  pack(complete, builder);
  const uint64_t metadataSize = builder.GetSize();
  uint64_t offset = headerSize + metadataSize;
  for (auto &segment : complete.segments) {
    offset = alignUp(offset, segment->alignment);
    segment->offset = offset;
    offset += segment->size;
  }
  pack(complete, builder);
  Bytes packed(builder.GetBufferPointer(), builder.GetSize());
  if (packed.size() != metadataSize)
    return "internal error: the size of the metadata depends on the offsets in it";

  flatbuffers::Verifier verifier(packed.data(), packed.size());
  if (!VerifyExecutableBuffer(verifier))
    return "the metadata are not a valid FlatBuffer: a string or list that the schema requires is missing";
  if (std::string problem = checkMetadata(*GetExecutable(packed.data()), headerSize + metadataSize, offset);
      !problem.empty())
    return problem;

  Header header{};
  std::memcpy(header.magic, magic, sizeof magic);
  header.formatVersion = formatVersion;
  header.headerSize = headerSize;
  header.fileSize = offset;
  header.metadataOffset = headerSize;
  header.metadataSize = metadataSize;
  header.metadataChecksum = checksum(packed);
  auto headerBytes = reinterpret_cast<const uint8_t *>(&header);
  header.headerChecksum = checksum({headerBytes, offsetof(Header, headerChecksum)});

  sink({headerBytes, sizeof header});
  sink(packed);
  uint64_t position = headerSize + metadataSize;
  static constexpr uint8_t zeros[imageAlignment] = {};
  for (size_t i = 0; i < segments.size(); ++i) {
    for (uint64_t gap = complete.segments[i]->offset - position; gap != 0;) {
      uint64_t part = std::min<uint64_t>(gap, sizeof zeros);
      sink({zeros, static_cast<size_t>(part)});
      gap -= part;
    }
    if (!segments[i].data.empty())
      sink(segments[i].data);
    position = complete.segments[i]->offset + complete.segments[i]->size;
  }
  return {};
}

std::string write(const ExecutableT &metadata, std::span<const SegmentInput> segments, std::vector<uint8_t> &bytes) {
  bytes.clear();
  return write(metadata, segments, [&](Bytes part) { bytes.insert(bytes.end(), part.begin(), part.end()); });
}

} // namespace latewood::format
