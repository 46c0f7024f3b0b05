// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks of a call's arguments and given results. They are on the path of every call, so each value has a plan,
// and matching it is a handful of comparisons; only when it does not match is the reason worked out, and then in full:
// which value, what was expected, what was given. Internal.

#ifndef LATEWOOD_RUNTIME_ENTRYCHECKS_H
#define LATEWOOD_RUNTIME_ENTRYCHECKS_H

#include "latewood/runtime/Value.h"

namespace latewood::runtime {

/// A value of a signature, prepared for matching.
struct ValuePlan {
  ElementType type;
  bool isStatic;
  bool hasBounds;
  int64_t rank;
  /// Extents, dynamicExtent where unknown.
  const int64_t *shape;
  /// The signature limits the elements.
  bool hasValueBounds;
  /// Bytes of a value with the static shape; 0 if the shape is dynamic.
  int64_t bytes;
  const ValueSignature *signature;

  explicit ValuePlan(const ValueSignature &signature);

  bool matchesShape(const int64_t *extents) const {
    for (int64_t d = 0; d < rank; ++d)
      if (extents[d] != shape[d] && shape[d] != dynamicExtent)
        return false;
    return !hasBounds || isInBounds(extents);
  }
  bool matches(const MemRefValue &value) const {
    return value.elementType() == type && value.rank() == rank && value.hasCanonicalStrides() &&
           value.space() != MemorySpace::device && matchesShape(value.shape().data());
  }
  bool isInBounds(const int64_t *extents) const;
  /// Whether the elements at `data`, integers, are between the limits that the signature has for them.
  bool areValuesInBounds(const void *data) const;
};

/// Why `value` (null: nothing was given) does not match the plan. An argument of rank 0 takes a scalar.
Status explainMismatch(const ValuePlan &plan, const Value *value, bool takesScalars);

/// Which element is not between its limits.
Status explainValues(const ValuePlan &plan, const void *data);

/// "Runtime shape mismatch: expected [4, ?], got [3, 8]", or why the extents are out of bounds.
Status explainShape(const ValuePlan &plan, std::span<const int64_t> extents);

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_ENTRYCHECKS_H
