// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over scalars that carry tensors: what sorts and prefix sums are made of.
#ifndef LATEWOOD_COMPILER_ENGINES_CPU_STABLEHLOTOLINALGLOOPS_H
#define LATEWOOD_COMPILER_ENGINES_CPU_STABLEHLOTOLINALGLOOPS_H

#include "latewood/compiler/Engines/CPU/IndependentLoops.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace latewood::cpu {

/// The body of a loop: the next values of what is carried, from the loop's variable and the values now.
using LoopBody =
    llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ImplicitLocOpBuilder &, mlir::Value, mlir::ValueRange)>;

inline llvm::SmallVector<mlir::Value> makeLoop(mlir::ImplicitLocOpBuilder &b, mlir::Value from, mlir::Value to,
                                               mlir::Value step, mlir::ValueRange carried, LoopBody body) {
  mlir::Location loc = b.getLoc();
  auto loop = mlir::scf::ForOp::create(
      b, from, to, step, carried,
      [&](mlir::OpBuilder &nested, mlir::Location, mlir::Value variable, mlir::ValueRange values) {
        mlir::ImplicitLocOpBuilder inner(loc, nested);
        mlir::scf::YieldOp::create(inner, body(inner, variable, values));
      });
  return llvm::SmallVector<mlir::Value>(loop.getResults());
}

/// A loop that carries tensors only, and of which no iteration touches what another one writes: all threads run it.
inline llvm::SmallVector<mlir::Value> makeIndependentLoop(mlir::ImplicitLocOpBuilder &b, mlir::Value from,
                                                          mlir::Value to, mlir::Value step, mlir::ValueRange carried,
                                                          LoopBody body) {
  llvm::SmallVector<mlir::Value> results = makeLoop(b, from, to, step, carried, body);
  results.front().getDefiningOp()->setAttr(kIndependentAttrName, b.getUnitAttr());
  return results;
}

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_STABLEHLOTOLINALGLOOPS_H
