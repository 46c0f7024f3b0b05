// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What operations say about extents: those of the results, as scalars, and which ones of the operands are equal. The
// rules are those of the specification for static shapes, read as formulas.

#include "latewood/compiler/Cluster/ShapeMaterializer.h"
#include "latewood/compiler/Dialect/CHLO/CHLO.h"
#include "latewood/compiler/Dialect/StableHLO/Shapes.h"
#include "latewood/compiler/Dialect/TensorRT/TensorRT.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace latewood::cluster {

using arith::CmpIPredicate;

static int64_t rankOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getRank(); }

void ShapeMaterializer::unifyExtents(Operation *op, Value lhs, int64_t lhsDimension, Value rhs, int64_t rhsDimension) {
  unify(getExtent(lhs, lhsDimension), getExtent(rhs, rhsDimension),
        "'" + op->getName().getStringRef() + "' needs equal extents in dimension " + Twine(lhsDimension) +
            (lhsDimension == rhsDimension
                 ? Twine(" of its operands")
                 : Twine(" of one operand and dimension ") + Twine(rhsDimension) + " of another") +
            ", got {0} and {1}");
}

void ShapeMaterializer::unifyShapes(Operation *op, Value lhs, Value rhs) {
  for (int64_t dimension = 0; dimension < rankOf(lhs); ++dimension)
    unifyExtents(op, lhs, dimension, rhs, dimension);
}

Value ShapeMaterializer::atLeastZero(Value extent) {
  return scalars.isNonNegative(extent) ? extent : scalars.get<arith::MaxSIOp>(extent, scalars.index(0));
}

// An extent with `dilation` - 1 elements between neighbours.
static Value dilate(HostScalars &scalars, Value extent, Value dilation) {
  if (HostScalars::getConstant(dilation) == 1)
    return extent;
  Value less = scalars.sub(extent, scalars.index(1));
  return scalars.get<arith::MaxSIOp>(scalars.add(scalars.mul(less, dilation), scalars.index(1)), scalars.index(0));
}

Value ShapeMaterializer::countWindows(Value extent, const stablehlo::WindowDimension &window, Value low, Value high) {
  Value dilated = dilate(scalars, extent, scalars.index(window.baseDilation));
  Value padding = scalars.add(low, high);
  int64_t span = window.size == 0 ? 0 : (window.size - 1) * window.windowDilation + 1;
  Value free = scalars.add(dilated, scalars.add(padding, scalars.index(window.stride - span)));
  return atLeastZero(scalars.div(free, scalars.index(window.stride)));
}

Extents ShapeMaterializer::extentsOfElementwise(Operation *op) {
  // Of several operands the one of highest rank has the shape: a predicate or a limit may have none.
  Value shape;
  for (Value operand : op->getOperands()) {
    if (shape && rankOf(operand) == rankOf(shape))
      unifyShapes(op, shape, operand);
    else if (!shape || rankOf(operand) > rankOf(shape))
      shape = operand;
  }
  return getExtents(shape);
}

Extents ShapeMaterializer::extentsOfBroadcast(stablehlo::DynamicBroadcastInDimOp op) {
  Extents result = getElementsAsIndices(op.getOutputDimensions());
  auto isKnown = [&](std::optional<ArrayRef<int64_t>> list, int64_t dimension) {
    return list && llvm::is_contained(*list, dimension);
  };
  for (auto [index, dimension] : llvm::enumerate(op.getBroadcastDimensions())) {
    Value from = getExtent(op.getOperand(), index), to = resolve(result[dimension]);
    if (HostScalars::getConstant(from) == 1 || from == to || isKnown(op.getKnownExpandingDimensions(), index))
      continue;
    if (HostScalars::getConstant(from) || isKnown(op.getKnownNonexpandingDimensions(), index)) {
      unify(from, to,
            "'stablehlo.dynamic_broadcast_in_dim' cannot make dimension " + Twine(index) +
                " of its operand, which has extent {0}, one of extent {1}");
      continue;
    }
    Value isEqual = scalars.compare(CmpIPredicate::eq, from, to);
    Value isOne = scalars.compare(CmpIPredicate::eq, from, scalars.index(1));
    check(scalars.get<arith::OrIOp>(isEqual, isOne),
          "'stablehlo.dynamic_broadcast_in_dim' cannot make dimension " + Twine(index) +
              " of its operand, which has extent {0}, one of extent {1}",
          {from, to});
  }
  return result;
}

Extents ShapeMaterializer::extentsOfReshape(stablehlo::DynamicReshapeOp op) {
  Extents result = getElementsAsIndices(op.getOutputShape());
  auto product = [&](ArrayRef<Value> all) {
    Value count = scalars.index(1);
    for (Value extent : all)
      count = scalars.mul(count, resolve(extent));
    return count;
  };
  Value before = product(getExtents(op.getOperand())), after = product(result);
  // A product that is one extent is known as such from now on.
  if (llvm::is_contained(result, after) || llvm::is_contained(getExtents(op.getOperand()), before))
    unify(before, after, "'stablehlo.dynamic_reshape' of {0} elements to a shape that has {1}");
  else if (before != after)
    check(scalars.compare(CmpIPredicate::eq, before, after),
          "'stablehlo.dynamic_reshape' of {0} elements to a shape that has {1}", {before, after});
  return result;
}

Extents ShapeMaterializer::extentsOfConcatenate(stablehlo::ConcatenateOp op) {
  auto joined = static_cast<int64_t>(op.getDimension());
  Value first = op.getInputs().front();
  Extents result = getExtents(first);
  for (Value input : op.getInputs().drop_front()) {
    for (int64_t dimension = 0; dimension < rankOf(input); ++dimension)
      if (dimension != joined)
        unifyExtents(op, first, dimension, input, dimension);
    result[joined] = scalars.add(result[joined], getExtent(input, joined));
  }
  return result;
}

Extents ShapeMaterializer::extentsOfDot(stablehlo::DotGeneralOp op) {
  auto numbers = op.getDotDimensionNumbers();
  Value lhs = op.getLhs(), rhs = op.getRhs();
  Extents result;
  for (auto [l, r] : llvm::zip_equal(numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions())) {
    unifyExtents(op, lhs, l, rhs, r);
    result.push_back(getExtent(lhs, l));
  }
  for (auto [l, r] : llvm::zip_equal(numbers.getLhsContractingDimensions(), numbers.getRhsContractingDimensions()))
    unifyExtents(op, lhs, l, rhs, r);
  for (auto [operand, batching, contracting] :
       {std::tuple(lhs, numbers.getLhsBatchingDimensions(), numbers.getLhsContractingDimensions()),
        std::tuple(rhs, numbers.getRhsBatchingDimensions(), numbers.getRhsContractingDimensions())})
    for (int64_t dimension = 0; dimension < rankOf(operand); ++dimension)
      if (!llvm::is_contained(batching, dimension) && !llvm::is_contained(contracting, dimension))
        result.push_back(getExtent(operand, dimension));
  return result;
}

Extents ShapeMaterializer::extentsOfGather(Operation *op, Value operand, Value indices,
                                           stablehlo::GatherDimensionNumbersAttr numbers, ArrayRef<Value> sizes) {
  Extents batch, offset, result;
  for (int64_t dimension = 0; dimension < rankOf(indices); ++dimension)
    if (dimension != numbers.getIndexVectorDim())
      batch.push_back(getExtent(indices, dimension));
  for (auto [dimension, size] : llvm::enumerate(sizes)) {
    if (!llvm::is_contained(numbers.getCollapsedSliceDims(), static_cast<int64_t>(dimension)) &&
        !llvm::is_contained(numbers.getOperandBatchingDims(), static_cast<int64_t>(dimension)))
      offset.push_back(size);
    // A slice that is larger than the operand has nowhere to be.
    Value extent = getExtent(operand, dimension);
    std::optional<int64_t> size1 = HostScalars::getConstant(size), extent1 = HostScalars::getConstant(extent);
    if (size != extent && size1 != 0 && !(size1 && extent1))
      check(scalars.compare(CmpIPredicate::sle, size, extent),
            "'" + op->getName().getStringRef() + "' takes slices of {0} elements along dimension " + Twine(dimension) +
                ", which has {1}",
            {size, extent});
  }
  for (auto [o, i] : llvm::zip_equal(numbers.getOperandBatchingDims(), numbers.getStartIndicesBatchingDims()))
    unifyExtents(op, operand, o, indices, i);
  auto nextBatch = batch.begin(), nextOffset = offset.begin();
  for (int64_t dimension = 0, rank = rankOf(op->getResult(0)); dimension < rank; ++dimension)
    result.push_back(llvm::is_contained(numbers.getOffsetDims(), dimension) ? *nextOffset++ : *nextBatch++);
  return result;
}

Extents ShapeMaterializer::extentsOfSlice(stablehlo::RealDynamicSliceOp op) {
  Extents starts = getElementsAsIndices(op.getStartIndices()), limits = getElementsAsIndices(op.getLimitIndices());
  Extents strides = getElementsAsIndices(op.getStrides()), result;
  Value zero = scalars.index(0), one = scalars.index(1);
  for (auto [dimension, start, limit, stride] : llvm::enumerate(starts, limits, strides)) {
    Value extent = getExtent(op.getOperand(), dimension);
    Value isInside = scalars.logicalAnd(scalars.logicalAnd(scalars.compare(CmpIPredicate::sge, start, zero),
                                                           scalars.compare(CmpIPredicate::sle, start, limit)),
                                        scalars.logicalAnd(scalars.compare(CmpIPredicate::sle, limit, extent),
                                                           scalars.compare(CmpIPredicate::sge, stride, one)));
    check(isInside,
          "'stablehlo.real_dynamic_slice' from {0} to {1} by {2} along dimension " + Twine(dimension) +
              ", which has {3} elements",
          {start, limit, stride, extent});
    Value span = scalars.sub(limit, start);
    if (HostScalars::getConstant(stride) != 1)
      span = scalars.div(scalars.add(span, scalars.sub(stride, one)), stride);
    result.push_back(span);
  }
  return result;
}

Extents ShapeMaterializer::extentsOfPad(Value operand, ArrayRef<Value> low, ArrayRef<Value> high,
                                        ArrayRef<Value> interior) {
  Extents result;
  for (auto [dimension, l, h, i] : llvm::enumerate(low, high, interior)) {
    Value dilated = dilate(scalars, getExtent(operand, dimension), scalars.add(i, scalars.index(1)));
    result.push_back(scalars.add(dilated, scalars.add(l, h)));
  }
  return result;
}

template <typename OpTy>
Extents ShapeMaterializer::extentsOfConvolution(OpTy op, ArrayRef<Value> padding) {
  auto numbers = op.getDimensionNumbers();
  Value lhs = op.getLhs(), rhs = op.getRhs();
  Extents result(rankOf(lhs));
  Value batch = getExtent(lhs, numbers.getInputBatchDimension());
  if (op.getBatchGroupCount() != 1)
    batch = scalars.div(batch, scalars.index(op.getBatchGroupCount()));
  result[numbers.getOutputBatchDimension()] = batch;
  result[numbers.getOutputFeatureDimension()] = getExtent(rhs, numbers.getKernelOutputFeatureDimension());
  Value features = getExtent(lhs, numbers.getInputFeatureDimension());
  if (op.getFeatureGroupCount() != 1)
    features = scalars.div(features, scalars.index(op.getFeatureGroupCount()));
  unify(features, getExtent(rhs, numbers.getKernelInputFeatureDimension()),
        "'stablehlo.convolution' of {0} features by a kernel for {1}");
  SmallVector<int64_t> strides = op.getStrides(), inner = op.getInputDilations(), outer = op.getKernelDilations();
  for (size_t i = 0; i < strides.size(); ++i) {
    stablehlo::WindowDimension window;
    window.stride = strides[i];
    window.baseDilation = inner[i];
    window.windowDilation = outer[i];
    Value size = getExtent(rhs, numbers.getKernelSpatialDimensions()[i]);
    Value high = padding[2 * i + 1];
    if (std::optional<int64_t> known = HostScalars::getConstant(size)) {
      window.size = *known;
    } else {
      // A window of one element with as much less padding as the kernel spans more.
      Value more = scalars.mul(scalars.sub(size, scalars.index(1)), scalars.index(outer[i]));
      high = scalars.sub(high, more);
    }
    result[numbers.getOutputSpatialDimensions()[i]] =
        countWindows(getExtent(lhs, numbers.getInputSpatialDimensions()[i]), window, padding[2 * i], high);
  }
  return result;
}

// The number of elements that are not zero: a sum, which the host reads.
Value ShapeMaterializer::countNonzero(Value tensor) {
  OpBuilder builder(scalars.getAnchor());
  Location loc = scalars.getAnchor()->getLoc();
  auto type = cast<RankedTensorType>(tensor.getType());
  Type i64 = builder.getI64Type();
  Extents all = getExtents(tensor);
  for (Type element : {Type(builder.getI1Type()), i64}) {
    Value converted = stablehlo::ConvertOp::create(builder, loc, type.clone(element), tensor);
    tensor = setExtents(converted, all);
  }
  auto scalar = RankedTensorType::get({}, i64);
  Value zero = stablehlo::ConstantOp::create(builder, loc, DenseIntElementsAttr::get(scalar, int64_t(0)));
  SmallVector<int64_t> dimensions = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  auto reduce = stablehlo::ReduceOp::create(builder, loc, TypeRange{scalar}, ValueRange{tensor}, ValueRange{zero},
                                            builder.getDenseI64ArrayAttr(dimensions));
  Block *body = builder.createBlock(&reduce.getBody(), {}, {scalar, scalar}, {loc, loc});
  Value sum = stablehlo::AddOp::create(builder, loc, body->getArgument(0), body->getArgument(1));
  stablehlo::ReturnOp::create(builder, loc, sum);
  return getElementsAsIndices(reduce->getResult(0)).front();
}

FailureOr<SmallVector<Extents>> ShapeMaterializer::extentsOfCall(stablehlo::CustomCallOp op) {
  StringRef target = op.getCallTargetName();
  if (target == "stablehlo.dynamic_top_k" && op->getNumOperands() == 2 && op->getNumResults() == 2) {
    Extents result = getExtents(op->getOperand(0));
    if (result.empty() || getElements(op->getOperand(1)).size() != 1)
      return failure();
    Value k = getElementsAsIndices(op->getOperand(1)).front();
    check(scalars.compare(CmpIPredicate::sle, k, result.back()), "the {0} largest of {1} elements are asked for",
          {k, result.back()});
    result.back() = k;
    return SmallVector<Extents>{result, result};
  }
  if (target == "latewood.nonzero" && op->getNumOperands() == 1)
    return SmallVector<Extents>(op->getNumResults(), Extents{countNonzero(op->getOperand(0))});
  if (target == "stablehlo.dynamic_reduce_window" && op->getNumOperands() % 2 == 1 && op->getNumOperands() >= 7) {
    size_t inputs = (op->getNumOperands() - 5) / 2;
    SmallVector<Extents> lists;
    for (Value list : op->getOperands().drop_front(2 * inputs))
      lists.push_back(getElementsAsIndices(list));
    Value input = op->getOperand(0);
    Extents result;
    for (int64_t i = 0; i < rankOf(input); ++i) {
      Value one = scalars.index(1);
      Value base = dilate(scalars, getExtent(input, i), lists[2][i]);
      Value span = dilate(scalars, lists[0][i], lists[3][i]);
      Value padded = scalars.add(base, scalars.add(lists[4][2 * i], lists[4][2 * i + 1]));
      Value free = scalars.add(scalars.sub(padded, span), lists[1][i]);
      result.push_back(atLeastZero(HostScalars::getConstant(lists[1][i]) == 1 ? free : scalars.div(free, lists[1][i])));
      check(scalars.compare(CmpIPredicate::sge, lists[1][i], one), "a window moves by {0} elements", lists[1][i]);
    }
    return SmallVector<Extents>(op->getNumResults(), result);
  }
  return failure();
}

// Pairs (low, high), one for each dimension; zeros where the attribute is missing.
static SmallVector<int64_t> getPairs(std::optional<DenseIntElementsAttr> padding, int64_t rank) {
  if (!padding)
    return SmallVector<int64_t>(2 * rank, 0);
  return llvm::map_to_vector(padding->getValues<APInt>(), [](const APInt &number) { return number.getSExtValue(); });
}

static int64_t at(std::optional<ArrayRef<int64_t>> list, int64_t index) { return list ? (*list)[index] : 1; }

FailureOr<SmallVector<Extents>> ShapeMaterializer::computeExtents(Operation *op) {
  auto index = [&](int64_t value) { return scalars.index(value); };
  auto indices = [&](ArrayRef<int64_t> values) { return llvm::map_to_vector(values, index); };
  auto one = [](Extents result) { return SmallVector<Extents>{std::move(result)}; };
  using Result = FailureOr<SmallVector<Extents>>;

  if (op->hasTrait<stablehlo::ElementwiseTrait>())
    return one(extentsOfElementwise(op));
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](tensorrt::CallOp call) -> Result {
        return llvm::map_to_vector(call.getOuts(), [&](Value destination) { return getExtents(destination); });
      })
      .Case<stablehlo::OptimizationBarrierOp>([&](auto) -> Result {
        return llvm::map_to_vector(op->getOperands(), [&](Value operand) {
          return isa<RankedTensorType>(operand.getType()) ? getExtents(operand) : Extents();
        });
      })
      .Case([&](stablehlo::DynamicUpdateSliceOp update) -> Result {
        for (int64_t dimension = 0; dimension < rankOf(update.getOperand()); ++dimension) {
          Value size = getExtent(update.getUpdate(), dimension), extent = getExtent(update.getOperand(), dimension);
          check(scalars.compare(CmpIPredicate::sle, size, extent),
                "'stablehlo.dynamic_update_slice' of {0} elements along dimension " + Twine(dimension) +
                    ", which has {1}",
                {size, extent});
        }
        return one(getExtents(update.getOperand()));
      })
      .Case<stablehlo::ReverseOp, stablehlo::CholeskyOp, stablehlo::SelectAndScatterOp,
            stablehlo::BatchNormInferenceOp>([&](auto) -> Result { return one(getExtents(op->getOperand(0))); })
      .Case([&](stablehlo::TriangularSolveOp solve) -> Result {
        unifyExtents(solve, solve.getA(), rankOf(solve.getA()) - 2, solve.getA(), rankOf(solve.getA()) - 1);
        return one(getExtents(solve.getB()));
      })
      .Case([&](stablehlo::MapOp map) -> Result { return one(extentsOfElementwise(map)); })
      .Case<stablehlo::BatchNormTrainingOp, stablehlo::BatchNormGradOp>([&](auto norm) -> Result {
        Extents all = getExtents(op->getOperand(0));
        Extents features{all[norm.getFeatureIndex()]};
        return SmallVector<Extents>{all, features, features};
      })
      .Case([&](stablehlo::SortOp sort) -> Result {
        for (Value input : sort.getInputs().drop_front())
          unifyShapes(op, sort.getInputs().front(), input);
        return SmallVector<Extents>(op->getNumResults(), getExtents(sort.getInputs().front()));
      })
      .Case([&](stablehlo::ScatterOp scatter) -> Result {
        for (Value input : scatter.getInputs().drop_front())
          unifyShapes(op, scatter.getInputs().front(), input);
        return SmallVector<Extents>(op->getNumResults(), getExtents(scatter.getInputs().front()));
      })
      .Case([&](stablehlo::ReduceOp reduce) -> Result {
        Value first = reduce.getInputs().front();
        for (Value input : reduce.getInputs().drop_front())
          unifyShapes(op, first, input);
        Extents result;
        for (int64_t dimension = 0; dimension < rankOf(first); ++dimension)
          if (!llvm::is_contained(reduce.getDimensions(), dimension))
            result.push_back(getExtent(first, dimension));
        return SmallVector<Extents>(op->getNumResults(), result);
      })
      .Case([&](stablehlo::ReduceWindowOp window) -> Result {
        Value first = window.getInputs().front();
        for (Value input : window.getInputs().drop_front())
          unifyShapes(op, first, input);
        SmallVector<int64_t> padding = getPairs(window.getPadding(), rankOf(first));
        Extents result;
        for (int64_t i = 0; i < rankOf(first); ++i) {
          stablehlo::WindowDimension parameters;
          parameters.size = window.getWindowDimensions()[i];
          parameters.stride = at(window.getWindowStrides(), i);
          parameters.baseDilation = at(window.getBaseDilations(), i);
          parameters.windowDilation = at(window.getWindowDilations(), i);
          result.push_back(
              countWindows(getExtent(first, i), parameters, index(padding[2 * i]), index(padding[2 * i + 1])));
        }
        return SmallVector<Extents>(op->getNumResults(), result);
      })
      .Case([&](stablehlo::TransposeOp transpose) -> Result {
        Extents result;
        for (int64_t dimension : transpose.getPermutation())
          result.push_back(getExtent(transpose.getOperand(), dimension));
        return one(result);
      })
      .Case([&](stablehlo::BroadcastInDimOp broadcast) -> Result {
        auto type = cast<RankedTensorType>(broadcast.getType());
        Extents result;
        for (int64_t extent : type.getShape())
          result.push_back(ShapedType::isDynamic(extent) ? Value() : index(extent));
        for (auto [from, to] : llvm::enumerate(broadcast.getBroadcastDimensions()))
          if (type.isDynamicDim(to))
            result[to] = getExtent(broadcast.getOperand(), from);
          else if (cast<RankedTensorType>(broadcast.getOperand().getType()).isDynamicDim(from))
            unify(getExtent(broadcast.getOperand(), from), result[to],
                  "'stablehlo.broadcast_in_dim' of extent {0} to {1}");
        return llvm::is_contained(result, Value()) ? Result(failure()) : Result(one(result));
      })
      .Case([&](stablehlo::DynamicBroadcastInDimOp broadcast) -> Result { return one(extentsOfBroadcast(broadcast)); })
      .Case([&](stablehlo::DynamicReshapeOp reshape) -> Result { return one(extentsOfReshape(reshape)); })
      .Case([&](stablehlo::DynamicIotaOp iota) -> Result { return one(getElementsAsIndices(iota.getOutputShape())); })
      .Case([&](stablehlo::RngOp rng) -> Result { return one(getElementsAsIndices(rng.getShape())); })
      .Case([&](stablehlo::SliceOp slice) -> Result {
        Extents result;
        for (auto [dimension, start, limit, stride] :
             llvm::enumerate(slice.getStartIndices(), slice.getLimitIndices(), slice.getStrides())) {
          result.push_back(index(llvm::divideCeil(limit - start, stride)));
          Value extent = getExtent(slice.getOperand(), dimension);
          if (!HostScalars::getConstant(extent))
            check(scalars.compare(CmpIPredicate::sle, index(limit), extent),
                  "'stablehlo.slice' to {0} along dimension " + Twine(dimension) + ", which has {1} elements",
                  {index(limit), extent});
        }
        return one(result);
      })
      .Case([&](stablehlo::DynamicSliceOp slice) -> Result {
        for (auto [dimension, size] : llvm::enumerate(slice.getSliceSizes())) {
          Value extent = getExtent(slice.getOperand(), dimension);
          if (!HostScalars::getConstant(extent) && size != 0)
            check(scalars.compare(CmpIPredicate::sle, index(size), extent),
                  "'stablehlo.dynamic_slice' takes {0} elements along dimension " + Twine(dimension) +
                      ", which has {1}",
                  {index(size), extent});
        }
        return one(indices(slice.getSliceSizes()));
      })
      .Case([&](stablehlo::RealDynamicSliceOp slice) -> Result { return one(extentsOfSlice(slice)); })
      .Case([&](stablehlo::ConcatenateOp concatenate) -> Result { return one(extentsOfConcatenate(concatenate)); })
      .Case([&](stablehlo::PadOp pad) -> Result {
        return one(extentsOfPad(pad.getOperand(), indices(pad.getEdgePaddingLow()), indices(pad.getEdgePaddingHigh()),
                                indices(pad.getInteriorPadding())));
      })
      .Case([&](stablehlo::DynamicPadOp pad) -> Result {
        return one(extentsOfPad(pad.getOperand(), getElementsAsIndices(pad.getEdgePaddingLow()),
                                getElementsAsIndices(pad.getEdgePaddingHigh()),
                                getElementsAsIndices(pad.getInteriorPadding())));
      })
      .Case([&](stablehlo::GatherOp gather) -> Result {
        return one(extentsOfGather(gather, gather.getOperand(), gather.getStartIndices(), gather.getDimensionNumbers(),
                                   indices(gather.getSliceSizes())));
      })
      .Case([&](stablehlo::DynamicGatherOp gather) -> Result {
        return one(extentsOfGather(gather, gather.getOperand(), gather.getStartIndices(), gather.getDimensionNumbers(),
                                   getElementsAsIndices(gather.getSliceSizes())));
      })
      .Case([&](stablehlo::DotGeneralOp dot) -> Result { return one(extentsOfDot(dot)); })
      .Case([&](stablehlo::ConvolutionOp convolution) -> Result {
        Extents padding;
        for (auto [low, high] : convolution.getPaddingPairs())
          padding.append({index(low), index(high)});
        return one(extentsOfConvolution(convolution, padding));
      })
      .Case([&](stablehlo::DynamicConvOp convolution) -> Result {
        return one(extentsOfConvolution(convolution, getElementsAsIndices(convolution.getPadding())));
      })
      .Case([&](stablehlo::BitcastConvertOp bitcast) -> Result {
        Extents result = getExtents(bitcast.getOperand());
        int64_t from = result.size(), to = rankOf(bitcast.getResult());
        if (to < from)
          result.pop_back();
        else if (to > from)
          result.push_back(index(cast<RankedTensorType>(bitcast.getType()).getDimSize(to - 1)));
        return one(result);
      })
      .Case([&](stablehlo::FftOp fft) -> Result {
        Extents result = getExtents(fft.getOperand());
        size_t first = result.size() - fft.getFftLength().size();
        for (auto [i, length] : llvm::enumerate(fft.getFftLength()))
          result[first + i] = index(length);
        if (fft.getFftType() == stablehlo::FftType::RFFT && !fft.getFftLength().empty())
          result.back() = index(fft.getFftLength().back() == 0 ? 0 : fft.getFftLength().back() / 2 + 1);
        return one(result);
      })
      .Case([&](stablehlo::SetDimensionSizeOp set) -> Result {
        Extents result = getExtents(set.getOperand());
        auto dimension = static_cast<int64_t>(set.getDimension());
        Value size = getElementsAsIndices(set.getSize()).front();
        check(scalars.logicalAnd(scalars.compare(CmpIPredicate::sge, size, index(0)),
                                 scalars.compare(CmpIPredicate::sle, size, result[dimension])),
              "'stablehlo.set_dimension_size' of {0} along dimension " + Twine(dimension) + ", which has {1} elements",
              {size, result[dimension]});
        result[dimension] = size;
        return one(result);
      })
      .Case([&](chlo::TopKOp top) -> Result {
        Extents result = getExtents(top->getOperand(0));
        Value k = index(cast<RankedTensorType>(top->getResult(0).getType()).getShape().back());
        result.back() = k;
        return SmallVector<Extents>{result, result};
      })
      .Case([&](stablehlo::CustomCallOp call) { return extentsOfCall(call); })
      .Default([&](Operation *) -> Result {
        // Of a type without a dynamic dimension the extents are those of the type.
        SmallVector<Extents> all;
        for (Value result : op->getResults()) {
          auto type = dyn_cast<RankedTensorType>(result.getType());
          if (!type || !type.hasStaticShape())
            return failure();
          all.push_back(indices(type.getShape()));
        }
        return all;
      });
}

} // namespace latewood::cluster
