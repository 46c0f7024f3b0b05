// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows that slide over a tensor: reduce_window and select_and_scatter.
//
// reduce_window pads its inputs with the initial values and is then a reduction over the window's dimensions, whose
// input map is position * stride + tap * dilation. Frameworks also write prefix sums as reduce_window, with a window as
// long as the dimension: that would take N² steps. It is recognised and becomes a scan, a loop along the dimension that
// carries the running value.
//
// select_and_scatter is loops: for each window the selected position is searched, and the source element combined
// there.

#include "latewood/compiler/Dialect/StableHLO/Shapes.h"
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalgPattern.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace latewood;

namespace {

/// The attributes of a windowed operation with their defaults filled in.
struct Window {
  SmallVector<int64_t> size, stride, baseDilation, windowDilation, low, high;

  Window(int64_t rank, ArrayRef<int64_t> size, std::optional<ArrayRef<int64_t>> stride,
         std::optional<ArrayRef<int64_t>> baseDilation, std::optional<ArrayRef<int64_t>> windowDilation,
         std::optional<DenseIntElementsAttr> padding)
      : size(size), stride(rank, 1), baseDilation(rank, 1), windowDilation(rank, 1), low(rank, 0), high(rank, 0) {
    if (stride)
      this->stride.assign(stride->begin(), stride->end());
    if (baseDilation)
      this->baseDilation.assign(baseDilation->begin(), baseDilation->end());
    if (windowDilation)
      this->windowDilation.assign(windowDilation->begin(), windowDilation->end());
    if (padding) {
      auto values = llvm::to_vector(padding->getValues<int64_t>());
      for (int64_t dim = 0; dim < rank; ++dim) {
        low[dim] = values[2 * dim];
        high[dim] = values[2 * dim + 1];
      }
    }
  }
};

/// A scan: along `dim`, from the first element or from the last.
struct Scan {
  int64_t dim;
  bool isReverse;
};

std::optional<Scan> matchScan(const Window &window, ArrayRef<int64_t> shape) {
  std::optional<Scan> scan;
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    if (window.stride[dim] != 1 || window.baseDilation[dim] != 1 || window.windowDilation[dim] != 1)
      return std::nullopt;
    int64_t low = window.low[dim], high = window.high[dim];
    if (window.size[dim] == 1 && low == 0 && high == 0)
      continue;
    int64_t reach = window.size[dim] - 1;
    bool isForward = low == reach && high == 0, isReverse = low == 0 && high == reach;
    bool covers = window.size[dim] >= (ShapedType::isDynamic(extent) ? stablehlo::kWholeWindow : extent);
    if (scan || !covers || (!isForward && !isReverse))
      return std::nullopt;
    scan = Scan{static_cast<int64_t>(dim), isReverse};
  }
  return scan;
}

struct ReduceWindowToLinalg : OpConversionPattern<stablehlo::ReduceWindowOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::ReduceWindowOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)))
      return failure();
    auto inputType = cast<RankedTensorType>(adaptor.getInputs().front().getType());
    int64_t rank = inputType.getRank();
    Window window(rank, op.getWindowDimensions(), op.getWindowStrides(), op.getBaseDilations(), op.getWindowDilations(),
                  op.getPadding());
    bool keepsElements = llvm::equal(op.getInputs().getTypes(), op.getResultTypes());
    std::optional<Scan> scan = matchScan(window, inputType.getShape());
    cpu::Extents extents = cpu::getExtents(rewriter, op.getInputs());
    if (scan && keepsElements && !cpu::isKnownEmpty(extents)) {
      // Elements that one step of the scan has side by side; many, where they are not known.
      constexpr int64_t enough = 8;
      int64_t contiguous = 1;
      for (int64_t dim = scan->dim + 1; dim < rank; ++dim)
        contiguous *= getConstantIntValue(extents[dim]).value_or(enough);
      rewriter.replaceOp(op, contiguous >= enough ? makeScanOfSlices(op, adaptor, types, extents, *scan, rewriter)
                                                  : makeScan(op, adaptor, types, extents, *scan, rewriter));
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

private:
  /// A loop along the scanned dimension that carries the running values of all others, as tensors: for dimensions that
  /// are not the innermost, whose steps are then over contiguous elements.
  static SmallVector<Value> makeScanOfSlices(stablehlo::ReduceWindowOp op, OpAdaptor adaptor, ArrayRef<Type> types,
                                             ArrayRef<OpFoldResult> extents, Scan scan,
                                             ConversionPatternRewriter &rewriter) {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Block &body = op.getBody().front();
    DenseMap<Value, Value> captured = cpu::readCaptured(rewriter, body);
    auto type = cast<RankedTensorType>(types.front());
    unsigned count = types.size();
    cpu::Extents mixedSizes(extents), shape = cpu::withoutDim(extents, scan.dim);
    mixedSizes[scan.dim] = b.getIndexAttr(1);
    SmallVector<Value> carried;
    SmallVector<Type> sliceTypes;
    for (unsigned i = 0; i < count; ++i) {
      sliceTypes.push_back(cpu::getTypeOf(shape, cpu::getElement(types[i])));
      carried.push_back(cpu::makeUniform(b, cast<RankedTensorType>(sliceTypes[i]),
                                         cpu::getOnlyElement(b, adaptor.getInitValues()[i]), shape));
    }
    for (Type resultType : types)
      carried.push_back(count == 1 ? cpu::makeEmpty(b, cast<RankedTensorType>(resultType), extents)
                                   : cpu::makeBuffer(b, cast<RankedTensorType>(resultType), extents));
    Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
    Value extent = cpu::toValue(b, extents[scan.dim]);
    Value last = cpu::toValue(b, cpu::subIndices(b, extents[scan.dim], b.getIndexAttr(1)));
    SmallVector<OpFoldResult> strides(type.getRank(), b.getIndexAttr(1));

    auto loop = scf::ForOp::create(
        b, zero, extent, one, carried, [&](OpBuilder &nested, Location loc, Value step, ValueRange values) {
          ImplicitLocOpBuilder inner(loc, nested);
          SmallVector<OpFoldResult> offsets(type.getRank(), inner.getIndexAttr(0));
          offsets[scan.dim] = scan.isReverse ? Value(arith::SubIOp::create(inner, last, step)) : step;
          SmallVector<Value> slices;
          for (auto [input, sliceType] : llvm::zip_equal(adaptor.getInputs(), sliceTypes))
            slices.push_back(tensor::ExtractSliceOp::create(inner, cast<RankedTensorType>(sliceType), input, offsets,
                                                            mixedSizes, strides));
          SmallVector<AffineMap> maps(2 * count, inner.getMultiDimIdentityMap(shape.size()));
          SmallVector<utils::IteratorType> iterators(shape.size(), utils::IteratorType::parallel);
          auto combined = linalg::GenericOp::create(
              inner, sliceTypes, slices, values.take_front(count), maps, iterators,
              [&](OpBuilder &builder, Location, ValueRange elements) {
                ImplicitLocOpBuilder at(loc, builder);
                SmallVector<Value> scalars;
                for (auto [element, init] : llvm::zip_equal(elements.take_back(count), op.getInitValues()))
                  scalars.push_back(cpu::loadElement(at, element, cpu::getElement(init)));
                for (auto [element, input] : llvm::zip_equal(elements.take_front(count), op.getInputs()))
                  scalars.push_back(cpu::loadElement(at, element, cpu::getElement(input)));
                SmallVector<Value> results =
                    cpu::emitScalarBlock(at, body, scalars, [&](Value value) { return captured.at(value); });
                for (auto [result, original] : llvm::zip_equal(results, op.getResults()))
                  result = cpu::storeElement(at, result, cpu::getElement(original));
                linalg::YieldOp::create(at, results);
              });
          SmallVector<Value> next(combined.getResults());
          for (unsigned i = 0; i < count; ++i)
            next.push_back(tensor::InsertSliceOp::create(inner, combined.getResult(i), values[count + i], offsets,
                                                         mixedSizes, strides));
          scf::YieldOp::create(inner, next);
        });
    return SmallVector<Value>(loop.getResults().take_back(count));
  }

  /// Loops over all other dimensions, and inside a loop along the scanned one that carries the running values as
  /// scalars.
  static SmallVector<Value> makeScan(stablehlo::ReduceWindowOp op, OpAdaptor adaptor, ArrayRef<Type> types,
                                     ArrayRef<OpFoldResult> extents, Scan scan, ConversionPatternRewriter &rewriter) {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Block &body = op.getBody().front();
    DenseMap<Value, Value> captured = cpu::readCaptured(rewriter, body);
    unsigned count = types.size();
    Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
    Value extent = cpu::toValue(b, extents[scan.dim]);
    Value last = cpu::toValue(b, cpu::subIndices(b, extents[scan.dim], b.getIndexAttr(1)));

    SmallVector<Value> inits, results, upper;
    for (unsigned i = 0; i < count; ++i) {
      Type element = cpu::getElement(op.getInitValues()[i]);
      inits.push_back(cpu::loadElement(b, cpu::getOnlyElement(b, adaptor.getInitValues()[i]), element));
      auto resultType = cast<RankedTensorType>(types[i]);
      results.push_back(count == 1 ? cpu::makeEmpty(b, resultType, extents) : cpu::makeBuffer(b, resultType, extents));
    }
    upper = cpu::toValues(b, cpu::withoutDim(extents, scan.dim));

    auto scanRow = [&](OpBuilder &outer, Location loc, ValueRange row, ValueRange tensors) -> scf::ValueVector {
      SmallVector<Value> carried(inits);
      carried.append(tensors.begin(), tensors.end());
      auto loop = scf::ForOp::create(
          outer, loc, zero, extent, one, carried, [&](OpBuilder &nested, Location, Value step, ValueRange values) {
            ImplicitLocOpBuilder inner(loc, nested);
            SmallVector<Value> position(row);
            Value place = scan.isReverse ? Value(arith::SubIOp::create(inner, last, step)) : step;
            position.insert(position.begin() + scan.dim, place);
            SmallVector<Value> scalars(values.take_front(count));
            for (unsigned i = 0; i < count; ++i) {
              Value stored = tensor::ExtractOp::create(inner, adaptor.getInputs()[i], position);
              scalars.push_back(cpu::loadElement(inner, stored, cpu::getElement(op.getInputs()[i])));
            }
            SmallVector<Value> next =
                cpu::emitScalarBlock(inner, body, scalars, [&](Value value) { return captured.at(value); });
            for (unsigned i = 0; i < count; ++i) {
              Value stored = cpu::storeElement(inner, next[i], cpu::getElement(op.getResult(i)));
              next.push_back(tensor::InsertOp::create(inner, stored, values[count + i], position));
            }
            scf::YieldOp::create(inner, next);
          });
      return scf::ValueVector(ValueRange(loop.getResults().take_back(count)));
    };
    SmallVector<Value> lower(upper.size(), zero), steps(upper.size(), one);
    return scf::buildLoopNest(b, op.getLoc(), lower, upper, steps, results, scanRow).results;
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
    Window window(rank, op.getWindowDimensions().value_or(unit), op.getWindowStrides(), std::nullopt, std::nullopt,
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
