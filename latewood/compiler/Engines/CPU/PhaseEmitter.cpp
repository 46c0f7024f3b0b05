// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loop nest of one phase, for one row. Four forms:
//   scalar       nothing is vectorized: a value per row, or a body without a vector form
//   elementwise  the vector loop is parallel, nothing is reduced: load, compute, store
//   columns      the vector loop is parallel, others are reduced: vectors of results are carried through the reduced
//   loops across       the vector loop is reduced: vectors of partial results are carried, and combined at the end

#include "latewood/compiler/Engines/CPU/ProgramEmitter.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::cpu;

/// Vectors of partial results: they hide the latency of the combining operation.
static constexpr int64_t partials = 4;

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

Index ProgramEmitter::evaluateLinear(const Statement &statement, const Linear &linear, const Step &step) {
  Index sum = lanes.index(linear.offset);
  for (auto [l, loop] : llvm::enumerate(statement.loops)) {
    if (linear.strides[l] == 0)
      continue;
    Index index = int(l) == statement.vectorLoop ? step.at
                  : loop.row >= 0                ? rowIndices[loop.row]
                                                 : loopIndices[&statement][l];
    sum = lanes.add(sum, lanes.mul(index, linear.strides[l]));
  }
  return sum;
}

Index ProgramEmitter::addressOf(const Statement &statement, const Storage &storage, const Linear &linear,
                                const Step &step) {
  Index address = evaluateLinear(statement, linear, step);
  if (storage.perStrip) {
    address = lanes.mul(address, stripCapacity);
    address = lanes.add(address, lanes.add(step.at, lanes.mul(stripLow, -1)));
  }
  if (storage.dynamicOffset)
    address = lanes.add(address, Index(storage.dynamicOffset));
  return address;
}

SymbolicSize ProgramEmitter::laneStride(const Statement &statement, const Storage &storage,
                                        const Linear &linear) const {
  if (statement.vectorLoop < 0)
    return 0;
  return storage.perStrip ? SymbolicSize(1) : linear.strides[statement.vectorLoop];
}

Lanes ProgramEmitter::binary(StringRef name, Lanes lhs, Lanes rhs) {
  OperationState state(loc, name);
  Value placeholder = arith::ConstantIndexOp::create(b, loc, 1);
  state.addOperands({placeholder, placeholder});
  state.addTypes(b.getIndexType());
  Operation *op = Operation::create(state);
  Lanes result = lanes.apply(op, {lhs, rhs}).front();
  op->destroy();
  return result;
}

/// The element of `storage` at `indices`, one per dimension.
Lanes ProgramEmitter::elementOf(const Storage &storage, ArrayRef<Lanes> indices, const Step &step) {
  Lanes address = LaneBuilder::uniform(
      lanes.materialize(storage.dynamicOffset ? lanes.add(lanes.index(storage.offset), Index(storage.dynamicOffset))
                                              : lanes.index(storage.offset)));
  // Uniform parts first: they stay scalars, and an iota stays one.
  for (bool uniform : {true, false})
    for (auto [index, stride] : llvm::zip(indices, storage.strides)) {
      if (index.isUniform() != uniform || stride == 0)
        continue;
      Lanes scaled = index;
      if (stride != 1)
        scaled = binary("arith.muli", index, LaneBuilder::uniform(stride.materialize(b, loc)));
      address = binary("arith.addi", address, scaled);
    }
  return lanes.gather(storage.flat, address);
}

Lanes ProgramEmitter::evaluateExpr(AffineExpr expr, ArrayRef<Lanes> dims) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return LaneBuilder::uniform(arith::ConstantIndexOp::create(b, loc, constant.getValue()));
  auto operation = cast<AffineBinaryOpExpr>(expr);
  Lanes lhs = evaluateExpr(operation.getLHS(), dims), rhs = evaluateExpr(operation.getRHS(), dims);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return binary("arith.addi", lhs, rhs);
  case AffineExprKind::Mul:
    return binary("arith.muli", lhs, rhs);
  case AffineExprKind::Mod: // indices are not negative
    return binary("arith.remui", lhs, rhs);
  case AffineExprKind::FloorDiv:
    return binary("arith.divui", lhs, rhs);
  default:
    return binary("arith.ceildivui", lhs, rhs);
  }
}

Lanes ProgramEmitter::readAccess(const Statement &statement, const Access &access, const Step &step) {
  switch (access.kind) {
  case Access::Kind::None:
    return {};
  case Access::Kind::Scalar:
    if (access.scalar)
      return LaneBuilder::uniform(access.scalar);
    return LaneBuilder::uniform(lanes.constant(access.constant));
  case Access::Kind::Linear: {
    if (auto value = forwarded.find(access.tensor); access.tensor && value != forwarded.end())
      return value->second;
    if (auto value = rowScalars.find(access.tensor); access.tensor && value != rowScalars.end())
      return LaneBuilder::uniform(value->second);
    const Storage &storage = program.storages[access.storage];
    return lanes.load(storage.flat, addressOf(statement, storage, access.address, step),
                      laneStride(statement, storage, access.address));
  }
  case Access::Kind::Indexed: {
    SmallVector<Lanes> dims, indices;
    for (const Linear &dim : statement.dims)
      dims.push_back(lanes.linear(evaluateLinear(statement, dim, step),
                                  statement.vectorLoop < 0 ? SymbolicSize(0) : dim.strides[statement.vectorLoop]));
    for (AffineExpr expr : access.map.getResults())
      indices.push_back(evaluateExpr(expr, dims));
    return elementOf(program.storages[access.storage], indices, step);
  }
  }
  llvm_unreachable("all kinds are handled");
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void ProgramEmitter::beginStep(const Step &step) {
  lanes.width = step.width;
  lanes.mask = step.mask;
}

/// Scalars that the body takes from around it: constants of the group's region, which does not outlive this, and the
/// group's operands.
void ProgramEmitter::addOuterScalars(Block *body, DenseMap<Value, Lanes> &values) {
  body->walk([&](Operation *op) {
    for (Value value : op->getOperands()) {
      if (isa<ShapedType>(value.getType()) || body->getParent()->isAncestor(value.getParentRegion()) ||
          values.contains(value))
        continue;
      Attribute constant;
      if (matchPattern(value, m_Constant(&constant)))
        values[value] = LaneBuilder::uniform(lanes.constant(constant));
      else if (Value operand = program.outside.lookup(value))
        values[value] = LaneBuilder::uniform(operand);
      else
        values[value] = LaneBuilder::uniform(value);
    }
  });
}

SmallVector<Lanes> ProgramEmitter::evaluate(Statement &statement, const Step &step, ArrayRef<Lanes> accumulators) {
  linalg::GenericOp op = statement.op;
  Block *body = op.getBody();
  DenseMap<Value, Lanes> values;
  for (auto [i, access] : llvm::enumerate(statement.inputs))
    if (auto known = inputOverrides.find(i); known != inputOverrides.end())
      values[body->getArgument(i)] = known->second;
    else if (access.kind != Access::Kind::None)
      values[body->getArgument(i)] = readAccess(statement, access, step);
  for (auto [i, accumulator] : llvm::enumerate(accumulators))
    values[body->getArgument(statement.inputs.size() + i)] = accumulator;
  addOuterScalars(body, values);
  for (Operation &nested : body->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(nested)) {
      const Linear &dim = statement.dims[index.getDim()];
      values[index] = lanes.linear(evaluateLinear(statement, dim, step),
                                   statement.vectorLoop < 0 ? SymbolicSize(0) : dim.strides[statement.vectorLoop]);
      continue;
    }
    if (auto extract = dyn_cast<tensor::ExtractOp>(nested)) {
      SmallVector<Lanes> indices;
      for (Value value : extract.getIndices())
        indices.push_back(values.lookup(value));
      values[extract] = elementOf(program.storages[program.findStorage(extract.getTensor())], indices, step);
      continue;
    }
    if (nested.getNumRegions() != 0) { // scalar only
      IRMapping mapping;
      for (auto &[from, to] : values)
        mapping.map(from, to.value);
      Operation *clone = b.clone(nested, mapping);
      for (auto [from, to] : llvm::zip(nested.getResults(), clone->getResults()))
        values[from] = LaneBuilder::uniform(to);
      continue;
    }
    SmallVector<Lanes> operands;
    for (Value value : nested.getOperands())
      operands.push_back(values.lookup(value));
    for (auto [from, to] : llvm::zip(nested.getResults(), lanes.apply(&nested, operands)))
      values[from] = to;
  }
  SmallVector<Lanes> results;
  for (Value value : body->getTerminator()->getOperands())
    results.push_back(values.lookup(value));
  return results;
}

Lanes ProgramEmitter::convertAccumulator(Lanes value, Type type) {
  Type from = getElementTypeOrSelf(value.value.getType());
  if (from == type)
    return value;
  bool isVector = isa<VectorType>(value.value.getType());
  Type to = isVector ? Type(lanes.vectorOf(type)) : type;
  if (from.getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
    value.value = arith::ExtFOp::create(b, loc, to, value.value);
  else
    value.value = arith::TruncFOp::create(b, loc, to, value.value);
  return value;
}

Lanes ProgramEmitter::initialValue(Statement &statement, unsigned result, const Step &step) {
  const Access &init = statement.inits[result];
  if (init.kind == Access::Kind::None) // never read: any value
    return LaneBuilder::uniform(arith::ConstantOp::create(b, loc, b.getZeroAttr(statement.getAccumulatorType(result))));
  return convertAccumulator(readAccess(statement, init, step), statement.getAccumulatorType(result));
}

void ProgramEmitter::writeResults(Statement &statement, const Step &step, ArrayRef<Lanes> results) {
  for (auto [i, value] : llvm::enumerate(results)) {
    const Access &out = statement.outs[i];
    const Storage &storage = program.storages[out.storage];
    Lanes result = convertAccumulator(value, storage.elementType);
    if (out.tensor) {
      if (statement.isRowScalar() && program.sharedRow < 0)
        rowScalars[out.tensor] = result.value;
      else
        forwarded[out.tensor] = result;
    }
    if (!storage.memref && (!storage.needed || (statement.isRowScalar() && program.sharedRow < 0)))
      continue;
    if (out.kind == Access::Kind::Linear) {
      lanes.store(result, storage.flat, addressOf(statement, storage, out.address, step),
                  laneStride(statement, storage, out.address));
    }
  }
}

Value cpu::makeMask(OpBuilder &b, Location loc, int64_t width, int64_t count) {
  SmallVector<bool> bits(width, false);
  std::fill(bits.begin(), bits.begin() + count, true);
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(VectorType::get({width}, b.getI1Type()), bits));
}

/// Calls `body` for steps that cover [low, high): full ones of unroll * width lanes for each of `unrolls` in turn
/// (descending, the last is 1), then one masked step, or scalar ones.
void ProgramEmitter::forEachStep(Index low, Index high, int64_t width, bool scalarTail, ArrayRef<int64_t> unrolls,
                                 function_ref<void(const Step &, int64_t)> body) {
  Index at = low;
  for (int64_t unroll : unrolls) {
    int64_t size = unroll * width;
    Index length = lanes.add(high, lanes.mul(at, -1));
    Index end;
    if (at.isConstant() && high.isConstant()) {
      end = Index(at.constant + std::max<int64_t>(0, high.constant - at.constant) / size * size);
    } else {
      Value full = arith::AndIOp::create(b, loc, lanes.materialize(length),
                                         arith::ConstantIndexOp::create(b, loc, -size)); // a power of two
      end = lanes.add(at, Index(full));
    }
    emitLoop(at, end, size, {}, [&](Index i, ValueRange) {
      body({i, width, nullptr}, unroll);
      return Results();
    });
    at = end;
  }
  if (width == 1)
    return;
  if (scalarTail) {
    emitLoop(at, high, 1, {}, [&](Index i, ValueRange) {
      body({i, 1, nullptr}, 1);
      return Results();
    });
    return;
  }
  VectorType maskType = VectorType::get({width}, b.getI1Type());
  if (at.isConstant() && high.isConstant()) {
    if (at.constant < high.constant)
      body({at, width, makeMask(b, loc, width, high.constant - at.constant)}, 1);
    return;
  }
  // A split of a multiple of the width into multiples of it has no rest.
  if (program.sharedRow >= 0 && program.rows[program.sharedRow].isMultipleOf(width))
    return;
  Value from = lanes.materialize(at), to = lanes.materialize(high);
  Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, from, to);
  auto branch = scf::IfOp::create(b, loc, more, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value rest = arith::SubIOp::create(b, loc, to, from);
  body({Index(from), width, vector::CreateMaskOp::create(b, loc, maskType, rest)}, 1);
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

void ProgramEmitter::emitPhase(Phase &phase) {
  Statement &first = program.statements[phase.statements.front()];
  for (int s : phase.statements) {
    Statement &statement = program.statements[s];
    loopIndices[&statement].assign(statement.loops.size(), Index(0));
  }
  emitInnerLoops(phase, first.innerLoops(/*reduction=*/false));
}

void ProgramEmitter::emitInnerLoops(Phase &phase, ArrayRef<int> loops) {
  Statement &first = program.statements[phase.statements.front()];
  if (!loops.empty()) {
    emitLoop(0, lanes.index(first.loops[loops.front()].extent), 1, {}, [&](Index i, ValueRange) {
      loopIndices[&first][loops.front()] = i;
      emitInnerLoops(phase, loops.drop_front());
      return Results();
    });
    return;
  }
  forwarded.clear();
  if (first.vectorLoop < 0)
    emitScalar(first);
  else if (llvm::any_of(phase.statements, [&](int s) {
             const Statement &statement = program.statements[s];
             return statement.loops[statement.vectorLoop].reduction;
           }))
    emitAcross(phase);
  else if (!first.innerLoops(/*reduction=*/true).empty())
    emitColumns(first);
  else
    emitElementwise(phase);
  forwarded.clear();
}

ProgramEmitter::Results ProgramEmitter::emitReductionLoops(Statement &statement, ArrayRef<int> loops,
                                                           Results accumulators, LoopBody body) {
  if (loops.empty())
    return body(Index(0), accumulators);
  return emitLoop(0, lanes.index(statement.loops[loops.front()].extent), 1, accumulators,
                  [&](Index i, ValueRange carried) {
                    loopIndices[&statement][loops.front()] = i;
                    return emitReductionLoops(statement, loops.drop_front(), Results(carried), body);
                  });
}

static Statement *statementOf(Program &program, int index) { return &program.statements[index]; }

void ProgramEmitter::emitScalar(Statement &statement) {
  Step step;
  beginStep(step);
  Results accumulators;
  for (unsigned i = 0; i < statement.outs.size(); ++i)
    accumulators.push_back(initialValue(statement, i, step).value);
  Results results =
      emitReductionLoops(statement, statement.innerLoops(true), accumulators, [&](Index, ValueRange carried) {
        SmallVector<Lanes> in;
        for (Value value : carried)
          in.push_back(LaneBuilder::uniform(value));
        Results out;
        for (const Lanes &value : evaluate(statement, step, in))
          out.push_back(value.value);
        return out;
      });
  SmallVector<Lanes> values;
  for (Value value : results)
    values.push_back(LaneBuilder::uniform(value));
  writeResults(statement, step, values);
}

void ProgramEmitter::emitElementwise(Phase &phase) {
  Statement &first = *statementOf(program, phase.statements.front());
  bool shared = program.sharedRow >= 0;
  Index low = shared ? stripLow : Index(0);
  Index high = shared ? stripHigh : lanes.index(first.loops[first.vectorLoop].extent);
  bool scalarTail = llvm::any_of(phase.statements, [&](int s) { return program.statements[s].scalarTail; });
  forEachStep(low, high, phase.width, scalarTail, {1}, [&](const Step &step, int64_t) {
    beginStep(step);
    forwarded.clear();
    for (int s : phase.statements) {
      Statement &statement = *statementOf(program, s);
      SmallVector<Lanes> accumulators;
      for (unsigned i = 0; i < statement.outs.size(); ++i)
        if (statement.inits[i].kind != Access::Kind::None)
          accumulators.push_back(initialValue(statement, i, step));
        else
          accumulators.push_back({});
      writeResults(statement, step, evaluate(statement, step, accumulators));
    }
  });
}

void ProgramEmitter::emitColumns(Statement &statement) {
  bool shared = program.sharedRow >= 0;
  Index low = shared ? stripLow : Index(0);
  Index high = shared ? stripHigh : lanes.index(statement.loops[statement.vectorLoop].extent);
  int64_t count = statement.outs.size();
  if (int reduced = statement.columnLoop(program); reduced >= 0)
    return emitColumnsInMemory(statement, reduced);
  SmallVector<int> reduced = statement.innerLoops(/*reduction=*/true);
  forEachStep(low, high, statement.width, statement.scalarTail, {2 * partials, 1},
              [&](const Step &step, int64_t unroll) {
                auto stepAt = [&](int64_t u) {
                  Step moved = step;
                  moved.at = lanes.add(step.at, u * step.width);
                  return moved;
                };
                beginStep(step);
                Results accumulators;
                for (int64_t u = 0; u < unroll; ++u)
                  for (int64_t i = 0; i < count; ++i)
                    accumulators.push_back(lanes.widen(initialValue(statement, i, stepAt(u))));
                Results results = emitReductionLoops(statement, reduced, accumulators, [&](Index, ValueRange carried) {
                  Results out;
                  for (int64_t u = 0; u < unroll; ++u) {
                    SmallVector<Lanes> in;
                    for (Value value : carried.slice(u * count, count))
                      in.push_back(lanes.vector(value));
                    for (const Lanes &value : evaluate(statement, stepAt(u), in))
                      out.push_back(lanes.widen(value));
                  }
                  return out;
                });
                for (int64_t u = 0; u < unroll; ++u) {
                  SmallVector<Lanes> values;
                  for (Value value : ArrayRef(results).slice(u * count, count))
                    values.push_back(lanes.vector(value));
                  writeResults(statement, stepAt(u), values);
                }
              });
}

void ProgramEmitter::emitColumnsInMemory(Statement &statement, int reduced) {
  constexpr int64_t rowsAtOnce = 8;
  bool shared = program.sharedRow >= 0;
  Index low = shared ? stripLow : Index(0);
  Index high = shared ? stripHigh : lanes.index(statement.loops[statement.vectorLoop].extent);
  auto forEachVector = [&](function_ref<SmallVector<Lanes>(const Step &)> results) {
    forEachStep(low, high, statement.width, statement.scalarTail, {1}, [&](const Step &step, int64_t) {
      beginStep(step);
      writeResults(statement, step, results(step));
      forwarded.clear();
    });
  };
  forEachVector([&](const Step &step) {
    SmallVector<Lanes> values;
    for (unsigned i = 0; i < statement.outs.size(); ++i)
      values.push_back(initialValue(statement, i, step));
    return values;
  });
  auto addRows = [&](Index first, int64_t count) {
    forEachVector([&](const Step &step) {
      SmallVector<Lanes> values;
      for (const Access &out : statement.outs) {
        const Storage &storage = program.storages[out.storage];
        values.push_back(lanes.load(storage.flat, addressOf(statement, storage, out.address, step),
                                    laneStride(statement, storage, out.address)));
      }
      for (int64_t row = 0; row < count; ++row) {
        loopIndices[&statement][reduced] = lanes.add(first, row);
        values = evaluate(statement, step, values);
      }
      return values;
    });
  };
  Index extent = lanes.index(statement.loops[reduced].extent), full = lanes.multiple(extent, rowsAtOnce);
  emitLoop(0, full, rowsAtOnce, {}, [&](Index first, ValueRange) {
    addRows(first, rowsAtOnce);
    return Results();
  });
  if (!extent.isConstant())
    emitLoop(full, extent, 1, {}, [&](Index row, ValueRange) {
      addRows(row, 1);
      return Results();
    });
  else if (full.constant < extent.constant)
    addRows(full, extent.constant - full.constant);
}
