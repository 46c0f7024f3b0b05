// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prefix sums: windows that reach back to the first element, or on to the last one.
#ifndef LATEWOOD_COMPILER_ENGINES_CPU_STABLEHLOTOLINALGSCAN_H
#define LATEWOOD_COMPILER_ENGINES_CPU_STABLEHLOTOLINALGSCAN_H

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalg.h"

namespace latewood::cpu {

/// The attributes of a windowed operation with their defaults filled in.
struct Window {
  llvm::SmallVector<int64_t> size, stride, baseDilation, windowDilation, low, high;

  Window(int64_t rank, llvm::ArrayRef<int64_t> size, std::optional<llvm::ArrayRef<int64_t>> stride,
         std::optional<llvm::ArrayRef<int64_t>> baseDilation, std::optional<llvm::ArrayRef<int64_t>> windowDilation,
         std::optional<mlir::DenseIntElementsAttr> padding)
      : size(size), stride(rank, 1), baseDilation(rank, 1), windowDilation(rank, 1), low(rank, 0), high(rank, 0) {
    if (stride)
      this->stride.assign(stride->begin(), stride->end());
    if (baseDilation)
      this->baseDilation.assign(baseDilation->begin(), baseDilation->end());
    if (windowDilation)
      this->windowDilation.assign(windowDilation->begin(), windowDilation->end());
    if (padding) {
      auto values = llvm::to_vector(padding->getValues<int64_t>());
      for (int64_t dim = 0; dim < rank; ++dim) {
        low[dim] = values[2 * dim];
        high[dim] = values[2 * dim + 1];
      }
    }
  }
};

/// A scan: along `dim`, from the first element or from the last.
struct Scan {
  int64_t dim;
  bool isReverse;
};

/// The scan that a window is, if it is one.
std::optional<Scan> matchScan(stablehlo::ReduceWindowOp op);

/// The results of the scan, which are not empty. `inputs` and `inits` are converted, `types` are those of the results.
llvm::SmallVector<mlir::Value> makeScan(stablehlo::ReduceWindowOp op, mlir::ValueRange inputs, mlir::ValueRange inits,
                                        mlir::ArrayRef<mlir::Type> types, llvm::ArrayRef<mlir::OpFoldResult> extents,
                                        Scan scan, mlir::ConversionPatternRewriter &rewriter);

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_STABLEHLOTOLINALGSCAN_H
