// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass ExpandComposites: a composite is an operation of the `chlo` dialect, when that has one of its name, or else
// a call.
//
// In: composites anywhere. Out: none. The verifier of the composite has checked that the decomposition fits.

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Input/Passes.h"
#include "llvm/ADT/StringSet.h"

namespace latewood::input {
#define GEN_PASS_DEF_EXPANDCOMPOSITESPASS
#include "latewood/compiler/Input/Passes.h.inc"
} // namespace latewood::input

using namespace mlir;
using namespace latewood;

/// The CHLO operation that a composite names, when engines compute it better than its decomposition does: elementary
/// functions, which take operands only and keep the type.
static Operation *createNamedOp(OpBuilder &builder, stablehlo::CompositeOp op) {
  static const llvm::StringSet<> names = {"chlo.acos",  "chlo.acosh",  "chlo.asin", "chlo.asinh",   "chlo.atan",
                                          "chlo.atanh", "chlo.cosh",   "chlo.erf",  "chlo.erf_inv", "chlo.erfc",
                                          "chlo.sinh",  "chlo.square", "chlo.tan"};
  if (!names.contains(op.getName()) || !op.getCompositeAttributes().empty() || op.getNumResults() != 1)
    return nullptr;
  if (op.getNumOperands() != 1 || op.getOperandTypes() != op.getResultTypes())
    return nullptr;
  std::optional<RegisteredOperationName> name = RegisteredOperationName::lookup(op.getName(), op.getContext());
  if (!name)
    return nullptr;
  OperationState state(op.getLoc(), *name);
  state.addOperands(op.getInputs());
  state.addTypes(op.getResultTypes());
  return builder.create(state);
}

/// What latewood-trim-results resolves, when it is known what the results are for.
static Operation *createCall(OpBuilder &builder, stablehlo::CompositeOp op) {
  auto call = stablehlo::CustomCallOp::create(builder, op.getLoc(), op.getResultTypes(), op.getInputs(),
                                              builder.getNamedAttr("call_target_name", op.getNameAttr()));
  // The version that takes a dictionary.
  call.setApiVersion(stablehlo::CustomCallApiVersion::API_VERSION_TYPED_FFI);
  call.setBackendConfigAttr(op.getCompositeAttributes());
  call.setCalledComputationsAttr(builder.getArrayAttr(op.getDecompositionAttr()));
  return call;
}

namespace {

struct ExpandCompositesPass : input::impl::ExpandCompositesPassBase<ExpandCompositesPass> {
  void runOnOperation() override {
    SmallVector<stablehlo::CompositeOp> composites;
    getOperation().walk([&](stablehlo::CompositeOp op) { composites.push_back(op); });
    for (stablehlo::CompositeOp op : composites) {
      OpBuilder builder(op);
      Operation *expansion = createNamedOp(builder, op);
      if (!expansion && (op.getName() == "latewood.nonzero" || op.getName() == "latewood.trim"))
        expansion = createCall(builder, op);
      if (!expansion) {
        auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, op.getDecompositionAttr());
        if (!function || function.isExternal()) {
          op.emitError() << "decomposition " << op.getDecompositionAttr() << " is no function with a body";
          return signalPassFailure();
        }
        expansion = func::CallOp::create(builder, op.getLoc(), function, op.getInputs());
      }
      op->replaceAllUsesWith(expansion);
      op->erase();
    }
  }
};

} // namespace
