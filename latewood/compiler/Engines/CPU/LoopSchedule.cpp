// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The choices for a program: along which loop each statement is vectorized, how many lanes, and which statements share
// a loop nest. All are made by counting accesses; nothing is tried out.

#include "latewood/compiler/Engines/CPU/LoopProgram.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::cpu;

/// Bits of the widest element that the statement computes with: it decides how many lanes a register has.
static unsigned widestElement(const Statement &statement) {
  unsigned bits = 8;
  auto consider = [&](Type type) {
    if (type.isIntOrFloat())
      bits = std::max(bits, llvm::bit_ceil(type.getIntOrFloatBitWidth()));
  };
  Block *body = const_cast<Statement &>(statement).op.getBody();
  for (BlockArgument argument : body->getArguments())
    if (!argument.use_empty())
      consider(argument.getType());
  for (Type type : statement.accumulatorTypes)
    consider(type);
  for (Operation &nested : body->without_terminator())
    if (!nested.hasTrait<OpTrait::ConstantLike>())
      for (Type type : nested.getResultTypes())
        consider(type);
  return bits;
}

/// What one element costs when the statement is vectorized along `loop`, relative to a stream of full vectors; infinite
/// if it cannot be.
static double costAlong(const Statement &statement, unsigned loop, unsigned lanes) {
  constexpr double infinite = 1e30;
  if (!statement.notVectorizable.empty())
    return infinite;
  if (statement.loops[loop].reduction && (statement.combiner.kind == Combiner::Kind::None || statement.scalarTail))
    return infinite;
  double cost = 1;
  // Narrow elements that lie apart are moved one by one: there are no gathers of bytes.
  Block *body = const_cast<Statement &>(statement).op.getBody();
  auto add = [&](const Access &access, unsigned argument, double strided, double oneByOne) {
    Type type = body->getArgument(argument).getType();
    if (type.isIntOrFloat() && type.getIntOrFloatBitWidth() < 32)
      strided = std::max(strided, oneByOne * lanes);
    if (access.kind == Access::Kind::Indexed) {
      cost += 12;
    } else if (access.kind == Access::Kind::Linear) {
      const SymbolicSize &stride = access.address.strides[loop];
      cost += stride == 0 ? 0.25 : stride == 1 ? 1 : stride == -1 ? 2 : strided;
    }
  };
  unsigned argument = 0;
  for (const Access &access : statement.inputs)
    add(access, argument++, 12, 1);
  for (const Access &access : statement.outs)
    add(access, argument++, 16, 2);
  // A reduction ends with a few steps across the lanes.
  if (statement.loops[loop].reduction)
    cost *= 1.25;
  return cost / std::min<int64_t>(std::max<int64_t>(1, statement.loops[loop].extent.typical()), lanes);
}

static constexpr double scalarCost = 3;

static unsigned lanesOf(const Statement &statement, const target::Target &target) {
  return std::clamp(target.getLanes(widestElement(statement)), 1u, 64u);
}

static int bestInnerLoop(const Statement &statement, unsigned lanes, double &cost) {
  int best = -1;
  cost = scalarCost;
  for (unsigned loop = 0; loop < statement.loops.size(); ++loop) {
    if (!statement.isInner(loop))
      continue;
    double along = costAlong(statement, loop, lanes);
    // The last loop of equally good ones is the one with the smallest strides.
    if (along <= cost) {
      cost = along;
      best = loop;
    }
  }
  return best;
}

static int rowLoop(const Statement &statement, int row) {
  for (auto [i, loop] : llvm::enumerate(statement.loops))
    if (loop.row == row)
      return i;
  return -1;
}

/// A single elementwise statement that reads some input along another row than it writes.
static void findTransposition(Program &program) {
  if (program.statements.size() != 1 || program.sharedRow < 0)
    return;
  Statement &statement = program.statements.front();
  if (statement.hasReduction() || statement.width < 4 || statement.scalarTail ||
      llvm::any_of(statement.loops, [](const Loop &loop) { return loop.row < 0; }))
    return;
  for (const Access &out : statement.outs)
    if (out.kind != Access::Kind::Linear || out.address.strides[statement.vectorLoop] != 1)
      return;
  for (const Access &access : statement.inputs) {
    if (access.kind != Access::Kind::Linear)
      continue;
    const SymbolicSize &along = access.address.strides[statement.vectorLoop];
    if (along == 0 || along == 1)
      continue;
    for (auto [l, loop] : llvm::enumerate(statement.loops))
      if (int(l) != statement.vectorLoop && access.address.strides[l] == 1 && loop.extent.typical() >= 4) {
        program.transposedRow = loop.row;
        // The tile is a square, and its rows lie in registers.
        statement.width = std::min(statement.width, 16u);
        return;
      }
  }
}

int Statement::columnLoop(const Program &program) const {
  if (vectorLoop < 0 || loops[vectorLoop].reduction || loops[vectorLoop].extent.typical() < 256 ||
      !innerLoops(false).empty())
    return -1;
  SmallVector<int> reduced = innerLoops(/*reduction=*/true);
  if (reduced.size() != 1 || loops[reduced[0]].extent.typical() < 32)
    return -1;
  auto op = linalg::GenericOp(this->op);
  for (auto [i, out] : llvm::enumerate(outs)) {
    const Storage &storage = program.storages[out.storage];
    Type accumulator = op.getBody()->getArgument(inputs.size() + i).getType();
    if (!storage.memref || storage.elementType != accumulator || out.kind != Access::Kind::Linear ||
        out.address.strides[vectorLoop] != 1 || inits[i].kind == Access::Kind::Indexed)
      return -1;
  }
  bool farApart = llvm::any_of(inputs, [&](const Access &access) {
    return access.kind == Access::Kind::Linear && access.address.strides[reduced[0]].typical() >= 512 &&
           access.address.strides[vectorLoop] == 1;
  });
  return farApart ? reduced[0] : -1;
}

static void chooseVectorLoops(Program &program, const target::Target &target) {
  SmallVector<unsigned> lanes;
  for (Statement &statement : program.statements)
    lanes.push_back(lanesOf(statement, target));

  double innerCost = 0;
  SmallVector<int> inner;
  for (auto [i, statement] : llvm::enumerate(program.statements)) {
    double cost;
    inner.push_back(bestInnerLoop(statement, lanes[i], cost));
    innerCost += cost * statement.iterations();
  }
  double bestCost = innerCost;
  for (int row = program.rows.size() - 1; row >= 0; --row) {
    double cost = 0;
    for (auto [i, statement] : llvm::enumerate(program.statements))
      cost += costAlong(statement, rowLoop(statement, row), lanes[i]) * statement.iterations();
    if (cost < bestCost) {
      bestCost = cost;
      program.sharedRow = row;
    }
  }

  for (auto [i, statement] : llvm::enumerate(program.statements)) {
    statement.vectorLoop = program.sharedRow >= 0 ? rowLoop(statement, program.sharedRow) : inner[i];
    statement.width = 1;
    if (statement.vectorLoop < 0)
      continue;
    int64_t extent = std::max<int64_t>(1, statement.loops[statement.vectorLoop].extent.typical());
    statement.width = std::min<int64_t>(lanes[i], llvm::bit_ceil(uint64_t(extent)));
  }
  findTransposition(program);
  if (program.sharedRow >= 0)
    for (Storage &storage : program.storages)
      storage.perStrip = !storage.memref;
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

/// True if the statement is one loop: the vector loop.
static bool isOneLoop(const Statement &statement) {
  return statement.vectorLoop >= 0 && statement.innerLoops(true).empty() && statement.innerLoops(false).empty();
}

/// The element that `access` touches, as a function of rows and the vector loop.
static SmallVector<SymbolicSize> signature(const Program &program, const Statement &statement, const Access &access) {
  SmallVector<SymbolicSize> result(program.rows.size() + 2, SymbolicSize(0));
  for (auto [l, loop] : llvm::enumerate(statement.loops))
    result[loop.row >= 0 ? loop.row : program.rows.size()] = access.address.strides[l];
  result.back() = access.address.offset;
  return result;
}

/// Whether `consumer` can take the values of `producer` while they are in registers.
static bool canForward(const Program &program, const Statement &producer, const Statement &consumer) {
  if (!isOneLoop(producer) || !isOneLoop(consumer))
    return false;
  if (producer.loops[producer.vectorLoop].reduction ||
      producer.loops[producer.vectorLoop].extent != consumer.loops[consumer.vectorLoop].extent)
    return false;
  linalg::GenericOp producerOp = producer.op, consumerOp = consumer.op;
  for (auto extract : consumerOp.getBody()->getOps<tensor::ExtractOp>())
    if (extract.getTensor().getDefiningOp() == producerOp)
      return false;
  for (const SmallVector<Access> *accesses : {&consumer.inputs, &consumer.inits})
    for (const Access &access : *accesses) {
      if (!access.tensor || access.tensor.getDefiningOp() != producerOp)
        continue;
      const Access &out = producer.outs[cast<OpResult>(access.tensor).getResultNumber()];
      if (access.kind != Access::Kind::Linear || out.kind != Access::Kind::Linear ||
          signature(program, consumer, access) != signature(program, producer, out))
        return false;
    }
  return true;
}

static void formPhases(Program &program) {
  SmallVector<int> phaseOf;
  for (auto [i, statement] : llvm::enumerate(program.statements)) {
    int first = 0;
    auto require = [&](Value tensor) {
      int producer = tensor ? program.findProducer(tensor) : -1;
      if (producer < 0 || producer >= int(i))
        return;
      bool forward = canForward(program, program.statements[producer], statement);
      first = std::max(first, phaseOf[producer] + (forward ? 0 : 1));
    };
    for (const SmallVector<Access> *accesses : {&statement.inputs, &statement.inits})
      for (const Access &access : *accesses)
        require(access.tensor);
    for (auto extract : statement.op.getBody()->getOps<tensor::ExtractOp>())
      require(extract.getTensor());

    int chosen = -1;
    if (isOneLoop(statement))
      for (int p = first, e = program.phases.size(); p < e && chosen < 0; ++p) {
        const Statement &other = program.statements[program.phases[p].statements.front()];
        if (isOneLoop(other) && other.loops[other.vectorLoop].extent == statement.loops[statement.vectorLoop].extent)
          chosen = p;
      }
    if (chosen < 0) {
      chosen = program.phases.size();
      program.phases.emplace_back();
    }
    program.phases[chosen].statements.push_back(i);
    program.phases[chosen].width = std::max(program.phases[chosen].width, statement.width);
    phaseOf.push_back(chosen);
  }
  // All statements of a phase have as many lanes as the one with the widest elements.
  for (Phase &phase : program.phases) {
    phase.width = program.statements[phase.statements.front()].width;
    for (int s : phase.statements)
      phase.width = std::min(phase.width, program.statements[s].width);
    for (int s : phase.statements)
      program.statements[s].width = phase.width;
  }
  // Which row-local tensors need memory.
  auto read = [&](Value tensor, int phase) {
    int producer = tensor ? program.findProducer(tensor) : -1;
    if (producer >= 0 && phaseOf[producer] != phase)
      program.storages[program.findStorage(tensor)].needed = true;
  };
  for (auto [i, statement] : llvm::enumerate(program.statements)) {
    for (const SmallVector<Access> *accesses : {&statement.inputs, &statement.inits})
      for (const Access &access : *accesses)
        read(access.tensor, phaseOf[i]);
    for (auto extract : statement.op.getBody()->getOps<tensor::ExtractOp>())
      read(extract.getTensor(), -1);
  }
}

void cpu::schedule(Program &program, const target::Target &target) {
  for (Statement &statement : program.statements)
    promoteNarrowFloats(statement);
  chooseVectorLoops(program, target);
  formPhases(program);
}
