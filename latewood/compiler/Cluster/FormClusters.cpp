// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Forms open clusters. Engines are asked in order of benefit; an operation belongs to the first that takes it.
// Consecutive operations of one engine share a cluster.
//
// In:  a public function of tensor operations, inlined.
// Out: clusters, constants and the return.

#include "latewood/compiler/Cluster/Passes.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Engines/Registry.h"
#include "mlir/IR/Matchers.h"
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
    Block &block = function.getBody().front();
    // Behind everything that is computed, so that they do not divide clusters.
    for (plan::AssertOp assertion : llvm::to_vector(block.getOps<plan::AssertOp>()))
      assertion->moveBefore(block.getTerminator());
    // The engine of each operation; null for those that stay with the host.
    SmallVector<std::pair<Operation *, EngineAttrInterface>> assignment;
    bool failed = false;
    for (Operation &op : block.without_terminator()) {
      EngineAttrInterface engine = staysWithHost(&op) ? nullptr : choose(&op);
      if (!engine && !staysWithHost(&op))
        failed = true;
      assignment.push_back({&op, engine});
    }
    if (failed)
      return signalPassFailure();

    // One cluster per run of operations of one engine. Operations of the host do not end a run.
    SmallVector<Operation *> run;
    EngineAttrInterface current = nullptr;
    for (auto [op, engine] : assignment) {
      if (!engine)
        continue;
      if (engine != current && !run.empty()) {
        wrap(run, current);
        run.clear();
      }
      current = engine;
      run.push_back(op);
    }
    if (!run.empty())
      wrap(run, current);
  }

private:
  // Constants belong to whoever uses them: closing a cluster copies or passes them. Assertions are the host's own.
  static bool staysWithHost(Operation *op) { return op->hasTrait<OpTrait::ConstantLike>() || isa<plan::AssertOp>(op); }

  EngineAttrInterface choose(Operation *op) {
    SmallVector<std::pair<StringRef, std::string>> reasons;
    for (EngineAttrInterface engine : resolved) {
      std::string reason;
      if (engine.takes(op, reason))
        return engine;
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
    for (auto [inner, outer] : llvm::zip(results, cluster.getResults()))
      inner.replaceUsesWithIf(outer, [&](OpOperand &use) { return !cluster->isProperAncestor(use.getOwner()); });
    builder.setInsertionPointToEnd(body);
    plan::YieldOp::create(builder, last->getLoc(), results);
  }

  SmallVector<EngineAttrInterface> resolved;
};

} // namespace
} // namespace latewood::cluster
