// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that take extents, paddings or bounds as operands, where all types are static. Then the result's type says
// the extents, and the operation is its static form; bounds have to be constant, or the operation stays as it is for an
// engine that computes with them.

#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Input/ExpandOperations.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace latewood::input {

using Results = FailureOr<SmallVector<Value>>;
using Builder = ImplicitLocOpBuilder;

namespace {

// What an expansion returns for an operation that is to stay.
Results leave() { return SmallVector<Value>{}; }

/// The value of `value` when folding what computes it gives a constant.
Attribute evaluate(Value value, unsigned depth = 32) {
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant;
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0 || op->getNumRegions() != 0)
    return {};
  SmallVector<Attribute> operands =
      llvm::map_to_vector(op->getOperands(), [&](Value operand) { return evaluate(operand, depth - 1); });
  SmallVector<OpFoldResult> folded;
  // A fold may change the operation in place, which computes the same and returns no result.
  if (failed(op->fold(operands, folded)) || folded.empty())
    return {};
  OpFoldResult result = folded[cast<OpResult>(value).getResultNumber()];
  if (Attribute attribute = dyn_cast<Attribute>(result))
    return attribute;
  return evaluate(cast<Value>(result), depth - 1);
}

std::optional<SmallVector<int64_t>> evaluateIntegers(Value value) {
  auto elements = dyn_cast_or_null<DenseIntElementsAttr>(evaluate(value));
  if (!elements)
    return std::nullopt;
  bool isUnsigned = elements.getElementType().isUnsignedInteger();
  return llvm::map_to_vector(elements.getValues<APInt>(), [&](const APInt &number) {
    return isUnsigned ? static_cast<int64_t>(number.getZExtValue()) : number.getSExtValue();
  });
}

template <typename OpTy, typename... Args>
Results replacement(Builder &b, Operation *op, Args &&...args) {
  return SmallVector<Value>{OpTy::create(b, op->getResult(0).getType(), std::forward<Args>(args)...)};
}

Results expandBroadcast(Builder &b, Operation *op) {
  auto broadcast = cast<stablehlo::DynamicBroadcastInDimOp>(op);
  return replacement<stablehlo::BroadcastInDimOp>(b, op, broadcast.getOperand(), broadcast.getBroadcastDimensions());
}

Results expandReshape(Builder &b, Operation *op) { return replacement<stablehlo::ReshapeOp>(b, op, op->getOperand(0)); }

Results expandIota(Builder &b, Operation *op) {
  return replacement<stablehlo::IotaOp>(b, op, cast<stablehlo::DynamicIotaOp>(op).getIotaDimension());
}

Results expandPad(Builder &b, Operation *op) {
  auto pad = cast<stablehlo::DynamicPadOp>(op);
  auto low = evaluateIntegers(pad.getEdgePaddingLow()), high = evaluateIntegers(pad.getEdgePaddingHigh());
  auto interior = evaluateIntegers(pad.getInteriorPadding());
  if (!low || !high || !interior)
    return leave();
  return replacement<stablehlo::PadOp>(b, op, pad.getOperand(), pad.getPaddingValue(), *low, *high, *interior);
}

Results expandSlice(Builder &b, Operation *op) {
  auto slice = cast<stablehlo::RealDynamicSliceOp>(op);
  auto start = evaluateIntegers(slice.getStartIndices()), limit = evaluateIntegers(slice.getLimitIndices());
  auto strides = evaluateIntegers(slice.getStrides());
  if (start && limit && strides)
    return replacement<stablehlo::SliceOp>(b, op, slice.getOperand(), *start, *limit, *strides);
  if (!strides || llvm::any_of(*strides, [](int64_t stride) { return stride != 1; }))
    return leave();
  // Only the offsets are computed: the size is known.
  Tensor starts(b, slice.getStartIndices());
  SmallVector<Value> offsets;
  for (int64_t dim = 0; dim < starts.extent(0); ++dim)
    offsets.push_back(reshape(input::slice(starts, 0, dim, dim + 1), {}));
  return replacement<stablehlo::DynamicSliceOp>(b, op, slice.getOperand(), offsets,
                                                cast<RankedTensorType>(op->getResult(0).getType()).getShape());
}

Results expandGather(Builder &b, Operation *op) {
  auto gather = cast<stablehlo::DynamicGatherOp>(op);
  auto sizes = evaluateIntegers(gather.getSliceSizes());
  if (!sizes)
    return leave();
  return replacement<stablehlo::GatherOp>(b, op, gather.getOperand(), gather.getStartIndices(),
                                          gather.getDimensionNumbers(), *sizes, gather.getIndicesAreSorted());
}

Results expandConvolution(Builder &b, Operation *op) {
  auto convolution = cast<stablehlo::DynamicConvOp>(op);
  auto padding = evaluateIntegers(convolution.getPadding());
  if (!padding)
    return leave();
  auto paddingType = RankedTensorType::get({static_cast<int64_t>(padding->size() / 2), 2}, b.getI64Type());
  return replacement<stablehlo::ConvolutionOp>(
      b, op, convolution.getLhs(), convolution.getRhs(), convolution.getWindowStridesAttr(),
      DenseIntElementsAttr::get(paddingType, *padding), convolution.getLhsDilationAttr(),
      convolution.getRhsDilationAttr(), convolution.getWindowReversalAttr(), convolution.getDimensionNumbers(),
      convolution.getFeatureGroupCount(), convolution.getBatchGroupCount(), convolution.getPrecisionConfigAttr());
}

Results expandGetDimensionSize(Builder &b, Operation *op) {
  auto size = cast<stablehlo::GetDimensionSizeOp>(op);
  int64_t extent = cast<RankedTensorType>(size.getOperand().getType()).getDimSize(size.getDimension());
  return SmallVector<Value>{scalar(b, b.getI32Type(), extent)};
}

/// A tensor of static type has no elements that its extents hide.
Results expandSetDimensionSize(Builder &b, Operation *op) {
  if (op->getOperand(0).getType() != op->getResult(0).getType())
    return leave();
  return SmallVector<Value>{op->getOperand(0)};
}

/// The condition is about extents, and known; or the host asserts it.
Results expandShapeAssertion(Builder &b, Operation *op) {
  auto message = op->getAttrOfType<StringAttr>("error_message");
  if (op->getNumOperands() == 0 || op->getNumResults() != 0 || !getElementTypeOrSelf(op->getOperand(0)).isInteger(1) ||
      !message)
    return op->emitError("a shape assertion takes a condition and values, gives nothing, and has an 'error_message'");
  if (auto condition = dyn_cast_or_null<DenseIntElementsAttr>(evaluate(op->getOperand(0)))) {
    if (condition.getNumElements() == 1 && *condition.value_begin<bool>())
      return SmallVector<Value>{};
    return op->emitError() << "the shapes of this program contradict its assertion: " << message.getValue();
  }
  if (!isa<func::FuncOp>(op->getParentOp()))
    return op->emitError("a shape assertion in a branch or loop has to be on static shapes");
  plan::AssertOp::create(b, op->getOperand(0), message.getValue(), op->getOperands().drop_front());
  return SmallVector<Value>{};
}

} // namespace

void addDynamicExpansions(ExpansionTable &table) {
  table.add<stablehlo::DynamicBroadcastInDimOp>(expandBroadcast);
  table.add<stablehlo::DynamicConvOp>(expandConvolution);
  table.add<stablehlo::DynamicGatherOp>(expandGather);
  table.add<stablehlo::DynamicIotaOp>(expandIota);
  table.add<stablehlo::DynamicPadOp>(expandPad);
  table.add<stablehlo::DynamicReshapeOp>(expandReshape);
  table.add<stablehlo::GetDimensionSizeOp>(expandGetDimensionSize);
  table.add<stablehlo::RealDynamicSliceOp>(expandSlice);
  table.add<stablehlo::SetDimensionSizeOp>(expandSetDimensionSize);
  table.addCall("shape_assertion", expandShapeAssertion);
}

} // namespace latewood::input
