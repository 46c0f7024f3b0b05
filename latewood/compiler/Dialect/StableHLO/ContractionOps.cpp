// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers and type inference of dot_general, convolutions, fft and the linear algebra ops.
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"

using namespace mlir;
using namespace latewood::stablehlo;

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The extents that a list of dimensions names.
static SmallVector<int64_t> extentsAt(RankedTensorType type, ArrayRef<int64_t> dimensions) {
  return llvm::map_to_vector(dimensions, [&](int64_t dimension) { return type.getDimSize(dimension); });
}

//===----------------------------------------------------------------------===//
// dot_general
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<int64_t>> latewood::stablehlo::inferDotShape(StringRef op, std::optional<Location> location,
                                                                   RankedTensorType lhs, RankedTensorType rhs,
                                                                   const DotDimensions &dimensions,
                                                                   ArrayRef<int64_t> rhsGroups, StringRef constraint) {
  const auto &[lhsBatching, rhsBatching, lhsContracting, rhsContracting] = dimensions;
  auto fail = [&](StringRef own, auto &&...message) {
    return emitConstraint(location, op, constraint.empty() ? own : constraint, message...);
  };
  if (lhsBatching.size() != rhsBatching.size()) // C1
    return fail("C1", "requires equally many batching dimensions, but got ", lhsBatching.size(), " and ",
                rhsBatching.size());
  if (lhsContracting.size() != rhsContracting.size()) // C2
    return fail("C2", "requires equally many contracting dimensions, but got ", lhsContracting.size(), " and ",
                rhsContracting.size());
  if (!areUnique(lhsBatching, lhsContracting)) // C3
    return fail("C3", "requires dimensions of lhs that are all different");
  if (!areUnique(rhsBatching, rhsContracting)) // C4
    return fail("C4", "requires dimensions of rhs that are all different");
  if (!areInRange(lhsBatching, lhs.getRank())) // C5
    return fail("C5", "requires batching dimensions of lhs in range for ", lhs);
  if (!areInRange(lhsContracting, lhs.getRank())) // C6
    return fail("C6", "requires contracting dimensions of lhs in range for ", lhs);
  if (!areInRange(rhsBatching, rhs.getRank())) // C7
    return fail("C7", "requires batching dimensions of rhs in range for ", rhs);
  if (!areInRange(rhsContracting, rhs.getRank())) // C8
    return fail("C8", "requires contracting dimensions of rhs in range for ", rhs);
  SmallVector<int64_t> batch = extentsAt(lhs, lhsBatching), contracted = extentsAt(lhs, lhsContracting);
  if (failed(mergeShape(batch, extentsAt(rhs, rhsBatching)))) // C9
    return fail("C9", "requires batching dimensions of one extent, but got ", lhs, " and ", rhs);
  if (failed(mergeShape(contracted, extentsAt(rhs, rhsContracting)))) // C10
    return fail("C10", "requires contracting dimensions of one extent, but got ", lhs, " and ", rhs);

  SmallVector<int64_t> shape(batch); // C12
  auto appendFree = [&](RankedTensorType type, ArrayRef<int64_t> batching, ArrayRef<int64_t> contracting,
                        ArrayRef<int64_t> groups) {
    for (auto [index, extent] : llvm::enumerate(type.getShape()))
      if (!llvm::is_contained(batching, index) && !llvm::is_contained(contracting, index) &&
          !llvm::is_contained(groups, index))
        shape.push_back(extent);
  };
  appendFree(lhs, lhsBatching, lhsContracting, {});
  appendFree(rhs, rhsBatching, rhsContracting, rhsGroups);
  return shape;
}

LogicalResult DotGeneralOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  RankedTensorType lhs = tensorType(adaptor.getLhs());
  DotDimensionNumbersAttr numbers = adaptor.getDotDimensionNumbers();
  auto shape = inferDotShape(getOperationName(), location, lhs, tensorType(adaptor.getRhs()),
                             {numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions(),
                              numbers.getLhsContractingDimensions(), numbers.getRhsContractingDimensions()});
  if (failed(shape))
    return failure();
  types.push_back(RankedTensorType::get(*shape, lhs.getElementType()));
  return success();
}

/// The two precisions of a contraction (`constraint`: there are two or none).
static LogicalResult checkPrecision(Operation *op, std::optional<ArrayAttr> precision, StringRef constraint) {
  if (precision && precision->size() != 2 && !precision->empty())
    return op->emitOpError("(") << constraint << ") requires two precisions, but got " << precision->size();
  return success();
}

namespace {
/// The names of the constraints on quantized operands and result, which contractions share.
struct QuantizedConstraints {
  StringRef kinds, storage, expressed, perTensor, hybrid;
};
} // namespace

/// Checks a contraction of a quantized rhs. Zero points of rhs may differ from 0, as exported programs have them.
static LogicalResult verifyQuantized(Operation *op, QuantizedConstraints names) {
  Type lhs = getElementTypeOrSelf(op->getOperand(0)), rhs = getElementTypeOrSelf(op->getOperand(1)),
       result = getElementTypeOrSelf(op->getResult(0));
  auto fail = [&](StringRef constraint) { return op->emitOpError("(") << constraint << ") requires "; };
  if (!isQuantized(rhs) || isQuantized(lhs) != isQuantized(result))
    return fail(names.kinds) << "a quantized rhs, and lhs and result both quantized or both not, but got " << lhs
                             << ", " << rhs << " and " << result;
  if (!isQuantized(lhs)) {
    if (lhs != getExpressedType(rhs) || lhs != result)
      return fail(names.hybrid) << "lhs and result of the type that rhs expresses, but got " << lhs << ", " << rhs
                                << " and " << result;
    return success();
  }
  if (getStorageType(lhs) != getStorageType(rhs))
    return fail(names.storage) << "operands of one storage type, but got " << lhs << " and " << rhs;
  if (getExpressedType(lhs) != getExpressedType(rhs) || getExpressedType(lhs) != getExpressedType(result))
    return fail(names.expressed) << "types that express one type, but got " << lhs << ", " << rhs << " and " << result;
  if (!getQuantizedDimension(rhs) && getQuantizedDimension(result))
    return fail(names.perTensor) << "a result quantized per tensor if rhs is, but got " << result;
  return success();
}

LogicalResult DotGeneralOp::verify() {
  if (failed(checkPrecision(*this, getPrecisionConfig(), "C11"))) // C11
    return failure();
  Type lhs = getLhs().getType().getElementType(), rhs = getRhs().getType().getElementType();
  if (isQuantized(lhs) || isQuantized(rhs) || isQuantized(getType())) {
    if (failed(verifyQuantized(*this, {"C14", "C17", "C18", "C19", "C20"}))) // C14, C17-C20
      return failure();
    if (auto axis = getQuantizedDimension(rhs)) // C16
      if (llvm::is_contained(getDotDimensionNumbers().getRhsContractingDimensions(), *axis))
        return emitOpError("(C16) requires rhs not quantized along a contracting dimension, but got ") << rhs;
  } else if (lhs != rhs && !(isa<FloatType>(lhs) && isa<FloatType>(rhs))) // C13; f8 formats are mixed in practice
    return emitOpError("(C13) requires operands of one element type, but got ") << lhs << " and " << rhs;
  if (getAlgorithm() && getPrecisionConfig())
    for (auto precision : getPrecisionConfig()->getAsRange<PrecisionAttr>())
      if (precision.getValue() != Precision::DEFAULT) // C21
        return emitOpError("(C21) requires default precisions together with an algorithm, but got ")
               << stringifyPrecision(precision.getValue());
  return success(); // C22-C24 are the attribute's own
}

//===----------------------------------------------------------------------===//
// convolution
//===----------------------------------------------------------------------===//

template <typename T>
static SmallVector<T> withDefault(std::optional<ArrayRef<T>> list, size_t size, T value) {
  return list ? SmallVector<T>(list->take_front(size)) : SmallVector<T>(size, value);
}

/// The checks that do not need the padding's values. `N` is the rank.
template <typename Op>
static LogicalResult verifyConvolution(Op op) {
  RankedTensorType lhs = op.getLhs().getType(), rhs = op.getRhs().getType();
  ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  int64_t rank = lhs.getRank(), spatial = rank - 2;
  auto fail = [&](StringRef constraint) { return op.emitOpError("(") << constraint << ") requires "; };
  if (rank != rhs.getRank() || rank < 2) // C1
    return fail("C1") << "operands of one rank of at least 2, but got " << lhs << " and " << rhs;
  auto checkPositive = [&](std::optional<ArrayRef<int64_t>> list, StringRef name, StringRef size,
                           StringRef positive) -> LogicalResult {
    // Exporters have written dynamic convolutions with more entries, all of them equal; those are as good as the first
    // ones.
    bool isLonger = std::is_same_v<Op, DynamicConvOp> && list && static_cast<int64_t>(list->size()) > spatial &&
                    llvm::all_equal(*list);
    if (list && static_cast<int64_t>(list->size()) != spatial && !isLonger)
      return fail(size) << "one entry of " << name << " for each of the " << spatial << " spatial dimensions";
    if (list && llvm::any_of(*list, [](int64_t entry) { return entry <= 0; }))
      return fail(positive) << "positive " << name;
    return success();
  };
  if (failed(checkPositive(op.getWindowStrides(), "window_strides", "C2", "C3")) || // C2, C3
      failed(checkPositive(op.getLhsDilation(), "lhs_dilation", "C5", "C6")) ||     // C5, C6
      failed(checkPositive(op.getRhsDilation(), "rhs_dilation", "C7", "C8")))       // C7, C8
    return failure();
  if (op.getWindowReversal() && static_cast<int64_t>(op.getWindowReversal()->size()) != spatial) // C9
    return fail("C9") << "one entry of window_reversal for each of the " << spatial << " spatial dimensions";

  auto checkRoles = [&](StringRef name, int64_t first, int64_t second, ArrayRef<int64_t> spatialDimensions,
                        StringRef size, StringRef roles) -> LogicalResult {
    if (static_cast<int64_t>(spatialDimensions.size()) != spatial)
      return fail(size) << spatial << " " << name << " spatial dimensions, but got " << spatialDimensions.size();
    if (!areUnique({first, second}, spatialDimensions) || !areInRange({first, second}, rank) ||
        !areInRange(spatialDimensions, rank))
      return fail(roles) << name << " dimensions that are all different and in range";
    return success();
  };
  if (failed(checkRoles("input", numbers.getInputBatchDimension(), numbers.getInputFeatureDimension(),
                        numbers.getInputSpatialDimensions(), "C12", "C13")) || // C12, C13
      failed(checkRoles("kernel", numbers.getKernelInputFeatureDimension(), numbers.getKernelOutputFeatureDimension(),
                        numbers.getKernelSpatialDimensions(), "C17", "C18")) || // C17, C18
      failed(checkRoles("output", numbers.getOutputBatchDimension(), numbers.getOutputFeatureDimension(),
                        numbers.getOutputSpatialDimensions(), "C19", "C20"))) // C19, C20
    return failure();

  int64_t featureGroups = op.getFeatureGroupCountAttr().getInt(), batchGroups = op.getBatchGroupCountAttr().getInt();
  if (featureGroups <= 0) // C21
    return fail("C21") << "a positive feature_group_count, but got " << featureGroups;
  if (batchGroups <= 0) // C22
    return fail("C22") << "a positive batch_group_count, but got " << batchGroups;
  if (featureGroups != 1 && batchGroups != 1) // C23
    return fail("C23") << "feature_group_count or batch_group_count to be 1";
  int64_t batch = lhs.getDimSize(numbers.getInputBatchDimension());
  int64_t features = lhs.getDimSize(numbers.getInputFeatureDimension());
  int64_t kernelInput = rhs.getDimSize(numbers.getKernelInputFeatureDimension());
  int64_t kernelOutput = rhs.getDimSize(numbers.getKernelOutputFeatureDimension());
  auto divides = [](int64_t extent, int64_t count) { return ShapedType::isDynamic(extent) || extent % count == 0; };
  if (!divides(batch, batchGroups)) // C10
    return fail("C10") << "an input batch that batch_group_count divides, but got " << batch << " and " << batchGroups;
  if (!divides(features, featureGroups)) // C11
    return fail("C11") << "input features that feature_group_count divides, but got " << features << " and "
                       << featureGroups;
  if (!ShapedType::isDynamic(features) && !extentsAgree(kernelInput, features / featureGroups)) // C14
    return fail("C14") << "kernel input features to be the input features of one group, " << features / featureGroups
                       << ", but got " << kernelInput;
  if (!divides(kernelOutput, batchGroups)) // C15
    return fail("C15") << "kernel output features that batch_group_count divides, but got " << kernelOutput;
  if (!divides(kernelOutput, featureGroups)) // C16
    return fail("C16") << "kernel output features that feature_group_count divides, but got " << kernelOutput;
  if (failed(checkPrecision(op, op.getPrecisionConfig(), "C24"))) // C24
    return failure();
  Type result = op.getType().getElementType();
  if (isQuantized(lhs) || isQuantized(rhs) || isQuantized(result)) {
    if (failed(verifyQuantized(op, {"C28", "C31", "C32", "C33", "C34"}))) // C28, C31-C34
      return failure();
    auto axis = getQuantizedDimension(rhs.getElementType()), resultAxis = getQuantizedDimension(result);
    if (axis && *axis != numbers.getKernelOutputFeatureDimension()) // C29
      return fail("C29") << "a kernel quantized along its output features, but got " << rhs;
    if (resultAxis && *resultAxis != numbers.getOutputFeatureDimension()) // C30
      return fail("C30") << "a result quantized along its features, but got " << op.getType();
  } else if (lhs.getElementType() != rhs.getElementType() || !isPromotable(lhs.getElementType(), result)) // C27
    return fail("C27") << "operands of one element type that can be promoted to the result's, but got " << lhs << ", "
                       << rhs << " and " << op.getType();
  if (op.getType().getRank() != rank) // C26
    return fail("C26") << "a result of rank " << rank << ", but got " << op.getType();
  return success();
}

/// C25, once everything else was checked. `padding` holds `?` where it is computed.
template <typename Op>
static LogicalResult verifyConvolutionShape(Op op, ArrayRef<std::pair<int64_t, int64_t>> padding) {
  RankedTensorType lhs = op.getLhs().getType(), rhs = op.getRhs().getType();
  ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
  SmallVector<int64_t> shape(lhs.getRank());
  int64_t batch = lhs.getDimSize(numbers.getInputBatchDimension());
  shape[numbers.getOutputBatchDimension()] =
      ShapedType::isDynamic(batch) ? batch : batch / op.getBatchGroupCountAttr().getInt();
  shape[numbers.getOutputFeatureDimension()] = rhs.getDimSize(numbers.getKernelOutputFeatureDimension());
  SmallVector<int64_t> strides = op.getStrides(), inputDilations = op.getInputDilations(),
                       kernelDilations = op.getKernelDilations();
  for (auto [index, outputDimension] : llvm::enumerate(numbers.getOutputSpatialDimensions())) {
    int64_t extent = lhs.getDimSize(numbers.getInputSpatialDimensions()[index]);
    if (ShapedType::isDynamic(padding[index].first))
      extent = ShapedType::kDynamic;
    WindowDimension window{rhs.getDimSize(numbers.getKernelSpatialDimensions()[index]),
                           strides[index],
                           inputDilations[index],
                           kernelDilations[index],
                           padding[index].first,
                           padding[index].second};
    shape[outputDimension] = countWindows(extent, window);
  }
  if (failed(verifyCompatibleShape(shape, op.getType().getShape())))
    return op.emitOpError("(C25) requires a result of type ")
           << RankedTensorType::get(shape, op.getType().getElementType()) << ", but got " << op.getType();
  return success();
}

LogicalResult ConvolutionOp::verify() {
  if (failed(verifyConvolution(*this)))
    return failure();
  int64_t spatial = getLhs().getType().getRank() - 2;
  if (getPadding() && getPadding()->getType().getShape() != ArrayRef<int64_t>{spatial, 2}) // C4
    return emitOpError("(C4) requires padding of shape [") << spatial << ", 2], but got " << getPadding()->getType();
  return verifyConvolutionShape(*this, getPaddingPairs());
}

LogicalResult DynamicConvOp::verify() {
  if (failed(verifyConvolution(*this)))
    return failure();
  int64_t spatial = getLhs().getType().getRank() - 2;
  if (failed(verifyCompatibleShape(getPadding().getType().getShape(), {spatial, 2}))) // C4
    return emitOpError("(C4) requires padding of shape [") << spatial << ", 2], but got " << getPadding().getType();
  SmallVector<std::pair<int64_t, int64_t>> unknown(spatial, {ShapedType::kDynamic, ShapedType::kDynamic});
  return verifyConvolutionShape(*this, unknown);
}

template <typename Op>
static size_t countSpatial(Op op) {
  return op.getDimensionNumbers().getInputSpatialDimensions().size();
}

SmallVector<int64_t> ConvolutionOp::getStrides() {
  return withDefault<int64_t>(getWindowStrides(), countSpatial(*this), 1);
}
SmallVector<int64_t> ConvolutionOp::getInputDilations() {
  return withDefault<int64_t>(getLhsDilation(), countSpatial(*this), 1);
}
SmallVector<int64_t> ConvolutionOp::getKernelDilations() {
  return withDefault<int64_t>(getRhsDilation(), countSpatial(*this), 1);
}
SmallVector<bool> ConvolutionOp::getReversals() {
  return withDefault<bool>(getWindowReversal(), countSpatial(*this), false);
}
SmallVector<std::pair<int64_t, int64_t>> ConvolutionOp::getPaddingPairs() {
  SmallVector<std::pair<int64_t, int64_t>> pairs(countSpatial(*this), {0, 0});
  if (auto padding = getPadding())
    for (auto [index, pair] : llvm::enumerate(pairs))
      pair = {padding->getValues<int64_t>()[2 * index], padding->getValues<int64_t>()[2 * index + 1]};
  return pairs;
}

SmallVector<int64_t> DynamicConvOp::getStrides() {
  return withDefault<int64_t>(getWindowStrides(), countSpatial(*this), 1);
}
SmallVector<int64_t> DynamicConvOp::getInputDilations() {
  return withDefault<int64_t>(getLhsDilation(), countSpatial(*this), 1);
}
SmallVector<int64_t> DynamicConvOp::getKernelDilations() {
  return withDefault<int64_t>(getRhsDilation(), countSpatial(*this), 1);
}
SmallVector<bool> DynamicConvOp::getReversals() {
  return withDefault<bool>(getWindowReversal(), countSpatial(*this), false);
}

//===----------------------------------------------------------------------===//
// fft, cholesky, triangular_solve
//===----------------------------------------------------------------------===//

LogicalResult FftOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  RankedTensorType operand = tensorType(adaptor.getOperand());
  ArrayRef<int64_t> length = adaptor.getFftLength();
  FftType kind = adaptor.getFftType();
  auto fail = [&](StringRef constraint, auto &&...message) {
    return emitConstraint(location, getOperationName(), constraint, message...);
  };
  if (length.empty() || length.size() > 3) // C3
    return fail("C3", "requires one to three lengths, but got ", length.size());
  if (static_cast<int64_t>(length.size()) > operand.getRank()) // C1
    return fail("C1", "requires an operand of at least ", length.size(), " dimensions, but got ", operand);
  bool isReal = kind == FftType::RFFT;
  if (isReal != isa<FloatType>(operand.getElementType()) ||
      (isReal && !operand.getElementType().isF32() && !operand.getElementType().isF64())) // C2
    return fail("C2", "requires ", isReal ? "f32 or f64" : "complex", " elements for ", stringifyFftType(kind),
                ", but got ", operand);
  SmallVector<int64_t> shape(operand.getShape()); // C5
  for (auto [index, expected] : llvm::enumerate(length)) {
    size_t dimension = shape.size() - length.size() + index;
    bool isMinor = index + 1 == length.size();
    int64_t extent = kind == FftType::IRFFT && isMinor ? (expected == 0 ? 0 : expected / 2 + 1) : expected;
    if (!extentsAgree(shape[dimension], extent)) // C4
      return fail("C4", "requires an extent of ", extent, " in dimension ", dimension, ", but got ", operand);
  }
  Type elementType = operand.getElementType();
  if (kind == FftType::RFFT) {
    elementType = ComplexType::get(elementType);
    shape.back() = length.back() == 0 ? 0 : length.back() / 2 + 1;
  } else if (kind == FftType::IRFFT) {
    elementType = getRealType(elementType);
    shape.back() = length.back();
  }
  types.push_back(RankedTensorType::get(shape, elementType));
  return success();
}

LogicalResult CholeskyOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  RankedTensorType a = tensorType(adaptor.getA());
  if (a.getRank() < 2) // C2
    return emitConstraint(location, getOperationName(), "C2", "requires at least two dimensions, but got ", a);
  if (!extentsAgree(a.getShape().end()[-1], a.getShape().end()[-2])) // C3
    return emitConstraint(location, getOperationName(), "C3", "requires square matrices, but got ", a);
  types.push_back(a); // C1
  return success();
}

LogicalResult TriangularSolveOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                                  SmallVectorImpl<Type> &types) {
  RankedTensorType a = tensorType(adaptor.getA()), b = tensorType(adaptor.getB());
  if (!haveSameBaseline(a.getElementType(), b.getElementType())) // C1
    return emitConstraint(location, getOperationName(), "C1", "requires one element type, but got ", a, " and ", b);
  if (a.getRank() != b.getRank() || a.getRank() < 2) // C2
    return emitConstraint(location, getOperationName(), "C2", "requires one rank of at least 2, but got ", a, " and ",
                          b);
  int64_t solved = adaptor.getLeftSide() ? b.getShape().end()[-2] : b.getShape().end()[-1];
  if (!extentsAgree(a.getShape().end()[-1], a.getShape().end()[-2]) || !extentsAgree(a.getShape().back(), solved) ||
      failed(verifyCompatibleShape(a.getShape().drop_back(2), b.getShape().drop_back(2)))) // C3
    return emitConstraint(location, getOperationName(), "C3", "requires square matrices a that fit b, but got ", a,
                          " and ", b);
  if (adaptor.getTransposeA() == Transpose::TRANSPOSE_INVALID)
    return emitConstraint(location, getOperationName(), "I6",
                          "requires transpose_a to be NO_TRANSPOSE, TRANSPOSE or ADJOINT");
  types.push_back(b); // C4
  return success();
}
