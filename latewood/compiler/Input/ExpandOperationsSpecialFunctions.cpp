// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Special functions of CHLO as arithmetic: the gamma function's family, Bessel I1, and predicates on floats.
//
// Floats narrower than f32 are computed in f32 and rounded once. The formulas are the textbook's; where they are
// undefined (poles, the outside of a domain) the values are those that XLA gives.

#include "latewood/compiler/Dialect/CHLO/CHLO.h"
#include "latewood/compiler/Input/ExpandOperations.h"
#include <cmath>
#include <numbers>

using namespace mlir;

namespace latewood::input {

using Results = FailureOr<SmallVector<Value>>;
using Builder = ImplicitLocOpBuilder;

namespace {

constexpr double pi = std::numbers::pi;

//===----------------------------------------------------------------------===//
// Gamma
//===----------------------------------------------------------------------===//

// C. Lanczos' series for the gamma function, with g = 7: gamma(z + 1) = sqrt(2 pi) (z + g + 1/2)^(z + 1/2) e^-(z + g +
// 1/2) A(z), where A(z) = c0 + c1 / (z + 1) + c2 / (z + 2) + ...
constexpr double lanczosG = 7;
constexpr double lanczosFirst = 0.99999999999980993227684700473478;
constexpr double lanczosRest[] = {676.520368121885098567009190444019, -1259.13921672240287047156078755283,
                                  771.3234287776530788486528258894,   -176.61502916214059906584551354,
                                  12.507343278686904814458936853,     -0.13857109526572011689554707,
                                  9.984369578019570859563e-6,         1.50563273514931155834e-7};

// log |gamma(x)|. Left of 1/2 by reflection: gamma(x) gamma(1 - x) = pi / sin(pi x).
Tensor lgamma(const Tensor &x) {
  Tensor isReflected = x < 0.5;
  Tensor z = select(isReflected, -x, x - 1.0);
  Tensor series = x.like(lanczosFirst);
  for (auto [i, coefficient] : llvm::enumerate(lanczosRest))
    series = series + coefficient / (z + static_cast<double>(i + 1));
  // log1p keeps the digits that log(z + g + 1/2) loses near z = 0.
  Tensor t = z + (lanczosG + 0.5);
  Tensor logT = std::log(lanczosG + 0.5) + log1p(z / (lanczosG + 0.5));
  Tensor logGamma = (z + 0.5 - t / logT) * logT + std::log(std::sqrt(2 * pi)) + log(series);
  // |sin(pi x)| by the distance to the nearest integer, where pi x has no rounding error to speak of.
  Tensor magnitude = abs(x);
  Tensor fraction = magnitude - floor(magnitude);
  Tensor distance = select(fraction > 0.5, 1.0 - fraction, fraction);
  Tensor logSine = log(sin(pi * distance));
  Tensor reflected = select(isFinite(logSine), std::log(pi) - logSine - logGamma, -logSine);
  Tensor result = select(isReflected, reflected, logGamma);
  return select(magnitude == x.likeInfinity(), x.likeInfinity(), result);
}

// The derivative of lgamma. Reflection: digamma(x) = digamma(1 - x) - pi / tan(pi x).
Tensor digamma(const Tensor &x) {
  Tensor isReflected = x < 0.5;
  Tensor z = select(isReflected, -x, x - 1.0);
  Tensor series = x.like(lanczosFirst), derivative = x.like(0.0);
  for (auto [i, coefficient] : llvm::enumerate(lanczosRest)) {
    Tensor denominator = z + static_cast<double>(i + 1);
    derivative = derivative - coefficient / (denominator * denominator);
    series = series + coefficient / denominator;
  }
  Tensor t = z + (lanczosG + 0.5);
  Tensor logT = std::log(lanczosG + 0.5) + log1p(z / (lanczosG + 0.5));
  Tensor y = logT + derivative / series - lanczosG / t;
  // tan has the period 1 in x.
  Tensor reduced = x + abs(floor(x + 0.5));
  Tensor reflected = y - pi * cos(pi * reduced) / sin(pi * reduced);
  Tensor isPole = (x <= 0.0) & (x == floor(x));
  return select(isPole, x.likeNaN(), select(isReflected, reflected, y));
}

// Hurwitz' zeta function, the sum of (q + k)^-x over k >= 0: ten terms, and the rest by the Euler-Maclaurin formula.
Tensor zeta(const Tensor &x, const Tensor &q) {
  // B(2j) / (2j)!, B the Bernoulli numbers.
  constexpr double bernoulli[] = {0.083333333333333333,    -0.0013888888888888889,  3.3068783068783069e-5,
                                  -8.2671957671957672e-7,  2.0876756987868099e-8,   -5.2841901386874932e-10,
                                  1.3382536530684679e-11,  -3.3896802963225829e-13, 8.5860620562778446e-15,
                                  -2.1748686985580619e-16, 5.5090028283602295e-18,  -1.3954464685812523e-19};
  Tensor a = q, power = pow(q, -x), total = power;
  for (int term = 1; term < 10; ++term) {
    a = a + 1.0;
    power = pow(a, -x);
    total = total + power;
  }
  Tensor inverseSquare = 1.0 / (a * a);
  Tensor factor = x / a * power, corrections = x.like(0.0);
  for (auto [j, coefficient] : llvm::enumerate(bernoulli)) {
    corrections = corrections + coefficient * factor;
    double k = 2.0 * static_cast<double>(j);
    factor = factor * (x + (k + 1)) * (x + (k + 2)) * inverseSquare;
  }
  Tensor result = total + a * power / (x - 1.0) - 0.5 * power + corrections;
  // Where the terms have become negligible, so has the rest; its formula may overflow there.
  result = select(abs(power) < abs(total) * x.likeEpsilon(), total, result);
  Tensor isPole = (q <= 0.0) & (q == floor(q));
  Tensor isEven = (x == floor(x)) & (remainder(x, x.like(2.0)) == 0.0);
  Tensor isOutside = (x < 1.0) | ((q <= 0.0) & (x != floor(x)));
  result = select(isPole, select(isEven, x.likeInfinity(), x.likeNaN()), result);
  result = select(isOutside, x.likeNaN(), result);
  return select(x == 1.0, x.likeInfinity(), result);
}

// (-1)^(n + 1) n! zeta(n + 1, x)
Tensor polygamma(const Tensor &n, const Tensor &x) {
  Tensor order = n + 1.0;
  Tensor signOfTerm = 2.0 * remainder(n, n.like(2.0)) - 1.0;
  Tensor result = select(n == 0.0, digamma(x), signOfTerm * exp(lgamma(order)) * zeta(order, x));
  return select((n != floor(n)) | (n < 0.0), x.likeNaN(), result);
}

//===----------------------------------------------------------------------===//
// Bessel
//===----------------------------------------------------------------------===//

// Clenshaw's rule for a series of Chebyshev polynomials on [-1, 1]; the first coefficient counts half.
Tensor chebyshev(const Tensor &t, ArrayRef<double> coefficients) {
  Tensor twice = 2.0 * t, last = t.like(0.0), beforeLast = last;
  for (double coefficient : llvm::reverse(coefficients.drop_front())) {
    Tensor next = twice * last - beforeLast + coefficient;
    beforeLast = last;
    last = next;
  }
  return t * last - beforeLast + 0.5 * coefficients.front();
}

// exp(-|x|) I1(x): x times a series in |x| up to 8, then a series in 1 / |x| over the root of |x|.
Tensor besselI1e(const Tensor &x) {
  // Computed from the definition with 60 digits, at the nodes of a polynomial of degree 80.
  constexpr double small[] = {
      0.25258718644363365,    -0.17641651835783406,    0.1026436586898471,     -0.052945981208094991,
      0.024726449030626517,   -0.010564084894626198,   0.0041564229443128882,  -0.0015135724506312531,
      0.00051228595616857577, -0.00016176081582589675, 4.7815651075500542e-5,  -1.3273163656039436e-5,
      3.4702513081376785e-6,  -8.5687202646954547e-7,  2.0032947535521353e-7,  -4.4450591287963281e-8,
      9.3815373864957718e-9,  -1.8872497517228293e-9,  3.625590281552117e-10,  -6.6634897235020277e-11,
      1.1736186298890902e-11, -1.9839743977649437e-12, 3.2237933659455747e-13, -5.0421855047279117e-14,
      7.6006842947354069e-15, -1.1055969477353863e-15, 1.5536319577362005e-16, -2.1114212143581661e-17};
  constexpr double large[] = {
      0.77857623501828012,     -0.0097610974913614684,  -0.00011058893876262372, -3.8825648088776904e-6,
      -2.5122362378702089e-7,  -2.6314688468895195e-8,  -3.835380385964237e-9,   -5.5897434621965838e-10,
      -1.8974958123505412e-11, 3.2526035830154882e-11,  1.4125807436613781e-11,  2.0356285441470895e-12,
      -7.1985517762459085e-13, -4.0835511110921973e-13, -2.1015418427726643e-14, 4.2724400167119514e-14,
      1.0420276984128803e-14,  -3.8144030724370078e-15, -1.8803547755107824e-15, 3.3082023109209283e-16,
      2.9626289976459501e-16,  -3.209525921993424e-17,  -4.6503053684893583e-17};
  // Fewer terms reach the precision of f32.
  bool isDouble = x.element().isF64();
  ArrayRef<double> smallTerms = ArrayRef(small).take_front(isDouble ? std::size(small) : 18);
  ArrayRef<double> largeTerms = ArrayRef(large).take_front(isDouble ? std::size(large) : 7);
  Tensor magnitude = abs(x);
  Tensor near = magnitude * chebyshev(magnitude / 4.0 - 1.0, smallTerms);
  Tensor far = chebyshev(16.0 / magnitude - 1.0, largeTerms) / sqrt(magnitude);
  return sign(x) * select(magnitude <= 8.0, near, far);
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

// Floats of one sign are ordered as their bits are: the next one has the next bits.
Tensor nextAfter(const Tensor &x, const Tensor &y) {
  Type bits = IntegerType::get(x.builder().getContext(), x.width());
  uint64_t signMask = uint64_t(1) << (x.width() - 1);
  Tensor xBits = bitcast(x, bits), yBits = bitcast(y, bits);
  Tensor mask = xBits.likeInteger(signMask), one = xBits.likeInteger(1);
  Tensor xMagnitude = xBits & !mask, yMagnitude = yBits & !mask;
  Tensor xSign = xBits & mask, ySign = yBits & mask;
  Tensor goesToZero = (xSign != ySign) | (xMagnitude > yMagnitude);
  Tensor next = select(goesToZero, xBits - one, xBits + one);
  next = select(xMagnitude == 0.0, ySign | one, next);
  Tensor result = select(x == y, y, bitcast(next, x.element()));
  return select(isNaN(x) | isNaN(y), x.likeNaN(), result);
}

// Floats of a byte or less have no integers of their width. In f64 they are normal numbers, and the distance to the
// next one is the power of two below a number, or the least such power, times that of the last bit. Below a power of
// two it is half of that.
Tensor nextNarrow(const Tensor &narrowX, const Tensor &narrowY) {
  Builder &b = narrowX.builder();
  Type f64 = b.getF64Type(), i64 = b.getI64Type();
  const llvm::fltSemantics &semantics = cast<FloatType>(narrowX.element()).getFloatSemantics();
  auto power = [](int exponent) { return std::ldexp(1.0, exponent); };
  double least = power(APFloat::semanticsMinExponent(semantics));
  double lastBit = power(1 - static_cast<int>(APFloat::semanticsPrecision(semantics)));
  APFloat largest = APFloat::getLargest(semantics);
  bool losesInfo;
  largest.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);

  Tensor x = convert(narrowX, f64), y = convert(narrowY, f64), magnitude = abs(x);
  Tensor bits = bitcast(magnitude, i64);
  Tensor below = bitcast(bits & bits.likeInteger(uint64_t(0x7FF) << 52), f64);
  Tensor unit = maximum(below, x.like(least));
  Tensor isBelowZero = x < 0.0;
  Tensor goesToZero = select(isBelowZero, x < y, y < x) & (x != 0.0);
  Tensor halves = goesToZero & (magnitude == unit) & (unit > least);
  Tensor step = unit * lastBit * select(halves, x.like(0.5), x.like(1.0));
  Tensor next = select(goesToZero, magnitude - step, magnitude + step);
  next = select(magnitude == x.likeInfinity(), x.like(largest.convertToDouble()), next);
  Tensor isNegative = select(x == 0.0, y < 0.0, isBelowZero);
  Tensor result = select(x == y, y, select(isNegative, -next, next));
  return convert(select(isNaN(x) | isNaN(y), x + y, result), narrowX.element());
}

// The high word of x * y from products of half words: with x = a + b 2^h and y = c + d 2^h, it is b d and the carries
// out of a c + (a d + b c) 2^h.
Tensor multiplyHigh(const Tensor &x, const Tensor &y) {
  Builder &b = x.builder();
  unsigned width = x.width();
  bool isUnsigned = x.element().isUnsignedInteger();
  if (width < 64) {
    // A type of twice as many bits is at hand.
    unsigned bits = 2 * std::max(8u, width);
    Type wide = isUnsigned ? b.getIntegerType(bits, /*isSigned=*/false) : b.getIntegerType(bits);
    Tensor product = convert(x, wide) * convert(y, wide);
    if (isUnsigned)
      return convert(product >> width, x.element());
    Tensor high(b, stablehlo::ShiftRightArithmeticOp::create(b, product.type(), product, product.likeInteger(width)));
    return convert(high, x.element());
  }
  Type word = b.getIntegerType(64, /*isSigned=*/false);
  Tensor u = bitcast(x, word), v = bitcast(y, word), mask = u.likeInteger(0xFFFFFFFF);
  Tensor uLow = u & mask, uHigh = u >> 32, vLow = v & mask, vHigh = v >> 32;
  Tensor middle = uHigh * vLow + ((uLow * vLow) >> 32);
  Tensor carry = (uLow * vHigh + (middle & mask)) >> 32;
  Tensor high = uHigh * vHigh + (middle >> 32) + carry;
  if (isUnsigned)
    return high;
  // A negative number is its bits less 2^64.
  Tensor zero = u.like(0.0);
  high = high - select(x < 0.0, v, zero) - select(y < 0.0, u, zero);
  return bitcast(high, x.element());
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

template <Tensor (*function)(const Tensor &)>
Results expandUnary(Builder &b, Operation *op) {
  Tensor x(b, op->getOperand(0));
  return SmallVector<Value>{convert(function(convert(x, getComputeElement(x.element()))), x.element())};
}

template <Tensor (*function)(const Tensor &, const Tensor &)>
Results expandBinary(Builder &b, Operation *op) {
  Tensor x(b, op->getOperand(0)), y(b, op->getOperand(1));
  Type element = getComputeElement(x.element());
  return SmallVector<Value>{convert(function(convert(x, element), convert(y, element)), x.element())};
}

Results expandNextAfter(Builder &b, Operation *op) {
  Tensor x(b, op->getOperand(0)), y(b, op->getOperand(1));
  return SmallVector<Value>{x.width() > 8 ? nextAfter(x, y) : nextNarrow(x, y)};
}

Results expandMulhi(Builder &b, Operation *op) {
  return SmallVector<Value>{multiplyHigh(Tensor(b, op->getOperand(0)), Tensor(b, op->getOperand(1)))};
}

Results expandConjugate(Builder &b, Operation *op) {
  Tensor x(b, op->getOperand(0));
  auto complex = dyn_cast<ComplexType>(x.element());
  if (!complex)
    return SmallVector<Value>{x};
  Type part = x.type().clone(complex.getElementType());
  Tensor real(b, stablehlo::RealOp::create(b, part, x)), imaginary(b, stablehlo::ImagOp::create(b, part, x));
  return SmallVector<Value>{stablehlo::ComplexOp::create(b, x.type(), real, -imaginary)};
}

Results expandIsInfinite(Builder &b, Operation *op) {
  Tensor x(b, op->getOperand(0));
  Tensor wide = convert(x, getComputeElement(x.element()));
  Tensor infinity = wide.likeInfinity();
  if (isa<chlo::IsPosInfOp>(op))
    return SmallVector<Value>{wide == infinity};
  if (isa<chlo::IsNegInfOp>(op))
    return SmallVector<Value>{wide == -infinity};
  return SmallVector<Value>{abs(wide) == infinity};
}

Results expandConstant(Builder &b, Operation *op) {
  auto constant = cast<chlo::ConstantOp>(op);
  return SmallVector<Value>{stablehlo::ConstantOp::create(b, op->getResult(0).getType(), constant.getValue())};
}

} // namespace

void addSpecialFunctionExpansions(ExpansionTable &table) {
  table.add<chlo::BesselI1eOp>(expandUnary<besselI1e>, Dynamic::All);
  table.add<chlo::ConjOp>(expandConjugate, Dynamic::All);
  table.add<chlo::ConstantOp>(expandConstant, Dynamic::All);
  table.add<chlo::DigammaOp>(expandUnary<digamma>, Dynamic::All);
  table.add<chlo::IsInfOp>(expandIsInfinite, Dynamic::All);
  table.add<chlo::IsNegInfOp>(expandIsInfinite, Dynamic::All);
  table.add<chlo::IsPosInfOp>(expandIsInfinite, Dynamic::All);
  table.add<chlo::LgammaOp>(expandUnary<lgamma>, Dynamic::All);
  table.add<chlo::MulhiOp>(expandMulhi, Dynamic::All);
  table.add<chlo::NextAfterOp>(expandNextAfter, Dynamic::All);
  table.add<chlo::PolygammaOp>(expandBinary<polygamma>, Dynamic::All);
  table.add<chlo::ZetaOp>(expandBinary<zeta>, Dynamic::All);
}

} // namespace latewood::input
