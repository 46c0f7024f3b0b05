// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors become buffers, results are computed where they belong.
//
// In: cluster functions on tensors, whose trailing arguments with `plan.out` are the destinations of the results. Out:
// functions on buffers of identity layout without results. What may be computed in place is decided before
// (ComputeInPlace.h); the operations' own bufferization does the rest. Besides:
//   - inputs are never written: they are the caller's;
//   - a result that ends in a reshape is materialized before the reshape, into the reshaped destination. Otherwise it
//     would be copied as a whole;
//   - the regions of groups stay on tensors: they say what is computed, not where;
//   - whatever does not end up in its destination is copied there, with a remark.
// Extents of buffers are scalars that were there before: no memref.dim is left.

#include "latewood/compiler/Dialect/CPU/CPU.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Engines/CPU/BufferExtents.h"
#include "latewood/compiler/Engines/CPU/ComputeInPlace.h"
#include "latewood/compiler/Engines/CPU/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace latewood::cpu {
#define GEN_PASS_DEF_BUFFERIZECLUSTERSPASS
#include "latewood/compiler/Engines/CPU/Passes.h.inc"
} // namespace latewood::cpu

using namespace mlir;
using namespace latewood;
using namespace latewood::cpu;
using bufferization::MaterializeInDestinationOp;

namespace {

/// Branches give whole buffers: the layout of a part would differ from branch to branch, and be none that loops could
/// be made for.
void copyPartsOfBranches(func::FuncOp function) {
  SmallVector<OpOperand *> parts;
  function.walk([&](scf::YieldOp yield) {
    if (!isa<scf::IfOp, scf::IndexSwitchOp>(yield->getParentOp()))
      return;
    for (OpOperand &operand : yield->getOpOperands()) {
      Value source = operand.get();
      while (isa_and_present<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(source.getDefiningOp()))
        source = source.getDefiningOp()->getOperand(0);
      if (source.getDefiningOp<tensor::ExtractSliceOp>())
        parts.push_back(&operand);
    }
  });
  IRRewriter rewriter(function.getContext());
  for (OpOperand *part : parts) {
    rewriter.setInsertionPoint(part->getOwner());
    std::optional<SmallVector<Value>> extents = getDynamicExtents(rewriter, part->get());
    if (!extents)
      continue;
    Location loc = part->get().getLoc();
    auto type = cast<RankedTensorType>(part->get().getType());
    Value place = tensor::EmptyOp::create(rewriter, loc, type.getShape(), type.getElementType(), *extents);
    part->set(MaterializeInDestinationOp::create(rewriter, loc, type, part->get(), place).getResult());
  }
}

/// materialize(x) in d, of another type  ->  cast(materialize(x) in cast(d)): what computes x writes into something of
/// its own type.
void castDestinations(func::FuncOp function) {
  SmallVector<MaterializeInDestinationOp> casts;
  function.walk([&](MaterializeInDestinationOp op) {
    if (isa<RankedTensorType>(op.getDest().getType()) && op->getNumResults() == 1 &&
        op.getSource().getType() != op.getDest().getType())
      casts.push_back(op);
  });
  IRRewriter rewriter(function.getContext());
  for (MaterializeInDestinationOp op : casts) {
    Type type = op.getSource().getType();
    rewriter.setInsertionPointAfterValue(op.getDest());
    Value destination = tensor::CastOp::create(rewriter, op.getLoc(), type, op.getDest());
    rewriter.setInsertionPoint(op);
    auto inside = MaterializeInDestinationOp::create(rewriter, op.getLoc(), type, op.getSource(), destination);
    rewriter.replaceOpWithNewOp<tensor::CastOp>(op, op->getResult(0).getType(), inside.getResult());
  }
}

/// materialize(reshape(x)) in d  ->  reshape(materialize(x) in inverse reshape(d))
void materializeBeforeReshapes(func::FuncOp function) {
  SmallVector<MaterializeInDestinationOp> worklist;
  function.walk([&](MaterializeInDestinationOp op) { worklist.push_back(op); });
  IRRewriter rewriter(function.getContext());
  while (!worklist.empty()) {
    MaterializeInDestinationOp op = worklist.pop_back_val();
    if (!isa<RankedTensorType>(op.getDest().getType()) || op->getNumResults() != 1)
      continue;
    Operation *reshape = op.getSource().getDefiningOp();
    if (!isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(reshape) || !reshape->getResult(0).hasOneUse())
      continue;
    Value source = reshape->getOperand(0);
    // An input, or what others read too, cannot move to the destination.
    if (!source.getDefiningOp() || !source.hasOneUse())
      continue;
    auto sourceType = cast<RankedTensorType>(source.getType());
    // At the destination's definition: later than that, nothing could be computed into it.
    rewriter.setInsertionPointAfterValue(op.getDest());
    Location loc = op.getLoc();
    Value destination;
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(reshape)) {
      // There, the extents of arguments are known, and those that somebody computes are not.
      std::optional<SmallVector<Value>> extents = getDynamicExtents(rewriter, source);
      if (!extents || !llvm::all_of(*extents, llvm::IsaPred<BlockArgument>))
        continue;
      destination =
          tensor::ExpandShapeOp::create(rewriter, loc, sourceType, op.getDest(), collapse.getReassociationIndices(),
                                        getMixedValues(sourceType.getShape(), *extents, rewriter));
    } else
      destination = tensor::CollapseShapeOp::create(rewriter, loc, sourceType, op.getDest(),
                                                    cast<tensor::ExpandShapeOp>(reshape).getReassociationIndices());
    rewriter.setInsertionPoint(op);
    auto moved = MaterializeInDestinationOp::create(rewriter, loc, sourceType, source, destination);
    reshape->moveAfter(moved);
    reshape->setOperand(0, moved.getResult());
    rewriter.replaceOp(op, reshape->getResult(0));
    worklist.push_back(moved);
  }
}

/// The buffer that `value` is a view of; a loop that carries a buffer unchanged gives that buffer.
Value getBase(Value value) {
  while (true) {
    if (auto cast = value.getDefiningOp<memref::CastOp>())
      value = cast.getSource();
    else if (auto expand = value.getDefiningOp<memref::ExpandShapeOp>())
      value = expand.getSrc();
    else if (auto collapse = value.getDefiningOp<memref::CollapseShapeOp>())
      value = collapse.getSrc();
    else if (auto loop = value.getDefiningOp<scf::ForOp>()) {
      unsigned i = llvm::cast<OpResult>(value).getResultNumber();
      if (getBase(loop.getYieldedValues()[i]) != loop.getRegionIterArg(i))
        return value;
      value = loop.getInitArgs()[i];
    } else
      return value;
  }
}

struct BufferizeClustersPass : cpu::impl::BufferizeClustersPassBase<BufferizeClustersPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    bufferization::OneShotBufferizationOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.setFunctionBoundaryTypeConversion(bufferization::LayoutMapOption::IdentityLayoutMap);
    // A loop may give a new buffer; latewood-settle-carried-buffers makes copies of the ones that could not be avoided.
    options.allowReturnAllocsFromLoops = true;
    // Where a layout cannot be seen (an argument of a loop), it is the canonical one.
    options.unknownTypeConverterFn = [](TensorType type, Attribute space, const bufferization::BufferizationOptions &) {
      return bufferization::getMemRefTypeWithStaticIdentityLayout(type, space);
    };
    options.opFilter.denyOperation([](Operation *op) { return bool(op->getParentOfType<GroupOp>()); });

    for (auto function : module.getOps<func::FuncOp>()) {
      copyPartsOfBranches(function);
      castDestinations(function);
      materializeBeforeReshapes(function);
      computeInPlace(function, options);
    }
    bufferization::BufferizationState state;
    if (failed(bufferization::bufferizeModuleOp(module, options, state)))
      return signalPassFailure();
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal() && (failed(resolveDims(function)) || failed(dropResults(function))))
        return signalPassFailure();
  }

  /// Results are the destinations: nothing is returned.
  LogicalResult dropResults(func::FuncOp function) {
    SmallVector<BlockArgument> outs;
    for (BlockArgument argument : function.getArguments())
      if (function.getArgAttr(argument.getArgNumber(), plan::PlanDialect::getOutAttrName()))
        outs.push_back(argument);
    if (function.getNumResults() == 0)
      return success();
    if (outs.size() != function.getNumResults())
      return function.emitError() << "has " << function.getNumResults() << " results and " << outs.size()
                                  << " destinations: not a cluster function";
    WalkResult result = function.walk([&](func::ReturnOp op) {
      OpBuilder builder(op);
      llvm::MapVector<unsigned, Value> pending;
      for (auto [i, value] : llvm::enumerate(op.getOperands())) {
        if (getBase(value) == outs[i])
          continue;
        op.emitRemark() << "result " << i << " is copied into its destination";
        pending[i] = value;
      }
      // A result may lie in the destination of another one: it is read before that one is written.
      while (!pending.empty()) {
        auto *next = llvm::find_if(pending, [&](auto &copy) {
          return llvm::none_of(pending, [&](auto &other) {
            return other.first != copy.first && getBase(other.second) == outs[copy.first];
          });
        });
        if (next == pending.end()) {
          // They lie crosswise.
          next = pending.begin();
          auto type = cast<MemRefType>(next->second.getType());
          // It has the shape of its destination.
          std::optional<SmallVector<Value>> extents = getDynamicExtents(builder, outs[next->first]);
          if (!extents)
            return WalkResult(op.emitError("an extent of ") << type << " is not known as a scalar");
          Value aside = memref::AllocOp::create(builder, op.getLoc(),
                                                MemRefType::get(type.getShape(), type.getElementType()), *extents);
          memref::CopyOp::create(builder, op.getLoc(), next->second, aside);
          next->second = aside;
          continue;
        }
        memref::CopyOp::create(builder, op.getLoc(), next->second, outs[next->first]);
        pending.erase(next);
      }
      op->setOperands({});
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    function.setType(FunctionType::get(&getContext(), function.getArgumentTypes(), {}));
    function.setResAttrsAttr(nullptr);
    return success();
  }
};

} // namespace
