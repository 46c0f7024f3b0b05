// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles:
//     [for all of A: pack]                                        where tasks share it
//     for all (outer…, column group, row block):                  tasks
//       [pack A]
//       for a few panels in group:
//         [pack B]
//         for panel, for row tile in block:
//           sums = 0;  lw_mk(sums, A, B);  for row: init = epilogue(sums, extras)
// A last panel that is not full is a second copy of the inner loops, with its static width; rows that do not fill a
// tile are one more turn of the loop over tiles, summed by the smaller kernels. A streamed product keeps the sums of
// the few panels:
//       for a few panels in group:
//         sums = 0
//         for block of steps:  [pack B];  for panel, for row tile:  lw_mk(sums…, A, B)
//         for panel, for row tile, for row:  init = epilogue(sums…, extras)
//
// One row:
//     for all (outer…, chunk of columns):  sums = 0;  lw_matvec(sums, a, B);  init = epilogue(sums, extras)

#include "latewood/compiler/Engines/CPU/ContractionEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace latewood::cpu;

ContractionEmitter::ContractionEmitter(ContractOp op, ContractionPlan plan, OpBuilder &builder)
    : op(op), plan(std::move(plan)), b(builder), loc(op.getLoc()), lanes(builder, op.getLoc()),
      accumulator(op.getAccumulatorType()), init(op->getNumOperands() - 1) {}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

void ContractionEmitter::forRange(Index begin, Index end, int64_t step, function_ref<void(Index)> body) {
  if (begin.value == end.value) {
    if (begin.constant >= end.constant)
      return;
    if (begin.constant + step >= end.constant)
      return body(begin);
  }
  auto loop = scf::ForOp::create(b, loc, lanes.materialize(begin), lanes.materialize(end),
                                 arith::ConstantIndexOp::create(b, loc, step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  body(Index(loop.getInductionVar()));
}

void ContractionEmitter::forTasks(ArrayRef<int64_t> extents, bool isParallel,
                                  function_ref<void(ArrayRef<Index>)> body) {
  SmallVector<Index> indices(extents.size(), Index(0));
  SmallVector<OpFoldResult> bounds;
  SmallVector<unsigned> positions;
  for (auto [position, extent] : llvm::enumerate(extents)) {
    if (extent == 1)
      continue;
    bounds.push_back(b.getIndexAttr(extent));
    positions.push_back(position);
  }
  OpBuilder::InsertionGuard guard(b);
  if (isParallel && !bounds.empty()) {
    auto forall = scf::ForallOp::create(b, loc, bounds, ValueRange(), std::nullopt);
    b.setInsertionPoint(forall.getBody()->getTerminator());
    for (auto [position, index] : llvm::zip_equal(positions, forall.getInductionVars()))
      indices[position] = Index(index);
    return body(indices);
  }
  Value zero, one;
  for (auto [position, bound] : llvm::zip_equal(positions, bounds)) {
    zero = arith::ConstantIndexOp::create(b, loc, 0);
    one = arith::ConstantIndexOp::create(b, loc, 1);
    auto loop = scf::ForOp::create(b, loc, zero, arith::ConstantIndexOp::create(b, loc, extents[position]), one);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    indices[position] = Index(loop.getInductionVar());
  }
  body(indices);
}

void ContractionEmitter::forDims(ArrayRef<ContractionDim> dims, function_ref<void(ArrayRef<Index>)> body) {
  forTasks(llvm::map_to_vector(dims, [](const ContractionDim &dim) { return dim.extent; }), /*isParallel=*/false, body);
}

void ContractionEmitter::ifLast(Index index, int64_t count, function_ref<void()> body) {
  if (count == 1)
    return body();
  Value isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, lanes.materialize(index),
                                       arith::ConstantIndexOp::create(b, loc, count - 1));
  auto branch = scf::IfOp::create(b, loc, isLast, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenYield());
  body();
}

// The end of a part of `count` positions that begins at `first`, where `parts` parts cover `total` positions.
Index ContractionEmitter::endOfPart(Index first, int64_t count, int64_t parts, int64_t total) {
  Index end = lanes.add(first, Index(count));
  return parts * count == total ? end : minimum(end, total);
}

Index ContractionEmitter::minimum(Index index, int64_t bound) {
  if (index.isConstant())
    return Index(std::min(index.constant, bound));
  return Index(
      Value(arith::MinSIOp::create(b, loc, lanes.materialize(index), arith::ConstantIndexOp::create(b, loc, bound))));
}

Value ContractionEmitter::allocate(int64_t elements) {
  return memref::AllocOp::create(b, loc, MemRefType::get({std::max<int64_t>(elements, 1)}, accumulator),
                                 b.getI64IntegerAttr(64));
}

Value ContractionEmitter::flatten(unsigned operand) {
  auto type = dyn_cast<MemRefType>(op->getOperand(operand).getType());
  if (!type)
    return {};
  SmallVector<int64_t> strides;
  int64_t offset, elements = 1;
  (void)type.getStridesAndOffset(strides, offset);
  for (auto [extent, stride] : llvm::zip_equal(type.getShape(), strides))
    elements += (extent - 1) * stride;
  OpFoldResult start = b.getIndexAttr(offset);
  if (ShapedType::isDynamic(offset))
    start = memref::ExtractStridedMetadataOp::create(b, loc, op->getOperand(operand)).getOffset();
  auto layout = StridedLayoutAttr::get(b.getContext(), offset, {1});
  auto flatType = MemRefType::get({elements}, type.getElementType(),
                                  offset == 0 ? MemRefLayoutAttrInterface() : MemRefLayoutAttrInterface(layout),
                                  type.getMemorySpace());
  return memref::ReinterpretCastOp::create(b, loc, flatType, op->getOperand(operand), start,
                                           ArrayRef<OpFoldResult>{b.getIndexAttr(elements)},
                                           ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
}

Index ContractionEmitter::offsetOf(unsigned operand, ArrayRef<ContractionDim> dims, ArrayRef<Index> indices) {
  Index offset(0);
  for (auto [dim, index] : llvm::zip_equal(dims, indices))
    offset = lanes.add(offset, lanes.mul(index, dim.strides[operand]));
  return offset;
}

// Buffers stand at the given positions among the arguments of the C function.
void ContractionEmitter::call(const Twine &callee, ArrayRef<Address> buffers, ArrayRef<Index> arguments,
                              ArrayRef<unsigned> bufferPositions) {
  SmallVector<Value> operands;
  unsigned nextBuffer = 0, nextArgument = 0;
  for (unsigned i = 0, e = buffers.size() + arguments.size(); i < e; ++i) {
    if (llvm::is_contained(bufferPositions, i)) {
      operands.push_back(buffers[nextBuffer].buffer);
      operands.push_back(lanes.materialize(buffers[nextBuffer++].offset));
    } else {
      operands.push_back(lanes.materialize(arguments[nextArgument++]));
    }
  }
  LibraryCallOp::create(b, loc, callee.str(), operands);
}

// `elements` is a multiple of the vector length.
void ContractionEmitter::fillZeros(Address at, int64_t elements) {
  auto type = VectorType::get({plan.tile.lanes}, accumulator);
  Value zeros = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  forRange(Index(0), Index(elements), plan.tile.lanes, [&](Index i) {
    vector::StoreOp::create(b, loc, zeros, at.buffer, lanes.materialize(lanes.add(at.offset, i)));
  });
}

void ContractionEmitter::emit() {
  OpBuilder::InsertionGuard guard(b);
  // Buffers flattened inside of the tasks: a parallel body captures the operands themselves.
  flat.assign(op->getNumOperands(), Value());
  base.assign(op->getNumOperands(), Index(0));
  if (plan.method == ContractionMethod::Tiles)
    emitTiles();
  else
    emitRow();
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

// The position of a part of the sum among all of them.
Index ContractionEmitter::partOf(ArrayRef<Index> outerStep) {
  Index part(0);
  for (auto [dim, index] : llvm::zip_equal(plan.outerReduced, outerStep))
    part = lanes.add(lanes.mul(part, dim.extent), index);
  return part;
}

// Packs `tiles` row tiles, all steps of the sum, from row tile `tile` on.
void ContractionEmitter::packA(Address into, ArrayRef<Index> outer, Index tile, int64_t tiles) {
  Index rows = minimum(lanes.add(Index(plan.row.extent), lanes.mul(tile, -plan.tile.rows)), tiles * plan.tile.rows);
  forDims(plan.outerReduced, [&](ArrayRef<Index> outerStep) {
    Index part = partOf(outerStep);
    Index from = lanes.add(offsetOf(plan.a, plan.outer, outer), offsetOf(plan.a, plan.outerReduced, outerStep));
    from = lanes.add(from, lanes.mul(tile, plan.tile.rows * plan.row.strides[plan.a]));
    Index to = lanes.add(into.offset, lanes.mul(part, packedTiles * plan.tile.rows * plan.reduced.extent));
    to =
        lanes.add(to, lanes.mul(lanes.add(tile, lanes.mul(firstPackedTile, -1)), plan.tile.rows * plan.reduced.extent));
    call("lw_packA_" + plan.aSuffix, {{into.buffer, to}, {op->getOperand(plan.a), from}},
         {Index(plan.row.strides[plan.a]), Index(plan.reduced.strides[plan.a]), rows, Index(plan.reduced.extent)},
         {0, 1});
  });
}

// Offset of a row tile in packedA.
Index ContractionEmitter::packedTile(Index tile, ArrayRef<Index> outerStep) {
  Index position =
      lanes.add(lanes.mul(partOf(outerStep), packedTiles), lanes.add(tile, lanes.mul(firstPackedTile, -1)));
  return lanes.add(packedA.offset, lanes.mul(position, plan.tile.rows * plan.reduced.extent));
}

void ContractionEmitter::emitTiles() {
  int64_t tileElements = plan.tile.rows * plan.tile.columns;
  bool hasPackedPanels = plan.packsB || plan.column.extent % plan.tile.columns;
  // Without packing, only the last panel, if it is not full.
  int64_t packedSteps = plan.isStreamed ? plan.kBlock : plan.outerReducedCount() * plan.reduced.extent;
  int64_t packElements = (plan.packsB ? plan.panelsPerPack : 1) * plan.tile.columns * packedSteps;
  int64_t sumsElements = plan.isStreamed ? plan.panelsPerPack * plan.rowTilesPerTask * tileElements : tileElements;
  int64_t taskTilesElements = plan.outerReducedCount() * plan.rowTilesPerTask * plan.tile.rows * plan.reduced.extent;

  // A, once for all tasks. Outer loops that do not move A share it.
  SmallVector<int64_t> wholeFactors; // weight of each outer loop in the position of its A, 0 where it shares
  Value whole;
  if (plan.aSource == RowFactorSource::PackedWhole) {
    SmallVector<int64_t> extents;
    int64_t matrices = 1;
    for (const ContractionDim &dim : llvm::reverse(plan.outer)) {
      bool moves = dim.strides[plan.a] != 0;
      wholeFactors.insert(wholeFactors.begin(), moves ? matrices : 0);
      extents.insert(extents.begin(), moves ? dim.extent : 1);
      matrices *= moves ? dim.extent : 1;
    }
    int64_t perMatrix = plan.outerReducedCount() * plan.rowTiles() * plan.tile.rows * plan.reduced.extent;
    for (int64_t &factor : wholeFactors)
      factor *= perMatrix;
    whole = allocate(matrices * perMatrix);
    packedTiles = plan.rowTiles();
    firstPackedTile = Index(0);
    constexpr int64_t tilesPerPack = 4;
    extents.push_back(llvm::divideCeil(plan.rowTiles(), tilesPerPack));
    forTasks(extents, plan.isParallel, [&](ArrayRef<Index> indices) {
      Index at(0);
      for (auto [index, factor] : llvm::zip_equal(indices.drop_back(), wholeFactors))
        at = lanes.add(at, lanes.mul(index, factor));
      packA({whole, at}, indices.drop_back(), lanes.mul(indices.back(), tilesPerPack), tilesPerPack);
    });
  }

  SmallVector<int64_t> extents = llvm::map_to_vector(plan.outer, [](const ContractionDim &dim) { return dim.extent; });
  extents.push_back(plan.columnGroups());
  extents.push_back(plan.rowBlocks());
  auto allocateScratch = [&] {
    sums = {allocate(sumsElements), Index(0)};
    if (hasPackedPanels)
      packedB = {allocate(packElements), Index(0)};
    if (plan.aSource == RowFactorSource::PackedTask)
      packedA = {allocate(taskTilesElements), Index(0)};
  };
  if (!plan.isParallel)
    allocateScratch();
  forTasks(extents, plan.isParallel, [&](ArrayRef<Index> indices) {
    if (plan.isParallel)
      allocateScratch();
    ArrayRef<Index> outer = indices.drop_back(2);
    if (whole) {
      packedA = {whole, Index(0)};
      for (auto [index, factor] : llvm::zip_equal(outer, wholeFactors))
        packedA.offset = lanes.add(packedA.offset, lanes.mul(index, factor));
    }
    emitTileTask(outer, indices[indices.size() - 2], indices.back());
  });
}

void ContractionEmitter::emitTileTask(ArrayRef<Index> outer, Index group, Index block) {
  for (unsigned operand = 0; operand <= init; ++operand) {
    flat[operand] = operand < 2 ? Value() : flatten(operand);
    base[operand] = offsetOf(operand, plan.outer, outer);
  }
  firstTile = lanes.mul(block, plan.rowTilesPerTask);
  endTile = endOfPart(firstTile, plan.rowTilesPerTask, plan.rowBlocks(), plan.rowTiles());
  if (plan.aSource == RowFactorSource::PackedTask) {
    packedTiles = plan.rowTilesPerTask;
    firstPackedTile = firstTile;
    packA(packedA, outer, firstTile, plan.rowTilesPerTask);
  }

  int64_t fullPanels = plan.column.extent / plan.tile.columns, tail = plan.column.extent % plan.tile.columns;
  Index firstPanel = lanes.mul(group, plan.panelsPerTask);
  Index endPanel = endOfPart(firstPanel, plan.panelsPerTask, plan.columnGroups(), fullPanels);
  auto panels = [&](Index column, Index count, int64_t width) {
    if (plan.isStreamed)
      emitStreamedPanels(column, count, width);
    else
      emitPanels(column, count, width);
  };
  bool isEven = plan.panelsPerTask % plan.panelsPerPack == 0 && fullPanels % plan.panelsPerPack == 0;
  forRange(firstPanel, endPanel, plan.panelsPerPack, [&](Index panel) {
    Index count(plan.panelsPerPack);
    if (!isEven)
      count = minimum(lanes.add(endPanel, lanes.mul(panel, -1)), plan.panelsPerPack);
    panels(lanes.mul(panel, plan.tile.columns), count, plan.tile.columns);
  });
  if (tail)
    ifLast(group, plan.columnGroups(), [&] { panels(Index(fullPanels * plan.tile.columns), Index(1), tail); });
}

// Adds `steps` steps from `step` on to the sums of a tile: one kernel, or several smaller ones.
void ContractionEmitter::accumulate(const Tile &at, Index step, Index steps, ArrayRef<Index> outerStep) {
  bool isNarrow = at.width <= plan.tile.lanes;
  bool readsPacked = plan.packsB || at.width != plan.tile.columns;
  Address bAddress = packedB;
  if (readsPacked) {
    // A streamed product packs `steps` steps of one part, another one all steps of all parts.
    Index panel = at.panel;
    if (!plan.isStreamed) {
      int64_t panels = plan.packsB ? plan.panelsPerPack : 1;
      panel = lanes.mul(lanes.add(lanes.mul(partOf(outerStep), panels), panel), plan.reduced.extent);
    } else if (steps.isConstant()) {
      panel = lanes.mul(panel, steps.constant);
    } else {
      panel = Index(Value(arith::MulIOp::create(b, loc, lanes.materialize(panel), lanes.materialize(steps))));
    }
    bAddress.offset = lanes.add(packedB.offset, lanes.mul(panel, plan.tile.columns));
  } else {
    Index from = lanes.add(base[plan.b], offsetOf(plan.b, plan.outerReduced, outerStep));
    from = lanes.add(from, lanes.mul(at.column, plan.column.strides[plan.b]));
    bAddress = {op->getOperand(plan.b), lanes.add(from, lanes.mul(step, plan.reduced.strides[plan.b]))};
  }
  Index bStride(readsPacked ? plan.tile.columns : plan.reduced.strides[plan.b]);

  bool aIsPacked = plan.aSource != RowFactorSource::Direct;
  Index rowStride(aIsPacked ? 1 : plan.row.strides[plan.a]);
  int64_t stepStride = aIsPacked ? plan.tile.rows : plan.reduced.strides[plan.a];
  Index aOffset;
  if (aIsPacked) {
    aOffset = packedTile(at.tile, outerStep);
  } else {
    aOffset = lanes.add(base[plan.a], offsetOf(plan.a, plan.outerReduced, outerStep));
    aOffset = lanes.add(aOffset, lanes.mul(at.tile, plan.tile.rows * plan.row.strides[plan.a]));
  }
  aOffset = lanes.add(aOffset, lanes.mul(step, stepStride));
  Value aBuffer = aIsPacked ? packedA.buffer : op->getOperand(plan.a);

  auto sumRows = [&](int64_t count) {
    int64_t done = 0;
    for (int64_t kernel : plan.tile.kernels) {
      while (count - done >= kernel) {
        std::string name = "lw_mk";
        if (kernel != plan.tile.rows)
          name += std::to_string(kernel);
        name += "_" + plan.accumulator + (isNarrow ? "_v1" : "");
        call(name,
             {{at.sums.buffer, lanes.add(at.sums.offset, Index(done * sumStride(at.width)))},
              {aBuffer, lanes.add(aOffset, Index(done * rowStride.constant))},
              bAddress},
             {rowStride, Index(stepStride), bStride, steps}, {0, 1, 4});
        done += kernel;
      }
    }
  };
  if (at.rows.isConstant())
    return sumRows(at.rows.constant);
  Value isFull = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, lanes.materialize(at.rows),
                                       arith::ConstantIndexOp::create(b, loc, plan.tile.rows));
  auto branch = scf::IfOp::create(b, loc, isFull, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenYield());
  sumRows(plan.tile.rows);
  b.setInsertionPoint(branch.elseYield());
  sumRows(plan.row.extent % plan.tile.rows);
}

// Packs panels, all of them full or one that is not.
void ContractionEmitter::packPanels(Index column, Index count, int64_t width, Index step, Index steps,
                                    ArrayRef<Index> outerStep) {
  bool isFull = width == plan.tile.columns;
  if (!plan.packsB && isFull)
    return;
  Index from = lanes.add(base[plan.b], offsetOf(plan.b, plan.outerReduced, outerStep));
  from = lanes.add(from, lanes.mul(column, plan.column.strides[plan.b]));
  from = lanes.add(from, lanes.mul(step, plan.reduced.strides[plan.b]));
  Address to = packedB;
  if (!plan.isStreamed) {
    int64_t panels = plan.packsB ? plan.panelsPerPack : 1;
    to.offset = lanes.add(to.offset, lanes.mul(partOf(outerStep), panels * plan.reduced.extent * plan.tile.columns));
  }
  call("lw_packB_" + plan.bSuffix, {to, {op->getOperand(plan.b), from}},
       {Index(plan.reduced.strides[plan.b]), Index(plan.column.strides[plan.b]), steps,
        isFull ? lanes.mul(count, width) : Index(width)},
       {0, 1});
}

// Calls `body` for each row tile of the task, with the number of its rows: fewer in the last tile.
void ContractionEmitter::forRowTiles(function_ref<void(Index, Index)> body) {
  forRange(firstTile, endTile, 1, [&](Index tile) {
    Index rows(plan.tile.rows);
    if (plan.row.extent % plan.tile.rows)
      rows = minimum(lanes.add(Index(plan.row.extent), lanes.mul(tile, -plan.tile.rows)), plan.tile.rows);
    body(tile, rows);
  });
}

// The tile of the result is fetched while the kernel runs.
void ContractionEmitter::prefetchResult(const Tile &at) {
  Index from = lanes.add(base[init], lanes.mul(at.column, plan.column.strides[init]));
  from = lanes.add(from, lanes.mul(at.tile, plan.tile.rows * plan.row.strides[init]));
  forRange(Index(0), at.rows, 1, [&](Index row) {
    Index first = lanes.add(from, lanes.mul(row, plan.row.strides[init]));
    for (Index element : {first, lanes.add(first, Index((at.width - 1) * plan.column.strides[init]))})
      memref::PrefetchOp::create(b, loc, flat[init], lanes.materialize(element), /*isWrite=*/true, /*localityHint=*/3,
                                 /*isDataCache=*/true);
  });
}

void ContractionEmitter::emitEpilogue(const Tile &at) {
  emitEpilogue(at.sums, sumStride(at.width), lanes.mul(at.tile, plan.tile.rows), at.rows, at.column, at.width);
}

void ContractionEmitter::emitPanels(Index column, Index count, int64_t width) {
  Index steps(plan.reduced.extent);
  forDims(plan.outerReduced,
          [&](ArrayRef<Index> outerStep) { packPanels(column, count, width, Index(0), steps, outerStep); });
  forRange(Index(0), count, 1, [&](Index panel) {
    forRowTiles([&](Index tile, Index rows) {
      Tile at = {tile, rows, lanes.add(column, lanes.mul(panel, plan.tile.columns)), panel, width, sums};
      prefetchResult(at);
      fillZeros(sums, (rows.isConstant() ? rows.constant : plan.tile.rows) * sumStride(width));
      forDims(plan.outerReduced, [&](ArrayRef<Index> outerStep) { accumulate(at, Index(0), steps, outerStep); });
      emitEpilogue(at);
    });
  });
}

void ContractionEmitter::emitStreamedPanels(Index column, Index count, int64_t width) {
  int64_t tileSums = plan.tile.rows * plan.tile.columns, panelSums = plan.rowTilesPerTask * tileSums;
  auto forTiles = [&](function_ref<void(const Tile &)> body) {
    forRange(Index(0), count, 1, [&](Index panel) {
      forRowTiles([&](Index tile, Index rows) {
        Index inTask = lanes.add(tile, lanes.mul(firstTile, -1));
        Index place = lanes.add(lanes.mul(panel, panelSums), lanes.mul(inTask, tileSums));
        Index tileColumn = lanes.add(column, lanes.mul(panel, plan.tile.columns));
        body({tile, rows, tileColumn, panel, width, {sums.buffer, lanes.add(sums.offset, place)}});
      });
    });
  };
  fillZeros(sums, (width == plan.tile.columns ? plan.panelsPerPack : 1) * panelSums);
  forDims(plan.outerReduced, [&](ArrayRef<Index> outerStep) {
    forRange(Index(0), Index(plan.reduced.extent), plan.kBlock, [&](Index step) {
      Index steps(plan.kBlock);
      if (plan.reduced.extent % plan.kBlock)
        steps = minimum(lanes.add(Index(plan.reduced.extent), lanes.mul(step, -1)), plan.kBlock);
      packPanels(column, count, width, step, steps, outerStep);
      forTiles([&](const Tile &at) { accumulate(at, step, steps, outerStep); });
    });
  });
  forTiles([&](const Tile &at) { emitEpilogue(at); });
}

//===----------------------------------------------------------------------===//
// One row
//===----------------------------------------------------------------------===//

void ContractionEmitter::emitRow() {
  Type aElement = getElementTypeOrSelf(op->getOperand(plan.a).getType());
  bool copiesRow = aElement != accumulator || (plan.reduced.extent > 1 && plan.reduced.strides[plan.a] != 1);
  SmallVector<int64_t> extents = llvm::map_to_vector(plan.outer, [](const ContractionDim &dim) { return dim.extent; });
  extents.push_back(plan.columnGroups());
  auto allocateScratch = [&] {
    sums = {allocate(llvm::alignTo(std::min(plan.columnsPerTask, plan.column.extent), plan.tile.lanes)), Index(0)};
    if (copiesRow)
      packedA = {allocate(plan.reduced.extent), Index(0)};
  };
  if (!plan.isParallel)
    allocateScratch();
  forTasks(extents, plan.isParallel, [&](ArrayRef<Index> indices) {
    if (plan.isParallel)
      allocateScratch();
    emitRowTask(indices.drop_back(), indices.back());
  });
}

void ContractionEmitter::emitRowTask(ArrayRef<Index> outer, Index group) {
  for (unsigned operand = 0; operand <= init; ++operand) {
    flat[operand] = operand == plan.b || (operand == plan.a && !packedA.buffer) ? Value() : flatten(operand);
    base[operand] = offsetOf(operand, plan.outer, outer);
  }
  int64_t chunk = std::min(plan.columnsPerTask, plan.column.extent), groups = plan.columnGroups();
  Index column = lanes.mul(group, chunk);
  Index columns(chunk);
  if (plan.column.extent % chunk)
    columns = minimum(lanes.add(Index(plan.column.extent), lanes.mul(column, -1)), chunk);
  fillZeros(sums, llvm::alignTo(chunk, plan.tile.lanes));

  forDims(plan.outerReduced, [&](ArrayRef<Index> outerStep) {
    Index from = lanes.add(base[plan.a], offsetOf(plan.a, plan.outerReduced, outerStep));
    Address row = {op->getOperand(plan.a), from};
    if (packedA.buffer) {
      row = packedA;
      forRange(Index(0), Index(plan.reduced.extent), 1, [&](Index step) {
        Index at = lanes.add(from, lanes.mul(step, plan.reduced.strides[plan.a]));
        Value value = memref::LoadOp::create(b, loc, flat[plan.a], lanes.materialize(at));
        if (value.getType() != accumulator)
          value = arith::ExtFOp::create(b, loc, accumulator, value);
        memref::StoreOp::create(b, loc, value, row.buffer, lanes.materialize(step));
      });
    }
    bool alongColumns = plan.method == ContractionMethod::RowTimesMatrix;
    Index at = lanes.add(base[plan.b], offsetOf(plan.b, plan.outerReduced, outerStep));
    at = lanes.add(at, lanes.mul(column, plan.column.strides[plan.b]));
    Index distance(alongColumns ? plan.reduced.strides[plan.b] : plan.column.strides[plan.b]);
    call((alongColumns ? "lw_matvec_" : "lw_matvec_t_") + plan.bSuffix, {sums, row, {op->getOperand(plan.b), at}},
         {distance, Index(plan.reduced.extent), columns}, {0, 1, 2});
  });

  // Whole vectors, and what is left at the end of the last chunk.
  int64_t tail = plan.column.extent % plan.tile.lanes;
  auto results = [&](Index from, int64_t width) {
    emitEpilogue({sums.buffer, from}, 0, Index(0), Index(1), lanes.add(column, from), width);
  };
  Index whole = columns;
  if (tail)
    whole =
        groups == 1
            ? Index(chunk - tail)
            : lanes.mul(Index(Value(arith::DivUIOp::create(b, loc, lanes.materialize(columns),
                                                           arith::ConstantIndexOp::create(b, loc, plan.tile.lanes)))),
                        plan.tile.lanes);
  forRange(Index(0), whole, plan.tile.lanes, [&](Index from) { results(from, plan.tile.lanes); });
  if (tail)
    ifLast(group, groups, [&] { results(whole, tail); });
}

//===----------------------------------------------------------------------===//
// Epilogue
//===----------------------------------------------------------------------===//

// Longer epilogues are written once, in a loop over the vectors of a row.
static constexpr unsigned mostUnrolledOps = 8;

void ContractionEmitter::emitEpilogue(Address at, int64_t distance, Index row, Index rows, Index column,
                                      int64_t width) {
  struct Piece {
    Index offset;
    int64_t width;
    Value mask;
    SmallVector<Lanes> extras; // those that all rows share; others have no value yet
  };
  unsigned numExtras = op.getExtras().size();
  auto setPiece = [&](const Piece &piece) {
    lanes.width = piece.width;
    lanes.mask = piece.mask;
  };
  auto loadExtra = [&](unsigned i, const Piece &piece, Index inRow) {
    unsigned operand = 2 + i;
    if (!flat[operand])
      return LaneBuilder::uniform(op->getOperand(operand));
    Index address = lanes.add(base[operand], lanes.mul(inRow, plan.row.strides[operand]));
    int64_t stride = plan.column.strides[operand];
    address = lanes.add(address, lanes.mul(lanes.add(column, piece.offset), stride));
    return lanes.load(flat[operand], address, stride);
  };
  auto emitPiece = [&](const Piece &piece, Index inTile) {
    setPiece(piece);
    Index inRow = lanes.add(row, inTile);
    Value from = lanes.materialize(lanes.add(lanes.add(at.offset, lanes.mul(inTile, distance)), piece.offset));
    Value sum = piece.width == 1
                    ? memref::LoadOp::create(b, loc, at.buffer, from).getResult()
                    : vector::LoadOp::create(b, loc, lanes.vectorOf(accumulator), at.buffer, from).getResult();
    Block &body = op.getBody();
    DenseMap<Value, Lanes> values;
    values[body.getArgument(0)] = lanes.vector(sum);
    for (unsigned i = 0; i < numExtras; ++i)
      values[body.getArgument(1 + i)] = piece.extras[i].value ? piece.extras[i] : loadExtra(i, piece, inRow);
    auto lookup = [&](Value value) {
      auto known = values.find(value);
      return known == values.end() ? LaneBuilder::uniform(value) : known->second;
    };
    for (Operation &inner : body.without_terminator()) {
      SmallVector<Lanes> operands = llvm::map_to_vector(inner.getOperands(), lookup);
      for (auto [result, computed] : llvm::zip_equal(inner.getResults(), lanes.apply(&inner, operands)))
        values[result] = computed;
    }
    int64_t stride = plan.column.strides[init];
    Index to = lanes.add(base[init], lanes.mul(inRow, plan.row.strides[init]));
    to = lanes.add(to, lanes.mul(lanes.add(column, piece.offset), stride));
    lanes.store(lookup(body.getTerminator()->getOperand(0)), flat[init], to, stride);
  };

  if (width % plan.tile.lanes == 0 && width > plan.tile.lanes &&
      op.getBody().getOperations().size() > mostUnrolledOps) {
    forRange(Index(0), rows, 1, [&](Index inTile) {
      forRange(Index(0), Index(width), plan.tile.lanes, [&](Index offset) {
        emitPiece({offset, plan.tile.lanes, Value(), SmallVector<Lanes>(numExtras)}, inTile);
      });
    });
  } else {
    SmallVector<Piece> pieces;
    for (int64_t offset = 0; offset < width; offset += plan.tile.lanes) {
      int64_t valid = std::min(width - offset, plan.tile.lanes);
      Piece piece{Index(offset), std::min<int64_t>(plan.tile.lanes, llvm::PowerOf2Ceil(valid)), Value(), {}};
      if (valid != piece.width) {
        SmallVector<bool> bits(piece.width, false);
        std::fill_n(bits.begin(), valid, true);
        auto type = VectorType::get({piece.width}, b.getI1Type());
        piece.mask = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef<bool>(bits)));
      }
      setPiece(piece);
      for (unsigned i = 0; i < numExtras; ++i)
        piece.extras.push_back(plan.row.strides[2 + i] == 0 ? loadExtra(i, piece, Index(0)) : Lanes());
      pieces.push_back(piece);
    }
    forRange(Index(0), rows, 1, [&](Index inTile) {
      for (const Piece &piece : pieces)
        emitPiece(piece, inTile);
    });
  }
  lanes.width = 1;
  lanes.mask = Value();
}
