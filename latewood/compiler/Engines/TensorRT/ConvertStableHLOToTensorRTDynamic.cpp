// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations whose extents or offsets are operands. TensorRT computes such vectors on the host of the engine: extents
// come from `shape`, and arithmetic on them is arithmetic on vectors of i64.
//
// What Latewood ties extents to (plan.with_shape, plan.with_values) is transparent: an engine finds them itself.
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Engines/TensorRT/StableHLOToTensorRT.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::tensorrt;

/// Offsets as one vector, moved so that a part of `sizes` elements lies inside `extents`.
static Value clampOffsets(LayerBuilder &b, ValueRange offsets, Value extents, ArrayRef<int64_t> sizes) {
  SmallVector<Value> parts = llvm::map_to_vector(offsets, [&](Value offset) { return b.toVector(b.map(offset)); });
  Value last = b.sub(extents, b.ints(sizes));
  return b.max(b.min(b.concatenate(parts, 0), last), b.ints(SmallVector<int64_t>(sizes.size(), 0)));
}

/// An offset as a vector of one element, moved so that `size` elements from there on lie inside of `extent`.
static Value clampOffset(LayerBuilder &b, Value offset, int64_t extent, int64_t size) {
  Value start = b.map(offset);
  if (!start)
    return {};
  start = b.unsqueeze(start, {0});
  return b.max(b.min(start, b.like(start, static_cast<double>(extent - size))), b.like(start, 0));
}

static Value gatherAlong(LayerBuilder &b, Value data, Value indices, int64_t axis) {
  if (!data || !indices)
    return {};
  auto layer = b.layer<GatherOp>(1, data, indices, static_cast<uint64_t>(axis), uint64_t(0));
  return layer ? layer.getResult() : Value();
}

/// Whether offsets are computed, and all extents are known. Then parts are gathered: an offset that comes from the
/// device stays there, where a slice would make it a shape tensor, which the engine reads on its host.
static bool isComputed(LayerBuilder &b, Value input, ValueRange offsets) {
  return b.typeOf(input).hasStaticShape() &&
         !llvm::all_of(offsets, [&](Value offset) { return static_cast<bool>(getConstant(b.map(offset))); });
}

static Value gatherPart(LayerBuilder &b, Value input, ValueRange offsets, ArrayRef<int64_t> sizes) {
  Value result = input;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    int64_t extent = b.shapeOf(input)[i];
    if (size == extent)
      continue;
    Value start = clampOffset(b, offsets[i], extent, size);
    if (!start)
      return {};
    result = gatherAlong(b, result, b.add(start, b.iota(1, 0, size, b.elementOf(start))), i);
  }
  return result;
}

/// The update spread to the input's extents, and where it counts.
static Value selectPart(LayerBuilder &b, Value input, Value update, ValueRange offsets) {
  Value mask;
  int64_t rank = b.rankOf(input);
  SmallVector<int64_t> sizes(b.shapeOf(update));
  for (auto [i, size] : llvm::enumerate(sizes)) {
    int64_t extent = b.shapeOf(input)[i];
    if (size == extent)
      continue;
    Value start = clampOffset(b, offsets[i], extent, size);
    if (!start)
      return {};
    Value place = b.sub(b.iota(1, 0, extent, b.elementOf(start)), start);
    Value last = b.like(place, static_cast<double>(size - 1)), zero = b.like(place, 0);
    update = gatherAlong(b, update, b.max(b.min(place, last), zero), i);
    Value isOutside = b.binary(ElementWiseOperation::kOR, b.binary(ElementWiseOperation::kLESS, place, zero),
                               b.binary(ElementWiseOperation::kGREATER, place, last));
    SmallVector<int64_t> others;
    for (int64_t dim = 0; dim < rank; ++dim)
      if (dim != static_cast<int64_t>(i))
        others.push_back(dim);
    Value inside = b.unsqueeze(b.logicalNot(isOutside), others);
    mask = mask ? b.binary(ElementWiseOperation::kAND, mask, inside) : inside;
    if (!mask)
      return {};
  }
  return mask ? b.select(mask, update, input) : update;
}

static Value convertDynamicSlice(LayerBuilder &b, stablehlo::DynamicSliceOp op) {
  Value input = b.map(op.getOperand());
  ArrayRef<int64_t> sizes = op.getSliceSizes();
  if (b.rankOf(input) == 0)
    return input;
  if (isComputed(b, input, op.getStartIndices()) && llvm::none_of(sizes, [](int64_t size) { return size == 0; }))
    return gatherPart(b, input, op.getStartIndices(), sizes);
  Value start = clampOffsets(b, op.getStartIndices(), b.extents(input), sizes);
  return b.slice(input, start, Value(), b.ints(SmallVector<int64_t>(sizes.size(), 1)), sizes);
}

/// The update moved to its place, on a tensor of the operand's shape, and a mask of where that is: slices that start in
/// front of the update read the fill outside of it.
static Results convertDynamicUpdate(LayerBuilder &b, stablehlo::DynamicUpdateSliceOp op) {
  Value input = b.map(op.getOperand()), update = b.map(op.getUpdate());
  int64_t rank = b.rankOf(input);
  if (rank == 0)
    return Results({update});
  if (!b.typeOf(update).hasStaticShape())
    return b.fail("an update of dynamic shape");
  Type element = b.elementOf(input);
  if (element.isUnsignedInteger() || element.getIntOrFloatBitWidth() < 8)
    if (!element.isInteger(1))
      return b.fail("TensorRT selects only among numbers and booleans");
  if (isComputed(b, input, op.getStartIndices()) && !llvm::is_contained(b.shapeOf(update), 0)) {
    Type index = b.elementOf(b.map(op.getStartIndices().front()));
    if (!index.isInteger(32) && !index.isInteger(64))
      return b.fail("TensorRT takes indices of i32 and i64 only");
    Value result = selectPart(b, input, update, op.getStartIndices());
    return result ? Results({result}) : Results(failure());
  }
  Value extents = b.extents(input);
  Value start =
      b.sub(b.ints(SmallVector<int64_t>(rank, 0)), clampOffsets(b, op.getStartIndices(), extents, b.shapeOf(update)));
  Value stride = b.ints(SmallVector<int64_t>(rank, 1));
  auto place = [&](Value what, double fill) {
    auto scalar = RankedTensorType::get({}, b.elementOf(what));
    return b.slice(what, start, extents, stride, {}, b.splat(scalar, fill));
  };
  Value ones = b.splat(RankedTensorType::get(b.shapeOf(update), b.getI32Type()), 1);
  Value placed = place(update, 0), mask = place(ones, 0);
  Value isUpdated = b.binary(ElementWiseOperation::kGREATER, mask, b.like(mask, 0));
  Value result = b.select(isUpdated, placed, input);
  return result ? Results({result}) : Results(failure());
}

static Value convertDynamicBroadcast(LayerBuilder &b, stablehlo::DynamicBroadcastInDimOp op) {
  SmallVector<int64_t> dims(op.getBroadcastDimensions()), order = llvm::to_vector(llvm::seq<int64_t>(0, dims.size()));
  llvm::sort(order, [&](int64_t l, int64_t r) { return dims[l] < dims[r]; });
  llvm::sort(dims);
  return b.broadcast(b.transpose(b.map(op.getOperand()), order), cast<RankedTensorType>(op.getType()), dims,
                     b.toVector(b.map(op.getOutputDimensions())));
}

static Value convertDynamicReshape(LayerBuilder &b, stablehlo::DynamicReshapeOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  Value input = b.map(op.getOperand());
  if (type.getNumDynamicDims() <= 1 && !llvm::is_contained(type.getShape(), 0))
    return b.reshape(input, type.getShape());
  return ReshapeOp::create(b, type, input, b.toVector(b.map(op.getOutputShape())));
}

static Results convertDynamicIota(LayerBuilder &b, stablehlo::DynamicIotaOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  Type element = type.getElementType();
  bool isCounted = element.isF32() || element.isInteger(32) || element.isInteger(64);
  if (!isCounted && !element.isF16() && !element.isBF16())
    return b.fail("TensorRT counts in i32, i64 and floats only");
  Type counted = isCounted ? element : b.getF32Type();
  SmallVector<float> steps(type.getRank(), 0);
  steps[op.getIotaDimension()] = 1;
  SmallVector<int64_t> integers(steps.begin(), steps.end());
  auto vector = RankedTensorType::get({type.getRank()}, counted);
  Value step = isa<FloatType>(counted) ? b.constant(DenseElementsAttr::get(vector, ArrayRef<float>(steps)))
                                       : b.cast(b.ints(integers), counted);
  Value shape = type.hasStaticShape() ? Value() : b.toVector(b.map(op.getOutputShape()));
  Value numbers = LinspaceOp::create(b, RankedTensorType::get(type.getShape(), counted), shape,
                                     b.splat(RankedTensorType::get({}, counted), 0), step, FloatAttr(), FloatAttr());
  return Results({b.cast(numbers, element)});
}

static Value convertRealDynamicSlice(LayerBuilder &b, stablehlo::RealDynamicSliceOp op) {
  Value start = b.toVector(b.map(op.getStartIndices())), limit = b.toVector(b.map(op.getLimitIndices())),
        stride = b.toVector(b.map(op.getStrides()));
  // ceil((limit - start) / stride)
  Value size = b.binary(ElementWiseOperation::kDIV, b.sub(b.add(b.sub(limit, start), stride), b.ints({1})), stride);
  return b.slice(b.map(op.getOperand()), start, size, stride);
}

static Results convertDynamicPad(LayerBuilder &b, stablehlo::DynamicPadOp op) {
  DenseIntElementsAttr interior;
  if (!matchPattern(op.getInteriorPadding(), m_Constant(&interior)) || !interior.isSplat() ||
      !interior.getSplatValue<APInt>().isZero())
    return b.fail("TensorRT pads around a tensor, not between its elements, when extents are computed");
  Value input = b.map(op.getOperand());
  Value low = b.toVector(b.map(op.getEdgePaddingLow())), high = b.toVector(b.map(op.getEdgePaddingHigh()));
  Value size = b.add(b.add(b.extents(input), low), high);
  int64_t rank = b.rankOf(input);
  Value start = b.sub(b.ints(SmallVector<int64_t>(rank, 0)), low);
  Value result = b.slice(input, start, size, b.ints(SmallVector<int64_t>(rank, 1)), {}, b.map(op.getPaddingValue()));
  return result ? Results({result}) : Results(failure());
}

/// A scalar of the host as a vector of one i64, which the network finds itself: from the extents of an input, or by
/// arithmetic. What it cannot find is an input of its own. Null: the host computes it in a way that networks do not.
static Value findScalar(LayerBuilder &b, Value scalar) {
  APInt known;
  if (matchPattern(scalar, m_ConstantInt(&known)))
    return b.ints(known.getSExtValue());
  if (auto argument = dyn_cast<BlockArgument>(scalar)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    if (!function || !argument.getType().isIndex())
      return {};
    for (BlockArgument input : argument.getOwner()->getArguments()) {
      auto extents =
          function.getArgAttrOfType<DenseI64ArrayAttr>(input.getArgNumber(), plan::PlanDialect::getExtentsAttrName());
      if (!extents || function.getArgAttr(input.getArgNumber(), plan::PlanDialect::getOutAttrName()))
        continue;
      auto type = cast<RankedTensorType>(input.getType());
      for (int64_t d = 0; d < type.getRank(); ++d)
        if (type.isDynamicDim(d) && extents[type.getDynamicDimIndex(d)] == argument.getArgNumber())
          return b.extent(b.map(input), d);
    }
    auto type = RankedTensorType::get({}, b.getI64Type());
    return b.reshape(UnrealizedConversionCastOp::create(b, TypeRange(type), b.map(argument)).getResult(0), {1});
  }
  Operation *op = scalar.getDefiningOp();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(findScalar(b, operand));
    if (!operands.back())
      return {};
  }
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<arith::IndexCastOp, arith::ExtSIOp>([&](auto) { return operands[0]; })
      .Case<arith::AddIOp>([&](auto) { return b.add(operands[0], operands[1]); })
      .Case<arith::SubIOp>([&](auto) { return b.sub(operands[0], operands[1]); })
      .Case<arith::MulIOp>([&](auto) { return b.mul(operands[0], operands[1]); })
      .Case<arith::MaxSIOp>([&](auto) { return b.max(operands[0], operands[1]); })
      .Case<arith::MinSIOp>([&](auto) { return b.min(operands[0], operands[1]); })
      .Case<arith::DivSIOp>([&](auto) { return b.binary(ElementWiseOperation::kDIV, operands[0], operands[1]); })
      .Default([](Operation *) { return Value(); });
}

static Results convertValues(LayerBuilder &b, plan::WithValuesOp op) {
  if (b.values.contains(op.getOperand()) && !getElementTypeOrSelf(op.getType()).isIndex())
    return Results({b.map(op.getOperand())});
  SmallVector<Value> parts;
  for (Value scalar : op.getElements()) {
    parts.push_back(findScalar(b, scalar));
    if (!parts.back())
      return b.fail("the host computes a number in a way that networks do not");
  }
  return Results({parts.size() == 1 ? parts[0] : b.concatenate(parts, 0)});
}

Conversion tensorrt::convertDynamic(LayerBuilder &b, Operation *op) {
  auto one = [](Value value) -> Conversion { return value ? Results({value}) : Results(failure()); };
  return llvm::TypeSwitch<Operation *, Conversion>(op)
      .Case<plan::WithShapeOp>([&](auto) { return one(b.map(op->getOperand(0))); })
      .Case<plan::WithValuesOp>([&](plan::WithValuesOp values) -> Conversion { return convertValues(b, values); })
      .Case<stablehlo::DynamicSliceOp>(
          [&](stablehlo::DynamicSliceOp slice) { return one(convertDynamicSlice(b, slice)); })
      .Case<stablehlo::DynamicUpdateSliceOp>(
          [&](stablehlo::DynamicUpdateSliceOp update) { return convertDynamicUpdate(b, update); })
      .Case<stablehlo::DynamicBroadcastInDimOp>(
          [&](stablehlo::DynamicBroadcastInDimOp broadcast) { return one(convertDynamicBroadcast(b, broadcast)); })
      .Case<stablehlo::DynamicReshapeOp>(
          [&](stablehlo::DynamicReshapeOp reshape) { return one(convertDynamicReshape(b, reshape)); })
      .Case<stablehlo::DynamicIotaOp>([&](stablehlo::DynamicIotaOp iota) { return convertDynamicIota(b, iota); })
      .Case<stablehlo::RealDynamicSliceOp>(
          [&](stablehlo::RealDynamicSliceOp slice) { return one(convertRealDynamicSlice(b, slice)); })
      .Case<stablehlo::DynamicPadOp>([&](stablehlo::DynamicPadOp pad) { return convertDynamicPad(b, pad); })
      .Case<stablehlo::GetDimensionSizeOp>([&](stablehlo::GetDimensionSizeOp size) {
        Value extent = b.extent(b.map(size.getOperand()), size.getDimension());
        return one(b.cast(b.squeeze(extent, {0}), b.getI32Type()));
      })
      .Default([](auto) { return std::nullopt; });
}
