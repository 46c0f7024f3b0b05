// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ends a phase: checks its postcondition, then stamps the module.

#include "latewood/compiler/Driver/Passes.h"
#include "latewood/compiler/Driver/Phases.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace latewood::driver {

#define GEN_PASS_DEF_FINISHPHASEPASS
#include "latewood/compiler/Driver/Passes.h.inc"

namespace {

class FinishPhasePass : public impl::FinishPhasePassBase<FinishPhasePass> {
public:
  using FinishPhasePassBase::FinishPhasePassBase;

  void runOnOperation() override {
    const Phase *phase = findPhase(name);
    if (!phase) {
      SmallVector<StringRef> names(llvm::map_range(getPhases(), [](const Phase &phase) { return phase.name; }));
      getOperation().emitError() << "unknown phase '" << name << "'; the phases are " << llvm::join(names, ", ");
      return signalPassFailure();
    }
    if (failed(phase->verify(getOperation())))
      return signalPassFailure();
    getOperation()->setAttr(phaseAttrName, StringAttr::get(&getContext(), name));
  }
};

} // namespace
} // namespace latewood::driver
