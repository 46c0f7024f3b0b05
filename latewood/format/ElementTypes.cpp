// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of element types, in the schema's order: the number of a type is its place here (checked below).

#include "latewood/format/ElementTypes.h"

namespace latewood::format {

namespace {
struct Entry {
  ElementType type;
  ElementTypeInfo info;
};

constexpr Entry entries[] = {
    {ElementType::invalid, {"invalid", 0, 0}},
    {ElementType::i1, {"i1", 1, 1}},
    {ElementType::i2, {"i2", 2, 1}},
    {ElementType::i4, {"i4", 4, 1}},
    {ElementType::i8, {"i8", 8, 1}},
    {ElementType::i16, {"i16", 16, 2}},
    {ElementType::i32, {"i32", 32, 4}},
    {ElementType::i64, {"i64", 64, 8}},
    {ElementType::ui2, {"ui2", 2, 1}},
    {ElementType::ui4, {"ui4", 4, 1}},
    {ElementType::ui8, {"ui8", 8, 1}},
    {ElementType::ui16, {"ui16", 16, 2}},
    {ElementType::ui32, {"ui32", 32, 4}},
    {ElementType::ui64, {"ui64", 64, 8}},
    {ElementType::f4E2M1FN, {"f4E2M1FN", 4, 1}},
    {ElementType::f6E2M3FN, {"f6E2M3FN", 6, 1}},
    {ElementType::f6E3M2FN, {"f6E3M2FN", 6, 1}},
    {ElementType::f8E3M4, {"f8E3M4", 8, 1}},
    {ElementType::f8E4M3, {"f8E4M3", 8, 1}},
    {ElementType::f8E4M3B11FNUZ, {"f8E4M3B11FNUZ", 8, 1}},
    {ElementType::f8E4M3FN, {"f8E4M3FN", 8, 1}},
    {ElementType::f8E4M3FNUZ, {"f8E4M3FNUZ", 8, 1}},
    {ElementType::f8E5M2, {"f8E5M2", 8, 1}},
    {ElementType::f8E5M2FNUZ, {"f8E5M2FNUZ", 8, 1}},
    {ElementType::f8E8M0FNU, {"f8E8M0FNU", 8, 1}},
    {ElementType::bf16, {"bf16", 16, 2}},
    {ElementType::f16, {"f16", 16, 2}},
    {ElementType::f32, {"f32", 32, 4}},
    {ElementType::f64, {"f64", 64, 8}},
    {ElementType::complex_f32, {"complex<f32>", 64, 8}},
    {ElementType::complex_f64, {"complex<f64>", 128, 16}},
};

constexpr bool isInOrder() {
  uint8_t number = 0;
  for (const Entry &entry : entries)
    if (static_cast<uint8_t>(entry.type) != number++)
      return false;
  return number == static_cast<uint8_t>(ElementType::MAX) + 1;
}
static_assert(isInOrder(), "the table must list every element type of the schema, in its order");
} // namespace

const ElementTypeInfo *elementTypeInfo(ElementType type) {
  auto number = static_cast<uint8_t>(type);
  return number == 0 || number > static_cast<uint8_t>(ElementType::MAX) ? nullptr : &entries[number].info;
}

ElementType parseElementType(std::string_view name) {
  for (const Entry &entry : entries)
    if (entry.info.name == name)
      return entry.type;
  return ElementType::invalid;
}

} // namespace latewood::format
