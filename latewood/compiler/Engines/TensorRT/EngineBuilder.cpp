// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The builder: optimization profiles, options, and TensorRT's messages as diagnostics.

#include "latewood/compiler/Engines/TensorRT/EngineBuilder.h"
#include "latewood/compiler/Dialect/Plan/Profiles.h"
#include "latewood/compiler/Engines/TensorRT/BuildProgress.h"
#include "latewood/compiler/Engines/TensorRT/BuilderLibrary.h"
#include "latewood/compiler/Engines/TensorRT/NetworkBuilder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

#include <mutex>

using namespace mlir;

namespace latewood::tensorrt {
namespace LATEWOOD_TENSORRT_ABI {

namespace {

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
void report(func::FuncOp function, const Messages &messages, const NetworkBuilder &network, bool failed,
            StringRef hint = "") {
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
  if (!hint.empty())
    diagnostic.attachNote() << hint;
}

//===----------------------------------------------------------------------===//
// Optimization profiles
//===----------------------------------------------------------------------===//

/// What a profile says of an input: limits of its extents, or of its elements if shapes are computed of them.
struct ProfiledInput {
  std::string name;
  bool hasValues;
  SmallVector<plan::BoundsAttr> bounds;
};

/// Limits of elements that nobody knows anything about.
plan::BoundsAttr anyValues(MLIRContext *context, int64_t count) {
  auto all = [&](int64_t value) { return DenseI64ArrayAttr::get(context, SmallVector<int64_t>(count, value)); };
  return plan::BoundsAttr::get(context, all(std::numeric_limits<int32_t>::min()), all(0),
                               all(std::numeric_limits<int32_t>::max()));
}

FailureOr<SmallVector<ProfiledInput>> findProfiledInputs(func::FuncOp function,
                                                         const nvinfer1::INetworkDefinition &network) {
  SmallVector<ProfiledInput> inputs;
  for (auto [position, number] : llvm::enumerate(getNetworkInputs(function))) {
    Type type = function.getArgument(number).getType();
    auto tensor = dyn_cast<RankedTensorType>(type);
    std::string name = "in" + std::to_string(position);
    if (tensor && !tensor.hasStaticShape()) {
      StringRef attribute = plan::PlanDialect::getBoundsAttrName();
      inputs.push_back({name, false, plan::getProfiles(function.getArgAttr(number, attribute))});
      if (inputs.back().bounds.empty())
        return function.emitError() << "argument " << number << " of type " << type
                                    << " needs bounds: TensorRT makes engines for a range of shapes (attribute '"
                                    << attribute << "', option --bounds)";
    } else if (network.getInput(static_cast<int32_t>(position))->isShapeTensor()) {
      inputs.push_back(
          {name, true, plan::getProfiles(function.getArgAttr(number, plan::PlanDialect::getValueBoundsAttrName()))});
      if (inputs.back().bounds.empty())
        inputs.back().bounds.push_back(anyValues(function.getContext(), tensor ? tensor.getNumElements() : 1));
    }
  }
  return inputs;
}

LogicalResult addProfiles(func::FuncOp function, const nvinfer1::INetworkDefinition &network,
                          nvinfer1::IBuilder &builder, nvinfer1::IBuilderConfig &config) {
  FailureOr<SmallVector<ProfiledInput>> inputs = findProfiledInputs(function, network);
  if (failed(inputs))
    return failure();
  if (inputs->empty())
    return success();
  size_t profiles = 1;
  for (const ProfiledInput &input : *inputs)
    profiles = std::max(profiles, input.bounds.size());
  using Select = nvinfer1::OptProfileSelector;
  for (size_t i = 0; i < profiles; ++i) {
    nvinfer1::IOptimizationProfile *profile = builder.createOptimizationProfile();
    for (const ProfiledInput &input : *inputs) {
      plan::BoundsAttr bounds = input.bounds[std::min(i, input.bounds.size() - 1)];
      for (auto [select, values] : {std::pair(Select::kMIN, bounds.getMin()),
                                    {Select::kOPT, bounds.getOpt()},
                                    {Select::kMAX, bounds.getMax()}}) {
        ArrayRef<int64_t> list = values.asArrayRef();
        bool accepted = input.hasValues ? profile->setShapeValuesV2(input.name.c_str(), select, list.data(),
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

LogicalResult setCapability(func::FuncOp function, nvinfer1::IBuilderConfig &config, int capability) {
  if (capability == 0)
    return success();
#ifdef LATEWOOD_TENSORRT_RTX
  if (config.setNbComputeCapabilities(1) && config.setComputeCapability(capability, 0))
    return success();
  return function.emitError() << "TensorRT-RTX makes no engines for compute capability " << capability / 10 << "."
                              << capability % 10;
#else
  return function.emitError("TensorRT makes engines for the GPU of this machine; only TensorRT-RTX can be told another "
                            "compute capability");
#endif
}

void configure(nvinfer1::IBuilderConfig &config, const EngineBuildOptions &options) {
  if (options.level >= 0)
    config.setBuilderOptimizationLevel(options.level);
  if (options.workspaceBytes > 0)
    config.setMemoryPoolLimit(nvinfer1::MemoryPoolType::kWORKSPACE, static_cast<size_t>(options.workspaceBytes));
  if (options.stripWeights)
    config.setFlag(nvinfer1::BuilderFlag::kSTRIP_PLAN);
  // Which weights, the network says.
  if (options.refit || options.stripWeights)
    config.setFlag(nvinfer1::BuilderFlag::kREFIT_INDIVIDUAL);
}

/// A remark: how long the build took, and what for.
void reportProgress(func::FuncOp function, const BuildProgress &progress, size_t bytes) {
  InFlightDiagnostic remark = function.emitRemark();
  remark << llvm::formatv("TensorRT built '{0}' in {1:F2} s ({2} bytes)", function.getName(), progress.seconds(), bytes)
                .str();
  for (auto [i, phase] : llvm::enumerate(progress.phases()))
    remark << llvm::formatv("{0} {1}: {2:F2} s", i == 0 ? ";" : ",", phase.first, phase.second).str();
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

} // namespace

FailureOr<SerializedEngine> buildEngine(func::FuncOp function, const EngineBuildOptions &options,
                                        const BuilderLibrary &library) {
  Messages messages;
  std::unique_ptr<nvinfer1::IBuilder> builder(
      static_cast<nvinfer1::IBuilder *>(library.createBuilder(&messages, NV_TENSORRT_VERSION)));
  if (!builder)
    return function.emitError() << library.version << " makes no builder: " << llvm::join(messages.errors, "; ");
  bool canReplaceWeights = options.refit || options.stripWeights;
  constexpr auto stronglyTyped = 1u << 0; // always, where the flag is no more
  std::unique_ptr<nvinfer1::INetworkDefinition> definition(builder->createNetworkV2(stronglyTyped));
  std::unique_ptr<nvinfer1::IBuilderConfig> config(builder->createBuilderConfig());
  if (!definition || !config)
    return function.emitError() << "TensorRT makes no network: " << llvm::join(messages.errors, "; ");
  NetworkBuilder network(*definition, canReplaceWeights);
  definition->setName(function.getName().str().c_str());
  if (failed(network.build(function))) {
    report(function, messages, network, /*failed=*/true);
    return failure();
  }
  if (failed(setCapability(function, *config, options.capability)))
    return failure();
  configure(*config, options);
  BuildProgress progress(function.getName(),
                         function.getContext()->getLoadedDialect<TensorRTDialect>()->onBuildProgress);
  config->setProgressMonitor(&progress);
  if (failed(addProfiles(function, *definition, *builder, *config)))
    return failure();
  std::unique_ptr<nvinfer1::ITimingCache> cache;
  if (!options.timingCache.empty())
    readTimingCache(*config, options.timingCache, cache);
  std::unique_ptr<nvinfer1::IHostMemory> bytes(builder->buildSerializedNetwork(*definition, *config));
  report(function, messages, network, /*failed=*/!bytes,
         library.isRTX && canReplaceWeights
             ? "engines whose weights can be replaced (refit, strip-weights) are made by "
               "TensorRT-RTX only where there is a GPU"
             : "");
  if (!bytes)
    return failure();
  reportProgress(function, progress, bytes->size());
  if (!options.timingCache.empty())
    writeTimingCache(function, *config, options.timingCache);
  auto *data = static_cast<const char *>(bytes->data());
  return SerializedEngine{{data, data + bytes->size()}, library.version};
}

} // namespace LATEWOOD_TENSORRT_ABI
} // namespace latewood::tensorrt
