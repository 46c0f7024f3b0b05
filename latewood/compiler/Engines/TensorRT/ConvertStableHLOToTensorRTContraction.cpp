// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// dot_general and convolution.
//
// A product becomes matrix_multiply wherever its dimensions can be put in order: batches first, then rows, summed,
// columns. More than one dimension of a kind is merged by a reshape; where extents are not known, einsum says it
// without one. Convolutions are moved to the layout of the layer, channels second; a dilated input is a deconvolution.
#include "latewood/compiler/Engines/TensorRT/StableHLOToTensorRT.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::tensorrt;

static Value multiply(LayerBuilder &b, Value lhs, MatrixOperation lhsOp, Value rhs, MatrixOperation rhsOp) {
  if (!lhs || !rhs)
    return {};
  auto op = b.layer<MatrixMultiplyOp>(1, lhs, rhs, lhsOp, rhsOp);
  return op ? op.getResult() : Value();
}

static SmallVector<int64_t> freeDims(int64_t rank, ArrayRef<int64_t> batch, ArrayRef<int64_t> summed) {
  SmallVector<int64_t> result;
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(batch, i) && !llvm::is_contained(summed, i))
      result.push_back(i);
  return result;
}

static SmallVector<int64_t> join(std::initializer_list<ArrayRef<int64_t>> lists) {
  SmallVector<int64_t> result;
  for (ArrayRef<int64_t> list : lists)
    llvm::append_range(result, list);
  return result;
}

namespace {
/// An operand of a product, as it was and with its dimensions by kind.
struct Side {
  Value value;
  SmallVector<int64_t> batch, free, summed;
};
} // namespace

/// With at most one free and exactly one summed dimension: batches in front, the other two as they lie.
static Value arrange(LayerBuilder &b, const Side &side, bool isLeft, MatrixOperation &operation) {
  if (side.free.empty()) {
    operation = MatrixOperation::kVECTOR;
    return b.transpose(side.value, join({side.batch, side.summed}));
  }
  bool freeFirst = side.free[0] < side.summed[0];
  operation = freeFirst == isLeft ? MatrixOperation::kNONE : MatrixOperation::kTRANSPOSE;
  return b.transpose(side.value, freeFirst ? join({side.batch, side.free, side.summed})
                                           : join({side.batch, side.summed, side.free}));
}

/// The product of the extents, or nothing if one is unknown.
static std::optional<int64_t> merge(LayerBuilder &b, const Side &side, ArrayRef<int64_t> dims) {
  int64_t product = 1;
  for (int64_t dim : dims) {
    if (b.typeOf(side.value).isDynamicDim(dim))
      return std::nullopt;
    product *= b.shapeOf(side.value)[dim];
  }
  return product;
}

static Value convertByEinsum(LayerBuilder &b, const Side &lhs, const Side &rhs) {
  std::string left(b.rankOf(lhs.value), ' '), right(b.rankOf(rhs.value), ' '), result;
  char next = 'a';
  for (auto [l, r] : llvm::zip(lhs.batch, rhs.batch)) {
    result += next;
    left[l] = right[r] = next++;
  }
  for (auto [l, r] : llvm::zip(lhs.summed, rhs.summed))
    left[l] = right[r] = next++;
  for (int64_t l : lhs.free) {
    result += next;
    left[l] = next++;
  }
  for (int64_t r : rhs.free) {
    result += next;
    right[r] = next++;
  }
  auto op = b.layer<EinsumOp>(1, ValueRange{lhs.value, rhs.value}, left + "," + right + "->" + result);
  return op ? op.getResult() : Value();
}

static Results convertDot(LayerBuilder &b, stablehlo::DotGeneralOp op) {
  auto numbers = op.getDotDimensionNumbers();
  auto resultType = cast<RankedTensorType>(op.getType());
  Type element = resultType.getElementType();
  if (!element.isF32() && !element.isF16() && !element.isBF16())
    return b.fail("TensorRT multiplies matrices of f32, f16 and bf16 only");
  Side lhs{b.map(op.getLhs()),
           llvm::to_vector(numbers.getLhsBatchingDimensions()),
           {},
           llvm::to_vector(numbers.getLhsContractingDimensions())};
  Side rhs{b.map(op.getRhs()),
           llvm::to_vector(numbers.getRhsBatchingDimensions()),
           {},
           llvm::to_vector(numbers.getRhsContractingDimensions())};
  for (Side *side : {&lhs, &rhs}) {
    Type from = b.elementOf(side->value);
    if (!from.isF32() && !from.isF16() && !from.isBF16())
      return b.fail("TensorRT multiplies matrices of f32, f16 and bf16 only");
    side->free = freeDims(b.rankOf(side->value), side->batch, side->summed);
    side->value = b.cast(side->value, element);
  }
  auto done = [](Value value) { return value ? Results({value}) : Results(failure()); };

  if (lhs.summed.size() == 1 && lhs.free.size() <= 1 && rhs.free.size() <= 1) {
    MatrixOperation lhsOp, rhsOp;
    Value left = arrange(b, lhs, /*isLeft=*/true, lhsOp), right = arrange(b, rhs, /*isLeft=*/false, rhsOp);
    return done(multiply(b, left, lhsOp, right, rhsOp));
  }
  // Rows of several dimensions are a collection that the right side is repeated for.
  if (lhs.summed.size() == 1 && rhs.batch.empty() && rhs.free.size() == 1 && lhs.free.size() > 1) {
    MatrixOperation rhsOp;
    Value left = b.transpose(lhs.value, join({lhs.free, lhs.summed}));
    Value right = arrange(b, rhs, /*isLeft=*/false, rhsOp);
    return done(multiply(b, left, MatrixOperation::kNONE, b.toRank(right, b.rankOf(left)), rhsOp));
  }
  std::optional<int64_t> rows = merge(b, lhs, lhs.free), columns = merge(b, rhs, rhs.free),
                         summed = merge(b, lhs, lhs.summed), batch = merge(b, lhs, lhs.batch);
  if (rows && columns && summed && batch) {
    Value left = b.reshape(b.transpose(lhs.value, join({lhs.batch, lhs.free, lhs.summed})), {*batch, *rows, *summed});
    Value right =
        b.reshape(b.transpose(rhs.value, join({rhs.batch, rhs.summed, rhs.free})), {*batch, *summed, *columns});
    return done(
        b.reshape(multiply(b, left, MatrixOperation::kNONE, right, MatrixOperation::kNONE), resultType.getShape()));
  }
  return done(convertByEinsum(b, lhs, rhs));
}

//===----------------------------------------------------------------------===//
// convolution
//===----------------------------------------------------------------------===//

/// `value` with `low` and `high` zeros around its spatial dimensions (the last ones); negative ones cut.
static Value padSpatial(LayerBuilder &b, Value value, ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  if (!value)
    return {};
  SmallVector<int64_t> fullLow{0, 0}, fullHigh{0, 0};
  llvm::append_range(fullLow, low);
  llvm::append_range(fullHigh, high);
  return b.pad(value, b.splat(RankedTensorType::get({}, b.elementOf(value)), 0), fullLow, fullHigh);
}

static Results convertConvolution(LayerBuilder &b, stablehlo::ConvolutionOp op) {
  auto numbers = op.getDimensionNumbers();
  auto resultType = cast<RankedTensorType>(op.getType());
  Type element = resultType.getElementType();
  Value input = b.map(op.getLhs()), kernel = b.map(op.getRhs());
  for (Type type : {element, b.elementOf(input), b.elementOf(kernel)})
    if (!type.isF32() && !type.isF16() && !type.isBF16())
      return b.fail("TensorRT convolves f32, f16 and bf16 only");
  if (op.getBatchGroupCount() != 1)
    return b.fail("TensorRT has no groups of batches in convolutions");
  int64_t spatial = numbers.getInputSpatialDimensions().size();
  if (spatial < 1 || spatial > 3)
    return b.fail("TensorRT convolves along one, two or three dimensions");
  input = b.cast(input, element);
  kernel = b.cast(kernel, element);

  input = b.transpose(input, join({{numbers.getInputBatchDimension(), numbers.getInputFeatureDimension()},
                                   numbers.getInputSpatialDimensions()}));
  kernel =
      b.transpose(kernel, join({{numbers.getKernelOutputFeatureDimension(), numbers.getKernelInputFeatureDimension()},
                                numbers.getKernelSpatialDimensions()}));
  if (!input || !kernel || !b.typeOf(kernel).hasStaticShape())
    return b.fail("a kernel of dynamic shape");
  auto orOnes = [&](std::optional<ArrayRef<int64_t>> list) {
    return list ? llvm::to_vector(*list) : SmallVector<int64_t>(spatial, 1);
  };
  SmallVector<int64_t> stride = orOnes(op.getWindowStrides()), spread = orOnes(op.getLhsDilation()),
                       dilation = orOnes(op.getRhsDilation()), low, high;
  for (auto [l, h] : op.getPaddingPairs()) {
    low.push_back(l);
    high.push_back(h);
  }
  SmallVector<bool> reversed(spatial, false);
  if (auto reversal = op.getWindowReversal())
    reversed.assign(reversal->begin(), reversal->end());
  bool isTransposed = llvm::any_of(spread, [](int64_t entry) { return entry != 1; });
  if (isTransposed && llvm::any_of(stride, [](int64_t entry) { return entry != 1; }))
    return b.fail("TensorRT does not convolve with strides over an input that is dilated too");
  if (spatial == 1) {
    input = b.unsqueeze(input, {3});
    kernel = b.unsqueeze(kernel, {3});
    for (auto *list : {&stride, &spread, &dilation})
      list->push_back(1);
    low.push_back(0);
    high.push_back(0);
    reversed.push_back(false);
  }
  int64_t dims = stride.size();
  auto groups = static_cast<int64_t>(op.getFeatureGroupCount());
  // A deconvolution puts the kernel around each element, where a convolution looks along it from the other end.
  if (isTransposed)
    for (int64_t i = 0; i < dims; ++i)
      reversed[i] = !reversed[i];
  if (llvm::is_contained(reversed, true)) {
    SmallVector<int64_t> start(dims + 2, 0), steps(dims + 2, 1);
    for (int64_t i = 0; i < dims; ++i)
      if (reversed[i]) {
        start[i + 2] = b.shapeOf(kernel)[i + 2] - 1;
        steps[i + 2] = -1;
      }
    kernel = b.slice(kernel, start, SmallVector<int64_t>(b.shapeOf(kernel)), steps);
  }

  Value result;
  if (!isTransposed) {
    // What the layer cannot cut is cut before.
    SmallVector<int64_t> cutLow, cutHigh;
    for (int64_t i = 0; i < dims; ++i) {
      cutLow.push_back(std::min<int64_t>(0, low[i]));
      cutHigh.push_back(std::min<int64_t>(0, high[i]));
      low[i] -= cutLow[i];
      high[i] -= cutHigh[i];
    }
    if (llvm::any_of(join({cutLow, cutHigh}), [](int64_t entry) { return entry != 0; })) {
      if (!b.typeOf(input).hasStaticShape())
        return b.fail("negative padding of a dynamic shape");
      input = padSpatial(b, input, cutLow, cutHigh);
    }
    auto layer =
        b.layer<ConvolutionOp>(1, input, kernel, Value(), stride, low, high, groups, b.getDenseI64ArrayAttr(dilation));
    result = layer ? layer.getResult() : Value();
  } else {
    // [K, C / groups, ...] becomes [C, K / groups, ...].
    SmallVector<int64_t> shape(b.shapeOf(kernel));
    int64_t maps = shape[0], channels = shape[1];
    SmallVector<int64_t> split{groups, maps / groups, channels}, order{0, 2, 1},
        merged{groups * channels, maps / groups};
    for (int64_t i = 0; i < dims; ++i) {
      split.push_back(shape[i + 2]);
      order.push_back(i + 3);
      merged.push_back(shape[i + 2]);
    }
    kernel = b.reshape(b.transpose(b.reshape(kernel, split), order), merged);
    SmallVector<int64_t> pre, post, moreLow, moreHigh;
    for (int64_t i = 0; i < dims; ++i) {
      int64_t reach = dilation[i] * (shape[i + 2] - 1);
      pre.push_back(std::max<int64_t>(0, reach - low[i]));
      post.push_back(std::max<int64_t>(0, reach - high[i]));
      moreLow.push_back(std::max<int64_t>(0, low[i] - reach));
      moreHigh.push_back(std::max<int64_t>(0, high[i] - reach));
    }
    auto layer = b.layer<DeconvolutionOp>(1, input, kernel, Value(), spread, pre, post, groups,
                                          b.getDenseI64ArrayAttr(dilation));
    result = layer ? layer.getResult() : Value();
    if (result && llvm::any_of(join({moreLow, moreHigh}), [](int64_t entry) { return entry != 0; })) {
      if (!b.typeOf(result).hasStaticShape())
        return b.fail("padding beyond the kernel of a dynamic shape");
      result = padSpatial(b, result, moreLow, moreHigh);
    }
  }
  if (spatial == 1)
    result = b.squeeze(result, {3});
  result = b.transpose(result, invert(join({{numbers.getOutputBatchDimension(), numbers.getOutputFeatureDimension()},
                                            numbers.getOutputSpatialDimensions()})));
  return result ? Results({result}) : Results(failure());
}

Conversion tensorrt::convertContraction(LayerBuilder &b, Operation *op) {
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op))
    return convertDot(b, dot);
  if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op))
    return convertConvolution(b, convolution);
  return std::nullopt;
}
