// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU engine's answers to the clustering passes. It takes what its conversion to linalg takes: the conversion
// itself is asked, so that the two cannot disagree.

#include "latewood/compiler/Engines/CPU/Engine.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalg.h"

using namespace mlir;
using namespace latewood;

namespace {

struct CPUEngineModel : plan::EngineAttrInterface::ExternalModel<CPUEngineModel, plan::CPUEngineAttr> {
  StringRef getEngineName(Attribute) const { return "cpu"; }

  bool takes(Attribute, Operation *op, std::string &reason) const {
    std::optional<std::string> why = cpu::whyNotConvertible(op);
    if (why)
      reason = std::move(*why);
    return !why;
  }

  // The engine of last resort: others are asked first.
  int64_t getBenefit(Attribute) const { return 0; }

  bool prefersDestinations(Attribute) const { return true; }

  // One cache line: more belongs into the file, where it is aligned and shared.
  int64_t getMaxInlineConstantBytes(Attribute) const { return 64; }
};

} // namespace

void cpu::registerEngineModel(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, plan::PlanDialect *) {
    plan::CPUEngineAttr::attachInterface<CPUEngineModel>(*context);
  });
}
