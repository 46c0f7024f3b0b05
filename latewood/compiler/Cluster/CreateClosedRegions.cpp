// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Closes clusters. What a cluster takes from the host becomes an operand, except constants that are cheap to repeat;
// what it gives back is computed by it: values that merely pass through, or are given twice, are the host's business,
// because in destination style each result has memory of its own.
//
// In:  open clusters (plan.cluster).
// Out: plan.dps_cluster and plan.alloc_cluster.

#include "latewood/compiler/Cluster/Passes.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
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

  void close(plan::ClusterOp cluster) {
    SmallVector<Value> oldResults;
    SmallVector<Value> yielded = dropTrivialResults(cluster, oldResults);
    plan::EngineAttrInterface engine = cluster.getTarget();
    Location loc = cluster.getLoc();
    OpBuilder builder(cluster);

    SetVector<Value> captured;
    getUsedValuesDefinedAbove(cluster.getBody(), captured);
    SmallVector<Value> inputs;
    SmallVector<Operation *> copied;
    for (Value value : captured) {
      Operation *definition = value.getDefiningOp();
      if (isCheapConstant(definition, engine.getMaxInlineConstantBytes()))
        copied.push_back(definition);
      else
        inputs.push_back(value);
    }

    SmallVector<Type> types = llvm::to_vector(ValueRange(yielded).getTypes());
    auto isStatic = [](Type type) {
      return isa<RankedTensorType>(type) && cast<RankedTensorType>(type).hasStaticShape();
    };
    bool destinations = engine.prefersDestinations() && llvm::all_of(types, isStatic);
    SmallVector<Value> outs;
    if (destinations)
      for (Type type : types)
        outs.push_back(tensor::EmptyOp::create(builder, loc, cast<RankedTensorType>(type).getShape(),
                                               cast<RankedTensorType>(type).getElementType()));
    else if (engine.prefersDestinations())
      cluster.emitRemark("cluster allocates its results: a result has a shape that is not static");

    Operation *closed;
    if (destinations)
      closed = plan::DPSClusterOp::create(builder, loc, types, engine, inputs, outs);
    else
      closed = plan::AllocClusterOp::create(builder, loc, types, engine, inputs);

    Block *body = builder.createBlock(&closed->getRegion(0));
    IRMapping mapping;
    for (Value input : inputs)
      mapping.map(input, body->addArgument(input.getType(), input.getLoc()));
    for (Value out : outs)
      body->addArgument(out.getType(), out.getLoc());
    for (Operation *constant : copied)
      builder.clone(*constant, mapping);
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
