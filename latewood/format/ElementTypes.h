// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is fixed about each element type: its StableHLO spelling, its width in bits, and the bytes that one element
// takes in a buffer. The schema owns the list and the numbers; this table is the only other place that lists them, and
// the compiler, the runtime and the tools ask it.

#ifndef LATEWOOD_FORMAT_ELEMENTTYPES_H
#define LATEWOOD_FORMAT_ELEMENTTYPES_H

#include "latewood/format/executable_generated.h"

#include <cstdint>
#include <string_view>

namespace latewood::format {

struct ElementTypeInfo {
  /// StableHLO's spelling ("f32", "ui8", "complex<f32>").
  std::string_view name;
  /// Width of the value; `complex<f32>` has 64.
  int32_t bits;
  /// Bytes of one element in a buffer: at least one.
  int32_t bytes;
};

/// Null for `ElementType::invalid` and for numbers that the schema does not list.
const ElementTypeInfo *elementTypeInfo(ElementType type);

/// The element type with this StableHLO spelling, or `ElementType::invalid`.
ElementType parseElementType(std::string_view name);

} // namespace latewood::format

#endif // LATEWOOD_FORMAT_ELEMENTTYPES_H
