// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of complex numbers in real arithmetic.
//
// Sums and products are formulas on the parts. All other functions are computed in f64, also for parts in f32: there
// squares of operands neither overflow nor vanish, and what cancels leaves enough digits, so that the result is right
// to the last place. For parts in f64 (`wide` is false) operands are scaled by powers of two, and sums of squares that
// may cancel are made in twice the precision, from error-free sums and products. The inverse trigonometric functions
// follow Hull, Fairgrieve and Tang, "Implementing the complex arcsine and arccosine functions using exception handling"
// (1997).
//
// There are no branches: each case is computed for all elements, and selected.

#include "latewood/compiler/Dialect/CHLO/CHLO.h"
#include "latewood/compiler/Input/SplitComplex.h"
#include "llvm/ADT/StringMap.h"
#include <numbers>

using namespace mlir;

namespace latewood::input {
namespace {

using stablehlo::ComparisonDirection;

//===----------------------------------------------------------------------===//
// Real functions
//===----------------------------------------------------------------------===//

template <typename OpTy>
Tensor unary(const Tensor &x) {
  return Tensor(x.builder(), OpTy::create(x.builder(), x.type(), x));
}
Tensor cbrt(const Tensor &x) { return unary<stablehlo::CbrtOp>(x); }
Tensor cosh(const Tensor &x) { return unary<chlo::CoshOp>(x); }
Tensor expm1(const Tensor &x) { return unary<stablehlo::Expm1Op>(x); }
Tensor sinh(const Tensor &x) { return unary<chlo::SinhOp>(x); }
Tensor tan(const Tensor &x) { return unary<stablehlo::TanOp>(x); }
Tensor tanh(const Tensor &x) { return unary<stablehlo::TanhOp>(x); }
Tensor atan2(const Tensor &y, const Tensor &x) {
  return Tensor(x.builder(), stablehlo::Atan2Op::create(x.builder(), x.type(), y, x));
}

Tensor isInfinite(const Tensor &x) { return abs(x) == x.likeInfinity(); }
Tensor isInfinite(const Complex &z) { return isInfinite(z.re) | isInfinite(z.im); }

/// `magnitude`, whose sign is not set, with the sign of `x`.
Tensor withSign(const Tensor &magnitude, const Tensor &x) {
  Type bits = x.builder().getIntegerType(x.width());
  Tensor signBits = bitcast(x, bits);
  Tensor sign = signBits & signBits.likeInteger(uint64_t(1) << (x.width() - 1));
  return bitcast(bitcast(magnitude, bits) | sign, x.element());
}

/// A sum and its rounding error.
struct Exact {
  Tensor value, error;
};

Exact exactSum(const Tensor &x, const Tensor &y) {
  Tensor sum = x + y, y1 = sum - x;
  return {sum, (x - (sum - y1)) + (y - y1)};
}

Exact exactSquare(const Tensor &x) {
  // Halves of 26 bits, whose products are exact.
  Tensor c = x * 134217729.0, high = c - (c - x), low = x - high;
  Tensor square = x * x;
  return {square, ((high * high - square) + 2.0 * (high * low)) + low * low};
}

/// `c + x² + y²` of f64, as if computed exactly and rounded once.
Tensor addSquares(const Tensor &c, const Complex &z, bool wide) {
  if (wide) {
    // 24 bits have exact squares.
    Exact first = exactSum(c, z.re * z.re), second = exactSum(first.value, z.im * z.im);
    return second.value + (second.error + first.error);
  }
  Exact x = exactSquare(z.re), y = exactSquare(z.im);
  Exact first = exactSum(c, x.value), second = exactSum(first.value, y.value);
  return second.value + (second.error + (first.error + (x.error + y.error)));
}

/// A power of two that brings numbers around `size` where their squares are normal, and its inverse.
struct Scale {
  explicit Scale(const Tensor &size) {
    Tensor isLarge = size > 0x1p500, isSmall = size < 0x1p-400, one = size.like(1.0);
    factor = select(isLarge, size.like(0x1p-540), select(isSmall, size.like(0x1p700), one));
    inverse = select(isLarge, size.like(0x1p540), select(isSmall, size.like(0x1p-700), one));
  }
  Tensor factor, inverse;
};

Tensor hypot(const Complex &z, bool wide) {
  Tensor result;
  if (wide) {
    result = sqrt(z.re * z.re + z.im * z.im);
  } else {
    Scale scale(maximum(abs(z.re), abs(z.im)));
    Tensor x = z.re * scale.factor, y = z.im * scale.factor;
    result = sqrt(x * x + y * y) * scale.inverse;
  }
  return select(isInfinite(z), result.likeInfinity(), result);
}

/// log |z| for a |z| that is not near 1.
Tensor logAbsFarFromOne(const Complex &z, bool wide) {
  Tensor x = abs(z.re), y = abs(z.im);
  Tensor result = 0.5 * log(x * x + y * y);
  if (!wide) {
    Tensor larger = maximum(x, y), smaller = minimum(x, y);
    Tensor ratio = select((larger == 0.0) | isInfinite(larger), larger.like(0.0), smaller / larger);
    Tensor scaled = log(larger) + 0.5 * log1p(ratio * ratio);
    result = select((larger > 0x1p500) | (larger < 0x1p-400), scaled, result);
  }
  return select(isInfinite(z), result.likeInfinity(), result);
}

Tensor logAbs(const Complex &z, bool wide) {
  Tensor square = z.re * z.re + z.im * z.im;
  Tensor near = 0.5 * log1p(addSquares(z.re.like(-1.0), z, wide));
  return select((square >= 0.5) & (square <= 3.0), near, logAbsFarFromOne(z, wide));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Complex operator+(const Complex &x, const Complex &y) { return {x.re + y.re, x.im + y.im}; }
Complex operator-(const Complex &x, const Complex &y) { return {x.re - y.re, x.im - y.im}; }
Complex operator-(const Complex &z) { return {-z.re, -z.im}; }
Complex operator*(const Complex &x, const Complex &y) { return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }
Complex select(const Tensor &condition, const Complex &yes, const Complex &no) {
  return {select(condition, yes.re, no.re), select(condition, yes.im, no.im)};
}
Complex conjugate(const Complex &z) { return {z.re, -z.im}; }
Complex square(const Complex &z) {
  // One factor is zero where the other may be too large for the type; equal infinities do not cancel.
  Tensor same = (abs(z.re) == abs(z.im)) & isFinite(z.re);
  return {select(same, z.re.like(0.0), (z.re - z.im) * (z.re + z.im)), 2.0 * (z.re * z.im)};
}

/// Signs of infinite parts, zeros of others.
Complex infiniteDirection(const Complex &z) {
  auto direction = [](const Tensor &x) { return withSign(select(isInfinite(x), x.like(1.0), x.like(0.0)), x); };
  return {direction(z.re), direction(z.im)};
}

Complex divide(const Complex &x, const Complex &y, bool wide) {
  Complex result;
  if (wide) {
    Tensor square = y.re * y.re + y.im * y.im;
    Complex product = x * conjugate(y);
    result = {product.re / square, product.im / square};
  } else {
    // R. Smith, "Algorithm 116: Complex division": by the larger part first.
    Tensor realIsLarger = abs(y.re) >= abs(y.im);
    Tensor larger = select(realIsLarger, y.re, y.im), smaller = select(realIsLarger, y.im, y.re);
    Tensor ratio = smaller / larger, denominator = larger + smaller * ratio;
    Tensor first = select(realIsLarger, x.re, x.im), second = select(realIsLarger, x.im, x.re);
    Tensor im = (second - first * ratio) / denominator;
    result = {(first + second * ratio) / denominator, select(realIsLarger, im, -im)};
  }
  Tensor zero = y.re.like(0.0), infinity = y.re.likeInfinity();
  Tensor isByZero = (y.re == zero) & (y.im == zero);
  Tensor pole = withSign(infinity, y.re);
  result = select(isByZero, {pole * x.re, pole * x.im}, result);
  Tensor xIsInfinite = isInfinite(x), yIsInfinite = isInfinite(y);
  Tensor xIsFinite = isFinite(x.re) & isFinite(x.im), yIsFinite = isFinite(y.re) & isFinite(y.im);
  Complex vanishing = x * conjugate(infiniteDirection(y)), growing = infiniteDirection(x) * conjugate(y);
  result = select(yIsInfinite & xIsFinite, {zero * vanishing.re, zero * vanishing.im}, result);
  return select(xIsInfinite & yIsFinite & !isByZero, {infinity * growing.re, infinity * growing.im}, result);
}

/// What the specification leaves open: the dividend less the divisor times their quotient, of which each part is
/// rounded toward zero.
Complex remainder(const Complex &x, const Complex &y, bool wide) {
  auto truncate = [](const Tensor &part) { return select(part < 0.0, -floor(-part), floor(part)); };
  Complex quotient = divide(x, y, wide);
  return x - Complex{truncate(quotient.re), truncate(quotient.im)} * y;
}

Complex sign(const Complex &z, bool wide) {
  Tensor size = hypot(z, wide);
  return select(size == 0.0, z, {z.re / size, z.im / size});
}

//===----------------------------------------------------------------------===//
// Roots, exponentials, logarithms
//===----------------------------------------------------------------------===//

Complex sqrt(const Complex &z, bool wide) {
  Tensor x = abs(z.re), y = abs(z.im);
  Tensor factor = x.like(1.0), inverseRoot = factor;
  if (!wide) {
    Tensor size = maximum(x, y);
    Tensor isLarge = size > 0x1p1000, isSmall = size < 0x1p-1000;
    factor = select(isLarge, x.like(0x1p-4), select(isSmall, x.like(0x1p108), factor));
    inverseRoot = select(isLarge, x.like(0x1p2), select(isSmall, x.like(0x1p-54), inverseRoot));
  }
  Complex scaled = {x * factor, y * factor};
  // The part that has no cancellation; the other follows from the product of both.
  Tensor root = sqrt(0.5 * (scaled.re + hypot(scaled, wide)));
  Tensor other = select(root == 0.0, root, scaled.im / (2.0 * root)) * inverseRoot;
  root = root * inverseRoot;
  Tensor isRight = z.re >= 0.0;
  Complex result = {select(isRight, root, other), withSign(select(isRight, other, root), z.im)};
  // An infinite imaginary part decides alone; an infinite real part leaves zeros.
  Tensor infinity = x.likeInfinity(), zero = x.like(0.0), imaginaryIsFinite = isFinite(z.im);
  result = select((z.re == infinity) & imaginaryIsFinite, {infinity, withSign(zero, z.im)}, result);
  result = select((z.re == -infinity) & imaginaryIsFinite, {zero, withSign(infinity, z.im)}, result);
  return select(y == infinity, {infinity, z.im}, result);
}

Complex rsqrt(const Complex &z, bool wide) {
  Complex root = sqrt(z, wide);
  Tensor size = hypot(z, wide), zero = size.like(0.0);
  Complex result = {root.re / size, -root.im / size};
  return select(isInfinite(size), {zero, withSign(zero, -z.im)}, result);
}

Complex exp(const Complex &z, bool wide) {
  Tensor cosine = cos(z.im), sine = sin(z.im), power = exp(z.re);
  Complex result = {power * cosine, power * sine};
  if (!wide) {
    // In two steps where the power alone is too large.
    Tensor half = exp(0.5 * z.re);
    result = select(power == power.likeInfinity(), {(half * cosine) * half, (half * sine) * half}, result);
  }
  result.im = select(z.im == 0.0, z.im, result.im);
  return result;
}

Complex expm1(const Complex &z, bool wide) {
  Tensor half = sin(0.5 * z.im);
  Tensor im = select(z.im == 0.0, z.im, exp(z.re) * sin(z.im));
  return {expm1(z.re) * cos(z.im) - 2.0 * (half * half), im};
}

Complex log(const Complex &z, bool wide) { return {logAbs(z, wide), atan2(z.im, z.re)}; }

Complex log1p(const Complex &z, bool wide) {
  Complex shifted = {1.0 + z.re, z.im};
  Tensor excess = addSquares(2.0 * z.re, z, wide);
  Tensor near = 0.5 * log1p(excess);
  Tensor re = select((excess > -0.5) & (excess < 1.0), near, logAbsFarFromOne(shifted, wide));
  return {re, atan2(z.im, shifted.re)};
}

Complex pow(const Complex &x, const Complex &y, bool wide) {
  Complex result = exp(y * log(x, wide), wide);
  Tensor zero = x.re.like(0.0), one = x.re.like(1.0);
  Tensor baseIsZero = (x.re == zero) & (x.im == zero), exponentIsZero = (y.re == zero) & (y.im == zero);
  result = select(baseIsZero & (y.re > zero), {zero, zero}, result);
  return select(exponentIsZero, {one, zero}, result);
}

Complex cbrt(const Complex &z, bool wide) {
  Tensor size = cbrt(hypot(z, wide)), angle = atan2(z.im, z.re) / 3.0;
  return {size * cos(angle), size * sin(angle)};
}

/// 1 / (1 + exp(-z)), or exp(z) / (1 + exp(z)), so that no exponential overflows.
Complex logistic(const Complex &z, bool wide) {
  Tensor one = z.re.like(1.0), zero = z.re.like(0.0), isRight = z.re >= 0.0;
  Complex power = exp(select(isRight, -z, z), wide);
  return divide(select(isRight, {one, zero}, power), {1.0 + power.re, power.im}, wide);
}

//===----------------------------------------------------------------------===//
// Trigonometric and hyperbolic functions
//===----------------------------------------------------------------------===//

/// x * y, where a zero x wins over an infinite y.
Tensor timesUnlessZero(const Tensor &x, const Tensor &y) { return select(x == 0.0, x, x * y); }

Complex sinh(const Complex &z, bool wide) {
  return {timesUnlessZero(sinh(z.re), cos(z.im)), timesUnlessZero(sin(z.im), cosh(z.re))};
}
Complex cosh(const Complex &z, bool wide) { return {cosh(z.re) * cos(z.im), timesUnlessZero(sin(z.im), sinh(z.re))}; }
Complex sin(const Complex &z, bool wide) {
  return {timesUnlessZero(sin(z.re), cosh(z.im)), timesUnlessZero(sinh(z.im), cos(z.re))};
}
Complex cos(const Complex &z, bool wide) { return {cos(z.re) * cosh(z.im), -timesUnlessZero(sin(z.re), sinh(z.im))}; }

/// With t = tan(y) and h = tanh(x): (h (1 + t²) + i t (1 - h²)) / (1 + t² h²).
Complex tanh(const Complex &z, bool wide) {
  Tensor t = tan(z.im), h = tanh(z.re), secant = 1.0 / cosh(z.re);
  Tensor tt = t * t, denominator = 1.0 + tt * (h * h);
  return {h * (1.0 + tt) / denominator, t * (secant * secant) / denominator};
}
Complex timesI(const Complex &z) { return {-z.im, z.re}; }
Complex timesMinusI(const Complex &z) { return {z.im, -z.re}; }
Complex tan(const Complex &z, bool wide) { return timesMinusI(tanh(timesI(z), wide)); }

/// What asin and its relatives are made of, for x, y >= 0: `|asin(x + iy)|` has the angle of the point (x, leg) as its
/// real part, and `height` as its imaginary part.
struct Arcsine {
  Tensor leg, height;
};

Arcsine arcsine(const Tensor &x, const Tensor &y, bool wide) {
  Tensor larger = maximum(x, y), smaller = minimum(x, y);
  Tensor isHuge = larger >= 0x1p509;
  Tensor xp1 = x + 1.0, xm1 = x - 1.0;
  Tensor r = hypot({xp1, y}, wide), s = hypot({xm1, y}, wide);
  Tensor a = 0.5 * (r + s), yy = y * y, halfYY = 0.5 * yy, halfSum = 0.5 * (a + x);
  Tensor rightOf = r + xp1, sum = s + xm1, difference = s - xm1;

  // The leg: the square root of a² - x², where neither factor is a difference of near numbers.
  Tensor inside = sqrt(halfSum * (yy / rightOf + difference));
  Tensor outside = y * sqrt(halfSum / rightOf + halfSum / sum);
  Tensor isInside = x <= 1.0;
  Tensor leg = select(isHuge, y, select(isInside, inside, outside));

  // The height: log(a + sqrt(a² - 1)), from a - 1.
  Tensor am1 =
      select(x >= 1.0, halfYY / rightOf + 0.5 * sum, select(a <= 1.5, halfYY / rightOf + halfYY / difference, a - 1.0));
  Tensor height = log1p(am1 + sqrt(am1 * (a + 1.0)));
  Tensor isFlat = (y < 0x1p-500) & (x < 1.0);
  height = select(isFlat, y / sqrt(-xm1 * xp1), height);
  Tensor ratio = select(isInfinite(larger), larger.like(0.0), smaller / larger);
  Tensor distant = std::numbers::ln2 + (log(larger) + 0.5 * log1p(ratio * ratio));
  return {leg, select(isHuge, distant, height)};
}

Complex asin(const Complex &z, bool wide) {
  Arcsine w = arcsine(abs(z.re), abs(z.im), wide);
  return {atan2(z.re, w.leg), withSign(w.height, z.im)};
}
Complex acos(const Complex &z, bool wide) {
  Arcsine w = arcsine(abs(z.re), abs(z.im), wide);
  return {atan2(w.leg, z.re), withSign(w.height, -z.im)};
}
Complex arcsineParts(const Complex &z, bool wide) {
  Arcsine w = arcsine(abs(z.re), abs(z.im), wide);
  return {w.leg, w.height};
}
Complex acosh(const Complex &z, bool wide) {
  Arcsine w = arcsine(abs(z.re), abs(z.im), wide);
  return {w.height, withSign(atan2(w.leg, z.re), z.im)};
}
Complex asinh(const Complex &z, bool wide) {
  Arcsine w = arcsine(abs(z.im), abs(z.re), wide);
  return {withSign(w.height, z.re), atan2(z.im, w.leg)};
}

Complex atanh(const Complex &z, bool wide) {
  Tensor x = abs(z.re), y = abs(z.im), larger = maximum(x, y), smaller = minimum(x, y);
  Tensor xm1 = x - 1.0, square = xm1 * xm1 + y * y;
  Tensor re = 0.25 * log1p(4.0 * x / square);
  // At the pole y² vanishes.
  re = select((x == 1.0) & (y < 0x1p-60), 0.5 * (std::numbers::ln2 - log(y)), re);
  Tensor im = 0.5 * atan2(2.0 * y, (1.0 - x) * (1.0 + x) - y * y);
  // Far away it is 1 / z, up to the right angle.
  Tensor ratio = smaller / larger, isHuge = larger > 0x1p500;
  Tensor distant = ((x / larger) / (1.0 + ratio * ratio)) / larger;
  re = select(isHuge, select(isInfinite(larger), x.like(0.0), distant), re);
  im = select(isHuge, im.like(std::numbers::pi / 2), im);
  return {withSign(re, z.re), withSign(im, z.im)};
}
Complex atan(const Complex &z, bool wide) { return timesMinusI(atanh(timesI(z), wide)); }

/// -i log((x + iy) / sqrt(x² + y²))
Complex atan2(const Complex &y, const Complex &x, bool wide) {
  Complex direction = divide(x + timesI(y), sqrt(square(x) + square(y), wide), wide);
  return timesMinusI(log(direction, wide));
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// Equality, or the lexicographic order of the parts.
Tensor compare(ComparisonDirection direction, const Complex &x, const Complex &y) {
  switch (direction) {
  case ComparisonDirection::EQ:
    return (x.re == y.re) & (x.im == y.im);
  case ComparisonDirection::NE:
    return (x.re != y.re) | (x.im != y.im);
  default:
    break;
  }
  bool isLess = direction == ComparisonDirection::LT || direction == ComparisonDirection::LE;
  Tensor decided = isLess ? x.re < y.re : x.re > y.re;
  return decided | ((x.re == y.re) & compare(direction, x.im, y.im));
}

Complex extreme(ComparisonDirection direction, const Complex &x, const Complex &y) {
  Tensor xIsNaN = isNaN(x.re) | isNaN(x.im), yIsNaN = isNaN(y.re) | isNaN(y.im);
  return select(xIsNaN | (compare(direction, x, y) & !yIsNaN), x, y);
}

//===----------------------------------------------------------------------===//
// The tables
//===----------------------------------------------------------------------===//

using UnaryFunction = Complex (*)(const Complex &, bool);
using BinaryFunction = Complex (*)(const Complex &, const Complex &, bool);

UnaryFunction findUnary(StringRef name) {
  static const llvm::StringMap<UnaryFunction> table = {
      {"stablehlo.cbrt", cbrt},
      {"stablehlo.cosine", cos},
      {"stablehlo.exponential", exp},
      {"stablehlo.exponential_minus_one", expm1},
      {"stablehlo.log", log},
      {"stablehlo.log_plus_one", log1p},
      {"stablehlo.logistic", logistic},
      {"stablehlo.rsqrt", rsqrt},
      {"stablehlo.sign", sign},
      {"stablehlo.sine", sin},
      {"stablehlo.sqrt", sqrt},
      {"stablehlo.tan", tan},
      {"stablehlo.tanh", tanh},
      {"chlo._asin_acos_kernel", arcsineParts},
      {"chlo.acos", acos},
      {"chlo.acosh", acosh},
      {"chlo.asin", asin},
      {"chlo.asinh", asinh},
      {"chlo.atan", atan},
      {"chlo.atanh", atanh},
      {"chlo.cosh", cosh},
      {"chlo.sinh", sinh},
      {"chlo.tan", tan},
  };
  return table.lookup(name);
}

BinaryFunction findBinary(StringRef name) {
  static const llvm::StringMap<BinaryFunction> table = {
      {"stablehlo.atan2", atan2},
      {"stablehlo.divide", divide},
      {"stablehlo.power", pow},
      {"stablehlo.remainder", remainder},
  };
  return table.lookup(name);
}

Complex convert(const Complex &z, Type element) { return {convert(z.re, element), convert(z.im, element)}; }

SmallVector<Tensor, 2> partsOf(const Complex &z) { return {z.re, z.im}; }

} // namespace

SmallVector<Tensor, 2> computeComplex(ImplicitLocOpBuilder &b, Operation *op, ArrayRef<Complex> operands) {
  const Complex &x = operands.front();
  // Those without rounding of their own, or with one.
  if (isa<stablehlo::AddOp>(op))
    return partsOf(x + operands[1]);
  if (isa<stablehlo::SubtractOp>(op))
    return partsOf(x - operands[1]);
  if (isa<stablehlo::MulOp>(op))
    return partsOf(x * operands[1]);
  if (isa<stablehlo::NegOp>(op))
    return partsOf(-x);
  if (isa<chlo::ConjOp>(op))
    return partsOf(conjugate(x));
  if (isa<chlo::SquareOp>(op))
    return partsOf(square(x));
  if (auto comparison = dyn_cast<stablehlo::CompareOp>(op))
    return {compare(comparison.getComparisonDirection(), x, operands[1])};
  if (isa<stablehlo::MaxOp>(op))
    return partsOf(extreme(ComparisonDirection::GE, x, operands[1]));
  if (isa<stablehlo::MinOp>(op))
    return partsOf(extreme(ComparisonDirection::LE, x, operands[1]));
  if (isa<stablehlo::ClampOp>(op))
    return partsOf(extreme(ComparisonDirection::LE, extreme(ComparisonDirection::GE, operands[1], x), operands[2]));

  Type element = x.re.element(), f64 = b.getF64Type();
  bool wide = !element.isF64();
  SmallVector<Complex> computed = llvm::map_to_vector(operands, [&](const Complex &z) { return convert(z, f64); });
  StringRef name = op->getName().getStringRef();
  if (isa<stablehlo::AbsOp>(op))
    return {convert(hypot(computed.front(), wide), element)};
  if (UnaryFunction function = findUnary(name))
    return partsOf(convert(function(computed.front(), wide), element));
  if (BinaryFunction function = findBinary(name))
    return partsOf(convert(function(computed[0], computed[1], wide), element));
  return {};
}

} // namespace latewood::input
