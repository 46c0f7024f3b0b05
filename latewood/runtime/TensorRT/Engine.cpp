// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The module, and deserializing engines. An engine that cannot be used is an error that says what it was made by, what
// there is, and what to do.

#include "latewood/runtime/TensorRT/Engine.h"
#include "latewood/runtime/TensorRT/Refit.h"

#include "latewood/runtime/Exceptions.h"
#include "latewood/runtime/TensorRT/Context.h"
#include "latewood/runtime/TraceEvents.h"

#include <cstdlib>
#include <sstream>

using namespace latewood::runtime;

namespace latewood::tensorrt {

std::string text(std::span<const int64_t> extents) {
  std::string text;
  for (int64_t extent : extents)
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text.empty() ? "a scalar" : text;
}

namespace {
/// Bytes of an element, 0 if elements have no address of their own.
size_t bytesOf(nvinfer1::DataType type) {
  switch (type) {
  case nvinfer1::DataType::kINT64:
    return 8;
  case nvinfer1::DataType::kFLOAT:
  case nvinfer1::DataType::kINT32:
    return 4;
  case nvinfer1::DataType::kHALF:
  case nvinfer1::DataType::kBF16:
    return 2;
  case nvinfer1::DataType::kINT8:
  case nvinfer1::DataType::kBOOL:
  case nvinfer1::DataType::kUINT8:
  case nvinfer1::DataType::kFP8:
  case nvinfer1::DataType::kE8M0:
    return 1;
  default:
    return 0;
  }
}

std::vector<int64_t> toVector(std::span<const int64_t> values) { return {values.begin(), values.end()}; }
} // namespace

//===--- The module ----------------------------------------------------------------------------------------------===//

StatusOr<EngineModule *> TensorRTModule::make() {
  LATEWOOD_ASSIGN_OR_RETURN(const Libraries *libraries, openLibraries());
  // Before TensorRT finds out by itself: some of its libraries end the process.
  LATEWOOD_RETURN_IF_ERROR(libraries->cuda.checkDevice());
  // For the life of the process: engines point at it, and the vendor's library at the logger.
  auto module = std::make_unique<TensorRTModule>();
  module->libraries = libraries;
  module->runtime.reset(
      static_cast<nvinfer1::IRuntime *>(libraries->createInferRuntime(&module->logger, NV_TENSORRT_VERSION)));
  if (!module->runtime)
    return unavailable(libraries->name + " makes no runtime for interfaces of version " +
                       std::to_string(NV_TENSORRT_VERSION) + ": " + module->logger.takeErrors() +
                       "; install TensorRT " + std::to_string(NV_TENSORRT_MAJOR) + "." +
                       std::to_string(NV_TENSORRT_MINOR) + " or newer");
  module->runtime->setErrorRecorder(&module->recorder);
  // Engines may bring plugins. Executables are trusted code, in any form.
  if (!libraries->isRTX)
    module->runtime->setEngineHostCodeAllowed(true);
  if (const char *plugins = std::getenv("LATEWOOD_TENSORRT_PLUGINS"); plugins && *plugins)
    LATEWOOD_RETURN_IF_ERROR(module->loadPlugins(plugins));
  return module.release();
}

/// Paths, separated by colons.
Status TensorRTModule::loadPlugins(const std::string &list) {
  if (libraries->isRTX)
    return unavailable(libraries->name + " has no plugins, but LATEWOOD_TENSORRT_PLUGINS names '" + list + "'");
  std::istringstream paths(list);
  for (std::string path; std::getline(paths, path, ':');)
    if (!path.empty() && !runtime->getPluginRegistry().loadLibrary(path.c_str())) {
      std::string why = takeErrors();
      return unavailable("TensorRT cannot load the plugins in '" + path +
                         "', as LATEWOOD_TENSORRT_PLUGINS says: " + (why.empty() ? "it gives no reason" : why));
    }
  return okStatus();
}

std::string TensorRTModule::takeErrors() {
  std::string recorded = recorder.text(), logged = logger.takeErrors();
  recorder.clear();
  return recorded.empty() ? logged : recorded;
}

StatusOr<std::unique_ptr<Engine>> TensorRTModule::load(std::span<const uint8_t> serialized, const std::string &name,
                                                       const std::string &version) {
  return withoutExceptions([&]() -> StatusOr<std::unique_ptr<Engine>> {
    trace::Span span("engine", "load engine", {"bytes", static_cast<int64_t>(serialized.size())});
    auto engine = std::make_unique<TensorRTEngine>(*this, name);
    std::lock_guard lock(loading);
    LATEWOOD_RETURN_IF_ERROR(engine->deserialize(serialized, version));
    return std::unique_ptr<Engine>(std::move(engine));
  });
}

StatusOr<std::unique_ptr<EngineDevice>> TensorRTModule::createDevice() {
  return withoutExceptions([&]() -> StatusOr<std::unique_ptr<EngineDevice>> {
    auto device = std::make_unique<Device>(libraries->cuda);
    LATEWOOD_RETURN_IF_ERROR(device->create());
    return std::unique_ptr<EngineDevice>(std::move(device));
  });
}

//===--- Engines -------------------------------------------------------------------------------------------------===//

Status TensorRTEngine::deserialize(std::span<const uint8_t> serialized, const std::string &version) {
  const Libraries &libraries = *owner.libraries;
  std::string made = version.empty() ? "by a library that it does not name" : "by " + version;
  // What the other library would say about its format is of no help.
  if (isOfOtherLibrary(version, libraries))
    return unavailable("engine '" + engineName + "' was made " + made + ", and cannot be run by " + libraries.name +
                       ", which is another library with engines of its own: let LATEWOOD_TENSORRT_LIBRARY name the "
                       "library that made it, or compile the program with the one that is here");
  owner.takeErrors();
  std::string_view text(reinterpret_cast<const char *>(serialized.data()), serialized.size());
  format::EngineWeights parts{text, {}};
  bool hasWeightsApart = format::hasEngineWeights(text);
  if (hasWeightsApart && !format::readEngineWeights(text, parts))
    return dataCorruption("engine '" + engineName + "' and the weights beside it are damaged");
  engine.reset(owner.runtime->deserializeCudaEngine(parts.engine.data(), parts.engine.size()));
  if (!engine) {
    std::string why = owner.takeErrors();
    return unavailable("engine '" + engineName + "', made " + made + ", cannot be used by " + libraries.name +
                       " on a GPU of compute capability " + libraries.cuda.computeCapability() + ": " +
                       (why.empty() ? "TensorRT gives no reason" : why) +
                       "; engines are for one version of TensorRT and one kind of GPU: compile the program for these");
  }
  if (hasWeightsApart)
    LATEWOOD_RETURN_IF_ERROR(refit(*this, parts));
  engine->setErrorRecorder(&recorder);
  for (const char *prefix : {"in", "out"})
    for (int32_t number = 0;; ++number) {
      std::string tensor = prefix + std::to_string(number);
      if (engine->getTensorIOMode(tensor.c_str()) == nvinfer1::TensorIOMode::kNONE)
        break;
      LATEWOOD_RETURN_IF_ERROR(readTensor(tensor.c_str()));
    }
  readProfiles();
  // Asking for the first name that does not exist may have been recorded.
  recorder.clear();
  owner.takeErrors();
  if (static_cast<size_t>(engine->getNbIOTensors()) != inputs.size() + outputs.size())
    return dataCorruption("engine '" + engineName + "' has " + std::to_string(engine->getNbIOTensors()) +
                          " inputs and outputs, of which " + std::to_string(inputs.size() + outputs.size()) +
                          " have the names that the compiler gives");
  return okStatus();
}

Status TensorRTEngine::readTensor(const char *tensorName) {
  bool isInput = engine->getTensorIOMode(tensorName) == nvinfer1::TensorIOMode::kINPUT;
  std::string what = "engine '" + engineName + "', " + tensorName + ": ";
  Tensor tensor;
  tensor.name = tensorName;
  tensor.rank = span(engine->getTensorShape(tensorName)).size();
  tensor.elementBytes = bytesOf(engine->getTensorDataType(tensorName));
  tensor.isOnHost = engine->getTensorLocation(tensorName) == nvinfer1::TensorLocation::kHOST;
  if (tensor.elementBytes == 0)
    return unimplemented(what + "elements of less than a byte are packed there, but not here");
  if (engine->getTensorFormat(tensorName) != nvinfer1::TensorFormat::kLINEAR)
    return unimplemented(what + "expected the row-major layout");
  (isInput ? inputs : outputs).push_back(std::move(tensor));
  return okStatus();
}

void TensorRTEngine::readProfiles() {
  using Select = nvinfer1::OptProfileSelector;
  for (int32_t number = 0; number < engine->getNbOptimizationProfiles(); ++number) {
    Profile profile;
    for (const Tensor &input : inputs) {
      const char *name = input.name.c_str();
      auto extents = [&](Select select) { return toVector(span(engine->getProfileShape(name, number, select))); };
      Range range{extents(Select::kMIN), extents(Select::kOPT), extents(Select::kMAX), {}, {}, {}};
      // Values matter only for what shapes are computed from; its own shape is known.
      if (input.isOnHost && engine->isShapeInferenceIO(name)) {
        size_t count = 1;
        for (int64_t extent : range.max)
          count *= static_cast<size_t>(std::max<int64_t>(extent, 0));
        auto values = [&](Select select) {
          const int64_t *known = engine->getProfileTensorValuesV2(name, number, select);
          return known ? std::vector<int64_t>(known, known + count) : std::vector<int64_t>();
        };
        range.minValues = values(Select::kMIN);
        range.typicalValues = values(Select::kOPT);
        range.maxValues = values(Select::kMAX);
      }
      profile.push_back(std::move(range));
    }
    profiles.push_back(std::move(profile));
  }
}

StatusOr<std::unique_ptr<EngineContext>> TensorRTEngine::createContext(EngineDevice &device) {
  return withoutExceptions([&]() -> StatusOr<std::unique_ptr<EngineContext>> {
    auto context = std::make_unique<TensorRTContext>(*this, static_cast<Device &>(device));
    LATEWOOD_RETURN_IF_ERROR(context->create());
    return std::unique_ptr<EngineContext>(std::move(context));
  });
}

} // namespace latewood::tensorrt

extern "C" LATEWOOD_API const latewood::runtime::EngineModuleEntry latewood_engine_module = {
    latewood::runtime::engineModuleVersion, latewood::tensorrt::TensorRTModule::make};
