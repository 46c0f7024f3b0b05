// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// stablehlo.reduce and stablehlo.map.
//
//   stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1]
//   linalg.fill %c; linalg.generic {parallel, reduction} { arith.addf fastmath<reassoc> }
//
// The order of a reduction is free by the specification, which the combiner's flag says to the code generator. Sums and products
// of f16 and bf16 are accumulated in f32 and rounded once.

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalg.h"
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
         op.getOperand(0) != op.getOperand(1) && llvm::all_of(op.getOperands(), [](Value v) { return isa<BlockArgument>(v); });
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
    Block &body = op.getBody().front();
    DenseMap<Value, Value> captured = cpu::readCaptured(rewriter, body);
    auto inputType = cast<RankedTensorType>(adaptor.getInputs().front().getType());

    // The body's own element types: those of the results, but for sums of narrow floats.
    SmallVector<Type> elements;
    for (unsigned i = 0; i < types.size(); ++i)
      elements.push_back(cpu::getElement(body.getArgument(i).getType()));
    bool widens = isSumOrProduct(body) && isa<Float16Type, BFloat16Type>(elements.front());
    Type sumType = widens ? b.getF32Type() : elements.front();

    SmallVector<AffineExpr> kept;
    SmallVector<utils::IteratorType> iterators;
    SmallVector<Value> extents;
    for (int64_t dim = 0; dim < inputType.getRank(); ++dim) {
      bool isReduced = llvm::is_contained(op.getDimensions(), dim);
      iterators.push_back(isReduced ? utils::IteratorType::reduction : utils::IteratorType::parallel);
      if (isReduced)
        continue;
      kept.push_back(b.getAffineDimExpr(dim));
      if (inputType.isDynamicDim(dim))
        extents.push_back(cpu::getExtent(b, adaptor.getInputs().front(), dim));
    }
    unsigned count = types.size();
    SmallVector<AffineMap> maps(count, b.getMultiDimIdentityMap(inputType.getRank()));
    maps.append(count, AffineMap::get(inputType.getRank(), 0, kept, b.getContext()));

    SmallVector<Value> inits;
    for (auto [i, init] : llvm::enumerate(adaptor.getInitValues())) {
      Type initElement = cpu::getElement(op.getInitValues()[i]);
      Value value = cpu::loadElement(b, cpu::getOnlyElement(b, init), initElement);
      Type element = i == 0 ? sumType : elements[i];
      value = cpu::storeElement(b, cpu::convertElement(b, value, initElement, element), element);
      auto type = RankedTensorType::get(cast<RankedTensorType>(types[i]).getShape(), value.getType());
      inits.push_back(cpu::makeUniform(b, type, value, extents));
    }

    auto generic = linalg::GenericOp::create(
        b, TypeRange(ValueRange(inits)), adaptor.getInputs(), inits, maps, iterators,
        [&](OpBuilder &nested, Location loc, ValueRange arguments) {
          ImplicitLocOpBuilder inner(loc, nested);
          auto element = [&](unsigned i) { return i == 0 ? sumType : elements[i]; };
          SmallVector<Value> operands, results;
          for (unsigned i = 0; i < count; ++i)
            operands.push_back(cpu::loadElement(inner, arguments[count + i], element(i)));
          for (unsigned i = 0; i < count; ++i) {
            Type from = cpu::getElement(op.getInputs()[i]);
            Value loaded = cpu::loadElement(inner, arguments[i], from);
            operands.push_back(cpu::convertElement(inner, loaded, from, element(i)));
          }
          if (widens)
            results.push_back(isa<stablehlo::AddOp>(body.front())
                                  ? Value(arith::AddFOp::create(inner, operands[0], operands[1]))
                                  : arith::MulFOp::create(inner, operands[0], operands[1]));
          else
            results = cpu::emitScalarBlock(inner, body, operands, [&](Value v) { return captured.at(v); });
          allowReordering(results);
          for (unsigned i = 0; i < count; ++i)
            results[i] = cpu::storeElement(inner, results[i], element(i));
          linalg::YieldOp::create(inner, results);
        });

    // From the type of the accumulation to that of the result, where they differ.
    SmallVector<Value> results;
    for (auto [i, value] : llvm::enumerate(generic.getResults())) {
      auto type = cast<RankedTensorType>(types[i]);
      Type from = i == 0 ? sumType : elements[i], to = cpu::getElement(op.getResult(i));
      if (from == to) {
        results.push_back(value);
        continue;
      }
      results.push_back(cpu::makeParallel(b, type, cpu::makeEmpty(b, type, value), value,
                                          b.getMultiDimIdentityMap(type.getRank()),
                                          [&](ImplicitLocOpBuilder &inner, ValueRange elements) {
                                            Value loaded = cpu::loadElement(inner, elements.front(), from);
                                            return cpu::storeElement(inner, cpu::convertElement(inner, loaded, from, to), to);
                                          }));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct MapToGeneric : OpConversionPattern<stablehlo::MapOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::MapOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    if (!type)
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Block &body = op.getComputation().front();
    DenseMap<Value, Value> captured = cpu::readCaptured(rewriter, body);
    SmallVector<AffineMap> maps(adaptor.getInputs().size(), b.getMultiDimIdentityMap(type.getRank()));
    Value init = cpu::makeEmpty(b, type, adaptor.getInputs().front());
    Value result = cpu::makeParallel(
        b, type, init, adaptor.getInputs(), maps, [&](ImplicitLocOpBuilder &inner, ValueRange elements) {
          SmallVector<Value> operands;
          for (auto [element, original] : llvm::zip_equal(elements, op.getInputs()))
            operands.push_back(cpu::loadElement(inner, element, cpu::getElement(original)));
          Value value = cpu::emitScalarBlock(inner, body, operands, [&](Value v) { return captured.at(v); }).front();
          return cpu::storeElement(inner, value, cpu::getElement(op.getType()));
        });
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void cpu::populateReductionToLinalg(const TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<MapToGeneric, ReduceToGeneric>(types, patterns.getContext());
}
