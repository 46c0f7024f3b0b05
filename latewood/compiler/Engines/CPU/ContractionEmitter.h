// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the loops of one planned product. See ContractionPlan.h for what is decided before, and ContractionEmitter.cpp
// for the shape of the code.
#ifndef LATEWOOD_COMPILER_ENGINES_CPU_CONTRACTIONEMITTER_H
#define LATEWOOD_COMPILER_ENGINES_CPU_CONTRACTIONEMITTER_H

#include "latewood/compiler/Engines/CPU/ContractionPlan.h"
#include "latewood/compiler/Engines/CPU/LaneBuilder.h"
#include "latewood/compiler/Engines/CPU/SizeBuilder.h"

namespace latewood::cpu {

class ContractionEmitter {
public:
  ContractionEmitter(ContractOp op, ContractionPlan plan, mlir::OpBuilder &builder);

  /// Writes the loops at the builder's insertion point. The op stays.
  void emit();

private:
  // Structure.
  void forRange(Index begin, Index end, const SymbolicSize &step, llvm::function_ref<void(Index)> body);
  /// Calls `body` in a loop nest over extents, parallel or sequential.
  void forExtents(llvm::ArrayRef<SymbolicSize> extents, bool isParallel,
                  llvm::function_ref<void(llvm::ArrayRef<Index>)> body);
  /// Calls `body` for each position of the outer loops, and then of `inner`. `prepare` is called at the beginning of a
  /// task, or of the whole where there are none.
  void forTasks(llvm::ArrayRef<SymbolicSize> inner, llvm::function_ref<void()> prepare,
                llvm::function_ref<void(llvm::ArrayRef<Index>)> body);
  void forDims(llvm::ArrayRef<ContractionDim> dims, llvm::function_ref<void(llvm::ArrayRef<Index>)> body);
  /// Calls `body` where `index` is `last`, one of `count` values.
  void ifLast(Index index, const SymbolicSize &count, llvm::function_ref<void()> body);
  void ifElse(mlir::Value condition, llvm::function_ref<void()> yes, llvm::function_ref<void()> no);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, Index lhs, Index rhs);
  Index minimum(Index index, const SymbolicSize &bound);
  /// What is left of `total` behind `parts` parts of `size`, at most `most`.
  Index restOf(const SymbolicSize &total, Index parts, const SymbolicSize &size, const SymbolicSize &most);
  Index endOfPart(Index first, const SymbolicSize &count, const SymbolicSize &parts, const SymbolicSize &total);
  mlir::Value allocate(const SymbolicSize &elements);
  mlir::Value flatten(unsigned operand);
  Index offsetOf(unsigned operand, llvm::ArrayRef<ContractionDim> dims, llvm::ArrayRef<Index> indices);
  struct Address {
    mlir::Value buffer;
    Index offset;
  };
  void call(const llvm::Twine &callee, llvm::ArrayRef<Address> buffers, llvm::ArrayRef<Index> arguments,
            llvm::ArrayRef<unsigned> bufferPositions);
  void fillZeros(Address at, const SymbolicSize &elements);

  // Tiles.
  void emitTiles();
  void emitTileTask(llvm::ArrayRef<Index> outer, Index group, Index block);
  /// Columns of a panel, `valid` of at most `width`: two numbers where the last panel is as wide as the program says.
  struct Columns {
    int64_t width;
    Index valid;

    Columns(int64_t width) : width(width), valid(width) {}
    Columns(int64_t width, Index valid) : width(width), valid(valid) {}
  };
  /// Computes `count` panels of `columns`, which are packed together.
  void emitPanels(Index column, Index count, Columns columns);
  void emitStreamedPanels(Index column, Index count, Columns columns);
  void packPanels(Index column, Index count, Columns columns, Index step, Index steps, llvm::ArrayRef<Index> outerStep);
  bool areFull(Columns columns) const {
    return columns.width == plan.tile.columns && columns.valid.isConstant() && columns.valid.constant == columns.width;
  }
  void forRowTiles(llvm::function_ref<void(Index tile, Index rows)> body);
  /// A tile of `rows` rows of one panel, `panel` counted from the first one that is packed.
  struct Tile {
    Index tile, rows, column, panel;
    Columns columns;
    Address sums;
  };
  void accumulate(const Tile &tile, Index step, Index steps, llvm::ArrayRef<Index> outerStep);
  void prefetchResult(const Tile &tile);
  void emitEpilogue(const Tile &tile);
  int64_t sumStride(int64_t width) const { return width <= plan.tile.lanes ? plan.tile.lanes : plan.tile.columns; }
  Index partOf(llvm::ArrayRef<Index> outerStep);
  void packA(Address into, llvm::ArrayRef<Index> outer, Index tile, const SymbolicSize &tiles);
  Index packedTile(Index tile, llvm::ArrayRef<Index> outerStep);

  // One row.
  void emitRow();
  void emitRowTask(llvm::ArrayRef<Index> outer, Index group);
  int64_t chunkElements();

  // Epilogue: `rows` rows of `width` results, from sums whose rows lie `distance` apart.
  void emitEpilogue(Address at, int64_t distance, Index row, Index rows, Index column, Columns columns);

  ContractOp op;
  ContractionPlan plan;
  mlir::OpBuilder &b;
  mlir::Location loc;
  LaneBuilder lanes;
  mlir::Type accumulator;
  unsigned init;

  // Of the task that is being written.
  llvm::SmallVector<mlir::Value> flat; // the extras and init as rank-1 buffers, null for scalars
  llvm::SmallVector<Index> base;       // of each operand, from the outer loops
  Address packedA, packedB, sums;
  Index firstTile, endTile;
  SymbolicSize packedTiles = 0; // row tiles in packedA, and the first of them
  Index firstPackedTile;
};

/// Plain loops over loads and stores: right for every type and layout, not fast.
void emitContractionLoops(ContractOp op, mlir::OpBuilder &builder);

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_CONTRACTIONEMITTER_H
