// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pass ExpandOperations: replaces operations by simpler StableHLO until none has an expansion. What an engine could
// do natively and better is not in the table; so the pass asks no engine.

#include "latewood/compiler/Input/ExpandOperations.h"
#include "latewood/compiler/Dialect/CHLO/CHLO.h"
#include "latewood/compiler/Input/Passes.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace latewood::input {

#define GEN_PASS_DEF_EXPANDOPERATIONSPASS
#include "latewood/compiler/Input/Passes.h.inc"

static bool isDynamicType(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && !shaped.hasStaticShape();
}

static bool hasDynamicTypes(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isDynamicType) || llvm::any_of(op->getResultTypes(), isDynamicType);
}

Expansion ExpansionTable::lookup(Operation *op) const {
  auto call = dyn_cast<stablehlo::CustomCallOp>(op);
  Entry entry = call ? calls.lookup(call.getCallTargetName()) : operations.lookup(op->getName().getStringRef());
  if (!entry.expansion || entry.dynamic == Dynamic::All || !hasDynamicTypes(op))
    return entry.expansion;
  size_t needed = entry.dynamic == Dynamic::AllButOne ? 1 : 2;
  auto operand = op->getNumOperands() > 0 ? dyn_cast<RankedTensorType>(op->getOperand(0).getType()) : nullptr;
  if (entry.dynamic == Dynamic::None || !operand || operand.getShape().size() < needed ||
      llvm::any_of(operand.getShape().take_back(needed), isDynamic))
    return nullptr;
  return entry.expansion;
}

/// What returns a value, or carries it through a loop, needs its very type: `?` stays `?`.
static void keepTypeWhereNeeded(ImplicitLocOpBuilder &b, Value &result, Value old) {
  auto needsType = [](Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>() || isa<stablehlo::WhileOp>(user);
  };
  if (result.getType() != old.getType() && llvm::any_of(old.getUsers(), needsType))
    result = stablehlo::ConvertOp::create(b, old.getType(), result);
}

func::FuncOp findComputation(stablehlo::CustomCallOp call) {
  auto computations = call.getCalledComputations();
  if (computations.size() != 1)
    return {};
  auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, cast<FlatSymbolRefAttr>(computations[0]));
  return function && !function.isExternal() ? function : func::FuncOp();
}

void cloneComputation(ImplicitLocOpBuilder &b, func::FuncOp computation, Region &region) {
  IRMapping mapping;
  computation.getBody().cloneInto(&region, mapping);
  // The computation is a function of its own, and may end as one.
  Operation *terminator = region.front().getTerminator();
  if (isa<stablehlo::ReturnOp>(terminator))
    return;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(terminator);
  stablehlo::ReturnOp::create(b, terminator->getOperands());
  terminator->erase();
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
    getOperation().walk([&](stablehlo::CustomCallOp call) { dropShapeOperands(call); });
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
        OpenShapes shapes(b);
        FailureOr<SmallVector<Value>> results = expansion(b, op);
        if (failed(results))
          return signalPassFailure();
        bool isExpanded = results->size() == op->getNumResults();
        // Null values stand for results that nobody uses.
        if (isExpanded && !op->use_empty()) {
          for (auto [result, old] : llvm::zip_equal(*results, op->getResults()))
            keepTypeWhereNeeded(b, result, old);
          op->replaceAllUsesWith(*results);
        }
        // Shapes that are made of nothing are those of the operation itself. A result may be made of nothing, too:
        // closing replaces it, so its users must be known by now.
        if (failed(shapes.close(op, op->getOperands())))
          return signalPassFailure();
        if (!isExpanded)
          continue;
        op->erase();
        changed = true;
      }
    } while (changed);
    // A computation that a call named may be a function that ends as a region does; nobody can call it.
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (!function.isExternal() &&
          (function.isPrivate() || isa<stablehlo::ReturnOp>(function.getBody().back().getTerminator())) &&
          SymbolTable::symbolKnownUseEmpty(function, getOperation()))
        function.erase();
  }

private:
  /// A call of dynamic results takes their shapes as its last operands, when it says so. An expansion finds shapes by
  /// itself.
  void dropShapeOperands(stablehlo::CustomCallOp call) {
    auto shapes = call->getAttrOfType<DenseIntElementsAttr>("indices_of_shape_operands");
    if (!shapes || !table.lookup(call))
      return;
    int64_t first = call->getNumOperands() - shapes.getNumElements();
    for (auto [i, place] : llvm::enumerate(shapes.getValues<APInt>()))
      if (first < 0 || place.getSExtValue() != first + static_cast<int64_t>(i))
        return;
    call->eraseOperands(first, shapes.getNumElements());
    call->removeAttr("indices_of_shape_operands");
    if (std::optional<ArrayAttr> layouts = call.getOperandLayouts())
      call.setOperandLayoutsAttr(ArrayAttr::get(&getContext(), layouts->getValue().take_front(first)));
  }

  ExpansionTable table;
};

} // namespace
} // namespace latewood::input
