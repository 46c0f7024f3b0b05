// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise operations and constants.
//
//   stablehlo.add %x, %y : tensor<4x8xf32>
//   linalg.generic {identity maps, all parallel} ins(%x, %y) outs(tensor.empty) { arith.addf }
//
// An operand that is uniform is no input of the generic: its scalar is used in the body. When all operands are uniform
// the operation is computed once, as a scalar, and the result is a fill. So 0-dimensional arithmetic (loop counters,
// start indices, scale factors) is plain scalar code.

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalg.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace latewood;

namespace {

struct ElementwiseToGeneric : ConversionPattern {
  ElementwiseToGeneric(const TypeConverter &types, MLIRContext *context)
      : ConversionPattern(types, MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    if (!cpu::isScalarOp(op))
      return failure();
    auto type = getTypeConverter()->convertType<RankedTensorType>(op->getResult(0).getType());
    if (!type)
      return failure();
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);

    // A scalar for each uniform operand; the others are inputs, each value once.
    SmallVector<Value> scalars;
    SetVector<Value> inputs;
    for (auto [operand, original] : llvm::zip_equal(operands, op->getOperands())) {
      Value uniform = cpu::getUniform(b, operand);
      scalars.push_back(uniform ? cpu::loadElement(b, uniform, cpu::getElement(original)) : Value());
      if (!uniform)
        inputs.insert(operand);
    }
    Type element = cpu::getElement(op->getResult(0));
    cpu::Extents extents = cpu::getExtents(rewriter, op->getResults());
    if (inputs.empty()) {
      Value result = cpu::storeElement(b, cpu::emitScalarOp(b, op, scalars), element);
      rewriter.replaceOp(op, cpu::makeUniform(b, type, result, extents));
      return success();
    }

    SmallVector<AffineMap> maps(inputs.size(), b.getMultiDimIdentityMap(type.getRank()));
    Value init = cpu::makeEmpty(b, type, extents);
    auto body = [&](ImplicitLocOpBuilder &inner, ValueRange elements) {
      SmallVector<Value> computed(scalars);
      for (auto [scalar, operand, original] : llvm::zip_equal(computed, operands, op->getOperands()))
        if (!scalar)
          scalar = cpu::loadElement(inner, elements[llvm::find(inputs, operand) - inputs.begin()],
                                    cpu::getElement(original));
      return cpu::storeElement(inner, cpu::emitScalarOp(inner, op, computed), element);
    };
    rewriter.replaceOp(op, cpu::makeParallel(b, type, init, inputs.getArrayRef(), maps, body));
    return success();
  }
};

struct ConstantToArith : OpConversionPattern<stablehlo::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::ConstantOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    if (!type)
      return failure();
    auto value = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!value) {
      // A resource keeps its bytes: they are the same for signed and unsigned elements.
      auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue());
      if (!resource || op.getType().getElementType().getIntOrFloatBitWidth() < 8)
        return rewriter.notifyMatchFailure(op, "the constant's value has a form that is not known");
      rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, DenseResourceElementsAttr::get(type, resource.getRawHandle()));
      return success();
    }
    Type element = op.getType().getElementType(), storage = type.getElementType();
    if (element != storage && element.getIntOrFloatBitWidth() == storage.getIntOrFloatBitWidth()) {
      value = value.bitcast(storage);
    } else if (cpu::isByteFloat(element)) {
      value = value.mapValues(storage, [&](const APFloat &number) {
        return number.bitcastToAPInt().zext(storage.getIntOrFloatBitWidth());
      });
    } else if (element != storage) {
      unsigned width = storage.getIntOrFloatBitWidth();
      bool isUnsigned = element.isUnsignedInteger() || element.isInteger(1);
      value = value.mapValues(
          storage, [&](const APInt &bits) { return isUnsigned ? bits.zextOrTrunc(width) : bits.sextOrTrunc(width); });
    }
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, value);
    return success();
  }
};

} // namespace

void cpu::populateElementwiseToLinalg(const TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<ElementwiseToGeneric, ConstantToArith>(types, patterns.getContext());
}
