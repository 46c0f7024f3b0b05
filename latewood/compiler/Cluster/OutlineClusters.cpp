// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Outlines closed clusters into functions. Each engine has a module of its own, so that its passes see nothing else and
// so that the host's passes do not look into engine code.
//
// In:  closed clusters.
// Out: plan.call and plan.call_alloc; nested modules of cluster functions.

#include "latewood/compiler/Cluster/Passes.h"
#include "latewood/compiler/Dialect/Plan/Profiles.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace latewood::cluster {

#define GEN_PASS_DEF_OUTLINECLUSTERSPASS
#include "latewood/compiler/Cluster/Passes.h.inc"

namespace {

class OutlineClustersPass : public impl::OutlineClustersPassBase<OutlineClustersPass> {
public:
  void runOnOperation() override {
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      unsigned number = 0;
      function.walk([&](Operation *op) {
        if (isa<plan::DPSClusterOp, plan::AllocClusterOp>(op))
          outline(op, (function.getName() + "_cluster_" + Twine(number++)).str());
      });
      // The host has the extents of what it passes as operands of the calls. What comes through control flow is a
      // buffer without extents, and keeps them here.
      function.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
        if (auto shaped = dyn_cast<plan::WithShapeOp>(op); shaped && !isCarried(shaped.getOperand()))
          shaped.replaceAllUsesWith(shaped.getOperand());
        if (isOpTriviallyDead(op))
          op->erase();
      });
    }
  }

private:
  static bool isCarried(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return !isa<func::FuncOp>(argument.getOwner()->getParentOp());
    return isa<scf::SCFDialect>(value.getDefiningOp()->getDialect());
  }

  // The nested module of an engine, made when it is first needed.
  ModuleOp getEngineModule(plan::EngineAttrInterface engine) {
    StringRef name = engine.getEngineName();
    if (auto module = getOperation().lookupSymbol<ModuleOp>(name))
      return module;
    OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
    auto module = ModuleOp::create(builder, getOperation().getLoc(), name);
    module->setAttr(plan::PlanDialect::getEngineAttrName(), engine);
    if (plan::TargetAttr target = plan::getTarget(getOperation()))
      module->setAttr(plan::PlanDialect::getTargetAttrName(), target);
    return module;
  }

  // The bounds of a value: those of its shape in the cluster that computes it, which was outlined before.
  Attribute boundsOf(Value value) {
    auto call = value.getDefiningOp<plan::CallOp>();
    auto callee = call ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCallee()) : func::FuncOp();
    if (!callee)
      return nullptr;
    unsigned out = callee.getNumArguments() - callee.getNumResults() + cast<OpResult>(value).getResultNumber();
    return callee.getArgAttr(out, plan::PlanDialect::getBoundsAttrName());
  }

  // The bounds of the scalar that dynamic dimension `number` of a shape is.
  static Attribute boundsOfExtent(plan::WithShapeOp shaped, unsigned number) {
    auto type = cast<RankedTensorType>(shaped.getType());
    int64_t dimension = 0;
    for (unsigned seen = 0; dimension < type.getRank(); ++dimension)
      if (type.isDynamicDim(dimension) && seen++ == number)
        break;
    SmallVector<plan::BoundsAttr> profiles;
    for (plan::BoundsAttr bounds : plan::getProfiles(shaped->getAttr(plan::PlanDialect::getBoundsAttrName()))) {
      auto entry = [&](DenseI64ArrayAttr list) { return DenseI64ArrayAttr::get(list.getContext(), list[dimension]); };
      profiles.push_back(plan::BoundsAttr::get(bounds.getContext(), entry(bounds.getMin()), entry(bounds.getOpt()),
                                               entry(bounds.getMax())));
    }
    return plan::makeProfiles(profiles);
  }

  // The bounds of what an argument is, or is the destination of. Destinations follow behind `inputs`.
  void setBounds(func::FuncOp function, OperandRange inputs) {
    StringRef name = plan::PlanDialect::getBoundsAttrName();
    unsigned inputCount = inputs.size();
    for (auto [index, input] : llvm::enumerate(inputs))
      if (Attribute bounds = boundsOf(input))
        function.setArgAttr(index, name, bounds);
    for (BlockArgument argument : function.getArguments())
      for (OpOperand &use : argument.getUses())
        if (auto shaped = dyn_cast<plan::WithShapeOp>(use.getOwner()); shaped && shaped->hasAttr(name)) {
          bool isTensor = use.getOperandNumber() == 0;
          function.setArgAttr(argument.getArgNumber(),
                              isTensor ? name : StringRef(plan::PlanDialect::getValueBoundsAttrName()),
                              isTensor ? shaped->getAttr(name) : boundsOfExtent(shaped, use.getOperandNumber() - 1));
        }
    if (function.getNumArguments() == inputCount)
      return;
    for (OpOperand &result : function.getBody().front().getTerminator()->getOpOperands())
      if (auto shaped = result.get().getDefiningOp<plan::WithShapeOp>(); shaped && shaped->hasAttr(name))
        function.setArgAttr(inputCount + result.getOperandNumber(), name, shaped->getAttr(name));
  }

  void outline(Operation *cluster, const std::string &name) {
    auto dps = dyn_cast<plan::DPSClusterOp>(cluster);
    plan::EngineAttrInterface engine = dps ? dps.getTarget() : cast<plan::AllocClusterOp>(cluster).getTarget();
    OperandRange inputs = dps ? dps.getInputs() : cast<plan::AllocClusterOp>(cluster).getInputs();
    ModuleOp module = getEngineModule(engine);

    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto type = builder.getFunctionType(cluster->getOperandTypes(), cluster->getResultTypes());
    auto function = func::FuncOp::create(builder, cluster->getLoc(), name, type);
    function.getBody().takeBody(cluster->getRegion(0));
    UnitAttr unit = builder.getUnitAttr();
    ArrayAttr extents = dps ? dps.getExtentsAttr() : cast<plan::AllocClusterOp>(cluster).getExtentsAttr();
    SmallVector<DictionaryAttr> attributes;
    for (unsigned index = 0; index < function.getNumArguments(); ++index) {
      NamedAttrList list;
      if (extents && index < extents.size() && !cast<DenseI64ArrayAttr>(extents[index]).empty())
        list.set(plan::PlanDialect::getExtentsAttrName(), extents[index]);
      if (index >= inputs.size())
        list.set(plan::PlanDialect::getOutAttrName(), unit);
      else if (isa<TensorType>(inputs[index].getType()) && matchPattern(inputs[index], m_Constant()))
        list.set(plan::PlanDialect::getConstantAttrName(), unit);
      attributes.push_back(list.getDictionary(builder.getContext()));
    }
    function.setAllArgAttrs(attributes);
    setBounds(function, inputs);
    Operation *yield = function.getBody().front().getTerminator();
    builder.setInsertionPoint(yield);
    func::ReturnOp::create(builder, yield->getLoc(), yield->getOperands());
    yield->erase();

    builder.setInsertionPoint(cluster);
    auto callee = SymbolRefAttr::get(module.getSymNameAttr(), {FlatSymbolRefAttr::get(function.getSymNameAttr())});
    Operation *call;
    if (dps)
      call = plan::CallOp::create(builder, cluster->getLoc(), cluster->getResultTypes(), callee, inputs, dps.getOuts());
    else
      call = plan::CallAllocOp::create(builder, cluster->getLoc(), cluster->getResultTypes(), callee, inputs);
    cluster->replaceAllUsesWith(call->getResults());
    cluster->erase();
  }
};

} // namespace
} // namespace latewood::cluster
