// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layers that compute element by element, with the broadcasting that StableHLO does not do, and quantization.
#include "latewood/compiler/Dialect/CHLO/CHLO.h"
#include "latewood/compiler/Input/ConvertTensorRTToStableHLO.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numbers>

using namespace mlir;
using namespace latewood;
using namespace latewood::input;
using namespace latewood::tensorrt;

//===----------------------------------------------------------------------===//
// Broadcasting
//===----------------------------------------------------------------------===//

/// One extent, as a vector of one i64.
static Value extentOf(LocBuilder &b, Value x, int64_t dim) {
  auto type = RankedTensorType::get({}, b.getI32Type()), vector = RankedTensorType::get({1}, b.getI64Type());
  auto tensor = cast<RankedTensorType>(x.getType());
  if (!tensor.isDynamicDim(dim))
    return splatInteger(b, vector, tensor.getDimSize(dim));
  Value size = stablehlo::GetDimensionSizeOp::create(b, type, x, dim);
  return reshape(convert(Tensor(b, size), b.getI64Type()), {1});
}

Value input::extentsOf(LocBuilder &b, Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  if (type.hasStaticShape()) {
    auto vector = RankedTensorType::get({type.getRank()}, b.getI64Type());
    return stablehlo::ConstantOp::create(b, vector, DenseElementsAttr::get(vector, type.getShape()));
  }
  SmallVector<Tensor> parts;
  for (int64_t i = 0; i < type.getRank(); ++i)
    parts.push_back(Tensor(b, ::extentOf(b, x, i)));
  return concatenate(parts, 0);
}

Tensor input::broadcastDynamic(RankedTensorType type, const Tensor &x, Value extents, ArrayRef<int64_t> dims) {
  LocBuilder &b = x.builder();
  return Tensor(b,
                stablehlo::DynamicBroadcastInDimOp::create(b, type, x, extents, b.getDenseI64ArrayAttr(dims), {}, {}));
}

Tensor input::number(const Tensor &x, double value) {
  if (x.type().hasStaticShape())
    return x.like(value);
  LocBuilder &b = x.builder();
  Value scalar = splat(b, RankedTensorType::get({}, x.element()), value);
  return broadcastDynamic(x.type(), Tensor(b, scalar), extentsOf(b, x), {});
}

Tensor input::broadcastTo(const Tensor &x, RankedTensorType type, Value extents) {
  if (x.shape() == type.getShape() && (type.hasStaticShape() || !extents))
    return x;
  LocBuilder &b = x.builder();
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(type.getRank() - x.rank(), type.getRank()));
  auto result = type.clone(x.element());
  if (type.hasStaticShape())
    return Tensor(b, stablehlo::BroadcastInDimOp::create(b, result, x, dims));
  return broadcastDynamic(result, x, extents, dims);
}

SmallVector<Tensor> input::broadcastTogether(LocBuilder &b, ValueRange operands) {
  auto shapes =
      llvm::map_to_vector(operands, [](Value value) { return cast<RankedTensorType>(value.getType()).getShape(); });
  std::optional<SmallVector<int64_t>> shape = broadcastShapes(shapes);
  auto type = RankedTensorType::get(*shape, b.getI1Type());
  Value extents;
  if (!type.hasStaticShape() && !llvm::all_equal(shapes)) {
    // Of several unknown extents the largest holds: the others are equal to it, or 1.
    SmallVector<Tensor> parts;
    for (int64_t i = 0; i < type.getRank(); ++i) {
      Tensor part;
      for (Value operand : operands) {
        auto operandType = cast<RankedTensorType>(operand.getType());
        if (operandType.getDimSize(i) == 1)
          continue;
        Tensor extent(b, ::extentOf(b, operand, i));
        part = Value(part) ? maximum(part, extent) : extent;
      }
      parts.push_back(Value(part) ? part : splatInteger(b, RankedTensorType::get({1}, b.getI64Type()), 1));
    }
    extents = concatenate(parts, 0);
  }
  return llvm::map_to_vector(operands, [&](Value operand) { return broadcastTo(Tensor(b, operand), type, extents); });
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

template <typename Op>
static Tensor apply(const Tensor &x) {
  return Tensor(x.builder(), Op::create(x.builder(), TypeRange{x.type()}, ValueRange{x}));
}

static Tensor logistic(const Tensor &x) {
  return Tensor(x.builder(), stablehlo::LogisticOp::create(x.builder(), x.type(), x));
}
static Tensor tanh(const Tensor &x) { return Tensor(x.builder(), stablehlo::TanhOp::create(x.builder(), x.type(), x)); }
static Tensor erf(const Tensor &x) { return apply<chlo::ErfOp>(x); }

static Tensor activate(ActivationOp op, const Tensor &x) {
  auto alpha = [&] { return number(x, op.getAlpha() ? op.getAlpha()->convertToFloat() : 0.0f); };
  auto beta = [&] { return number(x, op.getBeta() ? op.getBeta()->convertToFloat() : 0.0f); };
  auto n = [&](double value) { return number(x, value); };
  switch (op.getActivationType()) {
  case ActivationType::kRELU:
    return maximum(x, n(0));
  case ActivationType::kSIGMOID:
    return logistic(x);
  case ActivationType::kTANH:
    return tanh(x);
  case ActivationType::kLEAKY_RELU:
    return select(x >= n(0), x, alpha() * x);
  case ActivationType::kELU:
    return select(x >= n(0), x, alpha() * (exp(x) - n(1)));
  case ActivationType::kSELU:
    return select(x > n(0), beta() * x, beta() * (alpha() * exp(x) - alpha()));
  case ActivationType::kSOFTSIGN:
    return x / (n(1) + abs(x));
  case ActivationType::kSOFTPLUS:
    return alpha() * log1p(exp(beta() * x));
  case ActivationType::kCLIP:
    return maximum(alpha(), minimum(beta(), x));
  case ActivationType::kHARD_SIGMOID:
    return maximum(n(0), minimum(n(1), alpha() * x + beta()));
  case ActivationType::kSCALED_TANH:
    return alpha() * tanh(beta() * x);
  case ActivationType::kTHRESHOLDED_RELU:
    return select(x > alpha(), x, n(0));
  case ActivationType::kGELU_ERF:
    return n(0.5) * x * (n(1) + erf(x * n(std::numbers::sqrt2 / 2)));
  case ActivationType::kGELU_TANH:
    return n(0.5) * x * (n(1) + tanh(n(std::sqrt(2 / std::numbers::pi)) * (n(0.044715) * x * x * x + x)));
  }
  llvm_unreachable("all functions are above");
}

static Tensor applyUnary(UnaryOperation operation, const Tensor &x) {
  switch (operation) {
  case UnaryOperation::kEXP:
    return exp(x);
  case UnaryOperation::kLOG:
    return log(x);
  case UnaryOperation::kSQRT:
    return sqrt(x);
  case UnaryOperation::kRECIP:
    return number(x, 1) / x;
  case UnaryOperation::kABS:
    return abs(x);
  case UnaryOperation::kNEG:
    return -x;
  case UnaryOperation::kSIN:
    return sin(x);
  case UnaryOperation::kCOS:
    return cos(x);
  case UnaryOperation::kTAN:
    return Tensor(x.builder(), stablehlo::TanOp::create(x.builder(), x.type(), x));
  case UnaryOperation::kSINH:
    return apply<chlo::SinhOp>(x);
  case UnaryOperation::kCOSH:
    return apply<chlo::CoshOp>(x);
  case UnaryOperation::kASIN:
    return apply<chlo::AsinOp>(x);
  case UnaryOperation::kACOS:
    return apply<chlo::AcosOp>(x);
  case UnaryOperation::kATAN:
    return apply<chlo::AtanOp>(x);
  case UnaryOperation::kASINH:
    return apply<chlo::AsinhOp>(x);
  case UnaryOperation::kACOSH:
    return apply<chlo::AcoshOp>(x);
  case UnaryOperation::kATANH:
    return apply<chlo::AtanhOp>(x);
  case UnaryOperation::kCEIL:
    return apply<stablehlo::CeilOp>(x);
  case UnaryOperation::kFLOOR:
    return floor(x);
  case UnaryOperation::kERF:
    return erf(x);
  case UnaryOperation::kNOT:
    return !x;
  case UnaryOperation::kSIGN:
    return sign(x);
  case UnaryOperation::kROUND:
    return apply<stablehlo::RoundNearestEvenOp>(x);
  case UnaryOperation::kISINF:
    return abs(x) == number(x, std::numeric_limits<double>::infinity());
  case UnaryOperation::kISNAN:
    return x != x;
  }
  llvm_unreachable("all operations are above");
}

static Tensor applyBinary(ElementWiseOperation operation, const Tensor &x, const Tensor &y) {
  switch (operation) {
  case ElementWiseOperation::kSUM:
    return x + y;
  case ElementWiseOperation::kPROD:
    return x * y;
  case ElementWiseOperation::kMAX:
    return maximum(x, y);
  case ElementWiseOperation::kMIN:
    return minimum(x, y);
  case ElementWiseOperation::kSUB:
    return x - y;
  case ElementWiseOperation::kDIV:
    return x / y;
  case ElementWiseOperation::kPOW:
    return pow(x, y);
  case ElementWiseOperation::kFLOOR_DIV: {
    if (isa<FloatType>(x.element()))
      return floor(x / y);
    Tensor zero = number(x, 0), quotient = x / y, rest = x - quotient * y;
    return select((rest != zero) & ((rest < zero) ^ (y < zero)), quotient - number(x, 1), quotient);
  }
  case ElementWiseOperation::kAND:
    return x & y;
  case ElementWiseOperation::kOR:
    return x | y;
  case ElementWiseOperation::kXOR:
    return x ^ y;
  case ElementWiseOperation::kEQUAL:
    return x == y;
  case ElementWiseOperation::kGREATER:
    return x > y;
  case ElementWiseOperation::kLESS:
    return x < y;
  }
  llvm_unreachable("all operations are above");
}

static Tensor castTo(const Tensor &x, Type element) {
  if (element.isInteger(1) && !x.element().isInteger(1))
    return x != number(x, 0);
  return x.element() == element ? x : convert(x, element);
}

//===----------------------------------------------------------------------===//
// Quantization
//===----------------------------------------------------------------------===//

/// The largest number that a quantized type has, and the smallest.
static std::pair<double, double> rangeOf(Type element) {
  if (element.isInteger(8))
    return {-128, 127};
  if (element.isInteger(4))
    return {-8, 7};
  if (isa<Float4E2M1FNType>(element))
    return {-6, 6};
  return {-448, 448};
}

/// A scale as f32, one for each element of a tensor of `type`.
static Tensor spreadScale(const Tensor &scale, RankedTensorType type, std::optional<int64_t> axis) {
  LocBuilder &b = scale.builder();
  Tensor wide = castTo(scale, b.getF32Type());
  if (scale.rank() == 0)
    return broadcast(wide, type.getShape(), {});
  if (axis)
    return broadcast(wide, type.getShape(), {*axis});
  // Blocks: each extent as (blocks, elements of a block).
  SmallVector<int64_t> split, dims;
  for (auto [extent, blocks] : llvm::zip(type.getShape(), scale.shape())) {
    dims.push_back(split.size());
    split.push_back(blocks);
    split.push_back(extent / blocks);
  }
  return reshape(broadcast(wide, split, dims), type.getShape());
}

static Tensor quantize(const Tensor &x, const Tensor &scales, Type element) {
  LocBuilder &b = x.builder();
  Tensor scaled = castTo(x, b.getF32Type()) / scales;
  auto [low, high] = rangeOf(element);
  if (isa<IntegerType>(element))
    scaled = apply<stablehlo::RoundNearestEvenOp>(scaled);
  return convert(minimum(maximum(scaled, scaled.like(low)), scaled.like(high)), element);
}

static LayerResults lowerDynamicQuantize(LocBuilder &b, DynamicQuantizeOp op) {
  auto type = op.getResult().getType(), scaleType = op.getScales().getType();
  if (!type.hasStaticShape())
    return op.emitError("'tensorrt.dynamic_quantize' of a dynamic shape cannot be computed on the CPU"), failure();
  Tensor x = castTo(Tensor(b, op.getInput()), b.getF32Type());
  SmallVector<int64_t> split, inner;
  for (auto [extent, block] : llvm::zip(type.getShape(), op.getBlockShape())) {
    split.push_back(extent / block);
    inner.push_back(split.size());
    split.push_back(block);
  }
  Tensor largest = reduceAlong(abs(reshape(x, split)), ReduceOperation::kMAX, inner);
  double high = rangeOf(type.getElementType()).second;
  Tensor scale = largest / high;
  if (op.getDoubleQuantScale())
    scale = scale / broadcast(castTo(Tensor(b, op.getDoubleQuantScale()), b.getF32Type()), scale.shape(), {});
  Tensor narrow = castTo(scale, scaleType.getElementType());
  Tensor wide = castTo(narrow, b.getF32Type());
  if (op.getDoubleQuantScale())
    wide = wide * broadcast(castTo(Tensor(b, op.getDoubleQuantScale()), b.getF32Type()), scale.shape(), {});
  // A block of zeros has a scale of zero.
  wide = select(wide == wide.like(0), wide.like(1), wide);
  return Values{quantize(x, spreadScale(wide, type, std::nullopt), type.getElementType()), narrow};
}

//===----------------------------------------------------------------------===//
// The family
//===----------------------------------------------------------------------===//

LayerResults input::lowerPointwise(LocBuilder &b, Operation *op) {
  auto operand = [&](unsigned i) { return Tensor(b, op->getOperand(i)); };
  return llvm::TypeSwitch<Operation *, LayerResults>(op)
      .Case<ActivationOp>([&](ActivationOp activation) { return Values{activate(activation, operand(0))}; })
      .Case<UnaryOp>([&](UnaryOp unary) { return Values{applyUnary(unary.getUnaryOperation(), operand(0))}; })
      .Case<ElementWiseOp>([&](ElementWiseOp binary) {
        SmallVector<Tensor> both = broadcastTogether(b, op->getOperands());
        return Values{applyBinary(binary.getElementwiseOperation(), both[0], both[1])};
      })
      .Case<tensorrt::SelectOp>([&](auto) {
        SmallVector<Tensor> all = broadcastTogether(b, op->getOperands());
        return Values{select(all[0], all[1], all[2])};
      })
      .Case<CastOp>(
          [&](CastOp cast) { return Values{castTo(operand(0), cast.getResult().getType().getElementType())}; })
      .Case<IdentityOp>([&](auto) {
        // An operation of its own, since the result may know more or less of its shape.
        return Values{stablehlo::ConvertOp::create(b, op->getResultTypes(), op->getOperands())};
      })
      .Case<ParametricReLUOp>([&](auto) {
        SmallVector<Tensor> both = broadcastTogether(b, op->getOperands());
        return Values{select(both[0] >= number(both[0], 0), both[0], both[0] * both[1])};
      })
      .Case<QuantizeOp>([&](QuantizeOp layer) -> LayerResults {
        RankedTensorType type = layer.getResult().getType();
        if (!type.hasStaticShape())
          return layer.emitError("'tensorrt.quantize' of a dynamic shape cannot be computed on the CPU"), failure();
        return Values{quantize(operand(0), spreadScale(operand(1), type, layer.getAxis()), type.getElementType())};
      })
      .Case<DequantizeOp>([&](DequantizeOp layer) -> LayerResults {
        RankedTensorType type = layer.getResult().getType();
        if (!type.hasStaticShape())
          return layer.emitError("'tensorrt.dequantize' of a dynamic shape cannot be computed on the CPU"), failure();
        Tensor wide = castTo(operand(0), b.getF32Type()) * spreadScale(operand(1), type, layer.getAxis());
        return Values{castTo(wide, type.getElementType())};
      })
      .Case<DynamicQuantizeOp>([&](DynamicQuantizeOp layer) { return lowerDynamicQuantize(b, layer); })
      .Default([](auto) { return std::nullopt; });
}
