// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folders of the elementwise ops: constants (ConstantFolding.h states the rules) and operands that leave a value as it
// is. An operand is returned only if it has the result's type, since that may be written more or less precisely.
#include "latewood/compiler/Dialect/StableHLO/ConstantFolding.h"
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "llvm/ADT/APSInt.h"

using namespace mlir;
using namespace latewood::stablehlo;

/// `value` if it has type `type`.
static OpFoldResult ifTyped(Value value, Type type) {
  return value.getType() == type ? OpFoldResult(value) : OpFoldResult();
}

static bool isInteger(Type type) { return isa<IntegerType>(getElementTypeOrSelf(type)); }
static bool isBoolean(Type type) { return getElementTypeOrSelf(type).isInteger(1); }
/// Booleans order as unsigned numbers.
static bool isUnsigned(Type type) { return getElementTypeOrSelf(type).isUnsignedInteger() || isBoolean(type); }

static std::optional<APFloat> unlessNaN(APFloat value) {
  return value.isNaN() ? std::nullopt : std::optional<APFloat>(std::move(value));
}

/// Folds by an integer function, or by a floating-point one where that is allowed.
template <typename IntegerFunction, typename FloatFunction>
static Attribute foldBy(Type operandType, Type resultType, ArrayRef<Attribute> operands, IntegerFunction ofIntegers,
                        FloatFunction ofFloats) {
  if (isInteger(operandType))
    return foldElements<APInt>(resultType, operands, ofIntegers);
  if (isFoldableFloat(getElementTypeOrSelf(operandType)))
    return foldElements<APFloat>(resultType, operands, ofFloats);
  return {};
}

template <typename IntegerFunction>
static Attribute foldIntegers(Type operandType, Type resultType, ArrayRef<Attribute> operands,
                              IntegerFunction function) {
  return isInteger(operandType) ? foldElements<APInt>(resultType, operands, function) : Attribute();
}

template <typename FloatFunction>
static Attribute foldFloats(Type operandType, Type resultType, ArrayRef<Attribute> operands, FloatFunction function) {
  return isFoldableFloat(getElementTypeOrSelf(operandType)) ? foldElements<APFloat>(resultType, operands, function)
                                                            : Attribute();
}

using Integers = ArrayRef<APInt>;
using Floats = ArrayRef<APFloat>;
using MaybeInteger = std::optional<APInt>;
using MaybeFloat = std::optional<APFloat>;

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

OpFoldResult NegOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getOperand().getDefiningOp<NegOp>())
    return ifTyped(inner.getOperand(), getType());
  return foldBy(
      getType(), getType(), adaptor.getOperand(), [](Integers v) -> MaybeInteger { return -v[0]; },
      [](Floats v) -> MaybeFloat { return neg(v[0]); });
}

OpFoldResult NotOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getOperand().getDefiningOp<NotOp>())
    return ifTyped(inner.getOperand(), getType());
  return foldIntegers(getType(), getType(), adaptor.getOperand(), [](Integers v) -> MaybeInteger { return ~v[0]; });
}

OpFoldResult AbsOp::fold(FoldAdaptor adaptor) {
  return foldBy(
      getOperand().getType(), getType(), adaptor.getOperand(), [](Integers v) -> MaybeInteger { return v[0].abs(); },
      [](Floats v) -> MaybeFloat { return abs(v[0]); });
}

OpFoldResult SignOp::fold(FoldAdaptor adaptor) {
  return foldIntegers(getType(), getType(), adaptor.getOperand(), [](Integers v) -> MaybeInteger {
    return APInt(v[0].getBitWidth(), v[0].isZero() ? 0 : v[0].isNegative() ? -1 : 1, /*isSigned=*/true);
  });
}

OpFoldResult ClzOp::fold(FoldAdaptor adaptor) {
  return foldIntegers(getType(), getType(), adaptor.getOperand(), [](Integers v) -> MaybeInteger {
    return APInt(v[0].getBitWidth(), v[0].countl_zero(), false, /*implicitTrunc=*/true);
  });
}

OpFoldResult PopulationCountOp::fold(FoldAdaptor adaptor) {
  return foldIntegers(getType(), getType(), adaptor.getOperand(), [](Integers v) -> MaybeInteger {
    return APInt(v[0].getBitWidth(), v[0].popcount(), false, /*implicitTrunc=*/true);
  });
}

/// Rounding to an integral value is exact.
static Attribute foldRounding(Type type, Attribute operand, llvm::RoundingMode mode) {
  return foldFloats(type, type, operand, [=](Floats v) -> MaybeFloat {
    APFloat value = v[0];
    value.roundToIntegral(mode);
    return unlessNaN(value);
  });
}

OpFoldResult CeilOp::fold(FoldAdaptor adaptor) {
  return foldRounding(getType(), adaptor.getOperand(), llvm::RoundingMode::TowardPositive);
}
OpFoldResult FloorOp::fold(FoldAdaptor adaptor) {
  return foldRounding(getType(), adaptor.getOperand(), llvm::RoundingMode::TowardNegative);
}
OpFoldResult RoundOp::fold(FoldAdaptor adaptor) {
  return foldRounding(getType(), adaptor.getOperand(), llvm::RoundingMode::NearestTiesToAway);
}
OpFoldResult RoundNearestEvenOp::fold(FoldAdaptor adaptor) {
  return foldRounding(getType(), adaptor.getOperand(), llvm::RoundingMode::NearestTiesToEven);
}

OpFoldResult IsFiniteOp::fold(FoldAdaptor adaptor) {
  return foldFloats(getX().getType(), getType(), adaptor.getX(),
                    [](Floats v) -> MaybeInteger { return APInt(1, v[0].isFinite()); });
}

OpFoldResult BitcastConvertOp::fold(FoldAdaptor) { return ifTyped(getOperand(), getType()); }

OpFoldResult ConvertOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  Type from = getOperand().getType().getElementType(), to = getType().getElementType();
  Attribute operand = adaptor.getOperand();
  if (isa<IntegerType>(from)) {
    bool fromUnsigned = isUnsigned(from);
    if (isBoolean(to))
      return foldElements<APInt>(getType(), operand,
                                 [](Integers v) -> MaybeInteger { return APInt(1, !v[0].isZero()); });
    if (auto integer = dyn_cast<IntegerType>(to))
      return foldElements<APInt>(getType(), operand, [=](Integers v) -> MaybeInteger {
        return fromUnsigned ? v[0].zextOrTrunc(integer.getWidth()) : v[0].sextOrTrunc(integer.getWidth());
      });
    if (isFoldableFloat(to))
      return foldElements<APInt>(getType(), operand, [=](Integers v) -> MaybeFloat {
        APFloat value(cast<FloatType>(to).getFloatSemantics());
        value.convertFromAPInt(v[0], !fromUnsigned, APFloat::rmNearestTiesToEven);
        return value;
      });
    return {};
  }
  // Every f16 and bf16 is an f32, so reading them is exact; writing them is left to run time.
  if (!isFoldableFloat(from) && !from.isF16() && !from.isBF16())
    return {};
  if (isBoolean(to))
    return foldElements<APFloat>(getType(), operand, [](Floats v) -> MaybeInteger { return APInt(1, !v[0].isZero()); });
  if (auto integer = dyn_cast<IntegerType>(to))
    return foldElements<APFloat>(getType(), operand, [=](Floats v) -> MaybeInteger {
      llvm::APSInt value(integer.getWidth(), integer.isUnsigned());
      bool exact;
      // What a value out of range converts to is left open, hence to run time.
      if (v[0].convertToInteger(value, APFloat::rmTowardZero, &exact) & APFloat::opInvalidOp)
        return std::nullopt;
      return MaybeInteger(std::move(value));
    });
  if (isFoldableFloat(to))
    return foldElements<APFloat>(getType(), operand, [=](Floats v) -> MaybeFloat {
      APFloat value = v[0];
      bool losesInfo;
      value.convert(cast<FloatType>(to).getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
      return unlessNaN(value);
    });
  return {};
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  if (isInteger(getType()) && isSplatInteger(adaptor.getRhs(), 0))
    if (OpFoldResult lhs = ifTyped(getLhs(), getType()))
      return lhs;
  bool isOr = isBoolean(getType());
  return foldBy(
      getType(), getType(), adaptor.getOperands(),
      [=](Integers v) -> MaybeInteger { return isOr ? v[0] | v[1] : v[0] + v[1]; },
      [](Floats v) { return unlessNaN(v[0] + v[1]); });
}

OpFoldResult SubtractOp::fold(FoldAdaptor adaptor) {
  if (isInteger(getType())) {
    if (isSplatInteger(adaptor.getRhs(), 0))
      if (OpFoldResult lhs = ifTyped(getLhs(), getType()))
        return lhs;
    if (getLhs() == getRhs())
      return splatInteger(getType(), 0);
  }
  return foldBy(
      getType(), getType(), adaptor.getOperands(), [](Integers v) -> MaybeInteger { return v[0] - v[1]; },
      [](Floats v) { return unlessNaN(v[0] - v[1]); });
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (isSplatInteger(adaptor.getRhs(), 1) || isSplatFloat(adaptor.getRhs(), 1.0))
    if (OpFoldResult lhs = ifTyped(getLhs(), getType()))
      return lhs;
  if (isInteger(getType()) && isSplatInteger(adaptor.getRhs(), 0))
    return splatInteger(getType(), 0);
  return foldBy(
      getType(), getType(), adaptor.getOperands(), [](Integers v) -> MaybeInteger { return v[0] * v[1]; },
      [](Floats v) { return unlessNaN(v[0] * v[1]); });
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  if (isSplatInteger(adaptor.getRhs(), 1) || isSplatFloat(adaptor.getRhs(), 1.0))
    if (OpFoldResult lhs = ifTyped(getLhs(), getType()))
      return lhs;
  bool asUnsigned = isUnsigned(getType());
  return foldBy(
      getType(), getType(), adaptor.getOperands(),
      [=](Integers v) -> MaybeInteger {
        // Division by zero and the one overflow are left to run time.
        if (v[1].isZero() || (!asUnsigned && v[0].isMinSignedValue() && v[1].isAllOnes()))
          return std::nullopt;
        return asUnsigned ? v[0].udiv(v[1]) : v[0].sdiv(v[1]);
      },
      [](Floats v) { return unlessNaN(v[0] / v[1]); });
}

OpFoldResult RemOp::fold(FoldAdaptor adaptor) {
  bool asUnsigned = isUnsigned(getType());
  return foldBy(
      getType(), getType(), adaptor.getOperands(),
      [=](Integers v) -> MaybeInteger {
        if (v[1].isZero() || (!asUnsigned && v[0].isMinSignedValue() && v[1].isAllOnes()))
          return std::nullopt;
        return asUnsigned ? v[0].urem(v[1]) : v[0].srem(v[1]);
      },
      [](Floats v) {
        APFloat value = v[0];
        value.mod(v[1]);
        return unlessNaN(value);
      });
}

OpFoldResult MaxOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs())
    return ifTyped(getLhs(), getType());
  bool asUnsigned = isUnsigned(getType());
  return foldBy(
      getType(), getType(), adaptor.getOperands(),
      [=](Integers v) -> MaybeInteger {
        return asUnsigned ? llvm::APIntOps::umax(v[0], v[1]) : llvm::APIntOps::smax(v[0], v[1]);
      },
      [](Floats v) { return unlessNaN(llvm::maximum(v[0], v[1])); });
}

OpFoldResult MinOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs())
    return ifTyped(getLhs(), getType());
  bool asUnsigned = isUnsigned(getType());
  return foldBy(
      getType(), getType(), adaptor.getOperands(),
      [=](Integers v) -> MaybeInteger {
        return asUnsigned ? llvm::APIntOps::umin(v[0], v[1]) : llvm::APIntOps::smin(v[0], v[1]);
      },
      [](Floats v) { return unlessNaN(llvm::minimum(v[0], v[1])); });
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

OpFoldResult AndOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs() || isSplatInteger(adaptor.getRhs(), -1))
    if (OpFoldResult lhs = ifTyped(getLhs(), getType()))
      return lhs;
  if (isSplatInteger(adaptor.getRhs(), 0))
    return splatInteger(getType(), 0);
  return foldIntegers(getType(), getType(), adaptor.getOperands(),
                      [](Integers v) -> MaybeInteger { return v[0] & v[1]; });
}

OpFoldResult OrOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs() || isSplatInteger(adaptor.getRhs(), 0))
    if (OpFoldResult lhs = ifTyped(getLhs(), getType()))
      return lhs;
  if (isSplatInteger(adaptor.getRhs(), -1))
    return splatInteger(getType(), -1);
  return foldIntegers(getType(), getType(), adaptor.getOperands(),
                      [](Integers v) -> MaybeInteger { return v[0] | v[1]; });
}

OpFoldResult XorOp::fold(FoldAdaptor adaptor) {
  if (isSplatInteger(adaptor.getRhs(), 0))
    if (OpFoldResult lhs = ifTyped(getLhs(), getType()))
      return lhs;
  if (getLhs() == getRhs())
    return splatInteger(getType(), 0);
  return foldIntegers(getType(), getType(), adaptor.getOperands(),
                      [](Integers v) -> MaybeInteger { return v[0] ^ v[1]; });
}

/// A shift by a constant amount; an amount of the width and more (read as unsigned) shifts everything out.
template <typename Function>
static OpFoldResult foldShift(Operation *op, ArrayRef<Attribute> operands, Function function) {
  Type type = op->getResult(0).getType();
  if (isSplatInteger(operands[1], 0))
    if (OpFoldResult lhs = ifTyped(op->getOperand(0), type))
      return lhs;
  return foldIntegers(type, type, operands, [=](Integers v) -> MaybeInteger {
    return function(v[0], static_cast<unsigned>(v[1].getLimitedValue(v[0].getBitWidth())));
  });
}

OpFoldResult ShiftLeftOp::fold(FoldAdaptor adaptor) {
  return foldShift(*this, adaptor.getOperands(), [](const APInt &value, unsigned amount) { return value.shl(amount); });
}
OpFoldResult ShiftRightLogicalOp::fold(FoldAdaptor adaptor) {
  return foldShift(*this, adaptor.getOperands(),
                   [](const APInt &value, unsigned amount) { return value.lshr(amount); });
}
OpFoldResult ShiftRightArithmeticOp::fold(FoldAdaptor adaptor) {
  return foldShift(*this, adaptor.getOperands(),
                   [](const APInt &value, unsigned amount) { return value.ashr(amount); });
}

//===----------------------------------------------------------------------===//
// compare, select, clamp
//===----------------------------------------------------------------------===//

static bool compareIntegers(const APInt &lhs, const APInt &rhs, ComparisonDirection direction, bool asUnsigned) {
  switch (direction) {
  case ComparisonDirection::EQ:
    return lhs == rhs;
  case ComparisonDirection::NE:
    return lhs != rhs;
  case ComparisonDirection::LT:
    return asUnsigned ? lhs.ult(rhs) : lhs.slt(rhs);
  case ComparisonDirection::LE:
    return asUnsigned ? lhs.ule(rhs) : lhs.sle(rhs);
  case ComparisonDirection::GT:
    return asUnsigned ? lhs.ugt(rhs) : lhs.sgt(rhs);
  case ComparisonDirection::GE:
    return asUnsigned ? lhs.uge(rhs) : lhs.sge(rhs);
  }
  llvm_unreachable("all directions are handled");
}

static bool compareFloats(const APFloat &lhs, const APFloat &rhs, ComparisonDirection direction) {
  APFloat::cmpResult order = lhs.compare(rhs);
  switch (direction) {
  case ComparisonDirection::EQ:
    return order == APFloat::cmpEqual;
  case ComparisonDirection::NE:
    return order != APFloat::cmpEqual;
  case ComparisonDirection::LT:
    return order == APFloat::cmpLessThan;
  case ComparisonDirection::LE:
    return order == APFloat::cmpLessThan || order == APFloat::cmpEqual;
  case ComparisonDirection::GT:
    return order == APFloat::cmpGreaterThan;
  case ComparisonDirection::GE:
    return order == APFloat::cmpGreaterThan || order == APFloat::cmpEqual;
  }
  llvm_unreachable("all directions are handled");
}

OpFoldResult CompareOp::fold(FoldAdaptor adaptor) {
  ComparisonDirection direction = getComparisonDirection();
  Type operandType = getLhs().getType();
  if (isInteger(operandType)) {
    if (getLhs() == getRhs())
      return splatInteger(getType(), direction == ComparisonDirection::EQ || direction == ComparisonDirection::LE ||
                                         direction == ComparisonDirection::GE);
    bool asUnsigned = isUnsigned(operandType);
    return foldElements<APInt>(getType(), {adaptor.getLhs(), adaptor.getRhs()}, [=](Integers v) -> MaybeInteger {
      return APInt(1, compareIntegers(v[0], v[1], direction, asUnsigned));
    });
  }
  if (getEffectiveCompareType() != ComparisonType::FLOAT)
    return {};
  return foldFloats(operandType, getType(), {adaptor.getLhs(), adaptor.getRhs()},
                    [=](Floats v) -> MaybeInteger { return APInt(1, compareFloats(v[0], v[1], direction)); });
}

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getOnTrue() == getOnFalse())
    return ifTyped(getOnTrue(), getType());
  auto pred = dyn_cast_or_null<DenseIntElementsAttr>(adaptor.getPred());
  if (!pred || pred.empty())
    return {};
  if (pred.isSplat())
    return ifTyped(pred.getSplatValue<bool>() ? getOnTrue() : getOnFalse(), getType());
  auto onTrue = dyn_cast_or_null<DenseElementsAttr>(adaptor.getOnTrue());
  auto onFalse = dyn_cast_or_null<DenseElementsAttr>(adaptor.getOnFalse());
  if (!onTrue || !onFalse || !isFoldableShape(getType()) || isQuantized(getType()))
    return {};
  SmallVector<Attribute> values;
  for (auto [index, chosen] : llvm::enumerate(pred.getValues<bool>()))
    values.push_back((chosen ? onTrue : onFalse).getValues<Attribute>()[index]);
  return DenseElementsAttr::get(getType(), values);
}

OpFoldResult ClampOp::fold(FoldAdaptor adaptor) {
  bool asUnsigned = isUnsigned(getType());
  // min, operand, max, in the order of the operands.
  return foldBy(
      getType(), getType(), adaptor.getOperands(),
      [=](Integers v) -> MaybeInteger {
        using namespace llvm::APIntOps;
        return asUnsigned ? umin(umax(v[1], v[0]), v[2]) : smin(smax(v[1], v[0]), v[2]);
      },
      [](Floats v) { return unlessNaN(llvm::minimum(llvm::maximum(v[1], v[0]), v[2])); });
}
