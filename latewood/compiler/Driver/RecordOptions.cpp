// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Records options and target on the module: everything after this pass depends on the module alone.

#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Driver/BoundsOption.h"
#include "latewood/compiler/Driver/OptionText.h"
#include "latewood/compiler/Driver/Passes.h"
#include "latewood/compiler/Driver/Phases.h"
#include "latewood/compiler/Target/Target.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace latewood::driver {

#define GEN_PASS_DEF_RECORDOPTIONSPASS
#include "latewood/compiler/Driver/Passes.h.inc"

namespace {

class RecordOptionsPass : public impl::RecordOptionsPassBase<RecordOptionsPass> {
public:
  using RecordOptionsPassBase::RecordOptionsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto resolved = target::Target::resolve(decodeOptionText(target));
    if (!resolved) {
      module.emitError() << llvm::toString(resolved.takeError());
      return signalPassFailure();
    }
    if (host != "native" && host != "lua") {
      module.emitError() << "unknown host '" << host << "'; the hosts are native, lua";
      return signalPassFailure();
    }
    if (failed(applyBoundsOption(module, decodeOptionText(bounds))))
      return signalPassFailure();
    MLIRContext *context = &getContext();
    if (host != "native")
      module->setAttr(executor::ExecutorDialect::getHostAttrName(), StringAttr::get(context, host));
    module->setAttr(optionsAttrName, StringAttr::get(context, decodeOptionText(optionText)));
    module->setAttr(plan::PlanDialect::getTargetAttrName(),
                    plan::TargetAttr::get(context, target::Target::getTriple(), resolved->str(),
                                          llvm::join(resolved->features(), ",")));
  }
};

} // namespace
} // namespace latewood::driver
