// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks the public functions, so that no later phase meets a signature that an executable cannot have.

#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Import/Passes.h"

using namespace mlir;

namespace latewood::import {

#define GEN_PASS_DEF_CHECKSIGNATURESPASS
#include "latewood/compiler/Import/Passes.h.inc"

namespace {

class CheckSignaturesPass : public impl::CheckSignaturesPassBase<CheckSignaturesPass> {
public:
  void runOnOperation() override {
    bool found = false, failed = false;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isPrivate())
        continue;
      found = true;
      auto check = [&](TypeRange types, StringRef kind) {
        for (auto [index, type] : llvm::enumerate(types)) {
          auto tensor = dyn_cast<RankedTensorType>(type);
          // A quantized tensor is passed as the integers that hold it.
          Type element = tensor ? stablehlo::getStorageType(tensor.getElementType()) : Type();
          if (tensor && executor::getElementBytes(element) != 0) {
            if (!tensor.hasStaticShape() ||
                succeeded(executor::getByteSize(MemRefType::get(tensor.getShape(), element))))
              continue;
            function.emitError() << "public function '" << function.getName() << "': " << kind << " " << index << " is "
                                 << type << ", which has more bytes than can be counted";
            failed = true;
            continue;
          }
          function.emitError() << "public function '" << function.getName() << "': " << kind << " " << index << " is "
                               << type << "; expected a ranked tensor of integers, floats or complex numbers";
          failed = true;
        }
      };
      check(function.getArgumentTypes(), "argument");
      check(function.getResultTypes(), "result");
    }
    if (!found) {
      getOperation().emitError("the module has no public function; expected one, usually 'main'");
      failed = true;
    }
    if (failed)
      signalPassFailure();
  }
};

} // namespace
} // namespace latewood::import
