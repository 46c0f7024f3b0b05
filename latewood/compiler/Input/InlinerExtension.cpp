// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inliner asks the dialect of every operation that it would move, and of the region that it would move into.

#include "latewood/compiler/Input/InlinerExtension.h"
#include "latewood/compiler/Dialect/CHLO/CHLO.h"
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace latewood;

namespace {

struct InlineAnywhere : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};

} // namespace

void input::registerInlinerExtension(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *, stablehlo::StableHLODialect *dialect) { dialect->addInterfaces<InlineAnywhere>(); });
  registry.addExtension(+[](MLIRContext *, chlo::CHLODialect *dialect) { dialect->addInterfaces<InlineAnywhere>(); });
}
