// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The builder: its library, optimization profiles, options, and its messages as diagnostics.

#include "latewood/compiler/Engines/TensorRT/EngineBuilder.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Engines/TensorRT/NetworkBuilder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdlib>
#include <dlfcn.h>
#include <mutex>

using namespace mlir;

namespace latewood::tensorrt {

namespace {

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

struct Library {
  void *(*createBuilder)(void *logger, int32_t version);
  int32_t (*version)();
};

/// Null: `missing` says why. Never closed.
const Library *openLibrary(std::string &missing) {
  static std::mutex mutex;
  static Library library;
  static bool isOpen = false;
  std::lock_guard lock(mutex);
  if (isOpen)
    return &library;
  const char *given = std::getenv("LATEWOOD_TENSORRT_LIBRARY");
  SmallVector<const char *> names = {"libtensorrt_rtx.so.1", "libnvinfer.so.11"};
  if (given && *given)
    names = {given};
  void *handle = nullptr;
  std::string problem;
  for (const char *name : names) {
    handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle)
      break;
    if (problem.empty())
      problem = dlerror();
  }
  if (!handle) {
    missing = "TensorRT cannot be opened: " + problem +
              "; install TensorRT, or TensorRT-RTX (pip install tensorrt-rtx-cu13-libs), and let "
              "LATEWOOD_TENSORRT_LIBRARY name its library";
    return nullptr;
  }
  library.createBuilder =
      reinterpret_cast<decltype(library.createBuilder)>(dlsym(handle, "createInferBuilder_INTERNAL"));
  library.version = reinterpret_cast<decltype(library.version)>(dlsym(handle, "getInferLibVersion"));
  if (!library.createBuilder || !library.version) {
    missing = "the library of TensorRT has no builder";
    return nullptr;
  }
  isOpen = true;
  return &library;
}

/// Keeps what TensorRT says.
class Messages final : public nvinfer1::ILogger {
public:
  void log(Severity severity, const char *text) noexcept override {
    std::lock_guard lock(mutex);
    if (severity <= Severity::kERROR)
      errors.push_back(text);
    else if (severity == Severity::kWARNING)
      warnings.push_back(text);
  }

  std::mutex mutex;
  std::vector<std::string> errors, warnings;
};

/// Puts messages at the operations that they name.
void report(func::FuncOp function, const Messages &messages, const NetworkBuilder &network, bool failed) {
  auto place = [&](StringRef message) {
    Operation *op = network.findOperation(message);
    return op ? op->getLoc() : function.getLoc();
  };
  for (const std::string &warning : messages.warnings)
    emitRemark(place(warning)) << "TensorRT: " << warning;
  if (!failed)
    return;
  InFlightDiagnostic diagnostic = function.emitError()
                                  << "TensorRT cannot make an engine of '" << function.getName() << "'";
  for (const std::string &error : messages.errors)
    diagnostic.attachNote(place(error)) << "TensorRT: " << error;
}

//===----------------------------------------------------------------------===//
// Optimization profiles
//===----------------------------------------------------------------------===//

SmallVector<plan::BoundsAttr> boundsOf(func::FuncOp function, unsigned argument, StringRef name) {
  SmallVector<plan::BoundsAttr> bounds;
  Attribute attribute = function.getArgAttr(argument, name);
  if (auto array = dyn_cast_or_null<ArrayAttr>(attribute))
    llvm::append_range(bounds, array.getAsRange<plan::BoundsAttr>());
  else if (auto single = dyn_cast_or_null<plan::BoundsAttr>(attribute))
    bounds.push_back(single);
  return bounds;
}

LogicalResult addProfiles(func::FuncOp function, nvinfer1::IBuilder &builder, nvinfer1::IBuilderConfig &config) {
  struct Input {
    std::string name;
    bool isScalar;
    SmallVector<plan::BoundsAttr> bounds;
  };
  SmallVector<Input> inputs;
  size_t profiles = 1;
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto tensor = dyn_cast<RankedTensorType>(argument.getType());
    if (function.getArgAttr(number, plan::PlanDialect::getOutAttrName()) || (tensor && tensor.hasStaticShape()))
      continue;
    StringRef name = tensor ? plan::PlanDialect::getBoundsAttrName() : plan::PlanDialect::getValueBoundsAttrName();
    Input input{"in" + std::to_string(number), !tensor, boundsOf(function, number, name)};
    if (input.bounds.empty())
      return function.emitError() << "argument " << number << " of type " << argument.getType()
                                  << " needs bounds: TensorRT makes engines for a range of shapes (attribute '" << name
                                  << "', option --bounds)";
    profiles = std::max(profiles, input.bounds.size());
    inputs.push_back(std::move(input));
  }
  if (inputs.empty())
    return success();
  using Select = nvinfer1::OptProfileSelector;
  for (size_t i = 0; i < profiles; ++i) {
    nvinfer1::IOptimizationProfile *profile = builder.createOptimizationProfile();
    for (const Input &input : inputs) {
      plan::BoundsAttr bounds = input.bounds[std::min(i, input.bounds.size() - 1)];
      for (auto [select, values] : {std::pair(Select::kMIN, bounds.getMin()),
                                    {Select::kOPT, bounds.getOpt()},
                                    {Select::kMAX, bounds.getMax()}}) {
        ArrayRef<int64_t> list = values.asArrayRef();
        bool accepted = input.isScalar ? profile->setShapeValuesV2(input.name.c_str(), select, list.data(),
                                                                   static_cast<int32_t>(list.size()))
                                       : profile->setDimensions(input.name.c_str(), select, toDims(list));
        if (!accepted)
          return function.emitError() << "TensorRT refuses the bounds " << bounds << " of " << input.name;
      }
    }
    if (!profile->isValid() || config.addOptimizationProfile(profile) < 0)
      return function.emitError() << "TensorRT refuses optimization profile " << i;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

void configure(nvinfer1::IBuilderConfig &config, const EngineBuildOptions &options) {
  if (options.level >= 0)
    config.setBuilderOptimizationLevel(options.level);
  if (options.workspaceBytes > 0)
    config.setMemoryPoolLimit(nvinfer1::MemoryPoolType::kWORKSPACE, static_cast<size_t>(options.workspaceBytes));
  if (options.stripWeights)
    config.setFlag(nvinfer1::BuilderFlag::kSTRIP_PLAN);
  if (options.refit)
    config.setFlag(nvinfer1::BuilderFlag::kREFIT);
}

/// The timing cache is one file for all builds of the process.
std::mutex timingCacheMutex;

void readTimingCache(nvinfer1::IBuilderConfig &config, const std::string &path,
                     std::unique_ptr<nvinfer1::ITimingCache> &cache) {
  std::lock_guard lock(timingCacheMutex);
  auto file = llvm::MemoryBuffer::getFile(path);
  StringRef bytes = file ? (*file)->getBuffer() : StringRef();
  cache.reset(config.createTimingCache(bytes.data(), bytes.size()));
  if (cache)
    config.setTimingCache(*cache, /*ignoreMismatch=*/false);
}

void writeTimingCache(func::FuncOp function, nvinfer1::IBuilderConfig &config, const std::string &path) {
  std::lock_guard lock(timingCacheMutex);
  const nvinfer1::ITimingCache *cache = config.getTimingCache();
  if (!cache)
    return;
  std::unique_ptr<nvinfer1::IHostMemory> bytes(cache->serialize());
  if (!bytes)
    return;
  StringRef text(static_cast<const char *>(bytes->data()), bytes->size());
  if (llvm::Error error = llvm::writeToOutput(path, [&](raw_ostream &out) {
        out << text;
        return llvm::Error::success();
      }))
    function.emitRemark() << "the timing cache cannot be written: " << llvm::toString(std::move(error));
}

std::string versionText(int32_t version) {
  return llvm::formatv("TensorRT {0}.{1}.{2}", version / 10000, version / 100 % 100, version % 100).str();
}

} // namespace

FailureOr<std::string> getBuilderVersion(std::string &missing) {
  const Library *library = openLibrary(missing);
  if (!library)
    return failure();
  return versionText(library->version());
}

FailureOr<SerializedEngine> buildEngine(func::FuncOp function, const EngineBuildOptions &options) {
  std::string missing;
  const Library *library = openLibrary(missing);
  if (!library)
    return function.emitError() << missing;
  Messages messages;
  std::unique_ptr<nvinfer1::IBuilder> builder(
      static_cast<nvinfer1::IBuilder *>(library->createBuilder(&messages, NV_TENSORRT_VERSION)));
  if (!builder)
    return function.emitError() << versionText(library->version())
                                << " makes no builder: " << llvm::join(messages.errors, "; ");
  constexpr auto stronglyTyped = 1u << 0; // always, where the flag is no more
  std::unique_ptr<nvinfer1::INetworkDefinition> definition(builder->createNetworkV2(stronglyTyped));
  std::unique_ptr<nvinfer1::IBuilderConfig> config(builder->createBuilderConfig());
  if (!definition || !config)
    return function.emitError() << "TensorRT makes no network: " << llvm::join(messages.errors, "; ");
  NetworkBuilder network(*definition);
  definition->setName(function.getName().str().c_str());
  if (failed(network.build(function))) {
    report(function, messages, network, /*failed=*/true);
    return failure();
  }
  configure(*config, options);
  if (failed(addProfiles(function, *builder, *config)))
    return failure();
  std::unique_ptr<nvinfer1::ITimingCache> cache;
  if (!options.timingCache.empty())
    readTimingCache(*config, options.timingCache, cache);
  std::unique_ptr<nvinfer1::IHostMemory> bytes(builder->buildSerializedNetwork(*definition, *config));
  report(function, messages, network, /*failed=*/!bytes);
  if (!bytes)
    return failure();
  if (!options.timingCache.empty())
    writeTimingCache(function, *config, options.timingCache);
  auto *data = static_cast<const char *>(bytes->data());
  return SerializedEngine{{data, data + bytes->size()}, versionText(library->version())};
}

} // namespace latewood::tensorrt
