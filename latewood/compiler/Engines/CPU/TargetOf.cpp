// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the attribute of the `plan` dialect to a target.

#include "latewood/compiler/Engines/CPU/TargetOf.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"

using namespace mlir;
using namespace latewood;

FailureOr<target::Target> cpu::getTargetOf(Operation *op) {
  plan::TargetAttr attribute = plan::getTarget(op);
  if (!attribute)
    return target::Target(target::Level::V3);
  llvm::Expected<target::Target> resolved = target::Target::resolve(attribute.getCpu());
  if (!resolved)
    return op->emitError("target: ") << llvm::toString(resolved.takeError());
  return *resolved;
}
