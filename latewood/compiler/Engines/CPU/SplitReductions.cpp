// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A large reduction to few values becomes two: partial results of equal parts, in parallel, and their combination.
//
// The number of parts depends on the shape alone, so that the result does not depend on the number of threads. Order is
// free for what stablehlo.reduce means, and only reductions with one commutative operation (a sum, a maximum) are
// split: those have an identity to start the parts from.
//
// In: linalg.generic on tensors. Out: the same, where no reduction with enough work for several tasks has fewer rows
// than that, unless its extents have no suitable divisor.

#include "latewood/compiler/Engines/CPU/LoopProgram.h"
#include "latewood/compiler/Engines/CPU/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace latewood::cpu {
#define GEN_PASS_DEF_SPLITREDUCTIONSPASS
#include "latewood/compiler/Engines/CPU/Passes.h.inc"
} // namespace latewood::cpu

using namespace mlir;
using namespace latewood;
using namespace latewood::cpu;
using linalg::GenericOp;

namespace {

constexpr int64_t enoughRows = 16;
constexpr int64_t partWork = 1 << 16; // elements
constexpr int64_t mostParts = 256;

/// The largest divisor of `extent` that is not above `limit`.
int64_t largestDivisor(int64_t extent, int64_t limit) {
  for (int64_t divisor = std::min(extent, limit); divisor > 1; --divisor)
    if (extent % divisor == 0)
      return divisor;
  return 1;
}

bool usesIndex(GenericOp op, unsigned loop) {
  return llvm::any_of(op.getBody()->getOps<linalg::IndexOp>(),
                      [&](linalg::IndexOp index) { return index.getDim() == loop; });
}

struct SplitReductionsPass : cpu::impl::SplitReductionsPassBase<SplitReductionsPass> {
  void runOnOperation() override {
    SmallVector<GenericOp> ops;
    getOperation().walk([&](GenericOp op) { ops.push_back(op); });
    for (GenericOp op : ops)
      split(op);
  }

  void split(GenericOp op) {
    if (op.getNumReductionLoops() == 0 || !op.hasPureTensorSemantics() || !findUnvectorizable(op).empty())
      return;
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
    int64_t rows = 1, work = 1;
    int chosen = -1;
    for (auto [loop, extent] : llvm::enumerate(ranges)) {
      work *= extent;
      if (iterators[loop] == utils::IteratorType::parallel)
        rows *= extent;
      else if (chosen < 0 && extent > 1 && !usesIndex(op, loop))
        chosen = loop; // the outermost: its parts are contiguous
    }
    if (chosen < 0 || rows >= enoughRows || work < 4 * partWork)
      return;
    Combiner combiner = matchCombiner(op);
    if (combiner.kind != Combiner::Kind::Simple)
      return;
    int64_t parts = largestDivisor(ranges[chosen], std::min(mostParts, work / partWork));
    if (parts < 4)
      return;

    // Loop `chosen` becomes `parts` (a new last dimension) times `length`.
    MLIRContext *context = op.getContext();
    unsigned numLoops = ranges.size(), part = numLoops;
    int64_t length = ranges[chosen] / parts;
    AffineExpr whole = getAffineDimExpr(part, context) * length + getAffineDimExpr(chosen, context);
    SmallVector<AffineExpr> replacements;
    for (unsigned loop = 0; loop < numLoops; ++loop)
      replacements.push_back(int(loop) == chosen ? whole : getAffineDimExpr(loop, context));
    SmallVector<AffineMap> maps;
    for (AffineMap map : op.getIndexingMapsArray())
      maps.push_back(map.replaceDimsAndSymbols(replacements, {}, numLoops + 1, 0));
    // An operand without contents says how long a part is.
    unsigned numInputs = op.getNumDpsInputs();
    maps.insert(maps.begin() + numInputs, AffineMap::get(numLoops + 1, 0, getAffineDimExpr(chosen, context), context));
    SmallVector<utils::IteratorType> partIterators = iterators;
    partIterators.push_back(utils::IteratorType::parallel);

    OpBuilder builder(op);
    Location loc = op.getLoc();
    SmallVector<Value> inputs = op.getDpsInputs();
    inputs.push_back(tensor::EmptyOp::create(builder, loc, ArrayRef<int64_t>{length}, builder.getI8Type()));
    SmallVector<Value> partials;
    SmallVector<Type> types;
    for (auto [i, init] : llvm::enumerate(op.getDpsInits())) {
      auto type = cast<RankedTensorType>(init.getType());
      SmallVector<int64_t> shape = {parts};
      llvm::append_range(shape, type.getShape());
      Type element = type.getElementType();
      Operation *combine = op.getBody()->getTerminator()->getOperand(i).getDefiningOp();
      std::optional<TypedAttr> identity = arith::getNeutralElement(combine);
      if (!identity)
        return;
      Value start = arith::ConstantOp::create(builder, loc, *identity);
      Value empty = tensor::EmptyOp::create(builder, loc, shape, element);
      SmallVector<AffineMap> fillMaps = {builder.getMultiDimIdentityMap(shape.size())};
      SmallVector<utils::IteratorType> parallel(shape.size(), utils::IteratorType::parallel);
      auto fill = GenericOp::create(
          builder, loc, TypeRange(empty.getType()), ValueRange(), ValueRange(empty), fillMaps, parallel,
          [&](OpBuilder &b, Location l, ValueRange) { linalg::YieldOp::create(b, l, start); });
      partials.push_back(fill.getResult(0));
      types.push_back(empty.getType());
      AffineMap &map = maps[numInputs + 1 + i];
      map = map.insertResult(getAffineDimExpr(part, context), 0);
    }
    auto first = GenericOp::create(builder, loc, types, inputs, partials, maps, partIterators);
    IRMapping mapping;
    op.getRegion().cloneInto(&first.getRegion(), mapping);
    first.getBody()->insertArgument(numInputs, builder.getI8Type(), loc);

    // The combination.
    SmallVector<AffineMap> lastMaps;
    SmallVector<utils::IteratorType> lastIterators = {utils::IteratorType::reduction};
    int64_t rank = cast<RankedTensorType>(op.getDpsInits().front().getType()).getRank();
    lastIterators.append(rank, utils::IteratorType::parallel);
    AffineMap identityMap = builder.getMultiDimIdentityMap(rank + 1);
    lastMaps.append(types.size(), identityMap);
    lastMaps.append(types.size(), identityMap.dropResult(0));
    auto last = GenericOp::create(builder, loc, op.getResultTypes(), first.getResults(), op.getDpsInits(), lastMaps,
                                  lastIterators, [&](OpBuilder &b, Location l, ValueRange arguments) {
                                    SmallVector<Value> results;
                                    for (unsigned i = 0; i < types.size(); ++i) {
                                      Operation *combine = op.getBody()->getTerminator()->getOperand(i).getDefiningOp();
                                      Operation *clone = b.clone(*combine);
                                      clone->setOperands({arguments[types.size() + i], arguments[i]});
                                      results.push_back(clone->getResult(0));
                                    }
                                    linalg::YieldOp::create(b, l, results);
                                  });
    op.replaceAllUsesWith(last.getResults());
    op.erase();
  }
};

} // namespace
