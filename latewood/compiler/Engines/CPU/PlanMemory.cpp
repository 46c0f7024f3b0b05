// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All memory that a function needs besides its arguments becomes one block, whose size is known at compile time.
//
// A buffer lives from its allocation to the last operation of its block that contains a use of it or of a view of it (a
// use inside of a loop keeps it for the whole loop). Buffers that live at the same time get disjoint places, found by
// best fit in several orders, of which the one with the lowest peak is taken. What a called function needs is a buffer
// of the caller that lives during the call.
//
// In: memref.alloc of static shape, anywhere in functions; no scf.forall. Out: no allocation. Each function has a
// trailing argument, memref<Nxi8>, of which all buffers are views, and the attribute cpu.workspace_bytes: for a cluster
// function that is the workspace of a call, for the body of a parallel loop the scratch of a thread. A kernel
// (`cpu.kernel`) that needs no memory has neither.

#include "latewood/compiler/Dialect/CPU/CPU.h"
#include "latewood/compiler/Engines/CPU/OutlineKernels.h"
#include "latewood/compiler/Engines/CPU/Passes.h"
#include "latewood/format/abi.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include <cmath>

namespace latewood::cpu {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "latewood/compiler/Engines/CPU/Passes.h.inc"
} // namespace latewood::cpu

using namespace mlir;
using namespace latewood;
using namespace latewood::cpu;

namespace {

struct Lifetime {
  memref::AllocOp op;
  int64_t first, last; // numbers of operations, both included
  int64_t bytes;
  int64_t offset = 0;

  bool meets(const Lifetime &other) const { return first <= other.last && other.first <= last; }
};

using Before = bool (*)(const Lifetime *, const Lifetime *);

/// Lifetimes that can be asked for those that meet another one. Time is cut into slices, as many as make both to keep
/// and to ask cheap: most of thousands of buffers live for a few operations, some for nearly all.
class Calendar {
public:
  Calendar(ArrayRef<Lifetime> lifetimes) {
    int64_t end = 0;
    for (const Lifetime &lifetime : lifetimes)
      end = std::max(end, lifetime.last);
    size_t count = 1 + size_t(std::sqrt(double(lifetimes.size())));
    width = end / count + 1;
    slices.resize(end / width + 1);
  }

  void add(Lifetime *lifetime) {
    for (int64_t slice = lifetime->first / width; slice <= lifetime->last / width; ++slice)
      slices[slice].push_back(lifetime);
  }

  /// Calls `function` once for each.
  template <typename Function>
  void forEachMeeting(const Lifetime &lifetime, Function function) {
    int64_t begin = lifetime.first / width;
    for (int64_t slice = begin; slice <= lifetime.last / width; ++slice)
      for (Lifetime *other : slices[slice])
        // In the first slice that both are in.
        if (other->meets(lifetime) && std::max(begin, other->first / width) == slice)
          function(other);
  }

private:
  int64_t width;
  SmallVector<SmallVector<Lifetime *, 0>> slices;
};

/// Gives each lifetime, in an order, the smallest gap that it fits into. Returns the peak.
int64_t place(MutableArrayRef<Lifetime> lifetimes, Before before) {
  SmallVector<Lifetime *> order;
  Calendar placed(lifetimes);
  for (Lifetime &lifetime : lifetimes)
    order.push_back(&lifetime);
  llvm::stable_sort(order, before);
  int64_t peak = 0;
  for (Lifetime *lifetime : order) {
    SmallVector<Lifetime *> busy;
    placed.forEachMeeting(*lifetime, [&](Lifetime *other) { busy.push_back(other); });
    llvm::sort(busy, [](Lifetime *a, Lifetime *b) { return a->offset < b->offset; });
    int64_t end = 0, best = -1, smallest = std::numeric_limits<int64_t>::max();
    for (Lifetime *other : busy) {
      int64_t gap = other->offset - end;
      if (gap >= lifetime->bytes && gap < smallest) {
        best = end;
        smallest = gap;
      }
      end = std::max<int64_t>(end, other->offset + other->bytes);
    }
    lifetime->offset = best >= 0 ? best : end;
    peak = std::max(peak, lifetime->offset + lifetime->bytes);
    placed.add(lifetime);
  }
  return peak;
}

std::optional<int64_t> bytesOf(MemRefType type) {
  Type element = type.getElementType();
  int64_t parts = 1;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    parts = 2;
    element = complex.getElementType();
  }
  if (!type.hasStaticShape() || !type.getLayout().isIdentity() || !element.isIntOrIndexOrFloat())
    return std::nullopt;
  int64_t width = element.isIndex() ? 8 : llvm::PowerOf2Ceil(llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
  return llvm::alignTo(type.getNumElements() * parts * width, LATEWOOD_ALIGNMENT);
}

struct PlanMemoryPass : cpu::impl::PlanMemoryPassBase<PlanMemoryPass> {
  void runOnOperation() override {
    planned.clear();
    SymbolTableCollection symbols;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(planAfterCallees(function, symbols)))
        return signalPassFailure();
  }

  LogicalResult planAfterCallees(func::FuncOp function, SymbolTableCollection &symbols) {
    if (!planned.insert(function).second)
      return success();
    SmallVector<func::CallOp> calls;
    function.walk([&](func::CallOp call) { calls.push_back(call); });
    for (func::CallOp call : calls) {
      auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
      if (!callee || callee.isExternal())
        continue;
      if (failed(planAfterCallees(callee, symbols)))
        return failure();
      if (callee.getNumArguments() == call.getNumOperands())
        continue;
      OpBuilder builder(call);
      auto type = cast<MemRefType>(callee.getArgumentTypes().back());
      call.getOperandsMutable().append(memref::AllocOp::create(builder, call.getLoc(), type).getResult());
    }
    return plan(function);
  }

  LogicalResult plan(func::FuncOp function) {
    SmallVector<Lifetime> lifetimes;
    if (failed(findLifetimes(function, lifetimes)))
      return failure();
    if (lifetimes.empty() && function->hasAttr(kKernelAttrName))
      return success();

    Before orders[] = {[](const Lifetime *a, const Lifetime *b) { return a->bytes > b->bytes; },
                       [](const Lifetime *a, const Lifetime *b) {
                         return a->bytes * (a->last - a->first) > b->bytes * (b->last - b->first);
                       },
                       [](const Lifetime *a, const Lifetime *b) { return a->first < b->first; }};
    int64_t peak = std::numeric_limits<int64_t>::max();
    SmallVector<Lifetime> best;
    for (Before before : orders) {
      int64_t result = place(lifetimes, before);
      if (result < peak) {
        peak = result;
        best = lifetimes;
      }
    }
    Calendar calendar(best);
    bool disjoint = true;
    for (Lifetime &a : best) {
      calendar.forEachMeeting(a, [&](const Lifetime *b) {
        disjoint &= a.offset >= b->offset + b->bytes || b->offset >= a.offset + a.bytes;
      });
      calendar.add(&a);
    }
    if (!disjoint)
      return function.emitError("memory planning gave one place to two buffers that live at the same time");

    OpBuilder builder(function.getContext());
    auto type = MemRefType::get({peak}, builder.getI8Type());
    unsigned index = function.getNumArguments();
    if (failed(function.insertArgument(index, type, nullptr, function.getLoc())))
      return failure();
    function.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
    function->setAttr(ParallelForOp::getWorkspaceAttrName(), builder.getI64IntegerAttr(peak));
    Value memory = function.getArgument(index);
    for (Lifetime &lifetime : best) {
      builder.setInsertionPoint(lifetime.op);
      Value offset = arith::ConstantIndexOp::create(builder, lifetime.op.getLoc(), lifetime.offset);
      Value view =
          memref::ViewOp::create(builder, lifetime.op.getLoc(), lifetime.op.getType(), memory, offset, ValueRange());
      lifetime.op.replaceAllUsesWith(view);
      lifetime.op.erase();
    }
    return success();
  }

  LogicalResult findLifetimes(func::FuncOp function, SmallVectorImpl<Lifetime> &lifetimes) {
    // Each operation has a number before its regions and one after.
    DenseMap<Operation *, std::pair<int64_t, int64_t>> numbers;
    int64_t next = 0;
    std::function<void(Operation *)> number = [&](Operation *op) {
      int64_t begin = next++;
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Operation &nested : block)
            number(&nested);
      numbers[op] = {begin, next++};
    };
    number(function);

    SmallVector<memref::AllocOp> allocations;
    function.walk([&](memref::AllocOp op) { allocations.push_back(op); });
    if (allocations.empty())
      return success();
    BufferViewFlowAnalysis flow(function);
    for (memref::AllocOp op : allocations) {
      std::optional<int64_t> bytes = bytesOf(op.getType());
      if (!bytes)
        return op.emitError("cannot plan memory for ") << op.getType() << ": only buffers of static shape have a place";
      Block *block = op->getBlock();
      int64_t first = numbers[op].first, last = first;
      SmallVector<Operation *> deallocations;
      for (Value alias : flow.resolve(op.getResult())) {
        auto argument = dyn_cast<BlockArgument>(alias);
        if (argument && isa<LoopLikeOpInterface>(argument.getOwner()->getParentOp()) &&
            argument.getOwner()->getParentOp()->isProperAncestor(op))
          return op.emitError("cannot plan memory for a buffer that one iteration of a loop hands to the next");
        for (Operation *user : alias.getUsers()) {
          if (isa<memref::DeallocOp>(user)) {
            deallocations.push_back(user);
            continue;
          }
          // A value that left its block lives in the enclosing one, for as long as the operation that held it.
          Operation *ancestor = block->findAncestorOpInBlock(*user);
          while (!ancestor) {
            Operation *parent = block->getParentOp();
            if (!parent || parent == function)
              return op.emitError("cannot plan memory for a buffer that leaves its function");
            first = std::min(first, numbers[parent].first);
            last = std::max(last, numbers[parent].second);
            block = parent->getBlock();
            ancestor = block->findAncestorOpInBlock(*user);
          }
          last = std::max(last, numbers[ancestor].second);
        }
      }
      for (Operation *deallocation : deallocations)
        deallocation->erase();
      lifetimes.push_back({op, first, last, *bytes});
    }
    return success();
  }

  llvm::SmallPtrSet<Operation *, 16> planned;
};

} // namespace
