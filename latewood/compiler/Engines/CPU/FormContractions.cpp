// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the matrix products among the linalg operations and gathers around each one what can be computed while its
// result is still in registers.
//
// A product reads each element of its result once, from registers, right after the last step of its sum. Whatever is
// elementwise after that point (bias, activation, residual, mask, conversion, a permuted store) is free there, and
// costs a pass over memory anywhere else. The other way round, a copy that only permutes, repeats or widens a factor
// costs a pass before the product, and nothing when packing reads the original. So three rewrites run until nothing
// changes:
//   - form: linalg.generic with the body `out + lhs * rhs` becomes cpu.contract; the fill that `out` starts from
//     disappears;
//   - absorb: a copy that produces an operand becomes the operand's indexing map, or its element type;
//   - fuse: an elementwise consumer, the only user of the result, becomes the epilogue.
// A reshape between the product and its consumer is no obstacle: see FormContractionsReshapes.cpp.
//
// A convolution is a product whose lhs is indexed by sums: its rows are positions, its sum runs over channels and
// taps.
//
// In:  linalg on tensors, element types as they lie in memory.
// Out: products whose element types have kernels are cpu.contract; a remark says why another one
//      stays linalg.

#include "latewood/compiler/Engines/CPU/FormContractions.h"
#include "latewood/compiler/Dialect/CPU/CPU.h"
#include "latewood/compiler/Engines/CPU/BufferExtents.h"
#include "latewood/compiler/Engines/CPU/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <optional>

namespace latewood::cpu {
#define GEN_PASS_DEF_FORMCONTRACTIONSPASS
#include "latewood/compiler/Engines/CPU/Passes.h.inc"
} // namespace latewood::cpu

using namespace mlir;
using namespace latewood;
using cpu::ContractOp;

//===----------------------------------------------------------------------===//
// Form
//===----------------------------------------------------------------------===//

// A factor of the product in the body of a linalg.generic: an input, perhaps extended.
struct Factor {
  unsigned input;
  bool isUnsigned;
};

static std::optional<Factor> matchFactor(Value value, Block &body) {
  bool isUnsigned = false;
  if (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(op))
      return std::nullopt;
    isUnsigned = isa<arith::ExtUIOp>(op);
    value = op->getOperand(0);
  }
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &body || argument.getArgNumber() + 1 == body.getNumArguments())
    return std::nullopt;
  return Factor{argument.getArgNumber(), isUnsigned};
}

// Matches `out + a * b`. The factors come back in the order of the inputs.
static std::optional<std::pair<Factor, Factor>> matchMultiplyAdd(Block &body) {
  Value out = body.getArguments().back();
  Operation *add = body.getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add))
    return std::nullopt;
  Value product = add->getOperand(0) == out ? add->getOperand(1) : add->getOperand(0);
  if (add->getOperand(0) != out && add->getOperand(1) != out)
    return std::nullopt;
  Operation *multiply = product.getDefiningOp();
  if (!isa_and_nonnull<arith::MulFOp, arith::MulIOp>(multiply))
    return std::nullopt;
  auto a = matchFactor(multiply->getOperand(0), body), b = matchFactor(multiply->getOperand(1), body);
  if (!a || !b || a->input == b->input)
    return std::nullopt;
  if (a->input > b->input)
    std::swap(a, b);
  return std::make_pair(*a, *b);
}

// The type in which products of `lhs` and `rhs` are summed into elements of `result`; null where the library has
// neither kernel nor packing.
static Type getAccumulatorType(Type lhs, Type rhs, Type result) {
  auto areAll = [](std::initializer_list<Type> types, auto predicate) { return llvm::all_of(types, predicate); };
  MLIRContext *context = result.getContext();
  if (areAll({lhs, rhs, result}, [](Type type) { return type.isF64(); }))
    return result;
  if (areAll({lhs, rhs, result}, [](Type type) { return type.isF32() || type.isBF16() || type.isF16(); }))
    return Float32Type::get(context);
  if (areAll({lhs, rhs, result}, [](Type type) { return type.isInteger(64); }))
    return result;
  if (areAll({lhs, rhs, result},
             [](Type type) { return type.isInteger(32) || type.isInteger(16) || type.isInteger(8); }))
    return IntegerType::get(context, 32);
  return {};
}

// Whether every element of `tensor` is zero, and the tensor that was filled.
static std::optional<Value> matchZeros(Value tensor) {
  auto isZero = [](Value scalar) { return matchPattern(scalar, m_AnyZeroFloat()) || matchPattern(scalar, m_Zero()); };
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    if (isZero(fill.value()))
      return fill.output();
  if (auto generic = tensor.getDefiningOp<linalg::GenericOp>()) {
    Value yielded = generic.getBody()->getTerminator()->getOperand(0);
    if (generic.getNumResults() == 1 && isZero(yielded))
      return generic.getDpsInits()[0];
  }
  DenseElementsAttr constant;
  if (matchPattern(tensor, m_Constant(&constant)) && constant.isSplat()) {
    Attribute value = constant.getSplatValue<Attribute>();
    if (auto number = dyn_cast<FloatAttr>(value); number && number.getValue().isZero())
      return Value();
    if (auto number = dyn_cast<IntegerAttr>(value); number && number.getValue().isZero())
      return Value();
  }
  return std::nullopt;
}

// A destination for a result of the shape of `like` that takes the place of what was to be written to `destination`:
// the same one when it is a buffer that matters (an argument), otherwise a new one that bufferization can place. Null
// where the extents are not known.
static Value getDestination(OpBuilder &builder, Location loc, Value like, Value destination) {
  auto type = cast<RankedTensorType>(like.getType());
  if (destination && destination.getType() == type && !destination.getDefiningOp<tensor::EmptyOp>())
    return destination;
  std::optional<SmallVector<Value>> extents = cpu::getDynamicExtents(builder, like);
  if (!extents)
    return {};
  return tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType(), *extents);
}

static Value convertScalar(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  bool narrower = type.getIntOrFloatBitWidth() < value.getType().getIntOrFloatBitWidth();
  if (isa<FloatType>(type))
    return narrower ? arith::TruncFOp::create(builder, loc, type, value).getResult()
                    : arith::ExtFOp::create(builder, loc, type, value).getResult();
  return narrower ? arith::TruncIOp::create(builder, loc, type, value).getResult()
                  : arith::ExtSIOp::create(builder, loc, type, value).getResult();
}

// The last dimension of a result's map that has more than one position: where the elements of a vector lie.
static std::optional<unsigned> getInnermostDim(AffineMap map, ArrayRef<int64_t> extents) {
  for (AffineExpr expression : llvm::reverse(map.getResults()))
    if (unsigned dim = cast<AffineDimExpr>(expression).getPosition(); extents[dim] != 1)
      return dim;
  return std::nullopt;
}

namespace {
struct FormContraction : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp generic, PatternRewriter &rewriter) const override {
    if (generic.getNumDpsInputs() != 2 || generic.getNumDpsInits() != 1 || !generic.hasPureTensorSemantics() ||
        generic.getNumReductionLoops() == 0)
      return failure();
    auto factors = matchMultiplyAdd(*generic.getBody());
    if (!factors)
      return failure();

    SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
    bool hasRowOrColumn = false;
    for (unsigned dim = 0, e = generic.getNumLoops(); dim < e; ++dim) {
      bool inLhs = maps[0].isFunctionOfDim(dim), inRhs = maps[1].isFunctionOfDim(dim),
           inInit = maps[2].isFunctionOfDim(dim);
      if (inLhs + inRhs + inInit < 2)
        return failure();
      hasRowOrColumn |= inInit && inLhs != inRhs;
    }
    // A dot product of two vectors, or a batch of them, is a reduction like any other.
    if (!hasRowOrColumn || !cpu::isLinearMap(maps[0]) || !maps[1].isProjectedPermutation() ||
        !maps[2].isProjectedPermutation())
      return failure();
    // A convolution of each channel for itself has nothing to share between columns.
    if (!maps[0].isProjectedPermutation()) {
      std::optional<unsigned> innermost = getInnermostDim(maps[2], generic.getStaticLoopRanges());
      if (!innermost || (maps[0].isFunctionOfDim(*innermost) && maps[1].isFunctionOfDim(*innermost)))
        return failure();
    }

    Value lhs = generic.getDpsInputs()[0], rhs = generic.getDpsInputs()[1], init = generic.getDpsInits()[0];
    Type element = getElementTypeOrSelf(init);
    if (!isa<RankedTensorType>(lhs.getType()) || !isa<RankedTensorType>(rhs.getType()))
      return failure();
    Type accumulator = getAccumulatorType(getElementTypeOrSelf(lhs), getElementTypeOrSelf(rhs), element);
    if (!accumulator)
      return failure();

    Location loc = generic.getLoc();
    std::optional<Value> zeros = matchZeros(init);
    Value destination = getDestination(rewriter, loc, init, zeros ? *zeros : Value());
    if (!destination)
      return failure();
    auto contract = ContractOp::create(rewriter, loc, lhs, rhs, destination, maps, accumulator);
    contract.setLhsUnsigned(factors->first.isUnsigned);
    contract.setRhsUnsigned(factors->second.isUnsigned);

    // What the sum starts from is added at its end.
    Block &body = contract.getBody();
    Operation *yield = body.getTerminator();
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(yield);
    Value value = body.getArgument(0);
    if (!zeros) {
      contract.getExtrasMutable().append(init);
      SmallVector<Attribute> allMaps(contract.getIndexingMaps().getValue());
      allMaps.insert(allMaps.begin() + 2, allMaps.back());
      contract.setIndexingMapsAttr(rewriter.getArrayAttr(allMaps));
      Value start = convertScalar(rewriter, loc, body.addArgument(element, loc), accumulator);
      value = isa<FloatType>(accumulator) ? arith::AddFOp::create(rewriter, loc, value, start).getResult()
                                          : arith::AddIOp::create(rewriter, loc, value, start).getResult();
    }
    yield->setOperand(0, convertScalar(rewriter, loc, value, element));
    rewriter.replaceOp(generic, contract);
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Absorb
//===----------------------------------------------------------------------===//

std::optional<cpu::TensorCopy> cpu::matchTensorCopy(Value tensor) {
  if (auto transpose = tensor.getDefiningOp<linalg::TransposeOp>())
    return TensorCopy{transpose.getInput(),
                      inversePermutation(AffineMap::getPermutationMap(transpose.getPermutation(), tensor.getContext())),
                      false, false};
  auto generic = tensor.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.getNumDpsInputs() != 1 || generic.getNumDpsInits() != 1 || generic.getNumReductionLoops() ||
      !isa<RankedTensorType>(generic.getDpsInputs()[0].getType()))
    return std::nullopt;
  AffineMap from = generic.getIndexingMapsArray()[0], to = generic.getIndexingMapsArray()[1];
  if (!from.isProjectedPermutation() || !to.isPermutation())
    return std::nullopt;
  bool isUnsigned = false, isWidening = false;
  Value value = generic.getBody()->getTerminator()->getOperand(0);
  if (Operation *op = value.getDefiningOp(); op && op->getBlock() == generic.getBody()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(op))
      return std::nullopt;
    isUnsigned = isa<arith::ExtUIOp>(op);
    isWidening = true;
    value = op->getOperand(0);
  }
  if (value != generic.getBody()->getArgument(0))
    return std::nullopt;
  return TensorCopy{generic.getDpsInputs()[0], from.compose(inversePermutation(to)), isUnsigned, isWidening};
}

// Whether a dimension of the space still indexes two of the three main operands.
static bool coversDims(AffineMap lhs, AffineMap rhs, AffineMap init) {
  for (unsigned dim = 0, e = init.getNumDims(); dim < e; ++dim)
    if (lhs.isFunctionOfDim(dim) + rhs.isFunctionOfDim(dim) + init.isFunctionOfDim(dim) < 2)
      return false;
  return true;
}

// Whether an extra operand can be read in vectors along the innermost dimension of the result.
static bool isVectorReadable(AffineMap extra, AffineMap init, ArrayRef<int64_t> extents) {
  std::optional<unsigned> innermost = getInnermostDim(init, extents);
  return !innermost || !extra.isFunctionOfDim(*innermost) || getInnermostDim(extra, extents) == innermost;
}

bool cpu::canWiden(ContractOp contract, unsigned i, const TensorCopy &copy) {
  if (!copy.isWidening)
    return true;
  Type element = getElementTypeOrSelf(copy.source), other = getElementTypeOrSelf(contract.getOperand(1 - i));
  if (getAccumulatorType(element, other, contract.getAccumulatorType()) != contract.getAccumulatorType())
    return false;
  // Zeros after a sign are neither extension. Any extension after zeros is one by zeros.
  return copy.isUnsigned || !(i == 0 ? contract.getLhsUnsigned() : contract.getRhsUnsigned());
}

void cpu::absorbCopy(ContractOp contract, unsigned i, const TensorCopy &copy, RewriterBase &rewriter) {
  SmallVector<AffineMap> maps = contract.getMaps();
  maps[i] = copy.map.compose(maps[i]);
  rewriter.modifyOpInPlace(contract, [&] {
    if (copy.isUnsigned && i == 0)
      contract.setLhsUnsigned(true);
    if (copy.isUnsigned && i == 1)
      contract.setRhsUnsigned(true);
    contract.setOperand(i, copy.source);
    contract.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
}

namespace {
struct AbsorbCopy : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ContractOp contract, PatternRewriter &rewriter) const override {
    SmallVector<int64_t> extents = contract.getExtents();
    for (unsigned i = 0, e = contract.getNumOperands() - 1; i < e; ++i) {
      std::optional<cpu::TensorCopy> copy = cpu::matchTensorCopy(contract.getOperand(i));
      if (!copy)
        continue;
      SmallVector<AffineMap> maps = contract.getMaps();
      maps[i] = copy->map.compose(maps[i]);
      if (!(i == 0 ? cpu::isLinearMap(maps[i]) : maps[i].isProjectedPermutation()) ||
          !coversDims(maps[0], maps[1], maps.back()))
        continue;
      if (i >= 2 && (copy->isWidening || !isVectorReadable(maps[i], maps.back(), extents)))
        continue;
      if (!cpu::canWiden(contract, i, *copy))
        continue;
      cpu::absorbCopy(contract, i, *copy, rewriter);
      return success();
    }
    return failure();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Fuse
//===----------------------------------------------------------------------===//

bool cpu::isVectorizableEpilogue(Block &body) {
  return llvm::all_of(body.without_terminator(), [](Operation &op) {
    return op.hasTrait<OpTrait::ConstantLike>() ||
           (OpTrait::hasElementwiseMappableTraits(&op) && op.getNumRegions() == 0 && op.getNumResults() == 1 &&
            isPure(&op) && llvm::none_of(op.getOperandTypes(), [](Type type) { return isa<ComplexType>(type); }));
  });
}

namespace {
struct FuseConsumer : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp consumer, PatternRewriter &rewriter) const override {
    if (consumer.getNumReductionLoops() || consumer.getNumDpsInits() != 1 || !consumer.hasPureTensorSemantics() ||
        !cpu::isVectorizableEpilogue(*consumer.getBody()))
      return failure();
    for (OpOperand *input : consumer.getDpsInputOperands())
      if (auto contract = input->get().getDefiningOp<ContractOp>())
        if (succeeded(fuse(contract, consumer, rewriter)))
          return success();
    return failure();
  }

  static LogicalResult fuse(ContractOp contract, linalg::GenericOp consumer, PatternRewriter &rewriter) {
    Value product = contract.getResult();
    if (contract->getBlock() != consumer->getBlock() ||
        !llvm::all_of(product.getUsers(), [&](Operation *user) { return user == consumer.getOperation(); }))
      return failure();

    // The consumer's loops, as dimensions of the product's space.
    SmallVector<AffineMap> consumerMaps = consumer.getIndexingMapsArray();
    AffineMap productMap;
    for (OpOperand &operand : consumer->getOpOperands()) {
      if (operand.get() != product)
        continue;
      AffineMap map = consumerMaps[operand.getOperandNumber()];
      if ((productMap && productMap != map) || !map.isPermutation() || consumer.isDpsInit(&operand))
        return failure();
      productMap = map;
    }
    SmallVector<AffineExpr> dims(consumer.getNumLoops());
    for (auto [loop, dim] : llvm::zip_equal(productMap.getResults(), contract.getInitMap().getResults()))
      dims[cast<AffineDimExpr>(loop).getPosition()] = dim;
    auto translate = [&](AffineMap map) { return map.replaceDimsAndSymbols(dims, {}, contract.getNumDims(), 0); };

    SmallVector<int64_t> extents = contract.getExtents();
    AffineMap initMap = translate(consumerMaps.back());
    if (!initMap.isProjectedPermutation() || initMap.getNumResults() != dims.size())
      return failure();
    // A batch dimension must not become the innermost one: nothing could be stored in vectors.
    std::optional<unsigned> innermost = getInnermostDim(initMap, extents);
    if (innermost && innermost != getInnermostDim(contract.getInitMap(), extents) &&
        contract.getDimKinds()[*innermost] == ContractOp::DimKind::Batch)
      return failure();
    for (unsigned i = 0, e = contract.getExtras().size(); i < e; ++i)
      if (!isVectorReadable(contract.getExtraMap(i), initMap, extents))
        return failure();

    SmallVector<Value> extras(contract.getExtras());
    SmallVector<AffineMap> extraMaps;
    for (unsigned i = 0, e = extras.size(); i < e; ++i)
      extraMaps.push_back(contract.getExtraMap(i));
    // The position among the extras of each of the consumer's operands; the product itself has none.
    SmallVector<std::optional<unsigned>> positions;
    Block &oldBody = *consumer.getBody();
    for (OpOperand &operand : consumer->getOpOperands()) {
      positions.push_back(std::nullopt);
      unsigned number = operand.getOperandNumber();
      if (operand.get() == product || oldBody.getArgument(number).use_empty())
        continue;
      AffineMap map = translate(consumerMaps[number]);
      if (!map.isProjectedPermutation() || !isVectorReadable(map, initMap, extents) ||
          !getElementTypeOrSelf(operand.get()).isIntOrFloat())
        return failure();
      for (auto [i, extra, extraMap] : llvm::enumerate(extras, extraMaps))
        if (extra == operand.get() && extraMap == map)
          positions.back() = i;
      if (positions.back())
        continue;
      positions.back() = extras.size();
      extras.push_back(operand.get());
      extraMaps.push_back(map);
    }

    Location loc = rewriter.getFusedLoc({contract.getLoc(), consumer.getLoc()});
    auto resultType = cast<RankedTensorType>(consumer.getResult(0).getType());
    Value destination = getDestination(rewriter, loc, consumer.getDpsInits()[0], consumer.getDpsInits()[0]);
    if (!destination)
      return failure();
    SmallVector<AffineMap> maps = {contract.getLhsMap(), contract.getRhsMap()};
    llvm::append_range(maps, extraMaps);
    maps.push_back(initMap);
    auto fused = ContractOp::create(rewriter, loc, resultType, contract.getLhs(), contract.getRhs(), extras,
                                    destination, rewriter.getAffineMapArrayAttr(maps), contract.getLhsUnsignedAttr(),
                                    contract.getRhsUnsignedAttr());

    OpBuilder::InsertionGuard guard(rewriter);
    Block *body = rewriter.createBlock(&fused.getEpilogue());
    body->addArgument(contract.getAccumulatorType(), loc);
    for (Value extra : extras)
      body->addArgument(getElementTypeOrSelf(extra), loc);
    IRMapping mapping;
    mapping.map(contract.getBody().getArguments(),
                body->getArguments().take_front(contract.getBody().getNumArguments()));
    for (Operation &op : contract.getBody().without_terminator())
      rewriter.clone(op, mapping);
    Value value = mapping.lookupOrDefault(contract.getBody().getTerminator()->getOperand(0));
    for (auto [argument, operand, position] :
         llvm::zip_equal(oldBody.getArguments(), consumer->getOperands(), positions)) {
      if (operand == product)
        mapping.map(argument, value);
      else if (position)
        mapping.map(argument, body->getArgument(1 + *position));
    }
    for (Operation &op : oldBody.without_terminator())
      rewriter.clone(op, mapping);
    cpu::YieldOp::create(rewriter, loc, mapping.lookupOrDefault(oldBody.getTerminator()->getOperand(0)));

    rewriter.replaceOp(consumer, fused);
    rewriter.eraseOp(contract);
    return success();
  }
};
} // namespace

namespace {
class FormContractionsPass : public cpu::impl::FormContractionsPassBase<FormContractionsPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<FormContraction, AbsorbCopy, FuseConsumer>(context);
    cpu::populateContractionReshapePatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();

    getOperation().walk([](linalg::GenericOp generic) {
      if (!generic.hasPureTensorSemantics() || generic.getNumDpsInputs() != 2 || generic.getNumReductionLoops() == 0 ||
          !matchMultiplyAdd(*generic.getBody()))
        return;
      Type lhs = getElementTypeOrSelf(generic.getDpsInputs()[0]), rhs = getElementTypeOrSelf(generic.getDpsInputs()[1]),
           result = getElementTypeOrSelf(generic.getResult(0));
      if (!getAccumulatorType(lhs, rhs, result))
        generic.emitRemark() << "this product is not compiled to matrix kernels, because there are none for " << lhs
                             << " times " << rhs << " into " << result;
    });
  }
};
} // namespace
