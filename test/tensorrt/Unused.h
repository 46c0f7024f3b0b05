// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the stand-in for TensorRT does not do: every method of the interfaces that our runtime never calls, or for which
// a zero is the answer. The others are in StandIn.cpp.
#ifndef LATEWOOD_TEST_TENSORRT_UNUSED_H
#define LATEWOOD_TEST_TENSORRT_UNUSED_H

#include <NvInferRuntime.h>

// clang-format off
namespace latewood::standin {
using namespace nvinfer1; // the interfaces' own names

class UnusedRuntime : public apiv::VRuntime {
public:
  void setDLACore(int32_t) noexcept override {}
  int32_t getDLACore() const noexcept override { return {}; }
  int32_t getNbDLACores() const noexcept override { return {}; }
  void setGpuAllocator(IGpuAllocator*) noexcept override {}
  void setErrorRecorder(IErrorRecorder*) noexcept override {}
  IErrorRecorder* getErrorRecorder() const noexcept override { return {}; }
  ILogger* getLogger() const noexcept override { return {}; }
  bool setMaxThreads(int32_t) noexcept override { return {}; }
  int32_t getMaxThreads() const noexcept override { return {}; }
  void setTemporaryDirectory(char const*) noexcept override {}
  char const* getTemporaryDirectory() const noexcept override { return {}; }
  void setTempfileControlFlags(TempfileControlFlags) noexcept override {}
  TempfileControlFlags getTempfileControlFlags() const noexcept override { return {}; }
  void setPluginRegistryParent(IPluginRegistry*) noexcept override {}
  IRuntime* loadRuntime(char const*) noexcept override { return {}; }
  void setEngineHostCodeAllowed(bool) noexcept override {}
  bool getEngineHostCodeAllowed() const noexcept override { return {}; }
  ICudaEngine* deserializeCudaEngineV2(IStreamReaderV2&) noexcept override { return {}; }
};

class UnusedEngine : public apiv::VCudaEngine {
public:
  int32_t getNbLayers() const noexcept override { return {}; }
  IHostMemory* serialize() const noexcept override { return {}; }
  bool isRefittable() const noexcept override { return {}; }
  EngineCapability getEngineCapability() const noexcept override { return {}; }
  TacticSources getTacticSources() const noexcept override { return {}; }
  ProfilingVerbosity getProfilingVerbosity() const noexcept override { return {}; }
  IEngineInspector* createEngineInspector() const noexcept override { return {}; }
  int32_t getTensorBytesPerComponent(char const*) const noexcept override { return {}; }
  int32_t getTensorComponentsPerElement(char const*) const noexcept override { return {}; }
  TensorFormat getTensorFormat(char const*) const noexcept override { return {}; }
  char const* getTensorFormatDesc(char const*) const noexcept override { return {}; }
  int32_t getTensorVectorizedDim(char const*) const noexcept override { return {}; }
  HardwareCompatibilityLevel getHardwareCompatibilityLevel() const noexcept override { return {}; }
  int32_t getNbAuxStreams() const noexcept override { return {}; }
  int32_t getTensorBytesPerComponentV2(char const*, int32_t) const noexcept override { return {}; }
  int32_t getTensorComponentsPerElementV2(char const*, int32_t) const noexcept override { return {}; }
  TensorFormat getTensorFormatV2(char const*, int32_t) const noexcept override { return {}; }
  char const* getTensorFormatDescV2(char const*, int32_t) const noexcept override { return {}; }
  int32_t getTensorVectorizedDimV2(char const*, int32_t) const noexcept override { return {}; }
  ISerializationConfig* createSerializationConfig() noexcept override { return {}; }
  IHostMemory* serializeWithConfig(ISerializationConfig&) const noexcept override { return {}; }
  IRefitter* createRefitter(ILogger&) noexcept override { return {}; }
  int64_t getStreamableWeightsSize() const noexcept override { return {}; }
  bool isDebugTensor(char const*) const noexcept override { return {}; }
  bool setWeightStreamingBudgetV2(int64_t) noexcept override { return {}; }
  int64_t getWeightStreamingBudgetV2() const noexcept override { return {}; }
  int64_t getWeightStreamingAutomaticBudget() const noexcept override { return {}; }
  int64_t getWeightStreamingScratchMemorySize() const noexcept override { return {}; }
  int64_t getDeviceMemorySizeV2() const noexcept override { return {}; }
  int64_t getDeviceMemorySizeForProfileV2(int32_t) const noexcept override { return {}; }
  int64_t const* getProfileTensorValuesV2(char const*, int32_t, OptProfileSelector) const noexcept override { return {}; }
  IExecutionContext* createExecutionContextWithRuntimeConfig(IRuntimeConfig*) noexcept override { return {}; }
  IRuntimeConfig* createRuntimeConfig() noexcept override { return {}; }
  int64_t getEngineStat(EngineStat) const noexcept override { return {}; }
  char const* getAliasedInputTensor(char const*) const noexcept override { return {}; }
};

class UnusedContext : public apiv::VExecutionContext {
public:
  void setDebugSync(bool) noexcept override {}
  bool getDebugSync() const noexcept override { return {}; }
  void setProfiler(IProfiler*) noexcept override {}
  IProfiler* getProfiler() const noexcept override { return {}; }
  void setName(char const*) noexcept override {}
  char const* getName() const noexcept override { return {}; }
  void setDeviceMemory(void*) noexcept override {}
  bool allInputDimensionsSpecified() const noexcept override { return {}; }
  bool executeV2(void* const*) noexcept override { return {}; }
  void setEnqueueEmitsProfile(bool) noexcept override {}
  bool getEnqueueEmitsProfile() const noexcept override { return {}; }
  bool reportToProfiler() const noexcept override { return {}; }
  Dims getTensorStrides(char const*) const noexcept override { return {}; }
  void const* getTensorAddress(char const*) const noexcept override { return {}; }
  bool setOutputTensorAddress(char const*, void*) noexcept override { return {}; }
  int32_t inferShapes(int32_t, char const**) noexcept override { return {}; }
  bool setInputConsumedEvent(cudaEvent_t) noexcept override { return {}; }
  cudaEvent_t getInputConsumedEvent() const noexcept override { return {}; }
  void* getOutputTensorAddress(char const*) const noexcept override { return {}; }
  IOutputAllocator* getOutputAllocator(char const*) noexcept override { return {}; }
  int64_t getMaxOutputSize(char const*) const noexcept override { return {}; }
  bool setTemporaryStorageAllocator(IGpuAllocator*) noexcept override { return {}; }
  IGpuAllocator* getTemporaryStorageAllocator() const noexcept override { return {}; }
  void setPersistentCacheLimit(size_t) noexcept override {}
  size_t getPersistentCacheLimit() const noexcept override { return {}; }
  bool setNvtxVerbosity(ProfilingVerbosity) noexcept override { return {}; }
  ProfilingVerbosity getNvtxVerbosity() const noexcept override { return {}; }
  void setAuxStreams(cudaStream_t*, int32_t) noexcept override {}
  bool setDebugListener(IDebugListener*) noexcept override { return {}; }
  IDebugListener* getDebugListener() noexcept override { return {}; }
  bool setTensorDebugState(char const*, bool) noexcept override { return {}; }
  bool getDebugState(char const*) const noexcept override { return {}; }
  bool setAllTensorsDebugState(bool) noexcept override { return {}; }
  size_t updateDeviceMemorySizeForShapes() noexcept override { return {}; }
  void setDeviceMemoryV2(void*, int64_t) noexcept override {}
  IRuntimeConfig* getRuntimeConfig() const noexcept override { return {}; }
  bool setUnfusedTensorsDebugState(bool) noexcept override { return {}; }
  bool getUnfusedTensorsDebugState() const noexcept override { return {}; }
  bool setCommunicator(void*) noexcept override { return {}; }
};

} // namespace latewood::standin
// clang-format on

#endif // LATEWOOD_TEST_TENSORRT_UNUSED_H
