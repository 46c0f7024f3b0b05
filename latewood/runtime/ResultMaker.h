// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime's own ways to values: without the checks, where they would repeat what is known. Internal.

#ifndef LATEWOOD_RUNTIME_RESULTMAKER_H
#define LATEWOOD_RUNTIME_RESULTMAKER_H

#include "latewood/runtime/Value.h"

namespace latewood::runtime {

class ResultMaker {
public:
  /// A canonical memref at the start of `storage`, which has room for these extents.
  static Ref<MemRefValue> make(Ref<Storage> storage, ElementType type, const int64_t *extents, int64_t rank);
};

/// Checks element type and extents; gives the bytes of the elements.
Status checkShape(ElementType type, std::span<const int64_t> shape, int64_t &bytes);

/// The bytes that elements with these (checked) extents and these strides touch, relative to the first one: [low,
/// high).
Status byteRange(ElementType type, std::span<const int64_t> shape, std::span<const int64_t> strides, int64_t &low,
                 int64_t &high);

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_RESULTMAKER_H
