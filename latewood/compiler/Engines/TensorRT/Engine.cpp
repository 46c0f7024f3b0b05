// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The TensorRT engine's answers to the clustering passes. It takes what its conversion takes: the conversion itself is
// asked, so that the two cannot disagree.

#include "latewood/compiler/Engines/TensorRT/Engine.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Engines/TensorRT/StableHLOToTensorRT.h"

using namespace mlir;
using namespace latewood;

namespace {

struct TensorRTEngineModel : plan::EngineAttrInterface::ExternalModel<TensorRTEngineModel, plan::TensorRTEngineAttr> {
  StringRef getEngineName(Attribute) const { return "tensorrt"; }

  bool takes(Attribute, Operation *op, std::string &reason) const {
    std::optional<std::string> why = tensorrt::whyNotConvertible(op);
    if (why)
      reason = std::move(*why);
    return !why;
  }

  // What it can do, it does on a GPU.
  int64_t getBenefit(Attribute) const { return 10; }

  bool prefersDestinations(Attribute) const { return true; }

  // Weights belong into the engine, where TensorRT lays them out as its kernels want them.
  int64_t getMaxInlineConstantBytes(Attribute) const { return std::numeric_limits<int64_t>::max(); }
};

} // namespace

void tensorrt::registerEngineModel(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, plan::PlanDialect *) {
    plan::TensorRTEngineAttr::attachInterface<TensorRTEngineModel>(*context);
  });
}
