// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and writing of .npy and .npz; what the header of an array may be is checked before its bytes are looked at.

#include "latewood/tools/Npy.h"
#include "latewood/runtime/OutputFile.h"

#include "latewood/tools/Zip.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

using namespace latewood::runtime;

namespace latewood::tools {

namespace {
constexpr uint8_t npyMagic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
constexpr uint64_t npyAlignment = 64;

constexpr struct {
  const char *descr;
  ElementType type;
} numpyTypes[] = {
    {"|b1", ElementType::i1},          {"|i1", ElementType::i8},           {"<i2", ElementType::i16},
    {"<i4", ElementType::i32},         {"<i8", ElementType::i64},          {"|u1", ElementType::ui8},
    {"<u2", ElementType::ui16},        {"<u4", ElementType::ui32},         {"<u8", ElementType::ui64},
    {"<f2", ElementType::f16},         {"<f4", ElementType::f32},          {"<f8", ElementType::f64},
    {"<c8", ElementType::complex_f32}, {"<c16", ElementType::complex_f64},
};

Status malformed(const std::string &why) { return dataCorruption("not a valid .npy file: " + why); }

/// Reads the header's text, a Python dictionary with three known keys.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}

  std::string descr;
  bool isFortran = false;
  std::vector<int64_t> shape;

  Status run() {
    bool hasDescr = false, hasOrder = false, hasShape = false;
    if (!take('{'))
      return malformed("expected a header that is a dictionary");
    while (!take('}')) {
      std::string key;
      if (!string(key) || !take(':'))
        return malformed("expected a key in the header at character " + std::to_string(position));
      bool isValid = false;
      if (key == "descr")
        isValid = hasDescr = string(descr);
      else if (key == "fortran_order")
        isValid = hasOrder = boolean();
      else if (key == "shape")
        isValid = hasShape = tuple();
      if (!isValid)
        return malformed("the header's entry '" + key + "' cannot be understood" +
                         (key == "descr" ? " (structured types are not possible)" : ""));
      take(',');
    }
    return hasDescr && hasOrder && hasShape ? okStatus()
                                            : malformed("expected descr, fortran_order and shape in the header");
  }

private:
  void skipBlanks() {
    while (position < text.size() && (text[position] == ' ' || text[position] == '\n'))
      ++position;
  }
  bool take(char wanted) {
    skipBlanks();
    if (position >= text.size() || text[position] != wanted)
      return false;
    ++position;
    return true;
  }
  bool string(std::string &value) {
    skipBlanks();
    if (position >= text.size() || (text[position] != '\'' && text[position] != '"'))
      return false;
    size_t end = text.find(text[position], position + 1);
    if (end == std::string_view::npos)
      return false;
    value = text.substr(position + 1, end - position - 1);
    position = end + 1;
    return true;
  }
  bool boolean() {
    skipBlanks();
    for (std::string_view word : {"True", "False"})
      if (text.substr(position).starts_with(word)) {
        isFortran = word == "True";
        position += word.size();
        return true;
      }
    return false;
  }
  bool tuple() {
    shape.clear();
    if (!take('('))
      return false;
    while (!take(')')) {
      skipBlanks();
      int64_t extent = 0;
      auto [end, error] = std::from_chars(text.data() + position, text.data() + text.size(), extent);
      if (error != std::errc() || extent < 0)
        return false;
      position = static_cast<size_t>(end - text.data());
      shape.push_back(extent);
      take(',');
    }
    return true;
  }

  std::string_view text;
  size_t position = 0;
};

/// NumPy's type, or unsigned integers for raw bytes ("V2").
Status typeOf(const std::string &descr, ElementType &type, bool &isOpaque) {
  isOpaque = false;
  for (const auto &entry : numpyTypes)
    // A byte order means nothing for single bytes, and '=' is ours.
    if (descr.size() >= 2 && descr.substr(1) == entry.descr + 1 &&
        (descr[0] == entry.descr[0] || descr[0] == '=' || entry.descr[0] == '|')) {
      type = entry.type;
      return okStatus();
    }
  if (descr.size() == 3 && descr[0] != '>' && descr[1] == 'V' && (descr[2] == '1' || descr[2] == '2')) {
    isOpaque = true;
    type = descr[2] == '1' ? ElementType::ui8 : ElementType::ui16;
    return okStatus();
  }
  if (descr.starts_with('>'))
    return unimplemented("arrays in big-endian byte order ('" + descr + "') are not supported");
  return unimplemented("there is no element type for NumPy's '" + descr + "'");
}

/// Types that NumPy has no name for; their bits travel as raw bytes or unsigned integers.
bool isForeignToNumpy(ElementType type) {
  return std::none_of(std::begin(numpyTypes), std::end(numpyTypes), [&](auto &entry) { return entry.type == type; });
}

std::string npyHeader(const MemRefValue &value) {
  std::string descr = bytesOf(value.elementType()) == 2 ? "<V2" : "|V1";
  for (const auto &entry : numpyTypes)
    if (entry.type == value.elementType())
      descr = entry.descr;
  std::string text = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (int64_t extent : value.shape())
    text += std::to_string(extent) + ",";
  text += "), }";
  // Magic, version and length take 10 bytes; the header ends with a newline at a multiple of the alignment.
  size_t length = text.size() + 1;
  length += (npyAlignment - (length + 10) % npyAlignment) % npyAlignment;
  text.resize(length - 1, ' ');
  text += '\n';
  std::string header(reinterpret_cast<const char *>(npyMagic), sizeof npyMagic);
  header += '\x01';
  header += '\0';
  header += static_cast<char>(length & 0xff);
  header += static_cast<char>(length >> 8);
  return header + text;
}

/// The value as a canonical memref that the writer can take bytes from.
StatusOr<Ref<MemRefValue>> writable(const NamedValue &named) {
  if (ScalarValue *scalar = asScalar(named.value.get())) {
    // The storage is the scalar itself, kept alive by the release function.
    Ref<Value> keep = named.value;
    return MemRefValue::create(Storage::view(const_cast<void *>(scalar->data()), bytesOf(scalar->elementType()),
                                             MemorySpace::host, true, [keep] {}),
                               0, scalar->elementType(), {});
  }
  MemRefValue *memref = asMemRef(named.value.get());
  if (!memref)
    return invalidArgument("there is no value for '" + named.name + "'");
  if (!memref->hasCanonicalStrides())
    return invalidArgument("the value for '" + named.name + "' is not contiguous");
  return Ref<MemRefValue>::share(memref);
}

std::span<const uint8_t> asBytes(const std::string &text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

std::span<const uint8_t> asBytes(const MemRefValue &value) {
  return {static_cast<const uint8_t *>(value.data()), static_cast<size_t>(value.sizeInBytes())};
}
} // namespace

StatusOr<Array> parseNpy(Client &client, std::span<const uint8_t> bytes) {
  if (bytes.size() < 10 || std::memcmp(bytes.data(), npyMagic, sizeof npyMagic) != 0)
    return malformed("expected it to begin with \\x93NUMPY");
  uint8_t version = bytes[6];
  if (version < 1 || version > 3)
    return malformed("expected version 1, 2 or 3, got " + std::to_string(version));
  size_t prefix = version == 1 ? 10 : 12;
  if (bytes.size() < prefix)
    return malformed("it ends in its header");
  uint64_t length = bytes[8] | uint64_t(bytes[9]) << 8;
  if (version > 1)
    length |= uint64_t(bytes[10]) << 16 | uint64_t(bytes[11]) << 24;
  if (length > bytes.size() - prefix)
    return malformed("expected a header of " + std::to_string(length) + " bytes, got " +
                     std::to_string(bytes.size() - prefix));
  HeaderParser header({reinterpret_cast<const char *>(bytes.data()) + prefix, static_cast<size_t>(length)});
  LATEWOOD_RETURN_IF_ERROR(header.run());

  Array array;
  array.descr = header.descr;
  ElementType type = ElementType::invalid;
  LATEWOOD_RETURN_IF_ERROR(typeOf(header.descr, type, array.isOpaque));
  std::span<const uint8_t> data = bytes.subspan(prefix + static_cast<size_t>(length));

  // The bytes that the shape needs, before anything of that size is allocated.
  uint64_t needed = static_cast<uint64_t>(bytesOf(type));
  for (int64_t extent : header.shape)
    if (__builtin_mul_overflow(needed, static_cast<uint64_t>(extent), &needed))
      return malformed("shape " + shapeText(header.shape) + " has more bytes than can be counted");
  if (needed != data.size())
    return malformed("expected " + std::to_string(needed) + " bytes of data for shape " + shapeText(header.shape) +
                     " and type '" + header.descr + "', got " + std::to_string(data.size()));

  std::vector<int64_t> strides;
  if (header.isFortran) {
    int64_t stride = 1;
    for (int64_t extent : header.shape) {
      strides.push_back(stride);
      stride *= std::max<int64_t>(extent, 1);
    }
  }
  if (reinterpret_cast<uintptr_t>(data.data()) % static_cast<uintptr_t>(alignmentOf(type)) == 0) {
    LATEWOOD_ASSIGN_OR_RETURN(array.value, client.createMemRef(data.data(), type, header.shape, strides));
    return array;
  }
  // In an archive data lies anywhere: through an aligned copy.
  const int64_t count[] = {static_cast<int64_t>(data.size())};
  LATEWOOD_ASSIGN_OR_RETURN(Ref<MemRefValue> copy, client.createMemRef(data.data(), ElementType::ui8, count));
  if (!strides.empty()) {
    LATEWOOD_ASSIGN_OR_RETURN(array.value, client.createMemRef(copy->data(), type, header.shape, strides));
    return array;
  }
  LATEWOOD_ASSIGN_OR_RETURN(array.value, MemRefValue::create(copy->storage(), 0, type, header.shape));
  return array;
}

StatusOr<std::vector<Array>> parseNpz(Client &client, std::span<const uint8_t> bytes) {
  LATEWOOD_ASSIGN_OR_RETURN(std::vector<ZipEntry> entries, readZip(bytes));
  std::vector<Array> arrays;
  for (const ZipEntry &entry : entries) {
    std::vector<uint8_t> inflated;
    std::span<const uint8_t> contents;
    LATEWOOD_RETURN_IF_ERROR(openZipEntry(bytes, entry, inflated, contents));
    StatusOr<Array> array = parseNpy(client, contents);
    if (!array.isOk())
      return std::move(array).status().withContext("entry '" + entry.name + "'");
    array->name = entry.name.ends_with(".npy") ? entry.name.substr(0, entry.name.size() - 4) : entry.name;
    arrays.push_back(*std::move(array));
  }
  return arrays;
}

StatusOr<std::vector<Array>> readArrays(Client &client, const std::string &path) {
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    return notFound("cannot open '" + path + "': " + std::strerror(errno));
  std::vector<uint8_t> bytes;
  // Grown by doubling: pipes have no size.
  for (size_t size = 0;;) {
    bytes.resize(std::max<size_t>(1 << 16, 2 * size));
    size_t part = std::fread(bytes.data() + size, 1, bytes.size() - size, file);
    size += part;
    if (part == 0) {
      bytes.resize(size);
      break;
    }
  }
  int error = std::ferror(file) ? errno : 0;
  std::fclose(file);
  if (error)
    return unavailable("cannot read '" + path + "': " + std::strerror(error));

  if (bytes.size() >= 2 && bytes[0] == 'P' && bytes[1] == 'K') {
    StatusOr<std::vector<Array>> arrays = parseNpz(client, bytes);
    if (!arrays.isOk())
      return std::move(arrays).status().withContext("'" + path + "'");
    return arrays;
  }
  StatusOr<Array> array = parseNpy(client, bytes);
  if (!array.isOk())
    return std::move(array).status().withContext("'" + path + "'");
  std::vector<Array> arrays;
  arrays.push_back(*std::move(array));
  return arrays;
}

StatusOr<Ref<Value>> resolve(const Array &array, ElementType expected) {
  ElementType found = array.value->elementType();
  if (found == expected && !array.isOpaque)
    return Ref<Value>(array.value);
  bool areBits = array.isOpaque || found == ElementType::ui8 || found == ElementType::ui16;
  if (areBits && isForeignToNumpy(expected) && bytesOf(expected) == bytesOf(found)) {
    LATEWOOD_ASSIGN_OR_RETURN(
        Ref<MemRefValue> value,
        MemRefValue::create(array.value->storage(), array.value->offsetInBytes(), expected, array.value->shape()));
    return Ref<Value>(value);
  }
  return invalidArgument("function expects a memref type with element type " + std::string(elementTypeName(expected)) +
                         ", but the array has NumPy's type '" + array.descr + "'" +
                         (array.isOpaque ? "" : " (" + std::string(elementTypeName(found)) + ")"));
}

Status writeArrays(const std::string &path, std::span<const NamedValue> values) {
  bool isNpy = path.ends_with(".npy");
  if (isNpy && values.size() != 1)
    return invalidArgument("'" + path + "': a .npy file holds one array, and there are " +
                           std::to_string(values.size()) + "; write a .npz file");
  std::vector<Ref<MemRefValue>> arrays;
  for (const NamedValue &named : values) {
    LATEWOOD_ASSIGN_OR_RETURN(Ref<MemRefValue> array, writable(named));
    arrays.push_back(std::move(array));
  }
  LATEWOOD_ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> file, OutputFile::create(path));
  auto put = [&](std::span<const uint8_t> bytes) { std::fwrite(bytes.data(), 1, bytes.size(), file->stream()); };
  if (isNpy) {
    put(asBytes(npyHeader(*arrays[0])));
    put(asBytes(*arrays[0]));
  } else {
    ZipWriter zip(put);
    for (size_t i = 0; i < arrays.size(); ++i) {
      std::string header = npyHeader(*arrays[i]);
      const std::span<const uint8_t> parts[] = {asBytes(header), asBytes(*arrays[i])};
      zip.add(values[i].name + ".npy", parts);
    }
    zip.finish();
  }
  return file->commit();
}

} // namespace latewood::tools
