// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The matrix part of the device library against loops that say what MatrixKernels.h promises. A tile kernel adds
// products in order with one rounding each, so the comparison is exact.

#include "gtest/gtest.h"
#include <cmath>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

namespace {

using u16 = uint16_t;

template <typename T>
using Tile = void (*)(T *, const T *, long, long, const T *, long, long);

/// Two integers of 16 bits in a word.
struct Pairs {
  int32_t word;
  bool operator==(const Pairs &) const = default;
};

template <typename T>
struct Kernel {
  long rows, vectors;
  Tile<T> function;
};

template <typename T>
struct Kernels {
  const int *params, *rows;
  std::vector<Kernel<T>> tiles;
  void (*indirect)(T *, const T *const *, const T *, long);
};

template <typename S, typename T>
struct Packs {
  void (*a)(T *, const S *, long, long, long, long);
  void (*b)(T *, const S *, long, long, long, long);
};

template <typename S, typename T>
struct Matvec {
  void (*rows)(T *, const T *, const S *, long, long, long);
  void (*columns)(T *, const T *, const S *, long, long, long);
};

// clang-format off: it moves lists of macros without end.
#define DECLARE_TILE(name, T) extern "C" void name(T *, const T *, long, long, const T *, long, long);
#define DECLARE_KERNELS(L, T, t) \
  DECLARE_TILE(L##_lw_mk_##t, T) \
  DECLARE_TILE(L##_lw_mk4_##t, T) \
  DECLARE_TILE(L##_lw_mk2_##t, T) \
  DECLARE_TILE(L##_lw_mk1_##t, T) \
  DECLARE_TILE(L##_lw_mk_##t##_v1, T) \
  DECLARE_TILE(L##_lw_mk4_##t##_v1, T) \
  DECLARE_TILE(L##_lw_mk2_##t##_v1, T) \
  DECLARE_TILE(L##_lw_mk1_##t##_v1, T) \
  extern "C" void L##_lw_mk_ind_##t(T *, const T *const *, const T *, long); \
  extern "C" const int L##_lw_mk_##t##_params[], L##_lw_mk_##t##_rows[];
#define DECLARE_PACKS(L, name, S, T) \
  extern "C" void L##_lw_packA_##name(T *, const S *, long, long, long, long); \
  extern "C" void L##_lw_packB_##name(T *, const S *, long, long, long, long);
#define DECLARE_MATVEC(L, name, S, T) \
  extern "C" void L##_lw_matvec_##name(T *, const T *, const S *, long, long, long); \
  extern "C" void L##_lw_matvec_t_##name(T *, const T *, const S *, long, long, long);
#define DECLARE_LEVEL(L) \
  DECLARE_KERNELS(L, float, f32) \
  DECLARE_KERNELS(L, double, f64) \
  DECLARE_KERNELS(L, int32_t, i32) \
  DECLARE_KERNELS(L, int64_t, i64) \
  DECLARE_KERNELS(L, Pairs, i16x2) \
  DECLARE_PACKS(L, i8_i16x2, int8_t, Pairs) \
  DECLARE_PACKS(L, u8_i16x2, uint8_t, Pairs) \
  DECLARE_PACKS(L, i16_i16x2, int16_t, Pairs) \
  DECLARE_PACKS(L, f32, float, float) \
  DECLARE_PACKS(L, f64, double, double) \
  DECLARE_PACKS(L, i32, int32_t, int32_t) \
  DECLARE_PACKS(L, bf16_f32, u16, float) \
  DECLARE_PACKS(L, f16_f32, _Float16, float) \
  DECLARE_PACKS(L, i8_i32, int8_t, int32_t) \
  DECLARE_PACKS(L, u8_i32, uint8_t, int32_t) \
  DECLARE_MATVEC(L, f32, float, float) \
  DECLARE_MATVEC(L, f64, double, double) \
  DECLARE_MATVEC(L, bf16_f32, u16, float) \
  DECLARE_MATVEC(L, f16_f32, _Float16, float)
// clang-format on
DECLARE_LEVEL(v3)
DECLARE_LEVEL(v4)
DECLARE_TILE(v4_lw_mk8_f32, float)
DECLARE_TILE(v4_lw_mk8_f32_v1, float)
DECLARE_TILE(v4_lw_mk8_f64, double)
DECLARE_TILE(v4_lw_mk8_f64_v1, double)
DECLARE_TILE(v4_lw_mk8_i32, int32_t)
DECLARE_TILE(v4_lw_mk8_i32_v1, int32_t)
DECLARE_TILE(v4_lw_mk8_i64, int64_t)
DECLARE_TILE(v4_lw_mk8_i64_v1, int64_t)
DECLARE_TILE(v4_lw_mk8_i16x2, Pairs)
DECLARE_TILE(v4_lw_mk8_i16x2_v1, Pairs)

#define KERNELS(L, t)                                                                                                  \
  {L##_lw_mk_##t##_params,                                                                                             \
   L##_lw_mk_##t##_rows,                                                                                               \
   {{L##_lw_mk_##t##_params[0], 2, L##_lw_mk_##t},                                                                     \
    {L##_lw_mk_##t##_params[0], 1, L##_lw_mk_##t##_v1},                                                                \
    {4, 2, L##_lw_mk4_##t},                                                                                            \
    {4, 1, L##_lw_mk4_##t##_v1},                                                                                       \
    {2, 2, L##_lw_mk2_##t},                                                                                            \
    {2, 1, L##_lw_mk2_##t##_v1},                                                                                       \
    {1, 2, L##_lw_mk1_##t},                                                                                            \
    {1, 1, L##_lw_mk1_##t##_v1}},                                                                                      \
   L##_lw_mk_ind_##t}

std::mt19937 &getGenerator() {
  static std::mt19937 generator(3);
  return generator;
}

template <typename T>
T draw() {
  if constexpr (std::is_same_v<T, Pairs>) {
    return {static_cast<int32_t>(getGenerator()())};
  } else if constexpr (std::is_same_v<T, u16>) { // bf16 bits
    float value = std::uniform_real_distribution<float>(-2, 2)(getGenerator());
    return static_cast<u16>(__builtin_bit_cast(uint32_t, value) >> 16);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(getGenerator()());
  } else {
    return static_cast<T>(std::uniform_real_distribution<float>(-2, 2)(getGenerator()));
  }
}

template <typename T>
std::vector<T> drawMany(size_t count) {
  std::vector<T> values(count);
  for (T &value : values)
    value = draw<T>();
  return values;
}

template <typename T, typename S>
T convert(S value) {
  if constexpr (std::is_same_v<S, u16>)
    return __builtin_bit_cast(float, static_cast<uint32_t>(value) << 16);
  else
    return static_cast<T>(value);
}

template <typename T>
T multiplyAdd(T a, T b, T c) {
  if constexpr (std::is_same_v<T, Pairs>) {
    auto half = [](Pairs value, int shift) -> uint32_t { return static_cast<int16_t>(value.word >> shift); };
    return {static_cast<int32_t>(half(a, 0) * half(b, 0) + half(a, 16) * half(b, 16) + static_cast<uint32_t>(c.word))};
  } else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) * static_cast<std::make_unsigned_t<T>>(b) +
                          static_cast<std::make_unsigned_t<T>>(c));
  else
    return std::fma(a, b, c);
}

template <typename T>
void checkKernels(const Kernels<T> &kernels) {
  const long mr = kernels.params[0], nr = kernels.params[1], lanes = kernels.params[2];
  EXPECT_EQ(nr, 2 * lanes);
  EXPECT_EQ(kernels.rows[0], mr);
  size_t sizes = 0;
  while (kernels.rows[sizes])
    ++sizes;
  EXPECT_EQ(2 * sizes, kernels.tiles.size());

  for (const Kernel<T> &kernel : kernels.tiles)
    for (long k : {0l, 1l, 3l, 8l, 37l})
      for (int layout = 0; layout < 4; ++layout) {
        const long m = kernel.rows, n = kernel.vectors * lanes, bs = layout == 3 ? nr + 5 : nr;
        const long rs = layout == 0 ? k + 3 : 1, ks = layout == 0 ? 1 : layout == 1 ? mr : m + 2;
        std::vector<T> a = drawMany<T>(64 * 64), b = drawMany<T>((k + 1) * bs), acc = drawMany<T>(m * n);
        std::vector<T> expected = acc;
        kernel.function(acc.data(), a.data(), rs, ks, b.data(), bs, k);
        for (long i = 0; i < m; ++i)
          for (long j = 0; j < n; ++j)
            for (long p = 0; p < k; ++p)
              expected[i * n + j] = multiplyAdd(a[i * rs + p * ks], b[p * bs + j], expected[i * n + j]);
        ASSERT_EQ(acc, expected) << m << " rows, " << kernel.vectors << " vectors, k " << k << ", layout " << layout;
      }

  const long k = 19;
  std::vector<T> a = drawMany<T>(mr * 40), b = drawMany<T>(k * nr), acc = drawMany<T>(mr * nr), expected = acc;
  std::vector<const T *> rows(mr);
  for (long i = 0; i < mr; ++i)
    rows[i] = a.data() + (i * 7 % mr) * 40;
  kernels.indirect(acc.data(), rows.data(), b.data(), k);
  for (long i = 0; i < mr; ++i)
    for (long j = 0; j < nr; ++j)
      for (long p = 0; p < k; ++p)
        expected[i * nr + j] = multiplyAdd(rows[i][p], b[p * nr + j], expected[i * nr + j]);
  EXPECT_EQ(acc, expected) << "indirect";
}

template <typename S, typename T>
void checkPacks(const Packs<S, T> &packs, long mr, long nr) {
  for (long k : {1l, 4l, 7l, 33l})
    for (long width : {1l, 5l, 8l, 12l, 31l, 32l, 77l})
      for (int layout = 0; layout < 3; ++layout) {
        // Contiguous along k, contiguous along the panel, general.
        const long ps = layout == 0   ? k + 2
                        : layout == 1 ? 1
                                      : 3,
                   ks = layout == 0   ? 1
                        : layout == 1 ? width + 1
                                      : 3 * width;
        std::vector<S> source = drawMany<S>((width - 1) * ps + (k - 1) * ks + 1);
        for (bool isB : {false, true}) {
          const long panel = isB ? nr : mr, panels = (width + panel - 1) / panel;
          std::vector<T> packed(panels * panel * k + 1, T(42)), expected = packed;
          if (isB)
            packs.b(packed.data(), source.data(), ks, ps, k, width);
          else
            packs.a(packed.data(), source.data(), ps, ks, width, k);
          for (long i = 0; i < panels * panel; ++i)
            for (long p = 0; p < k; ++p)
              expected[(i / panel) * panel * k + p * panel + i % panel] =
                  i < width ? convert<T>(source[i * ps + p * ks]) : T(0);
          ASSERT_EQ(packed, expected) << (isB ? "B" : "A") << " k " << k << " width " << width << " layout " << layout;
        }
      }
}

template <typename S>
void checkPairs(const Packs<S, Pairs> &packs, long mr, long nr) {
  for (long k : {1l, 2l, 7l, 64l, 131l})
    for (long width : {1l, 5l, 12l, 32l, 77l})
      for (int layout = 0; layout < 3; ++layout) {
        const long ps = layout == 0 ? k + 2 : layout == 1 ? 1 : 3;
        const long ks = layout == 0 ? 1 : layout == 1 ? width + 1 : 3 * width;
        std::vector<S> source = drawMany<S>((width - 1) * ps + (k - 1) * ks + 1);
        for (bool isB : {false, true}) {
          const long panel = isB ? nr : mr, panels = (width + panel - 1) / panel, words = (k + 1) / 2;
          std::vector<Pairs> packed(panels * panel * words + 1, Pairs{42}), expected = packed;
          if (isB)
            packs.b(packed.data(), source.data(), ks, ps, k, width);
          else
            packs.a(packed.data(), source.data(), ps, ks, width, k);
          for (long i = 0; i < panels * panel; ++i)
            for (long p = 0; p < words; ++p) {
              auto at = [&](long step) -> uint16_t { return i < width && step < k ? source[i * ps + step * ks] : 0; };
              expected[(i / panel) * panel * words + p * panel + i % panel].word =
                  static_cast<int32_t>(uint32_t(at(2 * p)) | uint32_t(at(2 * p + 1)) << 16);
            }
          ASSERT_EQ(packed, expected) << (isB ? "B" : "A") << " k " << k << " width " << width << " layout " << layout;
        }
      }
}

template <typename S, typename T>
void checkMatvec(const Matvec<S, T> &matvec) {
  for (long k : {1l, 8l, 70l})
    for (long n : {1l, 5l, 16l, 77l})
      for (bool transposed : {false, true}) {
        const long ldw = (transposed ? k : n) + 3;
        std::vector<S> w = drawMany<S>(ldw * (transposed ? n : k));
        std::vector<T> x = drawMany<T>(k), y = drawMany<T>(n);
        std::vector<double> expected(y.begin(), y.end());
        for (long j = 0; j < n; ++j)
          for (long p = 0; p < k; ++p)
            expected[j] += double(x[p]) * double(convert<T>(w[transposed ? j * ldw + p : p * ldw + j]));
        (transposed ? matvec.columns : matvec.rows)(y.data(), x.data(), w.data(), ldw, k, n);
        for (long j = 0; j < n; ++j)
          ASSERT_NEAR(y[j], expected[j], 1e-4) << "k " << k << " n " << n << " column " << j;
      }
}

#define CHECK_LEVEL(L)                                                                                                 \
  checkPacks<float, float>({L##_lw_packA_f32, L##_lw_packB_f32}, L##_lw_mk_f32_params[0], L##_lw_mk_f32_params[1]);    \
  checkPacks<double, double>({L##_lw_packA_f64, L##_lw_packB_f64}, L##_lw_mk_f64_params[0], L##_lw_mk_f64_params[1]);  \
  checkPacks<int32_t, int32_t>({L##_lw_packA_i32, L##_lw_packB_i32}, L##_lw_mk_i32_params[0],                          \
                               L##_lw_mk_i32_params[1]);                                                               \
  checkPacks<u16, float>({L##_lw_packA_bf16_f32, L##_lw_packB_bf16_f32}, L##_lw_mk_f32_params[0],                      \
                         L##_lw_mk_f32_params[1]);                                                                     \
  checkPacks<_Float16, float>({L##_lw_packA_f16_f32, L##_lw_packB_f16_f32}, L##_lw_mk_f32_params[0],                   \
                              L##_lw_mk_f32_params[1]);                                                                \
  checkPacks<int8_t, int32_t>({L##_lw_packA_i8_i32, L##_lw_packB_i8_i32}, L##_lw_mk_i32_params[0],                     \
                              L##_lw_mk_i32_params[1]);                                                                \
  checkPacks<uint8_t, int32_t>({L##_lw_packA_u8_i32, L##_lw_packB_u8_i32}, L##_lw_mk_i32_params[0],                    \
                               L##_lw_mk_i32_params[1]);                                                               \
  checkPairs<int8_t>({L##_lw_packA_i8_i16x2, L##_lw_packB_i8_i16x2}, L##_lw_mk_i16x2_params[0],                        \
                     L##_lw_mk_i16x2_params[1]);                                                                       \
  checkPairs<uint8_t>({L##_lw_packA_u8_i16x2, L##_lw_packB_u8_i16x2}, L##_lw_mk_i16x2_params[0],                       \
                      L##_lw_mk_i16x2_params[1]);                                                                      \
  checkPairs<int16_t>({L##_lw_packA_i16_i16x2, L##_lw_packB_i16_i16x2}, L##_lw_mk_i16x2_params[0],                     \
                      L##_lw_mk_i16x2_params[1]);                                                                      \
  checkMatvec<float, float>({L##_lw_matvec_f32, L##_lw_matvec_t_f32});                                                 \
  checkMatvec<double, double>({L##_lw_matvec_f64, L##_lw_matvec_t_f64});                                               \
  checkMatvec<u16, float>({L##_lw_matvec_bf16_f32, L##_lw_matvec_t_bf16_f32});                                         \
  checkMatvec<_Float16, float>({L##_lw_matvec_f16_f32, L##_lw_matvec_t_f16_f32});

TEST(MatrixKernels, TilesV3) {
  checkKernels<float>(KERNELS(v3, f32));
  checkKernels<double>(KERNELS(v3, f64));
  checkKernels<int32_t>(KERNELS(v3, i32));
  checkKernels<int64_t>(KERNELS(v3, i64));
  checkKernels<Pairs>(KERNELS(v3, i16x2));
}
TEST(MatrixKernels, PackingAndVectorsV3){CHECK_LEVEL(v3)}

TEST(MatrixKernels, TilesV4) {
  if (!__builtin_cpu_supports("x86-64-v4"))
    GTEST_SKIP() << "this machine has no AVX-512";
#define WITH_EIGHT(T, t)                                                                                               \
  {                                                                                                                    \
    Kernels<T> kernels KERNELS(v4, t);                                                                                 \
    kernels.tiles.push_back({8, 2, v4_lw_mk8_##t});                                                                    \
    kernels.tiles.push_back({8, 1, v4_lw_mk8_##t##_v1});                                                               \
    checkKernels<T>(kernels);                                                                                          \
  }
  WITH_EIGHT(float, f32)
  WITH_EIGHT(double, f64)
  WITH_EIGHT(int32_t, i32)
  WITH_EIGHT(int64_t, i64)
  WITH_EIGHT(Pairs, i16x2)
}
TEST(MatrixKernels, PackingAndVectorsV4) {
  if (!__builtin_cpu_supports("x86-64-v4"))
    GTEST_SKIP() << "this machine has no AVX-512";
  CHECK_LEVEL(v4)
}

} // namespace
