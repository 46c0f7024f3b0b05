// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows that slide over a tensor: reduce_window and select_and_scatter.
//
// reduce_window pads its inputs with the initial values and is then a reduction over the window's dimensions, whose
// input map is position * stride + tap * dilation. Frameworks also write prefix sums as reduce_window, with a window as
// long as the dimension: that would take N² steps. It is recognised and becomes a scan (StableHLOToLinalgScan.cpp).
//
// select_and_scatter is loops: for each window the selected position is searched, and the source element combined
// there.

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalgPattern.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalgScan.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace latewood;

namespace {

struct ReduceWindowToLinalg : OpConversionPattern<stablehlo::ReduceWindowOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::ReduceWindowOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)))
      return failure();
    auto inputType = cast<RankedTensorType>(adaptor.getInputs().front().getType());
    int64_t rank = inputType.getRank();
    cpu::Window window(rank, op.getWindowDimensions(), op.getWindowStrides(), op.getBaseDilations(),
                       op.getWindowDilations(), op.getPadding());
    cpu::Extents extents = cpu::getExtents(rewriter, op.getInputs());
    std::optional<cpu::Scan> scan = cpu::matchScan(op);
    if (scan && !cpu::isKnownEmpty(extents)) {
      rewriter.replaceOp(
          op, cpu::makeScan(op, adaptor.getInputs(), adaptor.getInitValues(), types, extents, *scan, rewriter));
      return success();
    }

    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    cpu::Padding padding = {
        getAsIndexOpFoldResult(b.getContext(), window.low), getAsIndexOpFoldResult(b.getContext(), window.high), {}};
    SmallVector<int64_t> taps;
    SmallVector<AffineExpr> position, tapDims;
    SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
    for (int64_t dim = 0; dim < rank; ++dim) {
      padding.interior.push_back(b.getIndexAttr(window.baseDilation[dim] - 1));
      AffineExpr expr = b.getAffineDimExpr(dim) * window.stride[dim];
      if (window.size[dim] != 1) {
        AffineExpr tap = b.getAffineDimExpr(rank + taps.size());
        tapDims.push_back(tap);
        expr = expr + tap * window.windowDilation[dim];
        taps.push_back(window.size[dim]);
        iterators.push_back(utils::IteratorType::reduction);
      }
      position.push_back(expr);
    }
    cpu::Extents padded = cpu::getPaddedExtents(b, extents, padding);
    SmallVector<Value> inputs;
    for (auto [input, init] : llvm::zip_equal(adaptor.getInputs(), adaptor.getInitValues()))
      inputs.push_back(cpu::makePadded(b, input, extents, cpu::getOnlyElement(b, init), padding, padded));
    auto inputElements = llvm::map_to_vector(op.getInputs(), [](Value value) { return cpu::getElement(value); });
    auto initElements = llvm::map_to_vector(op.getInitValues(), [](Value value) { return cpu::getElement(value); });
    auto resultElements = llvm::map_to_vector(op.getResults(), [](Value value) { return cpu::getElement(value); });
    int64_t loops = rank + taps.size();
    cpu::Reduction reduction{
        .body = op.getBody().front(),
        .inputs = inputs,
        .inputElements = inputElements,
        .inits = adaptor.getInitValues(),
        .initElements = initElements,
        .types = types,
        .resultElements = resultElements,
        .extents = cpu::getExtents(rewriter, op->getResults()),
        .inputMap = AffineMap::get(loops, 0, position, b.getContext()),
        .resultMap = cpu::getLeadingDims(b, loops, rank),
        .windowMap = AffineMap::get(loops, 0, tapDims, b.getContext()),
        .window = taps.empty() ? Value() : cpu::makeEmpty(b, RankedTensorType::get(taps, inputType.getElementType())),
        .iterators = iterators};
    rewriter.replaceOp(op, cpu::makeReduction(rewriter, op.getLoc(), reduction));
    return success();
  }
};

struct SelectAndScatterToLoops : cpu::ToLinalgPattern<stablehlo::SelectAndScatterOp> {
  using ToLinalgPattern::ToLinalgPattern;

  Value makeResult(stablehlo::SelectAndScatterOp op, OpAdaptor adaptor, RankedTensorType type,
                   ConversionPatternRewriter &rewriter) const override {
    cpu::Extents extents = cpu::getExtents(rewriter, op.getOperand()),
                 windows = cpu::getExtents(rewriter, op.getSource());
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    int64_t rank = type.getRank();
    SmallVector<int64_t> unit(rank, 1);
    cpu::Window window(rank, op.getWindowDimensions().value_or(unit), op.getWindowStrides(), std::nullopt, std::nullopt,
                       op.getPadding());
    Type element = cpu::getElement(op.getOperand().getType());
    DenseMap<Value, Value> selectCaptured = cpu::readCaptured(rewriter, op.getSelect().front());
    DenseMap<Value, Value> scatterCaptured = cpu::readCaptured(rewriter, op.getScatter().front());
    Value result = cpu::makeUniform(b, type, cpu::getOnlyElement(b, adaptor.getInitValue()), extents);
    if (cpu::isKnownEmpty(extents) || cpu::isKnownEmpty(windows))
      return result;
    auto index = [](ImplicitLocOpBuilder &at, int64_t value) -> Value {
      return arith::ConstantIndexOp::create(at, value);
    };
    Value zero = index(b, 0), one = index(b, 1), no = arith::ConstantOp::create(b, b.getBoolAttr(false));
    SmallVector<Value> zeros(rank, zero), ones(rank, one), taps;
    SmallVector<Value> limits = cpu::toValues(b, extents), positions = cpu::toValues(b, windows);
    for (int64_t dim = 0; dim < rank; ++dim)
      taps.push_back(index(b, window.size[dim]));

    // Carried through the window: whether anything was selected, its value and its position.
    auto visitTap = [&](OpBuilder &nested, Location loc, ValueRange source, ValueRange tap,
                        ValueRange best) -> scf::ValueVector {
      ImplicitLocOpBuilder inner(loc, nested);
      SmallVector<Value> place;
      Value isInside = arith::ConstantOp::create(inner, inner.getBoolAttr(true));
      for (int64_t dim = 0; dim < rank; ++dim) {
        Value at = arith::MulIOp::create(inner, source[dim], index(inner, window.stride[dim]));
        at = arith::AddIOp::create(inner, at, tap[dim]);
        at = arith::SubIOp::create(inner, at, index(inner, window.low[dim]));
        // A negative position is a large unsigned one.
        Value fits = arith::CmpIOp::create(inner, arith::CmpIPredicate::ult, at, limits[dim]);
        isInside = arith::AndIOp::create(inner, isInside, fits);
        place.push_back(arith::SelectOp::create(inner, fits, at, zero));
      }
      Value value = cpu::loadElement(inner, tensor::ExtractOp::create(inner, adaptor.getOperand(), place), element);
      Value keeps = cpu::emitScalarBlock(inner, op.getSelect().front(), {best[1], value}, [&](Value outside) {
                      return selectCaptured.at(outside);
                    }).front();
      keeps = arith::AndIOp::create(inner, keeps, best[0]);
      Value yes = arith::ConstantOp::create(inner, inner.getBoolAttr(true));
      Value takes = arith::AndIOp::create(inner, isInside, arith::XOrIOp::create(inner, keeps, yes));
      scf::ValueVector next = {arith::OrIOp::create(inner, best[0], takes),
                               arith::SelectOp::create(inner, takes, value, best[1])};
      for (int64_t dim = 0; dim < rank; ++dim)
        next.push_back(arith::SelectOp::create(inner, takes, place[dim], best[2 + dim]));
      return next;
    };
    auto visitWindow = [&](OpBuilder &nested, Location loc, ValueRange source, ValueRange tensors) -> scf::ValueVector {
      ImplicitLocOpBuilder inner(loc, nested);
      Type compute = cpu::getComputeType(element);
      SmallVector<Value> best = {no, arith::ConstantOp::create(inner, cast<TypedAttr>(inner.getZeroAttr(compute)))};
      best.append(rank, zero);
      scf::ValueVector selected = scf::buildLoopNest(nested, loc, zeros, taps, ones, best,
                                                     [&](OpBuilder &at, Location, ValueRange tap, ValueRange values) {
                                                       return visitTap(at, loc, source, tap, values);
                                                     })
                                      .results;
      SmallVector<Value> place(selected.begin() + 2, selected.end());
      Value stored = tensor::ExtractOp::create(inner, tensors.front(), place);
      Value old = cpu::loadElement(inner, stored, element);
      Value update = cpu::loadElement(inner, tensor::ExtractOp::create(inner, adaptor.getSource(), source), element);
      Value combined = cpu::emitScalarBlock(inner, op.getScatter().front(), {old, update}, [&](Value outside) {
                         return scatterCaptured.at(outside);
                       }).front();
      combined = arith::SelectOp::create(inner, selected[0], cpu::storeElement(inner, combined, element), stored);
      return {tensor::InsertOp::create(inner, combined, tensors.front(), place)};
    };
    return scf::buildLoopNest(b, op.getLoc(), zeros, positions, ones, result, visitWindow).results.front();
  }
};

} // namespace

void cpu::populateWindowToLinalg(const TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<ReduceWindowToLinalg, SelectAndScatterToLoops>(types, patterns.getContext());
}
