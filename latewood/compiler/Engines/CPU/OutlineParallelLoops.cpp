// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The body of each parallel loop becomes a function, which the runtime's thread pool calls for ranges of tasks.
//
//     scf.forall (%i, %j) in (%n, %m) { … %a … }
//   becomes
//     func private @f_body_0(%begin: index, %end: index, %a: memref<…> {llvm.noalias}) { for %t in [begin, end) { i, j
//     from t; … } } cpu.parallel_for @f_body_0 tasks(%n * %m) args(%a)
//
// Only what cannot be made again is captured: constants and views (with what they are views of) are copied into the
// body, so that shapes, strides and offsets that are static stay so there; others are scalars that are captured.
// Buffers are separate arguments, and `noalias` unless two of them may be the same memory; that is what lets LLVM keep
// values in registers across stores. Scratch that the body allocates stays in it. Loops with the same code share one
// body.
//
// Loops over scalars whose iterations are independent (IndependentLoops.h) are parallel loops, too.
//
// In: functions on buffers, scf.forall without results, not nested. Out: no scf.forall; functions that are not bodies
// have a first argument, the call that the runtime passes along (`!llvm.ptr`).

#include "latewood/compiler/Dialect/CPU/CPU.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Engines/CPU/EqualFunctions.h"
#include "latewood/compiler/Engines/CPU/IndependentLoops.h"
#include "latewood/compiler/Engines/CPU/OutlineKernels.h"
#include "latewood/compiler/Engines/CPU/PassedBuffers.h"
#include "latewood/compiler/Engines/CPU/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

namespace latewood::cpu {
#define GEN_PASS_DEF_OUTLINEPARALLELLOOPSPASS
#include "latewood/compiler/Engines/CPU/Passes.h.inc"
} // namespace latewood::cpu

using namespace mlir;
using namespace latewood;
using namespace latewood::cpu;

namespace {

/// Two arguments of a kernel may be the same memory unless they say otherwise.
bool isOwnMemory(Value root) {
  auto argument = dyn_cast<BlockArgument>(root);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return !function || !function->hasAttr(kKernelAttrName) ||
         function.getArgAttr(argument.getArgNumber(), LLVM::LLVMDialect::getNoAliasAttrName());
}

bool isCopiedIntoBody(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>() || isa<memref::GetGlobalOp>(op) ||
         (isa<ViewLikeOpInterface>(op) && isa<memref::MemRefDialect>(op->getDialect()));
}

struct OutlineParallelLoopsPass : cpu::impl::OutlineParallelLoopsPassBase<OutlineParallelLoopsPass> {
  void runOnOperation() override {
    bodies = EqualFunctions();
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      if (function.isExternal())
        continue;
      makeIndependentLoopsParallel(function);
      SmallVector<scf::ForallOp> loops;
      function.walk([&](scf::ForallOp loop) { loops.push_back(loop); });
      for (auto [i, loop] : llvm::enumerate(loops))
        if (failed(outline(loop, function, i)))
          return signalPassFailure();
      // The runtime guarantees that results overlap nothing; inputs may be the same memory, which nobody writes.
      if (!function->hasAttr(kKernelAttrName)) {
        SmallVector<DictionaryAttr> attributes;
        for (BlockArgument argument : function.getArguments()) {
          NamedAttrList list(function.getArgAttrDict(argument.getArgNumber()));
          if (isa<MemRefType>(argument.getType()))
            list.set(LLVM::LLVMDialect::getNoAliasAttrName(), UnitAttr::get(&getContext()));
          attributes.push_back(list.getDictionary(&getContext()));
        }
        function.setAllArgAttrs(attributes);
      }
      Type pointer = LLVM::LLVMPointerType::get(&getContext());
      if (failed(function.insertArgument(0, pointer, nullptr, function.getLoc())))
        return signalPassFailure();
      // The arguments that hold extents have moved.
      for (unsigned i = 1; i < function.getNumArguments(); ++i)
        if (auto extents = function.getArgAttrOfType<DenseI64ArrayAttr>(i, plan::PlanDialect::getExtentsAttrName())) {
          auto moved = llvm::map_to_vector(extents.asArrayRef(), [](int64_t number) { return number + 1; });
          function.setArgAttr(i, plan::PlanDialect::getExtentsAttrName(), DenseI64ArrayAttr::get(&getContext(), moved));
        }
      // To kernels the call is passed on.
      function.walk([&](func::CallOp call) { call->insertOperands(0, function.getArgument(0)); });
    }
  }

  LogicalResult outline(scf::ForallOp loop, func::FuncOp function, unsigned number) {
    if (loop->getNumResults() != 0 || loop->getParentOfType<scf::ForallOp>())
      return loop.emitError("cannot be outlined: a parallel loop has no results and is not nested in another one");
    Location loc = loop.getLoc();
    OpBuilder builder(loop);

    // Views and constants are copied, in order of dependence; what they need is captured.
    llvm::SetVector<Value> used;
    getUsedValuesDefinedAbove(loop.getRegion(), used);
    for (Value value : loop.getLowerBound(builder))
      used.insert(value);
    for (Value value : loop.getStep(builder))
      used.insert(value);
    SmallVector<Operation *> copied;
    llvm::SmallPtrSet<Operation *, 16> visited;
    llvm::SetVector<Value> captured;
    std::function<void(Value)> visit = [&](Value value) {
      Operation *op = value.getDefiningOp();
      if (op && isCopiedIntoBody(op)) {
        if (!visited.insert(op).second)
          return;
        for (Value operand : op->getOperands())
          visit(operand);
        copied.push_back(op);
        return;
      }
      captured.insert(value);
    };
    for (Value value : used)
      visit(value);

    SmallVector<Value> lower = loop.getLowerBound(builder), upper = loop.getUpperBound(builder),
                       step = loop.getStep(builder);
    SmallVector<Value> counts;
    Value tasks = arith::ConstantIndexOp::create(builder, loc, 1);
    for (auto [l, u, s] : llvm::zip(lower, upper, step)) {
      Value length = builder.createOrFold<arith::SubIOp>(loc, u, l);
      counts.push_back(builder.createOrFold<arith::CeilDivSIOp>(loc, length, s));
      tasks = builder.createOrFold<arith::MulIOp>(loc, tasks, counts.back());
    }
    for (Value count : counts)
      visit(count);

    // What is open in the type of a buffer is captured, too.
    SmallVector<Value> arguments;
    llvm::SmallDenseMap<Value, PassedBuffer> buffers;
    for (size_t i = 0; i < captured.size(); ++i) {
      Value value = captured[i];
      if (!isa<MemRefType>(value.getType())) {
        if (isa<BaseMemRefType>(value.getType()))
          return loop.emitError("captures a buffer of unknown rank");
        continue;
      }
      PassedBuffer passed = passBuffer(builder, loc, value, /*opensOffset=*/false);
      for (Value scalar : passed.getScalars())
        captured.insert(scalar);
      buffers.insert({value, std::move(passed)});
    }
    for (Value value : captured) {
      auto buffer = buffers.find(value);
      arguments.push_back(buffer == buffers.end() ? value : buffer->second.base);
    }

    // The function.
    SmallVector<Type> types(2, builder.getIndexType());
    for (Value value : arguments)
      types.push_back(value.getType());
    OpBuilder atFunction(function);
    auto body = func::FuncOp::create(atFunction, loc, (function.getName() + "_body_" + Twine(number)).str(),
                                     atFunction.getFunctionType(types, {}));
    body.setPrivate();
    llvm::SmallDenseMap<Value, unsigned> roots;
    for (Value value : arguments)
      if (isa<MemRefType>(value.getType()))
        ++roots[rootBuffer(value)];
    for (auto [i, value] : llvm::enumerate(arguments))
      if (isa<MemRefType>(value.getType()) && roots[rootBuffer(value)] == 1 && isOwnMemory(rootBuffer(value)))
        body.setArgAttr(2 + i, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());

    Block *entry = body.addEntryBlock();
    OpBuilder inside = OpBuilder::atBlockBegin(entry);
    IRMapping mapping;
    for (auto [value, argument] : llvm::zip_equal(captured, entry->getArguments().drop_front(2)))
      mapping.map(value, argument);
    for (Value value : captured)
      if (auto buffer = buffers.find(value); buffer != buffers.end())
        mapping.map(value, rebuildBuffer(inside, loc, buffer->second, mapping.lookup(value),
                                         [&](Value scalar) { return mapping.lookup(scalar); }));
    for (Operation *op : copied)
      inside.clone(*op, mapping);
    auto over = scf::ForOp::create(inside, loc, entry->getArgument(0), entry->getArgument(1),
                                   arith::ConstantIndexOp::create(inside, loc, 1));
    func::ReturnOp::create(inside, loc);
    inside.setInsertionPointToStart(over.getBody());
    Value rest = over.getInductionVar();
    SmallVector<Value> inductionVars = llvm::to_vector(loop.getInductionVars());
    for (unsigned d = inductionVars.size(); d-- > 0;) {
      Value index = rest;
      if (d > 0) {
        Value count = mapping.lookupOrDefault(counts[d]);
        index = arith::RemUIOp::create(inside, loc, rest, count);
        rest = arith::DivUIOp::create(inside, loc, rest, count);
      }
      index = inside.createOrFold<arith::MulIOp>(loc, index, mapping.lookupOrDefault(step[d]));
      index = inside.createOrFold<arith::AddIOp>(loc, mapping.lookupOrDefault(lower[d]), index);
      mapping.map(inductionVars[d], index);
    }
    for (Operation &op : loop.getBody()->without_terminator())
      inside.clone(op, mapping);
    // Scratch once for all tasks of a range.
    SmallVector<memref::AllocOp> scratch(over.getBody()->getOps<memref::AllocOp>());
    for (memref::AllocOp op : scratch)
      if (llvm::all_of(op->getOperands(), [&](Value size) { return over.isDefinedOutsideOfLoop(size); }))
        op->moveBefore(over);

    ParallelForOp::create(builder, loc, bodies.findOrKeep(body).getName(), tasks, /*scratch=*/Value(), arguments);
    loop.erase();
    return success();
  }

  EqualFunctions bodies; // the layers of a network differ in their buffers only: this leaves the code of one layer
};

} // namespace
