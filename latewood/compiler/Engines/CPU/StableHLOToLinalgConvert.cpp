// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of StableHLO tensors in memory and in scalar code, and conversions between element types.
//
// In: values in storage or compute type with the element type that StableHLO gave them. Out: arith operations that are
// defined on every input: arith.fptosi is only looked at where its operand is in range.

#include "latewood/compiler/Engines/CPU/StableHLOToLinalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace latewood;

Type cpu::getComputeType(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element))
    return integer.getWidth() <= 64 ? IntegerType::get(element.getContext(), integer.getWidth()) : Type();
  // A pair of f32 is one integer: the real part is the low half.
  if (auto complex = dyn_cast<ComplexType>(element))
    return complex.getElementType().isF32() ? IntegerType::get(element.getContext(), 64) : Type();
  if (isByteFloat(element))
    return IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth());
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element) ? element : Type();
}

Type cpu::getStorageType(Type element) {
  if (element.isIndex()) // shapes that are given as scalars
    return element;
  Type compute = getComputeType(element);
  if (compute && compute.isIntOrIndex() && compute.getIntOrFloatBitWidth() < 8)
    return IntegerType::get(element.getContext(), 8);
  return compute;
}

Value cpu::loadElement(ImplicitLocOpBuilder &b, Value stored, Type element) {
  Type compute = getComputeType(element);
  if (stored.getType() == compute)
    return stored;
  if (compute.isInteger(1)) {
    Value zero = arith::ConstantOp::create(b, b.getIntegerAttr(stored.getType(), 0));
    return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ne, stored, zero);
  }
  return b.createOrFold<arith::TruncIOp>(compute, stored);
}

Value cpu::storeElement(ImplicitLocOpBuilder &b, Value computed, Type element) {
  Type storage = getStorageType(element);
  if (computed.getType() == storage)
    return computed;
  if (element.isInteger(1) || element.isUnsignedInteger() || isByteFloat(element))
    return b.createOrFold<arith::ExtUIOp>(storage, computed);
  return b.createOrFold<arith::ExtSIOp>(storage, computed);
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

/// A power of two as a constant of a float type; infinity where the type cannot hold it.
static Value powerOfTwo(ImplicitLocOpBuilder &b, FloatType type, int exponent, bool negative = false) {
  APFloat value = scalbn(APFloat(type.getFloatSemantics(), 1), exponent, APFloat::rmNearestTiesToEven);
  if (negative)
    value.changeSign();
  return arith::ConstantOp::create(b, FloatAttr::get(type, value));
}

static Value integerConstant(ImplicitLocOpBuilder &b, Type type, const APInt &value) {
  return arith::ConstantOp::create(b, IntegerAttr::get(type, value));
}

/// An f64 as an f32, rounded to odd: the last bit says that something was cut off, so that a second rounding, to 16
/// bits or fewer, goes where a single one would.
static Value roundToOdd(ImplicitLocOpBuilder &b, Value value) {
  Type i32 = b.getI32Type();
  Value nearest = arith::TruncFOp::create(b, b.getF32Type(), value);
  Value back = arith::ExtFOp::create(b, value.getType(), nearest);
  Value inexact = arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, back, value);
  Value tooLarge = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, math::AbsFOp::create(b, back),
                                         math::AbsFOp::create(b, value));
  Value one = integerConstant(b, i32, APInt(32, 1));
  Value bits = arith::BitcastOp::create(b, i32, nearest);
  Value towardsZero = arith::SelectOp::create(b, tooLarge, arith::SubIOp::create(b, bits, one), bits);
  Value odd = arith::SelectOp::create(b, inexact, arith::OrIOp::create(b, towardsZero, one), bits);
  return arith::BitcastOp::create(b, b.getF32Type(), odd);
}

/// Rounds to a narrower float type once. From f64 to 16 bits and fewer the way leads over f32: no target has an
/// instruction for the direct way.
static Value roundFloat(ImplicitLocOpBuilder &b, Value value, Type to) {
  unsigned fromBits = value.getType().getIntOrFloatBitWidth(), toBits = to.getIntOrFloatBitWidth();
  if (fromBits == 64 && toBits <= 16)
    value = roundToOdd(b, value);
  if (!cpu::isByteFloat(to))
    return arith::TruncFOp::create(b, to, value);
  if (fromBits == 16)
    value = arith::ExtFOp::create(b, b.getF32Type(), value);
  return cpu::encodeByteFloat(b, value, cast<FloatType>(to));
}

/// Truncates towards zero and saturates; NaN becomes 0.
static Value floatToInteger(ImplicitLocOpBuilder &b, Value value, IntegerType to, bool isUnsigned) {
  auto type = cast<FloatType>(value.getType());
  unsigned width = to.getWidth();
  APInt min = isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width);
  APInt max = isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  // The first float above the range, and the last one below it. -0.5 is in the range of an unsigned type: it becomes 0.
  Value above = powerOfTwo(b, type, isUnsigned ? width : width - 1);
  Value result, tooSmall;
  if (isUnsigned) {
    Value zero = arith::ConstantOp::create(b, b.getFloatAttr(type, 0.0));
    result = arith::FPToUIOp::create(b, to, value);
    // Also true for NaN.
    tooSmall = arith::CmpFOp::create(b, arith::CmpFPredicate::ULE, value, zero);
    result = arith::SelectOp::create(b, tooSmall, integerConstant(b, to, min), result);
  } else {
    result = arith::FPToSIOp::create(b, to, value);
    tooSmall = arith::CmpFOp::create(b, arith::CmpFPredicate::OLE, value, powerOfTwo(b, type, width - 1, true));
    result = arith::SelectOp::create(b, tooSmall, integerConstant(b, to, min), result);
  }
  Value tooLarge = arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, value, above);
  result = arith::SelectOp::create(b, tooLarge, integerConstant(b, to, max), result);
  if (isUnsigned)
    return result;
  Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
  return arith::SelectOp::create(b, isNaN, integerConstant(b, to, APInt(width, 0)), result);
}

Value cpu::convertElement(ImplicitLocOpBuilder &b, Value value, Type from, Type to) {
  Type target = getComputeType(to);
  if (from == to)
    return value;
  if (isByteFloat(from))
    return convertElement(b, decodeByteFloat(b, value, cast<FloatType>(from)), b.getF32Type(), to);
  if (auto fromFloat = dyn_cast<FloatType>(from)) {
    if (auto toFloat = dyn_cast<FloatType>(to)) {
      unsigned fromBits = fromFloat.getWidth(), toBits = toFloat.getWidth();
      if (fromBits < toBits)
        return arith::ExtFOp::create(b, target, value);
      if (fromBits > toBits)
        return roundFloat(b, value, to);
      // f16 and bf16 hold different sets of values: through f32, which holds both.
      return arith::TruncFOp::create(b, target, arith::ExtFOp::create(b, b.getF32Type(), value));
    }
    if (fromFloat.getWidth() < 32)
      value = arith::ExtFOp::create(b, b.getF32Type(), value);
    if (to.isInteger(1)) {
      Value zero = arith::ConstantOp::create(b, b.getFloatAttr(value.getType(), 0.0));
      return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, value, zero);
    }
    return floatToInteger(b, value, cast<IntegerType>(target), to.isUnsignedInteger());
  }

  bool isUnsigned = from.isUnsignedInteger() || from.isInteger(1);
  if (auto toFloat = dyn_cast<FloatType>(to)) {
    // Into a 16-bit type the integer is first held exactly, in f32 (up to 24 bits) or f64 (up to 53 bits), and rounded
    // once.
    unsigned fromBits = from.getIntOrFloatBitWidth();
    Type wide = toFloat.getWidth() >= 32 ? to : fromBits <= 24 ? Type(b.getF32Type()) : Type(b.getF64Type());
    if (fromBits == 64 && toFloat.getWidth() < 32) {
      // Round to odd into 53 bits: low bits are folded into one sticky bit, which keeps the final rounding correct.
      Value sign, magnitude = value;
      Type i64 = value.getType();
      if (!isUnsigned)
        magnitude = math::AbsIOp::create(b, value);
      APInt lowMask = APInt::getLowBitsSet(64, 16);
      Value low = arith::AndIOp::create(b, magnitude, integerConstant(b, i64, lowMask));
      Value zero = integerConstant(b, i64, APInt(64, 0));
      Value sticky = arith::ExtUIOp::create(b, i64, arith::CmpIOp::create(b, arith::CmpIPredicate::ne, low, zero));
      sticky = arith::ShLIOp::create(b, sticky, integerConstant(b, i64, APInt(64, 16)));
      Value high = arith::AndIOp::create(b, magnitude, integerConstant(b, i64, ~lowMask));
      high = arith::OrIOp::create(b, high, sticky);
      // Small magnitudes are exact in f64 and must keep their low bits.
      Value isLarge = arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, magnitude,
                                            integerConstant(b, i64, APInt::getOneBitSet(64, 53)));
      magnitude = arith::SelectOp::create(b, isLarge, high, magnitude);
      Value result = arith::UIToFPOp::create(b, wide, magnitude);
      if (!isUnsigned) {
        sign = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, value, zero);
        result = arith::SelectOp::create(b, sign, arith::NegFOp::create(b, result), result);
      }
      return roundFloat(b, result, to);
    }
    Value result =
        isUnsigned ? Value(arith::UIToFPOp::create(b, wide, value)) : arith::SIToFPOp::create(b, wide, value);
    return wide == to ? result : roundFloat(b, result, to);
  }
  if (to.isInteger(1)) {
    Value zero = arith::ConstantOp::create(b, b.getIntegerAttr(value.getType(), 0));
    return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ne, value, zero);
  }
  unsigned fromBits = value.getType().getIntOrFloatBitWidth(), toBits = target.getIntOrFloatBitWidth();
  if (fromBits > toBits)
    return arith::TruncIOp::create(b, target, value);
  if (fromBits == toBits)
    return value;
  return isUnsigned ? Value(arith::ExtUIOp::create(b, target, value)) : arith::ExtSIOp::create(b, target, value);
}
