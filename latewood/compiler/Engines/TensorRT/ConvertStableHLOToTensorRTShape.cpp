// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants, broadcasts, reshapes, slices and padding, of static shapes, or of those that their operands carry along.
#include "latewood/compiler/Engines/TensorRT/StableHLOToTensorRT.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::tensorrt;

static Value convertBroadcast(LayerBuilder &b, stablehlo::BroadcastInDimOp op) {
  Value input = b.map(op.getOperand());
  // A layer keeps the order of dimensions.
  SmallVector<int64_t> dims(op.getBroadcastDimensions()), order = llvm::to_vector(llvm::seq<int64_t>(0, dims.size()));
  llvm::sort(order, [&](int64_t l, int64_t r) { return dims[l] < dims[r]; });
  input = b.transpose(input, order);
  llvm::sort(dims);
  return b.broadcast(input, op.getResult().getType(), dims);
}

static Value convertIota(LayerBuilder &b, RankedTensorType type, int64_t axis) {
  Type element = type.getElementType();
  bool isCounted = element.isF32() || element.isInteger(32) || element.isInteger(64);
  int64_t rank = type.getRank();
  Type counted = isCounted ? element : isa<FloatType>(element) ? Type(b.getF32Type()) : Type(b.getI32Type());
  Value numbers = b.cast(b.iota(1, 0, type.getDimSize(axis), counted), element);
  return rank == 1 ? numbers : b.broadcast(numbers, type, {axis});
}

/// Puts `interior` fills between the elements: a dimension of one element behind it, padded and merged.
static Value spread(LayerBuilder &b, Value input, Value fill, ArrayRef<int64_t> interior) {
  for (auto [i, count] : llvm::enumerate(interior)) {
    if (count == 0 || !input)
      continue;
    SmallVector<int64_t> shape(b.shapeOf(input)), none(shape.size() + 1, 0), behind(none), start(shape.size(), 0),
        stride(shape.size(), 1);
    behind[i + 1] = count;
    Value padded = b.pad(b.unsqueeze(input, {static_cast<int64_t>(i) + 1}), fill, none, behind);
    int64_t extent = shape[i];
    shape[i] = extent * (count + 1);
    Value merged = b.reshape(padded, shape);
    shape[i] = std::max<int64_t>(0, extent + (extent - 1) * count);
    input = b.slice(merged, start, shape, stride);
  }
  return input;
}

static Results convertPad(LayerBuilder &b, stablehlo::PadOp op) {
  Value input = b.map(op.getOperand()), fill = b.map(op.getPaddingValue());
  if (!b.typeOf(input).hasStaticShape())
    return b.fail("a pad of a dynamic shape, which is not dynamic_pad");
  Value result =
      b.pad(spread(b, input, fill, op.getInteriorPadding()), fill, op.getEdgePaddingLow(), op.getEdgePaddingHigh());
  return result ? Results({result}) : Results(failure());
}

static Results convertReverse(LayerBuilder &b, stablehlo::ReverseOp op) {
  Value input = b.map(op.getOperand());
  int64_t rank = b.rankOf(input);
  SmallVector<int64_t> stride(rank, 1);
  SmallVector<Value> starts;
  for (int64_t i = 0; i < rank; ++i) {
    bool isReversed = llvm::is_contained(op.getDimensions(), i);
    if (isReversed)
      stride[i] = -1;
    starts.push_back(isReversed ? b.sub(b.extent(input, i), b.ints({1})) : b.ints({0}));
  }
  if (b.typeOf(input).hasStaticShape()) {
    SmallVector<int64_t> start(rank, 0);
    for (int64_t i : op.getDimensions())
      start[i] = std::max<int64_t>(0, b.shapeOf(input)[i] - 1);
    Value result = b.slice(input, start, b.shapeOf(input), stride);
    return result ? Results({result}) : Results(failure());
  }
  Value result = b.slice(input, b.concatenate(starts, 0), b.shape(input), b.ints(stride));
  return result ? Results({result}) : Results(failure());
}

Conversion tensorrt::convertShape(LayerBuilder &b, Operation *op) {
  auto one = [](Value value) -> Conversion { return value ? Results({value}) : Results(failure()); };
  return llvm::TypeSwitch<Operation *, Conversion>(op)
      .Case<stablehlo::ConstantOp>([&](stablehlo::ConstantOp constant) -> Conversion {
        if (getElementTypeOrSelf(constant.getType()).isUnsignedInteger())
          return b.fail("TensorRT has no constants of unsigned integers");
        return one(b.constant(constant.getValue()));
      })
      .Case<stablehlo::IotaOp>([&](stablehlo::IotaOp iota) -> Conversion {
        auto type = cast<RankedTensorType>(iota.getType());
        if (type.getElementType().isInteger(8) || type.getElementType().isInteger(4))
          return b.fail("TensorRT counts in i32, i64 and floats only");
        return one(convertIota(b, type, iota.getIotaDimension()));
      })
      .Case<stablehlo::BroadcastInDimOp>(
          [&](stablehlo::BroadcastInDimOp broadcast) { return one(convertBroadcast(b, broadcast)); })
      .Case<stablehlo::ReshapeOp>([&](stablehlo::ReshapeOp reshape) {
        return one(b.reshape(b.map(reshape.getOperand()), reshape.getType().getShape()));
      })
      .Case<stablehlo::TransposeOp>([&](stablehlo::TransposeOp transpose) {
        return one(b.transpose(b.map(transpose.getOperand()), transpose.getPermutation()));
      })
      .Case<stablehlo::ConcatenateOp>([&](stablehlo::ConcatenateOp concatenate) {
        return one(
            b.concatenate(llvm::map_to_vector(concatenate.getInputs(), [&](Value input) { return b.map(input); }),
                          concatenate.getDimension()));
      })
      .Case<stablehlo::SliceOp>([&](stablehlo::SliceOp slice) {
        return one(b.slice(b.map(slice.getOperand()), slice.getStartIndices(),
                           cast<RankedTensorType>(slice.getType()).getShape(), slice.getStrides()));
      })
      .Case<stablehlo::ReverseOp>([&](stablehlo::ReverseOp reverse) { return convertReverse(b, reverse); })
      .Case<stablehlo::PadOp>([&](stablehlo::PadOp pad) { return convertPad(b, pad); })
      .Case<stablehlo::OptimizationBarrierOp>([&](auto) -> Conversion {
        return Results(llvm::map_to_vector(op->getOperands(), [&](Value operand) { return b.map(operand); }));
      })
      .Default([](auto) { return std::nullopt; });
}
