// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts whose comparator compares one key of each element.
#ifndef LATEWOOD_COMPILER_ENGINES_CPU_STABLEHLOTOLINALGRADIXSORT_H
#define LATEWOOD_COMPILER_ENGINES_CPU_STABLEHLOTOLINALGRADIXSORT_H

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalg.h"

namespace latewood::cpu {

/// What a comparator compares: `value`, computed from the elements on one side alone, and from those on the other side
/// in the same way.
struct SortKey {
  mlir::Value value; // in the comparator
  bool isDescending;
  bool isTotal; // floats: -0 is before 0, and NaN has a place

  /// The width of the integer that stands for a key.
  unsigned getWidth() const;
};

/// The key of a comparator, if that is all it looks at.
std::optional<SortKey> matchSortKey(stablehlo::SortOp op);

struct RadixSort {
  stablehlo::SortOp op;
  SortKey key;
  mlir::ValueRange inputs; // converted
  mlir::OpFoldResult extent;
  /// Of what the comparator uses from outside, computed.
  const llvm::DenseMap<mlir::Value, mlir::Value> &captured;
  /// All threads work on the row.
  bool inBlocks;
};

/// Sorts one row of the inputs into `results`; `inRow` says where an element of the row is in both.
llvm::SmallVector<mlir::Value> makeRadixSort(mlir::ImplicitLocOpBuilder &b, const RadixSort &sort,
                                             mlir::ValueRange results,
                                             llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value)> inRow);

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_STABLEHLOTOLINALGRADIXSORT_H
