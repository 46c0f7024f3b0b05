// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pass ExpandQuantized: quantized tensors become tensors of the integers that hold them.
//
// A quantized integer i stands for the number (i - zero point) * scale. What only moves elements works on the integers
// as they are. What computes does so on the numbers, and rounds the result back; products of tensors with small
// integers sum integers instead, which is exact, and scale the sum once.
//
// The parameters of a quantization are in the type of the value. So all operations are rewritten first, with results
// that still have quantized types, and the types are replaced at the end, at once.

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Input/Passes.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace latewood::stablehlo;

namespace latewood::input {

#define GEN_PASS_DEF_EXPANDQUANTIZEDPASS
#include "latewood/compiler/Input/Passes.h.inc"

namespace {

/// A quantized element type, per tensor or per axis alike: as many scales and zero points as there are slices along
/// `axis`.
struct Quantization {
  explicit Quantization(Type elementType) : type(cast<quant::QuantizedType>(elementType)) {
    if (auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(elementType)) {
      scales.assign(perAxis.getScales().begin(), perAxis.getScales().end());
      zeroPoints.assign(perAxis.getZeroPoints().begin(), perAxis.getZeroPoints().end());
      axis = perAxis.getQuantizedDimension();
    } else {
      auto perTensor = cast<quant::UniformQuantizedType>(elementType);
      scales = {perTensor.getScale()};
      zeroPoints = {static_cast<double>(perTensor.getZeroPoint())};
    }
  }

  Type expressed() const { return type.getExpressedType(); }
  Type storage() const { return getStorageType(type); }
  unsigned width() const { return type.getStorageTypeIntegralWidth(); }
  bool hasZeroPoint() const {
    return llvm::any_of(zeroPoints, [](double point) { return point != 0; });
  }
  /// The largest magnitude of (integer - zero point).
  double reach() const {
    return static_cast<double>(type.getStorageTypeMax()) - static_cast<double>(type.getStorageTypeMin());
  }

  quant::QuantizedType type;
  SmallVector<double> scales, zeroPoints;
  std::optional<int64_t> axis;
};

Quantization quantizationOf(Value value) { return Quantization(getElementTypeOrSelf(value)); }

class QuantizedBuilder {
public:
  explicit QuantizedBuilder(Operation *op) : b(op->getLoc(), op) {}

  /// The numbers that a quantized tensor stands for.
  Value dequantize(Value value) {
    Quantization from = quantizationOf(value);
    Value number = center(value, from, from.expressed());
    return multiply(number, parameters(from.scales, from.axis, number));
  }

  /// The integers of a quantized type that stand for numbers.
  Value quantize(Value number, Type type) {
    Quantization to(getElementTypeOrSelf(type));
    return round(DivOp::create(b, number.getType(), number, parameters(to.scales, to.axis, number)), type);
  }

  Value requantize(Value value, Type type) {
    return getElementTypeOrSelf(value) == getElementTypeOrSelf(type) ? value : quantize(dequantize(value), type);
  }

  /// Scales sums of products of integers, along `axis` if there are several scales, to integers of a quantized type.
  Value rescale(Value sum, ArrayRef<double> scales, std::optional<int64_t> axis, Type type) {
    Quantization to(getElementTypeOrSelf(type));
    bool isUnscaled = llvm::all_of(scales, [](double scale) { return scale == 1; });
    if (isUnscaled && !to.hasZeroPoint() && to.storage() == getElementTypeOrSelf(sum) &&
        to.reach() == 4294967295.0) // all of 32 bits
      return convert(sum, to.type); // keeps the type until the end
    Type element = to.expressed().isF64() ? to.expressed() : b.getF32Type();
    Value number = convert(sum, element);
    if (!isUnscaled)
      number = multiply(number, parameters(scales, axis, number));
    return round(number, type);
  }

  /// (integer - zero point) as elements of another type that holds it.
  Value center(Value value, const Quantization &from, Type element) {
    if (!from.hasZeroPoint())
      return convert(value, element);
    // A float that holds every difference needs no integers in between.
    Type wide = b.getIntegerType(from.width() >= 32 ? 64 : 32);
    if (auto real = dyn_cast<FloatType>(element); real && real.getFPMantissaWidth() > from.width())
      wide = element;
    Value integer = convert(value, wide);
    integer = SubtractOp::create(b, integer.getType(), integer, parameters(from.zeroPoints, from.axis, integer));
    return wide == element ? integer : convert(integer, element);
  }

  Value convert(Value value, Type element) {
    return ConvertOp::create(b, cast<RankedTensorType>(value.getType()).clone(element), value);
  }

  ImplicitLocOpBuilder b;

private:
  Value multiply(Value lhs, Value rhs) { return MulOp::create(b, lhs.getType(), lhs, rhs); }

  /// Adds the zero point, clamps to the range, rounds to even.
  Value round(Value number, Type type) {
    Quantization to(getElementTypeOrSelf(type));
    auto numbers = cast<RankedTensorType>(number.getType());
    if (to.hasZeroPoint())
      number = AddOp::create(b, numbers, number, parameters(to.zeroPoints, to.axis, number));
    auto bound = [&](int64_t integer) { return constant({}, numbers.getElementType(), {double(integer)}); };
    number =
        ClampOp::create(b, numbers, bound(to.type.getStorageTypeMin()), number, bound(to.type.getStorageTypeMax()));
    number = RoundNearestEvenOp::create(b, numbers, number);
    return convert(number, getElementTypeOrSelf(type));
  }

  Value constant(ArrayRef<int64_t> shape, Type element, ArrayRef<double> values) {
    SmallVector<Attribute> attributes;
    for (double value : values)
      attributes.push_back(isa<FloatType>(element) ? TypedAttr(b.getFloatAttr(element, value))
                                                   : TypedAttr(b.getIntegerAttr(element, static_cast<int64_t>(value))));
    return ConstantOp::create(b, DenseElementsAttr::get(RankedTensorType::get(shape, element), attributes));
  }

  /// Parameters in the shape and element type of a tensor: one for all, or one for each slice along `axis`.
  Value parameters(ArrayRef<double> values, std::optional<int64_t> axis, Value like) {
    auto type = cast<RankedTensorType>(like.getType());
    bool isOne = llvm::all_equal(values) || !axis;
    if (isOne && type.hasStaticShape())
      return constant(type.getShape(), type.getElementType(), values.front());
    Value source = isOne ? constant({}, type.getElementType(), values.front())
                         : constant(static_cast<int64_t>(values.size()), type.getElementType(), values);
    SmallVector<int64_t> dims;
    if (!isOne)
      dims.push_back(*axis);
    if (type.hasStaticShape())
      return BroadcastInDimOp::create(b, type, source, b.getDenseI64ArrayAttr(dims));
    SmallVector<Value> extents;
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
      Value extent = GetDimensionSizeOp::create(b, RankedTensorType::get({}, b.getI32Type()), like, dimension);
      extents.push_back(ReshapeOp::create(b, RankedTensorType::get({1}, b.getI32Type()), extent));
    }
    Value shape = ConcatenateOp::create(b, RankedTensorType::get({type.getRank()}, b.getI32Type()), extents, 0);
    return DynamicBroadcastInDimOp::create(b, type, source, shape, b.getDenseI64ArrayAttr(dims), DenseI64ArrayAttr(),
                                           DenseI64ArrayAttr());
  }
};

/// True for an operation that computes on numbers. Others move elements, or have regions that compute.
bool computes(Operation *op) {
  return op->hasTrait<ElementwiseTrait>() ||
         isa<BatchNormGradOp, BatchNormInferenceOp, BatchNormTrainingOp, CholeskyOp, DotOp, DotGeneralOp, ConvolutionOp,
             DynamicConvOp, IotaOp, DynamicIotaOp, TriangularSolveOp>(op);
}

/// True if an order or a choice of numbers is one of their integers: all have one scale and zero point.
bool worksOnIntegers(Operation *op) {
  if (!isa<ClampOp, CompareOp, MaxOp, MinOp, SelectOp>(op))
    return false;
  SmallVector<Type> elements;
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (isQuantized(type))
        elements.push_back(getElementTypeOrSelf(type));
  return llvm::all_equal(elements);
}

/// Computes on numbers.
void computeOnNumbers(QuantizedBuilder &builder, Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isQuantized(operand.getType()) ? builder.dequantize(operand) : operand);
  Operation *computed = builder.b.clone(*op);
  computed->setOperands(operands);
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    if (!isQuantized(result.getType())) {
      result.replaceAllUsesWith(computed->getResult(index));
      continue;
    }
    auto type = cast<RankedTensorType>(result.getType());
    computed->getResult(index).setType(type.clone(getExpressedType(type.getElementType())));
    result.replaceAllUsesWith(builder.quantize(computed->getResult(index), type));
  }
  op->erase();
}

/// The number of products in each sum of a contraction, and the dimension of the result that a dimension of rhs
/// becomes.
struct Products {
  int64_t count = 1;
  std::optional<int64_t> resultAxis;
};

Products getProducts(Operation *op) {
  auto lhs = cast<RankedTensorType>(op->getOperand(0).getType()),
       rhs = cast<RankedTensorType>(op->getOperand(1).getType());
  auto axis = getQuantizedDimension(rhs.getElementType());
  Products products;
  auto countAll = [&](ArrayRef<int64_t> extents) {
    for (int64_t extent : extents)
      products.count = ShapedType::isDynamic(extent) ? ShapedType::kDynamic
                       : products.count < 0          ? products.count
                                                     : saturate(static_cast<__int128>(products.count) * extent);
  };
  if (isa<DotOp>(op)) {
    countAll(rhs.getShape().front());
    if (axis)
      products.resultAxis = lhs.getRank() - 1;
  } else if (auto dot = dyn_cast<DotGeneralOp>(op)) {
    DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
    ArrayRef<int64_t> batching = numbers.getRhsBatchingDimensions(),
                      contracting = numbers.getRhsContractingDimensions();
    for (int64_t dimension : contracting)
      countAll(rhs.getDimSize(dimension));
    if (axis) {
      if (const auto *found = llvm::find(batching, *axis); found != batching.end()) {
        products.resultAxis = found - batching.begin();
      } else {
        products.resultAxis = lhs.getRank() - contracting.size();
        for (int64_t dimension = 0; dimension < *axis; ++dimension)
          if (!llvm::is_contained(batching, dimension) && !llvm::is_contained(contracting, dimension))
            ++*products.resultAxis;
      }
    }
  } else {
    ConvDimensionNumbersAttr numbers = isa<ConvolutionOp>(op) ? cast<ConvolutionOp>(op).getDimensionNumbers()
                                                              : cast<DynamicConvOp>(op).getDimensionNumbers();
    for (int64_t dimension = 0; dimension < rhs.getRank(); ++dimension)
      if (dimension != numbers.getKernelOutputFeatureDimension())
        countAll(rhs.getDimSize(dimension));
    if (axis)
      products.resultAxis = numbers.getOutputFeatureDimension();
  }
  return products;
}

/// Sums products of integers, exactly, and scales the sums. False if they may not fit into 32 bits.
bool multiplyIntegers(QuantizedBuilder &builder, Operation *op) {
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  auto resultType = cast<RankedTensorType>(op->getResult(0).getType());
  if (!isQuantized(lhs.getType()) || !isQuantized(resultType))
    return false;
  Quantization left = quantizationOf(lhs), right = quantizationOf(rhs), result(resultType.getElementType());
  Products products = getProducts(op);
  if (products.count < 0 || left.reach() * right.reach() * products.count >= 2147483648.0)
    return false;
  SmallVector<double> scales;
  size_t slices = std::max(right.scales.size(), result.scales.size());
  for (size_t i = 0; i < slices; ++i) {
    double to = result.scales[result.scales.size() == 1 ? 0 : i];
    double product = left.scales.front() * right.scales[right.scales.size() == 1 ? 0 : i];
    // The scale of a sum is written as the product of two, rounded.
    scales.push_back(std::abs(product / to - 1) < 1e-6 && result.width() == 32 ? 1 : product / to);
  }

  Type accumulator = builder.b.getI32Type();
  bool isPlain = !left.hasZeroPoint() && !right.hasZeroPoint() && left.storage().isSignlessInteger(8) &&
                 right.storage().isSignlessInteger(8);
  if (!isPlain) {
    lhs = builder.center(lhs, left, accumulator);
    rhs = builder.center(rhs, right, accumulator);
  }
  Operation *sums = builder.b.clone(*op);
  sums->setOperand(0, lhs);
  sums->setOperand(1, rhs);
  // Integers have no other precision or algorithm.
  sums->removeAttr("algorithm");
  sums->removeAttr("precision_config");
  sums->getResult(0).setType(resultType.clone(accumulator));
  std::optional<int64_t> axis = result.axis ? result.axis : products.resultAxis;
  Value scaled = builder.rescale(sums->getResult(0), scales, slices == 1 ? std::nullopt : axis, resultType);
  op->getResult(0).replaceAllUsesWith(scaled);
  op->erase();
  return true;
}

void expand(Operation *op) {
  QuantizedBuilder builder(op);
  Value replacement;
  if (auto quantize = dyn_cast<UniformQuantizeOp>(op)) {
    Value operand = quantize.getOperand();
    replacement = isQuantized(operand.getType()) ? builder.requantize(operand, quantize.getType())
                                                 : builder.quantize(operand, quantize.getType());
  } else if (auto dequantize = dyn_cast<UniformDequantizeOp>(op)) {
    replacement = builder.dequantize(dequantize.getOperand());
  } else if (auto finite = dyn_cast<IsFiniteOp>(op)) {
    // An integer equals itself, as a finite number does.
    auto compare = CompareOp::create(builder.b, finite.getType(), finite.getX(), finite.getX(), ComparisonDirection::EQ,
                                     ComparisonTypeAttr());
    replacement = compare;
  } else if (worksOnIntegers(op)) {
    if (auto compare = dyn_cast<CompareOp>(op))
      compare.removeCompareTypeAttr();
    return;
  } else {
    if (!isa<DotOp, DotGeneralOp, ConvolutionOp, DynamicConvOp>(op) || !multiplyIntegers(builder, op))
      computeOnNumbers(builder, op);
    return;
  }
  op->getResult(0).replaceAllUsesWith(replacement);
  op->erase();
}

class ExpandQuantizedPass : public impl::ExpandQuantizedPassBase<ExpandQuantizedPass> {
public:
  void runOnOperation() override {
    bool isUsed = false, isUnknown = false;
    SmallVector<Operation *> computing;
    auto note = [&](Type type, Operation *op) {
      Type element = getElementTypeOrSelf(type);
      if (!isa<quant::QuantizedType>(element))
        return false;
      if (!isQuantized(element)) {
        op->emitError() << "elements of type " << element
                        << " are not supported; expected !quant.uniform, for a tensor or along one axis";
        isUnknown = true;
      }
      return isUsed = true;
    };
    getOperation().walk([&](Operation *op) {
      bool isQuantizedOp = false;
      for (Type type : op->getOperandTypes())
        isQuantizedOp |= note(type, op);
      for (Type type : op->getResultTypes())
        isQuantizedOp |= note(type, op);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Type type : block.getArgumentTypes())
            note(type, op);
      if (isQuantizedOp && computes(op))
        computing.push_back(op);
    });
    if (isUnknown)
      return signalPassFailure();
    if (!isUsed && !llvm::any_of(getOperation().getOps<func::FuncOp>(), [](func::FuncOp function) {
          return llvm::any_of(function.getResultTypes(), isQuantized) ||
                 llvm::any_of(function.getArgumentTypes(), isQuantized);
        }))
      return;
    for (Operation *op : computing)
      expand(op);
    AttrTypeReplacer replacer;
    replacer.addReplacement([](quant::QuantizedType type) -> Type { return getStorageType(type); });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
  }
};

} // namespace
} // namespace latewood::input
