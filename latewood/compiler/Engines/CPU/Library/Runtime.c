// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What instruction selection calls by name. Nothing else may be undefined in an object that becomes an image.
//
// This file is built to a native object and not to bitcode: instruction selection invents the calls after the last
// point at which bitcode could be linked. It is built freestanding, without builtins, and must not contain an aggregate
// copy or an aggregate initializer: the compiler turns those into calls of memcpy and memset even so, and memcpy would
// call itself. A test looks for such calls in the object.

#include "Remainder.h"

typedef unsigned long size_t;
typedef LW_VECTOR(u8, 32) Block;
typedef Block UBlock __attribute__((aligned(1)));
typedef u64 UWord __attribute__((aligned(1)));
typedef u32 UHalf __attribute__((aligned(1)));
typedef u16 UQuarter __attribute__((aligned(1)));
typedef LW_VECTOR(u8, 16) Piece;
typedef Piece UPiece __attribute__((aligned(1)));

#define LW_RUNTIME __attribute__((visibility("hidden"), nothrow, used))

// Less than 32 bytes, source and destination may overlap: every load comes before every store.
#define LW_MOVE_ENDS(T, size)                                                                                          \
  if (n >= (size)) {                                                                                                   \
    T first = *(const T *)s, last = *(const T *)(s + n - (size));                                                      \
    *(T *)d = first;                                                                                                   \
    *(T *)(d + n - (size)) = last;                                                                                     \
    return;                                                                                                            \
  }
static inline __attribute__((always_inline)) void moveSmall(u8 *d, const u8 *s, size_t n) {
  LW_MOVE_ENDS(UPiece, 16)
  LW_MOVE_ENDS(UWord, 8)
  LW_MOVE_ENDS(UHalf, 4)
  LW_MOVE_ENDS(UQuarter, 2)
  if (n)
    *d = *s;
}

// Correct for d below s in overlapping memory too: the tail is loaded before anything is stored over it.
static inline __attribute__((always_inline)) void moveForward(u8 *d, const u8 *s, size_t n) {
  if (n < 32) {
    moveSmall(d, s, n);
    return;
  }
  if (n >= 4096) { // fast string moves pay from here on
    __asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n)::"memory");
    return;
  }
  Block tail = *(const UBlock *)(s + n - 32);
  u8 *end = d + n - 32;
  for (; n > 32; n -= 32, d += 32, s += 32)
    *(UBlock *)d = *(const UBlock *)s;
  *(UBlock *)end = tail;
}

LW_RUNTIME void *memcpy(void *restrict destination, const void *restrict source, size_t n) {
  moveForward(destination, source, n);
  return destination;
}

LW_RUNTIME void *memmove(void *destination, const void *source, size_t n) {
  u8 *d = destination;
  const u8 *s = source;
  if ((u64)d - (u64)s >= n) { // d is below s, or they do not overlap
    moveForward(d, s, n);
    return destination;
  }
  if (n < 32) {
    moveSmall(d, s, n);
    return destination;
  }
  Block head = *(const UBlock *)s;
  for (; n > 32; n -= 32)
    *(UBlock *)(d + n - 32) = *(const UBlock *)(s + n - 32);
  *(UBlock *)d = head;
  return destination;
}

LW_RUNTIME void *memset(void *destination, int value, size_t n) {
  u8 *d = destination, byte = (u8)value;
  if (n < 32) {
    while (n--) {
      *d++ = byte;
      __asm__ volatile(""); // keeps this a loop
    }
    return destination;
  }
  Block block = (Block)byte;
  *(UBlock *)(d + n - 32) = block;
  for (; n > 32; n -= 32, d += 32)
    *(UBlock *)d = block;
  return destination;
}

LW_RUNTIME int memcmp(const void *x, const void *y, size_t n) {
  const u8 *a = x, *b = y;
  for (; n >= 8 && *(const UWord *)a == *(const UWord *)b; n -= 8, a += 8, b += 8)
    ;
  for (; n; --n, ++a, ++b)
    if (*a != *b)
      return *a - *b;
  return 0;
}

LW_RUNTIME int bcmp(const void *x, const void *y, size_t n) { return memcmp(x, y, n); }

//===- Wide integers
//--------------------------------------------------------------------------------------------------===//

static inline u128 divideWide(u128 a, u128 b, u128 *remainder) {
  u64 high = (u64)(a >> 64), bh = (u64)(b >> 64), bl = (u64)b;
  if (!bh) {
    // Two steps of the hardware's 128 by 64 bit division; the first remainder keeps the second quotient in range.
    u64 quotientHigh = high / bl, quotientLow, rest;
    __asm__("divq %4" : "=a"(quotientLow), "=d"(rest) : "a"((u64)a), "d"(high % bl), "r"(bl));
    *remainder = rest;
    return ((u128)quotientHigh << 64) | quotientLow;
  }
  if (b > a) {
    *remainder = a;
    return 0;
  }
  int shift = __builtin_clzl(bh) - __builtin_clzl(high);
  u128 quotient = 0;
  for (b <<= shift; shift >= 0; --shift, b >>= 1) {
    quotient <<= 1;
    if (a >= b) {
      a -= b;
      quotient |= 1;
    }
  }
  *remainder = a;
  return quotient;
}

static inline u128 magnitude(i128 x) { return x < 0 ? -(u128)x : (u128)x; }

LW_RUNTIME u128 __udivti3(u128 a, u128 b) {
  u128 remainder;
  return divideWide(a, b, &remainder);
}
LW_RUNTIME u128 __umodti3(u128 a, u128 b) {
  u128 remainder;
  divideWide(a, b, &remainder);
  return remainder;
}
LW_RUNTIME i128 __divti3(i128 a, i128 b) {
  u128 remainder, quotient = divideWide(magnitude(a), magnitude(b), &remainder);
  return (i128)((a < 0) != (b < 0) ? -quotient : quotient);
}
LW_RUNTIME i128 __modti3(i128 a, i128 b) {
  u128 remainder;
  divideWide(magnitude(a), magnitude(b), &remainder);
  return (i128)(a < 0 ? -remainder : remainder);
}

//===- Conversions
//----------------------------------------------------------------------------------------------------===//

// A bf16 result is returned in a vector register: the prototype needs __bf16, not an integer.
LW_RUNTIME __bf16 __truncsfbf2(f32 x) {
  u32 bits = LW_BITS(u32, x);
  bits = x != x ? (bits >> 16) | 0x40 : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return LW_BITS(__bf16, (u16)bits);
}

// Rounds to odd: a second rounding to fewer digits is then right.
static inline f32 roundToOdd(f64 x) {
  f32 rounded = (f32)x;
  u32 bits = LW_BITS(u32, rounded);
  f64 back = rounded;
  if (x == x && back != x) {
    if ((back > x) == (x > 0))
      --bits;
    bits |= 1;
  }
  return LW_BITS(f32, bits);
}

LW_RUNTIME __bf16 __truncdfbf2(f64 x) { return __truncsfbf2(roundToOdd(x)); }
LW_RUNTIME _Float16 __truncdfhf2(f64 x) { return (_Float16)roundToOdd(x); }

//===- Arithmetic
//-----------------------------------------------------------------------------------------------------===//

LW_RUNTIME f32 fmodf(f32 x, f32 y) { return lwRemainder_f32(x, y); }
LW_RUNTIME f64 fmod(f64 x, f64 y) { return lwRemainder_f64(x, y); }

// A NaN operand is missing data: the other one is the result.
LW_RUNTIME f32 fmaxf(f32 x, f32 y) { return x != x ? y : (y != y ? x : (x > y ? x : y)); }
LW_RUNTIME f32 fminf(f32 x, f32 y) { return x != x ? y : (y != y ? x : (x < y ? x : y)); }
LW_RUNTIME f64 fmax(f64 x, f64 y) { return x != x ? y : (y != y ? x : (x > y ? x : y)); }
LW_RUNTIME f64 fmin(f64 x, f64 y) { return x != x ? y : (y != y ? x : (x < y ? x : y)); }

#define LW_INTEGER_POWER(name, F)                                                                                      \
  LW_RUNTIME F name(F x, int n) {                                                                                      \
    u32 left = n < 0 ? -(u32)n : (u32)n;                                                                               \
    F result = 1;                                                                                                      \
    for (;; x *= x) {                                                                                                  \
      if (left & 1)                                                                                                    \
        result *= x;                                                                                                   \
      if (!(left >>= 1))                                                                                               \
        return n < 0 ? 1 / result : result;                                                                            \
    }                                                                                                                  \
  }
LW_INTEGER_POWER(__powisf2, f32)
LW_INTEGER_POWER(__powidf2, f64)

// Scaling in steps, so that no factor leaves the range; the steps down keep the digits of a subnormal result in one
// piece, for a single rounding at the end.
#define LW_SCALE(name, F, U, digits, bias)                                                                             \
  LW_RUNTIME F name(F x, int n) {                                                                                      \
    const F up = LW_BITS(F, (U)(2 * (bias)) << (digits));                                                              \
    const F down = LW_BITS(F, (U)((digits) + 2) << (digits));                                                          \
    const int stepUp = (bias), stepDown = (bias) - (digits) - 2;                                                       \
    for (int i = 0; i < 2 && n > (bias); ++i, n -= stepUp)                                                             \
      x *= up;                                                                                                         \
    for (int i = 0; i < 2 && n < 1 - (bias); ++i, n += stepDown)                                                       \
      x *= down;                                                                                                       \
    n = n > (bias) ? (bias) : n < 1 - (bias) ? 1 - (bias) : n;                                                         \
    return x * LW_BITS(F, (U)((bias) + n) << (digits));                                                                \
  }
LW_SCALE(ldexpf, f32, u32, 23, 127)
LW_SCALE(ldexp, f64, u64, 52, 1023)
