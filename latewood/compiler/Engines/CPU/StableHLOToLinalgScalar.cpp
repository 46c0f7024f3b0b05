// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise StableHLO and CHLO operations as scalar code in arith and math.
//
// In: an operation and one computed scalar per operand. Out: the computed scalar of its result, by StableHLO's rules on
// every input: division by zero, overflow, shifts by the width and more, NaN. The code has no branches, so that a
// vectorizer takes it.
//
// f16, bf16 and narrower floats are computed in f32 and rounded after each operation, except where the operation is
// exact in its own width, or only moves bits. Unsignedness is not in the scalars' types any more; it is read from the
// operation's operands.

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace latewood;

namespace {

using Builder = ImplicitLocOpBuilder;

/// One operation to emit: `element` is the StableHLO element type of the first operand.
struct Scalars {
  Operation *op;
  Type element;
  ValueRange operands;

  Value lhs() const { return operands[0]; }
  Value rhs() const { return operands[1]; }
  Type type() const { return operands[0].getType(); }
  bool isFloat() const { return isa<FloatType>(type()); }
  bool isBool() const { return element.isInteger(1); }
  bool isUnsigned() const { return element.isUnsignedInteger() || isBool(); }
  unsigned width() const { return type().getIntOrFloatBitWidth(); }
};

/// A number as a constant of an integer or float type. An integer is given as its bits or as a signed number.
Value constant(Builder &b, Type type, const APInt &value) {
  return arith::ConstantOp::create(b, IntegerAttr::get(type, value));
}
template <std::integral T>
Value constant(Builder &b, Type type, T value) {
  return constant(b, type, APInt(type.getIntOrFloatBitWidth(), value, /*isSigned=*/true, /*implicitTrunc=*/true));
}
template <std::floating_point T>
Value constant(Builder &b, Type type, T value) {
  return arith::ConstantOp::create(b, FloatAttr::get(cast<FloatType>(type), value));
}
Value compare(Builder &b, arith::CmpIPredicate predicate, Value x, Value y) {
  return arith::CmpIOp::create(b, predicate, x, y);
}
Value compare(Builder &b, arith::CmpFPredicate predicate, Value x, Value y) {
  return arith::CmpFOp::create(b, predicate, x, y);
}
Value select(Builder &b, Value condition, Value x, Value y) { return arith::SelectOp::create(b, condition, x, y); }

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

template <typename OpTy>
Value emitUnary(Builder &b, const Scalars &s) {
  return OpTy::create(b, s.lhs());
}
template <typename OpTy>
Value emitBinary(Builder &b, const Scalars &s) {
  return OpTy::create(b, s.lhs(), s.rhs());
}

Value emitAdd(Builder &b, const Scalars &s) {
  return s.isFloat()  ? emitBinary<arith::AddFOp>(b, s)
         : s.isBool() ? emitBinary<arith::OrIOp>(b, s)
                      : emitBinary<arith::AddIOp>(b, s);
}

Value emitSubtract(Builder &b, const Scalars &s) {
  return s.isFloat() ? emitBinary<arith::SubFOp>(b, s) : emitBinary<arith::SubIOp>(b, s);
}

Value emitMultiply(Builder &b, const Scalars &s) {
  return s.isFloat()  ? emitBinary<arith::MulFOp>(b, s)
         : s.isBool() ? emitBinary<arith::AndIOp>(b, s)
                      : emitBinary<arith::MulIOp>(b, s);
}

/// True where an integer division has no result: by zero, and the least signed value by -1.
Value emitIsUndefinedDivision(Builder &b, const Scalars &s, Value isZero) {
  if (s.isUnsigned())
    return isZero;
  Value least = constant(b, s.type(), APInt::getSignedMinValue(s.width()));
  Value minusOne = constant(b, s.type(), -1);
  Value overflows = arith::AndIOp::create(b, compare(b, arith::CmpIPredicate::eq, s.lhs(), least),
                                          compare(b, arith::CmpIPredicate::eq, s.rhs(), minusOne));
  return arith::OrIOp::create(b, isZero, overflows);
}

/// x / 0 has all bits set; the least value / -1 wraps to itself.
Value emitDivide(Builder &b, const Scalars &s) {
  if (s.isFloat())
    return emitBinary<arith::DivFOp>(b, s);
  Value isZero = compare(b, arith::CmpIPredicate::eq, s.rhs(), constant(b, s.type(), 0));
  Value divisor = select(b, emitIsUndefinedDivision(b, s, isZero), constant(b, s.type(), 1), s.rhs());
  Value quotient = s.isUnsigned() ? Value(arith::DivUIOp::create(b, s.lhs(), divisor))
                                  : Value(arith::DivSIOp::create(b, s.lhs(), divisor));
  return select(b, isZero, constant(b, s.type(), -1), quotient);
}

/// x % 0 is x; the least value % -1 is 0. A float's remainder has the sign of the dividend.
Value emitRemainder(Builder &b, const Scalars &s) {
  if (s.isFloat())
    return emitBinary<arith::RemFOp>(b, s);
  Value isZero = compare(b, arith::CmpIPredicate::eq, s.rhs(), constant(b, s.type(), 0));
  Value divisor = select(b, emitIsUndefinedDivision(b, s, isZero), constant(b, s.type(), 1), s.rhs());
  Value remainder = s.isUnsigned() ? Value(arith::RemUIOp::create(b, s.lhs(), divisor))
                                   : Value(arith::RemSIOp::create(b, s.lhs(), divisor));
  return select(b, isZero, s.lhs(), remainder);
}

Value emitMaximum(Builder &b, const Scalars &s) {
  return s.isFloat()      ? emitBinary<arith::MaximumFOp>(b, s)
         : s.isUnsigned() ? emitBinary<arith::MaxUIOp>(b, s)
                          : emitBinary<arith::MaxSIOp>(b, s);
}

Value emitMinimum(Builder &b, const Scalars &s) {
  return s.isFloat()      ? emitBinary<arith::MinimumFOp>(b, s)
         : s.isUnsigned() ? emitBinary<arith::MinUIOp>(b, s)
                          : emitBinary<arith::MinSIOp>(b, s);
}

/// Integer powers by squaring, one step a bit of the exponent. A negative exponent gives the truncated quotient 1 /
/// x^-e: 0 unless x is 1 or -1.
Value emitPower(Builder &b, const Scalars &s) {
  if (s.isFloat())
    return emitBinary<math::PowFOp>(b, s);
  Value zero = constant(b, s.type(), 0), one = constant(b, s.type(), 1);
  Value result = one, base = s.lhs(), exponent = s.rhs();
  for (unsigned bit = 0; bit < s.width(); ++bit) {
    Value isSet = compare(b, arith::CmpIPredicate::ne, arith::AndIOp::create(b, exponent, one), zero);
    result = select(b, isSet, arith::MulIOp::create(b, result, base), result);
    if (bit + 1 == s.width())
      break;
    base = arith::MulIOp::create(b, base, base);
    exponent = arith::ShRUIOp::create(b, exponent, one);
  }
  if (s.isUnsigned())
    return result;
  Value isOdd = compare(b, arith::CmpIPredicate::ne, arith::AndIOp::create(b, s.rhs(), one), zero);
  Value minusOne = constant(b, s.type(), -1);
  Value inverse =
      select(b, compare(b, arith::CmpIPredicate::eq, s.lhs(), minusOne), select(b, isOdd, minusOne, one), zero);
  inverse = select(b, compare(b, arith::CmpIPredicate::eq, s.lhs(), one), one, inverse);
  return select(b, compare(b, arith::CmpIPredicate::slt, s.rhs(), zero), inverse, result);
}

Value emitNegate(Builder &b, const Scalars &s) {
  return s.isFloat() ? emitUnary<arith::NegFOp>(b, s) : arith::SubIOp::create(b, constant(b, s.type(), 0), s.lhs());
}

Value emitAbs(Builder &b, const Scalars &s) {
  return s.isFloat() ? emitUnary<math::AbsFOp>(b, s) : s.isUnsigned() ? s.lhs() : emitUnary<math::AbsIOp>(b, s);
}

/// NaN and zeros are their own signs.
Value emitSign(Builder &b, const Scalars &s) {
  Value x = s.lhs();
  if (s.isFloat()) {
    Value isOther = compare(b, arith::CmpFPredicate::UEQ, x, constant(b, s.type(), 0.0));
    return select(b, isOther, x, math::CopySignOp::create(b, constant(b, s.type(), 1.0), x));
  }
  Value zero = constant(b, s.type(), 0);
  if (s.isUnsigned())
    return arith::ExtUIOp::create(b, s.type(), compare(b, arith::CmpIPredicate::ne, x, zero));
  Value negative = arith::ExtSIOp::create(b, s.type(), compare(b, arith::CmpIPredicate::slt, x, zero));
  Value positive = arith::ExtUIOp::create(b, s.type(), compare(b, arith::CmpIPredicate::sgt, x, zero));
  return arith::OrIOp::create(b, negative, positive);
}

Value emitSquare(Builder &b, const Scalars &s) { return emitMultiply(b, {s.op, s.element, {s.lhs(), s.lhs()}}); }

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

Value emitNot(Builder &b, const Scalars &s) { return arith::XOrIOp::create(b, s.lhs(), constant(b, s.type(), -1)); }

/// Shifts by the width and more: the shift count is unsigned, so a negative one is large.
Value emitIsInWidth(Builder &b, const Scalars &s) {
  return compare(b, arith::CmpIPredicate::ult, s.rhs(), constant(b, s.type(), s.width()));
}

template <typename OpTy>
Value emitShiftToZero(Builder &b, const Scalars &s) {
  return select(b, emitIsInWidth(b, s), emitBinary<OpTy>(b, s), constant(b, s.type(), 0));
}

Value emitShiftRightArithmetic(Builder &b, const Scalars &s) {
  Value count = select(b, emitIsInWidth(b, s), s.rhs(), constant(b, s.type(), s.width() - 1));
  return arith::ShRSIOp::create(b, s.lhs(), count);
}

/// Drops mantissa bits (round to nearest even), then flushes to zero or infinity what the narrower exponent cannot
/// hold.
Value emitReducePrecision(Builder &b, const Scalars &s) {
  auto op = cast<stablehlo::ReducePrecisionOp>(s.op);
  auto type = cast<FloatType>(s.type());
  unsigned width = type.getWidth();
  int64_t mantissa = type.getFPMantissaWidth() - 1, exponent = width - 1 - mantissa;
  int64_t newMantissa = op.getMantissaBits(), newExponent = op.getExponentBits();
  Type integer = b.getIntegerType(width);
  auto bitsOf = [&](const APInt &value) { return constant(b, integer, value); };
  Value bits = arith::BitcastOp::create(b, integer, s.lhs());
  if (newMantissa < mantissa) {
    int64_t dropped = mantissa - newMantissa;
    Value last = arith::ShRUIOp::create(b, bits, bitsOf(APInt(width, dropped)));
    last = arith::AndIOp::create(b, last, bitsOf(APInt(width, 1)));
    Value bias = arith::AddIOp::create(b, last, bitsOf(APInt::getLowBitsSet(width, dropped - 1)));
    bits = arith::AddIOp::create(b, bits, bias);
    bits = arith::AndIOp::create(b, bits, bitsOf(~APInt::getLowBitsSet(width, dropped)));
  }
  if (newExponent < exponent) {
    int64_t bias = (int64_t(1) << (exponent - 1)) - 1, newBias = (int64_t(1) << (newExponent - 1)) - 1;
    APInt exponentMask = APInt::getBitsSet(width, mantissa, width - 1);
    Value field = arith::AndIOp::create(b, bits, bitsOf(exponentMask));
    Value sign = arith::AndIOp::create(b, bits, bitsOf(APInt::getSignMask(width)));
    Value overflows = compare(b, arith::CmpIPredicate::ugt, field, bitsOf(APInt(width, bias + newBias).shl(mantissa)));
    Value underflows = compare(b, arith::CmpIPredicate::ule, field, bitsOf(APInt(width, bias - newBias).shl(mantissa)));
    bits = select(b, overflows, arith::OrIOp::create(b, sign, bitsOf(exponentMask)), bits);
    bits = select(b, underflows, sign, bits);
  }
  Value isNaN = compare(b, arith::CmpFPredicate::UNO, s.lhs(), s.lhs());
  Value special = s.lhs();
  // Without a mantissa only infinity has the largest exponent.
  if (newMantissa == 0)
    special = math::CopySignOp::create(
        b, arith::ConstantOp::create(b, FloatAttr::get(type, APFloat::getInf(type.getFloatSemantics()))), special);
  return select(b, isNaN, special, arith::BitcastOp::create(b, type, bits));
}

//===----------------------------------------------------------------------===//
// Comparison and selection
//===----------------------------------------------------------------------===//

/// A float's bits as an integer whose signed order is the total order of floats.
Value emitTotalOrderKey(Builder &b, Value value) {
  unsigned width = value.getType().getIntOrFloatBitWidth();
  Type integer = b.getIntegerType(width);
  Value bits = arith::BitcastOp::create(b, integer, value);
  Value sign = arith::ShRSIOp::create(b, bits, constant(b, integer, width - 1));
  Value flip = arith::AndIOp::create(b, sign, constant(b, integer, APInt::getSignedMaxValue(width)));
  return arith::XOrIOp::create(b, bits, flip);
}

Value emitCompare(Builder &b, const Scalars &s) {
  using Direction = stablehlo::ComparisonDirection;
  auto op = cast<stablehlo::CompareOp>(s.op);
  Direction direction = op.getComparisonDirection();
  bool isTotal = op.getEffectiveCompareType() == stablehlo::ComparisonType::TOTALORDER;
  if (s.isFloat() && !isTotal) {
    // A comparison with NaN is false, except "not equal".
    arith::CmpFPredicate predicates[] = {arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE,
                                         arith::CmpFPredicate::OGE, arith::CmpFPredicate::OGT,
                                         arith::CmpFPredicate::OLE, arith::CmpFPredicate::OLT};
    return compare(b, predicates[static_cast<unsigned>(direction)], s.lhs(), s.rhs());
  }
  using Predicate = arith::CmpIPredicate;
  Predicate onSigned[] = {Predicate::eq, Predicate::ne, Predicate::sge, Predicate::sgt, Predicate::sle, Predicate::slt};
  Predicate onUnsigned[] = {Predicate::eq,  Predicate::ne,  Predicate::uge,
                            Predicate::ugt, Predicate::ule, Predicate::ult};
  if (s.isFloat())
    return compare(b, onSigned[static_cast<unsigned>(direction)], emitTotalOrderKey(b, s.lhs()),
                   emitTotalOrderKey(b, s.rhs()));
  return compare(b, (s.isUnsigned() ? onUnsigned : onSigned)[static_cast<unsigned>(direction)], s.lhs(), s.rhs());
}

Value emitSelect(Builder &b, const Scalars &s) { return select(b, s.operands[0], s.operands[1], s.operands[2]); }

Value emitClamp(Builder &b, const Scalars &s) {
  Value low = emitMaximum(b, {s.op, s.element, {s.operands[1], s.operands[0]}});
  return emitMinimum(b, {s.op, s.element, {low, s.operands[2]}});
}

Value emitIsFinite(Builder &b, const Scalars &s) {
  auto type = cast<FloatType>(s.type());
  Value infinity = arith::ConstantOp::create(b, FloatAttr::get(type, APFloat::getInf(type.getFloatSemantics())));
  return compare(b, arith::CmpFPredicate::OLT, math::AbsFOp::create(b, s.lhs()), infinity);
}

Value emitConvert(Builder &b, const Scalars &s) {
  return cpu::convertElement(b, s.lhs(), s.element, cpu::getElement(s.op->getResult(0)));
}

/// Halves of an i64 that holds a complex<f32>; a real number is its own real part.
Value emitHalf(Builder &b, Value pair, unsigned shift) {
  Value half = shift == 0 ? pair : arith::ShRUIOp::create(b, pair, constant(b, pair.getType(), shift));
  return arith::BitcastOp::create(b, b.getF32Type(), arith::TruncIOp::create(b, b.getI32Type(), half));
}
Value emitReal(Builder &b, const Scalars &s) { return s.isFloat() ? s.lhs() : emitHalf(b, s.lhs(), 0); }
Value emitImag(Builder &b, const Scalars &s) {
  return s.isFloat() ? constant(b, s.type(), 0.0) : emitHalf(b, s.lhs(), 32);
}
Value emitComplex(Builder &b, const Scalars &s) {
  auto bitsOf = [&](Value part) -> Value {
    return arith::ExtUIOp::create(b, b.getI64Type(), arith::BitcastOp::create(b, b.getI32Type(), part));
  };
  Value high = arith::ShLIOp::create(b, bitsOf(s.rhs()), constant(b, b.getI64Type(), 32));
  return arith::OrIOp::create(b, bitsOf(s.lhs()), high);
}

Value emitBitcast(Builder &b, const Scalars &s) {
  Type type = cpu::getComputeType(cpu::getElement(s.op->getResult(0)));
  return type == s.type() ? s.lhs() : arith::BitcastOp::create(b, type, s.lhs());
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

Value emitLogistic(Builder &b, const Scalars &s) {
  Value one = constant(b, s.type(), 1.0);
  Value power = math::ExpOp::create(b, arith::NegFOp::create(b, s.lhs()));
  return arith::DivFOp::create(b, one, arith::AddFOp::create(b, one, power));
}

/// Horner's rule, highest coefficient first.
Value emitPolynomial(Builder &b, Value x, ArrayRef<double> coefficients) {
  Value sum = constant(b, x.getType(), coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = math::FmaOp::create(b, sum, x, constant(b, x.getType(), coefficient));
  return sum;
}

/// M. Giles, "Approximating the erfinv function": polynomials in w = -log(1 - x²) near zero and in sqrt(w) further out.
Value emitErfInv(Builder &b, const Scalars &s) {
  Value x = s.lhs(), one = constant(b, s.type(), 1.0);
  Value w =
      arith::NegFOp::create(b, math::Log1pOp::create(b, arith::NegFOp::create(b, arith::MulFOp::create(b, x, x))));
  Value root = math::SqrtOp::create(b, w);
  auto shifted = [&](Value v, double by) -> Value { return arith::SubFOp::create(b, v, constant(b, s.type(), by)); };
  auto isBelow = [&](double bound) { return compare(b, arith::CmpFPredicate::OLT, w, constant(b, s.type(), bound)); };
  Value p;
  if (s.type().isF64()) {
    Value center = emitPolynomial(
        b, shifted(w, 3.125),
        {-3.6444120640178196996e-21, -1.685059138182016589e-19,  1.2858480715256400167e-18,  1.115787767802518096e-17,
         -1.333171662854620906e-16,  2.0972767875968561637e-17,  6.6376381343583238325e-15,  -4.0545662729752068639e-14,
         -8.1519341976054721522e-14, 2.6335093153082322977e-12,  -1.2975133253453532498e-11, -5.4154120542946279317e-11,
         1.051212273321532285e-09,   -4.1126339803469836976e-09, -2.9070369957882005086e-08, 4.2347877827932403518e-07,
         -1.3654692000834678645e-06, -1.3882523362786468719e-05, 0.0001867342080340571352,   -0.00074070253416626697512,
         -0.0060336708714301490533,  0.24015818242558961693,     1.6536545626831027356});
    Value middle = emitPolynomial(
        b, shifted(root, 3.25),
        {2.2137376921775787049e-09, 9.0756561938885390979e-08, -2.7517406297064545428e-07, 1.8239629214389227755e-08,
         1.5027403968909827627e-06, -4.013867526981545969e-06, 2.9234449089955446044e-06, 1.2475304481671778723e-05,
         -4.7318229009055733981e-05, 6.8284851459573175448e-05, 2.4031110387097893999e-05, -0.0003550375203628474796,
         0.00095328937973738049703, -0.0016882755560235047313, 0.0024914420961078508066, -0.0037512085075692412107,
         0.005370914553590063617, 1.0052589676941592334, 3.0838856104922207635});
    Value tail = emitPolynomial(b, shifted(root, 5.0),
                                {-2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09,
                                 -3.7894654401267369937e-09, 7.6157012080783393804e-09, -1.4960026627149240478e-08,
                                 2.9147953450901080826e-08, -6.7711997758452339498e-08, 2.2900482228026654717e-07,
                                 -9.9298272942317002539e-07, 4.5260625972231537039e-06, -1.9681778105531670567e-05,
                                 7.5995277030017761139e-05, -0.00021503011930044477347, -0.00013871931833623122026,
                                 1.0103004648645343977, 4.8499064014085844221});
    p = select(b, isBelow(6.25), center, select(b, isBelow(16.0), middle, tail));
  } else {
    Value center = emitPolynomial(b, shifted(w, 2.5),
                                  {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                   -0.00125372503, -0.00417768164, 0.246640727, 1.50140941});
    Value tail = emitPolynomial(b, shifted(root, 3.0),
                                {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                                 -0.0076224613, 0.00943887047, 1.00167406, 2.83297682});
    p = select(b, isBelow(5.0), center, tail);
  }
  // At the ends of the domain w is infinite, and the polynomials are not.
  auto type = cast<FloatType>(s.type());
  Value infinity = arith::ConstantOp::create(b, FloatAttr::get(type, APFloat::getInf(type.getFloatSemantics())));
  Value isEnd = compare(b, arith::CmpFPredicate::OEQ, math::AbsFOp::create(b, x), one);
  return arith::MulFOp::create(b, x, select(b, isEnd, infinity, p));
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

struct ScalarEmitter {
  Value (*emit)(Builder &, const Scalars &);
  /// f16 and bf16 operands are computed in f32.
  bool widens;
};

const ScalarEmitter *findEmitter(Operation *op) {
  static const llvm::StringMap<ScalarEmitter> table = {
      // Exact in the operand's own width, or not on floats.
      {"stablehlo.abs", {emitAbs, false}},
      {"stablehlo.and", {emitBinary<arith::AndIOp>, false}},
      {"stablehlo.bitcast_convert", {emitBitcast, false}},
      {"stablehlo.complex", {emitComplex, false}},
      {"stablehlo.convert", {emitConvert, false}},
      {"stablehlo.count_leading_zeros", {emitUnary<math::CountLeadingZerosOp>, false}},
      {"stablehlo.imag", {emitImag, false}},
      {"stablehlo.negate", {emitNegate, false}},
      {"stablehlo.not", {emitNot, false}},
      {"stablehlo.or", {emitBinary<arith::OrIOp>, false}},
      {"stablehlo.popcnt", {emitUnary<math::CtPopOp>, false}},
      {"stablehlo.real", {emitReal, false}},
      {"stablehlo.reduce_precision", {emitReducePrecision, false}},
      {"stablehlo.select", {emitSelect, false}},
      {"stablehlo.shift_left", {emitShiftToZero<arith::ShLIOp>, false}},
      {"stablehlo.shift_right_arithmetic", {emitShiftRightArithmetic, false}},
      {"stablehlo.shift_right_logical", {emitShiftToZero<arith::ShRUIOp>, false}},
      {"stablehlo.xor", {emitBinary<arith::XOrIOp>, false}},
      // Rounded.
      {"stablehlo.add", {emitAdd, true}},
      {"stablehlo.atan2", {emitBinary<math::Atan2Op>, true}},
      {"stablehlo.cbrt", {emitUnary<math::CbrtOp>, true}},
      {"stablehlo.ceil", {emitUnary<math::CeilOp>, true}},
      {"stablehlo.clamp", {emitClamp, true}},
      {"stablehlo.compare", {emitCompare, true}},
      {"stablehlo.cosine", {emitUnary<math::CosOp>, true}},
      {"stablehlo.divide", {emitDivide, true}},
      {"stablehlo.exponential", {emitUnary<math::ExpOp>, true}},
      {"stablehlo.exponential_minus_one", {emitUnary<math::ExpM1Op>, true}},
      {"stablehlo.floor", {emitUnary<math::FloorOp>, true}},
      {"stablehlo.is_finite", {emitIsFinite, true}},
      {"stablehlo.log", {emitUnary<math::LogOp>, true}},
      {"stablehlo.log_plus_one", {emitUnary<math::Log1pOp>, true}},
      {"stablehlo.logistic", {emitLogistic, true}},
      {"stablehlo.maximum", {emitMaximum, true}},
      {"stablehlo.minimum", {emitMinimum, true}},
      {"stablehlo.multiply", {emitMultiply, true}},
      {"stablehlo.power", {emitPower, true}},
      {"stablehlo.remainder", {emitRemainder, true}},
      {"stablehlo.round_nearest_afz", {emitUnary<math::RoundOp>, true}},
      {"stablehlo.round_nearest_even", {emitUnary<math::RoundEvenOp>, true}},
      {"stablehlo.rsqrt", {emitUnary<math::RsqrtOp>, true}},
      {"stablehlo.sign", {emitSign, true}},
      {"stablehlo.sine", {emitUnary<math::SinOp>, true}},
      {"stablehlo.sqrt", {emitUnary<math::SqrtOp>, true}},
      {"stablehlo.subtract", {emitSubtract, true}},
      {"stablehlo.tan", {emitUnary<math::TanOp>, true}},
      {"stablehlo.tanh", {emitUnary<math::TanhOp>, true}},
      {"chlo.acos", {emitUnary<math::AcosOp>, true}},
      {"chlo.acosh", {emitUnary<math::AcoshOp>, true}},
      {"chlo.asin", {emitUnary<math::AsinOp>, true}},
      {"chlo.asinh", {emitUnary<math::AsinhOp>, true}},
      {"chlo.atan", {emitUnary<math::AtanOp>, true}},
      {"chlo.atanh", {emitUnary<math::AtanhOp>, true}},
      {"chlo.cosh", {emitUnary<math::CoshOp>, true}},
      {"chlo.erf", {emitUnary<math::ErfOp>, true}},
      {"chlo.erf_inv", {emitErfInv, true}},
      {"chlo.erfc", {emitUnary<math::ErfcOp>, true}},
      {"chlo.sinh", {emitUnary<math::SinhOp>, true}},
      {"chlo.square", {emitSquare, true}},
      {"chlo.tan", {emitUnary<math::TanOp>, true}},
  };
  auto found = table.find(op->getName().getStringRef());
  return found == table.end() ? nullptr : &found->second;
}

bool isNarrowFloat(Type type) { return isa<Float16Type, BFloat16Type>(type); }

} // namespace

bool cpu::isScalarOp(Operation *op) {
  if (auto cast = dyn_cast<stablehlo::BitcastConvertOp>(op))
    return cast.getOperand().getType().getShape() == cast.getResult().getType().getShape();
  // Pairs of f64 do not fit into a scalar.
  auto isWidePair = [](Type type) {
    auto complex = dyn_cast<ComplexType>(getElement(type));
    return complex && complex.getElementType().isF64();
  };
  return findEmitter(op) && llvm::none_of(op->getOperandTypes(), isWidePair) &&
         llvm::none_of(op->getResultTypes(), isWidePair);
}

Value cpu::emitScalarOp(ImplicitLocOpBuilder &b, Operation *op, ValueRange operands) {
  const ScalarEmitter &emitter = *findEmitter(op);
  Type element = getElement(op->getOperand(0)), resultElement = getElement(op->getResult(0));
  bool movesBits = isa<stablehlo::BitcastConvertOp, stablehlo::ConvertOp, stablehlo::SelectOp>(op);
  auto isByteFloatValue = [](Value value) { return isByteFloat(getElement(value)); };
  if (!movesBits && llvm::any_of(op->getOperands(), isByteFloatValue)) {
    SmallVector<Value> wide(operands);
    for (auto [value, original] : llvm::zip_equal(wide, op->getOperands()))
      if (isByteFloatValue(original))
        value = decodeByteFloat(b, value, cast<FloatType>(getElement(original)));
    Value result = emitter.emit(b, {op, element, wide});
    return isByteFloat(resultElement) ? encodeByteFloat(b, result, cast<FloatType>(resultElement)) : result;
  }
  if (!emitter.widens || llvm::none_of(operands.getTypes(), isNarrowFloat))
    return emitter.emit(b, {op, element, operands});

  // A total order is one of bits: comparing in f32 keeps it, since widening keeps the order and the sign of a NaN.
  SmallVector<Value> wide;
  for (Value operand : operands)
    wide.push_back(isNarrowFloat(operand.getType()) ? Value(arith::ExtFOp::create(b, b.getF32Type(), operand))
                                                    : operand);
  Value result = emitter.emit(b, {op, element, wide});
  Type type = getComputeType(resultElement);
  return result.getType() == type ? result : Value(arith::TruncFOp::create(b, type, result));
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

static bool isScalarShapeOp(Operation &op) {
  return isa<stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp, stablehlo::TransposeOp>(op);
}

static bool is0DimensionalTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0;
}

Operation *cpu::findNonScalarOp(Block &block) {
  for (Operation &op : block) {
    if (isa<stablehlo::ReturnOp>(op))
      continue;
    bool is0Dimensional = llvm::all_of(op.getOperandTypes(), is0DimensionalTensor) &&
                          llvm::all_of(op.getResultTypes(), is0DimensionalTensor);
    if (!is0Dimensional || !(isScalarOp(&op) || isScalarShapeOp(op) || isa<stablehlo::ConstantOp>(op)))
      return &op;
  }
  return nullptr;
}

SmallVector<Value> cpu::emitScalarBlock(ImplicitLocOpBuilder &b, Block &block, ValueRange arguments,
                                        function_ref<Value(Value)> captured) {
  DenseMap<Value, Value> scalars;
  for (auto [from, to] : llvm::zip_equal(block.getArguments(), arguments))
    scalars[from] = to;
  auto lookUp = [&](Value value) -> Value {
    if (Value known = scalars.lookup(value))
      return known;
    return scalars[value] = captured(value);
  };
  for (Operation &op : block.without_terminator()) {
    SmallVector<Value> operands = llvm::map_to_vector(op.getOperands(), lookUp);
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
      auto value = cast<DenseElementsAttr>(constant.getValue());
      Type type = getComputeType(value.getElementType());
      TypedAttr element =
          isa<FloatType>(type) ? TypedAttr(FloatAttr::get(type, *value.value_begin<APFloat>()))
          : isByteFloat(value.getElementType())
              ? TypedAttr(IntegerAttr::get(type, value.value_begin<APFloat>().operator*().bitcastToAPInt()))
              : TypedAttr(IntegerAttr::get(type, *value.value_begin<APInt>()));
      scalars[op.getResult(0)] = arith::ConstantOp::create(b, element);
      continue;
    }
    scalars[op.getResult(0)] = isScalarShapeOp(op) ? operands.front() : emitScalarOp(b, &op, operands);
  }
  return llvm::map_to_vector(block.getTerminator()->getOperands(), lookUp);
}
