// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One flat module from the nested ones of the engines. Names of cluster functions are unique there: they begin with the
// name of a public function.

#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "latewood/compiler/Translate/ExecutorToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace latewood;

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
        auto declaration = dyn_cast<LLVM::LLVMFuncOp>(other);
        if (declaration && declaration.isExternal()) {
          op.erase(); // two engines' modules declare the same library function
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
