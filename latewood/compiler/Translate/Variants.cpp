// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variants of a program in one file.
//
// In: lowered modules of one context, compiled from the same program for different targets. They differ in their code,
// in the workspace that it needs, and perhaps in constants that a target wants in a layout of its own.
// Out: modules whose constants agree in number and order. Attributes are unique in a context, so equal constants are
// one attribute and are found without comparing bytes.

#include "latewood/compiler/Translate/Variants.h"
#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace latewood::translate {

std::vector<int32_t> shareConstants(ArrayRef<ModuleOp> variants) {
  // Every constant of any variant, in the order in which they are met, with who uses it.
  llvm::MapVector<Attribute, SmallVector<executor::ConstantOp>> users;
  for (auto [index, variant] : llvm::enumerate(variants))
    for (auto constant : ModuleOp(variant).getOps<executor::ConstantOp>()) {
      auto &entry = users[constant.getValue()];
      entry.resize(variants.size());
      if (!entry[index])
        entry[index] = constant;
    }
  std::vector<int32_t> owners;
  for (auto &[value, constants] : users) {
    auto uses = llvm::count_if(constants, [](executor::ConstantOp constant) { return constant != nullptr; });
    auto first = llvm::find_if(constants, [](executor::ConstantOp constant) { return constant != nullptr; });
    owners.push_back(uses == 1 ? static_cast<int32_t>(first - constants.begin()) : -1);
    executor::ConstantOp original = *first;
    for (auto [variant, constant] : llvm::zip_equal(variants, constants)) {
      ModuleOp module = variant;
      Block *body = module.getBody();
      if (constant) {
        constant->moveBefore(body, body->end());
        continue;
      }
      auto copy = cast<executor::ConstantOp>(original->clone());
      std::string name = original.getSymName().str();
      for (unsigned i = 0; module.lookupSymbol(name); ++i)
        name = (original.getSymName() + "_" + Twine(i)).str();
      copy.setSymName(name);
      body->push_back(copy);
    }
  }
  // A value that a variant has under two names is needed once.
  for (auto [index, variant] : llvm::enumerate(variants)) {
    ModuleOp module = variant;
    SmallVector<executor::ConstantOp> again;
    for (auto constant : module.getOps<executor::ConstantOp>())
      if (users[constant.getValue()][index] && users[constant.getValue()][index] != constant)
        again.push_back(constant);
    for (executor::ConstantOp constant : again) {
      executor::ConstantOp kept = users[constant.getValue()][index];
      if (succeeded(SymbolTable::replaceAllSymbolUses(constant, kept.getSymNameAttr(), module)))
        constant.erase();
    }
  }
  return owners;
}

LogicalResult checkSameFunctions(ArrayRef<ModuleOp> variants) {
  auto describe = [](ModuleOp module) {
    SmallVector<std::tuple<StringRef, Type, Attribute>> result;
    for (auto function : module.getOps<func::FuncOp>())
      result.push_back({function.getName(), function.getFunctionType(),
                        function->getAttr(executor::ExecutorDialect::getResultsAttrName())});
    return result;
  };
  for (ModuleOp module : variants.drop_front())
    if (describe(module) != describe(variants.front()))
      return module.emitError("the functions of the program are not the same for all targets");
  return success();
}

} // namespace latewood::translate
