/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The exact floating-point remainder in integers, for any operands: shared by the slow path of `lw_fmod_*` and by the
 * functions that instruction selection calls.
 *
 * x and y are integers times powers of two. The remainder of x = m * 2^e by y is found by reducing m, then multiplying
 * by as many powers of two as fit a 64-bit integer and reducing again, until the exponents agree.
 */
#ifndef LATEWOOD_LIBRARY_REMAINDER_H
#define LATEWOOD_LIBRARY_REMAINDER_H

#include "Target.h"

/* F: float type, U: its bits, digits: bits of the fraction field, bias irrelevant. */
#define LW_DEFINE_REMAINDER(name, F, U, digits, exponentMask, spare)                                                   \
  LW_LOCAL F name(F x, F y) {                                                                                          \
    const U implicit = (U)1 << (digits), sign = (U)1 << (sizeof(U) * 8 - 1);                                           \
    const U infinity = (U)(exponentMask) << (digits);                                                                  \
    U a = LW_BITS(U, x), b = LW_BITS(U, y);                                                                            \
    const U signOfX = a & sign;                                                                                        \
    a &= ~sign;                                                                                                        \
    b &= ~sign;                                                                                                        \
    if (b == 0 || a >= infinity || b > infinity)                                                                       \
      return (x * y) / (x * y); /* not a number */                                                                     \
    if (a < b)                                                                                                         \
      return x;                                                                                                        \
    /* A subnormal number has the exponent of the smallest normal one, without the implicit bit. */                    \
    int ea = (int)(a >> (digits)), eb = (int)(b >> (digits));                                                          \
    u64 ma = ea ? (a & (implicit - 1)) | implicit : a, mb = eb ? (b & (implicit - 1)) | implicit : b;                  \
    ea = ea ? ea : 1;                                                                                                  \
    eb = eb ? eb : 1;                                                                                                  \
    u64 r = ma % mb;                                                                                                   \
    for (int left = ea - eb; left > 0 && r != 0;) {                                                                    \
      int step = left < (spare) ? left : (spare);                                                                      \
      r = (r << step) % mb;                                                                                            \
      left -= step;                                                                                                    \
    }                                                                                                                  \
    if (r == 0)                                                                                                        \
      return LW_BITS(F, signOfX);                                                                                      \
    /* Normalize, but not below the smallest exponent: the result is a multiple of y's last place. */                  \
    while (r < implicit && eb > 1) {                                                                                   \
      r <<= 1;                                                                                                         \
      --eb;                                                                                                            \
    }                                                                                                                  \
    U bits = r < implicit ? (U)r : ((U)eb << (digits)) | ((U)r & (implicit - 1));                                      \
    return LW_BITS(F, signOfX | bits);                                                                                 \
  }

LW_DEFINE_REMAINDER(lwRemainder_f32, f32, u32, 23, 0xff, 40)
LW_DEFINE_REMAINDER(lwRemainder_f64, f64, u64, 52, 0x7ff, 11)

#endif
