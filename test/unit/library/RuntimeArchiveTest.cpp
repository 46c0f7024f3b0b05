// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that instruction selection calls, against the compiler's own runtime and libm, and the rule that none
// of them calls one of the others by name: memcpy that calls memcpy never returns. Here every symbol carries the prefix
// rt_.

#include "gtest/gtest.h"
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>

namespace {

typedef __int128 Wide;
typedef unsigned __int128 UWide;

extern "C" {
Wide rt___divti3(Wide, Wide);
Wide rt___modti3(Wide, Wide);
UWide rt___udivti3(UWide, UWide);
UWide rt___umodti3(UWide, UWide);
// Bits of bf16, in the register that _Float16 is returned in.
_Float16 rt___truncsfbf2(float);
_Float16 rt___truncdfbf2(double);
_Float16 rt___truncdfhf2(double);
float rt_fmodf(float, float);
double rt_fmod(double, double);
float rt_fmaxf(float, float);
float rt_fminf(float, float);
float rt_ldexpf(float, int);
double rt_ldexp(double, int);
float rt___powisf2(float, int);
double rt___powidf2(double, int);
void *rt_memcpy(void *, const void *, size_t);
void *rt_memmove(void *, const void *, size_t);
void *rt_memset(void *, int, size_t);
int rt_memcmp(const void *, const void *, size_t);
}

constexpr int kRounds = 200000;
std::mt19937_64 generator(1);

UWide drawWide() {
  UWide x = (static_cast<UWide>(generator()) << 64) | generator();
  x >>= generator() % 128;
  return generator() & 1 ? -x : x;
}

template <typename T, typename Bits>
T drawFloat() {
  return __builtin_bit_cast(T, static_cast<Bits>(generator()));
}

template <typename T>
bool same(T a, T b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

TEST(RuntimeArchive, WideIntegers) {
  for (int i = 0; i < kRounds; ++i) {
    UWide a = drawWide(), b = drawWide();
    if (b == 0)
      continue;
    ASSERT_TRUE(rt___udivti3(a, b) == a / b && rt___umodti3(a, b) == a % b);
    Wide x = a, y = b;
    if (y != -1)
      ASSERT_TRUE(rt___divti3(x, y) == x / y && rt___modti3(x, y) == x % y);
  }
}

TEST(RuntimeArchive, Remainders) {
  for (int i = 0; i < kRounds; ++i) {
    float a = drawFloat<float, uint32_t>(), b = __builtin_bit_cast(float, uint32_t(generator()) >> generator() % 32);
    ASSERT_TRUE(same(rt_fmodf(a, b), std::fmod(a, b))) << a << " " << b;
    double c = drawFloat<double, uint64_t>(), d = __builtin_bit_cast(double, generator() >> generator() % 64);
    ASSERT_TRUE(same(rt_fmod(c, d), std::fmod(c, d))) << c << " " << d;
  }
}

// Conversions are compared as bits: the test must not need a conversion function itself.
double widenBF16(uint16_t bits) { return __builtin_bit_cast(float, uint32_t(bits) << 16); }
double widenF16(uint16_t bits) { return float(__builtin_bit_cast(_Float16, bits)); }
template <typename T>
uint16_t bitsOf(T value) {
  return __builtin_bit_cast(uint16_t, value);
}

/// The nearest of the numbers around `guess`, ties to even, by trying them.
uint16_t nearest(double x, uint16_t guess, double (*widen)(uint16_t)) {
  uint16_t best = guess;
  double least = std::fabs(widen(best) - x);
  for (int step = -1; step <= 1; ++step) {
    uint16_t other = uint16_t(guess + step);
    double error = std::fabs(widen(other) - x);
    if (error < least || (error == least && !(other & 1))) {
      best = other;
      least = error;
    }
  }
  return best;
}

TEST(RuntimeArchive, Conversions) {
  for (int i = 0; i < kRounds; ++i) {
    float f = drawFloat<float, uint32_t>();
    if (!(std::fabs(f) < 3e38f))
      continue;
    // Values beside a tie, where rounding twice would go wrong.
    double d = f * (1 + (double(generator() % 5) - 2) * std::ldexp(1, -40));
    uint16_t guess = uint16_t(__builtin_bit_cast(uint32_t, f) >> 16);
    EXPECT_EQ(bitsOf(rt___truncsfbf2(f)), nearest(f, guess, widenBF16)) << f;
    EXPECT_EQ(bitsOf(rt___truncdfbf2(d)), nearest(d, guess, widenBF16)) << d;
    double h = std::uniform_real_distribution<double>(-65000, 65000)(generator) * std::ldexp(1, -int(generator() % 40));
    uint16_t half = bitsOf(_Float16(float(h)));
    // A tie in f16 that only f64 can tell apart.
    double tie = (widenF16(half) + widenF16(half + 1)) / 2 * (1 + (double(generator() % 3) - 1) * std::ldexp(1, -50));
    EXPECT_EQ(bitsOf(rt___truncdfhf2(h)), nearest(h, half, widenF16)) << h;
    EXPECT_EQ(bitsOf(rt___truncdfhf2(tie)), nearest(tie, half, widenF16)) << tie;
  }
  EXPECT_TRUE(std::isnan(widenBF16(bitsOf(rt___truncsfbf2(NAN)))));
  EXPECT_TRUE(std::isnan(widenBF16(bitsOf(rt___truncdfbf2(NAN)))));
  EXPECT_TRUE(std::isinf(widenBF16(bitsOf(rt___truncdfbf2(1e300)))));
}

TEST(RuntimeArchive, Arithmetic) {
  EXPECT_EQ(rt_fmaxf(NAN, 1), 1);
  EXPECT_EQ(rt_fmaxf(1, NAN), 1);
  EXPECT_EQ(rt_fminf(2, 1), 1);
  for (int i = 0; i < kRounds; ++i) {
    float f = drawFloat<float, uint32_t>();
    double d = drawFloat<double, uint64_t>();
    int n = int(generator() % 5000) - 2500, small = int(generator() % 600) - 300;
    ASSERT_TRUE(same(rt_ldexpf(f, small), std::ldexp(f, small))) << f << " " << small;
    ASSERT_TRUE(same(rt_ldexp(d, n), std::ldexp(d, n))) << d << " " << n;
  }
  EXPECT_EQ(rt___powisf2(2, -3), 0.125f);
  EXPECT_EQ(rt___powidf2(-3, 5), -243);
  EXPECT_EQ(rt___powidf2(7, 0), 1);
}

TEST(RuntimeArchive, Memory) {
  static std::array<unsigned char, 20000> a, b;
  for (int i = 0; i < 20000; ++i) {
    for (size_t k = 0; k < a.size(); k += 97)
      a[k] = b[k] = static_cast<unsigned char>(generator());
    size_t n = generator() % (i % 4 ? 200 : 9000), from = generator() % 9900, to = generator() % 9900;
    std::memmove(a.data() + to, a.data() + from, n);
    rt_memmove(b.data() + to, b.data() + from, n);
    std::memset(a.data() + from / 2, i, n);
    rt_memset(b.data() + from / 2, i, n);
    if (from + n <= 10000) {
      std::memcpy(a.data() + 10000, a.data() + from, n);
      rt_memcpy(b.data() + 10000, b.data() + from, n);
    }
    ASSERT_EQ(a, b) << n << " bytes from " << from << " to " << to;
    int expected = std::memcmp(a.data() + from, a.data() + to, n), got = rt_memcmp(a.data() + from, a.data() + to, n);
    ASSERT_EQ(expected > 0, got > 0);
    ASSERT_EQ(expected < 0, got < 0);
  }
}

// The disassembly names the target of every call and jump that has a relocation.
TEST(RuntimeArchive, NoFunctionCallsAnother) {
  std::string command = std::string(LATEWOOD_OBJDUMP) + " -r " + LATEWOOD_RUNTIME_OBJECT;
  FILE *pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  char line[512];
  int relocations = 0;
  while (std::fgets(line, sizeof(line), pipe)) {
    std::string text = line;
    if (text.find("R_X86_64_") == std::string::npos)
      continue;
    ++relocations;
    EXPECT_NE(text.find(".LC"), std::string::npos) << "a reference to something that is no constant: " << text;
  }
  EXPECT_EQ(pclose(pipe), 0);
  EXPECT_GT(relocations, 0) << "the tool gave no output";
}

} // namespace
