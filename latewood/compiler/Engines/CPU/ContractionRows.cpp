// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products with one row, and what both forms end with, the epilogue.
//     for all (outer…, chunk of columns):  sums = 0;  lw_matvec(sums, a, B);  init = epilogue(sums, extras)
// The sums lie in memory, one row after the other; an epilogue reads each of them once, in vectors.

#include "latewood/compiler/Engines/CPU/ContractionEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace latewood::cpu;

//===----------------------------------------------------------------------===//
// One row
//===----------------------------------------------------------------------===//

void ContractionEmitter::emitRow() {
  Type aElement = getElementTypeOrSelf(op->getOperand(plan.a).getType());
  bool copiesRow = aElement != accumulator || (plan.reduced.extent != 1 && plan.reduced.strides[plan.a] != 1);
  forTasks(
      plan.columnGroups,
      [&] {
        sums = {allocate(chunkElements()), Index(0)};
        if (copiesRow)
          packedA = {allocate(plan.reduced.extent), Index(0)};
      },
      [&](ArrayRef<Index> indices) { emitRowTask(indices.drop_back(), indices.back()); });
}

// Sums of a chunk of columns. A chunk whose length the program computes is at most as long as the longest.
int64_t ContractionEmitter::chunkElements() {
  if (!plan.columnsPerTask.isConstant())
    return ContractionPlan::mostColumnsPerTask;
  int64_t columns = plan.columnsPerTask.getConstant();
  if (plan.column.extent.isConstant())
    columns = std::min(columns, plan.column.extent.getConstant());
  return llvm::alignTo(columns, plan.tile.lanes);
}

void ContractionEmitter::emitRowTask(ArrayRef<Index> outer, Index group) {
  for (unsigned operand = 0; operand <= init; ++operand) {
    flat[operand] = operand == plan.b || (operand == plan.a && !packedA.buffer) ? Value() : flatten(operand);
    base[operand] = offsetOf(operand, plan.outer, outer);
  }
  SymbolicSize chunk = SizeBuilder(b, loc).minimum(plan.columnsPerTask, plan.column.extent);
  const SymbolicSize &groups = plan.columnGroups;
  Index column = lanes.mul(group, chunk);
  Index columns = lanes.index(chunk);
  if (!chunk.isConstant() || !plan.column.extent.isMultipleOf(chunk.getConstant()))
    columns = restOf(plan.column.extent, column, 1, chunk);
  fillZeros(sums, chunkElements());

  forDims(plan.outerReduced, [&](ArrayRef<Index> outerStep) {
    Index from = lanes.add(base[plan.a], offsetOf(plan.a, plan.outerReduced, outerStep));
    Address row = {op->getOperand(plan.a), from};
    if (packedA.buffer) {
      row = packedA;
      forRange(Index(0), lanes.index(plan.reduced.extent), 1, [&](Index step) {
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
    Index distance = lanes.index(alongColumns ? plan.reduced.strides[plan.b] : plan.column.strides[plan.b]);
    call((alongColumns ? "lw_matvec_" : "lw_matvec_t_") + plan.bSuffix, {sums, row, {op->getOperand(plan.b), at}},
         {distance, lanes.index(plan.reduced.extent), columns}, {0, 1, 2});
  });

  // Whole vectors, and what is left at the end of the last chunk.
  auto results = [&](Index from, Columns width) {
    emitEpilogue({sums.buffer, from}, 0, Index(0), Index(1), lanes.add(column, from), width);
  };
  if (!plan.column.extent.isConstant()) {
    Index whole = lanes.multiple(columns, plan.tile.lanes);
    forRange(Index(0), whole, plan.tile.lanes, [&](Index from) { results(from, plan.tile.lanes); });
    Index rest = lanes.add(columns, lanes.mul(whole, -1));
    ifElse(
        compare(arith::CmpIPredicate::sgt, rest, Index(0)), [&] { results(whole, {plan.tile.lanes, rest}); }, nullptr);
    return;
  }
  int64_t tail = plan.column.extent.getConstant() % plan.tile.lanes;
  Index whole = columns;
  if (tail)
    whole =
        groups == 1
            ? Index(chunk.getConstant() - tail)
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
                                      Columns columns) {
  // Valid columns are counted in a dynamic panel only: there they are more than all but the last vector of it.
  bool isDynamic = !columns.valid.isConstant();
  int64_t width = columns.width;
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
    SymbolicSize stride = plan.column.strides[operand];
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
    SymbolicSize stride = plan.column.strides[init];
    Index to = lanes.add(base[init], lanes.mul(inRow, plan.row.strides[init]));
    to = lanes.add(to, lanes.mul(lanes.add(column, piece.offset), stride));
    lanes.store(lookup(body.getTerminator()->getOperand(0)), flat[init], to, stride);
  };

  if (!isDynamic && width % plan.tile.lanes == 0 && width > plan.tile.lanes &&
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
      if (isDynamic && offset + plan.tile.lanes >= width) {
        auto type = VectorType::get({piece.width}, b.getI1Type());
        piece.mask =
            vector::CreateMaskOp::create(b, loc, type, lanes.materialize(lanes.add(columns.valid, Index(-offset))));
      } else if (valid != piece.width) {
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
