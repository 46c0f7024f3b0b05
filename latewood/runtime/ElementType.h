// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element types as the runtime's API names them: StableHLO's list, with the numbers of the executable file (checked in
// ElementType.cpp), so that public headers need no generated code.

#ifndef LATEWOOD_RUNTIME_ELEMENTTYPE_H
#define LATEWOOD_RUNTIME_ELEMENTTYPE_H

#include "latewood/runtime/Export.h"

#include <cstdint>
#include <string_view>

namespace latewood::runtime {

/// X(enumerator): every element type, in the order of its number, which begins at 1.
// clang-format off
#define LATEWOOD_ELEMENT_TYPES(X)                                                                                      \
  X(i1) X(i2) X(i4) X(i8) X(i16) X(i32) X(i64) X(ui2) X(ui4) X(ui8) X(ui16) X(ui32) X(ui64) X(f4E2M1FN) X(f6E2M3FN)    \
  X(f6E3M2FN) X(f8E3M4) X(f8E4M3) X(f8E4M3B11FNUZ) X(f8E4M3FN) X(f8E4M3FNUZ) X(f8E5M2) X(f8E5M2FNUZ) X(f8E8M0FNU)      \
  X(bf16) X(f16) X(f32) X(f64) X(complex_f32) X(complex_f64)
// clang-format on

enum class ElementType : uint8_t {
  invalid = 0,
#define LATEWOOD_ENUMERATOR(name) name,
  LATEWOOD_ELEMENT_TYPES(LATEWOOD_ENUMERATOR)
#undef LATEWOOD_ENUMERATOR
};

/// StableHLO's spelling: "f32", "ui8", "complex<f32>".
LATEWOOD_API std::string_view elementTypeName(ElementType type);
/// The type with this spelling, or `invalid`.
LATEWOOD_API ElementType parseElementType(std::string_view name);
/// Width of the value in bits; complex<f32> has 64.
LATEWOOD_API int32_t bitsOf(ElementType type);
/// Bytes of one element in a buffer, which are whole: i1 and i4 take one.
LATEWOOD_API int32_t bytesOf(ElementType type);
/// Alignment that compiled code assumes of an element: its size, but that of the part for complex types.
LATEWOOD_API int32_t alignmentOf(ElementType type);

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_ELEMENTTYPE_H
