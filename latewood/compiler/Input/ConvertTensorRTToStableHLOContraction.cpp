// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products, convolutions, pooling and attention.
#include "latewood/compiler/Input/ConvertTensorRTToStableHLO.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::input;
using namespace latewood::tensorrt;

static SmallVector<int64_t> count(int64_t n) { return llvm::to_vector(llvm::seq<int64_t>(0, n)); }

//===----------------------------------------------------------------------===//
// matrix_multiply, einsum
//===----------------------------------------------------------------------===//

static Tensor dot(const Tensor &lhs, const Tensor &rhs, ArrayRef<int64_t> lhsBatch, ArrayRef<int64_t> rhsBatch,
                  ArrayRef<int64_t> lhsSummed, ArrayRef<int64_t> rhsSummed) {
  LocBuilder &b = lhs.builder();
  SmallVector<int64_t> shape;
  for (int64_t i : lhsBatch)
    shape.push_back(lhs.shape()[i]);
  auto addFree = [&](const Tensor &x, ArrayRef<int64_t> batch, ArrayRef<int64_t> summed) {
    for (int64_t i = 0; i < x.rank(); ++i)
      if (!llvm::is_contained(batch, i) && !llvm::is_contained(summed, i))
        shape.push_back(x.shape()[i]);
  };
  addFree(lhs, lhsBatch, lhsSummed);
  addFree(rhs, rhsBatch, rhsSummed);
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(b.getContext(), lhsBatch, rhsBatch, lhsSummed, rhsSummed);
  return Tensor(b, stablehlo::DotGeneralOp::create(b, RankedTensorType::get(shape, lhs.element()), lhs, rhs, numbers,
                                                   ArrayAttr(), stablehlo::DotAlgorithmAttr()));
}

static Tensor lowerMatrixMultiply(LocBuilder &b, MatrixMultiplyOp op) {
  Tensor lhs(b, op.getInput0()), rhs(b, op.getInput1());
  int64_t lhsInner = op.getOp0() == MatrixOperation::kVECTOR ? 1 : 2,
          rhsInner = op.getOp1() == MatrixOperation::kVECTOR ? 1 : 2;
  int64_t batch = lhs.rank() - lhsInner;
  // The dimensions that are summed over.
  int64_t lhsSummed = batch + (lhsInner == 1 || op.getOp0() == MatrixOperation::kTRANSPOSE ? 0 : 1);
  int64_t rhsSummed = batch + (rhsInner == 1 || op.getOp1() != MatrixOperation::kTRANSPOSE ? 0 : 1);
  ArrayRef<int64_t> lhsBatch = lhs.shape().take_front(batch), rhsBatch = rhs.shape().take_front(batch);
  // The right side is repeated for all rows of the left one: these are rows, then.
  bool isRepeated = batch > 0 && lhsInner == 2 && llvm::all_of(rhsBatch, [](int64_t extent) { return extent == 1; }) &&
                    op.getOp0() == MatrixOperation::kNONE;
  if (isRepeated) {
    Tensor matrix = reshape(rhs, rhs.shape().drop_front(batch));
    return dot(lhs, matrix, {}, {}, {lhsSummed}, {rhsSummed - batch});
  }
  if (lhsBatch != rhsBatch) {
    // Only the collections broadcast.
    std::optional<SmallVector<int64_t>> common = broadcastShapes({lhsBatch, rhsBatch});
    auto repeat = [&](const Tensor &x, const Tensor &other) {
      SmallVector<int64_t> shape(*common);
      llvm::append_range(shape, x.shape().drop_front(batch));
      auto type = RankedTensorType::get(shape, x.element());
      if (type.hasStaticShape())
        return broadcastTo(x, type);
      SmallVector<Tensor> extents;
      Tensor own(b, extentsOf(b, x)), others(b, extentsOf(b, other));
      for (int64_t i = 0; i < x.rank(); ++i)
        extents.push_back(i < batch ? maximum(slice(own, 0, i, i + 1), slice(others, 0, i, i + 1))
                                    : slice(own, 0, i, i + 1));
      return broadcastTo(x, type, concatenate(extents, 0));
    };
    Tensor wideLhs = repeat(lhs, rhs), wideRhs = repeat(rhs, lhs);
    lhs = wideLhs;
    rhs = wideRhs;
  }
  return dot(lhs, rhs, count(batch), count(batch), {lhsSummed}, {rhsSummed});
}

/// Every input in the space of all letters, multiplied, and summed over the letters that the result does not have.
static LayerResults lowerEinsum(LocBuilder &b, EinsumOp op) {
  std::string error;
  EinsumEquation equation = *parseEinsum(op.getEquation(), error);
  std::string letters = equation.output;
  llvm::SmallDenseMap<char, int64_t> extents;
  for (auto [term, input] : llvm::zip(equation.inputs, op.getInputs())) {
    auto type = cast<RankedTensorType>(input.getType());
    if (!type.hasStaticShape()) {
      // Two inputs without a letter that occurs twice in one of them, or in one of them only and not in the result, are
      // a dot product.
      break;
    }
    for (auto [letter, extent] : llvm::zip(term, type.getShape())) {
      if (!StringRef(letters).contains(letter))
        letters += letter;
      int64_t &known = extents[letter];
      known = extent == 1 && known != 0 ? known : extent;
    }
  }
  auto isPlain = [&](StringRef term, StringRef other) {
    return llvm::all_of(term, [&](char letter) {
      return term.count(letter) == 1 && (other.contains(letter) || StringRef(equation.output).contains(letter));
    });
  };
  if (equation.inputs.size() == 2 && isPlain(equation.inputs[0], equation.inputs[1]) &&
      isPlain(equation.inputs[1], equation.inputs[0])) {
    StringRef left = equation.inputs[0], right = equation.inputs[1];
    Tensor lhs(b, op.getInputs()[0]), rhs(b, op.getInputs()[1]);
    SmallVector<int64_t> lhsBatch, rhsBatch, lhsSummed, rhsSummed;
    std::string result;
    bool extentsAgree = true;
    for (auto [i, letter] : llvm::enumerate(left)) {
      size_t j = right.find(letter);
      if (j == StringRef::npos)
        continue;
      extentsAgree &= lhs.shape()[i] == rhs.shape()[j];
      bool isKept = StringRef(equation.output).contains(letter);
      (isKept ? lhsBatch : lhsSummed).push_back(i);
      (isKept ? rhsBatch : rhsSummed).push_back(j);
      if (isKept)
        result += letter;
    }
    if (extentsAgree) {
      for (char letter : left)
        if (!right.contains(letter))
          result += letter;
      for (char letter : right)
        if (!left.contains(letter))
          result += letter;
      Tensor product = dot(lhs, rhs, lhsBatch, rhsBatch, lhsSummed, rhsSummed);
      SmallVector<int64_t> order =
          llvm::map_to_vector(equation.output, [&](char letter) { return static_cast<int64_t>(result.find(letter)); });
      return Values{transpose(product, order)};
    }
  }
  for (Value input : op.getInputs())
    if (!cast<RankedTensorType>(input.getType()).hasStaticShape())
      return op.emitError(
                 "'tensorrt.einsum' of dynamic shapes that is no product of two tensors cannot be computed on the CPU"),
             failure();
  SmallVector<int64_t> space = llvm::map_to_vector(letters, [&](char letter) { return extents.lookup(letter); });
  Tensor product;
  for (auto [term, input] : llvm::zip(equation.inputs, op.getInputs())) {
    Tensor x(b, input);
    // A letter that occurs twice takes the diagonal: elements off it do not count.
    SmallVector<int64_t> dims, kept;
    std::string unique;
    for (auto [i, letter] : llvm::enumerate(term)) {
      size_t first = unique.find(letter);
      if (first == std::string::npos) {
        unique += letter;
        kept.push_back(i);
        continue;
      }
      Tensor onDiagonal = iota(b, x.shape(), b.getI32Type(), kept[first]) == iota(b, x.shape(), b.getI32Type(), i);
      x = select(onDiagonal, x, x.like(0));
    }
    SmallVector<int64_t> dropped;
    for (int64_t i = 0; i < x.rank(); ++i)
      if (!llvm::is_contained(kept, i))
        dropped.push_back(i);
    if (!dropped.empty())
      x = reduceAlong(x, ReduceOperation::kSUM, dropped);
    // Dimensions in the order of the letters, so that they can be repeated.
    SmallVector<int64_t> order = count(unique.size());
    llvm::sort(order, [&](int64_t l, int64_t r) { return letters.find(unique[l]) < letters.find(unique[r]); });
    x = transpose(x, order);
    for (int64_t i : order)
      dims.push_back(letters.find(unique[i]));
    x = broadcast(x, space, dims);
    product = Value(product) ? product * x : x;
  }
  SmallVector<int64_t> summed;
  for (int64_t i = equation.output.size(), e = letters.size(); i < e; ++i)
    summed.push_back(i);
  return Values{summed.empty() ? product : reduceAlong(product, ReduceOperation::kSUM, summed)};
}

//===----------------------------------------------------------------------===//
// convolution, deconvolution, pooling
//===----------------------------------------------------------------------===//

static DenseIntElementsAttr paddingOf(LocBuilder &b, ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  SmallVector<int64_t> pairs;
  for (auto [l, h] : llvm::zip(low, high)) {
    pairs.push_back(l);
    pairs.push_back(h);
  }
  return DenseIntElementsAttr::get(RankedTensorType::get({static_cast<int64_t>(low.size()), 2}, b.getI64Type()), pairs);
}

static Tensor convolve(RankedTensorType type, const Tensor &input, const Tensor &kernel, ArrayRef<int64_t> stride,
                       ArrayRef<int64_t> low, ArrayRef<int64_t> high, ArrayRef<int64_t> inputDilation,
                       ArrayRef<int64_t> kernelDilation, int64_t groups) {
  LocBuilder &b = input.builder();
  SmallVector<int64_t> spatial = llvm::to_vector(llvm::seq<int64_t>(2, input.rank()));
  auto numbers = stablehlo::ConvDimensionNumbersAttr::get(b.getContext(), 0, 1, spatial, 1, 0, spatial, 0, 1, spatial);
  return Tensor(b,
                stablehlo::ConvolutionOp::create(b, type, input, kernel, b.getDenseI64ArrayAttr(stride),
                                                 paddingOf(b, low, high), b.getDenseI64ArrayAttr(inputDilation),
                                                 b.getDenseI64ArrayAttr(kernelDilation), DenseBoolArrayAttr(), numbers,
                                                 b.getI64IntegerAttr(groups), b.getI64IntegerAttr(1), ArrayAttr()));
}

template <typename Op>
static Tensor addBias(LocBuilder &b, Op op, const Tensor &x) {
  if (!op.getBias())
    return x;
  Tensor bias(b, op.getBias());
  return x + (x.type().hasStaticShape() ? broadcast(bias, x.shape(), {1})
                                        : broadcastDynamic(x.type(), bias, extentsOf(b, x), {1}));
}

static Tensor lowerDeconvolution(LocBuilder &b, DeconvolutionOp op) {
  Tensor kernel(b, op.getKernel());
  int64_t groups = op.getNumGroups(), spatial = kernel.rank() - 2;
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(2, kernel.rank())), dilation = op.getDilations(), low,
                       high, ones(spatial, 1);
  for (int64_t i = 0; i < spatial; ++i) {
    int64_t reach = dilation[i] * (kernel.extent(i + 2) - 1);
    low.push_back(reach - op.getPrePadding()[i]);
    high.push_back(reach - op.getPostPadding()[i]);
  }
  // [C, K / groups, ...] becomes [K, C / groups, ...], seen from the other end.
  kernel = reverse(kernel, dims);
  int64_t channels = kernel.extent(0) / groups, maps = kernel.extent(1);
  SmallVector<int64_t> split{groups, channels, maps}, order{0, 2, 1}, merged{groups * maps, channels};
  for (int64_t i = 0; i < spatial; ++i) {
    split.push_back(kernel.extent(i + 2));
    order.push_back(i + 3);
    merged.push_back(kernel.extent(i + 2));
  }
  kernel = reshape(transpose(reshape(kernel, split), order), merged);
  return addBias(b, op,
                 convolve(op.getResult().getType(), Tensor(b, op.getInput()), kernel, ones, low, high, op.getStride(),
                          dilation, groups));
}

/// A reduction of windows over the last dimensions.
static Tensor pool(const Tensor &x, PoolingOp op, bool isMax) {
  LocBuilder &b = x.builder();
  int64_t spatial = op.getWindowSize().size(), front = x.rank() - spatial;
  SmallVector<int64_t> window(front, 1), stride(front, 1), low(front, 0), high(front, 0), shape(x.shape());
  llvm::append_range(window, op.getWindowSize());
  llvm::append_range(stride, op.getStride());
  llvm::append_range(low, op.getPrePadding());
  llvm::append_range(high, op.getPostPadding());
  for (int64_t i = 0; i < spatial; ++i)
    shape[front + i] = op.getResult().getType().getDimSize(front + i);
  auto scalar = RankedTensorType::get({}, x.element());
  Value init = splat(b, scalar, isMax ? -std::numeric_limits<double>::infinity() : 0);
  auto windows = stablehlo::ReduceWindowOp::create(b, TypeRange{RankedTensorType::get(shape, x.element())},
                                                   ValueRange{x}, ValueRange{init}, window,
                                                   b.getDenseI64ArrayAttr(stride), {}, {}, paddingOf(b, low, high));
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&windows.getBody(), {}, {scalar, scalar}, {b.getLoc(), b.getLoc()});
  Tensor l(b, body->getArgument(0)), r(b, body->getArgument(1));
  stablehlo::ReturnOp::create(b, Value(isMax ? maximum(l, r) : l + r));
  return Tensor(b, windows.getResult(0));
}

static Tensor lowerPooling(LocBuilder &b, PoolingOp op) {
  Tensor x(b, op.getInput());
  Type element = x.element();
  if (!isa<FloatType>(element))
    x = convert(x, b.getF32Type());
  auto average = [&] {
    Tensor sum = pool(x, op, /*isMax=*/false);
    if (op.getAverageCountExcludesPadding())
      return sum / pool(number(x, 1), op, /*isMax=*/false);
    double size = 1;
    for (int64_t extent : op.getWindowSize())
      size *= static_cast<double>(extent);
    return sum / number(sum, size);
  };
  Tensor result;
  if (op.getPoolingType() == PoolingType::kMAX) {
    result = pool(x, op, /*isMax=*/true);
  } else if (op.getPoolingType() == PoolingType::kAVERAGE) {
    result = average();
  } else {
    double blend = op.getBlendFactor() ? op.getBlendFactor()->convertToDouble() : 0;
    Tensor largest = pool(x, op, /*isMax=*/true);
    result = number(largest, 1 - blend) * largest + number(largest, blend) * average();
  }
  if (!isa<FloatType>(element))
    result = convert(Tensor(b, stablehlo::RoundNearestEvenOp::create(b, result.type(), result)), element);
  return result;
}

//===----------------------------------------------------------------------===//
// Attention and its company
//===----------------------------------------------------------------------===//

static LayerResults lowerAttention(LocBuilder &b, AttentionOp op) {
  Tensor query(b, op.getQuery()), key(b, op.getKey()), value(b, op.getValue());
  auto refuse = [&](StringRef why) -> LayerResults {
    return op.emitError("'tensorrt.attention' ") << why << " cannot be computed on the CPU", failure();
  };
  if (op.getQueryForm() != AttentionIOForm::kPADDED_BHND || op.getKeyValueForm() != AttentionIOForm::kPADDED_BHND)
    return refuse("of packed sequences");
  if (op.getNormalizationQuantizeToType())
    return refuse("with quantized scores");
  if (!query.type().hasStaticShape() || !key.type().hasStaticShape() || !value.type().hasStaticShape())
    return refuse("of dynamic shapes");
  int64_t batch = query.extent(0), heads = query.extent(1), tokens = query.extent(2), seen = key.extent(2);
  // Heads of keys and values are repeated for groups of heads of the query.
  auto repeatHeads = [&](const Tensor &x) {
    int64_t own = x.extent(1);
    return own == heads ? x
                        : reshape(broadcast(x, {batch, own, heads / own, x.extent(2), x.extent(3)}, {0, 1, 3, 4}),
                                  {batch, heads, x.extent(2), x.extent(3)});
  };
  key = repeatHeads(key);
  value = repeatHeads(value);
  Tensor scores = dot(query, key, {0, 1}, {0, 1}, {3}, {3});
  Tensor hidden = scores.like(-std::numeric_limits<double>::infinity());
  if (op.getMask()) {
    Tensor mask = broadcastTo(Tensor(b, op.getMask()), scores.type());
    scores = mask.element().isInteger(1) ? select(mask, scores, hidden) : scores + mask;
  }
  Type i32 = b.getI32Type();
  if (op.getCausalKind() != CausalMaskKind::kNONE) {
    Tensor row = iota(b, scores.shape(), i32, 2), column = iota(b, scores.shape(), i32, 3);
    int64_t offset = op.getCausalKind() == CausalMaskKind::kLOWER_RIGHT ? seen - tokens : 0;
    scores = select(column <= row + static_cast<double>(offset), scores, hidden);
  }
  if (op.getKeyValueLengths())
    scores =
        select(iota(b, scores.shape(), i32, 3) < broadcast(Tensor(b, op.getKeyValueLengths()), scores.shape(), {0}),
               scores, hidden);
  if (op.getNormalizationOperation() == AttentionNormalizationOp::kSOFTMAX)
    scores = softmax(scores, 3);
  Tensor result = dot(scores, value, {0, 1}, {0, 1}, {3}, {2});
  if (op.getQueryLengths())
    result = select(iota(b, result.shape(), i32, 2) < broadcast(Tensor(b, op.getQueryLengths()), result.shape(), {0}),
                    result, result.like(0));
  return Values{result};
}

static LayerResults lowerRotary(LocBuilder &b, RotaryEmbeddingOp op) {
  Tensor x(b, op.getInput()), cosines(b, op.getCosCache()), sines(b, op.getSinCache());
  if (!x.type().hasStaticShape())
    return op.emitError("'tensorrt.rotary_embedding' of a dynamic shape cannot be computed on the CPU"), failure();
  if (op.getPositionIds()) {
    Tensor positions(b, op.getPositionIds());
    SmallVector<int64_t> vectors(positions.shape()), shape(positions.shape());
    vectors.push_back(1);
    shape.push_back(cosines.extent(1));
    auto type = RankedTensorType::get(shape, x.element());
    cosines = gatherVectors(cosines, reshape(positions, vectors), 0, type);
    sines = gatherVectors(sines, reshape(positions, vectors), 0, type);
  }
  int64_t size = x.extent(3),
          rotated = op.getRotaryEmbeddingDim() ? static_cast<int64_t>(op.getRotaryEmbeddingDim()) : size;
  Tensor part = slice(x, 3, 0, rotated);
  SmallVector<int64_t> half(x.shape());
  half[3] = rotated / 2;
  Tensor first, second;
  if (op.getInterleaved()) {
    first = slice(part, 3, 0, rotated, 2);
    second = slice(part, 3, 1, rotated, 2);
  } else {
    first = slice(part, 3, 0, rotated / 2);
    second = slice(part, 3, rotated / 2, rotated);
  }
  Tensor c = broadcast(cosines, half, {0, 2, 3}), s = broadcast(sines, half, {0, 2, 3});
  Tensor newFirst = first * c - second * s, newSecond = first * s + second * c;
  Tensor joined;
  if (op.getInterleaved()) {
    SmallVector<int64_t> pair(half), merged(half);
    pair.push_back(1);
    merged[3] = rotated;
    joined = reshape(concatenate({reshape(newFirst, pair), reshape(newSecond, pair)}, 4), merged);
  } else {
    joined = concatenate({newFirst, newSecond}, 3);
  }
  if (rotated != size)
    joined = concatenate({joined, slice(x, 3, rotated, size)}, 3);
  return Values{joined};
}

static LayerResults lowerCacheUpdate(LocBuilder &b, KVCacheUpdateOp op) {
  Tensor cache(b, op.getCache()), update(b, op.getUpdate()), start(b, op.getWriteIndices());
  if (!cache.type().hasStaticShape() || !update.type().hasStaticShape())
    return op.emitError("'tensorrt.kv_cache_update' of a dynamic shape cannot be computed on the CPU"), failure();
  // For each position of the cache, the token that is written there, if any.
  Tensor token = iota(b, cache.shape(), start.element(), 2) - broadcast(start, cache.shape(), {0});
  Tensor isWritten = (token >= token.like(0)) & (token < static_cast<double>(update.extent(2)));
  if (op.getUpdateLengths())
    isWritten =
        isWritten & (token < broadcast(convert(Tensor(b, op.getUpdateLengths()), start.element()), cache.shape(), {0}));
  Tensor inside = minimum(maximum(token, token.like(0)), token.like(static_cast<double>(update.extent(2) - 1)));
  SmallVector<int64_t> vector(cache.shape());
  vector.push_back(1);
  SmallVector<Tensor> components;
  for (int64_t i = 0; i < 4; ++i)
    components.push_back(reshape(i == 2 ? inside : iota(b, cache.shape(), start.element(), i), vector));
  Tensor moved = gatherVectors(update, concatenate(components, 4), 0, cache.type());
  return Values{select(isWritten, moved, cache)};
}

static LayerResults lowerMoE(LocBuilder &b, MoEOp op) {
  Tensor x(b, op.getHiddenStates()), experts(b, op.getSelectedExperts()), scores(b, op.getScores());
  if (!x.type().hasStaticShape() || !experts.type().hasStaticShape())
    return op.emitError("'tensorrt.moe' of a dynamic shape cannot be computed on the CPU"), failure();
  // All experts for all tokens: [batch, tokens, experts, ...].
  auto project = [&](const Tensor &input, Value weights, Value bias, bool hasExperts) {
    Tensor w(b, weights);
    Tensor y =
        hasExperts ? transpose(dot(input, w, {2}, {0}, {3}, {1}), {1, 2, 0, 3}) : dot(input, w, {}, {}, {2}, {1});
    return bias ? y + broadcast(Tensor(b, bias), y.shape(), {2, 3}) : y;
  };
  Tensor gate = project(x, op.getGateWeights(), op.getGateBias(), false),
         up = project(x, op.getUpWeights(), op.getUpBias(), false);
  if (op.getActivationType() == MoEActType::kSILU)
    gate = gate * Tensor(b, stablehlo::LogisticOp::create(b, gate.type(), gate));
  Tensor all = project(gate * up, op.getDownWeights(), op.getDownBias(), true);
  // The weight of each expert for each token is the sum of the scores of its selections.
  int64_t number = all.extent(2);
  SmallVector<int64_t> selections(experts.shape());
  selections.push_back(number);
  Tensor isSelected = iota(b, selections, b.getI32Type(), 3) == broadcast(experts, selections, {0, 1, 2});
  Tensor spread = broadcast(scores, selections, {0, 1, 2});
  Tensor weights = reduceAlong(select(isSelected, spread, spread.like(0)), ReduceOperation::kSUM, {2});
  return Values{reduceAlong(all * broadcast(weights, all.shape(), {0, 1, 2}), ReduceOperation::kSUM, {2})};
}

LayerResults input::lowerContraction(LocBuilder &b, Operation *op) {
  return llvm::TypeSwitch<Operation *, LayerResults>(op)
      .Case<MatrixMultiplyOp>([&](MatrixMultiplyOp layer) { return Values{lowerMatrixMultiply(b, layer)}; })
      .Case<tensorrt::EinsumOp>([&](tensorrt::EinsumOp layer) { return lowerEinsum(b, layer); })
      .Case<tensorrt::ConvolutionOp>([&](tensorrt::ConvolutionOp layer) {
        SmallVector<int64_t> ones(layer.getStride().size(), 1);
        Tensor product = convolve(layer.getResult().getType(), Tensor(b, layer.getInput()),
                                  Tensor(b, layer.getKernel()), layer.getStride(), layer.getPrePadding(),
                                  layer.getPostPadding(), ones, layer.getDilations(), layer.getNumGroups());
        return Values{addBias(b, layer, product)};
      })
      .Case<DeconvolutionOp>([&](DeconvolutionOp layer) { return Values{lowerDeconvolution(b, layer)}; })
      .Case<PoolingOp>([&](PoolingOp layer) { return Values{lowerPooling(b, layer)}; })
      .Case<AttentionOp>([&](AttentionOp layer) { return lowerAttention(b, layer); })
      .Case<RotaryEmbeddingOp>([&](RotaryEmbeddingOp layer) { return lowerRotary(b, layer); })
      .Case<KVCacheUpdateOp>([&](KVCacheUpdateOp layer) { return lowerCacheUpdate(b, layer); })
      .Case<MoEOp>([&](MoEOp layer) { return lowerMoE(b, layer); })
      .Default([](auto) { return std::nullopt; });
}
