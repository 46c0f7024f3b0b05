// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All memory that a function needs besides its arguments becomes one block, whose size is known at compile time;
// buffers of dynamic shape become one more, whose size is known when the function begins (PlanDynamicMemory.h).
//
// A buffer lives from its allocation to the last operation of its block that contains a use of it or of a view of it (a
// use inside of a loop keeps it for the whole loop). Buffers that live at the same time get disjoint places, found by
// best fit in several orders, of which the one with the lowest peak is taken. What a called function needs is a buffer
// of the caller that lives during the call.
//
// In: memref.alloc anywhere in functions, of sizes that are known when the function begins; no scf.forall. Out: no
// memref.alloc. Each function has a trailing argument, memref<Nxi8>, of which all buffers are views, and the attribute
// cpu.workspace_bytes: for a cluster function that is the workspace of a call, for the body of a parallel loop the
// scratch of a thread. A kernel (`cpu.kernel`) that needs no memory has neither. Buffers of dynamic shape lie in memory
// that a cluster function asks for with cpu.allocate. A private function is given it by its callers, who compute how
// much it needs: it lies behind the static buffers, and the trailing argument is a memref<i8>.

#include "latewood/compiler/Dialect/CPU/CPU.h"
#include "latewood/compiler/Engines/CPU/Lifetimes.h"
#include "latewood/compiler/Engines/CPU/OutlineKernels.h"
#include "latewood/compiler/Engines/CPU/Passes.h"
#include "latewood/compiler/Engines/CPU/PlanDynamicMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
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

struct PlanMemoryPass : cpu::impl::PlanMemoryPassBase<PlanMemoryPass> {
  void runOnOperation() override {
    planned.clear();
    dynamicBytes.clear();
    SymbolTableCollection symbols;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(planAfterCallees(function, symbols)))
        return signalPassFailure();
  }

  LogicalResult planAfterCallees(func::FuncOp function, SymbolTableCollection &symbols) {
    if (!planned.insert(function).second)
      return success();
    SmallVector<Operation *> calls;
    function.walk([&](Operation *op) {
      if (isa<func::CallOp, ParallelForOp>(op))
        calls.push_back(op);
    });
    for (Operation *call : calls) {
      auto loop = dyn_cast<ParallelForOp>(call);
      auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(
          call, loop ? loop.getBodyAttr() : cast<func::CallOp>(call).getCalleeAttr());
      if (!callee || callee.isExternal())
        continue;
      if (failed(planAfterCallees(callee, symbols)))
        return failure();
      Value bytes = dynamicBytes.lookup(callee);
      OpBuilder builder(call);
      if (bytes) {
        bytes = computeInCaller(builder, call, bytes, [&](BlockArgument argument) -> Value {
          // The range of a loop's body is none of the loop's operands.
          unsigned number = argument.getArgNumber();
          if (!loop)
            return call->getOperand(number);
          return number < 2 ? Value() : loop.getCaptured()[number - 2];
        });
        if (!bytes)
          return failure();
      }
      if (loop && bytes) {
        loop.getScratchMutable().assign(bytes);
      } else if (bytes) {
        auto type = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
        Value memory = memref::AllocOp::create(builder, call->getLoc(), type, bytes);
        memory = memref::ReinterpretCastOp::create(
            builder, call->getLoc(), cast<MemRefType>(callee.getArgumentTypes().back()), memory,
            builder.getIndexAttr(0), ArrayRef<OpFoldResult>(), ArrayRef<OpFoldResult>());
        call->insertOperands(call->getNumOperands(), memory);
      } else if (!loop && callee.getNumArguments() != call->getNumOperands()) {
        auto type = cast<MemRefType>(callee.getArgumentTypes().back());
        call->insertOperands(call->getNumOperands(),
                             memref::AllocOp::create(builder, call->getLoc(), type).getResult());
      }
    }
    return plan(function);
  }

  LogicalResult plan(func::FuncOp function) {
    SmallVector<Lifetime> lifetimes;
    SmallVector<DynamicLifetime> dynamic;
    if (failed(findLifetimes(function, lifetimes, dynamic)))
      return failure();
    if (lifetimes.empty() && dynamic.empty() && function->hasAttr(kKernelAttrName))
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
    bool isGivenDynamic = !dynamic.empty() && function.isPrivate();
    auto type =
        isGivenDynamic ? MemRefType::get({}, builder.getI8Type()) : MemRefType::get({peak}, builder.getI8Type());
    unsigned index = function.getNumArguments();
    if (failed(function.insertArgument(index, type, nullptr, function.getLoc())))
      return failure();
    function.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
    function->setAttr(ParallelForOp::getWorkspaceAttrName(), builder.getI64IntegerAttr(peak));
    Value memory = function.getArgument(index);
    if (!dynamic.empty() && failed(planDynamic(function, dynamic, isGivenDynamic ? peak : 0, memory)))
      return failure();
    for (Lifetime &lifetime : best) {
      builder.setInsertionPoint(lifetime.op);
      Value offset = arith::ConstantIndexOp::create(builder, lifetime.op.getLoc(), lifetime.offset);
      replaceByView(builder, lifetime.op, memory, offset);
    }
    return success();
  }

  /// Buffers of dynamic shape lie behind `peak` bytes of `memory`, which becomes that memory under its true size, or in
  /// memory that the function asks for.
  LogicalResult planDynamic(func::FuncOp function, ArrayRef<DynamicLifetime> lifetimes, int64_t peak, Value &memory) {
    Location loc = function.getLoc();
    OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
    FailureOr<SmallVector<Value>> places = placeDynamic(builder, function, lifetimes, peak);
    if (failed(places))
      return failure();
    Value bytes = places->pop_back_val(), block;
    auto type = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
    if (function.isPrivate()) {
      memory = block = memref::ReinterpretCastOp::create(builder, loc, type, memory, builder.getIndexAttr(0),
                                                         ArrayRef<OpFoldResult>{bytes},
                                                         ArrayRef<OpFoldResult>{builder.getIndexAttr(1)});
      dynamicBytes[function] = bytes;
    } else {
      block = AllocateOp::create(builder, loc, type, bytes);
      function.walk([&](func::ReturnOp op) {
        OpBuilder atEnd(op);
        ReleaseOp::create(atEnd, op.getLoc(), block);
      });
    }
    for (auto [lifetime, place] : llvm::zip_equal(lifetimes, *places)) {
      builder.setInsertionPoint(lifetime.op);
      replaceByView(builder, lifetime.op, block, place);
    }
    return success();
  }

  static void replaceByView(OpBuilder &builder, memref::AllocOp op, Value memory, Value offset) {
    op.replaceAllUsesWith(
        memref::ViewOp::create(builder, op.getLoc(), op.getType(), memory, offset, op.getDynamicSizes()).getResult());
    op.erase();
  }

  LogicalResult findLifetimes(func::FuncOp function, SmallVectorImpl<Lifetime> &lifetimes,
                              SmallVectorImpl<DynamicLifetime> &dynamic) {
    SmallVector<memref::AllocOp> allocations;
    function.walk([&](memref::AllocOp op) { allocations.push_back(op); });
    if (allocations.empty())
      return success();
    ProgramOrder order(function);
    BufferViewFlowAnalysis flow(function);
    for (memref::AllocOp op : allocations) {
      std::optional<int64_t> bytes = plannedBytes(op.getType());
      if (!bytes && op.getType().hasStaticShape())
        return op.emitError("cannot plan memory for ") << op.getType() << ": its elements have no fixed size in memory";
      SmallVector<Operation *> deallocations;
      FailureOr<LiveRange> range = findLiveRange(op.getResult(), order, flow, deallocations);
      if (failed(range))
        return failure();
      for (Operation *deallocation : deallocations)
        deallocation->erase();
      if (bytes)
        lifetimes.push_back({op, range->first, range->last, *bytes});
      else
        dynamic.push_back({op, *range});
    }
    return success();
  }

  llvm::SmallPtrSet<Operation *, 16> planned;
  /// Of private functions: the bytes of their last argument, a value at their beginning.
  llvm::DenseMap<Operation *, Value> dynamicBytes;
};

} // namespace
