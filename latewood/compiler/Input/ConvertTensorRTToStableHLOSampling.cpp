// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values between elements. Resizing goes dimension by dimension: which elements count for a place of the result, and
// how much, is known when the program is compiled, so that each dimension is a product with a small matrix of weights.
#include "latewood/compiler/Input/ConvertTensorRTToStableHLO.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace latewood;
using namespace latewood::input;
using namespace latewood::tensorrt;

//===----------------------------------------------------------------------===//
// Resizing
//===----------------------------------------------------------------------===//

static double coordinateOf(int64_t i, int64_t from, int64_t to, ResizeCoordinateTransformation transformation,
                           ResizeSelector selector) {
  if (to == 1 && selector == ResizeSelector::kUPPER)
    return 0;
  auto ratio = static_cast<double>(from) / static_cast<double>(to);
  switch (transformation) {
  case ResizeCoordinateTransformation::kALIGN_CORNERS:
    return to == 1 ? 0 : static_cast<double>(i * (from - 1)) / static_cast<double>(to - 1);
  case ResizeCoordinateTransformation::kASYMMETRIC:
    return static_cast<double>(i) * ratio;
  case ResizeCoordinateTransformation::kHALF_PIXEL:
    return (static_cast<double>(i) + 0.5) * ratio - 0.5;
  }
  llvm_unreachable("all transformations are above");
}

static double roundBy(double value, ResizeRoundMode mode) {
  switch (mode) {
  case ResizeRoundMode::kHALF_UP:
    return std::floor(value + 0.5);
  case ResizeRoundMode::kHALF_DOWN:
    return std::ceil(value - 0.5);
  case ResizeRoundMode::kFLOOR:
    return std::floor(value);
  case ResizeRoundMode::kCEIL:
    return std::ceil(value);
  }
  llvm_unreachable("all modes are above");
}

/// x along `dim`, multiplied by `weights`, of `to` rows.
static Tensor resample(const Tensor &x, int64_t dim, int64_t to, ArrayRef<double> weights) {
  LocBuilder &b = x.builder();
  int64_t from = x.extent(dim);
  Tensor matrix = table(b, {to, from}, x.element(), weights);
  SmallVector<int64_t> shape, order;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (i != dim)
      shape.push_back(x.extent(i));
  shape.push_back(to);
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(b.getContext(), {}, {}, {dim}, {1});
  Tensor product(b, stablehlo::DotGeneralOp::create(b, RankedTensorType::get(shape, x.element()), x, matrix, numbers,
                                                    ArrayAttr(), stablehlo::DotAlgorithmAttr()));
  for (int64_t i = 0; i < x.rank(); ++i)
    order.push_back(i == dim ? x.rank() - 1 : i < dim ? i : i - 1);
  return transpose(product, order);
}

/// Weights of the elements around a coordinate: `tap` gives (place, weight) pairs; places outside count for the border.
template <typename Op>
static LayerResults lowerResize(LocBuilder &b, Op op,
                                llvm::function_ref<SmallVector<std::pair<int64_t, double>>(double coordinate)> taps) {
  RankedTensorType type = op.getResult().getType();
  Tensor x(b, op.getInput());
  Type element = x.element();
  if (!type.hasStaticShape() || !x.type().hasStaticShape())
    return op->emitError() << "'" << op->getName() << "' of a dynamic shape cannot be computed on the CPU", failure();
  if (!element.isF32())
    x = convert(x, b.getF32Type());
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t from = x.extent(dim), to = type.getDimSize(dim);
    if (from == to || from == 0)
      continue;
    SmallVector<double> weights(from * to, 0.0);
    for (int64_t i = 0; i < to; ++i)
      for (auto [place, weight] :
           taps(coordinateOf(i, from, to, op.getCoordinateTransformation(), op.getSelectorForSinglePixel())))
        weights[i * from + std::clamp<int64_t>(place, 0, from - 1)] += weight;
    x = resample(x, dim, to, weights);
  }
  if (isa<IntegerType>(element))
    x = Tensor(b, stablehlo::RoundNearestEvenOp::create(b, x.type(), x));
  return Values{element.isF32() ? x : convert(x, element)};
}

//===----------------------------------------------------------------------===//
// grid_sample
//===----------------------------------------------------------------------===//

namespace {
/// The images and the points of a grid sample, in f32.
struct Grid {
  mutable GridSampleOp op;
  Tensor images;
  int64_t batch, channels, height, width, rows, columns;

  /// A coordinate of an image from one in [-1, 1].
  Tensor scale(const Tensor &x, int64_t extent) const {
    if (op.getAlignCorners())
      return (x + 1.0) * (static_cast<double>(extent - 1) / 2);
    return ((x + 1.0) * static_cast<double>(extent) - 1.0) / 2.0;
  }

  /// Mirrors coordinates until they lie inside.
  Tensor reflect(const Tensor &x, int64_t extent) const {
    double low = op.getAlignCorners() ? 0 : -0.5, span = static_cast<double>(extent) - (op.getAlignCorners() ? 1 : 0);
    if (span <= 0)
      return x.like(0);
    Tensor distance = abs(x - low), turns = floor(distance / span), rest = distance - turns * span;
    Tensor isEven = floor(turns / 2.0) * 2.0 == turns;
    return select(isEven, rest + low, span - rest + low);
  }

  /// Elements at whole coordinates [batch, rows, columns]; outside they are 0, or the border's.
  Tensor at(const Tensor &y, const Tensor &x) const {
    LocBuilder &b = images.builder();
    Type i32 = b.getI32Type();
    auto clampTo = [&](const Tensor &v, int64_t extent) {
      return minimum(maximum(v, v.like(0)), v.like(static_cast<double>(extent - 1)));
    };
    Tensor inside = (y >= 0.0) & (y < static_cast<double>(height)) & (x >= 0.0) & (x < static_cast<double>(width));
    SmallVector<int64_t> vector{batch, rows, columns, 1};
    Tensor indices = concatenate(
        {reshape(convert(clampTo(y, height), i32), vector), reshape(convert(clampTo(x, width), i32), vector)}, 3);
    // [batch, height, width, channels] at index vectors.
    Tensor last = transpose(images, {0, 2, 3, 1});
    Tensor taken =
        gatherVectors(last, indices, 1, RankedTensorType::get({batch, rows, columns, channels}, images.element()));
    if (op.getSampleMode() == SampleMode::kFILL)
      taken = select(broadcast(inside, taken.shape(), {0, 1, 2}), taken, taken.like(0));
    return transpose(taken, {0, 3, 1, 2});
  }
};
} // namespace

static LayerResults lowerGridSample(LocBuilder &b, GridSampleOp op) {
  RankedTensorType type = op.getResult().getType(), gridType = op.getGrid().getType();
  if (!type.hasStaticShape() || !op.getInput().getType().hasStaticShape())
    return op.emitError("'tensorrt.grid_sample' of a dynamic shape cannot be computed on the CPU"), failure();
  Type element = type.getElementType();
  auto wide = [&](Value value) {
    return element.isF32() ? Tensor(b, value) : convert(Tensor(b, value), b.getF32Type());
  };
  Tensor images = wide(op.getInput()), points = wide(op.getGrid());
  Grid grid{op,
            images,
            images.extent(0),
            images.extent(1),
            images.extent(2),
            images.extent(3),
            gridType.getDimSize(1),
            gridType.getDimSize(2)};
  SmallVector<int64_t> plane{grid.batch, grid.rows, grid.columns};
  Tensor x = grid.scale(reshape(slice(points, 3, 0, 1), plane), grid.width),
         y = grid.scale(reshape(slice(points, 3, 1, 2), plane), grid.height);
  if (op.getSampleMode() == SampleMode::kREFLECT) {
    x = grid.reflect(x, grid.width);
    y = grid.reflect(y, grid.height);
  } else if (op.getSampleMode() == SampleMode::kCLAMP) {
    x = minimum(maximum(x, x.like(0)), x.like(static_cast<double>(grid.width - 1)));
    y = minimum(maximum(y, y.like(0)), y.like(static_cast<double>(grid.height - 1)));
  }
  auto round = [&](const Tensor &v) { return Tensor(b, stablehlo::RoundNearestEvenOp::create(b, v.type(), v)); };
  Tensor result;
  if (op.getInterpolationMode() == InterpolationMode::kNEAREST) {
    result = grid.at(round(y), round(x));
  } else {
    // Taps of one dimension: places from `first` on, with their weights as functions of the fraction.
    bool isCubic = op.getInterpolationMode() == InterpolationMode::kCUBIC;
    Tensor fx = x - floor(x), fy = y - floor(y);
    auto weightsOf = [&](const Tensor &t) -> SmallVector<Tensor> {
      if (!isCubic)
        return {1.0 - t, t};
      const double a = -0.75;
      auto near = [&](const Tensor &d) { return ((a + 2) * d - (a + 3)) * d * d + 1.0; };
      auto far = [&](const Tensor &d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
      return {far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)};
    };
    SmallVector<Tensor> wx = weightsOf(fx), wy = weightsOf(fy);
    double first = isCubic ? -1 : 0;
    for (auto [i, weightY] : llvm::enumerate(wy))
      for (auto [j, weightX] : llvm::enumerate(wx)) {
        Tensor taken =
            grid.at(floor(y) + (first + static_cast<double>(i)), floor(x) + (first + static_cast<double>(j)));
        Tensor part = taken * broadcast(weightY * weightX, taken.shape(), {0, 2, 3});
        result = Value(result) ? result + part : part;
      }
  }
  return Values{element.isF32() ? result : convert(result, element)};
}

LayerResults input::lowerSampling(LocBuilder &b, Operation *op) {
  using Taps = SmallVector<std::pair<int64_t, double>>;
  return llvm::TypeSwitch<Operation *, LayerResults>(op)
      .Case<ResizeNearestOp>([&](ResizeNearestOp layer) {
        return lowerResize(b, layer, [&](double coordinate) {
          return Taps{{static_cast<int64_t>(roundBy(coordinate, layer.getNearestRounding())), 1.0}};
        });
      })
      .Case<ResizeLinearOp>([&](ResizeLinearOp layer) {
        return lowerResize(b, layer, [&](double coordinate) {
          double whole = std::floor(coordinate), rest = coordinate - whole;
          auto place = static_cast<int64_t>(whole);
          return Taps{{place, 1 - rest}, {place + 1, rest}};
        });
      })
      .Case<ResizeCubicOp>([&](ResizeCubicOp layer) {
        return lowerResize(b, layer, [&](double coordinate) {
          double a = layer.getCubicCoeff().convertToDouble(), whole = std::floor(coordinate), t = coordinate - whole;
          auto place = static_cast<int64_t>(whole);
          auto near = [&](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
          auto far = [&](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
          return Taps{{place - 1, far(t + 1)}, {place, near(t)}, {place + 1, near(1 - t)}, {place + 2, far(2 - t)}};
        });
      })
      .Case<GridSampleOp>([&](GridSampleOp layer) { return lowerGridSample(b, layer); })
      .Default([](auto) { return std::nullopt; });
}
