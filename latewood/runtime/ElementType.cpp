// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime's element types are the file's, by number.

#include "latewood/runtime/ElementType.h"

#include "latewood/format/ElementTypes.h"

namespace latewood::runtime {

#define LATEWOOD_CHECK(name)                                                                                           \
  static_assert(static_cast<uint8_t>(ElementType::name) == static_cast<uint8_t>(format::ElementType::name));
LATEWOOD_ELEMENT_TYPES(LATEWOOD_CHECK)
#undef LATEWOOD_CHECK

static const format::ElementTypeInfo *info(ElementType type) {
  return format::elementTypeInfo(static_cast<format::ElementType>(type));
}

std::string_view elementTypeName(ElementType type) {
  const auto *found = info(type);
  return found ? found->name : "invalid";
}

ElementType parseElementType(std::string_view name) { return static_cast<ElementType>(format::parseElementType(name)); }

int32_t bitsOf(ElementType type) {
  const auto *found = info(type);
  return found ? found->bits : 0;
}

int32_t bytesOf(ElementType type) {
  const auto *found = info(type);
  return found ? found->bytes : 0;
}

int32_t alignmentOf(ElementType type) {
  bool isComplex = type == ElementType::complex_f32 || type == ElementType::complex_f64;
  int32_t bytes = bytesOf(type);
  return bytes == 0 ? 1 : isComplex ? bytes / 2 : bytes;
}

} // namespace latewood::runtime
