// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opening an executable: get the bytes, let the container verify them, translate the metadata, choose and load an
// image, find the functions in it. Any step may refuse, and what came before is undone by destructors.

#include "latewood/runtime/ExecutableState.h"

#include "latewood/runtime/CPUFeatures.h"
#include "latewood/runtime/Exceptions.h"
#include "latewood/runtime/FaultInjection.h"
#include "latewood/runtime/Memory.h"
#include "latewood/runtime/TraceEvents.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace latewood::runtime {

//===--- The bytes -----------------------------------------------------------------------------------------------===//

FileBytes::~FileBytes() {
  closeDescriptor();
  if (release)
    release();
}

void FileBytes::closeDescriptor() {
  if (fileDescriptor >= 0)
    close(fileDescriptor);
  fileDescriptor = -1;
}

StatusOr<FileBytes> FileBytes::map(const std::string &path) {
  FileBytes file;
  auto fails = [] {
    errno = faults::strike() ? ENOMEM : 0;
    return errno != 0;
  };
  file.fileDescriptor = fails() ? -1 : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file.fileDescriptor < 0) {
    int error = errno;
    std::string why = "cannot open '" + path + "': " + std::strerror(error);
    return error == ENOENT ? notFound(why) : unavailable(why);
  }
  struct stat info;
  if (fails() || fstat(file.fileDescriptor, &info) != 0)
    return unavailable("cannot read '" + path + "': " + std::strerror(errno));
  if (!S_ISREG(info.st_mode))
    return invalidArgument("'" + path + "' is not a regular file");
  auto size = static_cast<size_t>(info.st_size);
  if (size == 0)
    return file;
  void *mapping = fails() ? MAP_FAILED : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fileDescriptor, 0);
  if (mapping == MAP_FAILED)
    return unavailable("cannot map '" + path + "': " + std::strerror(errno));
  file.bytes = {static_cast<const uint8_t *>(mapping), size};
  file.release = [mapping, size] { munmap(mapping, size); };
  return file;
}

StatusOr<FileBytes> FileBytes::copy(std::span<const uint8_t> bytes) {
  auto size = static_cast<int64_t>(bytes.size());
  void *memory = allocateMemory(size);
  if (!memory)
    return outOfMemory("cannot allocate " + std::to_string(size) + " bytes for an executable");
  if (size != 0)
    std::memcpy(memory, bytes.data(), bytes.size());
  return borrow({static_cast<const uint8_t *>(memory), bytes.size()}, [memory, size] { freeMemory(memory, size); });
}

FileBytes FileBytes::borrow(std::span<const uint8_t> bytes, std::function<void()> release) {
  FileBytes file;
  file.bytes = bytes;
  file.release = std::move(release);
  return file;
}

//===--- The metadata --------------------------------------------------------------------------------------------===//

namespace {
std::string text(const flatbuffers::String *string) { return string ? string->str() : std::string(); }

std::vector<int64_t> numbers(const flatbuffers::Vector<int64_t> *list) {
  return list ? std::vector<int64_t>(list->begin(), list->end()) : std::vector<int64_t>();
}

ValueSignature signature(const format::Value &value) {
  ValueSignature result;
  result.elementType = static_cast<ElementType>(value.element_type());
  result.shape = numbers(value.shape());
  result.space = static_cast<MemorySpace>(value.memory_space());
  result.name = text(value.name());
  if (const format::Bounds *bounds = value.bounds()) {
    result.min = numbers(bounds->min());
    result.opt = numbers(bounds->opt());
    result.max = numbers(bounds->max());
  }
  if (const format::Bounds *bounds = value.value_bounds()) {
    result.minValue = numbers(bounds->min());
    result.maxValue = numbers(bounds->max());
  }
  result.isDataDependent = value.data_dependent();
  return result;
}

FunctionSignature signature(const format::Function &function, uint32_t index) {
  FunctionSignature result;
  result.name = text(function.name());
  if (function.arguments())
    for (const format::Value *value : *function.arguments())
      result.arguments.push_back(signature(*value));
  if (function.results())
    for (const format::Value *value : *function.results())
      result.results.push_back(signature(*value));
  if (function.aliases())
    for (const format::Alias *alias : *function.aliases())
      result.aliases.push_back({alias->argument(), alias->result(), static_cast<AliasSignature::Kind>(alias->kind())});
  result.workspaceBytes = static_cast<int64_t>(function.workspace_bytes());
  result.shapeFunctionName = text(function.shape_function());
  result.index = index;
  return result;
}

/// How wide an image's vectors are.
int vectorQuality(const Executable::Image &image) {
  auto has = [&](std::string_view name) {
    for (std::string_view feature : image.features)
      if (feature == name || (feature.starts_with('+') && feature.substr(1) == name))
        return true;
    return false;
  };
  if (has("avx512f") || image.cpu == "x86-64-v4")
    return 3 + static_cast<int>(has("avx512bf16"));
  return has("avx2") || image.cpu == "x86-64-v3" ? 2 : has("avx") ? 1 : 0;
}

/// Of the images that this machine can run, the one with the widest vectors, and of these the one that was made for
/// most features; the first of equals. -1 if there is none.
int32_t bestImage(const std::vector<Executable::Image> &images) {
  auto quality = [&](int32_t index) {
    const Executable::Image &image = images[static_cast<size_t>(index)];
    return std::pair(vectorQuality(image), image.features.size());
  };
  int32_t best = -1;
  for (int32_t i = 0; i < static_cast<int32_t>(images.size()); ++i)
    if (images[static_cast<size_t>(i)].missingFeatures.empty() && (best < 0 || quality(i) > quality(best)))
      best = i;
  return best;
}

std::string list(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}
} // namespace

Status Executable::State::readMetadata() {
  const format::Executable &metadata = container.metadata();
  if (metadata.abi_version() != LATEWOOD_ABI_VERSION)
    return unavailable("expected code for ABI version " + std::to_string(LATEWOOD_ABI_VERSION) +
                       ", but the file has version " + std::to_string(metadata.abi_version()));
  name = text(metadata.name());
  producer = text(metadata.producer());
  options = text(metadata.options());
  if (metadata.functions())
    for (const format::Function *function : *metadata.functions())
      functions.push_back(signature(*function, static_cast<uint32_t>(functions.size())));
  if (metadata.segments())
    for (const format::Segment *segment : *metadata.segments())
      segments.push_back({text(segment->name()), format::EnumNameSegmentKind(segment->kind()),
                          container.segment(static_cast<uint32_t>(segments.size())),
                          static_cast<int64_t>(segment->alignment()), segment->offset()});
  if (metadata.constants())
    for (const format::Constant *constant : *metadata.constants()) {
      Constant result;
      result.name = text(constant->name());
      result.type.elementType = static_cast<ElementType>(constant->element_type());
      result.type.shape = numbers(constant->shape());
      result.segment = constant->segment();
      constants.push_back(std::move(result));
      constantData.push_back(segments[constant->segment()].bytes.data());
    }
  if (metadata.images())
    for (const format::Image *image : *metadata.images()) {
      Image result;
      result.triple = text(image->target()->triple());
      result.cpu = text(image->target()->cpu());
      if (image->target()->features())
        for (const flatbuffers::String *feature : *image->target()->features())
          result.features.push_back(feature->str());
      result.segment = image->segment();
      result.missingFeatures = missingCPUFeatures(result.cpu, result.features);
      if (!result.triple.starts_with("x86_64"))
        result.missingFeatures.insert(result.missingFeatures.begin(), "architecture of " + result.triple);
      images.push_back(std::move(result));
    }
  return okStatus();
}

Status Executable::State::loadCode() {
  bool isLua = container.metadata().host() == format::HostBackend::lua;
  isLoaded = true;
  if (functions.empty())
    return okStatus();
  LATEWOOD_RETURN_IF_ERROR(loadEngines());
  if (isLua && images.empty())
    return loadLua(); // a program that launches nothing

  loadedImage = bestImage(images);
  if (loadedImage < 0) {
    std::string message = "file for another CPU:";
    for (const Image &candidate : images)
      message += " its code for " + candidate.cpu + " needs " + list(candidate.missingFeatures) +
                 ", which this machine lacks;";
    message.pop_back();
    return unavailable(message);
  }

  const Segment &segment = segments[images[static_cast<size_t>(loadedImage)].segment];
  LATEWOOD_ASSIGN_OR_RETURN(image, runtime::Image::load(segment.bytes, bytes.fileDescriptor, segment.offset));
  if (isLua)
    return loadLua();
  for (const FunctionSignature &function : functions) {
    std::string symbol = text(container.metadata().functions()->Get(function.index)->symbol());
    void *address = image->find(symbol);
    if (!address)
      return dataCorruption("the image has no symbol '" + symbol + "' for function '" + function.name + "'");
    entries.push_back(reinterpret_cast<lw_function>(address));
  }
  return okStatus();
}

Status Executable::State::loadEngines() {
  if (!container.metadata().engines())
    return okStatus();
  for (const format::Engine *engine : *container.metadata().engines()) {
    LATEWOOD_ASSIGN_OR_RETURN(EngineModule * module, EngineModule::open(text(engine->library())));
    if (!engines.empty() && module != &engines.front()->module())
      return unimplemented("the program has engines of several libraries; one executable runs those of one");
    LATEWOOD_ASSIGN_OR_RETURN(
        auto loaded, module->load(segments[engine->segment()].bytes, text(engine->name()), text(engine->version())));
    engines.push_back(std::move(loaded));
  }
  return okStatus();
}

Status Executable::State::loadLua() {
  const format::Executable &metadata = container.metadata();
  std::vector<std::string> symbols;
  symbols.reserve(functions.size());
  for (const FunctionSignature &function : functions)
    symbols.push_back(text(metadata.functions()->Get(function.index)->symbol()));
  std::span<const uint8_t> source = segments[static_cast<size_t>(metadata.host_source())].bytes;
  LATEWOOD_ASSIGN_OR_RETURN(luaProgram,
                            LuaProgram::parse({reinterpret_cast<const char *>(source.data()), source.size()},
                                              std::move(symbols), image.get()));
  entries.assign(functions.size(), nullptr);
  return okStatus();
}

//===--- Opening -------------------------------------------------------------------------------------------------===//

namespace {
Status asStatus(format::ReadError error, std::string message) {
  switch (error) {
  case format::ReadError::none:
    return okStatus();
  case format::ReadError::notAnExecutable:
    return invalidArgument(std::move(message));
  case format::ReadError::otherVersion:
    return unavailable(std::move(message));
  case format::ReadError::truncated:
  case format::ReadError::corrupt:
    break;
  }
  return dataCorruption(std::move(message));
}

Status openState(FileBytes bytes, const LoadOptions &options, Executable::State &state) {
  trace::Span span("load", "load executable", {"bytes", static_cast<int64_t>(bytes.bytes.size())});
  state.bytes = std::move(bytes);
  std::string message;
  format::ReadError error = format::Container::open(
      state.bytes.bytes, options.verifyFully ? format::Verify::full : format::Verify::code, state.container, message);
  LATEWOOD_RETURN_IF_ERROR(asStatus(error, std::move(message)));
  LATEWOOD_RETURN_IF_ERROR(state.readMetadata());
  if (!options.inspectOnly)
    LATEWOOD_RETURN_IF_ERROR(state.loadCode());
  state.bytes.closeDescriptor();
  return okStatus();
}
} // namespace

Executable::Executable() : state(std::make_unique<State>()) {}
Executable::~Executable() = default;

StatusOr<Ref<Executable>> Executable::load(const std::string &path, const LoadOptions &options) {
  return withoutExceptions([&]() -> StatusOr<Ref<Executable>> {
    LATEWOOD_ASSIGN_OR_RETURN(FileBytes bytes, FileBytes::map(path));
    auto executable = Ref<Executable>::adopt(new Executable);
    if (Status status = openState(std::move(bytes), options, *executable->state); !status.isOk())
      return std::move(status).withContext("'" + path + "'");
    return executable;
  });
}

StatusOr<Ref<Executable>> Executable::fromBytes(std::span<const uint8_t> bytes, const LoadOptions &options) {
  return withoutExceptions([&]() -> StatusOr<Ref<Executable>> {
    LATEWOOD_ASSIGN_OR_RETURN(FileBytes copy, FileBytes::copy(bytes));
    auto executable = Ref<Executable>::adopt(new Executable);
    LATEWOOD_RETURN_IF_ERROR(openState(std::move(copy), options, *executable->state));
    return executable;
  });
}

StatusOr<Ref<Executable>> Executable::fromBytes(std::span<const uint8_t> bytes, std::function<void()> release,
                                                const LoadOptions &options) {
  FileBytes borrowed = FileBytes::borrow(bytes, std::move(release));
  if (reinterpret_cast<uintptr_t>(bytes.data()) % format::constantAlignment != 0)
    return fromBytes(bytes, options);
  return withoutExceptions([&]() -> StatusOr<Ref<Executable>> {
    auto executable = Ref<Executable>::adopt(new Executable);
    LATEWOOD_RETURN_IF_ERROR(openState(std::move(borrowed), options, *executable->state));
    return executable;
  });
}

//===--- Looking -------------------------------------------------------------------------------------------------===//

const std::string &Executable::name() const { return state->name; }
const std::string &Executable::producer() const { return state->producer; }
const std::string &Executable::options() const { return state->options; }
const std::vector<FunctionSignature> &Executable::functions() const { return state->functions; }
const std::vector<Executable::Segment> &Executable::segments() const { return state->segments; }
const std::vector<Executable::Image> &Executable::images() const { return state->images; }
const std::vector<Executable::Constant> &Executable::constants() const { return state->constants; }
int32_t Executable::loadedImage() const { return state->loadedImage; }
std::span<const uint8_t> Executable::file() const { return state->bytes.bytes; }

const FunctionSignature *Executable::findFunction(std::string_view name) const {
  for (const FunctionSignature &function : state->functions)
    if (function.name == name)
      return &function;
  return nullptr;
}

StatusOr<const FunctionSignature *> Executable::getFunction(std::string_view name) const {
  if (const FunctionSignature *function = findFunction(name))
    return function;
  return withoutExceptions([&]() -> StatusOr<const FunctionSignature *> {
    std::string known;
    for (const FunctionSignature &function : state->functions)
      known += (known.empty() ? "'" : ", '") + function.name + "'";
    return notFound("there is no function '" + std::string(name) + "' in the executable" +
                    (known.empty() ? "; it has none" : "; it has " + known));
  });
}

std::string Executable::describe() const {
  std::string text = "executable '" + name() + "', " + std::to_string(file().size()) + " bytes\n";
  text += "  producer  " + producer() + "\n";
  text += "  options   " + options() + "\n";
  for (const FunctionSignature &function : functions()) {
    text += "function " + function.name + "\n";
    auto values = [&](const char *what, const std::vector<ValueSignature> &list) {
      for (size_t i = 0; i < list.size(); ++i) {
        text += std::string("  ") + what + " " + std::to_string(i) + "  " + list[i].str();
        if (!list[i].name.empty())
          text += "  " + list[i].name;
        if (!list[i].min.empty() || !list[i].max.empty())
          text +=
              "  min " + shapeText(list[i].min) + " opt " + shapeText(list[i].opt) + " max " + shapeText(list[i].max);
        text += "\n";
      }
    };
    values("argument", function.arguments);
    values("result", function.results);
    for (const AliasSignature &alias : function.aliases)
      text += "  alias     argument " + std::to_string(alias.argument) + ", result " + std::to_string(alias.result) +
              (alias.kind == AliasSignature::Kind::donated ? ": donated\n" : ": safe at the same address\n");
    text += "  workspace " + std::to_string(function.workspaceBytes) + " bytes\n";
    if (!function.shapeFunctionName.empty())
      text += "  shapes    " + function.shapeFunctionName + "\n";
  }
  for (size_t i = 0; i < images().size(); ++i) {
    const Image &image = images()[i];
    text += "image " + std::to_string(i) + "  " + image.triple + ", " + image.cpu + ", " +
            std::to_string(state->segments[image.segment].bytes.size()) + " bytes";
    if (!image.missingFeatures.empty())
      text += ": this machine lacks " + list(image.missingFeatures);
    else if (static_cast<int32_t>(i) == loadedImage())
      text += ": in use";
    else if (!state->isLoaded && static_cast<int32_t>(i) == bestImage(images()))
      text += ": the best for this machine";
    text += "\n";
    if (!image.features.empty())
      text += "  features  " + list(image.features) + "\n";
  }
  if (const auto *list = state->container.metadata().engines())
    for (const format::Engine *engine : *list)
      text += "engine " + runtime::text(engine->name()) + "  " + runtime::text(engine->library()) + " " +
              runtime::text(engine->version()) + ", for " + runtime::text(engine->device()) + ", " +
              std::to_string(segments()[engine->segment()].bytes.size()) + " bytes\n";
  for (size_t i = 0; i < constants().size(); ++i)
    text += "constant " + std::to_string(i) + "  " + constants()[i].type.str() + ", segment " +
            std::to_string(constants()[i].segment) + (constants()[i].name.empty() ? "" : "  " + constants()[i].name) +
            "\n";
  for (size_t i = 0; i < segments().size(); ++i)
    text += "segment " + std::to_string(i) + "  " + segments()[i].kind + ", " +
            std::to_string(segments()[i].bytes.size()) + " bytes at " + std::to_string(segments()[i].offset) +
            ", aligned to " + std::to_string(segments()[i].alignment) +
            (segments()[i].name.empty() ? "" : "  " + segments()[i].name) + "\n";
  return text;
}

} // namespace latewood::runtime
