// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the loops of one planned product. See ContractionPlan.h for what is decided before, and ContractionEmitter.cpp
// for the shape of the code.
#ifndef LATEWOOD_COMPILER_ENGINES_CPU_CONTRACTIONEMITTER_H
#define LATEWOOD_COMPILER_ENGINES_CPU_CONTRACTIONEMITTER_H

#include "latewood/compiler/Engines/CPU/ContractionPlan.h"
#include "latewood/compiler/Engines/CPU/LaneBuilder.h"

namespace latewood::cpu {

class ContractionEmitter {
public:
  ContractionEmitter(ContractOp op, ContractionPlan plan, mlir::OpBuilder &builder);

  /// Writes the loops at the builder's insertion point. The op stays.
  void emit();

private:
  // Structure.
  void forRange(Index begin, Index end, int64_t step, llvm::function_ref<void(Index)> body);
  /// Calls `body` in a loop nest over extents, parallel or sequential.
  void forTasks(llvm::ArrayRef<int64_t> extents, bool isParallel, llvm::function_ref<void(llvm::ArrayRef<Index>)> body);
  void forDims(llvm::ArrayRef<ContractionDim> dims, llvm::function_ref<void(llvm::ArrayRef<Index>)> body);
  /// Calls `body` where `index` is `last`, one of `count` values.
  void ifLast(Index index, int64_t count, llvm::function_ref<void()> body);
  Index minimum(Index index, int64_t bound);
  Index endOfPart(Index first, int64_t count, int64_t parts, int64_t total);
  mlir::Value allocate(int64_t elements);
  mlir::Value flatten(unsigned operand);
  Index offsetOf(unsigned operand, llvm::ArrayRef<ContractionDim> dims, llvm::ArrayRef<Index> indices);
  struct Address {
    mlir::Value buffer;
    Index offset;
  };
  void call(const llvm::Twine &callee, llvm::ArrayRef<Address> buffers, llvm::ArrayRef<Index> arguments,
            llvm::ArrayRef<unsigned> bufferPositions);
  void fillZeros(Address at, int64_t elements);

  // Tiles.
  void emitTiles();
  void emitTileTask(llvm::ArrayRef<Index> outer, Index group, Index block);
  /// Computes `count` panels of `width` columns, which are packed together.
  void emitPanels(Index column, Index count, int64_t width);
  void emitStreamedPanels(Index column, Index count, int64_t width);
  void packPanels(Index column, Index count, int64_t width, Index step, Index steps, llvm::ArrayRef<Index> outerStep);
  void forRowTiles(llvm::function_ref<void(Index tile, Index rows)> body);
  /// A tile of `rows` rows of one panel, `panel` counted from the first one that is packed.
  struct Tile {
    Index tile, rows, column, panel;
    int64_t width;
    Address sums;
  };
  void accumulate(const Tile &tile, Index step, Index steps, llvm::ArrayRef<Index> outerStep);
  void prefetchResult(const Tile &tile);
  void emitEpilogue(const Tile &tile);
  int64_t sumStride(int64_t width) const { return width <= plan.tile.lanes ? plan.tile.lanes : plan.tile.columns; }
  Index partOf(llvm::ArrayRef<Index> outerStep);
  void packA(Address into, llvm::ArrayRef<Index> outer, Index tile, int64_t tiles);
  Index packedTile(Index tile, llvm::ArrayRef<Index> outerStep);

  // One row.
  void emitRow();
  void emitRowTask(llvm::ArrayRef<Index> outer, Index group);

  // Epilogue: `rows` rows of `width` results, from sums whose rows lie `distance` apart.
  void emitEpilogue(Address at, int64_t distance, Index row, Index rows, Index column, int64_t width);

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
  int64_t packedTiles = 0; // row tiles in packedA, and the first of them
  Index firstPackedTile;
};

/// Plain loops over loads and stores: right for every type and layout, not fast.
void emitContractionLoops(ContractOp op, mlir::OpBuilder &builder);

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_CONTRACTIONEMITTER_H
