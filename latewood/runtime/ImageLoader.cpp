// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One rule keeps this safe: tables (dynamic section, relocations, symbols, names) are read from the bytes of the image
// through `at`, which translates an address to file bytes and checks the range, and never from mapped memory; and
// memory is written only through `slot`, which accepts addresses in writable segments.

#include "latewood/runtime/ImageLoader.h"

#include "latewood/runtime/FaultInjection.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <sys/mman.h>
#include <type_traits>
#include <unistd.h>

namespace latewood::runtime {

namespace {
constexpr uint64_t page = 4096;
/// Images are small; a larger address is a corrupt one, and the limit keeps all sums below 2^64.
constexpr uint64_t addressLimit = uint64_t(1) << 32;

uint64_t pageDown(uint64_t address) { return address & ~(page - 1); }
uint64_t pageUp(uint64_t address) { return pageDown(address + page - 1); }

int protection(uint32_t flags) {
  return (flags & PF_R ? PROT_READ : 0) | (flags & PF_W ? PROT_WRITE : 0) | (flags & PF_X ? PROT_EXEC : 0);
}

void *map(void *address, uint64_t size, int protection, int flags, int file, uint64_t offset) {
  if (faults::strike())
    return MAP_FAILED;
  return mmap(address, size, protection, flags, file, static_cast<off_t>(offset));
}
bool protectPages(void *address, uint64_t size, int protection) {
  return !faults::strike() && mprotect(address, size, protection) == 0;
}

Status refuse(std::string why) { return dataCorruption("cannot load the image: " + std::move(why)); }

bool isInside(std::span<const uint8_t> bytes, uint64_t offset, uint64_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset;
}

template <typename T>
T get(const uint8_t *from) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Calls visit(address, size, name) for the functions of the full symbol table, which need not be there, and which
/// nothing that the image needs depends on.
template <typename Visit>
void forEachFunction(std::span<const uint8_t> bytes, Visit visit) {
  if (!isInside(bytes, 0, sizeof(Elf64_Ehdr)))
    return;
  auto header = get<Elf64_Ehdr>(bytes.data());
  if (header.e_shentsize != sizeof(Elf64_Shdr) ||
      !isInside(bytes, header.e_shoff, uint64_t(header.e_shnum) * sizeof(Elf64_Shdr)))
    return;
  auto section = [&](uint64_t i) { return get<Elf64_Shdr>(bytes.data() + header.e_shoff + i * sizeof(Elf64_Shdr)); };
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr table = section(i);
    if (table.sh_type != SHT_SYMTAB || table.sh_link >= header.e_shnum ||
        !isInside(bytes, table.sh_offset, table.sh_size))
      continue;
    Elf64_Shdr strings = section(table.sh_link);
    if (!isInside(bytes, strings.sh_offset, strings.sh_size))
      continue;
    for (uint64_t o = 0; o + sizeof(Elf64_Sym) <= table.sh_size; o += sizeof(Elf64_Sym)) {
      auto symbol = get<Elf64_Sym>(bytes.data() + table.sh_offset + o);
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_name >= strings.sh_size)
        continue;
      auto *name = reinterpret_cast<const char *>(bytes.data() + strings.sh_offset + symbol.st_name);
      visit(symbol.st_value, symbol.st_size, std::string_view(name, strnlen(name, strings.sh_size - symbol.st_name)));
    }
  }
}
} // namespace

/// Loads one image: the steps of `run`, in order.
class ImageReader {
public:
  ImageReader(std::span<const uint8_t> bytes, int fileDescriptor, uint64_t fileOffset, Image &image)
      : bytes(bytes), fileDescriptor(fileDescriptor), fileOffset(fileOffset), image(image) {}

  Status run() {
    LATEWOOD_RETURN_IF_ERROR(readHeaders());
    LATEWOOD_RETURN_IF_ERROR(mapSegments());
    LATEWOOD_RETURN_IF_ERROR(readDynamicSection());
    LATEWOOD_RETURN_IF_ERROR(readSymbols());
    LATEWOOD_RETURN_IF_ERROR(relocate());
    LATEWOOD_RETURN_IF_ERROR(protect());
    writePerfMap();
    return okStatus();
  }

private:
  bool inFile(uint64_t offset, uint64_t size) const { return isInside(bytes, offset, size); }

  /// The file bytes behind [address, address + size), or null unless one segment has them all.
  const uint8_t *at(uint64_t address, uint64_t size) const {
    for (const Elf64_Phdr &segment : segments())
      if (address >= segment.p_vaddr && size <= segment.p_filesz &&
          address - segment.p_vaddr <= segment.p_filesz - size)
        return bytes.data() + segment.p_offset + (address - segment.p_vaddr);
    return nullptr;
  }

  /// The aligned word at an address of a writable segment, or null.
  uint64_t *slot(uint64_t address) const {
    if (address % 8 != 0)
      return nullptr;
    for (const Elf64_Phdr &segment : segments())
      if ((segment.p_flags & PF_W) && address >= segment.p_vaddr && segment.p_memsz >= 8 &&
          address - segment.p_vaddr <= segment.p_memsz - 8)
        return reinterpret_cast<uint64_t *>(image.start + address);
    return nullptr;
  }

  std::span<const Elf64_Phdr> segments() const { return {loads.data(), loadCount}; }
  bool isMappedFromFile(const Elf64_Phdr &segment) const { return fileDescriptor >= 0 && !(segment.p_flags & PF_W); }

  Status readHeaders() {
    if (!inFile(0, sizeof(Elf64_Ehdr)))
      return refuse("expected at least " + std::to_string(sizeof(Elf64_Ehdr)) + " bytes, got " +
                    std::to_string(bytes.size()));
    header = get<Elf64_Ehdr>(bytes.data());
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != EM_X86_64 || header.e_type != ET_DYN ||
        header.e_phentsize != sizeof(Elf64_Phdr))
      return refuse("expected an ELF shared object for x86-64");
    if (!inFile(header.e_phoff, uint64_t(header.e_phnum) * sizeof(Elf64_Phdr)))
      return refuse("its program headers do not lie in it");
    uint64_t end = 0;
    for (uint32_t i = 0; i < header.e_phnum; ++i) {
      auto segment = get<Elf64_Phdr>(bytes.data() + header.e_phoff + i * sizeof(Elf64_Phdr));
      if (segment.p_type == PT_TLS || segment.p_type == PT_INTERP)
        return refuse("it has thread-local storage or an interpreter");
      if (segment.p_type == PT_DYNAMIC)
        dynamic = segment;
      if (segment.p_type == PT_GNU_RELRO)
        relro = segment;
      if (segment.p_type != PT_LOAD)
        continue;
      if (loadCount == loads.size())
        return refuse("it has more than " + std::to_string(loads.size()) + " segments");
      bool isSane = inFile(segment.p_offset, segment.p_filesz) && segment.p_filesz <= segment.p_memsz &&
                    segment.p_vaddr <= addressLimit && segment.p_memsz <= addressLimit &&
                    segment.p_vaddr % page == segment.p_offset % page && pageDown(segment.p_vaddr) >= end &&
                    segment.p_memsz != 0;
      // Memory beyond the file is zero; where nothing is written nobody needs it.
      isSane = isSane && ((segment.p_flags & PF_W) || segment.p_filesz == segment.p_memsz);
      if (!isSane)
        return refuse("segment " + std::to_string(loadCount) + " has impossible addresses");
      if ((segment.p_flags & PF_W) && (segment.p_flags & PF_X))
        return refuse("segment " + std::to_string(loadCount) + " is both writable and executable");
      end = pageUp(segment.p_vaddr + segment.p_memsz);
      loads[loadCount++] = segment;
    }
    if (end == 0)
      return refuse("it has no segments");
    image.size = end;
    return okStatus();
  }

  Status mapSegments() {
    void *mapping = map(nullptr, image.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED)
      return outOfMemory("cannot map an image of " + std::to_string(image.size) + " bytes");
    image.start = static_cast<uint8_t *>(mapping);
    for (const Elf64_Phdr &segment : segments()) {
      uint64_t low = pageDown(segment.p_vaddr), high = pageUp(segment.p_vaddr + segment.p_memsz);
      if (isMappedFromFile(segment)) {
        void *pages = map(image.start + low, high - low, protection(segment.p_flags), MAP_PRIVATE | MAP_FIXED,
                          fileDescriptor, fileOffset + pageDown(segment.p_offset));
        if (pages == MAP_FAILED)
          return outOfMemory("cannot map a segment of the image from its file");
        continue;
      }
      if (!protectPages(image.start + low, high - low, PROT_READ | PROT_WRITE))
        return outOfMemory("cannot make a segment of the image writable");
      if (segment.p_filesz != 0)
        std::memcpy(image.start + segment.p_vaddr, bytes.data() + segment.p_offset, segment.p_filesz);
    }
    return okStatus();
  }

  Status readDynamicSection() {
    const uint8_t *table = dynamic.p_filesz ? at(dynamic.p_vaddr, dynamic.p_filesz) : nullptr;
    if (!table)
      return refuse("it has no dynamic section");
    for (uint64_t o = 0; o + sizeof(Elf64_Dyn) <= dynamic.p_filesz; o += sizeof(Elf64_Dyn)) {
      auto entry = get<Elf64_Dyn>(table + o);
      uint64_t value = entry.d_un.d_val;
      switch (entry.d_tag) {
      case DT_NEEDED:
        return refuse("it needs a library");
      case DT_JMPREL:
      case DT_REL:
        // Said after the symbols have been read: an undefined one is the better message.
        hasLinkageTable = true;
        break;
      case DT_INIT:
      case DT_FINI:
      case DT_INIT_ARRAY:
      case DT_FINI_ARRAY:
      case DT_PREINIT_ARRAY:
        return refuse("it has constructors or destructors");
      case DT_TEXTREL:
        return refuse("it has relocations in code");
      case DT_RELA:
        rela = value;
        break;
      case DT_RELASZ:
        relaSize = value;
        break;
      case DT_RELR:
        relr = value;
        break;
      case DT_RELRSZ:
        relrSize = value;
        break;
      case DT_SYMTAB:
        symbols = value;
        break;
      case DT_STRTAB:
        names = value;
        break;
      case DT_STRSZ:
        namesSize = value;
        break;
      case DT_HASH:
        hash = value;
        break;
      default:
        break;
      }
    }
    return okStatus();
  }

  Status relocate() {
    if (hasLinkageTable)
      return refuse("it has a procedure linkage table");
    const uint8_t *table = at(rela, relaSize);
    if (relaSize != 0 && !table)
      return refuse("its relocations do not lie in it");
    auto base = reinterpret_cast<uint64_t>(image.start);
    for (uint64_t o = 0; o + sizeof(Elf64_Rela) <= relaSize; o += sizeof(Elf64_Rela)) {
      auto entry = get<Elf64_Rela>(table + o);
      uint64_t *target = slot(entry.r_offset);
      if (ELF64_R_TYPE(entry.r_info) != R_X86_64_RELATIVE || !target)
        return refuse("it has a relocation of type " + std::to_string(ELF64_R_TYPE(entry.r_info)) +
                      "; only relative ones in writable segments are possible");
      *target = base + static_cast<uint64_t>(entry.r_addend);
    }

    // The packed form: an even word is an address to relocate; an odd one is a bit map of the 63 words after it.
    table = at(relr, relrSize);
    if (relrSize != 0 && !table)
      return refuse("its packed relocations do not lie in it");
    auto shift = [&](uint64_t address) {
      uint64_t *target = slot(address);
      if (target)
        *target += base;
      return target != nullptr;
    };
    uint64_t next = 0;
    for (uint64_t o = 0; o + 8 <= relrSize; o += 8) {
      auto word = get<uint64_t>(table + o);
      if ((word & 1) == 0) {
        if (!shift(word))
          return refuse("a packed relocation is not in a writable segment");
        next = word + 8;
        continue;
      }
      for (uint64_t i = 0; i < 63; ++i)
        if (((word >> (i + 1)) & 1) && !shift(next + 8 * i))
          return refuse("a packed relocation is not in a writable segment");
      next += 8 * 63;
    }
    return okStatus();
  }

  Status readSymbols() {
    const uint8_t *strings = namesSize ? at(names, namesSize) : nullptr;
    const uint8_t *table = hash ? at(hash, 8) : nullptr;
    if (!strings || strings[namesSize - 1] != 0 || !table)
      return refuse("it has no symbol names, or no hash table (link with --hash-style=sysv)");
    // The hash table says how many symbols there are.
    uint64_t count = get<uint32_t>(table + 4);
    const uint8_t *entries = at(symbols, count * sizeof(Elf64_Sym));
    if (!entries)
      return refuse("its symbols do not lie in it");
    for (uint64_t i = 1; i < count; ++i) {
      auto symbol = get<Elf64_Sym>(entries + i * sizeof(Elf64_Sym));
      if (symbol.st_name >= namesSize)
        return refuse("a symbol's name does not lie in it");
      auto *name = reinterpret_cast<const char *>(strings + symbol.st_name);
      if (symbol.st_shndx == SHN_UNDEF)
        return refuse("symbol '" + std::string(name) + "' is undefined");
      if (!isCode(symbol.st_value))
        continue;
      image.exports.emplace(name, image.start + symbol.st_value);
    }
    return okStatus();
  }

  bool isCode(uint64_t address) const {
    for (const Elf64_Phdr &segment : segments())
      if ((segment.p_flags & PF_X) && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_memsz)
        return true;
    return false;
  }

  Status protect() {
    for (const Elf64_Phdr &segment : segments()) {
      uint64_t low = pageDown(segment.p_vaddr), high = pageUp(segment.p_vaddr + segment.p_memsz);
      if (!isMappedFromFile(segment) && !protectPages(image.start + low, high - low, protection(segment.p_flags)))
        return outOfMemory("cannot protect a segment of the image");
      // What is writable must be so for relocation only: sessions share an image, and must not share state.
      if (!(segment.p_flags & PF_W))
        continue;
      bool isRelro = relro.p_memsz != 0 && relro.p_vaddr <= segment.p_vaddr && relro.p_memsz <= addressLimit &&
                     relro.p_vaddr + relro.p_memsz >= segment.p_vaddr + segment.p_memsz;
      if (!isRelro)
        return refuse("it has mutable data");
      if (!protectPages(image.start + low, high - low, PROT_READ))
        return outOfMemory("cannot protect a segment of the image");
    }
    return okStatus();
  }

  /// Tells Linux perf the names of the functions, when LATEWOOD_PERF_MAP is set.
  void writePerfMap() const {
    const char *wanted = std::getenv("LATEWOOD_PERF_MAP");
    if (!wanted || !*wanted)
      return;
    std::FILE *map = nullptr;
    forEachFunction(bytes, [&](uint64_t address, uint64_t size, std::string_view name) {
      if (!isCode(address))
        return;
      // perf looks for exactly this name.
      if (!map)
        map = std::fopen(("/tmp/perf-" + std::to_string(getpid()) + ".map").c_str(), "a");
      if (map)
        std::fprintf(map, "%llx %llx %.*s\n",
                     static_cast<unsigned long long>(reinterpret_cast<uint64_t>(image.start) + address),
                     static_cast<unsigned long long>(size), static_cast<int>(name.size()), name.data());
    });
    if (map)
      std::fclose(map);
  }

  std::span<const uint8_t> bytes;
  int fileDescriptor;
  uint64_t fileOffset;
  Image &image;
  Elf64_Ehdr header{};
  std::array<Elf64_Phdr, 16> loads{};
  size_t loadCount = 0;
  Elf64_Phdr dynamic{}, relro{};
  bool hasLinkageTable = false;
  uint64_t rela = 0, relaSize = 0, relr = 0, relrSize = 0;
  uint64_t symbols = 0, names = 0, namesSize = 0, hash = 0;
};

StatusOr<std::unique_ptr<Image>> Image::load(std::span<const uint8_t> bytes, int fileDescriptor, uint64_t fileOffset) {
  if (fileOffset % page != 0)
    return refuse("its offset in the file is not a multiple of the page size");
  std::unique_ptr<Image> image(new Image);
  image->bytes = bytes;
  LATEWOOD_RETURN_IF_ERROR(ImageReader(bytes, fileDescriptor, fileOffset, *image).run());
  return image;
}

Image::~Image() {
  if (start)
    munmap(start, size);
}

void *Image::find(const std::string &symbol) const {
  auto found = exports.find(symbol);
  return found == exports.end() ? nullptr : found->second;
}

std::string_view Image::nameOf(const void *code) const {
  auto address = static_cast<uint64_t>(static_cast<const uint8_t *>(code) - start);
  std::string_view found;
  forEachFunction(bytes, [&](uint64_t begin, uint64_t, std::string_view name) {
    if (begin == address && found.empty())
      found = name;
  });
  return found;
}

} // namespace latewood::runtime
