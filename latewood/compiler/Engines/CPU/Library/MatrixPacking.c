// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packing and matrix-vector products. The contract stands in MatrixKernels.h.
//
// A panel is what a tile kernel reads front to back: MR rows of A, or NR columns of B, with k outermost. Packing is a
// copy when the source is contiguous along the panel, and a transposition when it is contiguous along k. The
// transposition works on 4x4 blocks inside 128-bit lanes: loading four rows per lane and two rounds of in-lane shuffles
// give whole vectors without a shuffle across lanes. Panels of B whose rows are contiguous are filled side by side, row
// by row, so that the matrix is read in long runs.

#include "Conversions.h"
#include "MatrixKernels.h"

typedef LW_VECTOR(f32, 4) F4;
typedef F4 F4u __attribute__((aligned(4)));

// Transposes the 4x4 block whose row i starts at src + i*stride; row p of the result goes to dst + p*step.
LW_LOCAL void transpose4(f32 *restrict dst, i64 step, const f32 *restrict src, i64 stride) {
  F4 r0 = *(const F4u *)src, r1 = *(const F4u *)(src + stride);
  F4 r2 = *(const F4u *)(src + 2 * stride), r3 = *(const F4u *)(src + 3 * stride);
  F4 a = __builtin_shufflevector(r0, r1, 0, 4, 1, 5), b = __builtin_shufflevector(r0, r1, 2, 6, 3, 7);
  F4 c = __builtin_shufflevector(r2, r3, 0, 4, 1, 5), d = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
  *(F4u *)dst = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  *(F4u *)(dst + step) = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  *(F4u *)(dst + 2 * step) = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  *(F4u *)(dst + 3 * step) = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

// One vector of rows (VL source rows, 4 columns each) at once: vector p of the result holds column p.
#if defined(__AVX512F__)
typedef LW_VECTOR(f32, 16) FV;
#define LW_UNPACK_LOW(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define LW_UNPACK_HIGH(a, b) __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
#define LW_PAIRS_LOW(a, b) __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
#define LW_PAIRS_HIGH(a, b) __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
LW_LOCAL FV gatherLanes(const f32 *p, i64 stride) {
  typedef LW_VECTOR(f32, 8) F8;
  F8 low = __builtin_shufflevector(*(const F4u *)p, *(const F4u *)(p + 4 * stride), 0, 1, 2, 3, 4, 5, 6, 7);
  F8 high =
      __builtin_shufflevector(*(const F4u *)(p + 8 * stride), *(const F4u *)(p + 12 * stride), 0, 1, 2, 3, 4, 5, 6, 7);
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
#else
typedef LW_VECTOR(f32, 8) FV;
#define LW_UNPACK_LOW(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define LW_UNPACK_HIGH(a, b) __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define LW_PAIRS_LOW(a, b) __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define LW_PAIRS_HIGH(a, b) __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
LW_LOCAL FV gatherLanes(const f32 *p, i64 stride) {
  return __builtin_shufflevector(*(const F4u *)p, *(const F4u *)(p + 4 * stride), 0, 1, 2, 3, 4, 5, 6, 7);
}
#endif
typedef FV FVu __attribute__((aligned(4)));

LW_LOCAL void transposeRows(f32 *restrict dst, i64 step, const f32 *restrict src, i64 stride) {
  FV r0 = gatherLanes(src, stride), r1 = gatherLanes(src + stride, stride);
  FV r2 = gatherLanes(src + 2 * stride, stride), r3 = gatherLanes(src + 3 * stride, stride);
  FV a = LW_UNPACK_LOW(r0, r1), b = LW_UNPACK_HIGH(r0, r1);
  FV c = LW_UNPACK_LOW(r2, r3), d = LW_UNPACK_HIGH(r2, r3);
  *(FVu *)dst = LW_PAIRS_LOW(a, c);
  *(FVu *)(dst + step) = LW_PAIRS_HIGH(a, c);
  *(FVu *)(dst + 2 * step) = LW_PAIRS_LOW(b, d);
  *(FVu *)(dst + 3 * step) = LW_PAIRS_HIGH(b, d);
}

// Transposing copy of a full panel of `width` rows of 32-bit elements, for the first multiple of 4 columns of k.
// Returns the number of columns done.
LW_LOCAL i64 transposePanel(f32 *restrict dst, const f32 *restrict src, i64 stride, i64 k, const int width) {
  enum { VL = lwVectorBytes / 4 };
  i64 p = 0;
  for (; p + 4 <= k; p += 4) {
    int i = 0;
    LW_UNROLL for (; i + VL <= width; i += VL) transposeRows(dst + p * width + i, width, src + i * stride + p, stride);
    LW_UNROLL for (; i + 4 <= width; i += 4) transpose4(dst + p * width + i, width, src + i * stride + p, stride);
    LW_UNROLL for (; i < width; ++i) for (int q = 0; q < 4; ++q) dst[(p + q) * width + i] = src[i * stride + p + q];
  }
  return p;
}

#define LW_NO_TRANSPOSE(dst, src, stride, k, width) 0
#define LW_TRANSPOSE_WORDS(dst, src, stride, k, width)                                                                 \
  transposePanel((f32 *)(dst), (const f32 *)(src), (stride), (k), (width))

// One panel of `width` positions at distance ps, of which `valid` exist; k steps at distance ks.
#define LW_PACK_PANEL(name, suffix, S, T, WIDTH, TRANSPOSE)                                                            \
  LW_LOCAL void name(T *restrict dst, const S *restrict src, i64 ps, i64 ks, i64 k, i64 valid) {                       \
    enum { width = WIDTH, VL = lwVectorBytes / sizeof(T) };                                                            \
    typedef LW_VECTOR(T, VL) V;                                                                                        \
    typedef V U __attribute__((aligned(sizeof(T))));                                                                   \
    if (valid >= width && ps == 1) {                                                                                   \
      for (i64 p = 0; p < k; ++p) {                                                                                    \
        int i = 0;                                                                                                     \
        LW_UNROLL for (; i + VL <= width; i += VL) * (U *)(dst + p * width + i) = lwLoad_##suffix(src + p * ks + i);   \
        LW_UNROLL for (; i < width; ++i) dst[p * width + i] = lwConvert_##suffix(src[p * ks + i]);                     \
      }                                                                                                                \
      return;                                                                                                          \
    }                                                                                                                  \
    if (valid >= width) {                                                                                              \
      i64 p = ks == 1 ? TRANSPOSE(dst, src, ps, k, width) : 0;                                                         \
      for (; p < k; ++p)                                                                                               \
        LW_UNROLL for (int i = 0; i < width; ++i) dst[p * width + i] = lwConvert_##suffix(src[i * ps + p * ks]);       \
      return;                                                                                                          \
    }                                                                                                                  \
    for (i64 p = 0; p < k; ++p)                                                                                        \
      for (i64 i = 0; i < width; ++i)                                                                                  \
        dst[p * width + i] = i < valid ? lwConvert_##suffix(src[i * ps + p * ks]) : (T)0;                              \
  }

#define LW_PACKS(suffix, S, T, TRANSPOSE)                                                                              \
  LW_PACK_PANEL(lwPanelA_##suffix, suffix, S, T, lwTileRows, TRANSPOSE)                                                \
  LW_PACK_PANEL(lwPanelB_##suffix, suffix, S, T, 2 * lwVectorBytes / sizeof(T), TRANSPOSE)                             \
  LW_CALL void lw_packA_##suffix(T *restrict dst, const S *restrict src, i64 rs, i64 ks, i64 m, i64 k) {               \
    for (i64 i = 0; i < m; i += lwTileRows)                                                                            \
      lwPanelA_##suffix(dst + i * k, src + i * rs, rs, ks, k, m - i);                                                  \
  }                                                                                                                    \
  LW_CALL void lw_packB_##suffix(T *restrict dst, const S *restrict src, i64 ks, i64 cs, i64 k, i64 n) {               \
    enum { VL = lwVectorBytes / sizeof(T), NR = 2 * VL };                                                              \
    typedef LW_VECTOR(T, VL) V;                                                                                        \
    typedef V U __attribute__((aligned(sizeof(T))));                                                                   \
    i64 j = 0;                                                                                                         \
    if (cs == 1) {                                                                                                     \
      i64 full = n - n % NR;                                                                                           \
      for (i64 p = 0; p < k; ++p)                                                                                      \
        for (j = 0; j < full; j += NR) {                                                                               \
          U *to = (U *)(dst + j * k + p * NR);                                                                         \
          to[0] = lwLoad_##suffix(src + p * ks + j);                                                                   \
          to[1] = lwLoad_##suffix(src + p * ks + j + VL);                                                              \
        }                                                                                                              \
      j = full;                                                                                                        \
    }                                                                                                                  \
    for (; j < n; j += NR)                                                                                             \
      lwPanelB_##suffix(dst + j * k, src + j * cs, cs, ks, k, n - j);                                                  \
  }

LW_PACKS(f32, f32, f32, LW_TRANSPOSE_WORDS)
LW_PACKS(i32, i32, i32, LW_TRANSPOSE_WORDS)
LW_PACKS(f64, f64, f64, LW_NO_TRANSPOSE)
LW_PACKS(i64, i64, i64, LW_NO_TRANSPOSE)
LW_PACKS(bf16_f32, bf16, f32, LW_NO_TRANSPOSE)
LW_PACKS(f16_f32, f16, f32, LW_NO_TRANSPOSE)
LW_PACKS(i8_i32, i8, i32, LW_NO_TRANSPOSE)
LW_PACKS(u8_i32, u8, i32, LW_NO_TRANSPOSE)
LW_PACKS(i16_i32, i16, i32, LW_NO_TRANSPOSE)
LW_PACKS(u16_i32, u16, i32, LW_NO_TRANSPOSE)

// Two steps in a word, the first one in the lower half.
#define LW_PAIR(first, second) (i16x2)((u32)(u16)(first) | (u32)(u16)(second) << 16)

// One panel of pairs. Along the panel, two rows make a row of words; along k, words are made first and transposed then.
#define LW_PACK_PAIRS_PANEL(name, suffix, S, WIDTH)                                                                    \
  LW_LOCAL void name(i16x2 *restrict dst, const S *restrict src, i64 ps, i64 ks, i64 k, i64 valid) {                   \
    enum { width = WIDTH, VL = lwVectorBytes / 4, chunk = 32 };                                                        \
    typedef LW_VECTOR(u32, VL) V;                                                                                      \
    typedef V U __attribute__((aligned(4)));                                                                           \
    i64 p = 0, pairs = k / 2;                                                                                          \
    if (valid >= width && ps == 1) {                                                                                   \
      for (; p < pairs; ++p) {                                                                                         \
        const S *first = src + 2 * p * ks, *second = first + ks;                                                       \
        int i = 0;                                                                                                     \
        LW_UNROLL for (; i + VL <= width; i += VL) {                                                                   \
          V low = LW_BITS(V, lwLoad_##suffix##_i32(first + i)), high = LW_BITS(V, lwLoad_##suffix##_i32(second + i));  \
          *(U *)(dst + p * width + i) = (low & 0xffff) | high << 16;                                                   \
        }                                                                                                              \
        LW_UNROLL for (; i < width; ++i) dst[p * width + i] = LW_PAIR(first[i], second[i]);                            \
      }                                                                                                                \
    } else if (valid >= width && ks == 1) {                                                                            \
      f32 words[width * chunk]; /* as transposePanel takes them */                                                     \
      for (; p + chunk <= pairs; p += chunk) {                                                                         \
        for (i64 i = 0; i < width; ++i)                                                                                \
          for (i64 q = 0; q < chunk; ++q)                                                                              \
            words[i * chunk + q] = LW_BITS(f32, LW_PAIR(src[i * ps + 2 * (p + q)], src[i * ps + 2 * (p + q) + 1]));    \
        transposePanel((f32 *)(dst + p * width), words, chunk, chunk, width);                                          \
      }                                                                                                                \
    }                                                                                                                  \
    for (; p < pairs; ++p)                                                                                             \
      for (i64 i = 0; i < width; ++i)                                                                                  \
        dst[p * width + i] = i < valid ? LW_PAIR(src[i * ps + 2 * p * ks], src[i * ps + (2 * p + 1) * ks]) : (i16x2)0; \
    if (k % 2)                                                                                                         \
      for (i64 i = 0; i < width; ++i)                                                                                  \
        dst[p * width + i] = i < valid ? LW_PAIR(src[i * ps + 2 * p * ks], 0) : (i16x2)0;                              \
  }

#define LW_PACK_PAIRS(suffix, S)                                                                                       \
  LW_PACK_PAIRS_PANEL(lwPairsA_##suffix, suffix, S, lwTileRows)                                                        \
  LW_PACK_PAIRS_PANEL(lwPairsB_##suffix, suffix, S, lwVectorBytes / 2)                                                 \
  LW_CALL void lw_packA_##suffix##_i16x2(i16x2 *restrict dst, const S *restrict src, i64 rs, i64 ks, i64 m, i64 k) {   \
    for (i64 i = 0; i < m; i += lwTileRows)                                                                            \
      lwPairsA_##suffix(dst + i * ((k + 1) / 2), src + i * rs, rs, ks, k, m - i);                                      \
  }                                                                                                                    \
  LW_CALL void lw_packB_##suffix##_i16x2(i16x2 *restrict dst, const S *restrict src, i64 ks, i64 cs, i64 k, i64 n) {   \
    enum { NR = lwVectorBytes / 2 };                                                                                   \
    for (i64 j = 0; j < n; j += NR)                                                                                    \
      lwPairsB_##suffix(dst + j * ((k + 1) / 2), src + j * cs, cs, ks, k, n - j);                                      \
  }

LW_PACK_PAIRS(i8, i8)
LW_PACK_PAIRS(u8, u8)
LW_PACK_PAIRS(i16, i16)

// y += x * W, ROWS rows of W at a time over the whole chunk: long contiguous runs keep the hardware prefetcher going,
// and y is loaded and stored once per ROWS rows.
#define LW_MATVEC_ROWS(suffix, S, T, ROWS)                                                                             \
  for (; p + ROWS <= k; p += ROWS) {                                                                                   \
    V xv[ROWS];                                                                                                        \
    LW_UNROLL for (int r = 0; r < ROWS; ++r) xv[r] = (V)x[p + r];                                                      \
    i64 j = 0;                                                                                                         \
    for (; j + VL <= n; j += VL) {                                                                                     \
      V s = *(const U *)(y + j);                                                                                       \
      LW_UNROLL for (int r = 0; r < ROWS; ++r) s =                                                                     \
          __builtin_elementwise_fma(xv[r], lwLoad_##suffix(w + (p + r) * ldw + j), s);                                 \
      *(U *)(y + j) = s;                                                                                               \
    }                                                                                                                  \
    for (; j < n; ++j) {                                                                                               \
      T s = y[j];                                                                                                      \
      LW_UNROLL for (int r = 0; r < ROWS; ++r) s =                                                                     \
          __builtin_elementwise_fma(x[p + r], lwConvert_##suffix(w[(p + r) * ldw + j]), s);                            \
      y[j] = s;                                                                                                        \
    }                                                                                                                  \
  }

// y[j] += <x, row j of W>, ROWS rows at a time, so that one load of x serves them all.
#define LW_MATVEC_COLUMNS(suffix, S, T, ROWS)                                                                          \
  for (; j + ROWS <= n; j += ROWS) {                                                                                   \
    V s0[ROWS], s1[ROWS];                                                                                              \
    LW_UNROLL for (int r = 0; r < ROWS; ++r) s0[r] = s1[r] = (V)(T)0;                                                  \
    i64 p = 0;                                                                                                         \
    for (; p + 2 * VL <= k; p += 2 * VL) {                                                                             \
      V x0 = *(const U *)(x + p), x1 = *(const U *)(x + p + VL);                                                       \
      LW_UNROLL for (int r = 0; r < ROWS; ++r) {                                                                       \
        const S *row = w + (j + r) * ldw + p;                                                                          \
        s0[r] = __builtin_elementwise_fma(x0, lwLoad_##suffix(row), s0[r]);                                            \
        s1[r] = __builtin_elementwise_fma(x1, lwLoad_##suffix(row + VL), s1[r]);                                       \
      }                                                                                                                \
    }                                                                                                                  \
    LW_UNROLL for (int r = 0; r < ROWS; ++r) {                                                                         \
      T tail = 0;                                                                                                      \
      for (i64 q = p; q < k; ++q)                                                                                      \
        tail = __builtin_elementwise_fma(x[q], lwConvert_##suffix(w[(j + r) * ldw + q]), tail);                        \
      y[j + r] += lwSum_##T(s0[r] + s1[r]) + tail;                                                                     \
    }                                                                                                                  \
  }

#define LW_MATVEC(suffix, S, T)                                                                                        \
  LW_CALL void lw_matvec_##suffix(T *restrict y, const T *restrict x, const S *restrict w, i64 ldw, i64 k, i64 n) {    \
    enum { VL = lwVectorBytes / sizeof(T) };                                                                           \
    typedef LW_VECTOR(T, VL) V;                                                                                        \
    typedef V U __attribute__((aligned(sizeof(T))));                                                                   \
    i64 p = 0;                                                                                                         \
    LW_MATVEC_ROWS(suffix, S, T, 8)                                                                                    \
    LW_MATVEC_ROWS(suffix, S, T, 1)                                                                                    \
  }                                                                                                                    \
  LW_CALL void lw_matvec_t_##suffix(T *restrict y, const T *restrict x, const S *restrict w, i64 ldw, i64 k, i64 n) {  \
    enum { VL = lwVectorBytes / sizeof(T) };                                                                           \
    typedef LW_VECTOR(T, VL) V;                                                                                        \
    typedef V U __attribute__((aligned(sizeof(T))));                                                                   \
    i64 j = 0;                                                                                                         \
    LW_MATVEC_COLUMNS(suffix, S, T, 4)                                                                                 \
    LW_MATVEC_COLUMNS(suffix, S, T, 1)                                                                                 \
  }

// Pairwise sum of a vector's elements, always in the same tree.
#define LW_HORIZONTAL_SUM(T)                                                                                           \
  LW_LOCAL T lwSum_##T(LW_VECTOR(T, lwVectorBytes / sizeof(T)) v) {                                                    \
    typedef LW_VECTOR(T, lwVectorBytes / sizeof(T) / 2) H;                                                             \
    typedef LW_VECTOR(T, lwVectorBytes / sizeof(T) / 4) Q;                                                             \
    H h = v.lo + v.hi;                                                                                                 \
    Q q = h.lo + h.hi;                                                                                                 \
    LW_HORIZONTAL_REST_##T                                                                                             \
  }
#if defined(__AVX512F__)
#define LW_HORIZONTAL_REST_f32 return (q.x + q.z) + (q.y + q.w);
#else
#define LW_HORIZONTAL_REST_f32 return q.x + q.y;
#endif
#if defined(__AVX512F__)
#define LW_HORIZONTAL_REST_f64 return q.x + q.y;
#else
#define LW_HORIZONTAL_REST_f64 return q[0];
#endif
LW_HORIZONTAL_SUM(f32)
LW_HORIZONTAL_SUM(f64)

LW_MATVEC(f32, f32, f32)
LW_MATVEC(f64, f64, f64)
LW_MATVEC(bf16_f32, bf16, f32)
LW_MATVEC(f16_f32, f16, f32)
