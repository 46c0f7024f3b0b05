// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors that the conversion builds: empty, uniform, parallel, reshaped. All take and give storage types.

#include "latewood/compiler/Engines/CPU/StableHLOToLinalg.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace latewood;

Value cpu::getExtent(ImplicitLocOpBuilder &b, Value tensor, int64_t dim) {
  return b.createOrFold<tensor::DimOp>(tensor, dim);
}

OpFoldResult cpu::getExtentOrAttr(ImplicitLocOpBuilder &b, Value tensor, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.isDynamicDim(dim))
    return getExtent(b, tensor, dim);
  return b.getIndexAttr(type.getDimSize(dim));
}

Value cpu::makeEmpty(ImplicitLocOpBuilder &b, RankedTensorType type, ValueRange dynamicExtents) {
  return tensor::EmptyOp::create(b, type.getShape(), type.getElementType(), dynamicExtents);
}

Value cpu::makeEmpty(ImplicitLocOpBuilder &b, RankedTensorType type, Value like) {
  SmallVector<Value> extents;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      extents.push_back(getExtent(b, like, dim));
  return makeEmpty(b, type, extents);
}

Value cpu::makeBuffer(ImplicitLocOpBuilder &b, RankedTensorType type) {
  return bufferization::AllocTensorOp::create(b, type, ValueRange());
}

Value cpu::makeUniform(ImplicitLocOpBuilder &b, RankedTensorType type, Value stored, ValueRange dynamicExtents) {
  Value empty = makeEmpty(b, type, dynamicExtents);
  if (type.hasStaticShape() && type.getNumElements() == 0)
    return empty;
  return linalg::FillOp::create(b, stored, empty).getResult(0);
}

Value cpu::getUniform(ImplicitLocOpBuilder &b, Value tensor) {
  DenseElementsAttr value;
  if (matchPattern(tensor, m_Constant(&value)) && value.isSplat())
    return arith::ConstantOp::create(b, cast<TypedAttr>(value.getSplatValue<Attribute>()));
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    return fill.getInputs().front();
  if (cast<RankedTensorType>(tensor.getType()).getRank() == 0)
    return tensor::ExtractOp::create(b, tensor, ValueRange());
  return {};
}

Value cpu::getOnlyElement(ImplicitLocOpBuilder &b, Value tensor) {
  if (Value uniform = getUniform(b, tensor))
    return uniform;
  Value zero = arith::ConstantIndexOp::create(b, 0);
  SmallVector<Value> indices(cast<RankedTensorType>(tensor.getType()).getRank(), zero);
  return tensor::ExtractOp::create(b, tensor, indices);
}

AffineMap cpu::getLeadingDims(Builder &b, unsigned loops, unsigned count) {
  SmallVector<AffineExpr> dims;
  for (unsigned dim = 0; dim < count; ++dim)
    dims.push_back(b.getAffineDimExpr(dim));
  return AffineMap::get(loops, 0, dims, b.getContext());
}

Value cpu::makeParallel(ImplicitLocOpBuilder &b, RankedTensorType type, Value init, ValueRange inputs,
                        ArrayRef<AffineMap> inputMaps, function_ref<Value(ImplicitLocOpBuilder &, ValueRange)> body) {
  // Loops that do nothing are not made: later passes need not know them.
  if (type.hasStaticShape() && type.getNumElements() == 0)
    return init;
  SmallVector<AffineMap> maps(inputMaps);
  maps.push_back(b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(b, type, inputs, ValueRange{init}, maps, iterators,
                                           [&](OpBuilder &nested, Location loc, ValueRange arguments) {
                                             ImplicitLocOpBuilder inner(loc, nested);
                                             linalg::YieldOp::create(inner, body(inner, arguments.drop_back()));
                                           });
  return generic.getResult(0);
}

Value cpu::makePadded(ImplicitLocOpBuilder &b, Value tensor, Value stored, ArrayRef<int64_t> low,
                      ArrayRef<int64_t> high, ArrayRef<int64_t> interior) {
  auto from = cast<RankedTensorType>(tensor.getType());
  int64_t rank = from.getRank();
  // Element j comes to low + j * step; those in [first, last] stay inside.
  SmallVector<int64_t> shape(rank), first(rank), count(rank), target(rank), step(rank), ones(rank, 1);
  bool isEmpty = false;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t extent = from.getDimSize(dim);
    step[dim] = interior[dim] + 1;
    shape[dim] = low[dim] + high[dim] + (extent == 0 ? 0 : (extent - 1) * step[dim] + 1);
    first[dim] = low[dim] < 0 ? llvm::divideCeilSigned(-low[dim], step[dim]) : 0;
    int64_t last = std::min(extent - 1, llvm::divideFloorSigned(shape[dim] - 1 - low[dim], step[dim]));
    count[dim] = last - first[dim] + 1;
    target[dim] = low[dim] + first[dim] * step[dim];
    isEmpty |= count[dim] <= 0;
  }
  auto isZero = [](int64_t value) { return value == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero) && llvm::all_of(interior, isZero))
    return tensor;
  auto attributes = [&](ArrayRef<int64_t> values) { return getAsIndexOpFoldResult(b.getContext(), values); };
  if (isEmpty)
    return makeUniform(b, from.clone(shape), stored);
  if (ArrayRef<int64_t>(count) != from.getShape())
    tensor = tensor::ExtractSliceOp::create(b, from.clone(count), tensor, attributes(first), attributes(count),
                                            attributes(ones));
  if (count == shape)
    return tensor;
  Value surrounding = makeUniform(b, from.clone(shape), stored);
  return tensor::InsertSliceOp::create(b, tensor, surrounding, attributes(target), attributes(count), attributes(step));
}

Value cpu::makeReshape(ImplicitLocOpBuilder &b, RankedTensorType type, Value value) {
  auto from = cast<RankedTensorType>(value.getType());
  if (from == type)
    return value;
  if (from.getRank() > type.getRank())
    if (auto groups = getReassociationIndicesForReshape(from, type))
      return tensor::CollapseShapeOp::create(b, type, value, *groups);
  if (from.getRank() < type.getRank())
    if (auto groups = getReassociationIndicesForReshape(from, type))
      return tensor::ExpandShapeOp::create(b, type, value, *groups);

  // Through the coarsest shape that both refine: dimensions are grouped wherever the running products meet.
  SmallVector<ReassociationIndices> fromGroups, toGroups;
  SmallVector<int64_t> common;
  int64_t i = 0, j = 0, fromRank = from.getRank(), toRank = type.getRank();
  bool isEmpty = from.getNumElements() == 0;
  while (!isEmpty && i < fromRank && j < toRank) {
    ReassociationIndices fromGroup{i}, toGroup{j};
    int64_t fromSize = from.getDimSize(i++), toSize = type.getDimSize(j++);
    while (fromSize != toSize) {
      if (fromSize < toSize) {
        fromGroup.push_back(i);
        fromSize *= from.getDimSize(i++);
      } else {
        toGroup.push_back(j);
        toSize *= type.getDimSize(j++);
      }
    }
    fromGroups.push_back(fromGroup);
    toGroups.push_back(toGroup);
    common.push_back(fromSize);
  }
  if (isEmpty || common.empty())
    return makeEmpty(b, type);
  // What is left has extent 1.
  while (i < fromRank)
    fromGroups.back().push_back(i++);
  while (j < toRank)
    toGroups.back().push_back(j++);
  auto commonType = RankedTensorType::get(common, type.getElementType());
  if (commonType != from)
    value = tensor::CollapseShapeOp::create(b, commonType, value, fromGroups);
  if (commonType != type)
    value = tensor::ExpandShapeOp::create(b, type, value, toGroups);
  return value;
}

llvm::DenseMap<Value, Value> cpu::readCaptured(ConversionPatternRewriter &rewriter, Block &block) {
  llvm::DenseMap<Value, Value> captured;
  for (Operation &op : block)
    for (Value operand : op.getOperands()) {
      if (operand.getParentBlock() == &block || captured.contains(operand))
        continue;
      ImplicitLocOpBuilder b(op.getLoc(), rewriter);
      captured[operand] = loadElement(b, getOnlyElement(b, rewriter.getRemappedValue(operand)), getElement(operand));
    }
  return captured;
}

Value cpu::clampIndex(ImplicitLocOpBuilder &b, Value index, Type element, OpFoldResult extent, int64_t size) {
  Value zero = arith::ConstantIndexOp::create(b, 0);
  if (auto known = getConstantIntValue(extent); known && *known == size)
    return zero;
  Value limit;
  if (auto known = getConstantIntValue(extent))
    limit = arith::ConstantIndexOp::create(b, *known - size);
  else
    limit = arith::SubIOp::create(b, cast<Value>(extent), arith::ConstantIndexOp::create(b, size));
  if (element.isUnsignedInteger() || element.isInteger(1)) {
    Value position = b.createOrFold<arith::IndexCastUIOp>(b.getIndexType(), index);
    return b.createOrFold<arith::MinUIOp>(position, limit);
  }
  Value position = b.createOrFold<arith::IndexCastOp>(b.getIndexType(), index);
  position = b.createOrFold<arith::MinSIOp>(position, limit);
  return b.createOrFold<arith::MaxSIOp>(position, zero);
}
