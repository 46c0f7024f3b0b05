// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of explicit quantization.
#include "latewood/compiler/Dialect/TensorRT/TensorRT.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::tensorrt;

/// The rules that both directions have in common: `real` is the side of floats, `quantized` the other one.
static LogicalResult verifyScale(Operation *op, RankedTensorType real, RankedTensorType quantized,
                                 RankedTensorType scale, std::optional<int64_t> axis) {
  if (!stablehlo::haveCompatibleShapes(real, quantized)) // C1
    return op->emitOpError("(C1) requires input and result of one shape, but got ") << real << " and " << quantized;
  int64_t rank = real.getRank();
  bool isScalar = scale.getRank() == 0 && !axis;
  bool isAlongAxis = scale.getRank() == 1 && axis && *axis >= 0 && *axis < rank &&
                     stablehlo::extentsAgree(scale.getDimSize(0), real.getDimSize(*axis));
  bool isBlock = scale.getRank() == rank && !axis;
  if (isBlock)
    for (int64_t i = 0; i < rank; ++i)
      isBlock &= scale.isDynamicDim(i) || real.isDynamicDim(i) ||
                 (scale.getDimSize(i) > 0 && real.getDimSize(i) % scale.getDimSize(i) == 0);
  if (!isScalar && !isAlongAxis && !isBlock) // C2
    return op->emitOpError("(C2) requires a scale for the tensor, for slices along 'axis', or for blocks of ")
           << real << ", but got " << scale;
  if (isBlock && quantized.getElementType().isSignlessInteger(8)) // C3
    return op->emitOpError("(C3) requires i4, f8E4M3FN or f4E2M1FN for blocks, but got ") << quantized;
  Type element = scale.getElementType(), narrow = quantized.getElementType();
  bool fits = element.isF32();
  if (element.isF16() || element.isBF16())
    fits = element == real.getElementType();
  else if (isa<Float8E8M0FNUType>(element))
    fits = isBlock && isa<Float8E4M3FNType>(narrow);
  else if (isa<Float8E4M3FNType>(element))
    fits = isBlock && isa<Float4E2M1FNType>(narrow);
  if (!fits) // C4
    return op->emitOpError("(C4) requires a scale of an element type that goes with ")
           << real << " and " << quantized << ", but got " << scale;
  return success();
}

LogicalResult QuantizeOp::verify() {
  return verifyScale(*this, getInput().getType(), getResult().getType(), getScale().getType(), getAxis());
}

LogicalResult DequantizeOp::verify() {
  return verifyScale(*this, getResult().getType(), getInput().getType(), getScale().getType(), getAxis());
}

LogicalResult DynamicQuantizeOp::verify() {
  RankedTensorType input = getInput().getType(), result = getResult().getType(), scales = getScales().getType();
  if (!stablehlo::haveCompatibleShapes(input, result)) // C1
    return emitOpError("(C1) requires input and result of one shape, but got ") << input << " and " << result;
  ArrayRef<int64_t> block = getBlockShape();
  bool fits = static_cast<int64_t>(block.size()) == input.getRank() && scales.getRank() == input.getRank();
  for (int64_t i = 0; fits && i < input.getRank(); ++i) {
    fits = block[i] >= 1;
    if (fits && !input.isDynamicDim(i))
      fits = input.getDimSize(i) % block[i] == 0 &&
             stablehlo::extentsAgree(scales.getDimSize(i), input.getDimSize(i) / block[i]);
  }
  if (!fits) // C2
    return emitOpError("(C2) requires blocks that divide ")
           << input << ", and one scale for each, but got blocks [" << block << "] and scales " << scales;
  Type narrow = result.getElementType(), element = scales.getElementType();
  bool isDouble = isa<Float8E4M3FNType>(element);
  bool goTogether = (isa<Float4E2M1FNType>(narrow) && isDouble) ||
                    (isa<Float8E4M3FNType>(narrow) && (isa<Float8E8M0FNUType>(element) || element.isF32())) ||
                    (narrow.isInteger(8) && element.isF32());
  if (!goTogether) // C3
    return emitOpError("(C3) requires element types of result and scales that go together, but got ")
           << result << " and " << scales;
  if (static_cast<bool>(getDoubleQuantScale()) != isDouble) // C4
    return emitOpError("(C4) requires 'doubleQuantScale' exactly with scales of f8E4M3FN, but got ") << scales;
  return success();
}
