// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise operations become few: chains and trees of them become single linalg.generic operations, and move into
// the reductions that consume them.
//
// In: linalg, named or generic. Out: linalg.generic only; no elementwise operation whose
// only user could take it in. Matrix products stay bare multiply-adds, except that copies (transpositions, broadcasts)
// have become their indexing maps: what else surrounds a product is for `latewood-form-contractions` to decide.
//
// Fusion never computes a value twice unless that is cheaper than to keep it: a broadcast, an iota, a mask made of
// iotas is copied to each of its users, but exp(x) with two users stays, and so does a costly value that a broadcast
// would repeat. Values with several users that run over the same rows meet again in a group (`latewood-form-groups`),
// where they cost a register.

#include "latewood/compiler/Engines/CPU/LoopProgram.h"
#include "latewood/compiler/Engines/CPU/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace latewood::cpu {
#define GEN_PASS_DEF_FUSEELEMENTWISEPASS
#include "latewood/compiler/Engines/CPU/Passes.h.inc"
} // namespace latewood::cpu

using namespace mlir;
using namespace latewood;
using namespace latewood::cpu;
using linalg::GenericOp;

namespace {

/// How often `op` visits each element that it reads through a projected permutation: the product of the extents of the
/// loops that `map` does not have. An extent that is not known counts as many.
int64_t repetitionsOf(GenericOp op, AffineMap map) {
  constexpr int64_t many = int64_t(1) << 20;
  int64_t count = 1;
  for (auto [loop, extent] : llvm::enumerate(op.getStaticLoopRanges()))
    if (!map.isFunctionOfDim(loop))
      count = std::min(count * (ShapedType::isDynamic(extent) ? many : extent), many);
  return count;
}

/// Whether `op` has at least four iterations for each element that it reads.
bool readsLittle(GenericOp op) {
  double read = 0;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto type = dyn_cast<RankedTensorType>(input->get().getType());
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!type || type.getRank() == 0)
      continue;
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return false;
    read += 1.0 / std::max<int64_t>(repetitionsOf(op, map), 1);
  }
  return read <= 0.25;
}

bool isCostly(GenericOp op) {
  return op.getBody()
      ->walk([](Operation *nested) {
        bool costly =
            (isa<math::MathDialect>(nested->getDialect()) && !isa<math::FmaOp, math::AbsFOp, math::AbsIOp>(nested)) ||
            isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemFOp, arith::RemSIOp, arith::RemUIOp,
                tensor::ExtractOp>(nested);
        return costly || nested->getNumRegions() != 0 ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The body yields inputs as they are.
bool isCopy(GenericOp op) { return op.getBody()->without_terminator().empty() && op.getNumReductionLoops() == 0; }

/// A matrix product: some dimension of the result belongs to one factor alone.
bool isMultiplyAdd(GenericOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInputs() != 2 || !linalg::isaContractionOpInterface(op))
    return false;
  FailureOr<linalg::ContractionDimensions> dims = linalg::inferContractionDims(op);
  return succeeded(dims) && (!dims->m.empty() || !dims->n.empty());
}

/// Every element of the result is computed from the inputs alone. (A window of one element is a reduction without
/// loops: it combines with what is in its destination.)
bool isElementwise(GenericOp op) {
  return op.getNumReductionLoops() == 0 &&
         llvm::all_of(op.getRegionOutputArgs(), [](BlockArgument out) { return out.use_empty(); });
}

/// Each fusion copies both bodies: without a limit a long chain costs the square of its length, here and again in LLVM.
/// What is divided by it meets in a group, where a value between two operations costs a register.
constexpr size_t kMaxBodyOps = 128;

bool isSmallTogether(GenericOp producer, GenericOp consumer) {
  return producer.getBody()->getOperations().size() + consumer.getBody()->getOperations().size() <= kMaxBodyOps;
}

bool shouldFuse(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<GenericOp>();
  auto consumer = dyn_cast<GenericOp>(operand->getOwner());
  if (!producer || !consumer || !isElementwise(producer))
    return false;
  if (!llvm::all_of(producer->getUsers(), [&](Operation *user) { return user == consumer.getOperation(); }))
    return false;
  AffineMap map = consumer.getMatchingIndexingMap(operand);
  if (isCopy(producer)) // only indexing maps change
    return map.isProjectedPermutation(/*allowZeroInResults=*/true) || producer.getNumDpsInputs() == 0 ||
           !isMultiplyAdd(consumer);
  if (isMultiplyAdd(consumer) || !isSmallTogether(producer, consumer))
    return false;
  // A reducer that is more than one operation is combined across lanes as it is, so it must stay what it was.
  if (!isElementwise(consumer) && matchCombiner(consumer).kind != Combiner::Kind::Simple)
    return false;
  if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
    return false;
  // A value that would be computed again for each repetition must be cheap.
  if (repetitionsOf(consumer, map) > 1 && isCostly(producer))
    return false;
  // One operation without a vector form makes all of them scalar.
  return findUnvectorizable(producer).empty() == findUnvectorizable(consumer).empty();
}

/// An operand that is a reshape by dimensions of extent 1 only is read without the reshape: such dimensions are zeros
/// in the indexing map, or disappear from it. Frameworks keep reduced dimensions in this way, and no row would be seen
/// through them.
struct ReadThroughUnitReshape : OpRewritePattern<GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  /// The map for the reshape's source, given the one for its result.
  static std::optional<AffineMap> translate(AffineMap map, Operation *reshape) {
    SmallVector<AffineExpr> results;
    AffineExpr zero = getAffineConstantExpr(0, map.getContext());
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(reshape)) {
      ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
      for (auto [i, dims] : llvm::enumerate(collapse.getReassociationIndices())) {
        if (llvm::count_if(dims, [&](int64_t dim) { return shape[dim] != 1; }) > 1)
          return std::nullopt;
        for (int64_t dim : dims)
          results.push_back(shape[dim] == 1 ? zero : map.getResult(i));
      }
      // All of a tensor of one element.
      results.resize(shape.size(), zero);
    } else {
      auto expand = cast<tensor::ExpandShapeOp>(reshape);
      ArrayRef<int64_t> shape = expand.getResultType().getShape();
      for (const ReassociationIndices &dims : expand.getReassociationIndices()) {
        AffineExpr expr = zero;
        for (int64_t dim : dims) {
          if (shape[dim] == 1)
            continue;
          if (expr != zero)
            return std::nullopt;
          expr = map.getResult(dim);
        }
        results.push_back(expr);
      }
    }
    return AffineMap::get(map.getNumDims(), 0, results, map.getContext());
  }

  LogicalResult matchAndRewrite(GenericOp op, PatternRewriter &rewriter) const override {
    if (isMultiplyAdd(op))
      return failure();
    for (OpOperand *operand : op.getDpsInputOperands()) {
      Operation *reshape = operand->get().getDefiningOp();
      if (!isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(reshape))
        continue;
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      AffineMap &map = maps[operand->getOperandNumber()];
      std::optional<AffineMap> translated = translate(map, reshape);
      if (!translated)
        continue;
      map = *translated;
      // Every loop still gets its extent from an operand.
      llvm::SmallBitVector known(op.getNumLoops());
      for (AffineMap any : maps)
        for (AffineExpr expr : any.getResults())
          if (auto dim = dyn_cast<AffineDimExpr>(expr))
            known.set(dim.getPosition());
      if (!known.all())
        continue;
      rewriter.modifyOpInPlace(op, [&] {
        op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
        operand->set(reshape->getOperand(0));
      });
      return success();
    }
    return failure();
  }
};

struct FuseElementwisePass : cpu::impl::FuseElementwisePassBase<FuseElementwisePass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    MLIRContext *context = &getContext();
    {
      RewritePatternSet patterns(context);
      linalg::populateLinalgNamedOpsGeneralizationPatterns(patterns);
      linalg::populateInlineConstantOperandsPatterns(patterns);
      linalg::populateDecomposePadPatterns(patterns);
      tensor::populateDecomposeTensorConcatPatterns(patterns);
      if (failed(applyPatternsGreedily(function, std::move(patterns))))
        return signalPassFailure();
    }
    fillSplats(function);
    if (failed(fuse(function)))
      return signalPassFailure();
    // Only now is it visible which values depend on little or nothing.
    if (repeatCheapValues(function) && failed(fuse(function)))
      signalPassFailure();
  }

  /// Splat constants that linalg has not taken in become fills, not data.
  void fillSplats(func::FuncOp function) {
    SmallVector<arith::ConstantOp> constants;
    function.walk([&](arith::ConstantOp op) {
      auto value = dyn_cast<SplatElementsAttr>(op.getValue());
      if (value && isa<RankedTensorType>(op.getType()) && cast<RankedTensorType>(op.getType()).getRank() > 0)
        constants.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (arith::ConstantOp op : constants) {
      rewriter.setInsertionPoint(op);
      auto type = cast<RankedTensorType>(op.getType());
      auto splat = cast<SplatElementsAttr>(op.getValue()).getSplatValue<TypedAttr>();
      Value scalar = arith::ConstantOp::create(rewriter, op.getLoc(), splat);
      Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(), type.getShape(), type.getElementType());
      auto fill = linalg::FillOp::create(rewriter, op.getLoc(), scalar, empty);
      FailureOr<GenericOp> generic = linalg::generalizeNamedOp(rewriter, fill);
      if (succeeded(generic))
        rewriter.replaceOp(op, generic->getResults());
    }
  }

  LogicalResult fuse(func::FuncOp function) {
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(patterns, shouldFuse);
    linalg::populateInlineConstantOperandsPatterns(patterns);
    patterns.add<ReadThroughUnitReshape>(&getContext());
    GenericOp::getCanonicalizationPatterns(patterns, &getContext());
    // A chain fuses step by step; ten rounds, the default, do not reach the end of a long one. Regions are simplified
    // between rounds, all of them again, which is nothing to what they hold: single blocks.
    return applyPatternsGreedily(
        function, std::move(patterns),
        GreedyRewriteConfig().setMaxIterations(1000).setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled));
  }

  /// Operations per element that are cheaper than to write and read the element.
  static constexpr int64_t maxRepeatedCost = 48;

  /// Gives each user of a value that is cheaper to compute than to read its own copy of it.
  bool repeatCheapValues(func::FuncOp function) {
    SmallVector<GenericOp> ops;
    // What a value costs with everything that would be repeated for it: in a chain of values that each have two users
    // (the rounds of a random generator on a counter), that doubles with each step.
    DenseMap<Operation *, int64_t> repeatedCost;
    function.walk([&](GenericOp op) {
      if (!isElementwise(op) || op->getNumResults() != 1 || isCostly(op) || !readsLittle(op))
        return;
      int64_t cost = llvm::range_size(*op.getBody());
      for (Value input : op.getDpsInputs())
        if (Operation *producer = input.getDefiningOp())
          cost += repeatedCost.lookup(producer);
      if (cost > maxRepeatedCost)
        return;
      repeatedCost[op] = cost;
      ops.push_back(op);
    });
    bool changed = false;
    for (GenericOp op : llvm::reverse(ops)) {
      llvm::SetVector<Operation *> users(op->user_begin(), op->user_end());
      if (users.size() < 2)
        continue;
      for (Operation *user : users) {
        auto consumer = dyn_cast<GenericOp>(user);
        if (!consumer || (isMultiplyAdd(consumer) && !isCopy(op)))
          continue;
        OpBuilder builder(user);
        user->replaceUsesOfWith(op->getResult(0), builder.clone(*op)->getResult(0));
        changed = true;
      }
      if (op->use_empty())
        op->erase();
    }
    return changed;
  }
};

} // namespace
