// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers and type inference of products, convolutions, pooling and attention.
#include "latewood/compiler/Dialect/TensorRT/ConstraintReport.h"
#include "latewood/compiler/Dialect/TensorRT/TensorRT.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::tensorrt;
using stablehlo::emitConstraint;
using stablehlo::extentsAgree;

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Whether all tensors have the element type of the first one. Absent ones count as having it.
static bool haveOneElementType(std::initializer_list<Value> values) {
  return llvm::all_of(values, [&](Value value) {
    return !value || getElementTypeOrSelf(value) == getElementTypeOrSelf(*values.begin());
  });
}

/// Whether a tensor has this shape, up to `?` on either side.
static bool hasShape(RankedTensorType type, ArrayRef<int64_t> shape) {
  return succeeded(verifyCompatibleShape(type.getShape(), shape));
}

//===----------------------------------------------------------------------===//
// matrix_multiply, einsum
//===----------------------------------------------------------------------===//

LogicalResult MatrixMultiplyOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                                 SmallVectorImpl<Type> &types) {
  RankedTensorType lhs = tensorType(adaptor.getInput0()), rhs = tensorType(adaptor.getInput1());
  ConstraintReport fail{location, getOperationName()};
  if (lhs.getElementType() != rhs.getElementType()) // C1
    return fail("C1", "requires operands of one element type, but got ", lhs, " and ", rhs);
  auto matrixRank = [](MatrixOperation op) { return op == MatrixOperation::kVECTOR ? 1 : 2; };
  int64_t lhsInner = matrixRank(adaptor.getOp0()), rhsInner = matrixRank(adaptor.getOp1());
  if (lhs.getRank() < lhsInner || rhs.getRank() < rhsInner) // C2
    return fail("C2", "requires operands that have the dimensions of a matrix or vector, but got ", lhs, " and ", rhs);
  ArrayRef<int64_t> lhsBatch = lhs.getShape().drop_back(lhsInner), rhsBatch = rhs.getShape().drop_back(rhsInner);
  std::optional<SmallVector<int64_t>> shape = broadcastShapes({lhsBatch, rhsBatch});
  if (!shape) // C3
    return fail("C3", "requires collections of one rank whose extents are equal or 1, but got ", lhs, " and ", rhs);
  // [M, K] and [K, N]; a vector is K alone.
  ArrayRef<int64_t> l = lhs.getShape().take_back(lhsInner), r = rhs.getShape().take_back(rhsInner);
  bool lhsTransposed = adaptor.getOp0() == MatrixOperation::kTRANSPOSE,
       rhsTransposed = adaptor.getOp1() == MatrixOperation::kTRANSPOSE;
  int64_t lhsSummed = lhsInner == 1 || lhsTransposed ? l[0] : l[1];
  int64_t rhsSummed = rhsInner == 1 || !rhsTransposed ? r[0] : r[1];
  if (!extentsAgree(lhsSummed, rhsSummed)) // C4
    return fail("C4", "requires equal extents to sum over, but got ", lhsSummed, " and ", rhsSummed, " of ", lhs,
                " and ", rhs);
  if (lhsInner == 2)
    shape->push_back(lhsTransposed ? l[1] : l[0]);
  if (rhsInner == 2)
    shape->push_back(rhsTransposed ? r[0] : r[1]);
  types.push_back(RankedTensorType::get(*shape, lhs.getElementType()));
  return success();
}

std::optional<EinsumEquation> tensorrt::parseEinsum(StringRef equation, std::string &error) {
  EinsumEquation result;
  std::string text;
  for (char c : equation)
    if (c != ' ')
      text += c;
  auto [left, right] = StringRef(text).split("->");
  bool isExplicit = StringRef(text).contains("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  for (StringRef term : terms)
    result.inputs.push_back(term.str());
  for (char c : left.str() + right.str())
    if (c != ',' && (c < 'a' || c > 'z')) {
      error = std::string("lower-case letters for dimensions, but got '") + c + "'";
      return std::nullopt;
    }
  if (right.contains(',')) {
    error = "one term behind the arrow";
    return std::nullopt;
  }
  if (isExplicit) {
    result.output = right.str();
  } else {
    for (char c = 'a'; c <= 'z'; ++c)
      if (left.count(c) == 1)
        result.output += c;
  }
  for (char c : result.output) {
    if (!left.contains(c)) {
      error = std::string("letters in the result that an input has, but got '") + c + "'";
      return std::nullopt;
    }
    if (StringRef(result.output).count(c) != 1) {
      error = std::string("letters in the result that occur once there, but got '") + c + "'";
      return std::nullopt;
    }
  }
  return result;
}

LogicalResult EinsumOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  ValueRange inputs = adaptor.getInputs();
  ConstraintReport fail{location, getOperationName()};
  if (inputs.empty() || llvm::any_of(inputs, [&](Value input) {
        return getElementTypeOrSelf(input) != getElementTypeOrSelf(inputs.front());
      })) // C1
    return fail("C1", "requires inputs of one element type, at least one");
  std::string error;
  std::optional<EinsumEquation> equation = parseEinsum(adaptor.getEquation(), error);
  if (!equation) // C2
    return fail("C2", "requires ", error, " in \"", adaptor.getEquation(), "\"");
  if (equation->inputs.size() != inputs.size()) // C2
    return fail("C2", "requires one term an input, but got ", equation->inputs.size(), " for ", inputs.size());
  llvm::SmallDenseMap<char, int64_t> extents;
  for (auto [term, input] : llvm::zip(equation->inputs, inputs)) {
    RankedTensorType type = tensorType(input);
    if (static_cast<int64_t>(term.size()) != type.getRank()) // C2
      return fail("C2", "requires one letter a dimension of ", type, ", but got \"", term, "\"");
    for (auto [letter, extent] : llvm::zip(term, type.getShape())) {
      auto [known, isNew] = extents.try_emplace(letter, extent);
      if (isNew)
        continue;
      std::optional<SmallVector<int64_t>> merged = broadcastShapes({{known->second}, {extent}});
      if (!merged) // C3
        return fail("C3", "requires extents of '", std::string(1, letter), "' that are equal or 1, but got ",
                    known->second, " and ", extent);
      known->second = merged->front();
    }
  }
  auto shape = llvm::map_to_vector(equation->output, [&](char letter) { return extents.lookup(letter); });
  if (static_cast<int64_t>(shape.size()) > kMaxRank)
    return fail("C2", "requires a result of at most ", kMaxRank, " dimensions");
  types.push_back(RankedTensorType::get(shape, getElementTypeOrSelf(inputs.front())));
  return success();
}

//===----------------------------------------------------------------------===//
// convolution, deconvolution, pooling
//===----------------------------------------------------------------------===//

/// What both kinds of convolution have in common. `channels` is the number of the kernel's channels of the input,
/// `maps` of the result.
template <typename Adaptor>
static LogicalResult checkConvolution(StringRef op, std::optional<Location> location, Adaptor adaptor,
                                      bool isTransposed, int64_t &maps) {
  RankedTensorType input = tensorType(adaptor.getInput()), kernel = tensorType(adaptor.getKernel());
  ConstraintReport fail{location, op};
  if (!haveOneElementType({adaptor.getInput(), adaptor.getKernel(), adaptor.getBias()})) // C1
    return fail("C1", "requires operands of one element type, but got ", input, " and ", kernel);
  int64_t spatial = input.getRank() - 2;
  auto hasSize = [&](ArrayRef<int64_t> list) { return static_cast<int64_t>(list.size()) == spatial; };
  if (spatial < 2 || spatial > 3 || kernel.getRank() != input.getRank()) // C2
    return fail("C2", "requires an input and a kernel of 2 or 3 spatial dimensions, but got ", input, " and ", kernel);
  std::optional<ArrayRef<int64_t>> dilation = adaptor.getDilation();
  if (!hasSize(adaptor.getStride()) || !hasSize(adaptor.getPrePadding()) || !hasSize(adaptor.getPostPadding()) ||
      (dilation && !hasSize(*dilation))) // C2
    return fail("C2", "requires lists with one entry a spatial dimension of ", input);
  auto arePositive = [](ArrayRef<int64_t> list) { return llvm::all_of(list, [](int64_t entry) { return entry > 0; }); };
  auto areNotNegative = [](ArrayRef<int64_t> list) {
    return llvm::all_of(list, [](int64_t entry) { return entry >= 0; });
  };
  if (!arePositive(adaptor.getStride()) || (dilation && !arePositive(*dilation))) // C3
    return fail("C3", "requires strides and dilations that are positive");
  if (!areNotNegative(adaptor.getPrePadding()) || !areNotNegative(adaptor.getPostPadding())) // C3
    return fail("C3", "requires paddings that are not negative");
  auto groups = static_cast<int64_t>(adaptor.getNumGroups());
  int64_t channels = input.getDimSize(1);
  maps = kernel.getDimSize(0);
  int64_t kernelChannels = kernel.getDimSize(1);
  if (isTransposed) {
    std::swap(maps, kernelChannels);
    if (!ShapedType::isDynamic(maps))
      maps *= groups;
    if (groups < 1 || !extentsAgree(channels, kernelChannels) ||
        (!ShapedType::isDynamic(channels) && channels % groups != 0)) // C4
      return fail("C4", "requires a kernel for the channels of ", input, " in ", groups, " groups, but got ", kernel);
  } else if (groups < 1 || (!ShapedType::isDynamic(maps) && maps % groups != 0) ||
             (!ShapedType::isDynamic(channels) && !ShapedType::isDynamic(kernelChannels) &&
              channels != kernelChannels * groups)) { // C4
    return fail("C4", "requires a kernel for the channels of ", input, " in ", groups, " groups, but got ", kernel);
  }
  if (Value bias = adaptor.getBias(); bias && !hasShape(tensorType(bias), {maps})) // C5
    return fail("C5", "requires a bias of ", maps, " elements, but got ", bias.getType());
  return success();
}

LogicalResult ConvolutionOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  int64_t maps;
  if (failed(checkConvolution(getOperationName(), location, adaptor, /*isTransposed=*/false, maps)))
    return failure();
  RankedTensorType input = tensorType(adaptor.getInput()), kernel = tensorType(adaptor.getKernel());
  SmallVector<int64_t> shape{input.getDimSize(0), maps};
  for (auto [i, stride] : llvm::enumerate(adaptor.getStride())) {
    stablehlo::WindowDimension window;
    window.size = kernel.getDimSize(i + 2);
    window.stride = stride;
    window.windowDilation = adaptor.getDilation() ? (*adaptor.getDilation())[i] : 1;
    window.low = adaptor.getPrePadding()[i];
    window.high = adaptor.getPostPadding()[i];
    shape.push_back(stablehlo::countWindows(input.getDimSize(i + 2), window));
    if (shape.back() == 0 && input.getDimSize(i + 2) != 0) // C6
      return emitConstraint(location, getOperationName(), "C6",
                            "requires a kernel that fits into the padded input, but got ", kernel, " for ", input);
  }
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

LogicalResult DeconvolutionOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  int64_t maps;
  if (failed(checkConvolution(getOperationName(), location, adaptor, /*isTransposed=*/true, maps)))
    return failure();
  RankedTensorType input = tensorType(adaptor.getInput()), kernel = tensorType(adaptor.getKernel());
  if (input.getElementType().isBF16()) // C7
    return emitConstraint(location, getOperationName(), "C7", "requires elements of f32 or f16, but got ", input);
  SmallVector<int64_t> shape{input.getDimSize(0), maps};
  for (auto [i, stride] : llvm::enumerate(adaptor.getStride())) {
    int64_t extent = input.getDimSize(i + 2), size = kernel.getDimSize(i + 2);
    int64_t dilation = adaptor.getDilation() ? (*adaptor.getDilation())[i] : 1;
    if (ShapedType::isDynamic(extent) || ShapedType::isDynamic(size)) {
      shape.push_back(ShapedType::kDynamic);
      continue;
    }
    shape.push_back((extent - 1) * stride + dilation * (size - 1) + 1 - adaptor.getPrePadding()[i] -
                    adaptor.getPostPadding()[i]);
    if (shape.back() <= 0) // C6
      return emitConstraint(location, getOperationName(), "C6",
                            "requires extents of the result that are positive, but got ", shape.back());
  }
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

LogicalResult PoolingOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput());
  ConstraintReport fail{location, getOperationName()};
  ArrayRef<int64_t> windows = adaptor.getWindowSize(), strides = adaptor.getStride(), pre = adaptor.getPrePadding(),
                    post = adaptor.getPostPadding();
  size_t spatial = windows.size();
  if (spatial < 2 || spatial > 3 || strides.size() != spatial || pre.size() != spatial || post.size() != spatial ||
      input.getRank() <= static_cast<int64_t>(spatial)) // C1
    return fail("C1", "requires lists of 2 or 3 entries for the last dimensions of ", input);
  if (adaptor.getBlendFactor() && adaptor.getPoolingType() != PoolingType::kMAX_AVERAGE_BLEND) // C4
    return fail("C4", "requires no blend factor for ", stringifyPoolingType(adaptor.getPoolingType()));
  if (spatial == 3 && input.getElementType().isInteger(8)) // C5
    return fail("C5", "requires windows of 2 dimensions for i8, but got ", input);
  SmallVector<int64_t> shape(input.getShape());
  for (size_t i = 0; i < spatial; ++i) {
    if (windows[i] < 1 || strides[i] < 1) // C2
      return fail("C2", "requires windows and strides that are positive");
    if (pre[i] < 0 || post[i] < 0 || pre[i] >= windows[i] || post[i] >= windows[i]) // C3
      return fail("C3", "requires paddings from 0 to less than the window");
    stablehlo::WindowDimension window;
    window.size = windows[i];
    window.stride = strides[i];
    window.low = pre[i];
    window.high = post[i];
    int64_t &extent = shape[shape.size() - spatial + i];
    extent = stablehlo::countWindows(extent, window);
  }
  // What the builder takes, and nobody pools more.
  int64_t most = spatial == 2 ? 100000 : 10000000, elements = 1;
  for (int64_t window : windows) {
    if (window >= most || (elements *= window) >= most) // C2
      return fail("C2", "requires windows of less than ", most, " elements");
  }
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}

//===----------------------------------------------------------------------===//
// Attention and its company
//===----------------------------------------------------------------------===//

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  RankedTensorType query = tensorType(adaptor.getQuery()), key = tensorType(adaptor.getKey()),
                   value = tensorType(adaptor.getValue());
  ConstraintReport fail{location, getOperationName()};
  if (!haveOneElementType({adaptor.getQuery(), adaptor.getKey(), adaptor.getValue()})) // C1
    return fail("C1", "requires operands of one element type, but got ", query, ", ", key, " and ", value);
  bool isQueryPadded = adaptor.getQueryForm() == AttentionIOForm::kPADDED_BHND,
       isKeyPadded = adaptor.getKeyValueForm() == AttentionIOForm::kPADDED_BHND;
  if (query.getRank() != (isQueryPadded ? 4 : 3) || key.getRank() != (isKeyPadded ? 4 : 3) ||
      value.getRank() != key.getRank()) // C2
    return fail("C2", "requires 4 dimensions of padded and 3 of packed inputs, but got ", query, ", ", key, " and ",
                value);
  auto heads = [](RankedTensorType type) { return type.getDimSize(1); };
  bool batchAgrees = !isQueryPadded || !isKeyPadded || extentsAgree(query.getDimSize(0), key.getDimSize(0));
  SmallVector<int64_t> keyButSize(key.getShape().drop_back()), valueButSize(value.getShape().drop_back());
  bool keyFitsValue = succeeded(verifyCompatibleShape(keyButSize, valueButSize));
  bool sizeAgrees = extentsAgree(query.getShape().back(), key.getShape().back());
  bool headsFit = ShapedType::isDynamic(heads(query)) || ShapedType::isDynamic(heads(key)) ||
                  (heads(key) != 0 && heads(query) % heads(key) == 0);
  if (!batchAgrees || !keyFitsValue || !sizeAgrees || !headsFit) // C3
    return fail("C3", "requires inputs that fit together, but got ", query, ", ", key, " and ", value);
  if (Value mask = adaptor.getMask()) { // C4
    RankedTensorType type = tensorType(mask);
    if (adaptor.getCausalKind() != CausalMaskKind::kNONE)
      return fail("C4", "requires a mask or a causal mask, but got both");
    if (!type.getElementType().isInteger(1) && type.getElementType() != query.getElementType())
      return fail("C4", "requires a mask of i1 or ", query.getElementType(), ", but got ", type);
    if (type.getRank() != 4)
      return fail("C4", "requires a mask of 4 dimensions, but got ", type);
    if (isQueryPadded && isKeyPadded &&
        !broadcastsOnto(type.getShape(), {query.getDimSize(0), heads(query), query.getDimSize(2), key.getDimSize(2)}))
      return fail("C4", "requires a mask that broadcasts to the scores, but got ", type);
  }
  std::optional<Type> quantized = adaptor.getNormalizationQuantizeToType();
  if (quantized.has_value() != !!adaptor.getNormalizationQuantizeScale() ||
      (quantized && !isa<Float8E4M3FNType>(*quantized) && !quantized->isSignlessInteger(8))) // C5
    return fail("C5", "requires a quantized type of the scores, f8E4M3FN or i8, together with its scale");
  if ((!isQueryPadded && !adaptor.getQueryLengths()) || (!isKeyPadded && !adaptor.getKeyValueLengths())) // C6
    return fail("C6", "requires the lengths of packed sequences");
  SmallVector<int64_t> shape(query.getShape());
  shape.back() = value.getShape().back();
  types.push_back(RankedTensorType::get(shape, query.getElementType()));
  return success();
}

LogicalResult RotaryEmbeddingOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                                  SmallVectorImpl<Type> &types) {
  RankedTensorType input = tensorType(adaptor.getInput()), cosines = tensorType(adaptor.getCosCache()),
                   sines = tensorType(adaptor.getSinCache());
  ConstraintReport fail{location, getOperationName()};
  if (!haveOneElementType({adaptor.getInput(), adaptor.getCosCache(), adaptor.getSinCache()})) // C1
    return fail("C1", "requires operands of one element type, but got ", input, ", ", cosines, " and ", sines);
  if (input.getRank() != 4) // C2
    return fail("C2", "requires an input of 4 dimensions, but got ", input);
  auto rotated = static_cast<int64_t>(adaptor.getRotaryEmbeddingDim());
  int64_t size = input.getDimSize(3);
  if (rotated < 0 || rotated % 2 != 0 ||
      (!ShapedType::isDynamic(size) && (rotated > size || (rotated == 0 && size % 2 != 0)))) // C5
    return fail("C5", "requires an even number of elements to rotate in ", input, ", but got ",
                rotated == 0 ? size : rotated);
  if (rotated == 0)
    rotated = size;
  int64_t pairs = ShapedType::isDynamic(rotated) ? rotated : rotated / 2;
  SmallVector<int64_t> cache{input.getDimSize(0), input.getDimSize(2), pairs};
  if (Value positions = adaptor.getPositionIds()) {
    if (!hasShape(tensorType(positions), {input.getDimSize(0), input.getDimSize(2)})) // C4
      return fail("C4", "requires positions of [batch, tokens] of ", input, ", but got ", positions.getType());
    cache = {ShapedType::kDynamic, pairs};
  }
  if (!hasShape(cosines, cache) || !hasShape(sines, cache) || !hasShape(cosines, sines.getShape())) // C3
    return fail("C3", "requires caches for ", input, ", but got ", cosines, " and ", sines);
  types.push_back(input);
  return success();
}

LogicalResult KVCacheUpdateOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  RankedTensorType cache = tensorType(adaptor.getCache()), update = tensorType(adaptor.getUpdate());
  ConstraintReport fail{location, getOperationName()};
  if (cache.getElementType() != update.getElementType() || cache.getRank() != 4 ||
      !hasShape(update, {cache.getDimSize(0), cache.getDimSize(1), ShapedType::kDynamic, cache.getDimSize(3)}) ||
      (!cache.isDynamicDim(2) && !update.isDynamicDim(2) && update.getDimSize(2) > cache.getDimSize(2))) // C1
    return fail("C1", "requires an update of the cache's type and extents, and not more tokens, but got ", update,
                " for ", cache);
  for (Value vector : {adaptor.getWriteIndices(), adaptor.getUpdateLengths()}) // C2
    if (vector && !hasShape(tensorType(vector), {cache.getDimSize(0)}))
      return fail("C2", "requires one index or length a batch of ", cache, ", but got ", vector.getType());
  types.push_back(cache);
  return success();
}

LogicalResult MoEOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  RankedTensorType states = tensorType(adaptor.getHiddenStates()), experts = tensorType(adaptor.getSelectedExperts()),
                   scores = tensorType(adaptor.getScores()), gate = tensorType(adaptor.getGateWeights()),
                   up = tensorType(adaptor.getUpWeights()), down = tensorType(adaptor.getDownWeights());
  ConstraintReport fail{location, getOperationName()};
  if (states.getRank() != 3 || experts.getRank() != 3 || !hasShape(scores, experts.getShape()) ||
      !extentsAgree(states.getDimSize(0), experts.getDimSize(0)) ||
      !extentsAgree(states.getDimSize(1), experts.getDimSize(1))) // C1
    return fail("C1", "requires states, experts and scores of [batch, tokens, ...], but got ", states, ", ", experts,
                " and ", scores);
  if (gate.getRank() != 3 || !hasShape(up, gate.getShape()) ||
      !extentsAgree(gate.getDimSize(1), states.getDimSize(2)) ||
      !hasShape(down, {gate.getDimSize(0), gate.getDimSize(2), gate.getDimSize(1)})) // C2
    return fail("C2", "requires weights that fit ", states, " and each other, but got ", gate, ", ", up, " and ", down);
  bool hasBias = !!adaptor.getGateBias();
  if (hasBias != !!adaptor.getUpBias() || hasBias != !!adaptor.getDownBias() ||
      (hasBias && (!hasShape(tensorType(adaptor.getGateBias()), {gate.getDimSize(0), gate.getDimSize(2)}) ||
                   !hasShape(tensorType(adaptor.getUpBias()), {gate.getDimSize(0), gate.getDimSize(2)}) ||
                   !hasShape(tensorType(adaptor.getDownBias()), {gate.getDimSize(0), gate.getDimSize(1)})))) // C3
    return fail("C3", "requires all biases or none, each for its weights");
  if (!haveOneElementType({adaptor.getHiddenStates(), adaptor.getScores(), adaptor.getGateWeights(),
                           adaptor.getUpWeights(), adaptor.getDownWeights(), adaptor.getGateBias(), adaptor.getUpBias(),
                           adaptor.getDownBias()})) // C4
    return fail("C4", "requires operands of one element type");
  types.push_back(states);
  return success();
}
