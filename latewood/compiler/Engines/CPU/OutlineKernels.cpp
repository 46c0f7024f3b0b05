// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In a function of many groups, products and copies, each of them becomes a function of its own, and equal ones become
// one.
//
//     cpu.contract ins(%a, %w) outs(%b)          func.call @f_kernel_0(%a, %w, %b)
//     cpu.contract ins(%b, %w) outs(%c)   ->     func.call @f_kernel_0(%b, %w, %c)
//     cpu.group ins(%c) outs(%d)                 func.call @f_kernel_1(%c, %d)
//
// The time that code generation takes grows faster than the function that it is given. With calls it sees many
// functions of bounded size, which can also be compiled on several threads, and of an unrolled loop or of the layers of
// a network only one copy. A function of few parts stays whole: there a call could be seen in the time that a small
// program takes.
//
// A buffer is an argument, once, however often it is used; one that is a view at some offset travels as base and
// offset, so that slices at different places have the same code. One of dynamic shape travels as its base; extents are
// arguments that all buffers share, and the arithmetic on them and the views are copied, as constants are: so a kernel
// knows as much about its shapes as the function did.
//
// In: functions on buffers. Out: no group, product or copy in a function that had many of them; functions with the
// attribute `cpu.kernel`, private and without results, that call nothing.

#include "latewood/compiler/Engines/CPU/OutlineKernels.h"
#include "latewood/compiler/Dialect/CPU/CPU.h"
#include "latewood/compiler/Engines/CPU/BufferExtents.h"
#include "latewood/compiler/Engines/CPU/EqualFunctions.h"
#include "latewood/compiler/Engines/CPU/PassedBuffers.h"
#include "latewood/compiler/Engines/CPU/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

namespace latewood::cpu {
#define GEN_PASS_DEF_OUTLINEKERNELSPASS
#include "latewood/compiler/Engines/CPU/Passes.h.inc"
} // namespace latewood::cpu

using namespace mlir;
using namespace latewood;
using namespace latewood::cpu;

namespace {

/// Two different roots of this kind are different memory, if one of them is written.
bool isOwnMemory(Value root) {
  if (auto argument = dyn_cast<BlockArgument>(root))
    return isa<func::FuncOp>(argument.getOwner()->getParentOp());
  return isa<memref::AllocOp, memref::GetGlobalOp>(root.getDefiningOp());
}

bool isOfStaticShape(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  if (!type || !type.hasStaticShape())
    return false;
  auto [strides, offset] = type.getStridesAndOffset();
  return llvm::none_of(strides, ShapedType::isDynamic);
}

/// A view whose shape or strides are not static: what it says about extents is worth more inside of the kernel.
bool isCopiedView(Operation *op) {
  return isa<ViewLikeOpInterface>(op) && isa<memref::MemRefDialect>(op->getDialect()) && op->getNumResults() == 1 &&
         !isOfStaticShape(op->getResult(0));
}

/// What a kernel is given, in the order in which its operation uses it.
struct Captures {
  /// Constants, views of dynamic shape, arithmetic on extents: copied into the kernel, operands first.
  llvm::SetVector<Operation *> copied;
  llvm::SetVector<Value> values;
  /// For each value that is a buffer.
  llvm::MapVector<Value, PassedBuffer> buffers;

  /// `isExtent`: what computes the value says something about the shape of a buffer.
  void visit(OpBuilder &builder, Value value, bool isExtent = false) {
    Operation *definition = value.getDefiningOp();
    if (definition && (definition->hasTrait<OpTrait::ConstantLike>() || isCopiedView(definition) ||
                       (isExtent && isIndexArithmetic(definition)))) {
      if (copied.contains(definition))
        return;
      for (Value operand : definition->getOperands())
        visit(builder, operand, /*isExtent=*/true);
      copied.insert(definition);
      return;
    }
    if (values.contains(value))
      return;
    if (!isa<MemRefType>(value.getType())) {
      values.insert(value);
      return;
    }
    PassedBuffer passed = passBuffer(builder, value.getLoc(), value, /*opensOffset=*/true);
    values.insert(value);
    for (Value scalar : passed.getScalars())
      visit(builder, scalar, /*isExtent=*/true);
    buffers.insert({value, std::move(passed)});
  }
};

bool canBePassed(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  return type ? type.isStrided() : !isa<BaseMemRefType>(value.getType());
}

struct OutlineKernelsPass : cpu::impl::OutlineKernelsPassBase<OutlineKernelsPass> {
  using OutlineKernelsPassBase::OutlineKernelsPassBase;

  void runOnOperation() override {
    EqualFunctions functions;
    for (func::FuncOp function : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      SmallVector<Operation *> parts;
      function.walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (!isa<GroupOp, ContractOp, linalg::LinalgOp, memref::CopyOp>(op))
          return WalkResult::advance();
        parts.push_back(op);
        return WalkResult::skip();
      });
      if (parts.size() < fewest)
        continue;
      unsigned number = 0;
      for (Operation *op : parts)
        outline(op, function, number, functions);
    }
  }

  void outline(Operation *op, func::FuncOp function, unsigned &number, EqualFunctions &functions) {
    llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), used);
    if (op->getNumResults() != 0 || !llvm::all_of(used, canBePassed))
      return;
    Location loc = op->getLoc();
    OpBuilder builder(op);
    Captures captures;
    for (Value value : used)
      captures.visit(builder, value);

    SmallVector<Value> arguments;
    SmallVector<Type> types;
    SmallVector<Value> roots; // per argument; null where it is no buffer
    for (Value value : captures.values) {
      auto buffer = captures.buffers.find(value);
      bool isBuffer = buffer != captures.buffers.end();
      arguments.push_back(isBuffer ? buffer->second.base : value);
      types.push_back(arguments.back().getType());
      roots.push_back(isBuffer ? rootBuffer(value) : Value());
    }

    OpBuilder atFunction(function);
    atFunction.setInsertionPointAfter(function);
    auto kernel = func::FuncOp::create(atFunction, loc, (function.getName() + "_kernel_" + Twine(number)).str(),
                                       atFunction.getFunctionType(types, {}));
    kernel.setPrivate();
    kernel->setAttr(kKernelAttrName, builder.getUnitAttr());
    bool areKnown = llvm::all_of(roots, [](Value root) { return !root || isOwnMemory(root); });
    for (auto [i, root] : llvm::enumerate(roots))
      if (root && areKnown && llvm::count(roots, root) == 1)
        kernel.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());

    Block *entry = kernel.addEntryBlock();
    OpBuilder inside = OpBuilder::atBlockBegin(entry);
    IRMapping mapping;
    for (auto [value, argument] : llvm::zip_equal(captures.values, entry->getArguments()))
      if (!captures.buffers.contains(value))
        mapping.map(value, argument);
    // Arithmetic first: buffers need their extents, and views their buffers.
    auto copy = [&](bool views) {
      for (Operation *copied : captures.copied)
        if (isCopiedView(copied) == views)
          inside.clone(*copied, mapping);
    };
    copy(/*views=*/false);
    for (auto [value, argument] : llvm::zip_equal(captures.values, entry->getArguments()))
      if (auto buffer = captures.buffers.find(value); buffer != captures.buffers.end())
        mapping.map(value, rebuildBuffer(inside, loc, buffer->second, argument,
                                         [&](Value scalar) { return mapping.lookup(scalar); }));
    copy(/*views=*/true);
    inside.clone(*op, mapping);
    func::ReturnOp::create(inside, loc);

    func::FuncOp kept = functions.findOrKeep(kernel);
    if (kept == kernel)
      ++number;
    func::CallOp::create(builder, loc, kept, arguments);
    op->erase();
  }
};

} // namespace
