// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layers that make tensors or move their elements.
#include "latewood/compiler/Input/ConvertTensorRTToStableHLO.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::input;
using namespace latewood::tensorrt;

/// `x` as `type`, whose extents are those in `shape` where they are not known.
static Tensor reshapeTo(const Tensor &x, RankedTensorType type, Value shape) {
  LocBuilder &b = x.builder();
  if (type.hasStaticShape())
    return reshape(x, type.getShape());
  if (!shape) {
    // One extent is what remains.
    Tensor all(b, extentsOf(b, x)), product = splatInteger(b, RankedTensorType::get({1}, b.getI64Type()), 1);
    for (int64_t i = 0; i < x.rank(); ++i)
      product = product * slice(all, 0, i, i + 1);
    int64_t known = 1;
    for (int64_t extent : type.getShape())
      known *= ShapedType::isDynamic(extent) ? 1 : extent;
    SmallVector<Tensor> parts;
    for (int64_t extent : type.getShape())
      parts.push_back(ShapedType::isDynamic(extent) ? product / product.likeInteger(std::max<int64_t>(1, known))
                                                    : product.likeInteger(extent));
    shape = concatenate(parts, 0);
  }
  return Tensor(b, stablehlo::DynamicReshapeOp::create(b, type, x, shape));
}

static LayerResults lowerShuffle(LocBuilder &b, ShuffleOp op) {
  Tensor x(b, op.getInput());
  auto type = op.getResult().getType();
  if (op.getFirstTranspose())
    x = transpose(x, *op.getFirstTranspose());
  SmallVector<int64_t> shape(type.getShape());
  if (op.getSecondTranspose())
    for (auto [i, from] : llvm::enumerate(*op.getSecondTranspose()))
      shape[from] = type.getDimSize(i);
  if (op.getDynamicReshape()) {
    auto middle = RankedTensorType::get(shape, x.element());
    Tensor wanted(b, op.getDynamicReshape());
    if (!middle.hasStaticShape()) {
      // -1 and placeholders are resolved by what is there.
      Tensor own = convert(Tensor(b, extentsOf(b, x)), wanted.element());
      if (op.getZeroIsPlaceholder()) {
        int64_t common = std::min(x.rank(), wanted.extent(0));
        Tensor copied = slice(own, 0, 0, common);
        if (common < wanted.extent(0))
          copied = padZeros(copied, 0, 0, wanted.extent(0) - common);
        wanted = select(wanted == wanted.like(0), copied, wanted);
      }
      Tensor isRest = wanted == wanted.like(-1);
      Tensor known = reduceAlong(select(isRest, wanted.like(1), wanted), ReduceOperation::kPROD, {0});
      Tensor rest = reduceAlong(own, ReduceOperation::kPROD, {0}) / maximum(known, known.like(1));
      wanted = select(isRest, broadcast(rest, wanted.shape(), {}), wanted);
    }
    x = reshapeTo(x, middle, wanted);
  } else if (op.getReshape()) {
    auto middle = RankedTensorType::get(shape, x.element());
    if (middle.hasStaticShape() || middle.getNumDynamicDims() == 1)
      x = reshapeTo(x, middle, {});
    else
      return op.emitError("'tensorrt.shuffle' to more than one unknown extent cannot be computed on the CPU"),
             failure();
  }
  if (op.getSecondTranspose())
    x = transpose(x, *op.getSecondTranspose());
  return Values{x};
}

//===----------------------------------------------------------------------===//
// slice
//===----------------------------------------------------------------------===//

/// Along one dimension, elements at known places. A place of -1 is the fill, which is `fill`.
static Tensor takeAlong(const Tensor &x, int64_t dim, ArrayRef<int64_t> places) {
  LocBuilder &b = x.builder();
  // Parts that are a slice.
  int64_t size = places.size(), stride = size > 1 ? places[1] - places[0] : 1;
  bool isRegular = stride != 0;
  for (int64_t i = 2; i < size; ++i)
    isRegular &= places[i] - places[i - 1] == stride;
  if (size == 0)
    return slice(x, dim, 0, 0);
  if (isRegular) {
    int64_t low = std::min(places.front(), places.back()), high = std::max(places.front(), places.back());
    Tensor part = slice(x, dim, low, high + 1, std::abs(stride));
    return stride < 0 ? reverse(part, {dim}) : part;
  }
  SmallVector<Tensor> parts;
  for (int64_t place : places)
    parts.push_back(slice(x, dim, place, place + 1));
  if (size <= 16)
    return concatenate(parts, dim);
  // Many: gathered, with the dimension in front.
  SmallVector<int64_t> order{dim}, shape{size};
  for (int64_t i = 0; i < x.rank(); ++i)
    if (i != dim) {
      order.push_back(i);
      shape.push_back(x.extent(i));
    }
  auto vectors = RankedTensorType::get({size, 1}, b.getI64Type());
  Tensor indices(b, stablehlo::ConstantOp::create(b, vectors, DenseElementsAttr::get(vectors, places)));
  Tensor taken = gatherVectors(transpose(x, order), indices, 0, RankedTensorType::get(shape, x.element()));
  SmallVector<int64_t> back(x.rank());
  for (auto [i, from] : llvm::enumerate(order))
    back[from] = i;
  return transpose(taken, back);
}

/// Where an element lies that a sampling mode finds for the place `i`, or -1 for the fill.
static int64_t placeOf(int64_t i, int64_t extent, SampleMode mode) {
  if (i >= 0 && i < extent)
    return i;
  switch (mode) {
  case SampleMode::kWRAP:
    return ((i % extent) + extent) % extent;
  case SampleMode::kCLAMP:
    return std::clamp<int64_t>(i, 0, extent - 1);
  case SampleMode::kREFLECT: {
    if (extent == 1)
      return 0;
    int64_t period = 2 * (extent - 1), at = ((i % period) + period) % period;
    return at < extent ? at : period - at;
  }
  default:
    return -1;
  }
}

static LayerResults lowerStaticSlice(LocBuilder &b, SliceOp op) {
  Tensor x(b, op.getInput());
  SmallVector<int64_t> starts(*op.getStaticStart()), sizes(*op.getStaticSize()), strides(*op.getStaticStride());
  bool fills = op.getMode() == SampleMode::kFILL;
  for (int64_t dim = 0; dim < x.rank(); ++dim) {
    int64_t extent = x.extent(dim);
    if (x.type().isDynamicDim(dim))
      return op.emitError("'tensorrt.slice' of unknown extents with known sizes cannot be computed on the CPU"),
             failure();
    int64_t start = starts[dim], last = start + (sizes[dim] - 1) * strides[dim];
    if (sizes[dim] == extent && start == 0 && (strides[dim] == 1 || extent == 1))
      continue;
    if (fills && sizes[dim] > 0) {
      // What lies outside is put there.
      int64_t before = std::max<int64_t>(0, -std::min(start, last)),
              behind = std::max<int64_t>(0, std::max(start, last) - (extent - 1));
      if (before || behind) {
        SmallVector<int64_t> low(x.rank(), 0), high(x.rank(), 0), none(x.rank(), 0), shape(x.shape());
        low[dim] = before;
        high[dim] = behind;
        shape[dim] += before + behind;
        x = Tensor(b, stablehlo::PadOp::create(b, RankedTensorType::get(shape, x.element()), x, op.getFill(), low, high,
                                               none));
        start += before;
        extent = shape[dim];
      }
    }
    SmallVector<int64_t> places;
    for (int64_t i = 0; i < sizes[dim]; ++i) {
      int64_t place = extent == 0 ? -1 : placeOf(start + i * strides[dim], extent, op.getMode());
      if (place < 0)
        return op.emitError("'tensorrt.slice' reads outside of its input"), failure();
      places.push_back(place);
    }
    x = takeAlong(x, dim, places);
  }
  return Values{x};
}

static LayerResults lowerSlice(LocBuilder &b, SliceOp op) {
  Tensor x(b, op.getInput());
  if (op.getStaticStart() && op.getStaticSize() && op.getStaticStride() && x.type().hasStaticShape())
    return lowerStaticSlice(b, op);
  int64_t rank = x.rank();
  Type i64 = b.getI64Type();
  auto vectorOf = [&](Value given, std::optional<ArrayRef<int64_t>> known) {
    if (given)
      return convert(Tensor(b, given), i64);
    auto type = RankedTensorType::get({rank}, i64);
    return Tensor(b, stablehlo::ConstantOp::create(b, type, DenseElementsAttr::get(type, *known)));
  };
  Tensor start = vectorOf(op.getStart(), op.getStaticStart());
  auto type = op.getResult().getType();
  bool hasUnitStrides =
      op.getStaticStride() && llvm::all_of(*op.getStaticStride(), [](int64_t stride) { return stride == 1; });
  if (op.getMode() == SampleMode::kFILL) {
    if (!hasUnitStrides)
      return op.emitError("'tensorrt.slice' with fill and strides, at computed places, cannot be computed on the CPU"),
             failure();
    // Padded by as much as is taken, on both sides, every start lies inside.
    Tensor size = vectorOf(op.getSize(), op.getStaticSize());
    if (!x.type().hasStaticShape() || !type.hasStaticShape()) {
      auto padded = RankedTensorType::get(SmallVector<int64_t>(rank, ShapedType::kDynamic), x.element());
      Value wide = stablehlo::DynamicPadOp::create(b, padded, x, op.getFill(), size, size, size.like(0));
      Tensor first = start + size;
      return Values{stablehlo::RealDynamicSliceOp::create(b, type, wide, first, first + size, size.like(1))};
    }
    SmallVector<int64_t> sizes(type.getShape()), none(rank, 0), shape;
    for (int64_t i = 0; i < rank; ++i)
      shape.push_back(x.extent(i) + 2 * sizes[i]);
    x = Tensor(
        b, stablehlo::PadOp::create(b, RankedTensorType::get(shape, x.element()), x, op.getFill(), sizes, sizes, none));
    start = start + size;
  } else if (op.getMode() != SampleMode::kSTRICT_BOUNDS) {
    return op.emitError("'tensorrt.slice' that looks outside at computed places cannot be computed on the CPU"),
           failure();
  }
  if (type.hasStaticShape() && hasUnitStrides) {
    SmallVector<Value> offsets;
    for (int64_t i = 0; i < rank; ++i)
      offsets.push_back(reshape(slice(start, 0, i, i + 1), {}));
    return Values{stablehlo::DynamicSliceOp::create(b, type, x, offsets, type.getShape())};
  }
  // Backwards is forwards, reversed.
  Tensor size = vectorOf(op.getSize(), op.getStaticSize()), stride = vectorOf(op.getStride(), op.getStaticStride());
  SmallVector<int64_t> reversed;
  if (op.getStaticStride()) {
    for (auto [i, step] : llvm::enumerate(*op.getStaticStride())) {
      if (step == 0)
        return op.emitError("'tensorrt.slice' that repeats along unknown extents cannot be computed on the CPU"),
               failure();
      if (step < 0)
        reversed.push_back(i);
    }
    if (!reversed.empty()) {
      Tensor last = start + (size - 1.0) * stride;
      start = minimum(start, last);
      stride = abs(stride);
    }
  }
  Tensor limit = start + (size - 1.0) * stride + 1.0;
  Tensor result(b, stablehlo::RealDynamicSliceOp::create(b, type, x, start, limit, stride));
  return Values{reversed.empty() ? result : reverse(result, reversed)};
}

//===----------------------------------------------------------------------===//
// Fills
//===----------------------------------------------------------------------===//

static LayerResults lowerLinspace(LocBuilder &b, LinspaceOp op) {
  auto type = op.getResult().getType();
  Type element = type.getElementType();
  auto counter = [&](int64_t dim) {
    return type.hasStaticShape() ? iota(b, type.getShape(), element, dim)
                                 : Tensor(b, stablehlo::DynamicIotaOp::create(b, type, op.getShape(), dim));
  };
  auto repeat = [&](const Tensor &scalar, const Tensor &like) {
    return type.hasStaticShape() ? broadcast(scalar, type.getShape(), {})
                                 : broadcastDynamic(type, scalar, extentsOf(b, like), {});
  };
  if (op.getStaticStart()) {
    Tensor numbers = counter(0);
    double start = op.getStaticStart()->convertToDouble(), step = op.getStaticStep()->convertToDouble();
    if (step != 1)
      numbers = numbers * number(numbers, step);
    if (start != 0)
      numbers = numbers + number(numbers, start);
    return Values{numbers};
  }
  Tensor result;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    Tensor numbers = counter(dim);
    Tensor part = numbers * repeat(reshape(slice(Tensor(b, op.getStep()), 0, dim, dim + 1), {}), numbers);
    result = Value(result) ? result + part : part;
  }
  Tensor start(b, op.getStart());
  return Values{Value(result) ? result + repeat(start, result) : start};
}

template <typename Op>
static LayerResults lowerRandom(LocBuilder &b, Op op, Value first, Value second, std::optional<APFloat> staticFirst,
                                std::optional<APFloat> staticSecond, stablehlo::RngDistribution distribution) {
  auto type = op.getResult().getType();
  if (!type.hasStaticShape())
    return op.emitError("random numbers of a dynamic shape cannot be computed on the CPU"), failure();
  auto scalarType = RankedTensorType::get({}, type.getElementType());
  if (!first) {
    first = splat(b, scalarType, staticFirst->convertToDouble());
    second = splat(b, scalarType, staticSecond->convertToDouble());
  }
  auto vector = RankedTensorType::get({type.getRank()}, b.getI64Type());
  Value shape = stablehlo::ConstantOp::create(b, vector, DenseElementsAttr::get(vector, type.getShape()));
  return Values{stablehlo::RngOp::create(b, type, first, second, shape, distribution)};
}

/// The first elements of sequences in the other order: each place is told where it takes its element from.
static LayerResults lowerReverseSequence(LocBuilder &b, ReverseSequenceOp op) {
  Tensor x(b, op.getInput()), lengths(b, op.getSequenceLens());
  if (!x.type().hasStaticShape())
    return op.emitError("'tensorrt.reverse_sequence' of a dynamic shape cannot be computed on the CPU"), failure();
  auto batch = static_cast<int64_t>(op.getBatchAxis()), sequence = static_cast<int64_t>(op.getSequenceAxis());
  Tensor place = iota(b, x.shape(), lengths.element(), sequence), length = broadcast(lengths, x.shape(), {batch});
  Tensor from = select(place < length, length - 1.0 - place, place);
  SmallVector<int64_t> vector(x.shape());
  vector.push_back(1);
  SmallVector<Tensor> components;
  for (int64_t i = 0; i < x.rank(); ++i)
    components.push_back(reshape(i == sequence ? from : iota(b, x.shape(), lengths.element(), i), vector));
  return Values{gatherVectors(x, concatenate(components, x.rank()), 0, x.type())};
}

LayerResults input::lowerShape(LocBuilder &b, Operation *op) {
  auto operand = [&](unsigned i) { return Tensor(b, op->getOperand(i)); };
  auto resultType = [&] { return cast<RankedTensorType>(op->getResult(0).getType()); };
  return llvm::TypeSwitch<Operation *, LayerResults>(op)
      .Case<tensorrt::ConstantOp>([&](tensorrt::ConstantOp constant) {
        return Values{stablehlo::ConstantOp::create(b, constant.getWeights().getType(), constant.getWeights())};
      })
      .Case<tensorrt::ShapeOp>([&](auto) { return Values{extentsOf(b, op->getOperand(0))}; })
      .Case<ShuffleOp>([&](ShuffleOp shuffle) { return lowerShuffle(b, shuffle); })
      .Case<tensorrt::TransposeOp>(
          [&](tensorrt::TransposeOp layer) { return Values{transpose(operand(0), layer.getPermutation())}; })
      .Case<tensorrt::ReshapeOp>(
          [&](tensorrt::ReshapeOp layer) { return Values{reshapeTo(operand(0), resultType(), layer.getShape())}; })
      .Case<SqueezeOp, UnsqueezeOp>([&](auto) -> LayerResults {
        RankedTensorType type = resultType();
        if (type.hasStaticShape())
          return Values{reshape(operand(0), type.getShape())};
        // The extents that are not 1 are the operand's, in order.
        Tensor own(b, extentsOf(b, op->getOperand(0)));
        SmallVector<Tensor> parts;
        bool isSqueeze = isa<SqueezeOp>(op);
        auto axes = isSqueeze ? cast<SqueezeOp>(op).getAxes() : cast<UnsqueezeOp>(op).getAxes();
        int64_t from = 0;
        for (int64_t i = 0; i < type.getRank(); ++i) {
          while (isSqueeze && llvm::is_contained(axes, from))
            ++from;
          if (!isSqueeze && llvm::is_contained(axes, i)) {
            parts.push_back(splatInteger(b, RankedTensorType::get({1}, b.getI64Type()), 1));
            continue;
          }
          parts.push_back(slice(own, 0, from, from + 1));
          ++from;
        }
        return Values{stablehlo::DynamicReshapeOp::create(b, type, operand(0), concatenate(parts, 0))};
      })
      .Case<BroadcastOp>([&](BroadcastOp layer) -> LayerResults {
        RankedTensorType type = resultType();
        if (type.hasStaticShape())
          return Values{broadcast(operand(0), type.getShape(), layer.getBroadcastDims())};
        return Values{broadcastDynamic(type, operand(0), layer.getShape(), layer.getBroadcastDims())};
      })
      .Case<SliceOp>([&](SliceOp layer) { return lowerSlice(b, layer); })
      .Case<ConcatenationOp>([&](ConcatenationOp layer) {
        return Values{
            stablehlo::ConcatenateOp::create(b, layer.getResult().getType(), layer.getInputs(), layer.getAxis())};
      })
      .Case<PaddingOp>([&](PaddingOp layer) {
        int64_t rank = layer.getInput().getType().getRank();
        SmallVector<int64_t> low(rank, 0), high(rank, 0), none(rank, 0);
        for (int64_t i = 0; i < 2; ++i) {
          low[rank - 2 + i] = layer.getPrePadding()[i];
          high[rank - 2 + i] = layer.getPostPadding()[i];
        }
        Value zero = splat(b, RankedTensorType::get({}, resultType().getElementType()), 0);
        return Values{stablehlo::PadOp::create(b, resultType(), layer.getInput(), zero, low, high, none)};
      })
      .Case<LinspaceOp>([&](LinspaceOp layer) { return lowerLinspace(b, layer); })
      .Case<RandomUniformOp>([&](RandomUniformOp layer) {
        return lowerRandom(b, layer, layer.getLow(), layer.getHigh(), layer.getStaticLow(), layer.getStaticHigh(),
                           stablehlo::RngDistribution::UNIFORM);
      })
      .Case<RandomNormalOp>([&](RandomNormalOp layer) {
        return lowerRandom(b, layer, layer.getMean(), layer.getStd(), layer.getStaticMean(), layer.getStaticStd(),
                           stablehlo::RngDistribution::NORMAL);
      })
      .Case<ReverseSequenceOp>([&](ReverseSequenceOp layer) { return lowerReverseSequence(b, layer); })
      .Default([](auto) { return std::nullopt; });
}
