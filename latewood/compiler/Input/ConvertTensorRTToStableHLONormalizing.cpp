// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Normalizations along axes, and scales by channel.
#include "latewood/compiler/Input/ConvertTensorRTToStableHLO.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::input;
using namespace latewood::tensorrt;

Tensor input::softmax(const Tensor &x, int64_t axis) {
  Tensor powers = exp(x - reduceAndRepeat(x, ReduceOperation::kMAX, {axis}));
  return powers / reduceAndRepeat(powers, ReduceOperation::kSUM, {axis});
}

/// The mean along axes, repeated.
static Tensor mean(const Tensor &x, ArrayRef<int64_t> axes) {
  Tensor one = number(x, 1);
  return reduceAndRepeat(x, ReduceOperation::kSUM, axes) / reduceAndRepeat(one, ReduceOperation::kSUM, axes);
}

static LayerResults lowerNormalization(LocBuilder &b, NormalizationOp op) {
  Tensor x(b, op.getInput());
  SmallVector<int64_t> axes(op.getAxis()), shape(x.shape());
  // Sums are taken in f32.
  Tensor wide = x.element().isF32() ? x : convert(x, b.getF32Type());
  auto groups = static_cast<int64_t>(op.getNumGroups());
  if (groups != 1) {
    if (!x.type().hasStaticShape())
      return op.emitError("'tensorrt.normalization' in groups of a dynamic shape cannot be computed on the CPU"),
             failure();
    SmallVector<int64_t> split{shape[0], groups, shape[1] / groups};
    llvm::append_range(split, ArrayRef(shape).drop_front(2));
    wide = reshape(wide, split);
    axes = llvm::to_vector(llvm::seq<int64_t>(2, split.size()));
  }
  Tensor centered = wide - mean(wide, axes);
  Tensor variance = mean(centered * centered, axes);
  Tensor normal = centered * rsqrt(variance + number(variance, op.getEps().convertToDouble()));
  if (groups != 1)
    normal = reshape(normal, shape);
  if (!x.element().isF32())
    normal = convert(normal, x.element());
  SmallVector<Tensor> all = broadcastTogether(b, ValueRange{normal, op.getScale(), op.getBias()});
  return Values{all[0] * all[1] + all[2]};
}

static LayerResults lowerScale(LocBuilder &b, ScaleOp op) {
  Tensor x(b, op.getInput());
  auto axis = static_cast<int64_t>(op.getChannelAxis());
  if (!x.type().hasStaticShape())
    return op.emitError("'tensorrt.scale' of a dynamic shape cannot be computed on the CPU"), failure();
  auto coefficient = [&](ElementsAttr weights) {
    Tensor values(b, stablehlo::ConstantOp::create(b, weights.getType(), weights));
    if (op.getMode() == ScaleMode::kUNIFORM)
      return broadcast(reshape(values, {}), x.shape(), {});
    if (op.getMode() == ScaleMode::kCHANNEL)
      return broadcast(reshape(values, {x.extent(axis)}), x.shape(), {axis});
    SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(axis, x.rank()));
    return broadcast(reshape(values, x.shape().drop_front(axis)), x.shape(), dims);
  };
  if (op.getScale())
    x = x * coefficient(*op.getScale());
  if (op.getShift())
    x = x + coefficient(*op.getShift());
  if (op.getPower())
    x = pow(x, coefficient(*op.getPower()));
  return Values{x};
}

static LayerResults lowerLRN(LocBuilder &b, LRNOp op) {
  Tensor x(b, op.getInput());
  if (!x.type().hasStaticShape())
    return op.emitError("'tensorrt.lrn' of a dynamic shape cannot be computed on the CPU"), failure();
  int64_t axis = x.rank() - 3, window = op.getWindow(), half = window / 2;
  Tensor squares = padZeros(x * x, axis, half, half), sum;
  for (int64_t i = 0; i < window; ++i) {
    Tensor part = slice(squares, axis, i, i + x.extent(axis));
    sum = Value(sum) ? sum + part : part;
  }
  double alpha = op.getAlpha().convertToDouble() / static_cast<double>(window);
  return Values{x / pow(sum * alpha + op.getK().convertToDouble(), x.like(op.getBeta().convertToDouble()))};
}

static LayerResults lowerRaggedSoftmax(LocBuilder &b, RaggedSoftMaxOp op) {
  Tensor x(b, op.getInput()), bounds(b, op.getBounds());
  if (!x.type().hasStaticShape())
    return op.emitError("'tensorrt.ragged_softmax' of a dynamic shape cannot be computed on the CPU"), failure();
  Tensor counts = iota(b, x.shape(), b.getI32Type(), 2) < broadcast(bounds, x.shape(), {0, 1, 2});
  Tensor result = softmax(select(counts, x, x.like(-std::numeric_limits<double>::infinity())), 2);
  return Values{select(counts, result, x.like(0))};
}

LayerResults input::lowerNormalizing(LocBuilder &b, Operation *op) {
  return llvm::TypeSwitch<Operation *, LayerResults>(op)
      .Case<SoftMaxOp>([&](SoftMaxOp layer) { return Values{softmax(Tensor(b, layer.getInput()), layer.getAxis())}; })
      .Case<NormalizationOp>([&](NormalizationOp layer) { return lowerNormalization(b, layer); })
      .Case<ScaleOp>([&](ScaleOp layer) { return lowerScale(b, layer); })
      .Case<LRNOp>([&](LRNOp layer) { return lowerLRN(b, layer); })
      .Case<RaggedSoftMaxOp>([&](RaggedSoftMaxOp layer) { return lowerRaggedSoftmax(b, layer); })
      .Default([](auto) { return std::nullopt; });
}
