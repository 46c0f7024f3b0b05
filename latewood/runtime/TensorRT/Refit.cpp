// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "latewood/runtime/TensorRT/Refit.h"

#include <map>

using namespace latewood::runtime;

namespace latewood::tensorrt {

Status refit(TensorRTEngine &engine, const format::EngineWeights &parts) {
  const Libraries &libraries = *engine.owner.libraries;
  std::string prefix = "engine '" + engine.engineName + "' was built without weights, ";
  if (!libraries.createInferRefitter)
    return unavailable(prefix + "which " + libraries.name + " cannot give to it");
  std::unique_ptr<nvinfer1::IRefitter> refitter(static_cast<nvinfer1::IRefitter *>(
      libraries.createInferRefitter(engine.engine.get(), &engine.owner.logger, NV_TENSORRT_VERSION)));
  auto because = [&]() {
    std::string why = engine.owner.takeErrors();
    return why.empty() ? std::string("TensorRT gives no reason") : why;
  };
  if (!refitter)
    return unavailable(prefix + "and takes none: " + because());
  std::map<std::string_view, const format::EngineWeights::Weights *> weights;
  for (const auto &each : parts.weights)
    weights[each.name] = &each;
  std::vector<const char *> names(static_cast<size_t>(std::max(refitter->getAllWeights(0, nullptr), 0)));
  refitter->getAllWeights(static_cast<int32_t>(names.size()), names.data());
  for (const char *name : names) {
    // One constant may be several weights of the engine: `w3`, `w3.1`.
    std::string_view base = name;
    base = base.substr(0, base.find('.'));
    auto found = weights.find(base);
    if (found == weights.end())
      return dataCorruption(prefix + "and needs '" + name + "', which the file has not");
    const auto &given = *found->second;
    nvinfer1::Weights value{static_cast<nvinfer1::DataType>(given.elementType), given.bytes.data(), given.count};
    if (!refitter->setNamedWeights(name, value))
      return dataCorruption(prefix + "and does not take '" + name + "' as the file has it: " + because());
  }
  if (!refitter->refitCudaEngine())
    return unavailable(prefix + "and does not take those of the file: " + because());
  return okStatus();
}

} // namespace latewood::tensorrt
