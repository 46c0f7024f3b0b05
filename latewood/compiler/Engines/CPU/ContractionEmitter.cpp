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
// With dynamic extents the numbers are values, and what is left of rows and columns is not known: the last tile goes
// through the smaller kernels one by one, the last panel is stored through a mask. Tasks then do several positions of
// the outer loops, so that a small product is one task.

#include "latewood/compiler/Engines/CPU/ContractionEmitter.h"
#include "latewood/compiler/Engines/CPU/SymbolicShapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
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

void ContractionEmitter::forRange(Index begin, Index end, const SymbolicSize &step, function_ref<void(Index)> body) {
  if (begin.value == end.value) {
    if (begin.constant >= end.constant)
      return;
    if (step.isConstant() && begin.constant + step.getConstant() >= end.constant)
      return body(begin);
  }
  auto loop = scf::ForOp::create(b, loc, lanes.materialize(begin), lanes.materialize(end), step.materialize(b, loc));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  body(Index(loop.getInductionVar()));
}

void ContractionEmitter::forExtents(ArrayRef<SymbolicSize> extents, bool isParallel,
                                    function_ref<void(ArrayRef<Index>)> body) {
  SmallVector<Index> indices(extents.size(), Index(0));
  SmallVector<OpFoldResult> bounds;
  SmallVector<unsigned> positions;
  for (auto [position, extent] : llvm::enumerate(extents)) {
    if (extent == 1)
      continue;
    bounds.push_back(extent.materializeFold(b, loc));
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
  for (auto [position, bound] : llvm::zip_equal(positions, bounds)) {
    Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
    auto loop = scf::ForOp::create(b, loc, zero, getValueOrCreateConstantIndexOp(b, loc, bound), one);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    indices[position] = Index(loop.getInductionVar());
  }
  body(indices);
}

void ContractionEmitter::forTasks(ArrayRef<SymbolicSize> inner, function_ref<void()> prepare,
                                  function_ref<void(ArrayRef<Index>)> body) {
  SmallVector<SymbolicSize> extents =
      llvm::map_to_vector(plan.outer, [](const ContractionDim &dim) { return dim.extent; });
  SizeBuilder sizes(b, loc);
  SymbolicSize all = plan.outerCount();
  if (plan.outerPerTask == 1 || all == 1) {
    llvm::append_range(extents, inner);
    if (!plan.isParallel)
      prepare();
    return forExtents(extents, plan.isParallel, [&](ArrayRef<Index> indices) {
      if (plan.isParallel)
        prepare();
      body(indices);
    });
  }
  // A task does several positions of the outer loops: as many as the program says.
  SmallVector<SymbolicSize> tasks{sizes.ceilDiv(all, plan.outerPerTask)};
  llvm::append_range(tasks, inner);
  forExtents(tasks, /*isParallel=*/true, [&](ArrayRef<Index> indices) {
    prepare();
    Index first = lanes.mul(indices.front(), plan.outerPerTask);
    forRange(first, minimum(lanes.add(first, lanes.index(plan.outerPerTask)), all), 1, [&](Index position) {
      SmallVector<Index> at(extents.size(), Index(0));
      Value rest = lanes.materialize(position);
      for (size_t i = extents.size(); i-- > 0;) {
        if (extents[i] == 1)
          continue;
        bool isFirst =
            llvm::all_of(ArrayRef(extents).take_front(i), [](const SymbolicSize &size) { return size == 1; });
        Value extent = extents[i].materialize(b, loc);
        at[i] = Index(isFirst ? rest : arith::RemUIOp::create(b, loc, rest, extent).getResult());
        if (!isFirst)
          rest = arith::DivUIOp::create(b, loc, rest, extent);
      }
      llvm::append_range(at, indices.drop_front());
      body(at);
    });
  });
}

void ContractionEmitter::forDims(ArrayRef<ContractionDim> dims, function_ref<void(ArrayRef<Index>)> body) {
  forExtents(llvm::map_to_vector(dims, [](const ContractionDim &dim) { return dim.extent; }), /*isParallel=*/false,
             body);
}

Value ContractionEmitter::compare(arith::CmpIPredicate predicate, Index lhs, Index rhs) {
  return arith::CmpIOp::create(b, loc, predicate, lanes.materialize(lhs), lanes.materialize(rhs));
}

void ContractionEmitter::ifElse(Value condition, function_ref<void()> yes, function_ref<void()> no) {
  auto branch = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/bool(no));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenYield());
  yes();
  if (!no)
    return;
  b.setInsertionPoint(branch.elseYield());
  no();
}

void ContractionEmitter::ifLast(Index index, const SymbolicSize &count, function_ref<void()> body) {
  if (count == 1)
    return body();
  ifElse(compare(arith::CmpIPredicate::eq, index, lanes.index(count - 1)), body, nullptr);
}

// The end of a part of `count` positions that begins at `first`, where `parts` parts cover `total` positions.
Index ContractionEmitter::endOfPart(Index first, const SymbolicSize &count, const SymbolicSize &parts,
                                    const SymbolicSize &total) {
  Index end = lanes.add(first, lanes.index(count));
  return parts * count == total ? end : minimum(end, total);
}

Index ContractionEmitter::minimum(Index index, const SymbolicSize &bound) {
  if (index.isConstant() && bound.isConstant())
    return Index(std::min(index.constant, bound.getConstant()));
  return Index(Value(arith::MinSIOp::create(b, loc, lanes.materialize(index), bound.materialize(b, loc))));
}

Index ContractionEmitter::restOf(const SymbolicSize &total, Index parts, const SymbolicSize &size,
                                 const SymbolicSize &most) {
  return minimum(lanes.add(lanes.index(total), lanes.mul(parts, -1 * size)), most);
}

Value ContractionEmitter::allocate(const SymbolicSize &elements) {
  if (elements.isConstant())
    return memref::AllocOp::create(b, loc, MemRefType::get({std::max<int64_t>(elements.getConstant(), 1)}, accumulator),
                                   b.getI64IntegerAttr(64));
  return memref::AllocOp::create(b, loc, MemRefType::get({ShapedType::kDynamic}, accumulator),
                                 elements.materialize(b, loc), b.getI64IntegerAttr(64));
}

Value ContractionEmitter::flatten(unsigned operand) {
  auto type = dyn_cast<MemRefType>(op->getOperand(operand).getType());
  if (!type)
    return {};
  int64_t offset = type.getStridesAndOffset().second;
  SymbolicLayout layout = *getSymbolicLayout(op->getOperand(operand));
  SymbolicSize elements = 1;
  for (auto [extent, stride] : llvm::zip_equal(layout.shape, layout.strides))
    elements += (extent - 1) * stride;
  OpFoldResult start = b.getIndexAttr(offset);
  if (ShapedType::isDynamic(offset))
    start = memref::ExtractStridedMetadataOp::create(b, loc, op->getOperand(operand)).getOffset();
  auto strided = StridedLayoutAttr::get(b.getContext(), offset, {1});
  auto flatType = MemRefType::get(toStaticShape(elements), type.getElementType(),
                                  offset == 0 ? MemRefLayoutAttrInterface() : MemRefLayoutAttrInterface(strided),
                                  type.getMemorySpace());
  return memref::ReinterpretCastOp::create(b, loc, flatType, op->getOperand(operand), start,
                                           ArrayRef<OpFoldResult>{elements.materializeFold(b, loc)},
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
void ContractionEmitter::fillZeros(Address at, const SymbolicSize &elements) {
  auto type = VectorType::get({plan.tile.lanes}, accumulator);
  Value zeros = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  forRange(Index(0), lanes.index(elements), plan.tile.lanes, [&](Index i) {
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
void ContractionEmitter::packA(Address into, ArrayRef<Index> outer, Index tile, const SymbolicSize &tiles) {
  Index rows = restOf(plan.row.extent, tile, plan.tile.rows, tiles * plan.tile.rows);
  forDims(plan.outerReduced, [&](ArrayRef<Index> outerStep) {
    Index part = partOf(outerStep);
    Index from = lanes.add(offsetOf(plan.a, plan.outer, outer), offsetOf(plan.a, plan.outerReduced, outerStep));
    from = lanes.add(from, lanes.mul(tile, plan.tile.rows * plan.row.strides[plan.a]));
    Index to = lanes.add(into.offset, lanes.mul(part, packedTiles * plan.tile.rows * plan.packedSteps));
    to = lanes.add(to, lanes.mul(lanes.add(tile, lanes.mul(firstPackedTile, -1)), plan.tile.rows * plan.packedSteps));
    call("lw_packA_" + plan.aSuffix, {{into.buffer, to}, {op->getOperand(plan.a), from}},
         {lanes.index(plan.row.strides[plan.a]), lanes.index(plan.reduced.strides[plan.a]), rows,
          lanes.index(plan.reduced.extent)},
         {0, 1});
  });
}

// Offset of a row tile in packedA.
Index ContractionEmitter::packedTile(Index tile, ArrayRef<Index> outerStep) {
  Index position =
      lanes.add(lanes.mul(partOf(outerStep), packedTiles), lanes.add(tile, lanes.mul(firstPackedTile, -1)));
  return lanes.add(packedA.offset, lanes.mul(position, plan.tile.rows * plan.packedSteps));
}

void ContractionEmitter::emitTiles() {
  int64_t tileElements = plan.tile.rows * plan.tile.columns;
  bool hasPackedPanels = plan.packsB || plan.tailColumns != 0;
  // Without packing, only the last panel, if it is not full.
  SymbolicSize packedSteps = plan.isStreamed ? plan.kBlock : plan.outerReducedCount() * plan.packedSteps;
  SymbolicSize packElements = (plan.packsB ? plan.panelsPerPack : 1) * plan.tile.columns * packedSteps;
  SymbolicSize sumsElements =
      plan.isStreamed ? plan.panelsPerPack * plan.rowTilesPerTask * tileElements : SymbolicSize(tileElements);
  SymbolicSize taskTilesElements = plan.outerReducedCount() * plan.rowTilesPerTask * plan.tile.rows * plan.packedSteps;

  // A, once for all tasks. Outer loops that do not move A share it.
  SmallVector<SymbolicSize> wholeFactors; // weight of each outer loop in the position of its A, 0 where it shares
  Value whole;
  if (plan.aSource == RowFactorSource::PackedWhole) {
    SmallVector<SymbolicSize> extents;
    SymbolicSize matrices = 1;
    for (const ContractionDim &dim : llvm::reverse(plan.outer)) {
      bool moves = dim.strides[plan.a] != 0;
      wholeFactors.insert(wholeFactors.begin(), moves ? matrices : SymbolicSize(0));
      extents.insert(extents.begin(), moves ? dim.extent : SymbolicSize(1));
      matrices *= moves ? dim.extent : SymbolicSize(1);
    }
    SymbolicSize perMatrix = plan.outerReducedCount() * plan.rowTiles * plan.tile.rows * plan.packedSteps;
    for (SymbolicSize &factor : wholeFactors)
      factor *= perMatrix;
    whole = allocate(matrices * perMatrix);
    packedTiles = plan.rowTiles;
    firstPackedTile = Index(0);
    const SymbolicSize &tilesPerPack = plan.tilesPerPack;
    extents.push_back(SizeBuilder(b, loc).ceilDiv(plan.rowTiles, tilesPerPack));
    forExtents(extents, plan.isParallel, [&](ArrayRef<Index> indices) {
      Index at(0);
      for (auto [index, factor] : llvm::zip_equal(indices.drop_back(), wholeFactors))
        at = lanes.add(at, lanes.mul(index, factor));
      packA({whole, at}, indices.drop_back(), lanes.mul(indices.back(), tilesPerPack), tilesPerPack);
    });
  }

  forTasks(
      {plan.columnGroups, plan.rowBlocks},
      [&] {
        sums = {allocate(sumsElements), Index(0)};
        if (hasPackedPanels)
          packedB = {allocate(packElements), Index(0)};
        if (plan.aSource == RowFactorSource::PackedTask)
          packedA = {allocate(taskTilesElements), Index(0)};
      },
      [&](ArrayRef<Index> indices) {
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
  endTile = endOfPart(firstTile, plan.rowTilesPerTask, plan.rowBlocks, plan.rowTiles);
  if (plan.aSource == RowFactorSource::PackedTask) {
    packedTiles = plan.rowTilesPerTask;
    firstPackedTile = firstTile;
    packA(packedA, outer, firstTile, plan.rowTilesPerTask);
  }

  Index firstPanel = lanes.mul(group, plan.panelsPerTask);
  Index endPanel = endOfPart(firstPanel, plan.panelsPerTask, plan.columnGroups, plan.fullPanels);
  auto panels = [&](Index column, Index count, Columns columns) {
    if (plan.isStreamed)
      emitStreamedPanels(column, count, columns);
    else
      emitPanels(column, count, columns);
  };
  auto isMultiple = [&](const SymbolicSize &size) {
    return plan.panelsPerPack.isConstant() && size.isMultipleOf(plan.panelsPerPack.getConstant());
  };
  bool isEven = isMultiple(plan.panelsPerTask) && isMultiple(plan.fullPanels);
  // A single column has no stride to store a full panel with.
  if (plan.fullPanels != 0)
    forRange(firstPanel, endPanel, plan.panelsPerPack, [&](Index panel) {
      Index count = lanes.index(plan.panelsPerPack);
      if (!isEven)
        count = minimum(lanes.add(endPanel, lanes.mul(panel, -1)), plan.panelsPerPack);
      panels(lanes.mul(panel, plan.tile.columns), count, plan.tile.columns);
    });
  if (plan.tailColumns == 0)
    return;
  ifLast(group, plan.columnGroups, [&] {
    Index column = lanes.index(plan.fullPanels * plan.tile.columns), columns = lanes.index(plan.tailColumns);
    if (plan.tailColumns.isConstant())
      return panels(column, Index(1), plan.tailColumns.getConstant());
    ifElse(
        compare(arith::CmpIPredicate::sgt, columns, Index(plan.tile.lanes)),
        [&] { panels(column, Index(1), {plan.tile.columns, columns}); },
        [&] {
          ifElse(
              compare(arith::CmpIPredicate::sgt, columns, Index(0)),
              [&] { panels(column, Index(1), {plan.tile.lanes, columns}); }, nullptr);
        });
  });
}

// Adds `steps` steps from `step` on to the sums of a tile: one kernel, or several smaller ones.
void ContractionEmitter::accumulate(const Tile &at, Index step, Index steps, ArrayRef<Index> outerStep) {
  int64_t width = at.columns.width;
  bool isNarrow = width <= plan.tile.lanes;
  bool readsPacked = plan.packsB || !areFull(at.columns);
  Address bAddress = packedB;
  if (readsPacked) {
    // A streamed product packs `steps` steps of one part, another one all steps of all parts.
    Index panel = at.panel;
    if (!plan.isStreamed) {
      SymbolicSize panels = plan.packsB ? plan.panelsPerPack : 1;
      panel = lanes.mul(lanes.add(lanes.mul(partOf(outerStep), panels), panel), plan.packedSteps);
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
  Index bStride = lanes.index(readsPacked ? SymbolicSize(plan.tile.columns) : plan.reduced.strides[plan.b]);

  bool aIsPacked = plan.aSource != RowFactorSource::Direct;
  SymbolicSize rowStride = aIsPacked ? 1 : plan.row.strides[plan.a];
  SymbolicSize stepStride = aIsPacked ? plan.tile.rows : plan.reduced.strides[plan.a];
  Index aOffset;
  if (aIsPacked) {
    aOffset = packedTile(at.tile, outerStep);
  } else {
    aOffset = lanes.add(base[plan.a], offsetOf(plan.a, plan.outerReduced, outerStep));
    aOffset = lanes.add(aOffset, lanes.mul(at.tile, plan.tile.rows * plan.row.strides[plan.a]));
  }
  aOffset = lanes.add(aOffset, lanes.mul(step, stepStride));
  Value aBuffer = aIsPacked ? packedA.buffer : op->getOperand(plan.a);

  auto callKernel = [&](int64_t kernel, Index done) {
    std::string name = "lw_mk";
    if (kernel != plan.tile.rows)
      name += std::to_string(kernel);
    name += "_" + plan.kernel + (isNarrow ? "_v1" : "");
    call(name,
         {{at.sums.buffer, lanes.add(at.sums.offset, lanes.mul(done, sumStride(width)))},
          {aBuffer, lanes.add(aOffset, lanes.mul(done, rowStride))},
          bAddress},
         {lanes.index(rowStride), lanes.index(stepStride), bStride, steps}, {0, 1, 4});
  };
  auto sumRows = [&](int64_t count) {
    int64_t done = 0;
    for (int64_t kernel : plan.tile.kernels)
      for (; count - done >= kernel; done += kernel)
        callKernel(kernel, Index(done));
  };
  if (at.rows.isConstant())
    return sumRows(at.rows.constant);
  ifElse(
      compare(arith::CmpIPredicate::eq, at.rows, Index(plan.tile.rows)), [&] { sumRows(plan.tile.rows); },
      [&] {
        if (plan.row.extent.isConstant())
          return sumRows(plan.row.extent.getConstant() % plan.tile.rows);
        // Each of the smaller kernels at most once: none is more than twice as high as the next.
        Index done(0);
        for (int64_t kernel : ArrayRef(plan.tile.kernels).drop_front()) {
          Index behind = lanes.add(done, Index(kernel));
          Value fits = compare(arith::CmpIPredicate::sle, behind, at.rows);
          ifElse(fits, [&] { callKernel(kernel, done); }, nullptr);
          done = Index(
              arith::SelectOp::create(b, loc, fits, lanes.materialize(behind), lanes.materialize(done)).getResult());
        }
      });
}

// Packs panels, all of them full or one that is not.
void ContractionEmitter::packPanels(Index column, Index count, Columns columns, Index step, Index steps,
                                    ArrayRef<Index> outerStep) {
  bool isFull = areFull(columns);
  if (!plan.packsB && isFull)
    return;
  Index from = lanes.add(base[plan.b], offsetOf(plan.b, plan.outerReduced, outerStep));
  from = lanes.add(from, lanes.mul(column, plan.column.strides[plan.b]));
  from = lanes.add(from, lanes.mul(step, plan.reduced.strides[plan.b]));
  Address to = packedB;
  if (!plan.isStreamed) {
    SymbolicSize panels = plan.packsB ? plan.panelsPerPack : 1;
    to.offset = lanes.add(to.offset, lanes.mul(partOf(outerStep), panels * plan.packedSteps * plan.tile.columns));
  }
  call("lw_packB_" + plan.bSuffix, {to, {op->getOperand(plan.b), from}},
       {lanes.index(plan.reduced.strides[plan.b]), lanes.index(plan.column.strides[plan.b]), steps,
        isFull ? lanes.mul(count, columns.width) : columns.valid},
       {0, 1});
}

// Calls `body` for each row tile of the task, with the number of its rows: fewer in the last tile.
void ContractionEmitter::forRowTiles(function_ref<void(Index, Index)> body) {
  forRange(firstTile, endTile, 1, [&](Index tile) {
    Index rows(plan.tile.rows);
    if (!plan.row.extent.isMultipleOf(plan.tile.rows))
      rows = restOf(plan.row.extent, tile, plan.tile.rows, plan.tile.rows);
    body(tile, rows);
  });
}

// The tile of the result is fetched while the kernel runs.
void ContractionEmitter::prefetchResult(const Tile &at) {
  Index from = lanes.add(base[init], lanes.mul(at.column, plan.column.strides[init]));
  from = lanes.add(from, lanes.mul(at.tile, plan.tile.rows * plan.row.strides[init]));
  forRange(Index(0), at.rows, 1, [&](Index row) {
    Index first = lanes.add(from, lanes.mul(row, plan.row.strides[init]));
    Index last = lanes.mul(lanes.add(at.columns.valid, Index(-1)), plan.column.strides[init]);
    for (Index element : {first, lanes.add(first, last)})
      memref::PrefetchOp::create(b, loc, flat[init], lanes.materialize(element), /*isWrite=*/true, /*localityHint=*/3,
                                 /*isDataCache=*/true);
  });
}

void ContractionEmitter::emitEpilogue(const Tile &at) {
  emitEpilogue(at.sums, sumStride(at.columns.width), lanes.mul(at.tile, plan.tile.rows), at.rows, at.column,
               at.columns);
}

void ContractionEmitter::emitPanels(Index column, Index count, Columns columns) {
  Index steps = lanes.index(plan.reduced.extent), packedSteps = lanes.index(plan.packedSteps);
  forDims(plan.outerReduced,
          [&](ArrayRef<Index> outerStep) { packPanels(column, count, columns, Index(0), steps, outerStep); });
  forRange(Index(0), count, 1, [&](Index panel) {
    forRowTiles([&](Index tile, Index rows) {
      Tile at = {tile, rows, lanes.add(column, lanes.mul(panel, plan.tile.columns)), panel, columns, sums};
      prefetchResult(at);
      fillZeros(sums, (rows.isConstant() ? rows.constant : plan.tile.rows) * sumStride(columns.width));
      forDims(plan.outerReduced, [&](ArrayRef<Index> outerStep) { accumulate(at, Index(0), packedSteps, outerStep); });
      emitEpilogue(at);
    });
  });
}

void ContractionEmitter::emitStreamedPanels(Index column, Index count, Columns columns) {
  int64_t tileSums = plan.tile.rows * plan.tile.columns;
  SymbolicSize panelSums = plan.rowTilesPerTask * tileSums;
  auto forTiles = [&](function_ref<void(const Tile &)> body) {
    forRange(Index(0), count, 1, [&](Index panel) {
      forRowTiles([&](Index tile, Index rows) {
        Index inTask = lanes.add(tile, lanes.mul(firstTile, -1));
        Index place = lanes.add(lanes.mul(panel, panelSums), lanes.mul(inTask, tileSums));
        Index tileColumn = lanes.add(column, lanes.mul(panel, plan.tile.columns));
        body({tile, rows, tileColumn, panel, columns, {sums.buffer, lanes.add(sums.offset, place)}});
      });
    });
  };
  fillZeros(sums, (areFull(columns) ? plan.panelsPerPack : 1) * panelSums);
  forDims(plan.outerReduced, [&](ArrayRef<Index> outerStep) {
    forRange(Index(0), lanes.index(plan.reduced.extent), plan.kBlock, [&](Index step) {
      Index steps = lanes.index(plan.kBlock);
      if (!plan.kBlock.isConstant() || !plan.reduced.extent.isMultipleOf(plan.kBlock.getConstant()))
        steps = restOf(plan.reduced.extent, step, 1, plan.kBlock);
      packPanels(column, count, columns, step, steps, outerStep);
      forTiles([&](const Tile &at) { accumulate(at, step, steps, outerStep); });
    });
  });
  forTiles([&](const Tile &at) { emitEpilogue(at); });
}
