// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that were made from pieces of others, each kept once.
//
// What an unrolled loop or the layers of a network repeat differs in the buffers that it works on; outlined, with the
// buffers as arguments, it is the same function. Functions are found by a hash of all their operations, so that many
// different ones cost no more than many equal ones.

#ifndef LATEWOOD_COMPILER_ENGINES_CPU_EQUALFUNCTIONS_H
#define LATEWOOD_COMPILER_ENGINES_CPU_EQUALFUNCTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallVector.h"
#include <unordered_map>

namespace latewood::cpu {

class EqualFunctions {
public:
  /// An earlier function with the code, type and argument attributes of `function`, which is erased then; else
  /// `function`.
  mlir::func::FuncOp findOrKeep(mlir::func::FuncOp function) {
    llvm::hash_code hash = llvm::hash_combine(function.getFunctionType().getAsOpaquePointer(),
                                              function.getArgAttrsAttr().getAsOpaquePointer());
    function.getBody().walk([&](mlir::Operation *op) {
      hash = llvm::hash_combine(hash,
                                mlir::OperationEquivalence::computeHash(op, mlir::OperationEquivalence::ignoreHashValue,
                                                                        mlir::OperationEquivalence::ignoreHashValue,
                                                                        mlir::OperationEquivalence::IgnoreLocations));
    });
    llvm::SmallVector<mlir::func::FuncOp, 1> &candidates = kept[size_t(hash)];
    for (mlir::func::FuncOp candidate : candidates)
      if (candidate.getFunctionType() == function.getFunctionType() &&
          candidate.getArgAttrsAttr() == function.getArgAttrsAttr() &&
          mlir::OperationEquivalence::isRegionEquivalentTo(&candidate.getBody(), &function.getBody(),
                                                           mlir::OperationEquivalence::IgnoreLocations)) {
        function.erase();
        return candidate;
      }
    candidates.push_back(function);
    return function;
  }

private:
  // By hash. Not a DenseMap: any hash is possible, also the ones that it reserves.
  std::unordered_map<size_t, llvm::SmallVector<mlir::func::FuncOp, 1>> kept;
};

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_EQUALFUNCTIONS_H
