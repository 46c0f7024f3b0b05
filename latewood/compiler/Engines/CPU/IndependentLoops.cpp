// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An iteration keeps to itself if every buffer that the loop writes is indexed, wherever it is read or written, by the
// loop's own variable in one and the same dimension, or is allocated by the iteration. What is seen is deliberately
// little: elements of whole buffers, at indices that are the variable itself. In a nest without anything between its
// loops each is looked at for itself, and all that are independent become one parallel loop.
//
// Loops that were made to be independent say so (blocks of a long sort, of a prefix sum), and are believed. A loop
// around such ones is left as it is: it has few iterations.

#include "latewood/compiler/Engines/CPU/IndependentLoops.h"
#include "latewood/compiler/Engines/CPU/OutlineKernels.h"
#include "latewood/compiler/Engines/CPU/PassedBuffers.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace latewood;

namespace {

/// Operations below which threads cost more than they gain.
constexpr int64_t fewestOperations = 1 << 15;
/// How often a loop is taken to run if its bounds do not say it.
constexpr int64_t usualIterations = 64;

int64_t iterationsOf(scf::ForOp loop) {
  std::optional<APInt> count = loop.getStaticTripCount();
  return count ? count->getSExtValue() : usualIterations;
}

/// A rough number of operations that the loop takes.
int64_t costOf(scf::ForOp loop) {
  int64_t cost = 0;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto inner = dyn_cast<scf::ForOp>(op))
      cost += costOf(inner);
    else
      op.walk([&](Operation *) { ++cost; });
  }
  int64_t iterations = iterationsOf(loop);
  return cost > fewestOperations || iterations > fewestOperations ? std::max(cost, iterations) : cost * iterations;
}

struct Access {
  Value buffer;
  ValueRange indices;
  bool writes;
};

/// The accesses of all operations in the loop; nothing if one of them is none to single elements.
std::optional<SmallVector<Access>> findAccesses(scf::ForOp loop) {
  SmallVector<Access> accesses;
  WalkResult result = loop.getBody()->walk([&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      accesses.push_back({load.getMemRef(), load.getIndices(), false});
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      accesses.push_back({store.getMemRef(), store.getIndices(), true});
    else if (!isa<memref::AllocOp, scf::ForOp, scf::WhileOp, scf::IfOp, scf::YieldOp, scf::ConditionOp>(op) &&
             (op->getNumRegions() != 0 || !isMemoryEffectFree(op)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return std::nullopt;
  return accesses;
}

bool isIndependent(scf::ForOp loop) {
  if (loop->getNumResults() != 0)
    return false;
  if (loop->hasAttr(cpu::kIndependentAttrName))
    return true;
  WalkResult inner = loop.getBody()->walk([](scf::ForOp inner) {
    return inner->hasAttr(cpu::kIndependentAttrName) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (inner.wasInterrupted())
    return false;
  std::optional<SmallVector<Access>> accesses = findAccesses(loop);
  if (!accesses)
    return false;
  struct Buffer {
    Value value; // null if it is accessed under several names
    llvm::SmallBitVector dims;
    bool isWritten = false;
  };
  llvm::MapVector<Value, Buffer> buffers;
  for (const Access &access : *accesses) {
    Value root = cpu::rootBuffer(access.buffer);
    if (loop->isAncestor(root.getParentRegion()->getParentOp()))
      continue;
    // What control flow gives may be any buffer.
    auto argument = dyn_cast<BlockArgument>(root);
    if (argument ? !isa<func::FuncOp>(argument.getOwner()->getParentOp())
                 : !isa<memref::AllocOp, memref::GetGlobalOp>(root.getDefiningOp()))
      return false;
    llvm::SmallBitVector dims(access.indices.size());
    for (auto [dim, index] : llvm::enumerate(access.indices))
      if (index == loop.getInductionVar())
        dims.set(dim);
    auto [entry, isNew] = buffers.insert({root, {access.buffer, dims}});
    Buffer &buffer = entry->second;
    buffer.isWritten |= access.writes;
    if (isNew)
      continue;
    if (buffer.value != access.buffer)
      buffer.value = Value();
    else
      buffer.dims &= dims;
  }
  return llvm::all_of(buffers, [](const auto &entry) {
    const Buffer &buffer = entry.second;
    return !buffer.isWritten || (buffer.value && buffer.dims.any());
  });
}

/// Makes the loops of a nest, outermost first, one parallel loop.
void makeParallel(ArrayRef<scf::ForOp> nest) {
  scf::ForOp outermost = nest.front(), innermost = nest.back();
  OpBuilder builder(outermost);
  Location loc = outermost.getLoc();
  SmallVector<OpFoldResult> lower, upper, steps;
  for (scf::ForOp loop : nest) {
    lower.push_back(getAsOpFoldResult(loop.getLowerBound()));
    upper.push_back(getAsOpFoldResult(loop.getUpperBound()));
    steps.push_back(getAsOpFoldResult(loop.getStep()));
  }
  auto parallel = scf::ForallOp::create(builder, loc, lower, upper, steps, ValueRange(), std::nullopt);
  for (auto [loop, variable] : llvm::zip_equal(nest, parallel.getInductionVars()))
    scf::ForOp(loop).getInductionVar().replaceAllUsesWith(variable);
  Block *body = parallel.getBody();
  innermost.getBody()->getTerminator()->erase();
  body->getOperations().splice(body->getTerminator()->getIterator(), innermost.getBody()->getOperations());
  outermost.erase();
}

} // namespace

void cpu::makeIndependentLoopsParallel(func::FuncOp function) {
  // The arguments of kernels may be the same memory.
  if (function->hasAttr(kKernelAttrName))
    return;
  SmallVector<scf::ForOp> outermost;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && loop->getNumResults() == 0 && isIndependent(loop)) {
      outermost.push_back(loop);
      return WalkResult::skip();
    }
    return isa<scf::ForallOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  for (scf::ForOp loop : outermost) {
    if (costOf(loop) < fewestOperations)
      continue;
    SmallVector<scf::ForOp> nest = {loop};
    while (true) {
      scf::ForOp last = nest.back();
      auto inner = dyn_cast<scf::ForOp>(last.getBody()->front());
      // Nothing stands between the loops, and the bounds are known outside.
      if (!inner || inner->getNextNode() != last.getBody()->getTerminator() || !isIndependent(inner) ||
          !llvm::all_of(ValueRange{inner.getLowerBound(), inner.getUpperBound(), inner.getStep()},
                        [&](Value bound) { return loop.isDefinedOutsideOfLoop(bound); }))
        break;
      nest.push_back(inner);
    }
    int64_t iterations = 1;
    for (scf::ForOp level : nest)
      iterations *= std::min<int64_t>(iterationsOf(level), 1 << 20);
    if (iterations > 1)
      makeParallel(nest);
  }
}
