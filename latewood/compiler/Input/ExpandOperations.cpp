// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pass ExpandOperations: replaces operations by simpler StableHLO until none has an expansion. What an engine could
// do natively and better is not in the table; so the pass asks no engine.

#include "latewood/compiler/Input/ExpandOperations.h"
#include "latewood/compiler/Dialect/CHLO/CHLO.h"
#include "latewood/compiler/Input/Passes.h"

using namespace mlir;

namespace latewood::input {

#define GEN_PASS_DEF_EXPANDOPERATIONSPASS
#include "latewood/compiler/Input/Passes.h.inc"

Expansion ExpansionTable::lookup(Operation *op) const {
  auto isDynamic = [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return shaped && !shaped.hasStaticShape();
  };
  if (llvm::any_of(op->getOperandTypes(), isDynamic) || llvm::any_of(op->getResultTypes(), isDynamic))
    return nullptr;
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
    return calls.lookup(call.getCallTargetName());
  return operations.lookup(op->getName().getStringRef());
}

Type getComputeElement(Type element) { return element.isF64() ? element : Float32Type::get(element.getContext()); }

namespace {

class ExpandOperationsPass : public impl::ExpandOperationsPassBase<ExpandOperationsPass> {
public:
  LogicalResult initialize(MLIRContext *) override {
    addBroadcastingExpansions(table);
    addCollectiveExpansions(table);
    addDynamicExpansions(table);
    addFactorizationExpansions(table);
    addFourierExpansions(table);
    addGroupExpansions(table);
    addIterativeExpansions(table);
    addLegacyExpansions(table);
    addNormalizationExpansions(table);
    addRandomExpansions(table);
    addSelectionExpansions(table);
    addSpecialFunctionExpansions(table);
    addTriangularExpansions(table);
    return success();
  }

  void runOnOperation() override {
    // Inner operations come first, so that none is touched after the one around it is gone.
    SmallVector<std::pair<Operation *, Expansion>> found;
    bool changed;
    do {
      found.clear();
      changed = false;
      getOperation().walk([&](Operation *op) {
        if (Expansion expansion = table.lookup(op))
          found.push_back({op, expansion});
      });
      for (auto [op, expansion] : found) {
        ImplicitLocOpBuilder b(op->getLoc(), op);
        FailureOr<SmallVector<Value>> results = expansion(b, op);
        if (failed(results))
          return signalPassFailure();
        if (results->size() != op->getNumResults())
          continue;
        op->replaceAllUsesWith(*results);
        op->erase();
        changed = true;
      }
    } while (changed);
    // A computation that a call named is a function that ends as a region does; nobody can call it.
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (!function.isExternal() && isa<stablehlo::ReturnOp>(function.getBody().back().getTerminator()) &&
          SymbolTable::symbolKnownUseEmpty(function, getOperation()))
        function.erase();
  }

private:
  ExpansionTable table;
};

} // namespace
} // namespace latewood::input
