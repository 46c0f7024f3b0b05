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
// offset, so that slices at different places have the same code. Constants are copied.
//
// In: functions on buffers. Out: no group, product or copy in a function that had many of them, but for those on
// buffers whose shape is dynamic; functions with the attribute `cpu.kernel`, private and without results, that call
// nothing.

#include "latewood/compiler/Engines/CPU/OutlineKernels.h"
#include "latewood/compiler/Dialect/CPU/CPU.h"
#include "latewood/compiler/Engines/CPU/EqualFunctions.h"
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

/// What the value is a view of, through all views.
Value rootBuffer(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

/// Two different roots of this kind are different memory, if one of them is written.
bool isOwnMemory(Value root) {
  if (auto argument = dyn_cast<BlockArgument>(root))
    return isa<func::FuncOp>(argument.getOwner()->getParentOp());
  return isa<memref::AllocOp, memref::GetGlobalOp>(root.getDefiningOp());
}

/// What a kernel is given, in the order in which its operation uses it.
struct Captures {
  SmallVector<Operation *> constants;
  llvm::SetVector<Value> values;
};

Captures findCaptures(Operation *op) {
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  Captures captures;
  for (Value value : used) {
    Operation *definition = value.getDefiningOp();
    if (definition && definition->hasTrait<OpTrait::ConstantLike>())
      captures.constants.push_back(definition);
    else
      captures.values.insert(value);
  }
  return captures;
}

bool canBePassed(Value value) {
  if (!isa<BaseMemRefType>(value.getType()))
    return true;
  auto type = dyn_cast<MemRefType>(value.getType());
  if (!type || !type.hasStaticShape() || !type.isStrided())
    return false;
  auto [strides, offset] = type.getStridesAndOffset();
  return llvm::none_of(strides, ShapedType::isDynamic);
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
    Captures captures = findCaptures(op);
    if (op->getNumResults() != 0 || !llvm::all_of(captures.values, canBePassed))
      return;
    Location loc = op->getLoc();
    OpBuilder builder(op);

    SmallVector<Value> arguments;
    SmallVector<Type> types;
    SmallVector<Value> roots; // per argument; null where it is no buffer
    for (Value value : captures.values) {
      auto type = dyn_cast<MemRefType>(value.getType());
      roots.push_back(type ? rootBuffer(value) : Value());
      if (!type || type.getStridesAndOffset().second == 0) {
        arguments.push_back(value);
        continue;
      }
      auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, value);
      arguments.push_back(metadata.getBaseBuffer());
      arguments.push_back(metadata.getOffset());
      roots.push_back(Value());
    }
    for (Value argument : arguments)
      types.push_back(argument.getType());

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
    for (Operation *constant : captures.constants)
      inside.clone(*constant, mapping);
    unsigned next = 0;
    for (Value value : captures.values) {
      Value argument = entry->getArgument(next++);
      if (argument.getType() != value.getType()) {
        auto type = cast<MemRefType>(value.getType());
        Value offset = entry->getArgument(next++);
        auto [strides, unused] = type.getStridesAndOffset();
        auto layout = StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides);
        argument = memref::ReinterpretCastOp::create(
            inside, loc, MemRefType::get(type.getShape(), type.getElementType(), layout, type.getMemorySpace()),
            argument, OpFoldResult(offset), getAsIndexOpFoldResult(inside.getContext(), type.getShape()),
            getAsIndexOpFoldResult(inside.getContext(), strides));
      }
      mapping.map(value, argument);
    }
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
