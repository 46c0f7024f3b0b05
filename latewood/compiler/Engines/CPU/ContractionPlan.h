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
//
// Extents may be dynamic. What is a number in a static plan is then a value that the program computes in front of the
// product: how many panels a task has, how many steps a block. What is a choice is a *question* ("are there at most 12
// rows?"): the planner is asked again with either answer, and the program chooses between the two plans. A question is
// asked only where the answer matters much. The products that a length leads to are the ones that a static program of
// that length has.
#ifndef LATEWOOD_COMPILER_ENGINES_CPU_CONTRACTIONPLAN_H
#define LATEWOOD_COMPILER_ENGINES_CPU_CONTRACTIONPLAN_H

#include "latewood/compiler/Dialect/CPU/CPU.h"
#include "latewood/compiler/Engines/CPU/SymbolicSize.h"
#include "latewood/compiler/Target/DeviceLibrary.h"
#include "latewood/compiler/Target/Target.h"
#include <string>

namespace latewood::cpu {

/// A dimension of the iteration space: its stride in each operand of the op, 0 where the operand does not have it.
struct ContractionDim {
  SymbolicSize extent = 1;
  llvm::SmallVector<SymbolicSize> strides;
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

/// What a plan depends on and the shape does not say.
struct PlanQuestion {
  SymbolicSize size;
  int64_t bound;
  bool isExact; // equal to the bound; otherwise, at most the bound
  bool answer = false;
};

struct ContractionPlan {
  ContractionMethod method = ContractionMethod::Tiles;

  /// Operand numbers of the row factor and of the column factor.
  unsigned a = 0, b = 1;
  ContractionDim row, column, reduced;
  /// Loops around the matrix product: over results, and over parts of the sum.
  llvm::SmallVector<ContractionDim> outer, outerReduced;

  /// What the kernels multiply: the accumulator's name in the library ("f32"), or pairs of narrower integers ("i16x2");
  /// and the register tile.
  std::string kernel;
  target::TileShape tile;
  /// Ending of the names of the functions that read a factor: "f32", "bf16_f32".
  std::string aSuffix, bSuffix;

  // Tiles.
  RowFactorSource aSource = RowFactorSource::Direct;
  bool packsB = true;           // false: full panels are read in place
  SymbolicSize packedSteps = 1; // elements that the steps of a row or a column take when packed: half of them, as pairs
  SymbolicSize kBlock = 1;      // steps of the sum that a kernel makes at once
  bool isStreamed = false; // blocks of the sum outside, panels inside: the sums of a group of panels are kept in memory
  SymbolicSize panelsPerPack = 1;
  SymbolicSize panelsPerTask = 1, rowTilesPerTask = 1;
  SymbolicSize tilesPerPack = 4; // row tiles of a task that packs A for all
  SymbolicSize rowTiles = 1, panels = 1, fullPanels = 0, tailColumns = 0;

  // One row.
  static constexpr int64_t mostColumnsPerTask = 4096;
  SymbolicSize columnsPerTask = 1;

  // Tasks: outer loops, groups of columns, blocks of rows.
  bool isParallel = false;
  SymbolicSize columnGroups = 1, rowBlocks = 1;
  /// Of all outer loops together, positions that one task does: all where the product is small.
  SymbolicSize outerPerTask = 1;

  SymbolicSize outerCount() const;
  SymbolicSize outerReducedCount() const;
};

/// Plans a product on buffers, for these answers. The program computes at the insertion point of `builder` what is no
/// constant. Where an answer is missing, `open` is set, and the plan is of no use. Fails for what the kernels do not
/// cover, element types or layouts; `reason` says what.
llvm::FailureOr<ContractionPlan> planContraction(ContractOp op, const target::Target &target,
                                                 llvm::ArrayRef<PlanQuestion> answers, mlir::OpBuilder &builder,
                                                 std::optional<PlanQuestion> &open, std::string &reason);

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_CONTRACTIONPLAN_H
