// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The container reader. Checksums would stop a fuzzer at the door, so unless the first byte says otherwise the input is
// taken as metadata and what follows them, and gets a correct header: what is under test is everything behind the door.
// Whatever opens is then walked through, as the runtime does, without further checks.

#include "latewood/format/Container.h"
#include "latewood/format/ContainerLayout.h"

#include <cstdlib>
#include <cstring>

using namespace latewood::format;

namespace {
template <typename T>
size_t count(const flatbuffers::Vector<T> *list) {
  return list ? list->size() : 0;
}

/// Touches everything that readers of a verified file touch.
uint64_t walk(const Container &container) {
  const Executable &metadata = container.metadata();
  uint64_t sum = 0;
  for (size_t i = 0; i < count(metadata.segments()); ++i)
    for (uint8_t byte : container.segment(static_cast<uint32_t>(i)))
      sum += byte;
  for (size_t i = 0; i < count(metadata.functions()); ++i) {
    const Function &function = *metadata.functions()->Get(static_cast<uint32_t>(i));
    sum += function.name()->size() + function.symbol()->size();
    for (const auto *values : {function.arguments(), function.results()})
      for (size_t v = 0; v < count(values); ++v)
        sum += count(values->Get(static_cast<uint32_t>(v))->shape());
    for (size_t a = 0; a < count(function.aliases()); ++a)
      sum +=
          function.arguments()->Get(function.aliases()->Get(static_cast<uint32_t>(a))->argument())->name() != nullptr;
  }
  for (size_t i = 0; i < count(metadata.constants()); ++i)
    sum += container.segment(metadata.constants()->Get(static_cast<uint32_t>(i))->segment()).size();
  for (size_t i = 0; i < count(metadata.images()); ++i)
    sum += metadata.images()->Get(static_cast<uint32_t>(i))->target()->cpu()->size() +
           container.segment(metadata.images()->Get(static_cast<uint32_t>(i))->segment()).size();
  return sum;
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 3)
    return 0;
  bool isRaw = data[0] == 0xff;
  size_t metadataSize = std::min<size_t>(data[1] | data[2] << 8, size - 3);
  size_t total = isRaw ? size - 1 : headerSize + size - 3;
  // posix_memalign takes sizes as they are: the sanitizer guards the end of the file to the byte.
  void *memory = nullptr;
  if (posix_memalign(&memory, 64, total) != 0)
    return 0;
  auto *file = static_cast<uint8_t *>(memory);
  if (isRaw) {
    std::memcpy(file, data + 1, total);
  } else {
    std::memcpy(file + headerSize, data + 3, size - 3);
    Header header{};
    std::memcpy(header.magic, magic, sizeof magic);
    header.formatVersion = formatVersion;
    header.headerSize = headerSize;
    header.fileSize = total;
    header.metadataOffset = headerSize;
    header.metadataSize = metadataSize;
    header.metadataChecksum = checksum({file + headerSize, metadataSize});
    header.headerChecksum = checksum({reinterpret_cast<uint8_t *>(&header), offsetof(Header, headerChecksum)});
    std::memcpy(file, &header, sizeof header);
  }
  Container container;
  std::string message;
  volatile uint64_t sum = 0;
  for (Verify verify : {Verify::code, Verify::full})
    if (Container::open({file, total}, verify, container, message) == ReadError::none)
      sum = sum + walk(container);
  std::free(file);
  return 0;
}
