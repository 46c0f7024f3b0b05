// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reshapes around matrix products. Row-major reshapes only merge and split dimensions, and a product does not care into
// how many dimensions its rows are divided:
//   - a result that is collapsed is computed in the coarser shape, where all operands can be collapsed in the same way;
//   - a result that is expanded for an elementwise consumer is computed in the finer shape;
//   - a factor that is a collapsed view of a permuted copy is read in the finer shape, without the copy.
// What reshapes remain are views of the operands.

#include "latewood/compiler/Dialect/CPU/CPU.h"
#include "latewood/compiler/Engines/CPU/BufferExtents.h"
#include "latewood/compiler/Engines/CPU/FormContractions.h"
#include "latewood/compiler/Engines/CPU/SymbolicShapes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"

using namespace mlir;
using namespace latewood;
using cpu::ContractOp;
using cpu::SymbolicSize;

// The shapes of the operands; nothing where one is not known, or where its type says less than is known.
static std::optional<SmallVector<SmallVector<SymbolicSize>>> getOperandShapes(ContractOp contract) {
  SmallVector<SmallVector<SymbolicSize>> shapes;
  for (Value operand : contract.getOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    std::optional<SmallVector<SymbolicSize>> shape =
        type ? cpu::getSymbolicShape(operand) : SmallVector<SymbolicSize>();
    if (!shape || (type && ArrayRef(cpu::toStaticShape(*shape)) != type.getShape()))
      return std::nullopt;
    shapes.push_back(std::move(*shape));
  }
  return shapes;
}

static Value createEmpty(OpBuilder &builder, Location loc, ArrayRef<SymbolicSize> shape, Type element) {
  return tensor::EmptyOp::create(builder, loc, cpu::materializeFold(builder, loc, shape), element);
}

// For each dimension of a space that is split, the extents of its parts, outermost first.
using Splits = llvm::SmallDenseMap<unsigned, SmallVector<SymbolicSize>>;

// Splits dimensions of the space. Operands are reshaped accordingly; the result has the finer shape, and `groups` says
// which of its dimensions make one of the old result. Null where shapes are not known.
static ContractOp splitDims(ContractOp contract, const Splits &splits, RewriterBase &rewriter,
                            SmallVector<ReassociationIndices> &resultGroups) {
  auto shapes = getOperandShapes(contract);
  if (!shapes)
    return {};
  SmallVector<unsigned> first;
  unsigned numDims = 0;
  for (unsigned dim = 0, e = contract.getNumDims(); dim < e; ++dim) {
    first.push_back(numDims);
    auto split = splits.find(dim);
    numDims += split == splits.end() ? 1 : split->second.size();
  }
  Location loc = contract.getLoc();
  rewriter.setInsertionPoint(contract);
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  for (auto [operand, map, oldShape] : llvm::zip_equal(contract.getOperands(), contract.getMaps(), *shapes)) {
    SmallVector<AffineExpr> results;
    SmallVector<ReassociationIndices> groups;
    SmallVector<SymbolicSize> shape;
    for (auto [position, expression] : llvm::enumerate(map.getResults())) {
      unsigned old = cast<AffineDimExpr>(expression).getPosition();
      auto split = splits.find(old);
      groups.emplace_back();
      for (unsigned part = 0, e = split == splits.end() ? 1 : split->second.size(); part < e; ++part) {
        groups.back().push_back(results.size());
        results.push_back(rewriter.getAffineDimExpr(first[old] + part));
        shape.push_back(split == splits.end() ? oldShape[position] : split->second[part]);
      }
    }
    maps.push_back(AffineMap::get(numDims, 0, results, rewriter.getContext()));
    resultGroups = groups;
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || results.size() == map.getNumResults())
      operands.push_back(operand);
    else if (operand.getDefiningOp<tensor::EmptyOp>())
      operands.push_back(createEmpty(rewriter, loc, shape, type.getElementType()));
    else
      operands.push_back(tensor::ExpandShapeOp::create(
          rewriter, loc, RankedTensorType::get(cpu::toStaticShape(shape), type.getElementType()), operand, groups,
          cpu::materializeFold(rewriter, loc, shape)));
  }
  NamedAttrList attributes(contract->getAttrs());
  attributes.set(contract.getIndexingMapsAttrName(), rewriter.getAffineMapArrayAttr(maps));
  auto split = ContractOp::create(rewriter, loc, TypeRange(operands.back().getType()), operands, attributes);
  rewriter.inlineRegionBefore(contract.getEpilogue(), split.getEpilogue(), split.getEpilogue().end());
  return split;
}

// Makes one dimension of each group of dimensions of the space, whose members lie beside each other in every operand
// that has them. Operands are reshaped accordingly; the result has the coarser shape. Null where shapes are not known.
static ContractOp mergeDims(ContractOp contract, ArrayRef<SmallVector<unsigned>> groups, RewriterBase &rewriter) {
  auto shapes = getOperandShapes(contract);
  if (!shapes)
    return {};
  Location loc = contract.getLoc();
  rewriter.setInsertionPoint(contract);
  // A group is represented by its first dimension.
  SmallVector<bool> isGone(contract.getNumDims(), false);
  for (ArrayRef<unsigned> group : groups)
    for (unsigned dim : group.drop_front())
      isGone[dim] = true;
  SmallVector<unsigned> newDims;
  unsigned numDims = 0;
  for (bool gone : isGone)
    newDims.push_back(gone ? numDims : numDims++);

  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  for (auto [operand, map, oldShape] : llvm::zip_equal(contract.getOperands(), contract.getMaps(), *shapes)) {
    SmallVector<AffineExpr> results;
    SmallVector<ReassociationIndices> reassociation;
    SmallVector<SymbolicSize> shape;
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    for (auto [position, expression] : llvm::enumerate(map.getResults())) {
      unsigned dim = cast<AffineDimExpr>(expression).getPosition();
      if (isGone[dim]) {
        reassociation.back().push_back(position);
        shape.back() *= oldShape[position];
        continue;
      }
      reassociation.push_back({static_cast<int64_t>(position)});
      shape.push_back(oldShape[position]);
      results.push_back(rewriter.getAffineDimExpr(newDims[dim]));
    }
    maps.push_back(AffineMap::get(numDims, 0, results, rewriter.getContext()));
    if (!type || results.size() == map.getNumResults())
      operands.push_back(operand);
    else if (operand.getDefiningOp<tensor::EmptyOp>())
      operands.push_back(createEmpty(rewriter, loc, shape, type.getElementType()));
    else
      operands.push_back(tensor::CollapseShapeOp::create(
          rewriter, loc, RankedTensorType::get(cpu::toStaticShape(shape), type.getElementType()), operand,
          reassociation));
  }
  NamedAttrList attributes(contract->getAttrs());
  attributes.set(contract.getIndexingMapsAttrName(), rewriter.getAffineMapArrayAttr(maps));
  auto merged = ContractOp::create(rewriter, loc, TypeRange(operands.back().getType()), operands, attributes);
  rewriter.inlineRegionBefore(contract.getEpilogue(), merged.getEpilogue(), merged.getEpilogue().end());
  return merged;
}

namespace {
// A result that is collapsed: the product is computed in the coarser shape where the factors allow it.
struct MergeForConsumer : OpRewritePattern<tensor::CollapseShapeOp> {
  MergeForConsumer(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(tensor::CollapseShapeOp collapse, PatternRewriter &rewriter) const override {
    auto contract = collapse.getSrc().getDefiningOp<ContractOp>();
    if (!contract || !contract.hasPlainMaps() || !contract->hasOneUse())
      return failure();
    SmallVector<AffineMap> maps = contract.getMaps();
    SmallVector<SmallVector<unsigned>> groups;
    for (const ReassociationIndices &indices : collapse.getReassociationIndices()) {
      if (indices.size() == 1)
        continue;
      SmallVector<unsigned> group;
      for (int64_t position : indices)
        group.push_back(cast<AffineDimExpr>(maps.back().getResult(position)).getPosition());
      for (AffineMap map : maps) {
        // The positions of the group's members: all in a row, or none.
        std::optional<unsigned> first = map.getResultPosition(getAffineDimExpr(group.front(), rewriter.getContext()));
        for (auto [i, dim] : llvm::enumerate(group)) {
          std::optional<unsigned> position = map.getResultPosition(getAffineDimExpr(dim, rewriter.getContext()));
          if (position.has_value() != first.has_value() || (first && *position != *first + i))
            return failure();
        }
      }
      groups.push_back(group);
    }
    if (groups.empty())
      return failure();
    ContractOp merged = mergeDims(contract, groups, rewriter);
    if (!merged || merged.getResult().getType() != collapse.getResultType())
      return failure();
    rewriter.replaceOp(collapse, merged.getResult());
    return success();
  }
};
} // namespace

namespace {
// A result that is expanded for an elementwise consumer: the product is computed in the finer shape.
struct SplitForConsumer : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExpandShapeOp expand, PatternRewriter &rewriter) const override {
    auto contract = expand.getSrc().getDefiningOp<ContractOp>();
    if (!contract || !contract.hasPlainMaps() || !contract->hasOneUse() || !expand->hasOneUse())
      return failure();
    auto consumer = dyn_cast<linalg::GenericOp>(*expand->user_begin());
    if (!consumer || consumer.getNumReductionLoops() || consumer.getNumDpsInits() != 1 ||
        !cpu::isVectorizableEpilogue(*consumer.getBody()))
      return failure();
    Splits splits;
    for (auto [position, group] : llvm::enumerate(expand.getReassociationIndices())) {
      if (group.size() == 1)
        continue;
      SmallVector<SymbolicSize> extents;
      for (int64_t i : group)
        extents.push_back(cpu::getSymbolicSize(expand.getMixedOutputShape()[i]));
      // They are part of the product's shape, so that they have to be there before it.
      if (!cpu::areKnownBefore(extents, contract))
        return failure();
      splits[cast<AffineDimExpr>(contract.getInitMap().getResult(position)).getPosition()] = std::move(extents);
    }
    SmallVector<ReassociationIndices> groups;
    ContractOp split = splits.empty() ? ContractOp() : splitDims(contract, splits, rewriter, groups);
    if (!split || split.getResult().getType() != expand.getResultType())
      return failure();
    rewriter.replaceOp(expand, split.getResult());
    rewriter.eraseOp(contract);
    return success();
  }
};

// A factor that is a collapsed view of a permuted copy is read without the copy, in the finer shape. Not where the
// result would need a reshape that nobody undoes. All in one step: what is only split would be merged again for a
// consumer.
struct SplitForProducer : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ContractOp contract, PatternRewriter &rewriter) const override {
    if (!contract.hasPlainMaps())
      return failure();
    for (unsigned i = 0; i < 2; ++i) {
      auto collapse = contract.getOperand(i).getDefiningOp<tensor::CollapseShapeOp>();
      if (!collapse)
        continue;
      std::optional<SmallVector<SymbolicSize>> source = cpu::getSymbolicShape(collapse.getSrc());
      if (!source)
        continue;
      std::optional<cpu::TensorCopy> copy = cpu::matchTensorCopy(collapse.getSrc());
      if (!copy || copy->map.getNumResults() != copy->map.getNumDims() || !cpu::canWiden(contract, i, *copy))
        continue;
      Splits splits;
      bool inResult = false;
      for (auto [position, group] : llvm::enumerate(collapse.getReassociationIndices())) {
        if (group.size() == 1)
          continue;
        unsigned dim = cast<AffineDimExpr>(contract.getMap(i).getResult(position)).getPosition();
        inResult |= contract.getInitMap().isFunctionOfDim(dim);
        for (int64_t part : group)
          splits[dim].push_back((*source)[part]);
      }
      if (splits.empty() || (inResult && !(contract->hasOneUse() && isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
                                                                        *contract->user_begin()))))
        continue;
      SmallVector<ReassociationIndices> groups;
      ContractOp split = splitDims(contract, splits, rewriter, groups);
      if (!split)
        continue;
      cpu::absorbCopy(split, i, *copy, rewriter);
      if (inResult)
        rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(contract, contract.getResult().getType(),
                                                             split.getResult(), groups);
      else
        rewriter.replaceOp(contract, split);
      return success();
    }
    return failure();
  }
};

} // namespace

void cpu::populateContractionReshapePatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<MergeForConsumer, SplitForConsumer, SplitForProducer>(context);
  // A product that is collapsed for its consumer and could not be computed in that shape: the consumer takes the finer
  // one.
  linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, [](OpOperand *operand) {
    auto collapse = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
    return collapse && collapse->hasOneUse() && collapse.getSrc().getDefiningOp<ContractOp>();
  });
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::populateFoldTensorEmptyPatterns(patterns);
}
