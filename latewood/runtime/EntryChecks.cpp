// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reasons. Clients of other runtimes match on parts of these texts ("function expects a memref type with element
// type", "Runtime shape mismatch", "Given strides … do not match canonical strides … for shape …"): keep them.

#include "latewood/runtime/EntryChecks.h"

namespace latewood::runtime {

ValuePlan::ValuePlan(const ValueSignature &signature)
    : type(signature.elementType), isStatic(signature.hasStaticShape()),
      hasBounds(!isStatic && (!signature.min.empty() || !signature.max.empty())), rank(signature.rank()),
      shape(signature.shape.data()), bytes(0), signature(&signature) {
  if (!isStatic)
    return;
  bytes = bytesOf(type);
  for (int64_t extent : signature.shape)
    bytes *= extent;
}

bool ValuePlan::isInBounds(const int64_t *extents) const {
  for (size_t d = 0; d < signature->min.size(); ++d)
    if (extents[d] < signature->min[d])
      return false;
  for (size_t d = 0; d < signature->max.size(); ++d)
    if (extents[d] > signature->max[d])
      return false;
  return true;
}

Status explainShape(const ValuePlan &plan, std::span<const int64_t> extents) {
  std::string message =
      "Runtime shape mismatch: expected " + shapeText(plan.signature->shape) + ", got " + shapeText(extents);
  bool fits = static_cast<int64_t>(extents.size()) == plan.rank;
  for (size_t d = 0; fits && d < extents.size(); ++d)
    fits = plan.shape[d] == extents[d] || plan.shape[d] == dynamicExtent;
  if (fits)
    message += ", which is not between " + shapeText(plan.signature->min) + " and " + shapeText(plan.signature->max);
  return invalidArgument(message);
}

Status explainMismatch(const ValuePlan &plan, const Value *value, bool takesScalars) {
  std::string expected = "function expects a memref type with element type " + std::string(elementTypeName(plan.type)) +
                         " and shape " + shapeText(plan.signature->shape);
  if (!value)
    return invalidArgument(expected + ", got nothing");
  if (value->kind() == Value::Kind::scalar) {
    std::string got = ", got a scalar of element type " + std::string(elementTypeName(value->elementType()));
    if (!takesScalars)
      got += "; a result needs a memref";
    return invalidArgument(expected + got);
  }
  const auto &memref = static_cast<const MemRefValue &>(*value);
  if (memref.elementType() != plan.type)
    return invalidArgument(expected + ", got element type " + std::string(elementTypeName(memref.elementType())));
  if (memref.rank() != plan.rank)
    return invalidArgument(expected + " (rank " + std::to_string(plan.rank) + "), got shape " +
                           shapeText(memref.shape()) + " (rank " + std::to_string(memref.rank()) + ")");
  if (!plan.matchesShape(memref.shape().data()))
    return explainShape(plan, memref.shape());
  if (!memref.hasCanonicalStrides())
    return invalidArgument("Given strides " + shapeText(memref.strides()) + " do not match canonical strides " +
                           shapeText(canonicalStrides(memref.shape())) + " for shape " + shapeText(memref.shape()) +
                           "; copy the value to make it contiguous");
  if (memref.space() == MemorySpace::device)
    return invalidArgument(expected + " in memory space " + std::string(memorySpaceName(plan.signature->space)) +
                           ", got memory space " + std::string(memorySpaceName(memref.space())));
  return internalError(expected + ", and got " + memref.str() + ", which fits");
}

} // namespace latewood::runtime
