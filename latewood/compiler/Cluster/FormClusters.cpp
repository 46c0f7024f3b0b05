// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Forms open clusters. Engines are asked in order of benefit; an operation belongs to the first that takes it.
// Consecutive operations of one engine share a cluster.
//
// Scalars stay with the host. Where it reads an integer that an engine computes, what depends on it begins a new level:
// level by level, first the host computes, then the engines do. Control flow of the host is one operation of it, and
// each of its blocks is divided by itself.
//
// In:  a public function of tensor operations, inlined, with extents as scalars.
// Out: scalars, assertions, clusters, constants and the return. The result of a cluster that has a dynamic shape is
// used
//      through plan.with_shape on the host, too.

#include "latewood/compiler/Cluster/Passes.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Dialect/TensorRT/TensorRT.h"
#include "latewood/compiler/Engines/Registry.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace latewood::cluster {

#define GEN_PASS_DEF_FORMCLUSTERSPASS
#include "latewood/compiler/Cluster/Passes.h.inc"

namespace {

using plan::EngineAttrInterface;

class FormClustersPass : public impl::FormClustersPassBase<FormClustersPass> {
public:
  using FormClustersPassBase::FormClustersPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    FormClustersPassBase::getDependentDialects(registry);
    engines::insertDialects(registry);
  }

  LogicalResult initialize(MLIRContext *context) override {
    resolved.clear();
    for (const std::string &name : engines) {
      EngineAttrInterface engine = engines::lookup(context, name);
      if (!engine)
        return emitError(UnknownLoc::get(context))
               << "unknown engine '" << name << "'; known engines: " << llvm::join(engines::getNames(), ", ");
      resolved.push_back(engine);
    }
    if (resolved.empty())
      return emitError(UnknownLoc::get(context))
             << "no engine was given; known engines: " << llvm::join(engines::getNames(), ", ");
    llvm::stable_sort(resolved,
                      [](EngineAttrInterface a, EngineAttrInterface b) { return a.getBenefit() > b.getBenefit(); });
    return success();
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || function.isPrivate())
      return;
    if (!llvm::hasSingleElement(function.getBody())) {
      function.emitError("has a body of several blocks; structured control flow is expected here");
      return signalPassFailure();
    }
    if (failed(divide(function.getBody().front())))
      signalPassFailure();
  }

private:
  // Forms the clusters of a block of the host, and those of the blocks of its control flow.
  LogicalResult divide(Block &block) {
    if (failed(assign(block)))
      return failure();
    sortByLevel(block);

    // One cluster per run of operations of one engine at one level. Operations of the host do not end a run.
    SmallVector<Operation *> run;
    std::pair<EngineAttrInterface, unsigned> current;
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
      Place place = places.lookup(&op);
      if (!place.engine)
        continue;
      if (std::pair(place.engine, place.level) != current && !run.empty()) {
        wrap(run, current.first);
        run.clear();
      }
      current = {place.engine, place.level};
      run.push_back(&op);
    }
    if (!run.empty())
      wrap(run, current.first);
    for (Operation &op : block)
      if (isControlFlow(&op))
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            if (failed(divide(inner)))
              return failure();
    return success();
  }

  static bool isControlFlow(Operation *op) { return isa<scf::SCFDialect>(op->getDialect()); }

  // What the host has others do, with all that it takes in their memory: control flow, and networks that the program
  // calls itself.
  static bool isStepOfHost(Operation *op) {
    return isControlFlow(op) || isa<tensorrt::CallOp, tensorrt::CallAllocOp>(op);
  }

  // Who does an operation, and when.
  struct Place {
    EngineAttrInterface engine; // null for the host
    unsigned level = 0;
  };

  // Constants belong to whoever uses them: closing a cluster copies or passes them. Scalars and assertions are the
  // host's own, and shapes given as scalars are rebuilt in each cluster that reads them.
  static bool staysWithHost(Operation *op) {
    return op->hasTrait<OpTrait::ConstantLike>() || isa<arith::ArithDialect>(op->getDialect()) || isStepOfHost(op) ||
           isa<plan::AssertOp, plan::WithValuesOp, tensor::DimOp, tensor::ExtractOp, tensor::EmptyOp, tensor::InsertOp>(
               op);
  }

  // Whether the host has to compute something between two levels.
  static bool readsComputedValue(Operation *op, const DenseMap<Operation *, Place> &places) {
    auto read = dyn_cast<tensor::ExtractOp>(op);
    return read && read.getTensor().getDefiningOp() && places.lookup(read.getTensor().getDefiningOp()).engine;
  }

  LogicalResult assign(Block &block) {
    places.clear();
    LogicalResult result = success();
    for (Operation &op : block.without_terminator()) {
      Place place;
      auto shaped = dyn_cast<plan::WithShapeOp>(op);
      if (shaped) {
        // It is where its tensor is.
        if (Operation *source = shaped.getOperand().getDefiningOp())
          place = places.lookup(source);
      } else if (!staysWithHost(&op)) {
        place.engine = choose(&op);
        if (!place.engine)
          result = failure();
      }
      auto waitFor = [&](Value value) {
        if (Operation *source = block.findAncestorOpInBlock(*value.getParentBlock()->getParentOp()); source)
          return; // a value of the operation's own region
        if (Operation *source = value.getDefiningOp()) {
          Place from = places.lookup(source);
          // Control flow begins when everything that it may need is there.
          place.level = std::max(place.level, from.level + (from.engine && isStepOfHost(&op) ? 1 : 0));
        }
      };
      for (Value operand : op.getOperands())
        waitFor(operand);
      // Who computes a tensor has to know its extents.
      for (Operation *user : op.getUsers())
        if (auto shaped = dyn_cast<plan::WithShapeOp>(user))
          llvm::for_each(shaped.getExtents(), waitFor);
      SetVector<Value> captured;
      getUsedValuesDefinedAbove(op.getRegions(), captured);
      for (Value value : captured)
        waitFor(value);
      if (readsComputedValue(&op, places))
        ++place.level;
      places[&op] = place;
    }
    return result;
  }

  void sortByLevel(Block &block) {
    // Conditions that engines compute are looked at last, so that they do not divide clusters.
    auto isComputed = [](plan::AssertOp assertion) { return isa<TensorType>(assertion.getCondition().getType()); };
    for (plan::AssertOp assertion : llvm::to_vector(block.getOps<plan::AssertOp>()))
      if (isComputed(assertion))
        assertion->moveBefore(block.getTerminator());
    auto isOrdered = [&](Operation &op) {
      return places.lookup(&op).level == 0 && (places.lookup(&op).engine || op.hasTrait<OpTrait::ConstantLike>() ||
                                               (isa<plan::AssertOp>(op) && isComputed(cast<plan::AssertOp>(op))));
    };
    if (llvm::all_of(block.without_terminator(), isOrdered))
      return;
    SmallVector<Operation *> order = llvm::map_to_vector(block.without_terminator(), [](Operation &op) { return &op; });
    auto getKey = [&](Operation *op) {
      Place place = places.lookup(op);
      bool isLast = isa<plan::AssertOp>(op) && isComputed(cast<plan::AssertOp>(op));
      return std::tuple(isLast, place.level, bool(place.engine));
    };
    llvm::stable_sort(order, [&](Operation *a, Operation *b) { return getKey(a) < getKey(b); });
    for (Operation *op : order)
      op->moveBefore(block.getTerminator());
  }

  EngineAttrInterface choose(Operation *op) {
    SmallVector<std::pair<StringRef, std::string>> reasons;
    for (EngineAttrInterface engine : resolved) {
      std::string reason;
      if (engine.takes(op, reason)) {
        for (auto &[name, why] : reasons)
          op->emitRemark() << "engine " << name << " does not take '" << op->getName() << "': " << why;
        return engine;
      }
      reasons.push_back({engine.getEngineName(), std::move(reason)});
    }
    InFlightDiagnostic diagnostic = op->emitError() << "no engine takes '" << op->getName() << "'";
    for (auto &[name, reason] : reasons)
      diagnostic.attachNote(op->getLoc()) << "engine " << name << ": " << reason;
    return nullptr;
  }

  // Moves `ops`, in order, into a new cluster at the place of the last one.
  void wrap(ArrayRef<Operation *> ops, EngineAttrInterface engine) {
    llvm::SmallDenseSet<Operation *> inside(ops.begin(), ops.end());
    SmallVector<Value> results;
    for (Operation *op : ops) {
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) {
              return !inside.contains(op->getBlock()->findAncestorOpInBlock(*user));
            }))
          results.push_back(result);
    }
    Operation *last = ops.back();
    OpBuilder builder(last->getContext());
    builder.setInsertionPointAfter(last);
    auto cluster = plan::ClusterOp::create(builder, getOperation().getLoc(),
                                           llvm::to_vector(ValueRange(results).getTypes()), engine);
    Block *body = builder.createBlock(&cluster.getBody());
    for (Operation *op : ops)
      op->moveBefore(body, body->end());
    builder.setInsertionPointAfter(cluster);
    for (auto [inner, outer] : llvm::zip(results, cluster.getResults())) {
      Value replacement = outer;
      if (auto shaped = inner.getDefiningOp<plan::WithShapeOp>())
        replacement = plan::WithShapeOp::create(builder, shaped.getLoc(), shaped.getType(), outer, shaped.getExtents());
      inner.replaceUsesWithIf(replacement, [&](OpOperand &use) {
        return !cluster->isProperAncestor(use.getOwner()) && use.getOwner() != replacement.getDefiningOp();
      });
    }
    builder.setInsertionPointToEnd(body);
    plan::YieldOp::create(builder, last->getLoc(), results);
  }

  SmallVector<EngineAttrInterface> resolved;
  DenseMap<Operation *, Place> places;
};

} // namespace
} // namespace latewood::cluster
