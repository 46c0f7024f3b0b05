// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pass FlattenValues. A tuple is a list of values under one name, and a token is no data at all: each value becomes
// the tensors that it consists of, one, several or none, through functions and control flow alike.
//
// In: inlined functions. Out: all values are tensors.

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Input/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace latewood::input {

#define GEN_PASS_DEF_FLATTENVALUESPASS
#include "latewood/compiler/Input/Passes.h.inc"

namespace {

class FlatTypes : public TypeConverter {
public:
  FlatTypes() {
    addConversion([](Type type) { return type; });
    addConversion([](stablehlo::TokenType, SmallVectorImpl<Type> &) { return success(); });
    addConversion([](TupleType type, SmallVectorImpl<Type> &types) {
      type.getFlattenedTypes(types);
      llvm::erase_if(types, [](Type part) { return isa<stablehlo::TokenType>(part); });
      return success();
    });
  }
};

SmallVector<Value> flatten(ArrayRef<ValueRange> values) {
  SmallVector<Value> flat;
  for (ValueRange range : values)
    flat.append(range.begin(), range.end());
  return flat;
}

/// An operation whose operands, results and regions pass values along: the same on flat values.
template <typename OpTy>
struct FlattenCarrier : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;
  using OneToNOpAdaptor = typename OpConversionPattern<OpTy>::OneToNOpAdaptor;

  LogicalResult matchAndRewrite(OpTy op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    const TypeConverter &converter = *this->getTypeConverter();
    OperationState state(op.getLoc(), op->getName());
    state.addOperands(flatten(adaptor.getOperands()));
    state.addAttributes(op->getAttrs());
    SmallVector<unsigned> counts;
    for (Type type : op->getResultTypes()) {
      size_t before = state.types.size();
      if (failed(converter.convertType(type, state.types)))
        return failure();
      counts.push_back(state.types.size() - before);
    }
    for (Region &region : op->getRegions()) {
      Region *moved = state.addRegion();
      rewriter.inlineRegionBefore(region, *moved, moved->end());
      if (failed(rewriter.convertRegionTypes(moved, converter)))
        return failure();
    }
    Operation *flat = rewriter.create(state);
    SmallVector<SmallVector<Value>> results;
    unsigned next = 0;
    for (unsigned count : counts) {
      results.emplace_back(flat->getResults().slice(next, count));
      next += count;
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

struct FlattenTuple : OpConversionPattern<stablehlo::TupleOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::TupleOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, SmallVector<SmallVector<Value>>{flatten(adaptor.getOperands())});
    return success();
  }
};

struct FlattenGetTupleElement : OpConversionPattern<stablehlo::GetTupleElementOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::GetTupleElementOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> before, chosen;
    ArrayRef<Type> elements = cast<TupleType>(op.getOperand().getType()).getTypes();
    const TypeConverter &converter = *getTypeConverter();
    if (failed(converter.convertTypes(elements.take_front(op.getIndex()), before)) ||
        failed(converter.convertType(elements[op.getIndex()], chosen)))
      return failure();
    ValueRange parts = adaptor.getOperand().slice(before.size(), chosen.size());
    rewriter.replaceOpWithMultiple(op, SmallVector<SmallVector<Value>>{llvm::to_vector(parts)});
    return success();
  }
};

/// Attributes of an argument or result stay where one value takes its place.
struct FlattenFunction : OpConversionPattern<func::FuncOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(func::FuncOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    const TypeConverter &converter = *getTypeConverter();
    TypeConverter::SignatureConversion signature(op.getNumArguments());
    SmallVector<Type> resultTypes;
    SmallVector<DictionaryAttr> argumentAttributes, resultAttributes;
    auto keepAttributes = [&](size_t count, DictionaryAttr attributes, SmallVectorImpl<DictionaryAttr> &kept) {
      kept.append(count, count == 1 && attributes ? attributes : rewriter.getDictionaryAttr({}));
    };
    if (failed(converter.convertSignatureArgs(op.getArgumentTypes(), signature)))
      return failure();
    for (unsigned i = 0; i < op.getNumArguments(); ++i) {
      auto mapping = signature.getInputMapping(i);
      keepAttributes(mapping ? mapping->size : 0, op.getArgAttrDict(i), argumentAttributes);
    }
    for (auto [i, type] : llvm::enumerate(op.getResultTypes())) {
      size_t before = resultTypes.size();
      if (failed(converter.convertType(type, resultTypes)))
        return failure();
      keepAttributes(resultTypes.size() - before, op.getResultAttrDict(i), resultAttributes);
    }
    if (failed(rewriter.convertRegionTypes(&op.getBody(), converter, &signature)))
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.setFunctionType(rewriter.getFunctionType(signature.getConvertedTypes(), resultTypes));
      op.setAllArgAttrs(argumentAttributes);
      op.setAllResultAttrs(resultAttributes);
    });
    return success();
  }
};

template <typename OpTy>
struct DropToken : OpConversionPattern<OpTy> {
  using OpConversionPattern<OpTy>::OpConversionPattern;
  using OneToNOpAdaptor = typename OpConversionPattern<OpTy>::OneToNOpAdaptor;

  LogicalResult matchAndRewrite(OpTy op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, SmallVector<SmallVector<Value>>(1));
    return success();
  }
};

class FlattenValuesPass : public impl::FlattenValuesPassBase<FlattenValuesPass> {
public:
  void runOnOperation() override {
    FlatTypes types;
    auto isFlat = [&](Operation *op) {
      return types.isLegal(op) &&
             llvm::all_of(op->getRegions(), [&](Region &region) { return types.isLegal(&region); });
    };
    bool allFlat = true;
    WalkResult result = getOperation().walk([&](Operation *op) -> WalkResult {
      if (auto function = dyn_cast<func::FuncOp>(op)) {
        allFlat &= types.isSignatureLegal(function.getFunctionType());
        return WalkResult::advance();
      }
      if (isFlat(op))
        return WalkResult::advance();
      allFlat = false;
      if (isa<stablehlo::AfterAllOp, stablehlo::CaseOp, stablehlo::CreateTokenOp, stablehlo::GetTupleElementOp,
              stablehlo::IfOp, stablehlo::OptimizationBarrierOp, stablehlo::ReturnOp, stablehlo::TupleOp,
              stablehlo::WhileOp, func::ReturnOp>(op))
        return WalkResult::advance();
      op->emitError() << "'" << op->getName()
                      << "' takes or gives a token or a tuple, which only control flow may do here";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    if (allFlat)
      return;

    RewritePatternSet patterns(&getContext());
    patterns.add<FlattenCarrier<stablehlo::CaseOp>, FlattenCarrier<stablehlo::IfOp>,
                 FlattenCarrier<stablehlo::OptimizationBarrierOp>, FlattenCarrier<stablehlo::ReturnOp>,
                 FlattenCarrier<stablehlo::WhileOp>, FlattenCarrier<func::ReturnOp>, FlattenFunction, FlattenTuple,
                 FlattenGetTupleElement, DropToken<stablehlo::AfterAllOp>, DropToken<stablehlo::CreateTokenOp>>(
        types, &getContext());
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([&](Operation *op) {
      auto function = dyn_cast<func::FuncOp>(op);
      return isFlat(op) && (!function || types.isSignatureLegal(function.getFunctionType()));
    });
    if (failed(applyFullConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace latewood::input
