// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Deserializing engines and running them.

#include "latewood/runtime/TensorRT/Engine.h"

#include "latewood/runtime/Exceptions.h"

#include <limits>

using namespace latewood::runtime;

namespace latewood::tensorrt {

namespace {
/// cudaMemcpyDefault: the addresses say where the memory is.
constexpr int copyByAddress = 4;
/// cudaStreamNonBlocking: does not wait for the stream that everybody shares.
constexpr unsigned nonBlocking = 1;

std::string text(std::span<const int64_t> extents) {
  std::string text;
  for (int64_t extent : extents)
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text.empty() ? "a scalar" : text;
}

std::span<const int64_t> span(const nvinfer1::Dims &dims) {
  return {dims.d, static_cast<size_t>(std::max(dims.nbDims, 0))};
}

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

StatusOr<size_t> bytesOf(std::span<const int64_t> extents, size_t elementBytes) {
  int64_t bytes = static_cast<int64_t>(elementBytes);
  for (int64_t extent : extents)
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes))
      return invalidArgument("a tensor of " + text(extents) + " has no size");
  return static_cast<size_t>(bytes);
}
} // namespace

//===--- The module ----------------------------------------------------------------------------------------------===//

StatusOr<EngineModule *> TensorRTModule::make() {
  LATEWOOD_ASSIGN_OR_RETURN(const Libraries *libraries, openLibraries());
  // For the life of the process: engines point at it, and the vendor's library at the logger.
  auto module = std::make_unique<TensorRTModule>();
  module->libraries = libraries;
  module->runtime.reset(
      static_cast<nvinfer1::IRuntime *>(libraries->createInferRuntime(&module->logger, NV_TENSORRT_VERSION)));
  if (!module->runtime)
    return unavailable("TensorRT " + std::to_string(libraries->version) + " makes no runtime for version " +
                       std::to_string(NV_TENSORRT_VERSION) + ": " + module->logger.takeErrors());
  if (const char *plugins = std::getenv("LATEWOOD_TENSORRT_PLUGINS"); plugins && *plugins)
    if (!module->runtime->getPluginRegistry().loadLibrary(plugins))
      return unavailable("TensorRT cannot load the plugins in '" + std::string(plugins) +
                         "', as LATEWOOD_TENSORRT_PLUGINS says: " + module->logger.takeErrors());
  return module.release();
}

StatusOr<std::unique_ptr<Engine>> TensorRTModule::load(std::span<const uint8_t> serialized, const std::string &name) {
  return withoutExceptions([&]() -> StatusOr<std::unique_ptr<Engine>> {
    auto engine = std::make_unique<TensorRTEngine>(*this, name);
    LATEWOOD_RETURN_IF_ERROR(engine->deserialize(serialized));
    return std::unique_ptr<Engine>(std::move(engine));
  });
}

//===--- Engines -------------------------------------------------------------------------------------------------===//

Status TensorRTEngine::deserialize(std::span<const uint8_t> serialized) {
  module.logger.takeErrors();
  engine.reset(module.runtime->deserializeCudaEngine(serialized.data(), serialized.size()));
  if (!engine) {
    std::string why = module.logger.takeErrors();
    return unavailable("TensorRT cannot use the engine '" + name + "', which was made for another device or version: " +
                       (why.empty() ? "it gives no reason" : why));
  }
  engine->setErrorRecorder(&recorder);
  for (const char *prefix : {"in", "out"})
    for (int32_t number = 0;; ++number) {
      std::string tensor = prefix + std::to_string(number);
      if (engine->getTensorIOMode(tensor.c_str()) == nvinfer1::TensorIOMode::kNONE)
        break;
      LATEWOOD_RETURN_IF_ERROR(readTensor(tensor.c_str()));
    }
  // Asking for the first name that does not exist may have been recorded.
  recorder.clear();
  module.logger.takeErrors();
  if (static_cast<size_t>(engine->getNbIOTensors()) != inputs.size() + outputs.size())
    return dataCorruption("engine '" + name + "' has " + std::to_string(engine->getNbIOTensors()) +
                          " inputs and outputs, of which " + std::to_string(inputs.size() + outputs.size()) +
                          " have the names that the compiler gives");
  return okStatus();
}

Status TensorRTEngine::readTensor(const char *tensorName) {
  bool isInput = engine->getTensorIOMode(tensorName) == nvinfer1::TensorIOMode::kINPUT;
  std::string what = "engine '" + name + "', " + tensorName + ": ";
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

StatusOr<std::unique_ptr<EngineContext>> TensorRTEngine::createContext() {
  return withoutExceptions([&]() -> StatusOr<std::unique_ptr<EngineContext>> {
    auto context = std::make_unique<TensorRTContext>(*this);
    LATEWOOD_RETURN_IF_ERROR(context->create());
    return std::unique_ptr<EngineContext>(std::move(context));
  });
}

//===--- Contexts ------------------------------------------------------------------------------------------------===//

Status TensorRTContext::create() {
  LATEWOOD_RETURN_IF_ERROR(cuda.check(cuda.createStream(&stream.handle, nonBlocking), "cannot make a stream"));
  context.reset(engine.engine->createExecutionContext());
  if (!context)
    return failed("cannot be prepared to run");
  context->setErrorRecorder(&recorder);
  for (const Tensor &tensor : engine.inputs)
    inputs.push_back({&tensor, DeviceBuffer(cuda, stream.handle), nullptr, {}, false});
  for (const Tensor &tensor : engine.outputs)
    outputs.push_back({&tensor,
                       DeviceBuffer(cuda, stream.handle),
                       {},
                       std::make_unique<OutputAllocator>(cuda, stream.handle),
                       nullptr,
                       false});
  return okStatus();
}

Status TensorRTContext::failed(const std::string &what) {
  std::string why = recorder.text();
  std::string logged = engine.module.logger.takeErrors();
  recorder.clear();
  if (why.empty())
    why = logged;
  // What was enqueued before the failure still uses memory of this context.
  cuda.synchronize(stream.handle);
  return unavailable("engine '" + engine.name + "' " + what + ": " + (why.empty() ? "TensorRT gives no reason" : why));
}

Status TensorRTContext::run(std::span<const EngineInput> given, EngineResults &results) {
  return withoutExceptions([&]() -> Status {
    if (given.size() != inputs.size())
      return internalError("engine '" + engine.name + "' has " + std::to_string(inputs.size()) + " inputs, got " +
                           std::to_string(given.size()));
    LATEWOOD_RETURN_IF_ERROR(chooseProfile(given));
    for (size_t i = 0; i < inputs.size(); ++i)
      LATEWOOD_RETURN_IF_ERROR(setInput(i, given[i]));
    for (Output &output : outputs)
      LATEWOOD_RETURN_IF_ERROR(setOutput(output));
    if (!context->enqueueV3(stream.handle)) {
      for (Output &output : outputs)
        if (output.allocates && !output.allocator->status().isOk()) {
          Status why = output.allocator->status();
          recorder.clear();
          cuda.synchronize(stream.handle);
          return std::move(why).withContext("engine '" + engine.name + "', " + output.tensor->name);
        }
      return failed("failed");
    }
    for (size_t i = 0; i < outputs.size(); ++i)
      if (Status status = takeResult(i, results); !status.isOk()) {
        cuda.synchronize(stream.handle);
        return status;
      }
    LATEWOOD_RETURN_IF_ERROR(cuda.check(cuda.synchronize(stream.handle), "engine '" + engine.name + "' failed"));
    if (recorder.getNbErrors() != 0)
      return failed("failed");
    return okStatus();
  });
}

/// The profile that all extents lie in, of several the one whose typical extents are nearest. A profile is kept as long
/// as extents do not change.
Status TensorRTContext::chooseProfile(std::span<const EngineInput> given) {
  int32_t count = engine.engine->getNbOptimizationProfiles();
  if (count <= 1)
    return okStatus();
  auto isUnchanged = [&](size_t i) {
    return inputs[i].isKnown && std::equal(inputs[i].extents.begin(), inputs[i].extents.end(), given[i].extents);
  };
  bool allUnchanged = true;
  for (size_t i = 0; i < inputs.size(); ++i)
    allUnchanged &= isUnchanged(i);
  if (allUnchanged)
    return okStatus();

  using Select = nvinfer1::OptProfileSelector;
  int32_t best = -1;
  double bestDistance = std::numeric_limits<double>::infinity();
  for (int32_t candidate = 0; candidate < count; ++candidate) {
    double distance = 0;
    bool fits = true;
    for (size_t i = 0; i < inputs.size() && fits; ++i) {
      const char *name = inputs[i].tensor->name.c_str();
      auto shapeOf = [&](Select select) { return engine.engine->getProfileShape(name, candidate, select); };
      nvinfer1::Dims min = shapeOf(Select::kMIN), opt = shapeOf(Select::kOPT), max = shapeOf(Select::kMAX);
      for (size_t d = 0; d < inputs[i].tensor->rank && fits; ++d) {
        int64_t extent = given[i].extents[d];
        fits = min.d[d] <= extent && extent <= max.d[d];
        distance += std::abs(double(extent) - double(opt.d[d])) / std::max<double>(double(opt.d[d]), 1);
      }
    }
    if (fits && distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  if (best < 0) {
    std::string shapes;
    for (size_t i = 0; i < inputs.size(); ++i)
      shapes += (i ? ", " : "") + inputs[i].tensor->name + ": " + text({given[i].extents, inputs[i].tensor->rank});
    return invalidArgument("engine '" + engine.name + "' has no optimization profile for the shapes " + shapes);
  }
  if (best == profile)
    return okStatus();
  if (!context->setOptimizationProfileAsync(best, stream.handle))
    return failed("does not take its optimization profile " + std::to_string(best));
  profile = best;
  // The context has forgotten shapes and addresses.
  for (Input &input : inputs)
    input.isKnown = false, input.address = nullptr;
  for (Output &output : outputs)
    output.address = nullptr;
  return okStatus();
}

Status TensorRTContext::setInput(size_t index, const EngineInput &given) {
  Input &input = inputs[index];
  const Tensor &tensor = *input.tensor;
  std::span<const int64_t> extents(given.extents, tensor.rank);
  LATEWOOD_ASSIGN_OR_RETURN(size_t bytes, bytesOf(extents, tensor.elementBytes));
  const void *address = given.data;
  if (!tensor.isOnHost) {
    LATEWOOD_RETURN_IF_ERROR(input.device.reserve(bytes));
    address = input.device.data();
    if (bytes != 0)
      LATEWOOD_RETURN_IF_ERROR(
          cuda.check(cuda.copy(input.device.data(), given.data, bytes, copyByAddress, stream.handle),
                     "cannot copy " + std::to_string(bytes) + " bytes to the device"));
  }
  if (address != input.address) {
    if (!context->setInputTensorAddress(tensor.name.c_str(), address))
      return failed("does not take the address of " + tensor.name);
    input.address = address;
  }
  if (!input.isKnown || !std::equal(extents.begin(), extents.end(), input.extents.begin(), input.extents.end())) {
    nvinfer1::Dims dims{};
    dims.nbDims = static_cast<int32_t>(tensor.rank);
    std::copy(extents.begin(), extents.end(), dims.d);
    input.isKnown = false;
    if (!context->setInputShape(tensor.name.c_str(), dims))
      return failed("does not take " + tensor.name + " of " + text(extents));
    input.extents.assign(extents.begin(), extents.end());
    input.isKnown = true;
  }
  return okStatus();
}

Status TensorRTContext::setOutput(Output &output) {
  const char *name = output.tensor->name.c_str();
  nvinfer1::Dims dims = context->getTensorShape(name);
  if (dims.nbDims < 0)
    return failed("knows no shape of " + output.tensor->name);
  std::span<const int64_t> extents = span(dims);
  if (std::any_of(extents.begin(), extents.end(), [](int64_t extent) { return extent < 0; })) {
    output.allocator->begin();
    if (output.allocates)
      return okStatus();
    if (!context->setOutputAllocator(name, output.allocator.get()))
      return failed("does not take an allocator for " + output.tensor->name);
    output.allocates = true;
    return okStatus();
  }
  if (output.allocates) {
    context->setOutputAllocator(name, nullptr);
    output.allocates = false;
  }
  LATEWOOD_ASSIGN_OR_RETURN(size_t bytes, bytesOf(extents, output.tensor->elementBytes));
  void *address;
  if (output.tensor->isOnHost) {
    output.onHost.resize(std::max<size_t>(bytes, 1));
    address = output.onHost.data();
  } else {
    LATEWOOD_RETURN_IF_ERROR(output.device.reserve(bytes));
    address = output.device.data();
  }
  if (address == output.address)
    return okStatus();
  if (!context->setTensorAddress(name, address))
    return failed("does not take the address of " + output.tensor->name);
  output.address = address;
  return okStatus();
}

Status TensorRTContext::takeResult(size_t index, EngineResults &results) {
  Output &output = outputs[index];
  nvinfer1::Dims known = context->getTensorShape(output.tensor->name.c_str());
  std::span<const int64_t> extents = span(known);
  const void *source = output.address;
  if (output.allocates) {
    auto notified = output.allocator->shape();
    if (!notified)
      return failed("gave no shape of " + output.tensor->name);
    extents = *notified;
    source = output.allocator->memory().data();
  }
  if (extents.size() != output.tensor->rank)
    return internalError("engine '" + engine.name + "' gave " + output.tensor->name + " the shape " + text(extents) +
                         ", expected " + std::to_string(output.tensor->rank) + " dimensions");
  LATEWOOD_ASSIGN_OR_RETURN(size_t bytes, bytesOf(extents, output.tensor->elementBytes));
  if (output.allocates && bytes > output.allocator->memory().bytes())
    return internalError("engine '" + engine.name + "' gave " + output.tensor->name + " the shape " + text(extents) +
                         ", but asked for " + std::to_string(output.allocator->memory().bytes()) + " bytes only");
  void *place = results.place(index, extents, static_cast<int64_t>(bytes));
  if (!place)
    return failedPrecondition("engine '" + engine.name + "': no place for " + output.tensor->name);
  if (bytes == 0)
    return okStatus();
  return cuda.check(cuda.copy(place, source, bytes, copyByAddress, stream.handle),
                    "cannot copy " + std::to_string(bytes) + " bytes from the device");
}

} // namespace latewood::tensorrt

extern "C" LATEWOOD_API const latewood::runtime::EngineModuleEntry latewood_engine_module = {
    latewood::runtime::engineModuleVersion, latewood::tensorrt::TensorRTModule::make};
