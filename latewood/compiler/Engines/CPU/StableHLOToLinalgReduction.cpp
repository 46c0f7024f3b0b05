// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// stablehlo.reduce and stablehlo.map.
//
//   stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1]
//   linalg.fill %c; linalg.generic {parallel, reduction} { arith.addf fastmath<reassoc> }
//
// The order of a reduction is free by the specification, which the combiner's flag says to the code generator. Sums and
// products of f16 and bf16 are accumulated in f32 and rounded once.

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalgPattern.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace latewood;

/// Lets the combiners of a reduction be reordered: the values that `results` are computed by directly.
static void allowReordering(ValueRange results) {
  for (Value result : results) {
    Operation *combiner = result.getDefiningOp();
    if (isa_and_present<arith::AddFOp, arith::MulFOp>(combiner)) {
      auto flags = arith::FastMathFlagsAttr::get(result.getContext(), arith::FastMathFlags::reassoc);
      combiner->setAttr("fastmath", flags);
    }
  }
}

/// True for a body of one operation, add or multiply, on its two arguments.
static bool isSumOrProduct(Block &body) {
  if (body.getNumArguments() != 2 || !llvm::hasNItems(body, 2))
    return false;
  Operation &op = body.front();
  return isa<stablehlo::AddOp, stablehlo::MulOp>(op) && body.getTerminator()->getOperand(0) == op.getResult(0) &&
         op.getOperand(0) != op.getOperand(1) &&
         llvm::all_of(op.getOperands(), [](Value v) { return isa<BlockArgument>(v); });
}

SmallVector<Value> cpu::makeReduction(ConversionPatternRewriter &rewriter, Location loc, const Reduction &reduction) {
  ImplicitLocOpBuilder b(loc, rewriter);
  Block &body = reduction.body;
  DenseMap<Value, Value> captured = readCaptured(rewriter, body);
  unsigned count = reduction.inputs.size();

  // The body's own element types, but for sums of narrow floats.
  SmallVector<Type> elements;
  for (unsigned i = 0; i < count; ++i)
    elements.push_back(getElement(body.getArgument(i).getType()));
  bool widens =
      isSumOrProduct(body) && (isa<Float16Type, BFloat16Type>(elements.front()) || isByteFloat(elements.front()));
  if (widens)
    elements.front() = b.getF32Type();

  SmallVector<Value> inits, operands(reduction.inputs);
  SmallVector<AffineMap> maps(count, reduction.inputMap);
  if (reduction.window) {
    operands.push_back(reduction.window);
    maps.push_back(reduction.windowMap);
  }
  maps.append(count, reduction.resultMap);
  for (unsigned i = 0; i < count; ++i) {
    Value value = loadElement(b, getOnlyElement(b, reduction.inits[i]), reduction.initElements[i]);
    value = storeElement(b, convertElement(b, value, reduction.initElements[i], elements[i]), elements[i]);
    auto type = RankedTensorType::get(cast<RankedTensorType>(reduction.types[i]).getShape(), value.getType());
    inits.push_back(makeUniform(b, type, value, reduction.extents));
  }

  auto combine = [&] {
    return linalg::GenericOp::create(
        b, TypeRange(ValueRange(inits)), operands, inits, maps, reduction.iterators,
        [&](OpBuilder &nested, Location, ValueRange arguments) {
          ImplicitLocOpBuilder inner(loc, nested);
          SmallVector<Value> scalars, results;
          for (auto [sum, element] : llvm::zip_equal(arguments.take_back(count), elements))
            scalars.push_back(loadElement(inner, sum, element));
          for (unsigned i = 0; i < count; ++i) {
            Value loaded = loadElement(inner, arguments[i], reduction.inputElements[i]);
            scalars.push_back(convertElement(inner, loaded, reduction.inputElements[i], elements[i]));
          }
          if (widens)
            results.push_back(isa<stablehlo::AddOp>(body.front())
                                  ? Value(arith::AddFOp::create(inner, scalars[0], scalars[1]))
                                  : arith::MulFOp::create(inner, scalars[0], scalars[1]));
          else
            results = emitScalarBlock(inner, body, scalars, [&](Value value) { return captured.at(value); });
          allowReordering(results);
          for (auto [result, element] : llvm::zip_equal(results, elements))
            result = storeElement(inner, result, element);
          linalg::YieldOp::create(inner, results);
        });
  };
  // Without elements the initial values are the result.
  auto isEmpty = [](Value input) { return llvm::is_contained(cast<RankedTensorType>(input.getType()).getShape(), 0); };
  SmallVector<Value> sums(inits);
  if (!isEmpty(reduction.inputs.front()))
    sums = SmallVector<Value>(combine().getResults());

  // From the type of the accumulation to that of the result, where they differ.
  SmallVector<Value> results;
  for (auto [i, value] : llvm::enumerate(sums)) {
    auto type = cast<RankedTensorType>(reduction.types[i]);
    Type from = elements[i], to = reduction.resultElements[i];
    if (from == to) {
      results.push_back(value);
      continue;
    }
    auto round = [&](ImplicitLocOpBuilder &inner, ValueRange sums) {
      return storeElement(inner, convertElement(inner, loadElement(inner, sums.front(), from), from, to), to);
    };
    results.push_back(makeParallel(b, type, makeEmpty(b, type, reduction.extents), value,
                                   b.getMultiDimIdentityMap(type.getRank()), round));
  }
  return results;
}

namespace {

struct ReduceToGeneric : OpConversionPattern<stablehlo::ReduceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::ReduceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto inputType = cast<RankedTensorType>(adaptor.getInputs().front().getType());
    SmallVector<AffineExpr> kept;
    SmallVector<utils::IteratorType> iterators;
    for (int64_t dim = 0; dim < inputType.getRank(); ++dim) {
      bool isReduced = llvm::is_contained(op.getDimensions(), dim);
      iterators.push_back(isReduced ? utils::IteratorType::reduction : utils::IteratorType::parallel);
      if (!isReduced)
        kept.push_back(b.getAffineDimExpr(dim));
    }
    auto inputElements = llvm::map_to_vector(op.getInputs(), [](Value value) { return cpu::getElement(value); });
    auto initElements = llvm::map_to_vector(op.getInitValues(), [](Value value) { return cpu::getElement(value); });
    auto resultElements = llvm::map_to_vector(op.getResults(), [](Value value) { return cpu::getElement(value); });
    cpu::Reduction reduction{.body = op.getBody().front(),
                             .inputs = adaptor.getInputs(),
                             .inputElements = inputElements,
                             .inits = adaptor.getInitValues(),
                             .initElements = initElements,
                             .types = types,
                             .resultElements = resultElements,
                             .extents = cpu::getExtents(rewriter, op->getResults()),
                             .inputMap = b.getMultiDimIdentityMap(inputType.getRank()),
                             .resultMap = AffineMap::get(inputType.getRank(), 0, kept, b.getContext()),
                             .windowMap = {},
                             .window = {},
                             .iterators = iterators};
    rewriter.replaceOp(op, cpu::makeReduction(rewriter, op.getLoc(), reduction));
    return success();
  }
};

struct MapToGeneric : cpu::ToLinalgPattern<stablehlo::MapOp> {
  using ToLinalgPattern::ToLinalgPattern;

  Value makeResult(stablehlo::MapOp op, OpAdaptor adaptor, RankedTensorType type,
                   ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Block &body = op.getComputation().front();
    DenseMap<Value, Value> captured = cpu::readCaptured(rewriter, body);
    SmallVector<AffineMap> maps(adaptor.getInputs().size(), b.getMultiDimIdentityMap(type.getRank()));
    Value init = cpu::makeEmpty(b, type, cpu::getExtents(rewriter, op->getResults()));
    return cpu::makeParallel(
        b, type, init, adaptor.getInputs(), maps, [&](ImplicitLocOpBuilder &inner, ValueRange elements) {
          SmallVector<Value> operands;
          for (auto [element, original] : llvm::zip_equal(elements, op.getInputs()))
            operands.push_back(cpu::loadElement(inner, element, cpu::getElement(original)));
          Value value = cpu::emitScalarBlock(inner, body, operands, [&](Value v) { return captured.at(v); }).front();
          return cpu::storeElement(inner, value, cpu::getElement(op.getType()));
        });
  }
};

} // namespace

void cpu::populateReductionToLinalg(const TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<MapToGeneric, ReduceToGeneric>(types, patterns.getContext());
}
