// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of elements and conversions of element types.
//
// What has no layer is composed only where the composition is as exact as the function itself: log(1 + x) and exp(x) -
// 1 are, by Kahan's quotients; remainders of floats are not.
#include "latewood/compiler/Dialect/CHLO/CHLO.h"
#include "latewood/compiler/Engines/TensorRT/StableHLOToTensorRT.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::tensorrt;

static std::optional<UnaryOperation> unaryOf(Operation *op) {
  using Known = std::optional<UnaryOperation>;
  return llvm::TypeSwitch<Operation *, Known>(op)
      .Case<stablehlo::ExpOp>([](auto) { return UnaryOperation::kEXP; })
      .Case<stablehlo::LogOp>([](auto) { return UnaryOperation::kLOG; })
      .Case<stablehlo::SqrtOp>([](auto) { return UnaryOperation::kSQRT; })
      .Case<stablehlo::AbsOp>([](auto) { return UnaryOperation::kABS; })
      .Case<stablehlo::NegOp>([](auto) { return UnaryOperation::kNEG; })
      .Case<stablehlo::SineOp>([](auto) { return UnaryOperation::kSIN; })
      .Case<stablehlo::CosineOp>([](auto) { return UnaryOperation::kCOS; })
      .Case<stablehlo::TanOp, chlo::TanOp>([](auto) { return UnaryOperation::kTAN; })
      .Case<stablehlo::CeilOp>([](auto) { return UnaryOperation::kCEIL; })
      .Case<stablehlo::FloorOp>([](auto) { return UnaryOperation::kFLOOR; })
      .Case<stablehlo::RoundNearestEvenOp>([](auto) { return UnaryOperation::kROUND; })
      .Case<stablehlo::SignOp>([](auto) { return UnaryOperation::kSIGN; })
      .Case<chlo::ErfOp>([](auto) { return UnaryOperation::kERF; })
      .Case<chlo::SinhOp>([](auto) { return UnaryOperation::kSINH; })
      .Case<chlo::CoshOp>([](auto) { return UnaryOperation::kCOSH; })
      .Case<chlo::AsinOp>([](auto) { return UnaryOperation::kASIN; })
      .Case<chlo::AcosOp>([](auto) { return UnaryOperation::kACOS; })
      .Case<chlo::AtanOp>([](auto) { return UnaryOperation::kATAN; })
      .Case<chlo::AsinhOp>([](auto) { return UnaryOperation::kASINH; })
      .Case<chlo::AcoshOp>([](auto) { return UnaryOperation::kACOSH; })
      .Case<chlo::AtanhOp>([](auto) { return UnaryOperation::kATANH; })
      .Case<chlo::IsInfOp>([](auto) { return UnaryOperation::kISINF; })
      .Default([](auto) { return Known(); });
}

static std::optional<ElementWiseOperation> binaryOf(Operation *op) {
  using Known = std::optional<ElementWiseOperation>;
  return llvm::TypeSwitch<Operation *, Known>(op)
      .Case<stablehlo::AddOp>([](auto) { return ElementWiseOperation::kSUM; })
      .Case<stablehlo::SubtractOp>([](auto) { return ElementWiseOperation::kSUB; })
      .Case<stablehlo::MulOp>([](auto) { return ElementWiseOperation::kPROD; })
      .Case<stablehlo::DivOp>([](auto) { return ElementWiseOperation::kDIV; })
      .Case<stablehlo::MaxOp>([](auto) { return ElementWiseOperation::kMAX; })
      .Case<stablehlo::MinOp>([](auto) { return ElementWiseOperation::kMIN; })
      .Case<stablehlo::PowOp>([](auto) { return ElementWiseOperation::kPOW; })
      .Case<stablehlo::AndOp>([](auto) { return ElementWiseOperation::kAND; })
      .Case<stablehlo::OrOp>([](auto) { return ElementWiseOperation::kOR; })
      .Case<stablehlo::XorOp>([](auto) { return ElementWiseOperation::kXOR; })
      .Default([](auto) { return Known(); });
}

/// On booleans, arithmetic is logic.
static ElementWiseOperation toLogical(ElementWiseOperation operation) {
  switch (operation) {
  case ElementWiseOperation::kSUM:
  case ElementWiseOperation::kMAX:
    return ElementWiseOperation::kOR;
  case ElementWiseOperation::kPROD:
  case ElementWiseOperation::kMIN:
    return ElementWiseOperation::kAND;
  case ElementWiseOperation::kSUB:
    return ElementWiseOperation::kXOR;
  default:
    return operation;
  }
}

static Value convertCompare(LayerBuilder &b, stablehlo::CompareOp op) {
  Value lhs = b.map(op.getLhs()), rhs = b.map(op.getRhs());
  Type element = b.elementOf(lhs);
  auto test = [&](ElementWiseOperation operation) { return b.binary(operation, lhs, rhs); };
  auto direction = op.getComparisonDirection();
  if (element.isInteger(1)) {
    auto isLess = [&](Value l, Value r) { return b.binary(ElementWiseOperation::kAND, b.logicalNot(l), r); };
    switch (direction) {
    case stablehlo::ComparisonDirection::EQ:
      return b.logicalNot(test(ElementWiseOperation::kXOR));
    case stablehlo::ComparisonDirection::NE:
      return test(ElementWiseOperation::kXOR);
    case stablehlo::ComparisonDirection::LT:
      return isLess(lhs, rhs);
    case stablehlo::ComparisonDirection::GT:
      return isLess(rhs, lhs);
    case stablehlo::ComparisonDirection::LE:
      return b.logicalNot(isLess(rhs, lhs));
    case stablehlo::ComparisonDirection::GE:
      return b.logicalNot(isLess(lhs, rhs));
    }
  }
  // With a NaN everything but NE is false.
  auto orEqual = [&](ElementWiseOperation strict, ElementWiseOperation opposite) {
    if (isa<IntegerType>(element))
      return b.logicalNot(test(opposite));
    return b.binary(ElementWiseOperation::kOR, test(strict), test(ElementWiseOperation::kEQUAL));
  };
  switch (direction) {
  case stablehlo::ComparisonDirection::EQ:
    return test(ElementWiseOperation::kEQUAL);
  case stablehlo::ComparisonDirection::NE:
    return b.logicalNot(test(ElementWiseOperation::kEQUAL));
  case stablehlo::ComparisonDirection::LT:
    return test(ElementWiseOperation::kLESS);
  case stablehlo::ComparisonDirection::GT:
    return test(ElementWiseOperation::kGREATER);
  case stablehlo::ComparisonDirection::LE:
    return orEqual(ElementWiseOperation::kLESS, ElementWiseOperation::kGREATER);
  case stablehlo::ComparisonDirection::GE:
    return orEqual(ElementWiseOperation::kGREATER, ElementWiseOperation::kLESS);
  }
  llvm_unreachable("a direction has one of six values");
}

/// Halves away from zero: the fraction of |x| is exact.
static Value roundAwayFromZero(LayerBuilder &b, Value x) {
  Value magnitude = b.unary(UnaryOperation::kABS, x), whole = b.unary(UnaryOperation::kFLOOR, magnitude);
  Value isLess = b.binary(ElementWiseOperation::kLESS, b.sub(magnitude, whole), b.like(x, 0.5));
  Value rounded = b.select(isLess, whole, b.add(whole, b.like(x, 1)));
  Value finite = b.mul(rounded, b.unary(UnaryOperation::kSIGN, x));
  return b.select(b.unary(UnaryOperation::kISINF, x), x, finite);
}

/// log(1 + x) = log(u) * x / (u - 1) with u = 1 + x rounded; x where u is 1.
static Value logPlusOne(LayerBuilder &b, Value x) {
  Value one = b.like(x, 1), u = b.add(x, one), log = b.unary(UnaryOperation::kLOG, u);
  Value quotient = b.binary(ElementWiseOperation::kDIV, b.mul(log, x), b.sub(u, one));
  Value result = b.select(b.binary(ElementWiseOperation::kEQUAL, u, one), x, quotient);
  return b.select(b.unary(UnaryOperation::kISINF, u), u, result);
}

/// exp(x) - 1 = (u - 1) * x / log(u) with u = exp(x) rounded; x where u is 1, -1 where it is 0.
static Value expMinusOne(LayerBuilder &b, Value x) {
  Value one = b.like(x, 1), u = b.unary(UnaryOperation::kEXP, x), less = b.sub(u, one);
  Value quotient = b.binary(ElementWiseOperation::kDIV, b.mul(less, x), b.unary(UnaryOperation::kLOG, u));
  Value result = b.select(b.binary(ElementWiseOperation::kEQUAL, u, one), x, quotient);
  // Far below, the logarithm is that of a number that lost its digits.
  Value isSmall = b.binary(ElementWiseOperation::kLESS, x, b.like(x, -1));
  Value isLarge = b.binary(ElementWiseOperation::kGREATER, x, b.like(x, 1));
  return b.select(b.binary(ElementWiseOperation::kOR, isSmall, isLarge), less, result);
}

static Results convertNumbers(LayerBuilder &b, stablehlo::ConvertOp op) {
  Value input = b.map(op.getOperand());
  Type from = b.elementOf(input), to = getElementTypeOrSelf(op.getType());
  if (to.isInteger(1) && !from.isInteger(1)) {
    // A NaN is not zero.
    Value isZero = b.binary(ElementWiseOperation::kEQUAL, input, b.like(input, 0));
    return Results({b.logicalNot(isZero)});
  }
  auto isNarrow = [](Type type) { return !type.isF32() && !type.isF16() && !type.isBF16() && isa<FloatType>(type); };
  if (isNarrow(from) || isNarrow(to))
    return b.fail("TensorRT converts 8-bit and smaller floats only together with a scale, by quantize and dequantize");
  if (from.isUnsignedInteger() && isa<IntegerType>(to))
    return b.fail("TensorRT converts ui8 only to floats");
  if (to.isUnsignedInteger() && !from.isF32() && !from.isF16())
    return b.fail("TensorRT converts only f32 and f16 to ui8");
  return Results({b.cast(input, to)});
}

Conversion tensorrt::convertElementwise(LayerBuilder &b, Operation *op) {
  auto one = [](Value value) -> Conversion { return value ? Results({value}) : Results(failure()); };
  auto operand = [&](unsigned i) { return b.map(op->getOperand(i)); };
  if (std::optional<UnaryOperation> operation = unaryOf(op))
    return one(b.unary(*operation, operand(0)));
  if (std::optional<ElementWiseOperation> operation = binaryOf(op)) {
    Type element = getElementTypeOrSelf(op->getOperand(0));
    if (element.isInteger(1))
      operation = toLogical(*operation);
    else if (isa<stablehlo::AndOp, stablehlo::OrOp, stablehlo::XorOp>(op))
      return b.fail("TensorRT has no bitwise operations");
    return one(b.binary(*operation, operand(0), operand(1)));
  }
  return llvm::TypeSwitch<Operation *, Conversion>(op)
      .Case<stablehlo::LogisticOp>([&](auto) { return one(b.activation(ActivationType::kSIGMOID, operand(0))); })
      .Case<stablehlo::TanhOp>([&](auto) { return one(b.activation(ActivationType::kTANH, operand(0))); })
      .Case<stablehlo::RsqrtOp>(
          [&](auto) { return one(b.unary(UnaryOperation::kRECIP, b.unary(UnaryOperation::kSQRT, operand(0)))); })
      .Case<stablehlo::RoundOp>([&](auto) { return one(roundAwayFromZero(b, operand(0))); })
      .Case<stablehlo::Log1pOp>([&](auto) { return one(logPlusOne(b, operand(0))); })
      .Case<stablehlo::Expm1Op>([&](auto) { return one(expMinusOne(b, operand(0))); })
      // Exact to the last place of 1, as programs that compute a GELU with it need; not in its tail.
      .Case<chlo::ErfcOp>(
          [&](auto) { return one(b.sub(b.like(operand(0), 1), b.unary(UnaryOperation::kERF, operand(0)))); })
      .Case<chlo::SquareOp>([&](auto) { return one(b.mul(operand(0), operand(0))); })
      .Case<stablehlo::NotOp>([&](auto) -> Conversion {
        if (!b.elementOf(operand(0)).isInteger(1))
          return b.fail("TensorRT has no bitwise operations");
        return one(b.logicalNot(operand(0)));
      })
      .Case<stablehlo::IsFiniteOp>([&](auto) {
        Value x = operand(0);
        return one(b.logicalNot(b.binary(ElementWiseOperation::kOR, b.unary(UnaryOperation::kISINF, x),
                                         b.unary(UnaryOperation::kISNAN, x))));
      })
      .Case<stablehlo::RemOp>([&](auto) -> Conversion {
        Value lhs = operand(0), rhs = operand(1);
        if (isa<FloatType>(b.elementOf(lhs)))
          return b.fail("TensorRT has no remainder of floats");
        return one(b.sub(lhs, b.mul(b.binary(ElementWiseOperation::kDIV, lhs, rhs), rhs)));
      })
      .Case<stablehlo::CompareOp>([&](stablehlo::CompareOp compare) -> Conversion {
        if (compare.getCompareType() == stablehlo::ComparisonType::TOTALORDER)
          return b.fail("TensorRT has no total order of floats");
        return one(convertCompare(b, compare));
      })
      .Case<stablehlo::SelectOp>([&](auto) { return one(b.select(operand(0), operand(1), operand(2))); })
      .Case<stablehlo::ClampOp>([&](auto) { return one(b.min(b.max(operand(1), operand(0)), operand(2))); })
      .Case<stablehlo::ConvertOp>([&](stablehlo::ConvertOp convert) { return convertNumbers(b, convert); })
      .Default([](auto) { return std::nullopt; });
}
