// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layers of operations that make tensors or move elements. What is known is given as numbers, what is not as shape
// tensors.

#include "latewood/compiler/Engines/TensorRT/NetworkBuilder.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using nvinfer1::DataType;
using nvinfer1::ILayer;
using nvinfer1::ITensor;

namespace latewood::tensorrt {
namespace LATEWOOD_TENSORRT_ABI {

namespace {
RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

nvinfer1::Permutation toPermutation(ArrayRef<int64_t> order) {
  nvinfer1::Permutation permutation{};
  for (auto [to, from] : llvm::zip(permutation.order, order))
    to = static_cast<int32_t>(from);
  return permutation;
}

/// The extents of a result, where a network may have at most one that it works out itself.
nvinfer1::Dims resultDims(RankedTensorType type) { return toDims(type.getShape()); }

nvinfer1::Dims zeros(int64_t rank) { return toDims(SmallVector<int64_t>(rank, 0)); }
nvinfer1::Dims ones(int64_t rank) { return toDims(SmallVector<int64_t>(rank, 1)); }
} // namespace

ILayer *NetworkBuilder::addShapeLayer(Operation *op) {
  return TypeSwitch<Operation *, ILayer *>(op)
      .Case([&](ConstantOp op) { return addConstant(op); })
      .Case([&](ShapeOp op) { return network.addShape(get(op.getInput())); })
      .Case([&](TransposeOp op) -> ILayer * {
        nvinfer1::IShuffleLayer *layer = network.addShuffle(get(op.getInput()));
        if (layer)
          layer->setFirstTranspose(toPermutation(op.getPermutation()));
        return layer;
      })
      .Case([&](ReshapeOp op) -> ILayer * {
        nvinfer1::IShuffleLayer *layer = network.addShuffle(get(op.getInput()));
        if (!layer)
          return nullptr;
        layer->setZeroIsPlaceholder(false);
        if (op.getShape())
          layer->setInput(1, get(op.getShape()));
        else
          layer->setReshapeDimensions(resultDims(typeOf(op.getResult())));
        return layer;
      })
      .Case([&](ShuffleOp op) -> ILayer * {
        nvinfer1::IShuffleLayer *layer = network.addShuffle(get(op.getInput()));
        if (!layer)
          return nullptr;
        layer->setZeroIsPlaceholder(op.getZeroIsPlaceholder());
        if (auto order = op.getFirstTranspose())
          layer->setFirstTranspose(toPermutation(*order));
        if (auto shape = op.getReshape())
          layer->setReshapeDimensions(toDims(*shape));
        if (auto order = op.getSecondTranspose())
          layer->setSecondTranspose(toPermutation(*order));
        if (op.getDynamicReshape())
          layer->setInput(1, get(op.getDynamicReshape()));
        return layer;
      })
      .Case([&](SqueezeOp op) { return network.addSqueeze(get(op.getInput()), *constantVector(op.getAxes())); })
      .Case([&](UnsqueezeOp op) { return network.addUnsqueeze(get(op.getInput()), *constantVector(op.getAxes())); })
      .Case([&](BroadcastOp op) { return addBroadcast(op); })
      .Case([&](SliceOp op) { return addSlice(op); })
      .Case([&](ConcatenationOp op) -> ILayer * {
        Tensors inputs;
        for (Value input : op.getInputs())
          inputs.push_back(&get(input));
        auto *layer = network.addConcatenation(inputs.data(), static_cast<int32_t>(inputs.size()));
        if (layer)
          layer->setAxis(static_cast<int32_t>(op.getAxis()));
        return layer;
      })
      .Case([&](PaddingOp op) {
        return network.addPaddingNd(get(op.getInput()), toDims(op.getPrePadding()), toDims(op.getPostPadding()));
      })
      .Case([&](ReverseSequenceOp op) -> ILayer * {
        auto *layer = network.addReverseSequence(get(op.getInput()), get(op.getSequenceLens()));
        if (!layer)
          return nullptr;
        layer->setBatchAxis(static_cast<int32_t>(op.getBatchAxis()));
        layer->setSequenceAxis(static_cast<int32_t>(op.getSequenceAxis()));
        return layer;
      })
      .Case([&](LinspaceOp op) -> ILayer * {
        auto type = typeOf(op.getResult());
        auto *layer =
            static_cast<nvinfer1::IFillLayer *>(addFill(type, op.getShape(), nvinfer1::FillOperation::kLINSPACE));
        if (!layer)
          return nullptr;
        if (op.getStart()) {
          layer->setInput(1, get(op.getStart()));
          layer->setInput(2, get(op.getStep()));
        } else if (isa<FloatType>(type.getElementType())) {
          layer->setAlpha(op.getStaticStart()->convertToDouble());
          layer->setBeta(op.getStaticStep()->convertToDouble());
        } else {
          layer->setAlphaInt64(static_cast<int64_t>(op.getStaticStart()->convertToDouble()));
          layer->setBetaInt64(static_cast<int64_t>(op.getStaticStep()->convertToDouble()));
        }
        return layer;
      })
      .Case([&](RandomUniformOp op) {
        return addRandom(op, nvinfer1::FillOperation::kRANDOM_UNIFORM, op.getLow(), op.getHigh(), op.getStaticLow(),
                         op.getStaticHigh());
      })
      .Case([&](RandomNormalOp op) {
        return addRandom(op, nvinfer1::FillOperation::kRANDOM_NORMAL, op.getMean(), op.getStd(), op.getStaticMean(),
                         op.getStaticStd());
      })
      .Case([&](ResizeNearestOp op) -> ILayer * {
        ILayer *layer = addResize(op, nvinfer1::InterpolationMode::kNEAREST);
        if (layer)
          static_cast<nvinfer1::IResizeLayer *>(layer)->setNearestRounding(
              static_cast<nvinfer1::ResizeRoundMode>(op.getNearestRounding()));
        return layer;
      })
      .Case([&](ResizeLinearOp op) { return addResize(op, nvinfer1::InterpolationMode::kLINEAR); })
      .Case([&](ResizeCubicOp op) -> ILayer * {
        ILayer *layer = addResize(op, nvinfer1::InterpolationMode::kCUBIC);
        if (layer)
          static_cast<nvinfer1::IResizeLayer *>(layer)->setCubicCoeff(op.getCubicCoeff().convertToFloat());
        return layer;
      })
      .Default([](Operation *) { return nullptr; });
}

ILayer *NetworkBuilder::addSlice(SliceOp op) {
  int64_t rank = typeOf(op.getInput()).getRank();
  auto known = [&](std::optional<ArrayRef<int64_t>> values, nvinfer1::Dims otherwise) {
    return values ? toDims(*values) : otherwise;
  };
  auto *layer = network.addSlice(get(op.getInput()), known(op.getStaticStart(), zeros(rank)),
                                 known(op.getStaticSize(), zeros(rank)), known(op.getStaticStride(), ones(rank)));
  if (!layer)
    return nullptr;
  layer->setMode(static_cast<nvinfer1::SampleMode>(op.getMode()));
  for (auto [index, value] : {std::pair(1, op.getStart()), {2, op.getSize()}, {3, op.getStride()}, {4, op.getFill()}})
    if (value)
      layer->setInput(index, get(value));
  return layer;
}

/// A slice with strides of 0 along repeated dimensions, of the input with dimensions of extent 1 put in.
ILayer *NetworkBuilder::addBroadcast(BroadcastOp op) {
  auto from = typeOf(op.getInput()), to = typeOf(op.getResult());
  ITensor *input = &get(op.getInput());
  SmallVector<int64_t> missing;
  SmallVector<int64_t> extents(to.getRank(), 1);
  for (auto [dimension, extent] : llvm::zip(op.getBroadcastDims(), from.getShape()))
    extents[dimension] = extent;
  for (int64_t d = 0; d < to.getRank(); ++d)
    if (!llvm::is_contained(op.getBroadcastDims(), d))
      missing.push_back(d);
  if (!missing.empty()) {
    ILayer *widened = network.addUnsqueeze(*input, *constantVector(missing));
    if (!widened)
      return nullptr;
    input = widened->getOutput(0);
  }
  SmallVector<int64_t> strides;
  for (int64_t d = 0; d < to.getRank(); ++d)
    strides.push_back(extents[d] == 1 ? 0 : 1);
  bool isKnown = llvm::none_of(extents, ShapedType::isDynamic);
  auto *layer = network.addSlice(*input, zeros(to.getRank()), op.getShape() ? zeros(to.getRank()) : resultDims(to),
                                 toDims(strides));
  if (!layer)
    return nullptr;
  if (op.getShape()) {
    ITensor *shape = &get(op.getShape());
    if (getElementTypeOrSelf(op.getShape().getType()).isInteger(32))
      shape = network.addCast(*shape, DataType::kINT64)->getOutput(0);
    layer->setInput(2, *shape);
  }
  if (!isKnown) {
    // min(extent - 1, 1): 0 where the extent turns out to be 1.
    ITensor *shape = network.addShape(*input)->getOutput(0);
    ITensor *one = constantVector(SmallVector<int64_t>(to.getRank(), 1));
    layer->setInput(3, *binary(binary(shape, one, nvinfer1::ElementWiseOperation::kSUB), one,
                               nvinfer1::ElementWiseOperation::kMIN));
  }
  return layer;
}

ILayer *NetworkBuilder::addFill(RankedTensorType type, Value shape, nvinfer1::FillOperation operation) {
  nvinfer1::Dims dims = shape ? zeros(type.getRank()) : resultDims(type);
  auto *layer = network.addFill(dims, operation, *toDataType(type.getElementType()));
  if (layer && shape)
    layer->setInput(0, get(shape));
  return layer;
}

template <typename Op>
ILayer *NetworkBuilder::addRandom(Op op, nvinfer1::FillOperation operation, Value first, Value second,
                                  std::optional<APFloat> staticFirst, std::optional<APFloat> staticSecond) {
  auto *layer = static_cast<nvinfer1::IFillLayer *>(addFill(typeOf(op.getResult()), op.getShape(), operation));
  if (!layer)
    return nullptr;
  if (first) {
    layer->setInput(1, get(first));
    layer->setInput(2, get(second));
  } else {
    layer->setAlpha(staticFirst->convertToDouble());
    layer->setBeta(staticSecond->convertToDouble());
  }
  return layer;
}

template <typename Op>
ILayer *NetworkBuilder::addResize(Op op, nvinfer1::InterpolationMode mode) {
  auto *layer = network.addResize(get(op.getInput()));
  if (!layer)
    return nullptr;
  layer->setResizeMode(mode);
  layer->setCoordinateTransformation(
      static_cast<nvinfer1::ResizeCoordinateTransformation>(op.getCoordinateTransformation()));
  layer->setSelectorForSinglePixel(static_cast<nvinfer1::ResizeSelector>(op.getSelectorForSinglePixel()));
  if (op.getOutputShape())
    layer->setInput(1, get(op.getOutputShape()));
  else if (auto scales = op.getScales())
    layer->setScales(scales->data(), static_cast<int32_t>(scales->size()));
  else
    layer->setOutputDimensions(resultDims(typeOf(op.getResult())));
  return layer;
}

} // namespace LATEWOOD_TENSORRT_ABI
} // namespace latewood::tensorrt
