// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer of each operation that computes. Enumerations have TensorRT's numbers, so they are cast.

#include "latewood/compiler/Engines/TensorRT/NetworkBuilder.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using nvinfer1::DataType;
using nvinfer1::ILayer;
using nvinfer1::ITensor;

namespace latewood::tensorrt {
namespace LATEWOOD_TENSORRT_ABI {

namespace {
DataType elementType(Value value) { return *toDataType(getElementTypeOrSelf(value.getType())); }

/// Several layers have parameters that are set after they are made, if they are made.
template <typename Layer, typename Function>
ILayer *with(Layer *layer, Function set) {
  if (layer)
    set(*layer);
  return layer;
}
} // namespace

ILayer *NetworkBuilder::addLayer(Operation *op) {
  return TypeSwitch<Operation *, ILayer *>(op)
      .Case([&](ActivationOp op) {
        auto type = static_cast<nvinfer1::ActivationType>(op.getActivationType());
        return with(network.addActivation(get(op.getInput()), type), [&](nvinfer1::IActivationLayer &layer) {
          if (auto alpha = op.getAlpha())
            layer.setAlpha(alpha->convertToFloat());
          if (auto beta = op.getBeta())
            layer.setBeta(beta->convertToFloat());
        });
      })
      .Case([&](UnaryOp op) {
        return network.addUnary(get(op.getInput()), static_cast<nvinfer1::UnaryOperation>(op.getUnaryOperation()));
      })
      .Case([&](ElementWiseOp op) {
        return network.addElementWise(get(op.getInput1()), get(op.getInput2()),
                                      static_cast<nvinfer1::ElementWiseOperation>(op.getElementwiseOperation()));
      })
      .Case([&](SelectOp op) {
        return network.addSelect(get(op.getCondition()), get(op.getThenInput()), get(op.getElseInput()));
      })
      .Case([&](CastOp op) { return network.addCast(get(op.getInput()), elementType(op.getResult())); })
      .Case([&](IdentityOp op) { return network.addIdentity(get(op.getInput())); })
      .Case([&](ParametricReLUOp op) { return network.addParametricReLU(get(op.getInput()), get(op.getSlope())); })
      .Case([&](ScaleOp op) -> ILayer * {
        auto coefficients = [&](std::optional<ElementsAttr> value) {
          auto dense = value ? dyn_cast<DenseElementsAttr>(*value) : DenseElementsAttr();
          return dense ? keep(dense) : nvinfer1::Weights{elementType(op.getInput()), nullptr, 0};
        };
        return network.addScaleNd(get(op.getInput()), static_cast<nvinfer1::ScaleMode>(op.getMode()),
                                  coefficients(op.getShift()), coefficients(op.getScale()), coefficients(op.getPower()),
                                  static_cast<int32_t>(op.getChannelAxis()));
      })
      .Case([&](LRNOp op) {
        return network.addLRN(get(op.getInput()), op.getWindow(), op.getAlpha().convertToFloat(),
                              op.getBeta().convertToFloat(), op.getK().convertToFloat());
      })
      .Case([&](SoftMaxOp op) {
        return with(network.addSoftMax(get(op.getInput())),
                    [&](nvinfer1::ISoftMaxLayer &layer) { layer.setAxes(toAxisMask(int64_t(op.getAxis()))); });
      })
      .Case([&](RaggedSoftMaxOp op) { return network.addRaggedSoftMax(get(op.getInput()), get(op.getBounds())); })
      .Case([&](NormalizationOp op) {
        return with(network.addNormalizationV2(get(op.getInput()), get(op.getScale()), get(op.getBias()),
                                               toAxisMask(op.getAxis())),
                    [&](nvinfer1::INormalizationLayer &layer) {
                      layer.setEpsilon(op.getEps().convertToFloat());
                      layer.setNbGroups(op.getNumGroups());
                    });
      })
      .Case([&](CumulativeOp op) {
        return network.addCumulative(get(op.getInput()), *constantScalar(op.getAxis(), DataType::kINT32),
                                     static_cast<nvinfer1::CumulativeOperation>(op.getCumulativeOperation()),
                                     op.getExclusive(), op.getReverse());
      })
      .Case([&](MatrixMultiplyOp op) {
        return network.addMatrixMultiply(get(op.getInput0()), static_cast<nvinfer1::MatrixOperation>(op.getOp0()),
                                         get(op.getInput1()), static_cast<nvinfer1::MatrixOperation>(op.getOp1()));
      })
      .Case([&](EinsumOp op) {
        Tensors inputs;
        for (Value input : op.getInputs())
          inputs.push_back(&get(input));
        return network.addEinsum(inputs.data(), static_cast<int32_t>(inputs.size()), op.getEquation().str().c_str());
      })
      .Case([&](ConvolutionOp op) { return addConvolution(op); })
      .Case([&](DeconvolutionOp op) { return addDeconvolution(op); })
      .Case([&](PoolingOp op) {
        return with(network.addPoolingNd(get(op.getInput()), static_cast<nvinfer1::PoolingType>(op.getPoolingType()),
                                         toDims(op.getWindowSize())),
                    [&](nvinfer1::IPoolingLayer &layer) {
                      layer.setStrideNd(toDims(op.getStride()));
                      layer.setPrePadding(toDims(op.getPrePadding()));
                      layer.setPostPadding(toDims(op.getPostPadding()));
                      layer.setAverageCountExcludesPadding(op.getAverageCountExcludesPadding());
                      if (auto factor = op.getBlendFactor())
                        layer.setBlendFactor(factor->convertToFloat());
                    });
      })
      .Case([&](AttentionOp op) { return addAttention(op); })
      .Case([&](RotaryEmbeddingOp op) {
        return with(network.addRotaryEmbedding(get(op.getInput()), get(op.getCosCache()), get(op.getSinCache()),
                                               op.getInterleaved(), static_cast<int32_t>(op.getRotaryEmbeddingDim())),
                    [&](nvinfer1::IRotaryEmbeddingLayer &layer) {
                      if (Value positions = op.getPositionIds())
                        layer.setInput(3, get(positions));
                    });
      })
      .Case([&](KVCacheUpdateOp op) {
        return with(network.addKVCacheUpdate(get(op.getCache()), get(op.getUpdate()), get(op.getWriteIndices()),
                                             static_cast<nvinfer1::KVCacheMode>(op.getCacheMode())),
                    [&](nvinfer1::IKVCacheUpdateLayer &layer) {
                      if (Value lengths = op.getUpdateLengths())
                        (void)layer.setUpdateLengths(&get(lengths));
                    });
      })
      .Case([&](MoEOp op) {
        return with(network.addMoE(get(op.getHiddenStates()), get(op.getSelectedExperts()), get(op.getScores())),
                    [&](nvinfer1::IMoELayer &layer) {
                      layer.setGatedWeights(get(op.getGateWeights()), get(op.getUpWeights()), get(op.getDownWeights()),
                                            static_cast<nvinfer1::MoEActType>(op.getActivationType()));
                      if (op.getGateBias())
                        layer.setGatedBiases(get(op.getGateBias()), get(op.getUpBias()), get(op.getDownBias()));
                    });
      })
      .Case([&](ReduceOp op) {
        return network.addReduce(get(op.getInput()), static_cast<nvinfer1::ReduceOperation>(op.getReduceOperation()),
                                 toAxisMask(op.getReduceAxes()), op.getKeepDimensions());
      })
      .Case([&](TopKOp op) {
        return with(network.addTopK(get(op.getInput()), static_cast<nvinfer1::TopKOperation>(op.getTopkOperation()),
                                    static_cast<int32_t>(op.getK()), toAxisMask(int64_t(op.getAxis())),
                                    elementType(op.getIndices())),
                    [&](nvinfer1::ITopKLayer &layer) {
                      if (Value k = op.getDynamicK())
                        layer.setInput(1, get(k));
                    });
      })
      .Case([&](ArgMinOp op) {
        return network.addTopK(get(op.getInput()), nvinfer1::TopKOperation::kMIN, 1, toAxisMask(int64_t(op.getAxis())),
                               elementType(op.getIndices()));
      })
      .Case([&](ArgMaxOp op) {
        return network.addTopK(get(op.getInput()), nvinfer1::TopKOperation::kMAX, 1, toAxisMask(int64_t(op.getAxis())),
                               elementType(op.getIndices()));
      })
      .Case([&](NonZeroOp op) { return network.addNonZero(get(op.getInput()), elementType(op.getResult())); })
      .Case([&](NMSOp op) {
        return with(network.addNMS(get(op.getBoxes()), get(op.getScores()), get(op.getMaxOutputBoxesPerClass()),
                                   elementType(op.getSelectedIndices())),
                    [&](nvinfer1::INMSLayer &layer) {
                      layer.setBoundingBoxFormat(static_cast<nvinfer1::BoundingBoxFormat>(op.getBoundingBoxFormat()));
                      if (Value threshold = op.getIouThreshold())
                        layer.setInput(3, get(threshold));
                      if (Value threshold = op.getScoreThreshold())
                        layer.setInput(4, get(threshold));
                      if (auto limit = op.getTopKBoxLimit())
                        layer.setTopKBoxLimit(static_cast<int32_t>(*limit));
                    });
      })
      .Case([&](GatherOp op) {
        return with(network.addGatherV2(get(op.getData()), get(op.getIndices()), nvinfer1::GatherMode::kDEFAULT),
                    [&](nvinfer1::IGatherLayer &layer) {
                      layer.setGatherAxis(static_cast<int32_t>(op.getAxis()));
                      layer.setNbElementWiseDims(static_cast<int32_t>(op.getNumElementWiseDims()));
                    });
      })
      .Case([&](GatherNdOp op) {
        return with(network.addGatherV2(get(op.getData()), get(op.getIndices()), nvinfer1::GatherMode::kND),
                    [&](nvinfer1::IGatherLayer &layer) {
                      layer.setNbElementWiseDims(static_cast<int32_t>(op.getNumElementWiseDims()));
                    });
      })
      .Case([&](GatherElementsOp op) {
        return with(network.addGatherV2(get(op.getData()), get(op.getIndices()), nvinfer1::GatherMode::kELEMENT),
                    [&](nvinfer1::IGatherLayer &layer) { layer.setGatherAxis(static_cast<int32_t>(op.getAxis())); });
      })
      .Case([&](ScatterNdOp op) {
        return network.addScatter(get(op.getData()), get(op.getIndices()), get(op.getUpdates()),
                                  nvinfer1::ScatterMode::kND);
      })
      .Case([&](ScatterElementsOp op) {
        return with(network.addScatter(get(op.getData()), get(op.getIndices()), get(op.getUpdates()),
                                       nvinfer1::ScatterMode::kELEMENT),
                    [&](nvinfer1::IScatterLayer &layer) { layer.setAxis(static_cast<int32_t>(op.getAxis())); });
      })
      .Case([&](OneHotOp op) {
        return network.addOneHot(get(op.getIndices()), get(op.getValues()), get(op.getDepth()),
                                 static_cast<int32_t>(op.getAxis()));
      })
      .Case([&](QuantizeOp op) {
        return with(network.addQuantize(get(op.getInput()), get(op.getScale()), elementType(op.getResult())),
                    [&](nvinfer1::IQuantizeLayer &layer) {
                      if (auto axis = op.getAxis())
                        layer.setAxis(static_cast<int32_t>(*axis));
                    });
      })
      .Case([&](DequantizeOp op) {
        return with(network.addDequantize(get(op.getInput()), get(op.getScale()), elementType(op.getResult())),
                    [&](nvinfer1::IDequantizeLayer &layer) {
                      if (auto axis = op.getAxis())
                        layer.setAxis(static_cast<int32_t>(*axis));
                    });
      })
      .Case([&](DynamicQuantizeOp op) { return addDynamicQuantize(op); })
      .Case([&](AssertionOp op) { return network.addAssertion(get(op.getCondition()), op.getMessage().str().c_str()); })
      .Case([&](GridSampleOp op) {
        return with(network.addGridSample(get(op.getInput()), get(op.getGrid())),
                    [&](nvinfer1::IGridSampleLayer &layer) {
                      layer.setInterpolationMode(static_cast<nvinfer1::InterpolationMode>(op.getInterpolationMode()));
                      layer.setAlignCorners(op.getAlignCorners());
                      layer.setSampleMode(static_cast<nvinfer1::SampleMode>(op.getSampleMode()));
                    });
      })
      .Default([&](Operation *op) { return addShapeLayer(op); });
}

//===----------------------------------------------------------------------===//
// Convolutions and attention
//===----------------------------------------------------------------------===//

namespace {
/// What convolutions and their transposes have in common.
template <typename Layer, typename Op>
void setConvolution(Layer &layer, Op op) {
  layer.setStrideNd(toDims(op.getStride()));
  layer.setPrePadding(toDims(op.getPrePadding()));
  layer.setPostPadding(toDims(op.getPostPadding()));
  layer.setDilationNd(toDims(op.getDilations()));
  layer.setNbGroups(op.getNumGroups());
}
} // namespace

ILayer *NetworkBuilder::addConvolution(ConvolutionOp op) {
  auto kernel = cast<RankedTensorType>(op.getKernel().getType());
  // What is no constant is an input of the layer.
  nvinfer1::Weights weights = keepConstant(op.getKernel()), bias = keepConstant(op.getBias());
  auto *layer = network.addConvolutionNd(get(op.getInput()), kernel.getDimSize(0),
                                         toDims(kernel.getShape().drop_front(2)), weights, bias);
  return with(layer, [&](nvinfer1::IConvolutionLayer &layer) {
    setConvolution(layer, op);
    if (!weights.values)
      layer.setInput(1, get(op.getKernel()));
    if (op.getBias() && !bias.values)
      layer.setInput(2, get(op.getBias()));
  });
}

ILayer *NetworkBuilder::addDeconvolution(DeconvolutionOp op) {
  auto kernel = cast<RankedTensorType>(op.getKernel().getType());
  // What is no constant is an input of the layer.
  nvinfer1::Weights weights = keepConstant(op.getKernel()), bias = keepConstant(op.getBias());
  auto *layer = network.addDeconvolutionNd(get(op.getInput()), kernel.getDimSize(1) * op.getNumGroups(),
                                           toDims(kernel.getShape().drop_front(2)), weights, bias);
  return with(layer, [&](nvinfer1::IDeconvolutionLayer &layer) {
    setConvolution(layer, op);
    if (!weights.values)
      layer.setInput(1, get(op.getKernel()));
    if (op.getBias() && !bias.values)
      layer.setInput(2, get(op.getBias()));
  });
}

/// Blocks along one dimension have a form of their own, which TensorRT-RTX wants where it may be used.
ILayer *NetworkBuilder::addDynamicQuantize(DynamicQuantizeOp op) {
  ArrayRef<int64_t> block = op.getBlockShape();
  auto isLong = [](int64_t extent) { return extent != 1; };
  const auto *axis = llvm::find_if(block, isLong);
  DataType result = elementType(op.getResult()), scales = elementType(op.getScales());
  nvinfer1::IDynamicQuantizeLayer *layer =
      llvm::count_if(block, isLong) == 1
          ? network.addDynamicQuantize(get(op.getInput()), static_cast<int32_t>(axis - block.begin()),
                                       static_cast<int32_t>(*axis), result, scales)
          : network.addDynamicQuantizeV2(get(op.getInput()), toDims(block), result, scales);
  return with(layer, [&](nvinfer1::IDynamicQuantizeLayer &layer) {
    if (Value scale = op.getDoubleQuantScale())
      layer.setInput(1, get(scale));
  });
}

ILayer *NetworkBuilder::addAttention(AttentionOp op) {
  nvinfer1::IAttention *attention =
      network.addAttentionV2(get(op.getQuery()), get(op.getKey()), get(op.getValue()),
                             static_cast<nvinfer1::AttentionNormalizationOp>(op.getNormalizationOperation()),
                             static_cast<nvinfer1::CausalMaskKind>(op.getCausalKind()));
  if (!attention)
    return nullptr;
  bool accepted = attention->setQueryForm(static_cast<nvinfer1::AttentionIOForm>(op.getQueryForm())) &&
                  attention->setKeyValueForm(static_cast<nvinfer1::AttentionIOForm>(op.getKeyValueForm())) &&
                  attention->setDecomposable(op.getDecomposable());
  if (op.getMask())
    accepted &= attention->setMask(get(op.getMask()));
  if (op.getNormalizationQuantizeScale())
    accepted &= attention->setNormalizationQuantizeScale(get(op.getNormalizationQuantizeScale()));
  if (auto type = op.getNormalizationQuantizeToType())
    accepted &= attention->setNormalizationQuantizeToType(*toDataType(*type));
  if (op.getQueryLengths())
    accepted &= attention->setQueryLengths(&get(op.getQueryLengths()));
  if (op.getKeyValueLengths())
    accepted &= attention->setKeyValueLengths(&get(op.getKeyValueLengths()));
  // An attention is no layer: what stands for it is a copy of its output.
  return accepted ? network.addIdentity(*attention->getOutput(0)) : nullptr;
}

} // namespace LATEWOOD_TENSORRT_ABI
} // namespace latewood::tensorrt
