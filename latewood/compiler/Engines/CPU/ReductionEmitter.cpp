// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions along the vector loop: several vectors of partial results are carried through the loops, and combined at
// the end, first with one another, then their lanes, then with the initial value. Other statements of the phase (the
// exp of a softmax, whose sum is taken) are written in the same loop and pass their values on in registers.

#include "latewood/compiler/Engines/CPU/ProgramEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::cpu;

/// Vectors of partial results: they hide the latency of the combining operation.
static constexpr int64_t partials = 4;

static arith::AtomicRMWKind toAtomicKind(vector::CombiningKind kind, Type type) {
  bool isFloat = isa<FloatType>(type);
  switch (kind) {
  case vector::CombiningKind::ADD:
    return isFloat ? arith::AtomicRMWKind::addf : arith::AtomicRMWKind::addi;
  case vector::CombiningKind::MUL:
    return isFloat ? arith::AtomicRMWKind::mulf : arith::AtomicRMWKind::muli;
  case vector::CombiningKind::MINUI:
    return arith::AtomicRMWKind::minu;
  case vector::CombiningKind::MINSI:
    return arith::AtomicRMWKind::mins;
  case vector::CombiningKind::MINNUMF:
    return arith::AtomicRMWKind::minnumf;
  case vector::CombiningKind::MAXUI:
    return arith::AtomicRMWKind::maxu;
  case vector::CombiningKind::MAXSI:
    return arith::AtomicRMWKind::maxs;
  case vector::CombiningKind::MAXNUMF:
    return arith::AtomicRMWKind::maxnumf;
  case vector::CombiningKind::AND:
    return arith::AtomicRMWKind::andi;
  case vector::CombiningKind::OR:
    return arith::AtomicRMWKind::ori;
  case vector::CombiningKind::XOR:
    return arith::AtomicRMWKind::xori;
  case vector::CombiningKind::MAXIMUMF:
    return arith::AtomicRMWKind::maximumf;
  case vector::CombiningKind::MINIMUMF:
    return arith::AtomicRMWKind::minimumf;
  }
  llvm_unreachable("all kinds are handled");
}

/// Results of combining two sets of partial results, all vectors or all scalars.
ProgramEmitter::Results ProgramEmitter::combine(Statement &statement, ValueRange lhs, ValueRange rhs) {
  Results results;
  if (statement.combiner.kind == Combiner::Kind::Simple) {
    for (auto [i, kind] : llvm::enumerate(statement.combiner.kinds)) {
      // The statement's own operation, with its flags.
      Operation *op = statement.op.getBody()->getTerminator()->getOperand(i).getDefiningOp();
      Operation *clone = b.clone(*op);
      clone->setOperands({lhs[i], rhs[i]});
      clone->getResult(0).setType(lhs[i].getType());
      results.push_back(clone->getResult(0));
    }
    return results;
  }
  // The body with the second set as its inputs.
  Block *body = statement.op.getBody();
  LaneBuilder builder(b, loc);
  auto vectorType = dyn_cast<VectorType>(lhs.front().getType());
  builder.width = vectorType ? vectorType.getNumElements() : 1;
  DenseMap<Value, Lanes> values;
  for (auto [i, value] : llvm::enumerate(rhs))
    values[body->getArgument(i)] = builder.vector(value);
  for (auto [i, value] : llvm::enumerate(lhs))
    values[body->getArgument(statement.inputs.size() + i)] = builder.vector(value);
  addOuterScalars(body, values);
  for (Operation &nested : body->without_terminator()) {
    SmallVector<Lanes> operands;
    for (Value value : nested.getOperands())
      operands.push_back(values.lookup(value));
    for (auto [from, to] : llvm::zip(nested.getResults(), builder.apply(&nested, operands)))
      values[from] = to;
  }
  for (Value value : body->getTerminator()->getOperands())
    results.push_back(builder.widen(values.lookup(value)));
  return results;
}

/// Steps from `low` on to `high`, which is known when the program runs; the last one is masked.
ProgramEmitter::Results ProgramEmitter::emitRest(Index low, Index high, int64_t width, ValueRange carried,
                                                 function_ref<Results(const Step &, ValueRange)> emitStep) {
  Index full = lanes.multiple(high, width);
  Results results = emitLoop(low, full, width, carried,
                             [&](Index at, ValueRange values) { return emitStep({at, width, nullptr}, values); });
  if (width == 1)
    return results;
  Value from = lanes.materialize(full), to = lanes.materialize(high);
  Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, from, to);
  auto branch = scf::IfOp::create(b, loc, ValueRange(results).getTypes(), more, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value mask = vector::CreateMaskOp::create(b, loc, VectorType::get({width}, b.getI1Type()),
                                            Value(arith::SubIOp::create(b, loc, to, from)));
  scf::YieldOp::create(b, loc, emitStep({full, width, mask}, results));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, results);
  return Results(branch.getResults());
}

void ProgramEmitter::emitAcross(Phase &phase) {
  int64_t width = phase.width;
  // Reductions carry values; other statements of the phase only pass through.
  SmallVector<Statement *> reductions;
  for (int s : phase.statements)
    if (program.statements[s].loops[program.statements[s].vectorLoop].reduction)
      reductions.push_back(&program.statements[s]);
  Statement &first = *reductions.front();
  const SymbolicSize &extent = first.loops[first.vectorLoop].extent;
  int64_t unroll = std::clamp<int64_t>(extent.typical() / width, 1, partials);
  unroll = int64_t(1) << llvm::Log2_64(unroll);
  // With one accumulator per result and vector, the registers limit the number of vectors.
  int64_t count = 0;
  for (Statement *statement : reductions)
    count += statement->outs.size();
  if (count > 2)
    unroll = 1;

  // Where partial results start: at the identity, or at the initial value, which is one.
  Step whole;
  whole.width = width;
  Results identity;
  for (Statement *statement : reductions)
    for (unsigned i = 0; i < statement->outs.size(); ++i) {
      Type type = statement->getAccumulatorType(i);
      beginStep(Step());
      Lanes start;
      if (statement->combiner.kind == Combiner::Kind::Simple)
        start = LaneBuilder::uniform(arith::ConstantOp::create(
            b, loc, arith::getIdentityValueAttr(toAtomicKind(statement->combiner.kinds[i], type), type, b, loc)));
      else
        start = initialValue(*statement, i, Step());
      beginStep(whole);
      identity.push_back(lanes.widen(start));
    }
  Results accumulators;
  for (int64_t u = 0; u < unroll; ++u)
    llvm::append_range(accumulators, identity);

  // One vector of all statements: takes and gives `count` accumulators.
  auto emitStep = [&](const Step &step, ValueRange carried) {
    beginStep(step);
    forwarded.clear();
    Results out;
    unsigned next = 0;
    for (int s : phase.statements) {
      Statement &statement = program.statements[s];
      if (!statement.loops[statement.vectorLoop].reduction) {
        SmallVector<Lanes> old;
        for (unsigned i = 0; i < statement.outs.size(); ++i)
          old.push_back(statement.inits[i].kind != Access::Kind::None ? initialValue(statement, i, step) : Lanes());
        writeResults(statement, step, evaluate(statement, step, old));
        continue;
      }
      SmallVector<Lanes> in;
      for (unsigned i = 0; i < statement.outs.size(); ++i)
        in.push_back(lanes.vector(carried[next + i]));
      for (auto [i, value] : llvm::enumerate(evaluate(statement, step, in))) {
        Value result = lanes.widen(value);
        if (step.mask)
          result = arith::SelectOp::create(b, loc, step.mask, result, carried[next + i]);
        out.push_back(result);
      }
      next += statement.outs.size();
    }
    return out;
  };

  SmallVector<int> outer = first.innerLoops(/*reduction=*/true);
  accumulators = emitReductionLoops(first, outer, accumulators, [&](Index, ValueRange carriedIn) {
    int64_t size = unroll * width;
    Index end = lanes.index(extent), main = lanes.multiple(end, size);
    Results carried = emitLoop(0, main, size, carriedIn, [&](Index at, ValueRange values) {
      Results out;
      for (int64_t u = 0; u < unroll; ++u) {
        Step step{lanes.add(at, u * width), width, nullptr};
        llvm::append_range(out, emitStep(step, values.slice(u * count, count)));
      }
      return out;
    });
    if (!end.isConstant()) {
      // The rest goes into the first of the vectors: full ones, then a masked one.
      Results rest = emitRest(main, end, width, ValueRange(carried).take_front(count), emitStep);
      std::copy(rest.begin(), rest.end(), carried.begin());
      return carried;
    }
    int64_t at = main.constant;
    for (int64_t u = 0; at < end.constant; ++u, at += width) {
      Step step{Index(at), width, nullptr};
      if (end.constant - at < width)
        step.mask = makeMask(b, loc, width, end.constant - at);
      unsigned slot = (u % unroll) * count;
      Results out = emitStep(step, ValueRange(carried).slice(slot, count));
      std::copy(out.begin(), out.end(), carried.begin() + slot);
    }
    return carried;
  });
  forwarded.clear();

  // Combine the vectors, then the lanes, then the initial value.
  unsigned next = 0;
  for (Statement *statement : reductions) {
    unsigned results = statement->outs.size();
    SmallVector<Results> vectors;
    for (int64_t u = 0; u < unroll; ++u)
      vectors.push_back(Results(ArrayRef(accumulators).slice(u * count + next, results)));
    next += results;
    while (vectors.size() > 1) {
      SmallVector<Results> halves;
      for (unsigned i = 0; i + 1 < vectors.size(); i += 2)
        halves.push_back(combine(*statement, vectors[i], vectors[i + 1]));
      vectors = halves;
    }
    Step last;
    beginStep(last);
    Results initial, final;
    for (unsigned i = 0; i < results; ++i)
      initial.push_back(initialValue(*statement, i, last).value);
    if (width == 1) {
      final = combine(*statement, initial, vectors.front());
    } else if (statement->combiner.kind == Combiner::Kind::Simple) {
      Results scalars;
      for (unsigned i = 0; i < results; ++i)
        scalars.push_back(reduceLanes(*statement, i, vectors.front()[i]));
      final = combine(*statement, initial, scalars);
    } else {
      final = initial;
      for (int64_t lane = 0; lane < width; ++lane) {
        Results scalars;
        for (Value vector : vectors.front())
          scalars.push_back(vector::ExtractOp::create(b, loc, vector, lane));
        final = combine(*statement, final, scalars);
      }
    }
    SmallVector<Lanes> values;
    for (Value value : final)
      values.push_back(LaneBuilder::uniform(value));
    beginStep(last);
    writeResults(*statement, last, values);
  }
}

Value ProgramEmitter::reduceLanes(Statement &statement, unsigned result, Value vector) {
  vector::CombiningKind kind = statement.combiner.kinds[result];
  Type type = getElementTypeOrSelf(vector.getType());
  bool reassociate = isa<FloatType>(type) && (kind == vector::CombiningKind::ADD || kind == vector::CombiningKind::MUL);
  return vector::ReductionOp::create(b, loc, kind, vector,
                                     reassociate ? arith::FastMathFlags::reassoc : arith::FastMathFlags::none);
}
