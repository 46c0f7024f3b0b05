// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One flat module from the nested ones of the engines. Names of cluster functions are unique there: they begin with the
// name of a public function. What engines' modules have in common is the library: they declare the same functions of
// it, and specialize them for the same constants.

#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "latewood/compiler/Translate/ExecutorToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace latewood;

static bool isSameFunction(LLVM::LLVMFuncOp function, Operation *other) {
  return function.getLinkage() == LLVM::Linkage::Internal &&
         OperationEquivalence::isEquivalentTo(function, other, OperationEquivalence::IgnoreLocations);
}

LogicalResult translate::flattenEngineModules(ModuleOp module) {
  for (auto constant : llvm::to_vector(module.getOps<executor::ConstantOp>()))
    constant.erase();
  for (auto engine : llvm::to_vector(module.getOps<executor::EngineOp>()))
    engine.erase();
  SymbolTable symbols(module);
  for (auto nested : llvm::to_vector(module.getOps<ModuleOp>())) {
    for (Operation &op : llvm::make_early_inc_range(*nested.getBody())) {
      auto name = SymbolTable::getSymbolName(&op);
      if (Operation *other = symbols.lookup(name)) {
        auto function = dyn_cast<LLVM::LLVMFuncOp>(other);
        if (function && (function.isExternal() || isSameFunction(function, &op))) {
          op.erase();
          continue;
        }
        return op.emitError() << "symbol '" << name.getValue() << "' is defined twice";
      }
      op.remove();
      symbols.insert(&op);
    }
    nested.erase();
  }
  return success();
}
