// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A large reduction to few values becomes two: partial results of equal parts, in parallel, and their combination.
//
// The number of parts depends on the shape alone, so that the result does not depend on the number of threads. Order is
// free for what stablehlo.reduce means, and only reductions with one commutative operation (a sum, a maximum) are
// split: those have an identity to start the parts from.
//
// Where the extent is known when the program runs, parts have a fixed length, and what is left over is reduced first,
// as the initial value of the combination. A short reduction has no parts then, and costs what it did.
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
constexpr int64_t dynamicPartWork = 1 << 13; // elements of a part of fixed length: several of them make a task

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

/// Whether each operand that depends on `loop` has it as a dimension of its own, and a known shape.
bool usesAsDimension(GenericOp op, unsigned loop) {
  if (!llvm::all_of(op.getDpsInputs(), [](Value input) {
        return !isa<ShapedType>(input.getType()) || getSymbolicShape(input).has_value();
      }))
    return false;
  return llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
    return llvm::all_of(map.getResults(),
                        [&](AffineExpr expr) { return isa<AffineDimExpr>(expr) || !expr.isFunctionOfDim(loop); });
  });
}

/// `op` on what `loop` comes to from `begin` on.
SmallVector<Value> reduceRest(OpBuilder &builder, GenericOp op, unsigned loop, const SymbolicSize &extent,
                              const SymbolicSize &begin) {
  Location loc = op.getLoc();
  OpFoldResult offset = begin.materializeFold(builder, loc), size = (extent - begin).materializeFold(builder, loc);
  SmallVector<Value> inputs;
  for (OpOperand *input : op.getDpsInputOperands()) {
    inputs.push_back(input->get());
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!map.isFunctionOfDim(loop))
      continue;
    auto type = cast<RankedTensorType>(input->get().getType());
    SmallVector<OpFoldResult> offsets, sizes, strides(type.getRank(), builder.getIndexAttr(1));
    std::optional<SmallVector<SymbolicSize>> shape = getSymbolicShape(input->get());
    for (auto [d, expr] : llvm::enumerate(map.getResults())) {
      bool isCut = expr == builder.getAffineDimExpr(loop);
      offsets.push_back(isCut ? offset : OpFoldResult(builder.getIndexAttr(0)));
      sizes.push_back(isCut ? size : (*shape)[d].materializeFold(builder, loc));
    }
    inputs.back() = tensor::ExtractSliceOp::create(builder, loc, inputs.back(), offsets, sizes, strides);
  }
  IRMapping mapping;
  mapping.map(op.getDpsInputs(), inputs);
  return llvm::to_vector_of<Value>(builder.clone(*op, mapping)->getResults());
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
    std::optional<SmallVector<SymbolicSize>> extents = getLoopExtents(op);
    if (!extents)
      return;
    SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
    int64_t rows = 1, work = 1;
    int chosen = -1;
    for (auto [loop, extent] : llvm::enumerate(*extents)) {
      work *= extent.typical();
      if (iterators[loop] == utils::IteratorType::parallel)
        rows *= extent.typical();
      else if (chosen < 0 && extent.typical() > 1 && !usesIndex(op, loop))
        chosen = loop; // the outermost: its parts are contiguous
    }
    if (chosen < 0 || rows >= enoughRows || (allConstant(*extents) && work < 4 * partWork))
      return;
    Combiner combiner = matchCombiner(op);
    if (combiner.kind != Combiner::Kind::Simple)
      return;
    const SymbolicSize &extent = (*extents)[chosen];
    OpBuilder builder(op);
    Location loc = op.getLoc();
    // Where the extent is not constant, nor is the number of parts.
    int64_t parts = ShapedType::kDynamic, length;
    Value dynamicParts;
    SmallVector<Value> initials = op.getDpsInits();
    if (extent.isConstant()) {
      int64_t wanted = allConstant(*extents) ? work / partWork : mostParts;
      parts = largestDivisor(extent.getConstant(), std::min(mostParts, wanted));
      if (parts < 4)
        return;
      length = extent.getConstant() / parts;
    } else {
      if (!usesAsDimension(op, chosen))
        return;
      length = llvm::bit_floor(uint64_t(std::max<int64_t>(1, dynamicPartWork / (work / extent.typical()))));
      dynamicParts = arith::DivUIOp::create(builder, loc, extent.materialize(builder, loc),
                                            arith::ConstantIndexOp::create(builder, loc, length));
      initials = reduceRest(builder, op, chosen, extent, getSymbolicSize(dynamicParts) * length);
    }

    // Loop `chosen` becomes `parts` (a new last dimension) times `length`.
    MLIRContext *context = op.getContext();
    unsigned numLoops = extents->size(), part = numLoops;
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
      SmallVector<Value> sizes;
      if (dynamicParts)
        sizes.push_back(dynamicParts);
      if (!type.hasStaticShape()) {
        std::optional<SmallVector<SymbolicSize>> known = getSymbolicShape(init);
        if (!known)
          return;
        for (auto [size, staticSize] : llvm::zip_equal(*known, type.getShape()))
          if (ShapedType::isDynamic(staticSize))
            sizes.push_back(size.materialize(builder, loc));
      }
      Value empty = tensor::EmptyOp::create(builder, loc, shape, element, sizes);
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
    auto last = GenericOp::create(builder, loc, op.getResultTypes(), first.getResults(), initials, lastMaps,
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
