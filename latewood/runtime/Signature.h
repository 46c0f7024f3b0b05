// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a public function takes and gives. Every array is row-major with canonical strides and offset 0: the layout is
// not part of a type because there is only one.

#ifndef LATEWOOD_RUNTIME_SIGNATURE_H
#define LATEWOOD_RUNTIME_SIGNATURE_H

#include "latewood/runtime/ElementType.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace latewood::runtime {

/// Where memory is. The numbers are those of the executable file.
enum class MemorySpace : uint8_t { host = 0, pinnedHost = 1, device = 2, unified = 3 };

LATEWOOD_API std::string_view memorySpaceName(MemorySpace space);

/// An extent that is known only when the program runs.
inline constexpr int64_t dynamicExtent = -1;

/// The type of an array: element type, extents, memory space.
struct MemRefType {
  ElementType elementType = ElementType::invalid;
  std::vector<int64_t> shape;
  MemorySpace space = MemorySpace::host;

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  LATEWOOD_API bool hasStaticShape() const;
  /// "memref<4x?xf32>"; the memory space is shown unless it is the host.
  LATEWOOD_API std::string str() const;
};

/// An argument or a result of a function.
struct ValueSignature : MemRefType {
  /// Of the argument in the source program; may be empty.
  std::string name;
  /// Bounds of the extents, one entry for each dimension; empty where there are none.
  std::vector<int64_t> min, opt, max;
  /// Limits of the elements of a small integer argument, one entry for each element; empty where there are none.
  std::vector<int64_t> minValue, maxValue;
  /// Of a result: its extents are known only when it has been computed; no shape function gives them.
  bool isDataDependent = false;
};

/// A pair that may share memory.
struct AliasSignature {
  enum class Kind : uint8_t {
    /// The caller may give the argument's memory away for the result.
    donated = 0,
    /// The function is right when both begin at the same address and have the same size.
    sameAddress = 1,
  };
  uint32_t argument = 0;
  uint32_t result = 0;
  Kind kind = Kind::donated;
};

struct FunctionSignature {
  std::string name;
  std::vector<ValueSignature> arguments;
  std::vector<ValueSignature> results;
  std::vector<AliasSignature> aliases;
  /// Bytes of temporary memory of one call, which its session keeps between calls.
  int64_t workspaceBytes = 0;
  /// The function of the executable that computes result extents from argument extents; may be empty.
  std::string shapeFunctionName;
  /// Position in `Executable::functions`.
  uint32_t index = 0;

  /// "main(memref<4x8xf32>, …) -> (memref<4x2xf32>)".
  LATEWOOD_API std::string str() const;
};

/// "[4, 8]".
LATEWOOD_API std::string shapeText(std::span<const int64_t> extents);
/// Strides in elements of the row-major layout without gaps. Extents of 0 count as 1, so that no stride is 0.
LATEWOOD_API std::vector<int64_t> canonicalStrides(std::span<const int64_t> extents);

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_SIGNATURE_H
