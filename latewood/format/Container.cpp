// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opening an executable: from the outside in. Each step uses only what the steps before it have established: the header
// lies in the file and is intact; the metadata lie in the file and are intact; the FlatBuffer in them is well formed;
// its contents are consistent with themselves and with the file; then the segments are what they were when written.

#include "latewood/format/Container.h"

#include "latewood/format/ContainerLayout.h"
#include "latewood/format/ElementTypes.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <unordered_set>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace latewood::format {

uint64_t checksum(Bytes bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

uint64_t requiredAlignment(SegmentKind kind) { return kind == SegmentKind::image ? imageAlignment : constantAlignment; }

namespace {
std::string decimal(uint64_t number) { return std::to_string(number); }

std::string hexadecimal(uint64_t number) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%016llx", static_cast<unsigned long long>(number));
  return text;
}

template <typename T>
size_t count(const flatbuffers::Vector<T> *list) {
  return list ? list->size() : 0;
}

std::string_view text(const flatbuffers::String *string) {
  return string ? std::string_view(string->c_str(), string->size()) : std::string_view();
}

std::string quoted(const flatbuffers::String *string) { return "'" + std::string(text(string)) + "'"; }

using Shape = flatbuffers::Vector<int64_t>;

/// Bytes of a value with this element type and shape; false if that is more than an int64_t can count. Dynamic extents
/// count as 1: this bounds the static part.
bool sizeInBytes(const ElementTypeInfo &type, const Shape *shape, uint64_t &elements, uint64_t &bytes) {
  constexpr uint64_t limit = INT64_MAX;
  bytes = static_cast<uint64_t>(type.bytes);
  elements = 1;
  bool empty = false;
  for (size_t i = 0; i < count(shape); ++i) {
    int64_t extent = shape->Get(static_cast<flatbuffers::uoffset_t>(i));
    if (extent == 0)
      empty = true;
    if (extent <= 1)
      continue;
    if (bytes > limit / static_cast<uint64_t>(extent))
      return false;
    bytes *= static_cast<uint64_t>(extent);
    elements *= static_cast<uint64_t>(extent);
  }
  if (empty)
    bytes = elements = 0;
  return true;
}

/// Collects the checks of one file's metadata; the first problem wins.
class MetadataCheck {
public:
  MetadataCheck(const Executable &metadata, uint64_t endOfMetadata, uint64_t fileSize)
      : metadata(metadata), endOfMetadata(endOfMetadata), fileSize(fileSize) {}

  std::string run() {
    // Before any of them is read.
    checkAlignment();
    if (!problem.empty())
      return problem;
    checkSegments();
    checkConstants();
    checkImages();
    checkEngines();
    checkFunctions();
    if (metadata.host() < HostBackend::MIN || metadata.host() > HostBackend::MAX)
      fail("host backend " + decimal(static_cast<uint8_t>(metadata.host())) + " is unknown");
    if (metadata.host_source() != -1)
      checkSegmentIndex("the host source", static_cast<uint32_t>(metadata.host_source()), SegmentKind::host_source);
    else if (metadata.host() == HostBackend::lua)
      fail("the host backend is lua, but there is no host source");
    return problem;
  }

private:
  /// FlatBuffers' verifier looks at where a list begins, which is a number of four bytes; its elements may need more.
  void checkAlignment() {
    auto check = [&](const Shape *list) {
      if (list && reinterpret_cast<uintptr_t>(list->Data()) % alignof(int64_t) != 0)
        fail("a list of numbers is not aligned");
    };
    for (uint32_t i = 0; i < count(metadata.constants()); ++i)
      check(metadata.constants()->Get(i)->shape());
    for (uint32_t f = 0; f < count(metadata.functions()); ++f)
      for (const auto *values : {metadata.functions()->Get(f)->arguments(), metadata.functions()->Get(f)->results()})
        for (uint32_t i = 0; i < count(values); ++i) {
          const Value &value = *values->Get(i);
          check(value.shape());
          for (const Bounds *bounds : {value.bounds(), value.value_bounds()})
            if (bounds)
              for (const Shape *list : {bounds->min(), bounds->opt(), bounds->max()})
                check(list);
        }
  }

  void fail(std::string message) {
    if (problem.empty())
      problem = std::move(message);
  }

  void checkSegments() {
    uint64_t end = endOfMetadata;
    for (uint32_t i = 0; i < count(metadata.segments()); ++i) {
      const Segment &segment = *metadata.segments()->Get(i);
      std::string name = "segment " + decimal(i);
      if (segment.kind() > SegmentKind::MAX)
        return fail(name + ": kind " + decimal(static_cast<uint8_t>(segment.kind())) + " is unknown");
      uint64_t least = requiredAlignment(segment.kind());
      if (!isPowerOfTwo(segment.alignment()) || segment.alignment() < least || segment.alignment() > (1u << 21))
        return fail(name + ": expected an alignment that is a power of two from " + decimal(least) +
                    " to 2097152, got " + decimal(segment.alignment()));
      if (segment.offset() % segment.alignment() != 0)
        return fail(name + ": offset " + decimal(segment.offset()) + " is not a multiple of its alignment " +
                    decimal(segment.alignment()));
      if (segment.offset() < end)
        return fail(name + ": starts at " + decimal(segment.offset()) + ", before the end of the part before it at " +
                    decimal(end));
      if (segment.offset() > fileSize || segment.size() > fileSize - segment.offset())
        return fail(name + ": " + decimal(segment.size()) + " bytes at offset " + decimal(segment.offset()) +
                    " end after the file of " + decimal(fileSize) + " bytes");
      end = segment.offset() + segment.size();
    }
    if (end != fileSize)
      fail("the last segment ends at " + decimal(end) + ", but the file has " + decimal(fileSize) + " bytes");
  }

  bool checkSegmentIndex(const std::string &name, uint32_t index, SegmentKind kind) {
    if (index >= count(metadata.segments())) {
      fail(name + ": segment " + decimal(index) + " of " + decimal(count(metadata.segments())) + " does not exist");
      return false;
    }
    SegmentKind found = metadata.segments()->Get(index)->kind();
    if (found != kind)
      fail(name + ": expected a segment of kind " + EnumNameSegmentKind(kind) + ", but segment " + decimal(index) +
           " is of kind " + EnumNameSegmentKind(found));
    return found == kind;
  }

  void checkConstants() {
    for (uint32_t i = 0; i < count(metadata.constants()); ++i) {
      const Constant &constant = *metadata.constants()->Get(i);
      std::string name = "constant " + decimal(i);
      if (constant.image() < -1 || constant.image() >= static_cast<int64_t>(count(metadata.images())))
        fail(name + ": image " + std::to_string(constant.image()) + " does not exist");
      const ElementTypeInfo *type = elementTypeInfo(constant.element_type());
      if (!type)
        return fail(name + ": element type " + decimal(static_cast<uint8_t>(constant.element_type())) + " is unknown");
      for (size_t d = 0; d < count(constant.shape()); ++d)
        if (int64_t extent = constant.shape()->Get(static_cast<uint32_t>(d)); extent < 0)
          return fail(name + ": extent " + std::to_string(extent) + " of dimension " + decimal(d));
      if (!checkSegmentIndex(name, constant.segment(), SegmentKind::constant))
        return;
      uint64_t elements = 0, bytes = 0, size = metadata.segments()->Get(constant.segment())->size();
      if (!sizeInBytes(*type, constant.shape(), elements, bytes))
        return fail(name + ": has more bytes than can be counted");
      // Sub-byte elements may lie in the file bit-packed: the code that reads them knows.
      bool isPacked = type->bits < 8 && size == (elements * static_cast<uint64_t>(type->bits) + 7) / 8;
      if (size != bytes && !isPacked)
        return fail(name + ": element type " + std::string(type->name) + " and shape need " + decimal(bytes) +
                    " bytes, but segment " + decimal(constant.segment()) + " has " + decimal(size));
    }
  }

  void checkImages() {
    for (uint32_t i = 0; i < count(metadata.images()); ++i)
      checkSegmentIndex("image " + decimal(i), metadata.images()->Get(i)->segment(), SegmentKind::image);
    if (metadata.host() == HostBackend::native && count(metadata.functions()) != 0 && count(metadata.images()) == 0)
      fail("the host backend is native and there are functions, but there is no image");
  }

  void checkEngines() {
    for (uint32_t i = 0; i < count(metadata.engines()); ++i)
      checkSegmentIndex("engine " + decimal(i), metadata.engines()->Get(i)->segment(), SegmentKind::engine);
  }

  void checkValue(const std::string &name, const Value &value) {
    const ElementTypeInfo *type = elementTypeInfo(value.element_type());
    if (!type)
      return fail(name + ": element type " + decimal(static_cast<uint8_t>(value.element_type())) + " is unknown");
    if (value.memory_space() > MemorySpace::MAX)
      return fail(name + ": memory space " + decimal(static_cast<uint8_t>(value.memory_space())) + " is unknown");
    size_t rank = count(value.shape());
    for (size_t d = 0; d < rank; ++d)
      if (int64_t extent = value.shape()->Get(static_cast<uint32_t>(d)); extent < dynamicExtent)
        return fail(name + ": extent " + std::to_string(extent) + " of dimension " + decimal(d));
    uint64_t elements = 0, bytes = 0;
    if (!sizeInBytes(*type, value.shape(), elements, bytes))
      return fail(name + ": has more bytes than can be counted");
    if (const Bounds *bounds = value.bounds())
      checkBounds(name, "dimension", count(value.shape()), 0, *bounds);
    if (const Bounds *bounds = value.value_bounds())
      checkBounds(name, "element", elements, INT64_MIN, *bounds);
  }

  void checkBounds(const std::string &name, const std::string &what, size_t number, int64_t least,
                   const Bounds &bounds) {
    for (const Shape *list : {bounds.min(), bounds.opt(), bounds.max()})
      if (list && list->size() != number)
        return fail(name + ": expected bounds for " + decimal(number) + " " + what + "s, got " + decimal(list->size()));
    for (uint32_t d = 0; d < number; ++d) {
      int64_t low = bounds.min() ? bounds.min()->Get(d) : least;
      int64_t high = bounds.max() ? bounds.max()->Get(d) : INT64_MAX;
      int64_t middle = bounds.opt() ? bounds.opt()->Get(d) : low;
      if (low < least || low > middle || middle > high)
        return fail(name + ": bounds " + std::to_string(low) + ", " + std::to_string(middle) + ", " +
                    std::to_string(high) + " of " + what + " " + decimal(d) + " are not in ascending order");
    }
  }

  void checkFunctions() {
    std::unordered_set<std::string_view> names;
    if (auto *functions = metadata.functions())
      for (const Function *function : *functions)
        if (!names.insert(text(function->name())).second)
          fail("function " + quoted(function->name()) + " is defined twice");
    for (uint32_t f = 0; f < count(metadata.functions()); ++f) {
      const Function &function = *metadata.functions()->Get(f);
      std::string name = "function " + quoted(function.name());
      for (uint32_t i = 0; i < count(function.arguments()); ++i)
        checkValue(name + ", argument " + decimal(i), *function.arguments()->Get(i));
      for (uint32_t i = 0; i < count(function.results()); ++i)
        checkValue(name + ", result " + decimal(i), *function.results()->Get(i));
      if (function.workspace_bytes() > INT64_MAX)
        fail(name + ": a workspace of " + decimal(function.workspace_bytes()) + " bytes");
      std::string_view shapeFunction = text(function.shape_function());
      if (!shapeFunction.empty() && !names.contains(shapeFunction))
        fail(name + ": shape function '" + std::string(shapeFunction) + "' does not exist");
      for (uint32_t i = 0; i < count(function.aliases()); ++i) {
        const Alias &alias = *function.aliases()->Get(i);
        if (alias.kind() > AliasKind::MAX)
          fail(name + ", alias " + decimal(i) + ": kind " + decimal(static_cast<uint8_t>(alias.kind())) +
               " is unknown");
        if (alias.argument() >= count(function.arguments()) || alias.result() >= count(function.results()))
          fail(name + ", alias " + decimal(i) + ": argument " + decimal(alias.argument()) + " or result " +
               decimal(alias.result()) + " does not exist");
      }
    }
  }

  const Executable &metadata;
  uint64_t endOfMetadata;
  uint64_t fileSize;
  std::string problem;
};

bool isZero(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0; });
}
} // namespace

std::string checkMetadata(const Executable &metadata, uint64_t endOfMetadata, uint64_t fileSize) {
  return MetadataCheck(metadata, endOfMetadata, fileSize).run();
}

ReadError Container::open(Bytes file, Verify verify, Container &container, std::string &message) {
  auto refuse = [&](ReadError error, std::string why) {
    message = std::move(why);
    return error;
  };

  Header header;
  size_t present = std::min(file.size(), sizeof magic);
  if (present == 0 || std::memcmp(file.data(), magic, present) != 0)
    return refuse(ReadError::notAnExecutable,
                  file.empty() ? "not a Latewood executable: the file is empty"
                               : "not a Latewood executable: expected the file to begin with the bytes 89 4c 57 58 "
                                 "0d 0a 1a 0a");
  if (file.size() < sizeof header)
    return refuse(ReadError::truncated, "the file is truncated: expected a header of " + decimal(sizeof header) +
                                            " bytes, got a file of " + decimal(file.size()) + " bytes");
  if (reinterpret_cast<uintptr_t>(file.data()) % constantAlignment != 0)
    return refuse(ReadError::corrupt, "the bytes of an executable must be 64-byte aligned in memory");
  std::memcpy(&header, file.data(), sizeof header);
  if (header.formatVersion != formatVersion)
    return refuse(ReadError::otherVersion, "expected format version " + decimal(formatVersion) +
                                               ", but the file has version " + decimal(header.formatVersion));
  uint64_t found = checksum(file.first(offsetof(Header, headerChecksum)));
  if (found != header.headerChecksum)
    return refuse(ReadError::corrupt, "the header is corrupt: expected checksum " + hexadecimal(header.headerChecksum) +
                                          ", got " + hexadecimal(found));
  if (header.fileSize != file.size())
    return refuse(
        ReadError::truncated,
        std::string(file.size() < header.fileSize ? "the file is truncated" : "the file has bytes after its end") +
            ": expected " + decimal(header.fileSize) + " bytes, got " + decimal(file.size()));
  if (header.headerSize != headerSize || header.metadataOffset != headerSize || header.reserved != 0 ||
      header.metadataSize > file.size() - headerSize)
    return refuse(ReadError::corrupt, "the header is inconsistent: " + decimal(header.metadataSize) +
                                          " bytes of metadata at offset " + decimal(header.metadataOffset) +
                                          " in a file of " + decimal(file.size()) + " bytes");

  Bytes packed = file.subspan(headerSize, header.metadataSize);
  found = checksum(packed);
  if (found != header.metadataChecksum)
    return refuse(ReadError::corrupt, "the metadata are corrupt: expected checksum " +
                                          hexadecimal(header.metadataChecksum) + ", got " + hexadecimal(found));
  flatbuffers::Verifier verifier(packed.data(), packed.size());
  if (packed.size() < 16 || !VerifyExecutableBuffer(verifier))
    return refuse(ReadError::corrupt, "the metadata are not a valid FlatBuffer of type latewood.format.Executable");
  const Executable &metadata = *GetExecutable(packed.data());
  if (std::string problem = checkMetadata(metadata, headerSize + packed.size(), file.size()); !problem.empty())
    return refuse(ReadError::corrupt, "the metadata are inconsistent: " + problem);

  uint64_t end = headerSize + packed.size();
  for (uint32_t i = 0; i < count(metadata.segments()); ++i) {
    const Segment &segment = *metadata.segments()->Get(i);
    bool isCode = segment.kind() != SegmentKind::constant && segment.kind() != SegmentKind::debug;
    if (isCode || verify == Verify::full) {
      found = checksum(file.subspan(segment.offset(), segment.size()));
      if (found != segment.checksum())
        return refuse(ReadError::corrupt, "segment " + decimal(i) + " (" + EnumNameSegmentKind(segment.kind()) +
                                              (text(segment.name()).empty() ? "" : " " + quoted(segment.name())) +
                                              ") is corrupt: expected checksum " + hexadecimal(segment.checksum()) +
                                              ", got " + hexadecimal(found));
    }
    if (verify == Verify::full && !isZero(file.subspan(end, segment.offset() - end)))
      return refuse(ReadError::corrupt, "the bytes between offset " + decimal(end) + " and segment " + decimal(i) +
                                            " are corrupt: expected zeros");
    end = segment.offset() + segment.size();
  }

  container.file_ = file;
  container.metadata_ = &metadata;
  return ReadError::none;
}

Bytes Container::segment(uint32_t index) const {
  const Segment &segment = *metadata_->segments()->Get(index);
  return file_.subspan(segment.offset(), segment.size());
}

} // namespace latewood::format
