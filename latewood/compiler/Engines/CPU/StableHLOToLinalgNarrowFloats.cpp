// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floats of 8 bits and fewer, as integer code.
//
// No target computes with them: an element is its bits, and only arithmetic turns it into an f32, which holds every
// value of these formats. Both directions are integer operations without branches and without calls, so that they
// vectorize.
//
//   decode  the mantissa is shifted to its place and the exponent's bias exchanged. A subnormal is its mantissa,
//   converted
//           as an integer, times the smallest step of the format.
//   encode  adding half of the last kept bit (less one, where that bit is even) rounds to nearest, ties to even, and a
//   carry
//           runs into the exponent as it should. For subnormals the adder rounds: next to a number whose last bit is
//           the format's smallest step, the sum's low bits are the result.
//
// In: an f32 that was not rounded before (or was rounded to odd), or the bits of an element as an integer of its width.
// Out: the bits, rounded once, by the format's own rules about infinity, NaN and overflow; an exact f32.

#include "latewood/compiler/Engines/CPU/StableHLOToLinalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace latewood;

namespace {

using Predicate = arith::CmpIPredicate;

/// What is to know about a format with a sign, an exponent and a mantissa.
struct Format {
  explicit Format(FloatType type) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    width = type.getWidth();
    mantissa = type.getFPMantissaWidth() - 1;
    isUnsigned = isa<Float8E8M0FNUType>(type);
    leastExponent = APFloat::semanticsMinExponent(semantics);
    signBit = 1u << (width - 1);
    hasInfinity = isa<Float8E5M2Type, Float8E4M3Type, Float8E3M4Type>(type);
    zeroIsUnsigned = isa<Float8E4M3FNUZType, Float8E5M2FNUZType, Float8E4M3B11FNUZType>(type);
    hasNaN = !isa<Float4E2M1FNType, Float6E2M3FNType, Float6E3M2FNType>(type);
    largest = APFloat::getLargest(semantics).bitcastToAPInt().getZExtValue();
    // Without a NaN of its own a format has the negative zero in its place.
    nan = hasNaN ? APFloat::getQNaN(semantics).bitcastToAPInt().getZExtValue() : signBit;
    overflow = hasInfinity ? largest + 1 : hasNaN ? nan : largest;
  }

  unsigned width, mantissa, signBit;
  int leastExponent;
  bool isUnsigned, hasInfinity, zeroIsUnsigned, hasNaN;
  /// Bits of the largest number, of NaN, and of what is too large; without the sign.
  uint32_t largest, nan, overflow;

  int bias() const { return 1 - leastExponent; }
  unsigned shift() const { return 23 - mantissa; }
};

Value constant(ImplicitLocOpBuilder &b, Type type, uint64_t value) {
  return arith::ConstantOp::create(b, IntegerAttr::get(type, APInt(type.getIntOrFloatBitWidth(), value,
                                                                   /*isSigned=*/false, /*implicitTrunc=*/true)));
}

Value power(ImplicitLocOpBuilder &b, int exponent) {
  return arith::ConstantOp::create(b, b.getFloatAttr(b.getF32Type(), std::ldexp(1.0, exponent)));
}

/// Integer code on 32 bits.
struct Bits {
  ImplicitLocOpBuilder &b;
  Type type = b.getI32Type();

  Value number(uint32_t value) { return constant(b, type, value); }
  Value add(Value x, uint32_t y) { return arith::AddIOp::create(b, x, number(y)); }
  Value mask(Value x, uint32_t y) { return arith::AndIOp::create(b, x, number(y)); }
  Value left(Value x, unsigned bits) { return arith::ShLIOp::create(b, x, number(bits)); }
  Value right(Value x, unsigned bits) { return arith::ShRUIOp::create(b, x, number(bits)); }
  Value join(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value compare(arith::CmpIPredicate predicate, Value x, uint32_t y) {
    return arith::CmpIOp::create(b, predicate, x, number(y));
  }
  Value select(Value condition, Value x, Value y) { return arith::SelectOp::create(b, condition, x, y); }
  Value toFloat(Value x) { return arith::BitcastOp::create(b, b.getF32Type(), x); }
  Value toBits(Value x) { return arith::BitcastOp::create(b, type, x); }
};

/// A power of two and nothing else: 2^(code - 127), all ones for NaN. Code 0 is a subnormal f32.
Value decodeExponent(ImplicitLocOpBuilder &b, Value code) {
  Bits bits{b};
  Value result = bits.left(code, 23);
  result = bits.select(bits.compare(Predicate::eq, code, 0), bits.number(1u << 22), result);
  result = bits.select(bits.compare(Predicate::eq, code, 255), bits.number(0x7fc00000), result);
  return bits.toFloat(result);
}

/// Half way between two powers the larger one is taken: of its neighbours, its mantissa of one bit is the even one.
/// Numbers that are not positive have no code but NaN.
Value encodeExponent(ImplicitLocOpBuilder &b, Value pattern) {
  Bits bits{b};
  Value code = bits.right(bits.add(pattern, 1u << 22), 23);
  // Below 2^-126 the f32 has no hidden bit: half way is 3 * 2^-128.
  Value isSubnormal = bits.compare(Predicate::ult, pattern, 1u << 23);
  Value isUpper = bits.compare(Predicate::uge, pattern, 3u << 21);
  code = bits.select(isSubnormal, arith::ExtUIOp::create(b, bits.type, isUpper), code);
  Value isPositive = bits.compare(Predicate::ult, bits.add(pattern, -1), 0x7f7fffff);
  return bits.select(isPositive, code, bits.number(255));
}

} // namespace

bool cpu::isByteFloat(Type type) {
  auto floating = dyn_cast<FloatType>(type);
  return floating && floating.getWidth() <= 8;
}

Value cpu::decodeByteFloat(ImplicitLocOpBuilder &b, Value value, FloatType type) {
  Format format(type);
  Bits bits{b};
  Value code = arith::ExtUIOp::create(b, bits.type, value);
  if (format.isUnsigned)
    return decodeExponent(b, code);
  Value magnitude = bits.mask(code, format.signBit - 1);
  Value normal = bits.add(bits.left(magnitude, format.shift()), uint32_t(127 - format.bias()) << 23);
  Value asNumber = arith::SIToFPOp::create(b, b.getF32Type(), magnitude);
  Value step = power(b, format.leastExponent - static_cast<int>(format.mantissa));
  Value subnormal = bits.toBits(arith::MulFOp::create(b, asNumber, step));
  Value result = bits.select(bits.compare(Predicate::ult, magnitude, 1u << format.mantissa), subnormal, normal);
  if (format.hasInfinity) {
    // Infinity and NaN keep what they have in the mantissa.
    Value special =
        bits.add(bits.left(magnitude, format.shift()), 0x7f800000u - ((format.largest + 1) << format.shift()));
    result = bits.select(bits.compare(Predicate::ugt, magnitude, format.largest), special, result);
  } else if (format.hasNaN && !format.zeroIsUnsigned) {
    result = bits.select(bits.compare(Predicate::eq, magnitude, format.nan), bits.number(0x7fc00000), result);
  }
  result = bits.join(result, bits.left(bits.mask(code, format.signBit), 32 - format.width));
  if (format.zeroIsUnsigned)
    result = bits.select(bits.compare(Predicate::eq, code, format.nan), bits.number(0x7fc00000), result);
  return bits.toFloat(result);
}

Value cpu::encodeByteFloat(ImplicitLocOpBuilder &b, Value value, FloatType type) {
  Format format(type);
  Bits bits{b};
  Type integer = b.getIntegerType(format.width);
  Value pattern = bits.toBits(value);
  if (format.isUnsigned)
    return arith::TruncIOp::create(b, integer, encodeExponent(b, pattern));
  Value magnitude = bits.mask(pattern, 0x7fffffff);
  unsigned shift = format.shift();

  Value last = bits.mask(bits.right(magnitude, shift), 1);
  Value rounded = bits.add(arith::AddIOp::create(b, magnitude, last), (1u << (shift - 1)) - 1);
  Value normal = bits.add(bits.right(rounded, shift), -(uint32_t(127 - format.bias()) << format.mantissa));
  Value anchor = power(b, format.leastExponent - static_cast<int>(format.mantissa) + 23);
  Value sum = arith::AddFOp::create(b, bits.toFloat(magnitude), anchor);
  Value subnormal = arith::SubIOp::create(b, bits.toBits(sum), bits.toBits(anchor));
  Value isSubnormal = bits.compare(Predicate::ult, magnitude, static_cast<uint32_t>(127 + format.leastExponent) << 23);
  Value code = bits.select(isSubnormal, subnormal, normal);

  code = bits.select(bits.compare(Predicate::ugt, code, format.largest), bits.number(format.overflow), code);
  Value isNaN = bits.compare(Predicate::ugt, magnitude, 0x7f800000);
  if (format.hasInfinity) {
    // Quiet, with the top of what the mantissa had.
    Value payload = bits.mask(bits.right(magnitude, shift), (1u << format.mantissa) - 1);
    Value quiet = bits.number(1u << (format.mantissa - 1));
    payload = bits.select(bits.compare(Predicate::eq, payload, 0), quiet, payload);
    code = bits.select(isNaN, bits.join(payload, bits.number(format.largest + 1)), code);
  } else if (!format.zeroIsUnsigned && format.hasNaN) {
    code = bits.select(isNaN, bits.number(format.nan), code);
  }
  Value sign = bits.mask(bits.right(pattern, 32 - format.width), format.signBit);
  if (format.zeroIsUnsigned)
    sign = bits.select(bits.compare(Predicate::eq, code, 0), bits.number(0), sign);
  code = bits.join(code, sign);
  if (format.zeroIsUnsigned || !format.hasNaN)
    code = bits.select(isNaN, bits.number(format.nan), code);
  return arith::TruncIOp::create(b, integer, code);
}
