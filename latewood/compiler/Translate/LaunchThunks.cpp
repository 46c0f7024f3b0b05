// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a Lua host program calls: one function of the image per engine function, all with the same signature.

#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "latewood/compiler/Translate/ExecutorToLua.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace latewood;

LogicalResult translate::createLaunchThunks(ModuleOp module, const LuaProgram &program) {
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>()))
    function.erase();
  if (failed(flattenEngineModules(module)))
    return failure();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(module.getContext()), i64 = builder.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(module.getContext()), {pointer, pointer});
  SymbolTable symbols(module);
  for (const LuaProgram::Kernel &kernel : program.kernels) {
    auto callee = symbols.lookup<LLVM::LLVMFuncOp>(kernel.callee.getLeafReference());
    if (!callee)
      return module.emitError() << "the engine function " << kernel.callee << " is missing";
    Location loc = callee.getLoc();
    builder.setInsertionPointToEnd(module.getBody());
    auto thunk = LLVM::LLVMFuncOp::create(builder, loc, kernel.symbol, type);
    Block *block = thunk.addEntryBlock(builder);
    builder.setInsertionPointToStart(block);
    SmallVector<Value> operands{block->getArgument(0)};
    for (auto [index, taken] : llvm::enumerate(callee.getArgumentTypes().drop_front())) {
      Value place = LLVM::GEPOp::create(builder, loc, pointer, i64, block->getArgument(1),
                                        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
      bool isPointer = isa<LLVM::LLVMPointerType>(taken);
      Value word = LLVM::LoadOp::create(builder, loc, isPointer ? pointer : i64, place, /*alignment=*/8);
      if (!isPointer && !taken.isInteger(64))
        word = LLVM::TruncOp::create(builder, loc, taken, word);
      operands.push_back(word);
    }
    LLVM::CallOp::create(builder, loc, TypeRange(), kernel.callee.getLeafReference(), operands);
    LLVM::ReturnOp::create(builder, loc, ValueRange());
  }
  return success();
}
