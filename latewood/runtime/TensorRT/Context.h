// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running an engine in a session. A run chooses an optimization profile, tells TensorRT's context about shapes and
// addresses where they have changed since the last run, uploads inputs, enqueues, and copies results to the places that
// the runtime gives for them. What passes between engines is on the device already and stays there.
//
// A result whose shape follows from the inputs' shapes has its memory before the run (destination style); others get it
// from an output allocator during the run.
//
// Invariant: between runs, everything that the context was told about its own memory (inputs, outputs) is true, or it
// is marked as forgotten. A failure makes it forget everything.
#ifndef LATEWOOD_RUNTIME_TENSORRT_CONTEXT_H
#define LATEWOOD_RUNTIME_TENSORRT_CONTEXT_H

#include "latewood/runtime/TensorRT/Device.h"
#include "latewood/runtime/TensorRT/Engine.h"
#include "latewood/runtime/TensorRT/OutputAllocator.h"

namespace latewood::tensorrt {

class TensorRTContext final : public runtime::EngineContext {
public:
  TensorRTContext(TensorRTEngine &engine, Device &device)
      : engine(engine), device(device), cuda(device.cuda), uploaded(device.cuda), consumed(device.cuda) {}
  ~TensorRTContext() override;
  runtime::Status create();
  runtime::Status run(std::span<const runtime::EngineInput> given, runtime::EngineResults &results) override;

private:
  struct Input {
    const Tensor *tensor;
    DeviceBuffer device;
    std::vector<std::byte> onHost; // values of a tensor of the host, which may be looked at after the call
    const void *address = nullptr; // what the context knows
    std::vector<int64_t> extents;  // what the context knows
    bool isKnown = false;          // extents are
    bool hasChanged = true;        // in this run
  };
  struct Output {
    const Tensor *tensor;
    DeviceBuffer device;           // destination style
    std::vector<std::byte> onHost; // destination style, for a tensor of the host
    std::unique_ptr<OutputAllocator> allocator;
    void *address = nullptr; // what the context knows
    bool allocates = false;  // the context knows the allocator
  };

  runtime::Status tryRun(std::span<const runtime::EngineInput> given, runtime::EngineResults &results);
  runtime::Status readHostValues(size_t index, const runtime::EngineInput &given, bool &hasChanged);
  runtime::Status chooseProfile(std::span<const runtime::EngineInput> given);
  runtime::Status noProfile(std::span<const runtime::EngineInput> given) const;
  std::optional<double> distanceTo(const Profile &profile, std::span<const runtime::EngineInput> given) const;
  runtime::Status setInput(size_t index, const runtime::EngineInput &given);
  runtime::Status upload(Input &input, const void *data, size_t bytes);
  runtime::Status setOutput(size_t index, const runtime::EngineResults &results);
  runtime::Status takeResult(size_t index, runtime::EngineResults &results);
  void forget();
  runtime::Status failed(const std::string &what);

  TensorRTEngine &engine;
  Device &device;
  const CUDA &cuda;
  ErrorRecorder recorder;
  Event uploaded, consumed;
  // In this order: the context goes first, then the memory that it points at.
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::unique_ptr<nvinfer1::IExecutionContext> context;
  int32_t profile = 0;
  // Of the current run.
  bool hasUploaded = false, hasDownloaded = false;
};

} // namespace latewood::tensorrt

#endif // LATEWOOD_RUNTIME_TENSORRT_CONTEXT_H
