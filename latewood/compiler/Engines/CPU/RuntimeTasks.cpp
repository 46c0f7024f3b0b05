// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tasks of a program whose extents are known when it runs.
//
// How many tasks there are, and what belongs to each, is computed from the extents in front of the parallel loop:
//
//     work   = instructions for all pieces of one row                    (a polynomial of the extents)
//     pieces = what work / taskWork says                                 (of the shared vector loop, if there is one)
//     groups = rows / (taskWork / work)                                  (rows: the product of all others)
//     scf.forall (%task) in (%groups * %pieces)
//
// So a small problem is one task, which the runtime runs at once on the calling thread, and a problem without elements
// has no task. The numbers of threads has no part in it. Rows of several dimensions are counted as one, and their
// indices are kept like the digits of a counter: no divisions per row.

#include "latewood/compiler/Engines/CPU/ProgramEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace latewood::cpu;

/// Work is counted in quarters of an instruction: integers that are exact enough for cheap bodies.
static constexpr int64_t workScale = 4;

/// Of one row and one element of the shared vector loop.
SymbolicSize ProgramEmitter::symbolicRowWork() const {
  if (program.transposedRow >= 0)
    return program.rows[program.sharedRow] * (4 * workScale);
  SymbolicSize work;
  for (Statement &statement : program.statements) {
    SymbolicSize iterations(std::max<int64_t>(1, std::llround(elementWork(statement) * workScale)));
    for (const Loop &loop : statement.loops)
      if (loop.row < 0)
        iterations *= loop.extent;
    work += iterations;
  }
  return work;
}

void ProgramEmitter::emitRuntimeTasks(ArrayRef<unsigned> counted) {
  SymbolicSize extent = pieceExtent(), rows(1);
  for (unsigned row : counted)
    rows *= program.rows[row];
  if (extent == 1 && rows == 1) {
    allocateScratch();
    return emitRows(counted, [&] { emitPiece(0, 1); });
  }

  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, loc, value); };
  auto atLeastOne = [&](Value value) -> Value { return arith::MaxSIOp::create(b, loc, value, constant(1)); };
  auto divide = [&](Value lhs, Value rhs) -> Value { return arith::DivUIOp::create(b, loc, lhs, rhs); };
  auto divideUp = [&](Value lhs, Value rhs) -> Value {
    Value rounded = arith::AddIOp::create(b, loc, lhs, arith::SubIOp::create(b, loc, rhs, constant(1)));
    return divide(rounded, rhs);
  };
  Value perTask = constant(int64_t(taskWork) * workScale);
  Value work = atLeastOne((symbolicRowWork() * extent).materialize(b, loc));

  Value length = extent.materialize(b, loc), chunk, pieces;
  if (extent != 1) {
    int64_t alignment = pieceAlignment();
    chunk = divideUp(length, atLeastOne(divide(work, perTask)));
    chunk = arith::AddIOp::create(b, loc, chunk, constant(alignment - 1));
    chunk = arith::AndIOp::create(b, loc, chunk, constant(-alignment));
    chunk = arith::MaxSIOp::create(b, loc, chunk, constant(alignment));
    pieces = divideUp(length, chunk);
  }
  Value rowCount, rowsPerGroup, groups;
  if (!counted.empty()) {
    rowCount = rows.materialize(b, loc);
    Value wanted = atLeastOne(divide(rowCount, atLeastOne(divide(perTask, work))));
    rowsPerGroup = atLeastOne(divideUp(rowCount, wanted));
    groups = divideUp(rowCount, rowsPerGroup);
  }
  Value tasks = pieces && groups ? arith::MulIOp::create(b, loc, groups, pieces).getResult() : pieces ? pieces : groups;

  auto forall = scf::ForallOp::create(b, loc, ArrayRef<OpFoldResult>{tasks}, ValueRange(), std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forall.getBody());
  allocateScratch();
  Value group = forall.getInductionVars().front();
  Index low(0), high(1);
  if (pieces) {
    Value piece = group;
    if (groups) {
      piece = arith::RemUIOp::create(b, loc, group, pieces);
      group = divide(group, pieces);
    }
    low = Index(Value(arith::MulIOp::create(b, loc, piece, chunk)));
    high = minimum(lanes.add(low, Index(chunk)), Index(length));
  }
  if (!groups)
    return emitPiece(low, high);
  Index first(Value(arith::MulIOp::create(b, loc, group, rowsPerGroup)));
  Index last = minimum(lanes.add(first, Index(rowsPerGroup)), Index(rowCount));
  emitFlatRows(counted, first, last, [&] { emitPiece(low, high); });
}

/// Rows `first` to `last` of all rows of `counted`, one after the other.
void ProgramEmitter::emitFlatRows(ArrayRef<unsigned> counted, Index first, Index last, function_ref<void()> body) {
  if (counted.size() == 1) {
    emitLoop(first, last, 1, {}, [&](Index i, ValueRange) {
      rowIndices[counted.front()] = i;
      body();
      return Results();
    });
    return;
  }
  SmallVector<Value> extents;
  for (unsigned row : counted)
    extents.push_back(program.rows[row].materialize(b, loc));
  // The digits of the first row, the last one counting fastest.
  SmallVector<Value> digits(counted.size());
  Value rest = lanes.materialize(first);
  for (unsigned i = counted.size(); i-- > 1;) {
    digits[i] = arith::RemUIOp::create(b, loc, rest, extents[i]);
    rest = arith::DivUIOp::create(b, loc, rest, extents[i]);
  }
  digits[0] = rest;
  emitLoop(first, last, 1, digits, [&](Index, ValueRange current) {
    for (auto [row, digit] : llvm::zip_equal(counted, current))
      rowIndices[row] = Index(digit);
    body();
    Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
    Results next(current);
    Value carry;
    for (unsigned i = counted.size(); i-- > 0;) {
      Value more = arith::AddIOp::create(b, loc, current[i], one);
      if (i == 0) {
        next[0] = carry ? arith::SelectOp::create(b, loc, carry, more, current[0]).getResult() : more;
        break;
      }
      Value full = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, more, extents[i]);
      Value turned = arith::SelectOp::create(b, loc, full, zero, more);
      next[i] = carry ? arith::SelectOp::create(b, loc, carry, turned, current[i]).getResult() : turned;
      carry = carry ? arith::AndIOp::create(b, loc, carry, full).getResult() : full;
    }
    return next;
  });
}
