// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Texts of types and signatures, as the errors and `--inspect` show them.

#include "latewood/runtime/Signature.h"

#include <algorithm>

namespace latewood::runtime {

std::string_view memorySpaceName(MemorySpace space) {
  switch (space) {
  case MemorySpace::host:
    return "host";
  case MemorySpace::pinnedHost:
    return "pinned_host";
  case MemorySpace::device:
    return "device";
  case MemorySpace::unified:
    return "unified";
  }
  return "unknown";
}

bool MemRefType::hasStaticShape() const {
  return std::none_of(shape.begin(), shape.end(), [](int64_t extent) { return extent == dynamicExtent; });
}

std::string MemRefType::str() const {
  std::string text = "memref<";
  for (int64_t extent : shape)
    text += (extent == dynamicExtent ? "?" : std::to_string(extent)) + "x";
  text += elementTypeName(elementType);
  if (space != MemorySpace::host)
    text += ", " + std::string(memorySpaceName(space));
  return text + ">";
}

std::string FunctionSignature::str() const {
  auto list = [](const std::vector<ValueSignature> &values) {
    std::string text = "(";
    for (const ValueSignature &value : values) {
      if (text.size() > 1)
        text += ", ";
      if (!value.name.empty())
        text += value.name + ": ";
      text += value.str();
    }
    return text + ")";
  };
  return name + list(arguments) + " -> " + list(results);
}

std::string shapeText(std::span<const int64_t> extents) {
  std::string text = "[";
  for (int64_t extent : extents) {
    if (text.size() > 1)
      text += ", ";
    text += extent == dynamicExtent ? "?" : std::to_string(extent);
  }
  return text + "]";
}

std::vector<int64_t> canonicalStrides(std::span<const int64_t> extents) {
  std::vector<int64_t> strides(extents.size());
  int64_t stride = 1;
  for (size_t d = extents.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= std::max<int64_t>(extents[d], 1);
  }
  return strides;
}

} // namespace latewood::runtime
