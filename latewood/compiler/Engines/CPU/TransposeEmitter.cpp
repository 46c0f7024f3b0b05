// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statements that read along one loop and write along another: blocks of the index space, and in them square tiles that
// are transposed in registers.
//
// Neither order of loops walks through both sides of a transposition without gaps. A tile of as many rows as a vector
// has lanes is read by vectors along the one loop and written by vectors along the other, so every access is a full
// vector; a block of tiles uses each cache line completely while it is there. What else the statement does (a bias, a
// conversion) happens on the transposed vectors. The rests at both ends are tiles with masks.

#include "latewood/compiler/Engines/CPU/ProgramEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace latewood::cpu;

/// Elements of a block along the loop that the vectors are written along.
static constexpr int64_t blockExtent = 64;
/// Vectors that are taken apart by shuffles of pairs.
static constexpr int64_t mostInterleaved = 4;

static Value shuffle(OpBuilder &b, Location loc, Value lhs, Value rhs, function_ref<int64_t(int64_t)> source) {
  int64_t count = cast<VectorType>(lhs.getType()).getNumElements();
  SmallVector<int64_t> mask;
  for (int64_t i = 0; i < count; ++i)
    mask.push_back(source(i));
  return vector::ShuffleOp::create(b, loc, lhs, rhs, mask);
}

/// 32-bit elements: within 128-bit lanes by unpacking, then whole lanes. Each step is one instruction.
static void transposeWords(OpBuilder &b, Location loc, MutableArrayRef<Value> rows) {
  int64_t count = rows.size();
  SmallVector<Value> s(count), u(count);
  for (int64_t i = 0; i < count; i += 2) {
    s[i] = shuffle(b, loc, rows[i], rows[i + 1], [&](int64_t l) { return l / 4 * 4 + l % 4 / 2 + (l % 2) * count; });
    s[i + 1] =
        shuffle(b, loc, rows[i], rows[i + 1], [&](int64_t l) { return l / 4 * 4 + 2 + l % 4 / 2 + (l % 2) * count; });
  }
  for (int64_t i = 0; i < count; i += 4)
    for (int64_t k = 0; k < 2; ++k) {
      u[i + 2 * k] =
          shuffle(b, loc, s[i + k], s[i + k + 2], [&](int64_t l) { return l / 4 * 4 + l % 2 + (l % 4 / 2) * count; });
      u[i + 2 * k + 1] = shuffle(b, loc, s[i + k], s[i + k + 2],
                                 [&](int64_t l) { return l / 4 * 4 + 2 + l % 2 + (l % 4 / 2) * count; });
    }
  // Lane l of u[4g + k] is column 4l + k of rows 4g to 4g + 3.
  auto lanes = [&](Value lhs, Value rhs, ArrayRef<int64_t> sources) { // sources of rhs follow those of lhs
    return shuffle(b, loc, lhs, rhs, [&](int64_t l) {
      int64_t source = sources[l / 4];
      return source * 4 + l % 4;
    });
  };
  for (int64_t k = 0; k < 4; ++k) {
    if (count == 4) {
      rows[k] = u[k];
    } else if (count == 8) {
      rows[k] = lanes(u[k], u[4 + k], {0, 2});
      rows[4 + k] = lanes(u[k], u[4 + k], {1, 3});
    } else {
      Value low0 = lanes(u[k], u[4 + k], {0, 1, 4, 5}), high0 = lanes(u[k], u[4 + k], {2, 3, 6, 7});
      Value low1 = lanes(u[8 + k], u[12 + k], {0, 1, 4, 5}), high1 = lanes(u[8 + k], u[12 + k], {2, 3, 6, 7});
      rows[k] = lanes(low0, low1, {0, 2, 4, 6});
      rows[4 + k] = lanes(low0, low1, {1, 3, 5, 7});
      rows[8 + k] = lanes(high0, high1, {0, 2, 4, 6});
      rows[12 + k] = lanes(high0, high1, {1, 3, 5, 7});
    }
  }
}

/// Takes apart what lies interleaved: element k of each group of as many elements as there are vectors becomes a
/// vector.
static SmallVector<Value> separate(OpBuilder &b, Location loc, ArrayRef<Value> vectors) {
  int64_t count = vectors.size();
  SmallVector<Value> parts;
  for (int64_t k = 0; k < count; ++k) {
    Value part = vectors[0];
    for (int64_t next = 1; next < count; ++next)
      part = shuffle(b, loc, part, vectors[next], [&](int64_t l) {
        int64_t size = cast<VectorType>(part.getType()).getNumElements(), source = l * count + k;
        // From the first vector elements are still to be moved; those of others have been.
        if (source / size == next)
          return size + source % size;
        return next == 1 && source < size ? source : l;
      });
    parts.push_back(part);
  }
  return parts;
}

/// `rows` is a square: vectors of as many elements as there are vectors.
static void transpose(OpBuilder &b, Location loc, MutableArrayRef<Value> rows) {
  int64_t count = rows.size();
  if (cast<VectorType>(rows[0].getType()).getElementTypeBitWidth() == 32 && count >= 4 && count <= 16)
    return transposeWords(b, loc, rows);
  // Blocks of two halves change places, for halves of 1, 2, 4…
  for (int64_t half = 1; half < count; half *= 2)
    for (int64_t i = 0; i < count; ++i) {
      if (i & half)
        continue;
      Value a = rows[i], c = rows[i + half];
      rows[i] = shuffle(b, loc, a, c, [&](int64_t l) { return l & half ? count + l - half : l; });
      rows[i + half] = shuffle(b, loc, a, c, [&](int64_t l) { return l & half ? count + l : l + half; });
    }
}

/// Tiles that cover the shared vector loop from 0 to its end, and [low, high) of the transposed row. `low` is a
/// multiple of the tile; `high` is one, or the end.
void ProgramEmitter::emitTransposed(Index low, Index high) {
  Statement &statement = program.statements.front();
  loopIndices[&statement].assign(statement.loops.size(), Index(0));
  int64_t size = statement.width;
  const SymbolicSize &writeExtent = program.rows[program.sharedRow], &readExtent = program.rows[program.transposedRow];
  // Emits `tile` for what is left of a loop when full tiles are done, if anything is. How much it is may be known where
  // whether it is there is not.
  auto emitRest = [&](Index begin, Index end, std::optional<int64_t> known, function_ref<void(Index)> tile) {
    if (begin.isConstant() && end.isConstant()) {
      if (begin.constant < end.constant)
        tile(end.constant - begin.constant);
      return;
    }
    Value from = lanes.materialize(begin), to = lanes.materialize(end);
    Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, to, from);
    auto branch = scf::IfOp::create(b, loc, more, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    tile(known ? Index(*known) : Index(Value(arith::SubIOp::create(b, loc, to, from))));
  };

  auto alongReads = [&](Index write, Index rows) {
    bool noRest = readExtent.isMultipleOf(size);
    Index full, end = high;
    std::optional<int64_t> known;
    if (!noRest && readExtent.isConstant()) {
      full = lanes.multiple(Index(readExtent.getConstant()), size);
      end = minimum(high, full);
      known = readExtent.getConstant() - full.constant;
    } else if (!noRest) {
      full = end = lanes.multiple(high, size);
    }
    emitLoop(low, end, size, {}, [&](Index read, ValueRange) {
      emitTile(statement, write, rows, read, size);
      return Results();
    });
    if (!noRest)
      emitRest(full, high, known, [&](Index rest) { emitTile(statement, write, rows, full, rest); });
  };
  Index writeEnd = lanes.index(writeExtent), writeFull = lanes.multiple(writeEnd, size);
  emitLoop(0, writeFull, size, {}, [&](Index write, ValueRange) {
    alongReads(write, size);
    return Results();
  });
  if (!writeExtent.isMultipleOf(size))
    emitRest(writeFull, writeEnd, std::nullopt, [&](Index rest) { alongReads(writeFull, rest); });
}

/// One tile: `writeCount` elements from `write` of the vector loop, `readCount` from `read` of the transposed row. A
/// count that is not constant is less than the tile.
void ProgramEmitter::emitTile(Statement &statement, Index write, Index writeCount, Index read, Index readCount) {
  int64_t size = statement.width;
  int readLoop = -1;
  for (auto [l, loop] : llvm::enumerate(statement.loops))
    if (loop.row == program.transposedRow)
      readLoop = l;
  auto maskFor = [&](Index count) -> Value {
    if (!count.isConstant())
      return vector::CreateMaskOp::create(b, loc, VectorType::get({size}, b.getI1Type()), lanes.materialize(count));
    return count.constant == size ? Value() : makeMask(b, loc, size, count.constant);
  };
  auto isBelow = [&](int64_t i, Index count) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, arith::ConstantIndexOp::create(b, loc, i),
                                 lanes.materialize(count));
  };

  rowIndices[program.transposedRow] = read;
  lanes.width = size;
  SmallVector<std::pair<unsigned, SmallVector<Value>>> tiles; // by input
  for (auto [i, access] : llvm::enumerate(statement.inputs)) {
    if (access.kind != Access::Kind::Linear || access.address.strides[readLoop] != 1 ||
        access.address.strides[statement.vectorLoop] == 1 || access.address.strides[statement.vectorLoop] == 0)
      continue;
    const Storage &storage = program.storages[access.storage];
    SmallVector<Value> rows;
    // A few elements that lie interleaved with nothing else (the colours of an image) need no square.
    if (writeCount.isConstant() && writeCount.constant == size && readCount.isConstant() &&
        readCount.constant <= mostInterleaved && readCount.constant < size &&
        access.address.strides[statement.vectorLoop] == readCount.constant) {
      lanes.mask = Value();
      Index first = addressOf(statement, storage, access.address, Step{write, size, nullptr});
      for (int64_t vector = 0; vector < readCount.constant; ++vector)
        rows.push_back(lanes.load(storage.flat, lanes.add(first, vector * size), 1).value);
      tiles.emplace_back(i, separate(b, loc, rows));
      continue;
    }
    Value mask = maskFor(readCount);
    for (int64_t row = 0; row < size; ++row) {
      if (writeCount.isConstant() && row >= writeCount.constant) {
        rows.push_back(arith::ConstantOp::create(b, loc, b.getZeroAttr(lanes.vectorOf(storage.elementType))));
        continue;
      }
      lanes.mask = mask;
      if (!writeCount.isConstant() && row > 0) {
        // Nothing of a row that does not exist.
        Value count = arith::SelectOp::create(b, loc, isBelow(row, writeCount), lanes.materialize(readCount),
                                              arith::ConstantIndexOp::create(b, loc, 0));
        lanes.mask = maskFor(Index(count));
      }
      Step step{lanes.add(write, row), size, nullptr};
      rows.push_back(lanes.load(storage.flat, addressOf(statement, storage, access.address, step), 1).value);
    }
    transpose(b, loc, rows);
    tiles.emplace_back(i, rows);
  }
  Value writeMask = maskFor(writeCount);
  for (int64_t column = 0; column < (readCount.isConstant() ? readCount.constant : size); ++column) {
    OpBuilder::InsertionGuard guard(b);
    if (!readCount.isConstant() && column > 0) {
      auto branch = scf::IfOp::create(b, loc, isBelow(column, readCount), /*withElseRegion=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    rowIndices[program.transposedRow] = lanes.add(read, column);
    Step step{write, size, writeMask};
    beginStep(step);
    for (auto &[input, rows] : tiles)
      inputOverrides[input] = lanes.vector(rows[column]);
    SmallVector<Lanes> old;
    for (unsigned i = 0; i < statement.outs.size(); ++i)
      old.push_back(statement.inits[i].kind != Access::Kind::None ? initialValue(statement, i, step) : Lanes());
    writeResults(statement, step, evaluate(statement, step, old));
  }
  inputOverrides.clear();
}

int64_t ProgramEmitter::transposedBlock() const { return llvm::alignTo(blockExtent, program.statements.front().width); }
