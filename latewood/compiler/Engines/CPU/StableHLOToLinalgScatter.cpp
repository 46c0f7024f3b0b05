// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// scatter: loops over the updates, in order. Where each window is a whole row of the input (the gradient of a lookup of
// rows), a step combines a slice; else a step combines one element. An update whose position is outside of the inputs
// is skipped: it reads and writes back what stands at a position that exists.

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalg.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace latewood;

namespace {

struct ScatterToLoops : OpConversionPattern<stablehlo::ScatterOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::ScatterOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto inputType = cast<RankedTensorType>(adaptor.getInputs().front().getType());
    auto updateType = cast<RankedTensorType>(adaptor.getUpdates().front().getType());
    if (llvm::is_contained(inputType.getShape(), 0) || llvm::is_contained(updateType.getShape(), 0)) {
      rewriter.replaceOp(op, adaptor.getInputs());
      return success();
    }
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Shapes shapes = {cpu::getExtents(rewriter, op.getInputs()), cpu::getExtents(rewriter, op.getUpdates())};
    if (hasWholeWindows(op, shapes) && inputType.getRank() > 0) {
      rewriter.replaceOp(op, scatterWindows(op, adaptor, shapes, rewriter));
      return success();
    }
    DenseMap<Value, Value> captured = cpu::readCaptured(rewriter, op.getUpdateComputation().front());
    Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
    SmallVector<Value> upper = cpu::toValues(b, shapes.updates);
    SmallVector<Value> lower(upper.size(), zero), steps(upper.size(), one);

    auto update = [&](OpBuilder &nested, Location loc, ValueRange position, ValueRange tensors) -> scf::ValueVector {
      ImplicitLocOpBuilder inner(loc, nested);
      auto [place, isInside] = findPlace(inner, op, adaptor, shapes, position);
      SmallVector<Value> scalars, stored;
      for (auto [tensor, original] : llvm::zip_equal(tensors, op.getInputs())) {
        stored.push_back(tensor::ExtractOp::create(inner, tensor, place));
        scalars.push_back(cpu::loadElement(inner, stored.back(), cpu::getElement(original)));
      }
      for (auto [updates, original] : llvm::zip_equal(adaptor.getUpdates(), op.getUpdates()))
        scalars.push_back(
            cpu::loadElement(inner, tensor::ExtractOp::create(inner, updates, position), cpu::getElement(original)));
      SmallVector<Value> combined = cpu::emitScalarBlock(inner, op.getUpdateComputation().front(), scalars,
                                                         [&](Value value) { return captured.at(value); });
      scf::ValueVector results;
      for (auto [i, tensor] : llvm::enumerate(tensors)) {
        Value value = cpu::storeElement(inner, combined[i], cpu::getElement(op.getInputs()[i]));
        value = arith::SelectOp::create(inner, isInside, value, stored[i]);
        results.push_back(tensor::InsertOp::create(inner, value, tensor, place));
      }
      return results;
    };
    rewriter.replaceOp(op,
                       scf::buildLoopNest(b, op.getLoc(), lower, upper, steps, adaptor.getInputs(), update).results);
    return success();
  }

private:
  struct Shapes {
    cpu::Extents inputs, updates;
  };

  /// True if each window is a row (or a plane...) of the input as a whole, of more than a few elements: then it is
  /// inside or outside as a whole, too. Extents that are not known count as many elements.
  static bool hasWholeWindows(stablehlo::ScatterOp op, const Shapes &shapes) {
    constexpr int64_t fewestElements = 8;
    stablehlo::ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
    int64_t elements = 1;
    size_t next = 0;
    for (int64_t dim = 0, rank = shapes.inputs.size(); dim < rank; ++dim) {
      bool isIndexed = llvm::is_contained(numbers.getInsertedWindowDims(), dim) ||
                       llvm::is_contained(numbers.getInputBatchingDims(), dim);
      if (isIndexed)
        continue;
      if (llvm::is_contained(numbers.getScatterDimsToOperandDims(), dim))
        return false;
      // The window's dimensions are those of the input that remain, in order.
      if (shapes.inputs[dim] != shapes.updates[numbers.getUpdateWindowDims()[next++]])
        return false;
      elements *= getConstantIntValue(shapes.inputs[dim]).value_or(fewestElements);
    }
    return elements >= fewestElements;
  }

  /// Loops over the windows; each is combined as a slice.
  static SmallVector<Value> scatterWindows(stablehlo::ScatterOp op, OpAdaptor adaptor, const Shapes &shapes,
                                           ConversionPatternRewriter &rewriter) {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Block &body = op.getUpdateComputation().front();
    DenseMap<Value, Value> captured = cpu::readCaptured(rewriter, body);
    stablehlo::ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
    auto inputType = cast<RankedTensorType>(adaptor.getInputs().front().getType());
    auto updateType = cast<RankedTensorType>(adaptor.getUpdates().front().getType());
    Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
    SmallVector<int64_t> batchDims;
    cpu::Extents window, inputSizes(shapes.inputs), updateSizes(shapes.updates);
    SmallVector<Value> upper;
    for (int64_t dim = 0; dim < updateType.getRank(); ++dim) {
      bool isWindow = llvm::is_contained(numbers.getUpdateWindowDims(), dim);
      if (isWindow)
        continue;
      updateSizes[dim] = b.getIndexAttr(1);
      batchDims.push_back(dim);
      upper.push_back(cpu::toValue(b, shapes.updates[dim]));
    }
    for (int64_t dim = 0; dim < inputType.getRank(); ++dim) {
      bool isIndexed = llvm::is_contained(numbers.getInsertedWindowDims(), dim) ||
                       llvm::is_contained(numbers.getInputBatchingDims(), dim);
      if (isIndexed)
        inputSizes[dim] = b.getIndexAttr(1);
      else
        window.push_back(shapes.inputs[dim]);
    }
    SmallVector<OpFoldResult> inputStrides(inputType.getRank(), b.getIndexAttr(1));
    SmallVector<OpFoldResult> updateStrides(updateType.getRank(), b.getIndexAttr(1));

    auto update = [&](OpBuilder &nested, Location loc, ValueRange batch, ValueRange tensors) -> scf::ValueVector {
      ImplicitLocOpBuilder inner(loc, nested);
      SmallVector<Value> position(updateType.getRank(), zero);
      for (auto [dim, index] : llvm::zip_equal(batchDims, batch))
        position[dim] = index;
      auto [place, isInside] = findPlace(inner, op, adaptor, shapes, position);
      SmallVector<OpFoldResult> inputOffsets = getAsOpFoldResult(place), updateOffsets = getAsOpFoldResult(position);
      SmallVector<Value> slices, updates;
      SmallVector<Type> types;
      for (auto [tensor, source] : llvm::zip_equal(tensors, adaptor.getUpdates())) {
        RankedTensorType type = cpu::getTypeOf(window, cpu::getElement(tensor));
        types.push_back(type);
        slices.push_back(tensor::ExtractSliceOp::create(inner, type, tensor, inputOffsets, inputSizes, inputStrides));
        updates.push_back(
            tensor::ExtractSliceOp::create(inner, type, source, updateOffsets, updateSizes, updateStrides));
      }
      unsigned count = types.size();
      SmallVector<AffineMap> maps(2 * count, inner.getMultiDimIdentityMap(window.size()));
      SmallVector<utils::IteratorType> iterators(window.size(), utils::IteratorType::parallel);
      auto combined = linalg::GenericOp::create(
          inner, types, updates, slices, maps, iterators, [&](OpBuilder &builder, Location, ValueRange elements) {
            ImplicitLocOpBuilder at(loc, builder);
            ValueRange old = elements.take_back(count);
            SmallVector<Value> scalars;
            for (auto [element, original] : llvm::zip_equal(old, op.getInputs()))
              scalars.push_back(cpu::loadElement(at, element, cpu::getElement(original)));
            for (auto [element, original] : llvm::zip_equal(elements.take_front(count), op.getUpdates()))
              scalars.push_back(cpu::loadElement(at, element, cpu::getElement(original)));
            SmallVector<Value> results =
                cpu::emitScalarBlock(at, body, scalars, [&](Value value) { return captured.at(value); });
            for (unsigned i = 0; i < count; ++i) {
              Value stored = cpu::storeElement(at, results[i], cpu::getElement(op.getInputs()[i]));
              results[i] = arith::SelectOp::create(at, isInside, stored, old[i]);
            }
            linalg::YieldOp::create(at, results);
          });
      scf::ValueVector results;
      for (auto [result, tensor] : llvm::zip_equal(combined.getResults(), tensors))
        results.push_back(tensor::InsertSliceOp::create(inner, result, tensor, inputOffsets, inputSizes, inputStrides));
      return results;
    };
    SmallVector<Value> lower(upper.size(), zero), steps(upper.size(), one);
    return scf::buildLoopNest(b, op.getLoc(), lower, upper, steps, adaptor.getInputs(), update).results;
  }

  /// Where the update at `position` goes, and whether that is inside of the inputs (if not: another place that is).
  static std::pair<SmallVector<Value>, Value> findPlace(ImplicitLocOpBuilder &b, stablehlo::ScatterOp op,
                                                        OpAdaptor adaptor, const Shapes &shapes, ValueRange position) {
    stablehlo::ScatterDimensionNumbersAttr numbers = op.getScatterDimensionNumbers();
    auto inputType = cast<RankedTensorType>(adaptor.getInputs().front().getType());
    auto indicesType = cast<RankedTensorType>(adaptor.getScatterIndices().getType());
    int64_t vectorDim = numbers.getIndexVectorDim();
    SmallVector<Value> batch;
    for (auto [dim, index] : llvm::enumerate(position))
      if (!llvm::is_contained(numbers.getUpdateWindowDims(), static_cast<int64_t>(dim)))
        batch.push_back(index);

    Value zero = arith::ConstantIndexOp::create(b, 0);
    SmallVector<Value> place(inputType.getRank(), zero);
    // Position in the window.
    unsigned next = 0;
    for (int64_t dim = 0; dim < inputType.getRank(); ++dim)
      if (!llvm::is_contained(numbers.getInsertedWindowDims(), dim) &&
          !llvm::is_contained(numbers.getInputBatchingDims(), dim))
        place[dim] = position[numbers.getUpdateWindowDims()[next++]];
    // Position in the batch.
    for (auto [dim, indicesDim] :
         llvm::zip_equal(numbers.getInputBatchingDims(), numbers.getScatterIndicesBatchingDims()))
      place[dim] = batch[indicesDim < vectorDim ? indicesDim : indicesDim - 1];
    // The window's start.
    bool isUnsigned = cpu::getElement(op.getScatterIndices().getType()).isUnsignedInteger();
    for (auto [component, dim] : llvm::enumerate(numbers.getScatterDimsToOperandDims())) {
      SmallVector<Value> at(batch);
      if (vectorDim < indicesType.getRank())
        at.insert(at.begin() + vectorDim, arith::ConstantIndexOp::create(b, component));
      Value start = tensor::ExtractOp::create(b, adaptor.getScatterIndices(), at);
      start = isUnsigned ? Value(arith::IndexCastUIOp::create(b, b.getIndexType(), start))
                         : arith::IndexCastOp::create(b, b.getIndexType(), start);
      place[dim] = arith::AddIOp::create(b, start, place[dim]);
    }
    Value isInside = arith::ConstantOp::create(b, b.getBoolAttr(true));
    for (int64_t dim = 0; dim < inputType.getRank(); ++dim) {
      // A negative position is a large unsigned one.
      Value extent = cpu::toValue(b, shapes.inputs[dim]);
      Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, place[dim], extent);
      isInside = arith::AndIOp::create(b, isInside, fits);
      place[dim] = arith::SelectOp::create(b, fits, place[dim], zero);
    }
    return {place, isInside};
  }
};

} // namespace

void cpu::populateScatterToLoops(const TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<ScatterToLoops>(types, patterns.getContext());
}
