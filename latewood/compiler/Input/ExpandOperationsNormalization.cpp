// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Batch normalization by its definition: statistics of a feature are over all other dimensions. Floats narrower than
// f32 are computed in f32 and rounded once.

#include "latewood/compiler/Input/ExpandOperations.h"

using namespace mlir;

namespace latewood::input {

using Results = FailureOr<SmallVector<Value>>;
using Builder = ImplicitLocOpBuilder;

namespace {

// The operands in the type of the computation, and what the dimensions of the first are for.
struct Normalization {
  Normalization(Builder &b, Operation *op, int64_t feature) : feature(feature) {
    element = cast<RankedTensorType>(op->getOperand(0).getType()).getElementType();
    for (Value operand : op->getOperands())
      operands.push_back(convert(Tensor(b, operand), getComputeElement(element)));
    for (int64_t dim = 0; dim < operands[0].rank(); ++dim)
      if (dim != feature)
        others.push_back(dim);
  }

  Tensor spread(const Tensor &perFeature) const { return broadcastLike(perFeature, operands[0], {feature}); }
  Tensor total(const Tensor &x) const { return sum(x, others); }
  Tensor mean(const Tensor &x) const { return divideByCount(total(x)); }
  /// A sum over all dimensions but the feature's, divided by how many elements that are.
  Tensor divideByCount(const Tensor &total) const {
    int64_t known = multiplyExtents(llvm::map_to_vector(others, [&](int64_t dim) { return operands[0].extent(dim); }));
    if (!isDynamic(known))
      return total / static_cast<double>(known);
    Tensor count = scalar(total.builder(), total.builder().getI64Type(), 1);
    for (int64_t dim : others)
      count = count * convert(extentOf(operands[0], dim), count.element());
    return total / broadcastLike(convert(count, total.element()), total, {});
  }
  SmallVector<Value> results(ArrayRef<Tensor> computed) const {
    return llvm::map_to_vector(computed, [&](const Tensor &x) -> Value { return convert(x, element); });
  }

  SmallVector<Tensor> operands;
  SmallVector<int64_t> others;
  Type element;
  int64_t feature;
};

Tensor normalize(const Normalization &n, const Tensor &centered, const Tensor &variance, double epsilon) {
  return centered / n.spread(sqrt(variance + epsilon));
}

Results expandInference(Builder &b, Operation *op) {
  auto norm = cast<stablehlo::BatchNormInferenceOp>(op);
  Normalization n(b, op, norm.getFeatureIndex());
  const Tensor &x = n.operands[0], &scale = n.operands[1], &offset = n.operands[2], &mean = n.operands[3],
               &variance = n.operands[4];
  Tensor normalized = normalize(n, x - n.spread(mean), variance, norm.getEpsilon().convertToDouble());
  return n.results({normalized * n.spread(scale) + n.spread(offset)});
}

Results expandTraining(Builder &b, Operation *op) {
  auto norm = cast<stablehlo::BatchNormTrainingOp>(op);
  Normalization n(b, op, norm.getFeatureIndex());
  const Tensor &x = n.operands[0], &scale = n.operands[1], &offset = n.operands[2];
  Tensor mean = n.mean(x);
  Tensor centered = x - n.spread(mean);
  Tensor variance = n.mean(centered * centered);
  Tensor normalized = normalize(n, centered, variance, norm.getEpsilon().convertToDouble());
  return n.results({normalized * n.spread(scale) + n.spread(offset), mean, variance});
}

// With y = (x - mean) / sqrt(variance + epsilon), the gradient of x is that of y * scale, less its part along 1 and
// along y.
Results expandGradient(Builder &b, Operation *op) {
  auto norm = cast<stablehlo::BatchNormGradOp>(op);
  Normalization n(b, op, norm.getFeatureIndex());
  const Tensor &x = n.operands[0], &scale = n.operands[1], &mean = n.operands[2], &variance = n.operands[3],
               &gradient = n.operands[4];
  Tensor deviation = sqrt(variance + norm.getEpsilon().convertToDouble());
  Tensor y = (x - n.spread(mean)) / n.spread(deviation);
  Tensor alongOne = n.total(gradient), alongY = n.total(gradient * y);
  Tensor rest = gradient - n.spread(n.divideByCount(alongOne)) - y * n.spread(n.divideByCount(alongY));
  return n.results({n.spread(scale / deviation) * rest, alongY, alongOne});
}

} // namespace

void addNormalizationExpansions(ExpansionTable &table) {
  table.add<stablehlo::BatchNormGradOp>(expandGradient, Dynamic::All);
  table.add<stablehlo::BatchNormInferenceOp>(expandInference, Dynamic::All);
  table.add<stablehlo::BatchNormTrainingOp>(expandTraining, Dynamic::All);
}

} // namespace latewood::input
