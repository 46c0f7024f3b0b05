// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// scatter: loops over the updates, one element at a time, in order. An update whose position is outside of the inputs
// is skipped: it reads and writes back an element at a position that exists.

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace latewood;

namespace {

struct ScatterToLoops : OpConversionPattern<stablehlo::ScatterOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::ScatterOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto inputType = cast<RankedTensorType>(adaptor.getInputs().front().getType());
    auto updateType = cast<RankedTensorType>(adaptor.getUpdates().front().getType());
    if (!inputType.hasStaticShape() || !updateType.hasStaticShape())
      return failure();
    if (inputType.getNumElements() == 0 || updateType.getNumElements() == 0) {
      rewriter.replaceOp(op, adaptor.getInputs());
      return success();
    }
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    DenseMap<Value, Value> captured = cpu::readCaptured(rewriter, op.getUpdateComputation().front());
    Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
    SmallVector<Value> upper;
    for (int64_t extent : updateType.getShape())
      upper.push_back(arith::ConstantIndexOp::create(b, extent));
    SmallVector<Value> lower(upper.size(), zero), steps(upper.size(), one);

    auto update = [&](OpBuilder &nested, Location loc, ValueRange position, ValueRange tensors) -> scf::ValueVector {
      ImplicitLocOpBuilder inner(loc, nested);
      auto [place, isInside] = findPlace(inner, op, adaptor, position);
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
  /// Where the update at `position` goes, and whether that is inside of the inputs (if not: another place that is).
  static std::pair<SmallVector<Value>, Value> findPlace(ImplicitLocOpBuilder &b, stablehlo::ScatterOp op,
                                                        OpAdaptor adaptor, ValueRange position) {
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
      Value extent = arith::ConstantIndexOp::create(b, inputType.getDimSize(dim));
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
