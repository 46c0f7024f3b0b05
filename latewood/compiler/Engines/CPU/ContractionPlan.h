// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How one matrix product will run: the decisions, without any code.
//
// On buffers a product is strides. Each dimension of its iteration space has an extent and one stride per operand (0
// where the operand does not have it), and everything is decided on those numbers:
//   - dimensions of one kind that lie inside each other in all operands are one dimension;
//   - the columns are the free dimension in which the result is contiguous: results are stored in vectors along it.
//     If it belongs to lhs, the factors change places;
//   - one row, one column and one reduced dimension make a matrix product; all others are loops around it;
//   - a product with one row streams the other factor once: the library's matrix-times-vector loops;
//   - anything else is cut into register tiles: column panels of NR columns outside, row tiles of MR rows inside. A
//     few panels of the column factor are packed together and stay in the second-level cache while all rows pass by;
//   - a sum that is too long for that is made in blocks: blocks outside, panels inside. So are few rows times a matrix
//     that no cache holds, in blocks of a few steps, so that the matrix is read in long rows, at the speed of memory.
//
// Tasks are fixed by the shape, never by the number of threads, so results are not either.
#ifndef LATEWOOD_COMPILER_ENGINES_CPU_CONTRACTIONPLAN_H
#define LATEWOOD_COMPILER_ENGINES_CPU_CONTRACTIONPLAN_H

#include "latewood/compiler/Dialect/CPU/CPU.h"
#include "latewood/compiler/Target/DeviceLibrary.h"
#include "latewood/compiler/Target/Target.h"
#include <string>

namespace latewood::cpu {

/// A dimension of the iteration space: its stride in each operand of the op, 0 where the operand does not have it.
struct ContractionDim {
  int64_t extent = 1;
  llvm::SmallVector<int64_t> strides;
};

enum class ContractionMethod {
  Tiles,           // packing and register tiles
  RowTimesMatrix,  // one row; the column factor is contiguous along the columns
  RowTimesColumns, // one row; the column factor is contiguous along the reduced dimension
};

/// Where the row factor of a tile is read.
enum class RowFactorSource {
  Direct,      // the operand itself
  PackedWhole, // packed before the tasks start
  PackedTask,  // packed by each task for itself
};

struct ContractionPlan {
  ContractionMethod method = ContractionMethod::Tiles;

  /// Operand numbers of the row factor and of the column factor.
  unsigned a = 0, b = 1;
  ContractionDim row, column, reduced;
  /// Loops around the matrix product: over results, and over parts of the sum.
  llvm::SmallVector<ContractionDim> outer, outerReduced;

  /// The accumulator's name in the library ("f32") and its register tile.
  std::string accumulator;
  target::TileShape tile;
  /// Ending of the names of the functions that read a factor: "f32", "bf16_f32".
  std::string aSuffix, bSuffix;

  // Tiles.
  RowFactorSource aSource = RowFactorSource::Direct;
  bool packsB = true;      // false: full panels are read in place
  int64_t kBlock = 1;      // steps of the sum that a kernel makes at once
  bool isStreamed = false; // blocks of the sum outside, panels inside: the sums of a group of panels are kept in memory
  int64_t panelsPerPack = 1;
  int64_t panelsPerTask = 1, rowTilesPerTask = 1;

  // One row.
  int64_t columnsPerTask = 1;

  bool isParallel = false;

  int64_t rowTiles() const { return llvm::divideCeil(row.extent, tile.rows); }
  int64_t panels() const { return llvm::divideCeil(column.extent, tile.columns); }
  int64_t columnGroups() const {
    return method == ContractionMethod::Tiles ? llvm::divideCeil(panels(), panelsPerTask)
                                              : llvm::divideCeil(column.extent, columnsPerTask);
  }
  int64_t rowBlocks() const {
    return method == ContractionMethod::Tiles ? llvm::divideCeil(rowTiles(), rowTilesPerTask) : 1;
  }
  int64_t outerCount() const;
  int64_t outerReducedCount() const;
};

/// Plans a product on buffers. Fails for what the kernels do not cover, element types or dynamic layouts; `reason` says
/// what.
llvm::FailureOr<ContractionPlan> planContraction(ContractOp op, const target::Target &target, std::string &reason);

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_CONTRACTIONPLAN_H
