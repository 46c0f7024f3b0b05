// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Type inference of layers that read or write at computed positions.
#include "latewood/compiler/Dialect/TensorRT/ConstraintReport.h"
#include "latewood/compiler/Dialect/TensorRT/TensorRT.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::tensorrt;
using stablehlo::emitConstraint;
using stablehlo::extentsAgree;

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  RankedTensorType data = tensorType(adaptor.getData()), indices = tensorType(adaptor.getIndices());
  auto axis = static_cast<int64_t>(adaptor.getAxis()),
       elementwise = static_cast<int64_t>(adaptor.getNumElementWiseDims());
  ConstraintReport fail{location, getOperationName()};
  if (axis < elementwise || axis >= data.getRank()) // C1
    return fail("C1", "requires an axis of ", data, " behind ", elementwise, " elementwise dimensions, but got ", axis);
  if (elementwise < 0 || elementwise > 1 || indices.getRank() < elementwise) // C2
    return fail("C2", "requires 0 or 1 elementwise dimensions, but got ", elementwise);
  SmallVector<int64_t> shape;
  if (elementwise == 1) {
    std::optional<SmallVector<int64_t>> common =
        broadcastShapes({data.getShape().take_front(1), indices.getShape().take_front(1)});
    if (!common) // C2
      return fail("C2", "requires first extents that are equal or 1, but got ", data, " and ", indices);
    shape = *common;
  }
  llvm::append_range(shape, data.getShape().slice(elementwise, axis - elementwise));
  llvm::append_range(shape, indices.getShape().drop_front(elementwise));
  llvm::append_range(shape, data.getShape().drop_front(axis + 1));
  if (static_cast<int64_t>(shape.size()) > kMaxRank) // C3
    return fail("C3", "requires a result of at most ", kMaxRank, " dimensions, but it has ", shape.size());
  types.push_back(RankedTensorType::get(shape, data.getElementType()));
  return success();
}

LogicalResult GatherNdOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  RankedTensorType data = tensorType(adaptor.getData()), indices = tensorType(adaptor.getIndices());
  auto elementwise = static_cast<int64_t>(adaptor.getNumElementWiseDims());
  ConstraintReport fail{location, getOperationName()};
  if (elementwise < 0 || elementwise >= data.getRank() || elementwise >= indices.getRank() ||
      failed(verifyCompatibleShape(data.getShape().take_front(elementwise),
                                   indices.getShape().take_front(elementwise)))) // C3
    return fail("C3", "requires equal extents of ", elementwise, " elementwise dimensions, but got ", data, " and ",
                indices);
  int64_t length = indices.getShape().back();
  if (ShapedType::isDynamic(length) || length < 1 || elementwise + length > data.getRank()) // C2
    return fail("C2", "requires index vectors of known length, from 1 to the dimensions of ", data, ", but got ",
                indices);
  SmallVector<int64_t> shape(indices.getShape().drop_back());
  llvm::append_range(shape, data.getShape().drop_front(elementwise + length));
  if (static_cast<int64_t>(shape.size()) > kMaxRank) // C4
    return fail("C4", "requires a result of at most ", kMaxRank, " dimensions, but it has ", shape.size());
  types.push_back(RankedTensorType::get(shape, data.getElementType()));
  return success();
}

LogicalResult GatherElementsOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                                 SmallVectorImpl<Type> &types) {
  RankedTensorType data = tensorType(adaptor.getData()), indices = tensorType(adaptor.getIndices());
  auto axis = static_cast<int64_t>(adaptor.getAxis());
  if (data.getRank() != indices.getRank()) // C1
    return emitConstraint(location, getOperationName(), "C1", "requires operands of one rank, but got ", data, " and ",
                          indices);
  if (axis < 0 || axis >= data.getRank()) // C2
    return emitConstraint(location, getOperationName(), "C2", "requires an axis of ", data, ", but got ", axis);
  types.push_back(RankedTensorType::get(indices.getShape(), data.getElementType()));
  return success();
}

LogicalResult ScatterNdOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType data = tensorType(adaptor.getData()), indices = tensorType(adaptor.getIndices()),
                   updates = tensorType(adaptor.getUpdates());
  ConstraintReport fail{location, getOperationName()};
  if (data.getElementType() != updates.getElementType()) // C1
    return fail("C1", "requires data and updates of one element type, but got ", data, " and ", updates);
  int64_t length = indices.getShape().back();
  if (ShapedType::isDynamic(length) || length < 1 || length > data.getRank()) // C2
    return fail("C2", "requires index vectors of known length, from 1 to the rank of ", data, ", but got ", indices);
  SmallVector<int64_t> expected(indices.getShape().drop_back());
  llvm::append_range(expected, data.getShape().drop_front(length));
  if (failed(verifyCompatibleShape(expected, updates.getShape()))) // C3
    return fail("C3", "requires updates of type ", RankedTensorType::get(expected, data.getElementType()), ", but got ",
                updates);
  types.push_back(data);
  return success();
}

LogicalResult ScatterElementsOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                                  SmallVectorImpl<Type> &types) {
  RankedTensorType data = tensorType(adaptor.getData()), indices = tensorType(adaptor.getIndices()),
                   updates = tensorType(adaptor.getUpdates());
  auto axis = static_cast<int64_t>(adaptor.getAxis());
  ConstraintReport fail{location, getOperationName()};
  if (data.getElementType() != updates.getElementType()) // C1
    return fail("C1", "requires data and updates of one element type, but got ", data, " and ", updates);
  if (data.getRank() != indices.getRank() || failed(verifyCompatibleShape(indices, updates))) // C2
    return fail("C2", "requires indices and updates of one shape, and of the rank of ", data, ", but got ", indices,
                " and ", updates);
  if (axis < 0 || axis >= data.getRank()) // C3
    return fail("C3", "requires an axis of ", data, ", but got ", axis);
  for (int64_t i = 0; i < data.getRank(); ++i) // C4
    if (i != axis && !data.isDynamicDim(i) && !indices.isDynamicDim(i) && indices.getDimSize(i) > data.getDimSize(i))
      return fail("C4", "requires indices that are not longer than ", data, " outside of the axis, but got ", indices);
  types.push_back(data);
  return success();
}

LogicalResult OneHotOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  RankedTensorType indices = tensorType(adaptor.getIndices()), values = tensorType(adaptor.getValues());
  auto axis = static_cast<int64_t>(adaptor.getAxis());
  int64_t rank = indices.getRank();
  ConstraintReport fail{location, getOperationName()};
  if (!extentsAgree(values.getDimSize(0), 2)) // C1
    return fail("C1", "requires an off and an on value, but got ", values);
  if (axis < -rank - 1 || axis > rank) // C2
    return fail("C2", "requires an axis from ", -rank - 1, " to ", rank, ", but got ", axis);
  if (rank + 1 > kMaxRank) // C4
    return fail("C4", "requires a result of at most ", kMaxRank, " dimensions");
  int64_t extent = ShapedType::kDynamic;
  if (std::optional<SmallVector<int64_t>> depth = getConstantInts(adaptor.getDepth())) {
    extent = depth->front();
    if (extent <= 0) // C3
      return fail("C3", "requires a depth that is positive, but got ", extent);
  }
  SmallVector<int64_t> shape(indices.getShape());
  shape.insert(shape.begin() + (axis < 0 ? axis + rank + 1 : axis), extent);
  types.push_back(RankedTensorType::get(shape, values.getElementType()));
  return success();
}
