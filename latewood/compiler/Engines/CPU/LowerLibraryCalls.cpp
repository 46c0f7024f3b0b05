// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of the library on buffers become calls on pointers, and the functions are declared. It runs when buffers have
// their final memory: from here on, no analysis sees which buffer a call touches.
//
// Tile kernels are inlined, so that strides and lengths are constants in their loops. But one kernel is hundreds of
// instructions, and a model uses the same one in many places. So the call goes to a function that is made once for
// each kernel and set of constants, and the kernel is inlined there: code grows with the number of different products,
// not with their number. A call costs nothing beside a tile.
//
// In:  cpu.library_call.
// Out: llvm.call, declarations of the library's functions, and private functions around kernels.

#include "latewood/compiler/Dialect/CPU/CPU.h"
#include "latewood/compiler/Engines/CPU/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"

namespace latewood::cpu {
#define GEN_PASS_DEF_LOWERLIBRARYCALLSPASS
#include "latewood/compiler/Engines/CPU/Passes.h.inc"
} // namespace latewood::cpu

using namespace mlir;
using namespace latewood;

// The address of the element that lies `index` elements after the first one of `buffer`.
static Value getAddress(OpBuilder &b, Location loc, Value buffer, Value index) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return {};
  Value first;
  if (ShapedType::isDynamic(offset))
    first = memref::ExtractStridedMetadataOp::create(b, loc, buffer).getOffset();
  else if (offset != 0)
    first = arith::ConstantIndexOp::create(b, loc, offset);
  if (first)
    index = arith::AddIOp::create(b, loc, first, index);
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, buffer);
  Value number = arith::IndexCastOp::create(b, loc, b.getI64Type(), address);
  auto pointerType = LLVM::LLVMPointerType::get(b.getContext());
  Value pointer = LLVM::IntToPtrOp::create(b, loc, pointerType, number);
  Value elements = arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
  return LLVM::GEPOp::create(b, loc, pointerType, type.getElementType(), pointer, ArrayRef<LLVM::GEPArg>{elements},
                             LLVM::GEPNoWrapFlags::inbounds);
}

// A library function and the arguments that are constants, as the name of the function that is specialized for them.
static std::string getSpecializedName(StringRef callee, ArrayRef<std::optional<int64_t>> constants) {
  std::string name = callee.str();
  for (const std::optional<int64_t> &constant : constants)
    name += constant ? "." + std::to_string(*constant) : ".x";
  return name;
}

namespace {
class LowerLibraryCallsPass : public cpu::impl::LowerLibraryCallsPassBase<LowerLibraryCallsPass> {
  void runOnOperation() override {
    SmallVector<cpu::LibraryCallOp> calls;
    getOperation().walk([&](cpu::LibraryCallOp call) { calls.push_back(call); });
    SymbolTable symbols(getOperation());
    for (cpu::LibraryCallOp call : calls)
      if (failed(lower(call, symbols)))
        return signalPassFailure();
  }

  LogicalResult lower(cpu::LibraryCallOp call, SymbolTable &symbols) {
    IRRewriter rewriter(call);
    Location loc = call.getLoc();
    SmallVector<Value> operands;
    SmallVector<std::optional<int64_t>> constants; // of the operands that are no pointers
    for (unsigned i = 0, e = call.getArguments().size(); i < e; ++i) {
      Value argument = call.getArguments()[i];
      if (isa<MemRefType>(argument.getType())) {
        operands.push_back(getAddress(rewriter, loc, argument, call.getArguments()[++i]));
        continue;
      }
      constants.push_back(getConstantIntValue(argument));
      operands.push_back(arith::IndexCastOp::create(rewriter, loc, rewriter.getI64Type(), argument));
    }
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&getContext()),
                                            llvm::map_to_vector(operands, [](Value v) { return v.getType(); }));
    FailureOr<LLVM::LLVMFuncOp> function = declare(call, type, symbols);
    if (failed(function))
      return failure();
    if (call.getCallee().starts_with("lw_mk"))
      specialize(*function, constants, operands, symbols);
    rewriter.replaceOpWithNewOp<LLVM::CallOp>(call, *function, operands);
    return success();
  }

  FailureOr<LLVM::LLVMFuncOp> declare(cpu::LibraryCallOp call, LLVM::LLVMFunctionType type, SymbolTable &symbols) {
    auto function = symbols.lookup<LLVM::LLVMFuncOp>(call.getCallee());
    if (!function) {
      if (symbols.lookup(call.getCallee()))
        return call.emitOpError() << "calls '" << call.getCallee()
                                  << "', which is not a function of the library in this module";
      OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
      function = LLVM::LLVMFuncOp::create(builder, call.getLoc(), call.getCallee(), type);
      symbols.insert(function);
    } else if (function.getFunctionType() != type) {
      return call.emitOpError() << "calls '" << call.getCallee() << "' as " << type << ", it is declared as "
                                << function.getFunctionType();
    }
    return function;
  }

  // Replaces `function` by one that has the constants in its body, and `operands` by what that one still takes.
  void specialize(LLVM::LLVMFuncOp &function, ArrayRef<std::optional<int64_t>> constants,
                  SmallVectorImpl<Value> &operands, SymbolTable &symbols) {
    SmallVector<std::optional<int64_t>> fixed; // for each operand
    unsigned next = 0;
    for (Value operand : operands)
      fixed.push_back(isa<LLVM::LLVMPointerType>(operand.getType()) ? std::nullopt : constants[next++]);
    std::string name = getSpecializedName(function.getSymName(), constants);
    SmallVector<Value> remaining;
    for (auto [operand, constant] : llvm::zip_equal(operands, fixed))
      if (!constant)
        remaining.push_back(operand);
    auto specialized = symbols.lookup<LLVM::LLVMFuncOp>(name);
    if (!specialized) {
      Location loc = function.getLoc();
      OpBuilder builder(&getContext());
      builder.setInsertionPointAfter(function);
      auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&getContext()),
                                              llvm::map_to_vector(remaining, [](Value v) { return v.getType(); }));
      specialized = LLVM::LLVMFuncOp::create(builder, loc, name, type, LLVM::Linkage::Internal);
      specialized.setNoInline(true);
      symbols.insert(specialized);
      Block *body = specialized.addEntryBlock(builder);
      builder.setInsertionPointToStart(body);
      SmallVector<Value> arguments;
      next = 0;
      for (const std::optional<int64_t> &constant : fixed)
        arguments.push_back(constant
                                ? LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), *constant).getResult()
                                : body->getArgument(next++));
      for (auto [i, argument] : llvm::enumerate(body->getArguments()))
        if (isa<LLVM::LLVMPointerType>(argument.getType()))
          specialized.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
      LLVM::CallOp::create(builder, loc, function, arguments);
      LLVM::ReturnOp::create(builder, loc, ValueRange());
    }
    function = specialized;
    operands = remaining;
  }
};
} // namespace
