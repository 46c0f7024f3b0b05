// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// lld in the process. Inputs are memory files, which lld opens by path; the output has to be a real path, since lld
// writes a temporary file beside it and renames.
//
// Why these flags: `-z rodynamic` puts the dynamic section into a read-only segment, so that an image of pure code has
// no writable page and no relocation. The SysV hash table holds the number of symbols, which the loader needs. Hidden
// visibility and --exclude-libs keep everything but the entries out of the exports. Without separate code pages a small
// image is about 4 KB.

#include "latewood/compiler/Target/Link.h"
#include "latewood/compiler/Target/DeviceLibrary.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace llvm;

namespace latewood::target {

namespace {

/// A file in memory with a path.
class MemoryFile {
public:
  static Expected<MemoryFile> create(StringRef bytes) {
    int descriptor = memfd_create("latewood-link", MFD_CLOEXEC);
    if (descriptor < 0)
      return createStringError("link: cannot create a memory file: %s", std::strerror(errno));
    MemoryFile file(descriptor);
    while (!bytes.empty()) {
      ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR)
        continue;
      if (written <= 0)
        return createStringError("link: cannot write a memory file: %s", std::strerror(errno));
      bytes = bytes.drop_front(written);
    }
    return file;
  }
  MemoryFile(MemoryFile &&other) : descriptor(std::exchange(other.descriptor, -1)) {}
  MemoryFile &operator=(MemoryFile &&) = delete;
  ~MemoryFile() {
    if (descriptor >= 0)
      ::close(descriptor);
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor); }

private:
  explicit MemoryFile(int descriptor) : descriptor(descriptor) {}
  int descriptor;
};

} // namespace

// Shared memory when there is some, else the temporary directory.
static std::string createOutputPath() {
  SmallString<128> folder("/dev/shm"), unique;
  if (!sys::fs::is_directory(folder) || ::access(folder.c_str(), W_OK) != 0)
    sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
  sys::path::append(folder, "latewood-%%%%%%%%%%%%.so");
  sys::fs::createUniquePath(folder, unique, /*MakeAbsolute=*/false);
  return unique.str().str();
}

Expected<Bytes> linkImage(ArrayRef<Bytes> objects, const Target &target, ArrayRef<std::string> entries) {
  std::vector<MemoryFile> files;
  for (const Bytes &object : objects) {
    Expected<MemoryFile> file = MemoryFile::create(StringRef(object.data(), object.size()));
    if (!file)
      return file.takeError();
    files.push_back(std::move(*file));
  }
  Expected<MemoryFile> archive = MemoryFile::create(getLibraryArchive(target.getLevel()));
  if (!archive)
    return archive.takeError();
  std::string output = createOutputPath();

  std::vector<std::string> words = {"ld.lld",
                                    "-shared",
                                    "-Bsymbolic",
                                    "-z",
                                    "defs",
                                    "-z",
                                    "relro",
                                    "-z",
                                    "now",
                                    "-z",
                                    "noexecstack",
                                    "-z",
                                    "noseparate-code",
                                    "-z",
                                    "rodynamic",
                                    "-z",
                                    "pack-relative-relocs",
                                    "-z",
                                    "max-page-size=4096",
                                    "--hash-style=sysv",
                                    "--gc-sections",
                                    "--exclude-libs=ALL",
                                    "--threads=1",
                                    "--build-id=none",
                                    "--nostdlib"};
  for (const std::string &entry : entries)
    words.insert(words.end(), {"-u", entry});
  for (const MemoryFile &file : files)
    words.push_back(file.path());
  words.insert(words.end(), {archive->path(), "-o", output});
  std::vector<const char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(word.c_str());

  auto removeOutput = make_scope_exit([&] { sys::fs::remove(output); });
  std::string messages, listing;
  {
    static std::mutex mutex;
    static bool usable = true;
    std::lock_guard lock(mutex);
    if (!usable)
      return createStringError("link: an earlier link crashed; no image can be linked in this process any more");
    raw_string_ostream out(listing), err(messages);
    lld::Result result = lld::lldMain(arguments, out, err, {{lld::Gnu, &lld::elf::link}});
    usable = result.canRunAgain;
    if (result.retCode != 0)
      return createStringError("link: " + StringRef(messages).trim().str());
  }
  auto buffer = MemoryBuffer::getFile(output, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError("link: cannot read " + output + ": " + buffer.getError().message());
  StringRef bytes = (*buffer)->getBuffer();
  if (Error error = verifyImage(bytes, entries))
    return error;
  return Bytes(bytes.begin(), bytes.end());
}

Error verifyImage(StringRef image, ArrayRef<std::string> entries) {
  auto refuse = [](const Twine &why) { return createStringError("image: " + why); };
  auto file = object::ELFFile<object::ELF64LE>::create(image);
  if (!file)
    return file.takeError();

  auto segments = file->program_headers();
  if (!segments)
    return segments.takeError();
  uint64_t relroBegin = 0, relroEnd = 0;
  for (const auto &segment : *segments)
    if (segment.p_type == ELF::PT_GNU_RELRO) {
      relroBegin = segment.p_vaddr;
      relroEnd = segment.p_vaddr + segment.p_memsz;
    }
  for (const auto &segment : *segments) {
    if (segment.p_type == ELF::PT_TLS)
      return refuse("it has thread-local variables");
    if (segment.p_type != ELF::PT_LOAD || !(segment.p_flags & ELF::PF_W))
      continue;
    if (segment.p_flags & ELF::PF_X)
      return refuse("it has a segment that is writable and executable");
    // RELRO ends at a page border, the segment may end before it.
    if (segment.p_vaddr < relroBegin || segment.p_vaddr + segment.p_memsz > relroEnd)
      return refuse("it has a variable that is written at run time; all sessions would share it");
  }

  auto dynamic = file->dynamicEntries();
  if (!dynamic)
    return dynamic.takeError();
  for (const auto &entry : *dynamic)
    switch (entry.getTag()) {
    case ELF::DT_NEEDED:
      return refuse("it needs another library");
    case ELF::DT_JMPREL:
      return refuse("it has calls that are bound at run time");
    case ELF::DT_TEXTREL:
      return refuse("it has relocations in code");
    case ELF::DT_INIT:
    case ELF::DT_FINI:
    case ELF::DT_INIT_ARRAY:
    case ELF::DT_FINI_ARRAY:
      return refuse("it has initializers");
    default:
      break;
    }

  StringSet<> exported;
  auto sections = file->sections();
  if (!sections)
    return sections.takeError();
  for (const auto &section : *sections) {
    if (section.sh_type == ELF::SHT_RELA || section.sh_type == ELF::SHT_REL) {
      auto relocations = file->relas(section);
      if (!relocations)
        return relocations.takeError();
      for (const auto &relocation : *relocations)
        if (relocation.getType(/*isMips64EL=*/false) != ELF::R_X86_64_RELATIVE)
          return refuse("it has a relocation that is not relative");
    }
    if (section.sh_type != ELF::SHT_DYNSYM)
      continue;
    auto symbols = file->symbols(&section);
    auto names = file->getStringTableForSymtab(section);
    if (!symbols)
      return symbols.takeError();
    if (!names)
      return names.takeError();
    for (const auto &symbol : symbols->drop_front()) {
      auto name = symbol.getName(*names);
      if (!name)
        return name.takeError();
      if (symbol.st_shndx == ELF::SHN_UNDEF)
        return refuse("symbol '" + *name + "' is undefined");
      exported.insert(*name);
    }
  }
  for (const std::string &entry : entries)
    if (!exported.erase(entry))
      return refuse("entry '" + entry + "' is not exported");
  if (!exported.empty())
    return refuse("it exports '" + exported.begin()->first() + "', which is no entry");
  return Error::success();
}

} // namespace latewood::target
