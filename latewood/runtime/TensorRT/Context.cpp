// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One run of an engine, step by step.

#include "latewood/runtime/TensorRT/Context.h"

#include "latewood/runtime/Exceptions.h"
#include "latewood/runtime/TraceEvents.h"

#include <cstring>

using namespace latewood::runtime;

namespace latewood::tensorrt {

namespace {
/// cudaMemcpyDefault: the addresses say where the memory is.
constexpr int copyByAddress = 4;

StatusOr<size_t> bytesOf(std::span<const int64_t> extents, size_t elementBytes) {
  int64_t bytes = static_cast<int64_t>(elementBytes);
  for (int64_t extent : extents)
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes))
      return invalidArgument("a tensor of " + text(extents) + " has no size");
  return static_cast<size_t>(bytes);
}
} // namespace

Status TensorRTContext::create() {
  LATEWOOD_RETURN_IF_ERROR(uploaded.create());
  LATEWOOD_RETURN_IF_ERROR(consumed.create());
  context.reset(engine.engine->createExecutionContext());
  if (!context)
    return failed("cannot be prepared to run");
  context->setErrorRecorder(&recorder);
  if (!context->setInputConsumedEvent(consumed.handle))
    return failed("does not take an event");
  for (const Tensor &tensor : engine.inputs)
    inputs.push_back({&tensor, DeviceBuffer(device, device.upload.handle), {}, nullptr, {}, false, true});
  for (const Tensor &tensor : engine.outputs)
    outputs.push_back({&tensor,
                       DeviceBuffer(device, device.compute.handle),
                       {},
                       std::make_unique<OutputAllocator>(device, tensor.isOnHost),
                       nullptr,
                       false});
  return okStatus();
}

TensorRTContext::~TensorRTContext() {
  // Memory of inputs goes back in the order of the uploads.
  cuda.synchronize(device.compute.handle);
}

Status TensorRTContext::failed(const std::string &what) {
  std::string why = recorder.text();
  std::string logged = engine.owner.logger.takeErrors();
  recorder.clear();
  if (why.empty())
    why = logged;
  return unavailable("engine '" + engine.engineName + "' " + what + ": " +
                     (why.empty() ? "TensorRT gives no reason" : why));
}

/// What the context knows may be half of a run that failed.
void TensorRTContext::forget() {
  // What was enqueued before the failure still uses memory of this context, and of the caller.
  cuda.synchronize(device.upload.handle);
  cuda.synchronize(device.compute.handle);
  recorder.clear();
  for (Input &input : inputs)
    input.isKnown = false, input.address = nullptr;
  for (Output &output : outputs)
    output.address = nullptr;
}

Status TensorRTContext::run(std::span<const EngineInput> given, EngineResults &results) {
  Status status = withoutExceptions([&] { return tryRun(given, results); });
  if (!status.isOk())
    forget();
  return status;
}

Status TensorRTContext::tryRun(std::span<const EngineInput> given, EngineResults &results) {
  if (given.size() != inputs.size())
    return internalError("engine '" + engine.engineName + "' has " + std::to_string(inputs.size()) + " inputs, got " +
                         std::to_string(given.size()));
  hasUploaded = hasDownloaded = false;
  LATEWOOD_RETURN_IF_ERROR(chooseProfile(given));
  for (size_t i = 0; i < inputs.size(); ++i)
    LATEWOOD_RETURN_IF_ERROR(setInput(i, given[i]));
  for (size_t i = 0; i < outputs.size(); ++i)
    LATEWOOD_RETURN_IF_ERROR(setOutput(i, results));
  if (hasUploaded) {
    LATEWOOD_RETURN_IF_ERROR(
        cuda.check(cuda.record(uploaded.handle, device.upload.handle), "cannot order uploads before the run"));
    LATEWOOD_RETURN_IF_ERROR(
        cuda.check(cuda.wait(device.compute.handle, uploaded.handle, 0), "cannot order uploads before the run"));
  }
  if (!context->enqueueV3(device.compute.handle)) {
    for (Output &output : outputs)
      if (output.allocates && !output.allocator->status().isOk())
        return Status(output.allocator->status())
            .withContext("engine '" + engine.engineName + "', " + output.tensor->name);
    return failed("failed");
  }
  ++device.counted.runs;
  for (size_t i = 0; i < outputs.size(); ++i)
    LATEWOOD_RETURN_IF_ERROR(takeResult(i, results));
  if (hasDownloaded) {
    trace::Span span("engine", "wait for the device");
    LATEWOOD_RETURN_IF_ERROR(
        cuda.check(cuda.synchronize(device.compute.handle), "engine '" + engine.engineName + "' failed"));
  } else if (hasUploaded) {
    // The caller's memory may be gone when this returns.
    LATEWOOD_RETURN_IF_ERROR(cuda.check(cuda.synchronize(device.upload.handle), "cannot copy to the device"));
  }
  if (recorder.getNbErrors() != 0)
    return failed("failed");
  return okStatus();
}

//===--- Inputs --------------------------------------------------------------------------------------------------===//

/// Keeps the values of a tensor of the host, and says whether they are others than before.
Status TensorRTContext::readHostValues(size_t index, const EngineInput &given, bool &hasChanged) {
  Input &input = inputs[index];
  LATEWOOD_ASSIGN_OR_RETURN(size_t bytes, bytesOf({given.extents, input.tensor->rank}, input.tensor->elementBytes));
  std::vector<std::byte> values(std::max<size_t>(bytes, 1));
  if (device.owns(given.data)) {
    // Another engine has computed them.
    LATEWOOD_RETURN_IF_ERROR(
        cuda.check(cuda.copy(values.data(), given.data, bytes, copyByAddress, device.compute.handle),
                   "cannot copy " + std::to_string(bytes) + " bytes from the device"));
    LATEWOOD_RETURN_IF_ERROR(cuda.check(cuda.synchronize(device.compute.handle), "an earlier engine failed"));
    ++device.counted.downloads;
    device.counted.downloadedBytes += bytes;
  } else if (bytes != 0) {
    std::memcpy(values.data(), given.data, bytes);
  }
  hasChanged = values != input.onHost;
  if (hasChanged)
    input.onHost = std::move(values), input.address = nullptr;
  return okStatus();
}

Status TensorRTContext::setInput(size_t index, const EngineInput &given) {
  Input &input = inputs[index];
  const Tensor &tensor = *input.tensor;
  std::span<const int64_t> extents(given.extents, tensor.rank);
  LATEWOOD_ASSIGN_OR_RETURN(size_t bytes, bytesOf(extents, tensor.elementBytes));
  const void *address = given.data;
  if (tensor.isOnHost) {
    address = input.onHost.data();
  } else if (!device.owns(given.data)) {
    LATEWOOD_RETURN_IF_ERROR(upload(input, given.data, bytes));
    address = input.device.data();
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

Status TensorRTContext::upload(Input &input, const void *data, size_t bytes) {
  cudaStream_t stream = device.upload.handle;
  // The run before this one may not have read its inputs yet.
  if (!hasUploaded)
    LATEWOOD_RETURN_IF_ERROR(
        cuda.check(cuda.wait(stream, consumed.handle, 0), "cannot order uploads behind the last run"));
  hasUploaded = true;
  LATEWOOD_RETURN_IF_ERROR(input.device.reserve(bytes));
  if (bytes == 0)
    return okStatus();
  trace::Span span("engine", "copy to the device", {"bytes", static_cast<int64_t>(bytes)});
  ++device.counted.uploads;
  device.counted.uploadedBytes += bytes;
  return cuda.check(cuda.copy(input.device.data(), data, bytes, copyByAddress, stream),
                    "cannot copy " + std::to_string(bytes) + " bytes to the device");
}

//===--- Results -------------------------------------------------------------------------------------------------===//

Status TensorRTContext::setOutput(size_t index, const EngineResults &results) {
  Output &output = outputs[index];
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
    if (!context->setOutputAllocator(name, nullptr))
      return failed("does not forget the allocator of " + output.tensor->name);
    output.allocates = false;
    output.address = nullptr;
  }
  LATEWOOD_ASSIGN_OR_RETURN(size_t bytes, bytesOf(extents, output.tensor->elementBytes));
  void *address;
  if (output.tensor->isOnHost) {
    output.onHost.resize(std::max<size_t>(bytes, 1));
    address = output.onHost.data();
  } else if (results.staysOnDevice(index)) {
    address = results.deviceMemory(index);
    if (!address) {
      LATEWOOD_ASSIGN_OR_RETURN(address, device.allocate(static_cast<int64_t>(bytes)));
    } else if (device.capacityOf(address) < bytes) {
      return internalError("engine '" + engine.engineName + "' gives " + output.tensor->name + " the shape " +
                           text(extents) + ", for which the host program has not enough memory on the device");
    }
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
  void *source = output.address;
  if (output.allocates) {
    auto notified = output.allocator->shape();
    if (!notified)
      return failed("gave no shape of " + output.tensor->name);
    extents = *notified;
    source = output.allocator->memory();
  }
  if (extents.size() != output.tensor->rank)
    return internalError("engine '" + engine.engineName + "' gave " + output.tensor->name + " the shape " +
                         text(extents) + ", expected " + std::to_string(output.tensor->rank) + " dimensions");
  LATEWOOD_ASSIGN_OR_RETURN(size_t bytes, bytesOf(extents, output.tensor->elementBytes));
  if (output.allocates && bytes > output.allocator->bytes())
    return internalError("engine '" + engine.engineName + "' gave " + output.tensor->name + " the shape " +
                         text(extents) + ", but asked for " + std::to_string(output.allocator->bytes()) +
                         " bytes only");
  auto noPlace = [&] {
    return failedPrecondition("engine '" + engine.engineName + "': no place for " + output.tensor->name);
  };
  void *place;
  if (results.staysOnDevice(index)) {
    place = results.deviceMemory(index);
    if (!place && output.tensor->isOnHost) {
      LATEWOOD_ASSIGN_OR_RETURN(place, device.allocate(static_cast<int64_t>(bytes)));
    } else if (!place) {
      // What setOutput has chosen, or the allocator.
      place = source = output.allocates ? device.adopt(output.allocator->take()) : source;
    }
    if (!results.keep(index, extents, place))
      return noPlace();
    if (place == source || bytes == 0)
      return okStatus();
  } else {
    place = results.place(index, extents, static_cast<int64_t>(bytes));
    if (!place)
      return noPlace();
    hasDownloaded = true;
    if (bytes == 0)
      return okStatus();
    ++device.counted.downloads;
    device.counted.downloadedBytes += bytes;
  }
  trace::Span span("engine", "copy from the device", {"bytes", static_cast<int64_t>(bytes)});
  return cuda.check(cuda.copy(place, source, bytes, copyByAddress, device.compute.handle),
                    "cannot copy " + std::to_string(bytes) + " bytes of " + output.tensor->name);
}

} // namespace latewood::tensorrt
