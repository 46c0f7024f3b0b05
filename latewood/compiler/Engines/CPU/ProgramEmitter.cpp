// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tasks, rows and strips: everything outside of the loop nests of the phases (those are in PhaseEmitter.cpp).

#include "latewood/compiler/Engines/CPU/ProgramEmitter.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace latewood::cpu;

/// Elements of a strip in scratch: strips of all row-local tensors together stay in the first-level cache.
static constexpr int64_t stripScratchBytes = 24 << 10;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

ProgramEmitter::Results ProgramEmitter::emitLoop(Index low, Index high, int64_t step, ValueRange init, LoopBody body) {
  if (low.isConstant() && high.isConstant()) {
    if (low.constant >= high.constant)
      return Results(init);
    if (low.constant + step >= high.constant)
      return body(low, init);
  }
  auto loop = scf::ForOp::create(b, loc, lanes.materialize(low), lanes.materialize(high),
                                 arith::ConstantIndexOp::create(b, loc, step), init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Results results = body(Index(loop.getInductionVar()), loop.getRegionIterArgs());
  if (!init.empty())
    scf::YieldOp::create(b, loc, results);
  return Results(loop.getResults());
}

Index ProgramEmitter::minimum(Index lhs, Index rhs) {
  if (lhs.isConstant() && rhs.isConstant())
    return Index(std::min(lhs.constant, rhs.constant));
  return Index(arith::MinSIOp::create(b, loc, lanes.materialize(lhs), lanes.materialize(rhs)));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// A rank-1 view of all elements from the buffer's base on; addresses are relative to the base.
static Value flatten(OpBuilder &b, Location loc, Value memref, Storage &storage) {
  auto type = cast<MemRefType>(memref.getType());
  if (!storage.hasDynamicOffset && type.getRank() == 1 && type.getLayout().isIdentity())
    return memref;
  SymbolicSize span = storage.offset + 1;
  for (auto [extent, stride] : llvm::zip(storage.shape, storage.strides))
    span += (extent - 1) * stride;
  auto flat = MemRefType::get(toStaticShape(span), type.getElementType());
  if (storage.hasDynamicOffset) {
    auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, memref);
    storage.dynamicOffset = metadata.getOffset();
    return memref::ReinterpretCastOp::create(b, loc, flat, metadata.getBaseBuffer(), OpFoldResult(b.getIndexAttr(0)),
                                             ArrayRef<OpFoldResult>{span.materializeFold(b, loc)},
                                             ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  }
  return memref::ReinterpretCastOp::create(b, loc, flat, memref, OpFoldResult(b.getIndexAttr(0)),
                                           ArrayRef<OpFoldResult>{span.materializeFold(b, loc)},
                                           ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
}

void ProgramEmitter::prepareStorages() {
  DenseMap<Value, const Storage *> seen;
  for (Storage &storage : program.storages) {
    if (!storage.memref || llvm::is_contained(storage.shape, 0))
      continue;
    auto [known, isNew] = seen.try_emplace(storage.memref, &storage);
    if (!isNew) {
      storage.flat = known->second->flat;
      storage.dynamicOffset = known->second->dynamicOffset;
      continue;
    }
    storage.flat = flatten(b, loc, storage.memref, storage);
  }
}

SymbolicSize ProgramEmitter::scratchElements(const Storage &storage) const {
  return storage.elements * (storage.perStrip ? stripCapacity : 1);
}

/// In front of the tasks, which are given the sizes: scratch is there once for all tasks of a thread.
void ProgramEmitter::prepareScratch() {
  for (const Storage &storage : program.storages)
    if (!storage.memref && storage.needed && !scratchElements(storage).isConstant())
      scratchSizes[&storage] = scratchElements(storage).materialize(b, loc);
}

void ProgramEmitter::allocateScratch() {
  for (Storage &storage : program.storages) {
    if (storage.memref || !storage.needed)
      continue;
    if (program.sharedRow < 0 && program.statements[program.findProducer(storage.tensor)].isRowScalar())
      continue; // a value of its own
    SymbolicSize elements = scratchElements(storage);
    SmallVector<Value> dynamic;
    if (elements.isConstant())
      elements = std::max<int64_t>(1, elements.getConstant());
    else
      dynamic.push_back(scratchSizes.lookup(&storage));
    storage.flat = memref::AllocOp::create(b, loc, MemRefType::get(toStaticShape(elements), storage.elementType),
                                           dynamic, b.getI64IntegerAttr(64));
  }
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

double ProgramEmitter::elementWork(Statement &statement) {
  double work = 0;
  for (Operation &op : statement.op.getBody()->without_terminator()) {
    if (isa<math::MathDialect>(op.getDialect()) && !isa<math::AbsFOp, math::FmaOp, math::AbsIOp>(op))
      work += 16;
    else if (isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
      work += 6;
    else if (isa<tensor::ExtractOp>(op))
      work += 4;
    else if (!op.hasTrait<OpTrait::ConstantLike>())
      work += 0.5;
  }
  for (const SmallVector<Access> *accesses : {&statement.inputs, &statement.outs})
    for (const Access &access : *accesses)
      work += access.kind == Access::Kind::Linear || access.kind == Access::Kind::Indexed;
  return work * (statement.width == 1 ? 4 : std::max(1.0, 8.0 / statement.width));
}

double ProgramEmitter::rowWork() const {
  double work = 0;
  for (Statement &statement : program.statements) {
    double iterations = elementWork(statement);
    for (const Loop &loop : statement.loops)
      if (loop.row < 0)
        iterations *= loop.extent.getConstant();
    work += iterations;
  }
  return work;
}

/// The digits of a task's number in mixed radix, most significant first.
SmallVector<Index> ProgramEmitter::splitTask(Value task, ArrayRef<int64_t> radices) {
  SmallVector<Index> digits(radices.size(), Index(0));
  Value rest = task;
  for (unsigned i = radices.size(); i-- > 0;) {
    if (radices[i] == 1)
      continue;
    bool last = llvm::all_of(radices.take_front(i), [](int64_t radix) { return radix == 1; });
    if (last) {
      digits[i] = Index(rest);
      break;
    }
    Value by = arith::ConstantIndexOp::create(b, loc, radices[i]);
    digits[i] = Index(Value(arith::RemUIOp::create(b, loc, rest, by)));
    rest = arith::DivUIOp::create(b, loc, rest, by);
  }
  return digits;
}

/// Loops over `counted`.
void ProgramEmitter::emitRows(ArrayRef<unsigned> counted, function_ref<void()> body) {
  if (counted.empty())
    return body();
  emitLoop(0, lanes.index(program.rows[counted.front()]), 1, {}, [&](Index i, ValueRange) {
    rowIndices[counted.front()] = i;
    emitRows(counted.drop_front(), body);
    return Results();
  });
}

/// Tasks of a transposition: blocks of the row that is read along, for each of the other rows.
void ProgramEmitter::emitBlocks(ArrayRef<unsigned> counted) {
  int64_t extent = program.rows[program.transposedRow].getConstant(), block = transposedBlock();
  int64_t shared = program.rows[program.sharedRow].getConstant();
  SmallVector<int64_t> radices;
  int64_t tasks = 1;
  double total = double(shared) * extent * 4;
  for (unsigned row : counted) {
    radices.push_back(program.rows[row].getConstant());
    tasks *= radices.back();
    total *= radices.back();
  }
  if (total < 1.5 * taskWork)
    return emitRows(counted, [&] { emitTransposed(0, extent); });
  // Small blocks are put together, in their own dimension only.
  int64_t perBlock = std::max<int64_t>(1, int64_t(taskWork / (double(shared) * block * 4)));
  int64_t chunk = std::min<int64_t>(llvm::alignTo(extent, block), perBlock * block);
  radices.push_back(llvm::divideCeil(extent, chunk));
  tasks *= radices.back();
  auto forall =
      scf::ForallOp::create(b, loc, ArrayRef<OpFoldResult>{b.getIndexAttr(tasks)}, ValueRange(), std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forall.getBody());
  SmallVector<Index> digits = splitTask(forall.getInductionVars().front(), radices);
  for (auto [position, row] : llvm::enumerate(counted))
    rowIndices[row] = digits[position];
  Index low = lanes.mul(digits.back(), chunk);
  Index high = lanes.add(low, chunk);
  if (extent % chunk != 0)
    high = minimum(high, extent);
  emitTransposed(low, high);
}

bool ProgramEmitter::isStatic() const {
  return allConstant(program.rows) && llvm::all_of(program.statements, [](const Statement &statement) {
           return llvm::all_of(statement.loops, [](const Loop &loop) { return loop.extent.isConstant(); });
         });
}

/// How much of the shared vector loop row-local tensors hold.
void ProgramEmitter::chooseStrips() {
  stripCapacity = 0;
  widest = 1;
  for (const Phase &phase : program.phases)
    widest = std::max<int64_t>(widest, phase.width);
  if (program.sharedRow < 0)
    return;
  int64_t bytes = 0;
  for (const Storage &storage : program.storages)
    if (!storage.memref && storage.needed)
      bytes += storage.elements.typical() * llvm::divideCeil(storage.elementType.getIntOrFloatBitWidth(), 8);
  if (!bytes)
    return;
  stripCapacity = std::max<int64_t>(widest, stripScratchBytes / bytes / widest * widest);
  const SymbolicSize &shared = program.rows[program.sharedRow];
  if (shared.isConstant())
    stripCapacity = std::min<int64_t>(llvm::alignTo(shared.getConstant(), widest), stripCapacity);
}

void ProgramEmitter::emit(bool parallel) {
  if (program.statements.empty() || llvm::is_contained(program.rows, 0))
    return;
  prepareStorages();
  rowIndices.assign(program.rows.size(), Index(0));
  chooseStrips();
  prepareScratch();

  // Rows that are counted one by one; the shared vector loop, if any, is split as a range, and so is the row that a
  // transposition reads along.
  SmallVector<unsigned> counted;
  for (unsigned row = 0; row < program.rows.size(); ++row)
    if (int(row) != program.sharedRow && int(row) != program.transposedRow)
      counted.push_back(row);
  if (!parallel) {
    allocateScratch();
    emitRows(counted, [&] { emitPiece(0, lanes.index(pieceExtent())); });
  } else if (!isStatic()) {
    emitRuntimeTasks(counted);
  } else if (program.transposedRow >= 0) {
    emitBlocks(counted);
  } else {
    emitTasks(counted);
  }
}

/// The extent of what is split into pieces.
SymbolicSize ProgramEmitter::pieceExtent() const {
  if (program.transposedRow >= 0)
    return program.rows[program.transposedRow];
  return program.sharedRow >= 0 ? program.rows[program.sharedRow] : SymbolicSize(1);
}

void ProgramEmitter::emitPiece(Index low, Index high) {
  if (program.transposedRow >= 0)
    emitTransposed(low, high);
  else
    emitStrips(low, high);
}

bool ProgramEmitter::sumsColumns() const {
  return llvm::any_of(program.statements, [&](const Statement &s) { return s.columnLoop(program) >= 0; });
}

void ProgramEmitter::emitTasks(ArrayRef<unsigned> counted) {
  auto extentOf = [&](unsigned position) { return program.rows[counted[position]].getConstant(); };
  int64_t shared = pieceExtent().getConstant();
  double perRow = rowWork(); // for one element of the shared loop
  double total = perRow * shared;
  for (unsigned position = 0; position < counted.size(); ++position)
    total *= extentOf(position);
  auto emitSequential = [&] {
    allocateScratch();
    emitRows(counted, [&] { emitStrips(0, shared); });
  };
  if (total < 1.5 * taskWork)
    return emitSequential();

  // The innermost loop at which a task has enough work is split; all loops outside of it are counted by the task
  // number.
  unsigned split = counted.size(); // counted.size(): the shared loop
  int64_t chunk = 1;
  double work = perRow * shared;
  if (program.sharedRow >= 0 && work > taskWork) {
    int64_t pieces = std::max<int64_t>(1, int64_t(work / taskWork));
    chunk = llvm::alignTo(llvm::divideCeil(shared, pieces), pieceAlignment());
  } else {
    while (split > 0) {
      --split;
      int64_t extent = extentOf(split);
      if (split == 0 || work * extent > taskWork) {
        chunk = std::clamp<int64_t>(int64_t(taskWork / work), 1, extent);
        chunk = llvm::divideCeil(extent, llvm::divideCeil(extent, chunk)); // evenly
        break;
      }
      work *= extent;
    }
  }
  bool splitsShared = split == counted.size();
  int64_t splitExtent = splitsShared ? shared : extentOf(split);
  int64_t pieces = llvm::divideCeil(splitExtent, chunk);
  int64_t tasks = pieces;
  SmallVector<int64_t> radices;
  for (unsigned position = 0; position < split; ++position) {
    radices.push_back(extentOf(position));
    tasks *= radices.back();
  }
  if (tasks == 1)
    return emitSequential();
  radices.push_back(pieces);
  auto forall =
      scf::ForallOp::create(b, loc, ArrayRef<OpFoldResult>{b.getIndexAttr(tasks)}, ValueRange(), std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forall.getBody());
  allocateScratch();
  SmallVector<Index> digits = splitTask(forall.getInductionVars().front(), radices);
  for (unsigned position = 0; position < split; ++position)
    rowIndices[counted[position]] = digits[position];
  Index low = lanes.mul(digits.back(), chunk);
  Index high = lanes.add(low, chunk);
  if (splitExtent % chunk != 0)
    high = minimum(high, splitExtent);
  if (splitsShared)
    return emitStrips(low, high);
  emitLoop(low, high, 1, {}, [&](Index i, ValueRange) {
    rowIndices[counted[split]] = i;
    emitRows(counted.drop_front(split + 1), [&] { emitStrips(0, shared); });
    return Results();
  });
}

/// Pieces are multiples of it, but for the last one.
int64_t ProgramEmitter::pieceAlignment() const {
  if (program.transposedRow >= 0)
    return transposedBlock();
  return std::max<int64_t>(widest, sumsColumns() ? columnStrip : 64);
}

void ProgramEmitter::emitStrips(Index low, Index high) {
  if (program.sharedRow < 0 || stripCapacity == 0)
    return emitRow(low, high);
  if (low.isConstant() && high.isConstant() && high.constant - low.constant <= stripCapacity)
    return emitRow(low, high);
  emitLoop(low, high, stripCapacity, {}, [&](Index at, ValueRange) {
    emitRow(at, minimum(lanes.add(at, stripCapacity), high));
    return Results();
  });
}

void ProgramEmitter::emitRow(Index low, Index high) {
  stripLow = low;
  stripHigh = high;
  rowScalars.clear();
  for (Phase &phase : program.phases)
    emitPhase(phase);
}
