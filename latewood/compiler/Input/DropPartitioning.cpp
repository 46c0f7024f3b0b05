// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass DropPartitioning: on one device, annotations of how values are distributed are identities.
//
// In: a module that may hold sharding custom calls and the dialect `sdy`. Out: a module that holds neither. The dialect
// is looked at by names only, so the pass does not depend on which of its operations are defined here.

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Input/Passes.h"
#include "llvm/ADT/StringSet.h"

namespace latewood::input {
#define GEN_PASS_DEF_DROPPARTITIONINGPASS
#include "latewood/compiler/Input/Passes.h.inc"
} // namespace latewood::input

using namespace mlir;
using namespace latewood;

/// Custom calls that give their operand back when there is one device.
static bool isIdentityOnOneDevice(stablehlo::CustomCallOp call) {
  static const llvm::StringSet<> targets = {"Sharding",
                                            "SPMDFullToShardShape",
                                            "SPMDShardToFullShape",
                                            "LocalToGlobalShape",
                                            "GlobalToLocalShape",
                                            "annotate_device_placement",
                                            "xla.sdy.Sharding",
                                            "xla.sdy.FuncResultSharding",
                                            "xla.sdy.GlobalToLocalShape",
                                            "xla.sdy.LocalToGlobalShape"};
  return targets.contains(call.getCallTargetName());
}

/// Makes uses of `op`'s results uses of `values`. The types must be the same.
static LogicalResult replaceBy(Operation *op, ValueRange values) {
  if (op->getResultTypes() != values.getTypes())
    return op->emitError() << "'" << op->getName() << "' changes the type from " << values.getTypes() << " to "
                           << op->getResultTypes() << ", which one device cannot mean";
  op->replaceAllUsesWith(values);
  op->erase();
  return success();
}

/// Moves the body of a manual computation to where it stands.
static LogicalResult inlineManualComputation(Operation *op) {
  Block &body = op->getRegion(0).front();
  if (body.getArgumentTypes() != op->getOperandTypes())
    return op->emitError() << "computes on parts of its operands: a program for several devices cannot run on one";
  for (auto [argument, operand] : llvm::zip_equal(body.getArguments(), op->getOperands()))
    argument.replaceAllUsesWith(operand);
  Operation *terminator = body.getTerminator();
  SmallVector<Value> results(terminator->getOperands());
  terminator->erase();
  op->getBlock()->getOperations().splice(Block::iterator(op), body.getOperations());
  return replaceBy(op, results);
}

static bool isPartitioningAttribute(NamedAttribute attribute) {
  return attribute.getName() == "mhlo.sharding" || attribute.getName().strref().starts_with("sdy.");
}

static ArrayAttr dropPartitioning(ArrayAttr dictionaries) {
  if (!dictionaries)
    return dictionaries;
  SmallVector<Attribute> kept;
  for (auto dictionary : dictionaries.getAsRange<DictionaryAttr>())
    kept.push_back(DictionaryAttr::get(
        dictionaries.getContext(), llvm::to_vector(llvm::make_filter_range(dictionary, [](NamedAttribute attribute) {
          return !isPartitioningAttribute(attribute);
        }))));
  return ArrayAttr::get(dictionaries.getContext(), kept);
}

namespace {

struct DropPartitioningPass : input::impl::DropPartitioningPassBase<DropPartitioningPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (StringRef name : {"mhlo.num_partitions", "mhlo.num_replicas"}) {
      auto count = module->getAttrOfType<IntegerAttr>(name);
      if (count && count.getInt() > 1) {
        module.emitError() << "the program is for " << count.getInt() << " devices (attribute '" << name
                           << "'); only programs for one device can be compiled";
        return signalPassFailure();
      }
    }

    // Attributes of the dialect on the module (mhlo.frontend_attributes holds a textual copy) and on functions.
    SmallVector<Operation *> annotations;
    module->walk([&](Operation *op) {
      if (auto function = dyn_cast<func::FuncOp>(op)) {
        if (ArrayAttr attributes = dropPartitioning(function.getArgAttrsAttr()))
          function.setArgAttrsAttr(attributes);
        if (ArrayAttr attributes = dropPartitioning(function.getResAttrsAttr()))
          function.setResAttrsAttr(attributes);
      }
      for (NamedAttribute attribute : llvm::to_vector(op->getDiscardableAttrs()))
        if (isPartitioningAttribute(attribute))
          op->removeDiscardableAttr(attribute.getName());
      auto call = dyn_cast<stablehlo::CustomCallOp>(op);
      if (op->getName().getDialectNamespace() == "sdy" || (call && isIdentityOnOneDevice(call)))
        annotations.push_back(op);
    });

    // The walk was post-order: what is inside a manual computation comes first, its terminator aside.
    for (Operation *op : annotations) {
      StringRef name = op->getName().getStringRef();
      LogicalResult result = success();
      if (name == "sdy.return")
        continue;
      if (name == "sdy.mesh")
        op->erase();
      else if (name == "sdy.manual_computation")
        result = inlineManualComputation(op);
      else if (name == "sdy.sharding_group")
        op->erase();
      else
        result = replaceBy(op, op->getOperands());
      if (failed(result))
        return signalPassFailure();
    }
  }
};

} // namespace
