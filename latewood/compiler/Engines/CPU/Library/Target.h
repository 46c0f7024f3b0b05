/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What every file of the device library starts from: scalar and vector types, and the two kinds of functions.
 *
 * The library is compiled once per target level (x86-64-v3, x86-64-v4) to bitcode and linked into each image on demand,
 * so `__AVX512F__` here means "this is the v4 copy", not "this machine". It is freestanding: no header of the C
 * library, no mutable global, no call that leaves the library. It inherits the rounding and denormal mode of its
 * caller.
 *
 *   LW_INLINE  part of the interface, inlined into generated code (arguments are then constants there)
 *   LW_CALL    part of the interface, stays a function: long loops, where a call costs nothing
 *   LW_LOCAL   private to the library
 */
#ifndef LATEWOOD_LIBRARY_TARGET_H
#define LATEWOOD_LIBRARY_TARGET_H

typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned u32;
typedef unsigned long u64;
typedef __int128 i128;
typedef unsigned __int128 u128;
typedef float f32;
typedef double f64;
typedef _Float16 f16;

/* bfloat16 travels as bits: conversions are integer code on every level, so that they vectorize without BF16 hardware.
 */
typedef u16 bf16;

#define LW_INLINE __attribute__((always_inline, nothrow))
#define LW_CALL __attribute__((noinline, nothrow))
#define LW_LOCAL static inline __attribute__((always_inline, unused))
#define LW_UNROLL _Pragma("clang loop unroll(full)")
#define LW_VECTOR(type, lanes) type __attribute__((ext_vector_type(lanes)))

/* Bytes of the widest vector. */
#if defined(__AVX512F__)
enum { lwVectorBytes = 64 };
#else
enum { lwVectorBytes = 32 };
#endif

#define LW_BITS(type, value) __builtin_bit_cast(type, value)

#endif
