// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accuracy of the elementary functions, and that all forms of one function agree bit for bit.
//
// f32 functions of one operand are sampled over the whole range of bit patterns, evenly; LATEWOOD_TEST_STRIDE=1 in the
// environment visits every one of them (minutes per function). Errors are counted in units in the last place of the
// reference; the worst one of each function is printed.

#include "MathAccuracy.h"
#include "gtest/gtest.h"
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <string>

using namespace latewood::test;

namespace {

/// Solves erf(x) = y in extended precision: Newton's iteration on erfc, from a start that is close enough.
long double inverseErf(long double y) {
  if (!(std::fabs(y) < 1))
    return std::fabs(y) == 1 ? std::copysign(std::numeric_limits<long double>::infinity(), y)
                             : std::numeric_limits<long double>::quiet_NaN();
  long double a = std::fabs(y), w = std::log1p(-a * a), c = 4.330746750799873L + w / 2;
  long double x = a < 0.01L ? a * 0.886226925452758L : std::sqrt(std::sqrt(c * c - w / 0.147L) - c);
  for (int i = 0; i < 5; ++i) {
    long double residual = a < 0.5L ? std::erf(x) - a : (1 - a) - std::erfc(x);
    x -= residual * std::exp(x * x) * 0.8862269254527580136490837416705725914L;
  }
  return std::copysign(x, y);
}

/// A function one precision up.
template <typename W>
struct Reference {
  std::function<W(W, W)> function;
  double limit = 0; // ULPs; 0: the type's general promise
};

template <typename W>
std::map<std::string, Reference<W>> getReferences() {
  auto unary = [](W (*f)(W)) { return Reference<W>{[f](W x, W) { return f(x); }}; };
  std::map<std::string, Reference<W>> table;
  table["acos"] = unary(std::acos);
  table["acosh"] = unary(std::acosh);
  table["asin"] = unary(std::asin);
  table["asinh"] = unary(std::asinh);
  table["atan"] = unary(std::atan);
  table["atanh"] = unary(std::atanh);
  table["cbrt"] = unary(std::cbrt);
  table["cos"] = unary(std::cos);
  table["cosh"] = unary(std::cosh);
  table["erf"] = unary(std::erf);
  table["erfc"] = unary(std::erfc);
  table["exp"] = unary(std::exp);
  table["exp2"] = unary(std::exp2);
  table["expm1"] = unary(std::expm1);
  table["log"] = unary(std::log);
  table["log10"] = unary(std::log10);
  table["log1p"] = unary(std::log1p);
  table["log2"] = unary(std::log2);
  table["sin"] = unary(std::sin);
  table["sinh"] = unary(std::sinh);
  table["tan"] = unary(std::tan);
  table["tanh"] = unary(std::tanh);
  table["erf_inv"] = {[](W x, W) { return static_cast<W>(inverseErf(x)); }, sizeof(W) == 8 ? 4.0 : 0.0};
  table["logistic"] = {[](W x, W) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }};
  table["rsqrt"] = {[](W x, W) { return 1 / std::sqrt(x); }};
  table["atan2"] = {[](W x, W y) { return std::atan2(x, y); }};
  table["fmod"] = {[](W x, W y) { return std::fmod(x, y); }, 0.001};
  table["pow"] = {[](W x, W y) { return std::pow(x, y); }};
  return table;
}

/// Distance of `value` from the reference in units in the last place.
template <typename T, typename W>
double getError(T value, W reference) {
  if (std::isnan(reference))
    return std::isnan(value) ? 0 : std::numeric_limits<double>::infinity();
  T rounded = static_cast<T>(reference);
  if (value == rounded)
    return rounded == 0 && std::signbit(value) != std::signbit(reference) ? std::numeric_limits<double>::infinity() : 0;
  if (std::isnan(value))
    return std::numeric_limits<double>::infinity();
  constexpr T largest = std::numeric_limits<T>::max();
  T base = std::min(std::fabs(rounded), largest);
  W unit = base == largest ? W(base) - W(std::nextafter(base, T(0))) : W(std::nextafter(base, largest)) - W(base);
  if (std::isinf(value) || std::isinf(rounded)) {
    // Infinity stands for the next number after the largest.
    W limit = W(largest) + unit;
    W a = std::isinf(value) ? std::copysign(limit, W(value)) : W(value);
    W b = std::isinf(reference) ? std::copysign(std::numeric_limits<W>::infinity(), reference) : reference;
    return static_cast<double>(std::fabs(a - b) / unit);
  }
  return static_cast<double>(std::fabs(W(value) - reference) / unit);
}

/// Operands of one function, in a multiple of 16.
template <typename T>
struct Samples {
  std::vector<T> x, y;
};

const std::vector<double> &getSpecialValues() {
  static const std::vector<double> values = {0.0,
                                             -0.0,
                                             1.0,
                                             -1.0,
                                             0.5,
                                             -0.5,
                                             2.0,
                                             -2.0,
                                             3.0,
                                             -3.0,
                                             1e30,
                                             -1e30,
                                             1e-30,
                                             -1e-30,
                                             0.75,
                                             -0.75,
                                             1.5,
                                             -1.5,
                                             88.72,
                                             -88.72,
                                             89.5,
                                             -104.,
                                             128.0,
                                             127.5,
                                             709.7,
                                             710.5,
                                             -745.,
                                             -746.,
                                             1e-310,
                                             -1e-310,
                                             1e-42,
                                             -1e-42,
                                             1e300,
                                             -1e300,
                                             5e-324,
                                             0.92,
                                             0.9999,
                                             4.0,
                                             1e22,
                                             std::numeric_limits<double>::infinity(),
                                             -std::numeric_limits<double>::infinity(),
                                             std::numeric_limits<double>::quiet_NaN()};
  return values;
}

template <typename T>
void pad(Samples<T> &samples) {
  while (samples.x.size() % 16) {
    samples.x.push_back(samples.x.back());
    samples.y.push_back(samples.y.back());
  }
}

template <typename T>
void addSpecialValues(Samples<T> &samples) {
  for (double a : getSpecialValues())
    for (double b : getSpecialValues()) {
      samples.x.push_back(static_cast<T>(a));
      samples.y.push_back(static_cast<T>(b));
    }
}

/// Values of all magnitudes, and of those where functions are not trivial.
template <typename T>
Samples<T> getRandomSamples(size_t count) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  std::mt19937_64 random(7);
  auto draw = [&](double range) {
    return static_cast<T>(std::uniform_real_distribution<double>(-range, range)(random));
  };
  Samples<T> samples;
  addSpecialValues(samples);
  for (size_t i = 0; i < count; ++i) {
    auto one = [&]() -> T {
      switch (random() % 6) {
      case 0:
        return std::bit_cast<T>(static_cast<Bits>(random()));
      case 1:
        return draw(1);
      case 2:
        return draw(7);
      case 3:
        return draw(sizeof(T) == 4 ? 105 : 750);
      case 4:
        return 1 + draw(1e-3);
      default:
        return std::round(draw(20));
      }
    };
    samples.x.push_back(one());
    samples.y.push_back(one());
  }
  pad(samples);
  return samples;
}

/// Bit patterns of f32 at equal distance.
Samples<float> getSweep(uint64_t stride) {
  Samples<float> samples;
  for (uint64_t bits = 0; bits <= 0xffffffffu; bits += stride) {
    samples.x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    samples.y.push_back(1);
  }
  pad(samples);
  return samples;
}

uint64_t getStride() {
  const char *text = std::getenv("LATEWOOD_TEST_STRIDE");
  return text ? std::max(1l, std::atol(text)) : 40009;
}

template <typename T, typename W>
void checkForms(const std::vector<Form<T>> &forms, const Samples<T> &samples, double promise, const char *level) {
  auto references = getReferences<W>();
  std::vector<T> result(samples.x.size()), first;
  std::string name;
  for (const Form<T> &form : forms) {
    form.apply(samples.x.data(), samples.y.data(), result.data(), result.size());
    if (form.name == name) { // the same bits as the first form
      size_t different = 0, where = 0;
      for (size_t i = 0; i < result.size(); ++i)
        if (!(std::isnan(result[i]) && std::isnan(first[i])) &&
            (result[i] != first[i] || std::signbit(result[i]) != std::signbit(first[i])) && !different++)
          where = i;
      EXPECT_EQ(different, 0u) << level << " " << name << " x" << form.lanes << " differs from x1 at "
                               << samples.x[where] << ", " << samples.y[where] << ": " << result[where] << " against "
                               << first[where];
      continue;
    }
    name = form.name;
    first = result;
    const Reference<W> &reference = references.at(name);
    double worst = 0;
    size_t where = 0;
    for (size_t i = 0; i < result.size(); ++i) {
      double error = getError<T, W>(result[i], reference.function(samples.x[i], samples.y[i]));
      if (!(error <= worst)) {
        worst = error;
        where = i;
      }
    }
    std::printf("  %s %-8s f%zu  %6.3f ULP at %.9g%s\n", level, name.c_str(), sizeof(T) * 8, worst,
                static_cast<double>(samples.x[where]),
                samples.y[where] != 1 ? (", " + std::to_string(samples.y[where])).c_str() : "");
    EXPECT_LE(worst, reference.limit != 0 ? reference.limit : promise)
        << level << " " << name << "(" << samples.x[where] << ", " << samples.y[where] << ") = " << first[where]
        << ", expected " << static_cast<double>(reference.function(samples.x[where], samples.y[where]));
  }
}

template <typename T>
std::vector<Form<T>> unaryOnly(std::vector<Form<T>> forms) {
  std::erase_if(forms, [](const Form<T> &form) {
    std::string name = form.name;
    return name == "pow" || name == "atan2" || name == "fmod";
  });
  return forms;
}

bool hasLevel4() { return __builtin_cpu_supports("x86-64-v4"); }

TEST(MathAccuracy, SweepF32V3) {
  checkForms<float, double>(unaryOnly(getFormsF32V3()), getSweep(getStride()), 2, "v3");
}
TEST(MathAccuracy, RandomF32V3) { checkForms<float, double>(getFormsF32V3(), getRandomSamples<float>(40000), 2, "v3"); }
TEST(MathAccuracy, RandomF64V3) {
  checkForms<double, long double>(getFormsF64V3(), getRandomSamples<double>(20000), 4, "v3");
}
TEST(MathAccuracy, SweepF32V4) {
  if (!hasLevel4())
    GTEST_SKIP() << "this machine has no AVX-512";
  checkForms<float, double>(unaryOnly(getFormsF32V4()), getSweep(getStride()), 2, "v4");
}
TEST(MathAccuracy, RandomF32V4) {
  if (!hasLevel4())
    GTEST_SKIP() << "this machine has no AVX-512";
  checkForms<float, double>(getFormsF32V4(), getRandomSamples<float>(40000), 2, "v4");
}
// What was computed on one machine is computed on another.
TEST(MathAccuracy, LevelsAgree) {
  if (!hasLevel4())
    GTEST_SKIP() << "this machine has no AVX-512";
  Samples<float> samples = getRandomSamples<float>(40000);
  Samples<double> wide = getRandomSamples<double>(40000);
  auto compare = [](auto older, auto newer, const auto &samples) {
    auto first = samples.x, second = samples.x;
    for (const auto &a : older)
      for (const auto &b : newer) {
        if (a.lanes != 4 || b.lanes != 8 || std::string(a.name) != b.name)
          continue;
        a.apply(samples.x.data(), samples.y.data(), first.data(), first.size());
        b.apply(samples.x.data(), samples.y.data(), second.data(), second.size());
        size_t different = 0;
        for (size_t i = 0; i < first.size(); ++i)
          different += !(first[i] == second[i] || (std::isnan(first[i]) && std::isnan(second[i])));
        EXPECT_EQ(different, 0u) << a.name << " differs between v3 and v4";
      }
  };
  compare(getFormsF32V3(), getFormsF32V4(), samples);
  compare(getFormsF64V3(), getFormsF64V4(), wide);
}

TEST(MathAccuracy, RandomF64V4) {
  if (!hasLevel4())
    GTEST_SKIP() << "this machine has no AVX-512";
  checkForms<double, long double>(getFormsF64V4(), getRandomSamples<double>(20000), 4, "v4");
}

} // namespace
