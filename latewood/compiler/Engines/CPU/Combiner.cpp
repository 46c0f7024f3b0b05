// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the partial results of a reduction may be combined: what allows several accumulators, one per lane of a vector.
//
//   Simple   one operation of which an identity is known: accumulators start from that
//   Monoid   any body that combines what it is given with what it has: accumulators start from the initial values, and
//   so
//            take them several times, which is right only for values that do not change by that
//   None     one accumulator, in order

#include "latewood/compiler/Engines/CPU/LoopProgram.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::cpu;
using linalg::GenericOp;

/// The operation that combines result `result` with its accumulator, if that is all that happens to the accumulator.
static std::optional<vector::CombiningKind> matchSimpleCombiner(GenericOp op, unsigned result) {
  Block *body = op.getBody();
  BlockArgument accumulator = body->getArgument(op.getNumDpsInputs() + result);
  Operation *combine = body->getTerminator()->getOperand(result).getDefiningOp();
  if (!combine || combine->getBlock() != body || !accumulator.hasOneUse() ||
      *accumulator.getUsers().begin() != combine || combine->getNumOperands() != 2 ||
      !combine->getResult(0).hasOneUse())
    return std::nullopt;
  if (isa<arith::AddFOp, arith::MulFOp>(combine) &&
      !bitEnumContainsAll(cast<arith::ArithFastMathInterface>(combine).getFastMathFlagsAttr().getValue(),
                          arith::FastMathFlags::reassoc))
    return std::nullopt;
  return linalg::getCombinerOpKind(combine);
}

Combiner cpu::matchCombiner(GenericOp op) {
  Combiner combiner;
  for (unsigned i = 0; i < op.getNumResults() + op.hasPureBufferSemantics() * op.getNumDpsInits(); ++i) {
    std::optional<vector::CombiningKind> kind = matchSimpleCombiner(op, i);
    if (!kind)
      break;
    combiner.kinds.push_back(*kind);
  }
  unsigned results = op.getNumDpsInits();
  if (combiner.kinds.size() == results) {
    combiner.kind = Combiner::Kind::Simple;
    return combiner;
  }
  combiner.kinds.clear();
  // The reducer of stablehlo.reduce, not fused with anything: inputs pair with accumulators.
  Block *body = op.getBody();
  bool monoid = op.getNumDpsInputs() == int64_t(results);
  for (unsigned i = 0; monoid && i < results; ++i)
    monoid = body->getArgument(i).getType() == body->getArgument(results + i).getType();
  monoid = monoid && !body->walk([](Operation *nested) {
                            bool ordered = isa<linalg::IndexOp, tensor::ExtractOp>(nested);
                            if (auto math = dyn_cast<arith::ArithFastMathInterface>(nested))
                              ordered |= isa<arith::AddFOp, arith::MulFOp>(nested) &&
                                         !bitEnumContainsAll(math.getFastMathFlagsAttr().getValue(),
                                                             arith::FastMathFlags::reassoc);
                            return ordered ? WalkResult::interrupt() : WalkResult::advance();
                          })
                          .wasInterrupted();
  if (monoid)
    combiner.kind = Combiner::Kind::Monoid;
  return combiner;
}

/// Whether the initial values, combined with themselves, are themselves: then it does not matter how often they are
/// taken. Seen where they are constants and the body folds.
static bool startsAtIdentity(Statement &statement) {
  Block *body = statement.op.getBody();
  DenseMap<Value, Attribute> values;
  for (auto [i, init] : llvm::enumerate(statement.inits)) {
    if (!init.constant)
      return false;
    values[body->getArgument(i)] = init.constant;
    values[body->getArgument(statement.inputs.size() + i)] = init.constant;
  }
  for (Operation &op : body->without_terminator()) {
    SmallVector<Attribute> operands;
    for (Value operand : op.getOperands()) {
      Attribute value = values.lookup(operand);
      if (!value)
        matchPattern(operand, m_Constant(&value));
      operands.push_back(value);
    }
    // Folding may change an operation.
    Operation *copy = op.clone();
    SmallVector<OpFoldResult> results;
    if (succeeded(copy->fold(operands, results)) && results.size() == op.getNumResults())
      for (auto [result, folded] : llvm::zip_equal(op.getResults(), results)) {
        auto same = dyn_cast<Value>(folded);
        values[result] = same ? values.lookup(same) : cast<Attribute>(folded);
      }
    copy->destroy();
  }
  return llvm::all_of(llvm::enumerate(statement.inits), [&](auto entry) {
    return values.lookup(body->getTerminator()->getOperand(entry.index())) == entry.value().constant;
  });
}

void cpu::keepOrderUnlessIdentity(Statement &statement) {
  if (statement.combiner.kind == Combiner::Kind::Monoid && statement.hasReduction() && !startsAtIdentity(statement))
    statement.combiner.kind = Combiner::Kind::None;
}
