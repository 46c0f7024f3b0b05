// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TensorRT's engines as the runtime sees them (latewood/runtime/Engine.h).
//
// An engine's tensors are numbered: inputs in the order of the program's operands, results likewise. The compiler names
// them `in0`, `in1`, … and `out0`, `out1`, …
//
// A run chooses an optimization profile, tells the context about shapes and addresses where they have changed since the
// last run, copies inputs to the device, enqueues, and copies results to the places that the runtime gives for them.
// A result whose shape follows from the inputs' shapes has its memory before the run (destination style); others get it
// from an output allocator during the run.
#ifndef LATEWOOD_RUNTIME_TENSORRT_ENGINE_H
#define LATEWOOD_RUNTIME_TENSORRT_ENGINE_H

#include "latewood/runtime/TensorRT/Libraries.h"
#include "latewood/runtime/TensorRT/OutputAllocator.h"
#include "latewood/runtime/TensorRT/Reports.h"

#include "latewood/runtime/Engine.h"

#include <memory>
#include <string>
#include <vector>

namespace latewood::tensorrt {

/// One of an engine's tensors.
struct Tensor {
  std::string name;
  size_t rank = 0;
  /// Of an element in our memory, which is that of the device.
  size_t elementBytes = 0;
  /// Its values are read or written by the host: a tensor that shapes are computed from.
  bool isOnHost = false;
};

class TensorRTModule final : public runtime::EngineModule {
public:
  static runtime::StatusOr<runtime::EngineModule *> make();
  runtime::StatusOr<std::unique_ptr<runtime::Engine>> load(std::span<const uint8_t> serialized,
                                                           const std::string &name) override;

  const Libraries *libraries = nullptr;
  Logger logger;
  std::unique_ptr<nvinfer1::IRuntime> runtime;
};

class TensorRTEngine final : public runtime::Engine {
public:
  TensorRTEngine(TensorRTModule &module, std::string name) : module(module), name(std::move(name)) {}
  runtime::Status deserialize(std::span<const uint8_t> serialized);
  runtime::StatusOr<std::unique_ptr<runtime::EngineContext>> createContext() override;
  size_t inputCount() const override { return inputs.size(); }
  size_t resultCount() const override { return outputs.size(); }

  TensorRTModule &module;
  std::string name;
  std::vector<Tensor> inputs, outputs;
  // Before the engine, which points at it.
  ErrorRecorder recorder;
  std::unique_ptr<nvinfer1::ICudaEngine> engine;

private:
  runtime::Status readTensor(const char *tensorName);
};

class TensorRTContext final : public runtime::EngineContext {
public:
  explicit TensorRTContext(TensorRTEngine &engine)
      : engine(engine), cuda(engine.module.libraries->cuda), stream(engine.module.libraries->cuda) {}
  runtime::Status create();
  runtime::Status run(std::span<const runtime::EngineInput> given, runtime::EngineResults &results) override;

private:
  /// The stream that all work of the context is in. Destroyed after everything else, when its work is done.
  struct OwnedStream {
    explicit OwnedStream(const CUDA &cuda) : cuda(cuda) {}
    OwnedStream(const OwnedStream &) = delete;
    ~OwnedStream() {
      if (handle)
        cuda.synchronize(handle), cuda.destroyStream(handle);
    }
    const CUDA &cuda;
    cudaStream_t handle = nullptr;
  };

  struct Input {
    const Tensor *tensor;
    DeviceBuffer device;
    const void *address = nullptr; // what the context knows
    std::vector<int64_t> extents;  // what the context knows; empty at first
    bool isKnown = false;
  };
  struct Output {
    const Tensor *tensor;
    DeviceBuffer device;           // destination style
    std::vector<std::byte> onHost; // destination style, for a tensor of the host
    std::unique_ptr<OutputAllocator> allocator;
    void *address = nullptr; // what the context knows
    bool allocates = false;  // the context knows the allocator
  };

  runtime::Status chooseProfile(std::span<const runtime::EngineInput> given);
  runtime::Status setInput(size_t index, const runtime::EngineInput &given);
  runtime::Status setOutput(Output &output);
  runtime::Status takeResult(size_t index, runtime::EngineResults &results);
  runtime::Status failed(const std::string &what);

  TensorRTEngine &engine;
  const CUDA &cuda;
  ErrorRecorder recorder;
  // In this order: the context goes first, then the memory that it points at, then the stream.
  OwnedStream stream;
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::unique_ptr<nvinfer1::IExecutionContext> context;
  int32_t profile = 0;
};

} // namespace latewood::tensorrt

#endif // LATEWOOD_RUNTIME_TENSORRT_ENGINE_H
