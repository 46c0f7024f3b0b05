// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TensorRT's engines as the runtime sees them (latewood/runtime/Engine.h). What runs one is in Context.h.
//
// An engine's tensors are numbered: inputs in the order of the program's operands, results likewise. The compiler names
// them `in0`, `in1`, … and `out0`, `out1`, …
#ifndef LATEWOOD_RUNTIME_TENSORRT_ENGINE_H
#define LATEWOOD_RUNTIME_TENSORRT_ENGINE_H

#include "latewood/runtime/TensorRT/Libraries.h"
#include "latewood/runtime/TensorRT/Reports.h"

#include "latewood/format/EngineWeights.h"
#include "latewood/runtime/Engine.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace latewood::tensorrt {

/// Extents for messages: "2x3", or "a scalar".
std::string text(std::span<const int64_t> extents);
inline std::span<const int64_t> span(const nvinfer1::Dims &dims) {
  return {dims.d, static_cast<size_t>(std::max(dims.nbDims, 0))};
}

/// One of an engine's tensors.
struct Tensor {
  std::string name;
  size_t rank = 0;
  /// Of an element in our memory, which is that of the device.
  size_t elementBytes = 0;
  /// Its values are read or written by the host: a tensor that shapes are computed from.
  bool isOnHost = false;
};

/// A range of extents, and for a tensor that shapes are computed from, of values.
struct Range {
  std::vector<int64_t> min, typical, max;
  std::vector<int64_t> minValues, typicalValues, maxValues;
};

/// What an engine was optimized for; one range for each input.
using Profile = std::vector<Range>;

class TensorRTModule final : public runtime::EngineModule {
public:
  static runtime::StatusOr<runtime::EngineModule *> make();
  runtime::StatusOr<std::unique_ptr<runtime::Engine>> load(std::span<const uint8_t> serialized, const std::string &name,
                                                           const std::string &version) override;
  runtime::StatusOr<std::unique_ptr<runtime::EngineDevice>> createDevice() override;

  /// What has been reported since the last call: by the recorder, which knows more, or else by the logger.
  std::string takeErrors();

  const Libraries *libraries = nullptr;
  Logger logger;
  ErrorRecorder recorder;
  std::unique_ptr<nvinfer1::IRuntime> runtime;
  /// One engine at a time is deserialized, so that what is reported is about it.
  std::mutex loading;

private:
  runtime::Status loadPlugins(const std::string &list);
};

class TensorRTEngine final : public runtime::Engine {
public:
  TensorRTEngine(TensorRTModule &module, std::string name) : owner(module), engineName(std::move(name)) {}
  runtime::Status deserialize(std::span<const uint8_t> serialized, const std::string &version);
  runtime::StatusOr<std::unique_ptr<runtime::EngineContext>> createContext(runtime::EngineDevice &device) override;
  runtime::EngineModule &module() override { return owner; }
  std::string_view name() const override { return engineName; }
  size_t inputCount() const override { return inputs.size(); }
  size_t resultCount() const override { return outputs.size(); }

  TensorRTModule &owner;
  std::string engineName;
  std::vector<Tensor> inputs, outputs;
  std::vector<Profile> profiles;
  // Before the engine, which points at it.
  ErrorRecorder recorder;
  std::unique_ptr<nvinfer1::ICudaEngine> engine;

private:
  runtime::Status giveWeights(const format::EngineWeights &parts);
  runtime::Status readTensor(const char *tensorName);
  void readProfiles();
};

} // namespace latewood::tensorrt

#endif // LATEWOOD_RUNTIME_TENSORRT_ENGINE_H
