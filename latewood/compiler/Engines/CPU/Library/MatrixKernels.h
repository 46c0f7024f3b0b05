/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Matrix kernels: who owns which loop, and what generated code may rely on.
 *
 * The library owns the k loop of one register tile, because it needs an exact register schedule. Everything around it
 * is generated: initial value of the tile, epilogue, tile loops, cache blocking, batch, parallel loop. The tile lives
 * in a stack array of the caller:
 *
 *     float acc[MR][NR]           // 64-byte aligned, allocated in the entry block (an alloca in a loop grows the
 * stack) acc = 0 (or C)              // forwarded into registers once the kernel is inlined lw_mk_f32(acc, a, rs, ks,
 * b, bs, k) for each row: load from acc, fuse anything elementwise, store to C
 *
 * Tile kernels, T in {f32, f64, i32, i64}:
 *
 *     acc(i, j) += sum over p < k of A(i, p) * B(p, j)       A(i, p) = a[i*rs + p*ks],  B(p, j) = b[p*bs + j]
 *
 *   lw_mk_T                 MR rows, NR columns          lw_mk_T_v1       MR rows, NR/2 columns (narrow results)
 *   lw_mk8_T  (v4 only)     8 rows                       lw_mk8_T_v1
 *   lw_mk4_T lw_mk2_T lw_mk1_T                           lw_mk4_T_v1 lw_mk2_T_v1 lw_mk1_T_v1
 *
 *   - rows of `acc` lie NR elements apart, in the _v1 kernels NR/2 elements.
 *   - (rs, ks) is (1, MR) for a packed panel, (lda, 1) for row-major A, (1, lda) for A transposed; a tail kernel reads
 * a packed panel with the same (1, MR). bs is NR for packed B (also in _v1), ldb for row-major B.
 *   - All pointers need element alignment only. acc, a and b do not overlap.
 *   - Sums run over p in order, in one accumulator per element: the result does not depend on the blocking of m and n.
 *   - T = i16x2: integers of up to 16 bits, summed in 32. A word of a packed panel holds two steps, the first one in
 * its lower half; k counts words. Both factors are packed.
 *   - Integers wrap. Floating-point products are contracted into the sum (one rounding per step).
 *
 *   lw_mk_ind_T(acc, rows, b, k): the same for A given by MR row pointers, A(i, p) = rows[i][p], and packed B: the
 *   convolution kernel (one call per filter tap, padding points at a row of zeros).
 *
 * Numbers that the compiler reads from the bitcode, so that there is no second copy of them:
 *
 *   const int lw_mk_T_params[3] = {MR, NR, VL}       VL: elements of a vector; NR = 2*VL
 *   const int lw_mk_T_rows[]    = {MR, ..., 1, 0}    row counts that have a kernel, descending, ended by 0
 *                                                    v3: 6 4 2 1, v4: 12 8 4 2 1
 *
 * Packing (functions, not inlined). S_T names source and destination type where they differ:
 *   f32 f64 i32 i64 bf16_f32 f16_f32 i8_i32 u8_i32 i16_i32 u16_i32
 *   i8_i16x2 u8_i16x2 i16_i16x2: panels of ceil(k/2) words; behind an odd k is a zero
 *
 *   lw_packA_S_T(dst, src, rs, ks, m, k)   dst[ceil(m/MR)][k][MR], element (i, p) = src[i*rs + p*ks]; missing rows are
 * 0 lw_packB_S_T(dst, src, ks, cs, k, n)   dst[ceil(n/NR)][k][NR], element (p, j) = src[p*ks + j*cs]; missing columns 0
 *
 *   Fast where one of the two strides is 1 (4x4 transposing blocks for f32 and i32); general strides are right but
 * slow.
 *
 * Matrix times vector (M = 1), no packing. W of type S is converted in registers; x and y have type T. S_T as
 * f32, f64, bf16_f32, f16_f32:
 *
 *   lw_matvec_S_T(y, x, w, ldw, k, n)      y[j] += sum_p x[p] * w[p*ldw + j]     w row-major (k rows of n)
 *   lw_matvec_t_S_T(y, x, w, ldw, k, n)    y[j] += sum_p x[p] * w[j*ldw + p]     w transposed (n rows of k)
 *
 *   lw_matvec streams long rows: chunks of y of up to 4096 columns stay in the first-level cache, and no less should be
 *   asked for. lw_matvec_t splits each sum over two vectors of partial sums (a fixed order). y, x, w do not overlap.
 */
#ifndef LATEWOOD_LIBRARY_MATRIXKERNELS_H
#define LATEWOOD_LIBRARY_MATRIXKERNELS_H

#include "Target.h"

#if defined(__AVX512F__)
enum { lwTileRows = 12 }; /* 24 accumulators + 2 of B + 1 broadcast of 32 registers */
#else
enum { lwTileRows = 6 }; /* 12 + 2 + 1 of 16 */
#endif

/* Two integers of 16 bits, which are multiplied and summed in pairs. */
typedef i32 i16x2;

#define LW_DECLARE_TILE_KERNEL(name, T)                                                                                \
  void name(T *restrict acc, const T *restrict a, i64 rs, i64 ks, const T *restrict b, i64 bs, i64 k);
#define LW_DECLARE_TILE_KERNELS(T)                                                                                     \
  LW_DECLARE_TILE_KERNEL(lw_mk_##T, T)                                                                                 \
  LW_DECLARE_TILE_KERNEL(lw_mk8_##T, T)                                                                                \
  LW_DECLARE_TILE_KERNEL(lw_mk4_##T, T)                                                                                \
  LW_DECLARE_TILE_KERNEL(lw_mk2_##T, T)                                                                                \
  LW_DECLARE_TILE_KERNEL(lw_mk1_##T, T)                                                                                \
  LW_DECLARE_TILE_KERNEL(lw_mk_##T##_v1, T)                                                                            \
  LW_DECLARE_TILE_KERNEL(lw_mk8_##T##_v1, T)                                                                           \
  LW_DECLARE_TILE_KERNEL(lw_mk4_##T##_v1, T)                                                                           \
  LW_DECLARE_TILE_KERNEL(lw_mk2_##T##_v1, T)                                                                           \
  LW_DECLARE_TILE_KERNEL(lw_mk1_##T##_v1, T)                                                                           \
  void lw_mk_ind_##T(T *restrict acc, const T *const *restrict rows, const T *restrict b, i64 k);                      \
  extern const int lw_mk_##T##_params[3];                                                                              \
  extern const int lw_mk_##T##_rows[];

LW_DECLARE_TILE_KERNELS(f32)
LW_DECLARE_TILE_KERNELS(f64)
LW_DECLARE_TILE_KERNELS(i32)
LW_DECLARE_TILE_KERNELS(i64)
LW_DECLARE_TILE_KERNELS(i16x2)

#define LW_DECLARE_PACKS(suffix, S, T)                                                                                 \
  void lw_packA_##suffix(T *restrict dst, const S *restrict src, i64 rs, i64 ks, i64 m, i64 k);                        \
  void lw_packB_##suffix(T *restrict dst, const S *restrict src, i64 ks, i64 cs, i64 k, i64 n);

LW_DECLARE_PACKS(f32, f32, f32)
LW_DECLARE_PACKS(f64, f64, f64)
LW_DECLARE_PACKS(i32, i32, i32)
LW_DECLARE_PACKS(i64, i64, i64)
LW_DECLARE_PACKS(bf16_f32, bf16, f32)
LW_DECLARE_PACKS(f16_f32, f16, f32)
LW_DECLARE_PACKS(i8_i32, i8, i32)
LW_DECLARE_PACKS(u8_i32, u8, i32)
LW_DECLARE_PACKS(i16_i32, i16, i32)
LW_DECLARE_PACKS(u16_i32, u16, i32)
LW_DECLARE_PACKS(i8_i16x2, i8, i16x2)
LW_DECLARE_PACKS(u8_i16x2, u8, i16x2)
LW_DECLARE_PACKS(i16_i16x2, i16, i16x2)

#define LW_DECLARE_MATVEC(suffix, S, T)                                                                                \
  void lw_matvec_##suffix(T *restrict y, const T *restrict x, const S *restrict w, i64 ldw, i64 k, i64 n);             \
  void lw_matvec_t_##suffix(T *restrict y, const T *restrict x, const S *restrict w, i64 ldw, i64 k, i64 n);

LW_DECLARE_MATVEC(f32, f32, f32)
LW_DECLARE_MATVEC(f64, f64, f64)
LW_DECLARE_MATVEC(bf16_f32, bf16, f32)
LW_DECLARE_MATVEC(f16_f32, f16, f32)

#endif
