// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Register-tile kernels. The contract stands in MatrixKernels.h.
//
// A kernel is a macro and not a function with the row count as a parameter: the library is optimized before it is
// inlined, and full unrolling needs constant bounds at that time. The accumulators are an array of vectors that full
// unrolling and SROA turn into registers.

#include "MatrixKernels.h"

// Multiply-accumulate by type: a named fma, so that -ffp-contract=off can hold for everything else.
#define LW_MAC_f32(a, b, c) __builtin_elementwise_fma(a, b, c)
#define LW_MAC_f64(a, b, c) __builtin_elementwise_fma(a, b, c)
#define LW_MAC_i32(a, b, c) ((a) * (b) + (c))
#define LW_MAC_i64(a, b, c) ((a) * (b) + (c))
// Two products of two bytes each per word and their sum, in one instruction.
#if defined(__AVX512F__)
#define LW_MAC_i16x2(a, b, c) ((V)__builtin_ia32_pmaddwd512((LW_VECTOR(i16, 32))(a), (LW_VECTOR(i16, 32))(b)) + (c))
#else
#define LW_MAC_i16x2(a, b, c) ((V)__builtin_ia32_pmaddwd256((LW_VECTOR(i16, 16))(a), (LW_VECTOR(i16, 16))(b)) + (c))
#endif

// Integers wrap: the arithmetic is done on unsigned elements, where C says so.
typedef u32 lwElem_i32;
typedef u64 lwElem_i64;
typedef u32 lwElem_i16x2;
typedef f32 lwElem_f32;
typedef f64 lwElem_f64;

// Steps that one turn of the k loop makes. A turn of 16 multiply-adds or more hides its counter; unrolled further, a
// tile whose rows lie far apart needs more addresses than there are registers (measured: 30 % slower), and takes longer
// to compile.
#define LW_STEPS(multiplyAdds) ((multiplyAdds) >= 16 ? 1 : (multiplyAdds) >= 8 ? 2 : 4)

#define LW_TILE_KERNEL(name, T, rows, vectors)                                                                         \
  LW_INLINE void name(T *restrict acc, const T *restrict a, i64 rs, i64 ks, const T *restrict b, i64 bs, i64 k) {      \
    LW_TILE_LOAD(T, rows, vectors)                                                                                     \
    enum { unroll = LW_STEPS((rows) * (vectors)) };                                                                    \
    _Pragma("clang loop unroll_count(unroll)") for (i64 p = 0; p < k; ++p) {                                           \
      V bv[vectors];                                                                                                   \
      LW_UNROLL for (int j = 0; j < (vectors); ++j) bv[j] = *(const U *)(b + p * bs + j * VL);                         \
      LW_UNROLL for (int i = 0; i < (rows); ++i) {                                                                     \
        V av = (V)(lwElem_##T)a[i * rs + p * ks];                                                                      \
        LW_UNROLL for (int j = 0; j < (vectors); ++j) c[i][j] = LW_MAC_##T(av, bv[j], c[i][j]);                        \
      }                                                                                                                \
    }                                                                                                                  \
    LW_TILE_STORE(rows, vectors)                                                                                       \
  }

#define LW_TILE_LOAD(T, rows, vectors)                                                                                 \
  enum { VL = lwVectorBytes / sizeof(T) };                                                                             \
  typedef LW_VECTOR(lwElem_##T, VL) V;                                                                                 \
  typedef V U __attribute__((aligned(sizeof(T))));                                                                     \
  V c[rows][vectors];                                                                                                  \
  LW_UNROLL for (int i = 0; i < (rows); ++i) LW_UNROLL for (int j = 0; j < (vectors); ++j) c[i][j] =                   \
      *(const U *)(acc + (i * (vectors) + j) * VL);

#define LW_TILE_STORE(rows, vectors)                                                                                   \
  LW_UNROLL for (int i = 0; i < (rows); ++i) LW_UNROLL for (int j = 0; j < (vectors); ++j) *                           \
      (U *)(acc + (i * (vectors) + j) * VL) = c[i][j];

// A through row pointers (convolution), B packed.
#define LW_INDIRECT_KERNEL(name, T, rows)                                                                              \
  LW_INLINE void name(T *restrict acc, const T *const *restrict rowPointers, const T *restrict b, i64 k) {             \
    LW_TILE_LOAD(T, rows, 2)                                                                                           \
    const T *r[rows];                                                                                                  \
    LW_UNROLL for (int i = 0; i < (rows); ++i) r[i] = rowPointers[i];                                                  \
    enum { unroll = LW_STEPS((rows) * 2) };                                                                            \
    _Pragma("clang loop unroll_count(unroll)") for (i64 p = 0; p < k; ++p) {                                           \
      V b0 = *(const U *)(b + p * 2 * VL), b1 = *(const U *)(b + p * 2 * VL + VL);                                     \
      LW_UNROLL for (int i = 0; i < (rows); ++i) {                                                                     \
        V av = (V)(lwElem_##T)r[i][p];                                                                                 \
        c[i][0] = LW_MAC_##T(av, b0, c[i][0]);                                                                         \
        c[i][1] = LW_MAC_##T(av, b1, c[i][1]);                                                                         \
      }                                                                                                                \
    }                                                                                                                  \
    LW_TILE_STORE(rows, 2)                                                                                             \
  }

#if defined(__AVX512F__)
#define LW_TILE_KERNELS_8(T)                                                                                           \
  LW_TILE_KERNEL(lw_mk8_##T, T, 8, 2)                                                                                  \
  LW_TILE_KERNEL(lw_mk8_##T##_v1, T, 8, 1)                                                                             \
  const int lw_mk_##T##_rows[] = {lwTileRows, 8, 4, 2, 1, 0};
#else
#define LW_TILE_KERNELS_8(T) const int lw_mk_##T##_rows[] = {lwTileRows, 4, 2, 1, 0};
#endif

#define LW_TILE_KERNELS(T)                                                                                             \
  LW_TILE_KERNEL(lw_mk_##T, T, lwTileRows, 2)                                                                          \
  LW_TILE_KERNEL(lw_mk4_##T, T, 4, 2)                                                                                  \
  LW_TILE_KERNEL(lw_mk2_##T, T, 2, 2)                                                                                  \
  LW_TILE_KERNEL(lw_mk1_##T, T, 1, 2)                                                                                  \
  LW_TILE_KERNEL(lw_mk_##T##_v1, T, lwTileRows, 1)                                                                     \
  LW_TILE_KERNEL(lw_mk4_##T##_v1, T, 4, 1)                                                                             \
  LW_TILE_KERNEL(lw_mk2_##T##_v1, T, 2, 1)                                                                             \
  LW_TILE_KERNEL(lw_mk1_##T##_v1, T, 1, 1)                                                                             \
  LW_TILE_KERNELS_8(T)                                                                                                 \
  LW_INDIRECT_KERNEL(lw_mk_ind_##T, T, lwTileRows)                                                                     \
  const int lw_mk_##T##_params[3] = {lwTileRows, 2 * lwVectorBytes / sizeof(T), lwVectorBytes / sizeof(T)};

LW_TILE_KERNELS(f32)
LW_TILE_KERNELS(f64)
LW_TILE_KERNELS(i32)
LW_TILE_KERNELS(i64)
LW_TILE_KERNELS(i16x2)
