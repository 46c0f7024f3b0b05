// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Closes clusters. What a cluster takes from the host becomes an operand, except constants that are cheap to repeat;
// what it gives back is computed by it: values that merely pass through, or are given twice, are the host's business,
// because in destination style each result has memory of its own.
//
// In:  open clusters (plan.cluster), whose dynamic extents are scalars of the host.
// Out: plan.dps_cluster and plan.alloc_cluster. Each distinct extent of an operand is an operand itself.

#include "latewood/compiler/Cluster/Passes.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace latewood::cluster {

#define GEN_PASS_DEF_CREATECLOSEDREGIONSPASS
#include "latewood/compiler/Cluster/Passes.h.inc"

namespace {

// Whether a constant is copied into clusters rather than passed to them.
bool isCheapConstant(Operation *op, int64_t maxBytes) {
  ElementsAttr value;
  if (!op || op->getNumOperands() != 0 || !matchPattern(op, m_Constant(&value)))
    return false;
  if (value.isSplat())
    return true;
  Type element = value.getElementType();
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * value.getNumElements() * llvm::divideCeil(complex.getElementType().getIntOrFloatBitWidth(), 8) <=
           maxBytes;
  return element.isIntOrFloat() &&
         value.getNumElements() * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8) <= maxBytes;
}

class CreateClosedRegionsPass : public impl::CreateClosedRegionsPassBase<CreateClosedRegionsPass> {
public:
  using CreateClosedRegionsPassBase::CreateClosedRegionsPassBase;

  void runOnOperation() override {
    SmallVector<plan::ClusterOp> clusters;
    getOperation().walk([&](plan::ClusterOp cluster) { clusters.push_back(cluster); });
    for (plan::ClusterOp cluster : clusters)
      close(cluster);
  }

private:
  // Gives the cluster's users what needs no computation by it, and returns the values that it must still yield, each
  // once.
  static SmallVector<Value> dropTrivialResults(plan::ClusterOp cluster, SmallVectorImpl<Value> &oldResults) {
    auto yield = cast<plan::YieldOp>(cluster.getBody().front().getTerminator());
    SmallVector<Value> computed;
    for (auto [inner, outer] : llvm::zip(yield.getResults(), cluster.getResults())) {
      if (outer.use_empty())
        continue;
      if (!cluster->isProperAncestor(inner.getParentBlock()->getParentOp()) &&
          inner.getParentRegion() != &cluster.getBody()) {
        outer.replaceAllUsesWith(inner); // a value of the host
      } else if (auto *first = llvm::find(computed, inner); first != computed.end()) {
        outer.replaceAllUsesWith(oldResults[first - computed.begin()]);
      } else {
        computed.push_back(inner);
        oldResults.push_back(outer);
      }
    }
    return computed;
  }

  // What a cluster takes from the host.
  struct Closure {
    SetVector<Value> inputs;
    /// Constants, and shapes that are given as scalars: they are repeated inside.
    SetVector<Operation *> copied;
    /// Inputs of dynamic shape.
    SmallVector<plan::WithShapeOp> shaped;
  };

  static Closure capture(plan::ClusterOp cluster, int64_t maxConstantBytes) {
    SetVector<Value> captured;
    getUsedValuesDefinedAbove(cluster.getBody(), captured);
    Closure closure;
    auto add = [&](Value value) {
      Operation *definition = value.getDefiningOp();
      if (isa_and_nonnull<arith::ConstantOp>(definition) || isCheapConstant(definition, maxConstantBytes))
        closure.copied.insert(definition);
      else
        closure.inputs.insert(value);
    };
    for (Value value : captured) {
      if (auto shaped = value.getDefiningOp<plan::WithShapeOp>()) {
        closure.inputs.insert(shaped.getOperand());
        // Also those that are constants: an engine finds the extents of an argument among the arguments.
        closure.inputs.insert(shaped.getExtents().begin(), shaped.getExtents().end());
        closure.shaped.push_back(shaped);
      } else if (auto values = value.getDefiningOp<plan::WithValuesOp>()) {
        llvm::for_each(values.getElements(), add);
        if (Operation *place = values.getOperand().getDefiningOp<tensor::EmptyOp>())
          closure.copied.insert(place);
        else
          add(values.getOperand());
        closure.copied.insert(values);
      } else {
        add(value);
      }
    }
    return closure;
  }

  // Uninitialized tensors of the results' types. Nothing if the extents of one are computed in the cluster.
  static std::optional<SmallVector<Value>> createDestinations(plan::ClusterOp cluster, ArrayRef<Value> yielded,
                                                              SetVector<Value> &inputs, OpBuilder &builder) {
    SmallVector<Value> outs;
    for (Value value : yielded) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      auto shaped = value.getDefiningOp<plan::WithShapeOp>();
      if (!type || (!type.hasStaticShape() && !shaped) ||
          (shaped && llvm::any_of(shaped.getExtents(), [&](Value extent) {
             return cluster->isAncestor(extent.getParentBlock()->getParentOp());
           })))
        return std::nullopt;
    }
    for (Value value : yielded) {
      auto type = cast<RankedTensorType>(value.getType());
      auto shaped = value.getDefiningOp<plan::WithShapeOp>();
      ValueRange extents = shaped ? ValueRange(shaped.getExtents()) : ValueRange();
      inputs.insert(extents.begin(), extents.end());
      outs.push_back(
          tensor::EmptyOp::create(builder, cluster.getLoc(), type.getShape(), type.getElementType(), extents));
    }
    return outs;
  }

  // For each operand the numbers of the operands that are its extents; null if all shapes are static.
  static ArrayAttr describeExtents(ArrayRef<Value> operands, const Closure &closure, OpBuilder &builder) {
    auto isDynamic = [](Value value) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      return type && !type.hasStaticShape();
    };
    if (llvm::none_of(operands, isDynamic))
      return {};
    SmallVector<Attribute> lists;
    for (Value operand : operands) {
      ValueRange extents;
      if (auto empty = operand.getDefiningOp<tensor::EmptyOp>())
        extents = empty.getDynamicSizes();
      for (plan::WithShapeOp shaped : closure.shaped)
        if (shaped.getOperand() == operand)
          extents = shaped.getExtents();
      lists.push_back(builder.getDenseI64ArrayAttr(llvm::map_to_vector(extents, [&](Value extent) {
        return static_cast<int64_t>(llvm::find(operands, extent) - operands.begin());
      })));
    }
    return builder.getArrayAttr(lists);
  }

  void close(plan::ClusterOp cluster) {
    SmallVector<Value> oldResults;
    SmallVector<Value> yielded = dropTrivialResults(cluster, oldResults);
    plan::EngineAttrInterface engine = cluster.getTarget();
    Location loc = cluster.getLoc();
    OpBuilder builder(cluster);

    Closure closure = capture(cluster, engine.getMaxInlineConstantBytes());

    SmallVector<Type> types = llvm::to_vector(ValueRange(yielded).getTypes());
    std::optional<SmallVector<Value>> outs;
    if (engine.prefersDestinations() && !llvm::is_contained(allocating, engine.getEngineName())) {
      outs = createDestinations(cluster, yielded, closure.inputs, builder);
      if (!outs)
        cluster.emitRemark(
            "cluster allocates its results: a result has a shape that is not known before it is computed");
    }
    SmallVector<Value> operands = llvm::to_vector(closure.inputs);
    if (outs)
      llvm::append_range(operands, *outs);
    ArrayAttr extents = describeExtents(operands, closure, builder);

    Operation *closed;
    if (outs)
      closed = plan::DPSClusterOp::create(builder, loc, types, engine, closure.inputs.getArrayRef(), *outs, extents);
    else
      closed = plan::AllocClusterOp::create(builder, loc, types, engine, closure.inputs.getArrayRef(), extents);

    Block *body = builder.createBlock(&closed->getRegion(0));
    IRMapping mapping;
    for (Value operand : operands) {
      BlockArgument argument = body->addArgument(operand.getType(), operand.getLoc());
      if (body->getNumArguments() <= closure.inputs.size())
        mapping.map(operand, argument);
    }
    for (Operation *constant : closure.copied)
      if (!mapping.contains(constant->getResult(0)))
        builder.clone(*constant, mapping);
    for (plan::WithShapeOp shaped : closure.shaped)
      mapping.map(shaped.getResult(), builder.clone(*shaped, mapping)->getResult(0));
    for (Operation &op : cluster.getBody().front().without_terminator())
      builder.clone(op, mapping);
    SmallVector<Value> results;
    for (Value value : yielded)
      results.push_back(mapping.lookup(value));
    plan::YieldOp::create(builder, loc, results);

    for (auto [old, result] : llvm::zip(oldResults, closed->getResults()))
      old.replaceAllUsesWith(result);
    cluster.erase();
  }
};

} // namespace
} // namespace latewood::cluster
