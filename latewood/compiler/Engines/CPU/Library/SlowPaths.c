// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reduction of huge arguments of sin, cos and tan modulo pi/2 (after Payne and Hanek), and remainders with a huge
// quotient.
//
// x = m * 2^e with a 53-bit integer m. Of x * 2/pi only the value modulo 4 matters, so the bits of 2/pi that would give
// multiples of 4 are skipped, and 192 bits from there on are multiplied by m exactly: two bits of quadrant and 190 of
// fraction, of which at most 62 cancel. The table has enough bits for the largest f64.

#include "SlowPaths.h"
#include "Coefficients.h"
#include "Remainder.h"

// Returns the quadrant; x = quadrant * pi/2 + remainder[0] + remainder[1] modulo 2 pi. For finite |x| >= 2^26.
static i64 reduceHuge(f64 x, f64 *restrict remainder) {
  u64 bits = LW_BITS(u64, x) & 0x7fffffffffffffff;
  u64 m = (bits & 0x000fffffffffffff) | 0x0010000000000000;
  int skip = (int)(bits >> 52) - 1075 - 2; /* e - 2 */
  int shift = skip < 0 ? -skip : 0;
  u64 offset = skip < 0 ? 0 : (u64)skip;

  /* 192 bits of 2/pi from `offset` on, most significant word first. */
  u64 word = offset / 64, left = offset % 64, w[3];
  LW_UNROLL for (int i = 0; i < 3; ++i) w[i] =
      left ? lwTwoOverPiBits[word + i] << left | lwTwoOverPiBits[word + i + 1] >> (64 - left)
           : lwTwoOverPiBits[word + i];

  u128 low = (u128)m * w[2];
  u128 middle = (u128)m * w[1] + (u64)(low >> 64);
  u128 high = (u128)m * w[0] + (u64)(middle >> 64);
  /* product = high : (u64)middle : (u64)low, of which the low 192 bits after the shift count. */
  u128 top = (high << 64) | (u64)middle;
  u64 bottom = (u64)low;
  if (shift) {
    bottom = bottom >> shift | (u64)top << (64 - shift);
    top = (u128)(u64)(high >> 64) << (128 - shift) | top >> shift;
  }
  i64 quadrant = (i64)(u64)(top >> 126);
  u128 fraction = top << 2 | bottom >> 62;
  int negative = (int)(fraction >> 127);
  if (negative) { /* to the nearest multiple */
    fraction = -fraction;
    ++quadrant;
  }
  f64 upper = 0, lower = 0;
  if (fraction) {
    u64 head = (u64)(fraction >> 64);
    int zeros = head ? __builtin_clzl(head) : 64 + __builtin_clzl((u64)fraction);
    fraction <<= zeros;
    head = (u64)(fraction >> 64);
    f64 unit = LW_BITS(f64, (u64)(1023 - 64 - zeros) << 52);
    upper = (f64)(i64)(head >> 11) * 2048.0 * unit;
    lower = (f64)(i64)(head & 0x7ff) * unit + (f64)(i64)((u64)fraction >> 1) * 0x1p-63 * unit;
  }
  f64 product = upper * lwPiOver2_f64;
  f64 rest = __builtin_elementwise_fma(upper, lwPiOver2_f64, -product) +
             __builtin_elementwise_fma(upper, lwPiOver2Low_f64, lower * lwPiOver2_f64);
  f64 sum = product + rest;
  rest -= sum - product;
  if (negative != (x < 0)) {
    sum = -sum;
    rest = -rest;
  }
  remainder[0] = sum;
  remainder[1] = rest;
  return x < 0 ? -quadrant : quadrant;
}

void lw_slow_trig(const f64 *restrict x, f64 *restrict high, f64 *restrict low, i64 *restrict quadrant, i64 lanes) {
  for (i64 i = 0; i < lanes; ++i)
    if (__builtin_fabs(x[i]) > LW_TRIG_LIMIT && __builtin_fabs(x[i]) < __builtin_inf()) {
      f64 remainder[2];
      quadrant[i] = reduceHuge(x[i], remainder);
      high[i] = remainder[0];
      low[i] = remainder[1];
    }
}

void lw_slow_fmod_f32(const f32 *restrict x, const f32 *restrict y, f32 *restrict result, i64 lanes) {
  for (i64 i = 0; i < lanes; ++i)
    result[i] = lwRemainder_f32(x[i], y[i]);
}

void lw_slow_fmod_f64(const f64 *restrict x, const f64 *restrict y, f64 *restrict result, i64 lanes) {
  for (i64 i = 0; i < lanes; ++i)
    result[i] = lwRemainder_f64(x[i], y[i]);
}
