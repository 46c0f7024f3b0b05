// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of the library on buffers become calls on pointers, and the functions are declared. It runs when buffers have
// their final memory: from here on, no analysis sees which buffer a call touches.
//
// In:  cpu.library_call. Out: llvm.call and llvm.func declarations in the module.

#include "latewood/compiler/Dialect/CPU/CPU.h"
#include "latewood/compiler/Engines/CPU/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
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

namespace {
class LowerLibraryCallsPass : public cpu::impl::LowerLibraryCallsPassBase<LowerLibraryCallsPass> {
  void runOnOperation() override {
    SmallVector<cpu::LibraryCallOp> calls;
    getOperation().walk([&](cpu::LibraryCallOp call) { calls.push_back(call); });
    SymbolTable symbols(getOperation());
    IRRewriter rewriter(&getContext());
    auto voidType = LLVM::LLVMVoidType::get(&getContext());
    for (cpu::LibraryCallOp call : calls) {
      rewriter.setInsertionPoint(call);
      SmallVector<Value> operands;
      for (unsigned i = 0, e = call.getArguments().size(); i < e; ++i) {
        Value argument = call.getArguments()[i];
        if (isa<MemRefType>(argument.getType()))
          operands.push_back(getAddress(rewriter, call.getLoc(), argument, call.getArguments()[++i]));
        else
          operands.push_back(arith::IndexCastOp::create(rewriter, call.getLoc(), rewriter.getI64Type(), argument));
      }
      auto type =
          LLVM::LLVMFunctionType::get(voidType, llvm::map_to_vector(operands, [](Value v) { return v.getType(); }));
      auto function = symbols.lookup<LLVM::LLVMFuncOp>(call.getCallee());
      if (!function) {
        if (symbols.lookup(call.getCallee())) {
          call.emitOpError() << "calls '" << call.getCallee()
                             << "', which is not a function of the library in this module";
          return signalPassFailure();
        }
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.setInsertionPointToStart(getOperation().getBody());
        function = LLVM::LLVMFuncOp::create(rewriter, call.getLoc(), call.getCallee(), type);
        symbols.insert(function);
      } else if (function.getFunctionType() != type) {
        call.emitOpError() << "calls '" << call.getCallee() << "' as " << type << ", it is declared as "
                           << function.getFunctionType();
        return signalPassFailure();
      }
      rewriter.replaceOpWithNewOp<LLVM::CallOp>(call, function, operands);
    }
  }
};
} // namespace
