/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Element conversions of the packing and matrix-vector code: lwConvert_S_T for one element, lwLoad_S_T(p, V) for a
 * vector of as many elements as V has. The name carries both types, since bf16 and u16 are one type in C.
 */
#ifndef LATEWOOD_LIBRARY_CONVERSIONS_H
#define LATEWOOD_LIBRARY_CONVERSIONS_H

#include "Target.h"

#define LW_PLAIN_CONVERSION(suffix, S, T)                                                                              \
  LW_LOCAL T lwConvert_##suffix(S x) { return (T)x; }                                                                  \
  LW_LOCAL LW_VECTOR(T, lwVectorBytes / sizeof(T)) lwLoad_##suffix(const S *p) {                                       \
    typedef LW_VECTOR(S, lwVectorBytes / sizeof(T)) VS;                                                                \
    typedef LW_VECTOR(T, lwVectorBytes / sizeof(T)) VT;                                                                \
    typedef VS US __attribute__((aligned(sizeof(S))));                                                                 \
    return __builtin_convertvector(*(const US *)p, VT);                                                                \
  }

LW_PLAIN_CONVERSION(f32, f32, f32)
LW_PLAIN_CONVERSION(f64, f64, f64)
LW_PLAIN_CONVERSION(i32, i32, i32)
LW_PLAIN_CONVERSION(i64, i64, i64)
LW_PLAIN_CONVERSION(f16_f32, f16, f32)
LW_PLAIN_CONVERSION(i8_i32, i8, i32)
LW_PLAIN_CONVERSION(u8_i32, u8, i32)
LW_PLAIN_CONVERSION(i16_i32, i16, i32)
LW_PLAIN_CONVERSION(u16_i32, u16, i32)

LW_LOCAL f32 lwConvert_bf16_f32(bf16 x) { return LW_BITS(f32, (u32)x << 16); }
LW_LOCAL LW_VECTOR(f32, lwVectorBytes / 4) lwLoad_bf16_f32(const bf16 *p) {
  typedef LW_VECTOR(u16, lwVectorBytes / 4) VH;
  typedef LW_VECTOR(u32, lwVectorBytes / 4) VW;
  typedef VH UH __attribute__((aligned(2)));
  VW bits = __builtin_convertvector(*(const UH *)p, VW) << 16;
  return LW_BITS(LW_VECTOR(f32, lwVectorBytes / 4), bits);
}

#endif
