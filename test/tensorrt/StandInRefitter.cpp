// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stand-in's refitter. What weights an engine needs, a test says: `standin_need_weights("w0,w0.1,w2")`. What it got
// is told by `standin_given_weights()`: a line for each, with its name, its type, the number of its elements, and the
// first.

#include <NvInferRuntime.h>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace latewood::standin {
using namespace nvinfer1; // the interfaces' own names

static std::mutex weightsMutex;
static std::vector<std::string> needed;
static std::string given;

// clang-format off
class Refitter final : public apiv::VRefitter, public IRefitter {
public:
  Refitter() { mImpl = this; }
  IRefitter* getPImpl() noexcept override { return this; }
  bool setNamedWeights(char const* name, Weights weights) noexcept override {
    std::lock_guard lock(weightsMutex);
    if (weights.count <= 0 || !weights.values)
      return false;
    float first = 0;
    if (weights.type == DataType::kFLOAT)
      std::memcpy(&first, weights.values, sizeof first);
    given += std::string(name) + " " + std::to_string(static_cast<int>(weights.type)) + " " + std::to_string(weights.count) + " " + std::to_string(first) + "\n";
    ++count;
    return true;
  }
  int32_t getAllWeights(int32_t size, char const** names) noexcept override {
    std::lock_guard lock(weightsMutex);
    for (size_t i = 0; i < needed.size() && i < static_cast<size_t>(size); ++i)
      names[i] = needed[i].c_str();
    return static_cast<int32_t>(needed.size());
  }
  bool refitCudaEngine() noexcept override {
    std::lock_guard lock(weightsMutex);
    return count == needed.size();
  }
  bool setWeights(char const*, WeightsRole, const Weights) noexcept override { return {}; }
  int32_t getMissing(int32_t, char const**, WeightsRole*) noexcept override { return {}; }
  int32_t getAll(int32_t, char const**, WeightsRole*) noexcept override { return {}; }
  void setErrorRecorder(IErrorRecorder*) noexcept override {}
  IErrorRecorder* getErrorRecorder() const noexcept override { return {}; }
  int32_t getMissingWeights(int32_t, char const**) noexcept override { return {}; }
  ILogger* getLogger() const noexcept override { return {}; }
  bool setMaxThreads(int32_t) noexcept override { return {}; }
  int32_t getMaxThreads() const noexcept override { return {}; }
  bool setNamedWeightsWithLocation(char const*, Weights, TensorLocation) noexcept override { return {}; }
  Weights getNamedWeights(char const*) const noexcept override { return {}; }
  TensorLocation getWeightsLocation(char const*) const noexcept override { return {}; }
  bool unsetNamedWeights(char const*) noexcept override { return {}; }
  void setWeightsValidation(bool) noexcept override {}
  bool getWeightsValidation() const noexcept override { return {}; }
  bool refitCudaEngineAsync(cudaStream_t) noexcept override { return {}; }
  Weights getWeightsPrototype(char const*) const noexcept override { return {}; }

private:
  size_t count = 0;
};
// clang-format on

} // namespace latewood::standin

using namespace latewood::standin;

EXPORT void *createInferRefitter_INTERNAL(void *, void *, int32_t) noexcept {
  return static_cast<nvinfer1::IRefitter *>(new Refitter());
}

EXPORT void standin_need_weights(const char *list) {
  std::lock_guard lock(weightsMutex);
  needed.clear();
  given.clear();
  for (std::string_view rest = list; !rest.empty();) {
    size_t comma = rest.find(',');
    needed.emplace_back(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
}

EXPORT const char *standin_given_weights() {
  std::lock_guard lock(weightsMutex);
  return given.c_str();
}
