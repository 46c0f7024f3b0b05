// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of layers that find values between elements.
#include "latewood/compiler/Dialect/TensorRT/ConstraintReport.h"
#include "latewood/compiler/Dialect/TensorRT/TensorRT.h"
#include <cmath>

using namespace mlir;
using namespace latewood;
using namespace latewood::tensorrt;
using stablehlo::extentsAgree;

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The rules of resizing. `dimensions`: how many of the last dimensions may change.
template <typename Op>
static LogicalResult verifyResize(Op op, int64_t dimensions) {
  RankedTensorType input = op.getInput().getType(), result = op.getResult().getType();
  int64_t rank = input.getRank();
  if (input.getElementType() != result.getElementType() || rank != result.getRank()) // C1
    return op.emitOpError("(C1) requires input and result of one element type and rank, but got ")
           << input << " and " << result;
  for (int64_t i = 0; i < rank - dimensions; ++i) // C2
    if (!extentsAgree(input.getDimSize(i), result.getDimSize(i)))
      return op.emitOpError("(C2) requires that only the last ")
             << dimensions << " extents change, but got " << input << " and " << result;
  std::optional<ArrayRef<float>> scales = op.getScales();
  if (scales && op.getOutputShape()) // C3
    return op.emitOpError("(C3) requires 'outputShape' or 'scales', but got both");
  if ((scales && static_cast<int64_t>(scales->size()) != rank) ||
      (op.getOutputShape() && !extentsAgree(op.getOutputShape().getType().getDimSize(0), rank))) // C3
    return op.emitOpError("(C3) requires one new extent or scale a dimension of ") << input;
  if (!scales && !op.getOutputShape() && !result.hasStaticShape()) // C4
    return op.emitOpError("(C4) requires 'outputShape' or 'scales' for a result of unknown shape, but got ") << result;
  if (scales)
    for (int64_t i = 0; i < rank; ++i) { // C5
      float scale = (*scales)[i];
      int64_t extent = input.getDimSize(i);
      if (!(scale > 0) ||
          (!ShapedType::isDynamic(extent) &&
           !extentsAgree(static_cast<int64_t>(std::floor(static_cast<double>(extent) * scale)), result.getDimSize(i))))
        return op.emitOpError("(C5) requires scales that are positive and give ")
               << result << " from " << input << ", but got " << scale << " for dimension " << i;
    }
  return success();
}

LogicalResult ResizeNearestOp::verify() { return verifyResize(*this, kMaxRank); }
LogicalResult ResizeLinearOp::verify() { return verifyResize(*this, 3); }
LogicalResult ResizeCubicOp::verify() { return verifyResize(*this, 2); }

LogicalResult GridSampleOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput()), grid = tensorType(adaptor.getGrid());
  ConstraintReport fail{location, getOperationName()};
  if (input.getElementType() != grid.getElementType()) // C1
    return fail("C1", "requires operands of one element type, but got ", input, " and ", grid);
  if (input.getRank() != 4 || grid.getRank() != 4 || !extentsAgree(input.getDimSize(0), grid.getDimSize(0)) ||
      !extentsAgree(grid.getDimSize(3), 2)) // C2
    return fail("C2", "requires images of 4 dimensions and a grid of points for each, but got ", input, " and ", grid);
  SampleMode mode = adaptor.getSampleMode();
  if (mode != SampleMode::kCLAMP && mode != SampleMode::kFILL && mode != SampleMode::kREFLECT) // C3
    return fail("C3", "requires kCLAMP, kFILL or kREFLECT, but got ", stringifySampleMode(mode));
  types.push_back(RankedTensorType::get(
      {input.getDimSize(0), input.getDimSize(1), grid.getDimSize(1), grid.getDimSize(2)}, input.getElementType()));
  return success();
}
