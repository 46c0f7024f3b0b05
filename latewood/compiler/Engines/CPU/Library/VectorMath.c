// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The elementary functions, for all vector lengths from one source.
//
//     lw_<name>_f32, lw_<name>_f32x4, x8, x16      lw_<name>_f64, lw_<name>_f64x2, x4, x8
//
// Each included file is a template in the lane count LW_LANES: F and D are vectors of so many f32 and f64, FI/FU and
// DI/DU the integers of the same shape, N(name) is `name` with the lane count appended. The scalar form is the template
// with one lane, so that a value never depends on how a loop was cut into vectors.
//
// Accuracy: within 2 units in the last place for f32 (erf_inv 4) and 4 for f64 over the whole range, subnormal numbers
// included; NaN, infinities and signed zeros as IEEE 754 recommends. Functions of f32 that are hot are written in f32;
// the others round the f64 function. Branches depend on whole vectors and only guard slow paths (huge arguments of
// sin).
//
// -ffp-contract=off holds: where a fused multiply-add appears it was asked for.

#include "Coefficients.h"
#include "SlowPaths.h"

#define LW_JOIN2(a, b) a##_##b
#define LW_JOIN(a, b) LW_JOIN2(a, b)
#define N(name) LW_JOIN(name, LW_LANES)
#define HALF(name) LW_JOIN(name, LW_HALF)

#define fma(a, b, c) __builtin_elementwise_fma(a, b, c)
#define fabs(x) __builtin_elementwise_abs(x)
#define copysign(x, y) __builtin_elementwise_copysign(x, y)
#define sqrt(x) __builtin_elementwise_sqrt(x)
#define trunc(x) __builtin_elementwise_trunc(x)
#define roundeven(x) __builtin_elementwise_roundeven(x)

// A polynomial with the coefficients of a table, lowest degree first.
#define LW_POLYNOMIAL(V, x, table)                                                                                     \
  ({                                                                                                                   \
    V lwSum = (V)(table)[sizeof(table) / sizeof((table)[0]) - 1];                                                      \
    LW_UNROLL for (int lwI = sizeof(table) / sizeof((table)[0]) - 2; lwI >= 0; --lwI) lwSum =                          \
        fma(lwSum, x, (V)(table)[lwI]);                                                                                \
    lwSum;                                                                                                             \
  })

// The largest vector in bytes, for the preprocessor.
#if defined(__AVX512F__)
#define lwLargestVector 64
#else
#define lwLargestVector 32
#endif

#define LW_INFINITY_f32 __builtin_inff()
#define LW_INFINITY_f64 __builtin_inf()
#define LW_NAN_f32 __builtin_nanf("")
#define LW_NAN_f64 __builtin_nan("")

// A factor and an addend for logarithms in base 2, where the general form has numbers.
static const f32 lwOne_f32 = 1.0f, lwZero_f32 = 0.0f;
static const f64 lwOne_f64 = 1.0, lwZero_f64 = 0.0;

#define LW_LANES 1
#define LW_HALF 1
#include "VectorMath.inc"
#undef LW_LANES
#undef LW_HALF
#define LW_LANES 2
#define LW_HALF 1
#include "VectorMath.inc"
#undef LW_LANES
#undef LW_HALF
#define LW_LANES 4
#define LW_HALF 2
#include "VectorMath.inc"
#undef LW_LANES
#undef LW_HALF
#define LW_LANES 8
#define LW_HALF 4
#include "VectorMath.inc"
#undef LW_LANES
#undef LW_HALF
#if defined(__AVX512F__)
#define LW_LANES 16
#define LW_HALF 8
#include "VectorMath.inc"
#undef LW_LANES
#undef LW_HALF
#endif
