// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reasons. Clients of other runtimes match on parts of these texts ("function expects a memref type with element
// type", "Runtime shape mismatch", "Given strides … do not match canonical strides … for shape …"): keep them.

#include "latewood/runtime/EntryChecks.h"

#include <algorithm>
#include <cstring>

namespace latewood::runtime {

ValuePlan::ValuePlan(const ValueSignature &signature)
    : type(signature.elementType), isStatic(signature.hasStaticShape()),
      hasBounds(!isStatic && (!signature.min.empty() || !signature.max.empty())), rank(signature.rank()),
      shape(signature.shape.data()), hasValueBounds(!signature.minValue.empty() || !signature.maxValue.empty()),
      bytes(0), signature(&signature) {
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

/// Element `index` of integers of this type, as far as 64 bits with a sign hold it.
static int64_t integerAt(ElementType type, const void *data, size_t index) {
  auto read = [&]<typename T>(T) {
    T value;
    std::memcpy(&value, static_cast<const char *>(data) + index * sizeof(T), sizeof(T));
    return static_cast<int64_t>(value);
  };
  switch (type) {
  case ElementType::i16:
    return read(int16_t());
  case ElementType::i32:
    return read(int32_t());
  case ElementType::i64:
    return read(int64_t());
  case ElementType::ui8:
    return read(uint8_t());
  case ElementType::ui16:
    return read(uint16_t());
  case ElementType::ui32:
    return read(uint32_t());
  case ElementType::ui64:
    return static_cast<int64_t>(std::min<uint64_t>(read(uint64_t()), INT64_MAX));
  default:
    return read(int8_t());
  }
}

/// The first element that is out of bounds, or the number of limits.
static size_t findOutOfBounds(const ValueSignature &signature, ElementType type, const void *data) {
  size_t count = std::max(signature.minValue.size(), signature.maxValue.size());
  for (size_t i = 0; i < count; ++i) {
    int64_t value = integerAt(type, data, i);
    if ((i < signature.minValue.size() && value < signature.minValue[i]) ||
        (i < signature.maxValue.size() && value > signature.maxValue[i]))
      return i;
  }
  return count;
}

/// " is 9, but must be between 1 and 8"; a list may be empty.
static std::string limitsText(int64_t value, size_t index, const std::vector<int64_t> &min,
                              const std::vector<int64_t> &max) {
  std::string text = " is " + std::to_string(value) + ", but must be ";
  if (index >= max.size())
    return text + "at least " + std::to_string(min[index]);
  if (index >= min.size())
    return text + "at most " + std::to_string(max[index]);
  return text + "between " + std::to_string(min[index]) + " and " + std::to_string(max[index]);
}

bool ValuePlan::areValuesInBounds(const void *data) const {
  return findOutOfBounds(*signature, type, data) == std::max(signature->minValue.size(), signature->maxValue.size());
}

Status explainValues(const ValuePlan &plan, const void *data) {
  size_t index = findOutOfBounds(*plan.signature, plan.type, data);
  std::string name = plan.signature->name.empty() ? "" : " of '" + plan.signature->name + "'";
  return invalidArgument(
      "element " + std::to_string(index) + name +
      limitsText(integerAt(plan.type, data, index), index, plan.signature->minValue, plan.signature->maxValue));
}

Status explainShape(const ValuePlan &plan, std::span<const int64_t> extents) {
  std::string message =
      "Runtime shape mismatch: expected " + shapeText(plan.signature->shape) + ", got " + shapeText(extents);
  bool fits = static_cast<int64_t>(extents.size()) == plan.rank;
  for (size_t d = 0; fits && d < extents.size(); ++d)
    fits = plan.shape[d] == extents[d] || plan.shape[d] == dynamicExtent;
  const std::vector<int64_t> &min = plan.signature->min, &max = plan.signature->max;
  for (size_t d = 0; fits && d < extents.size(); ++d)
    if ((d < min.size() && extents[d] < min[d]) || (d < max.size() && extents[d] > max[d])) {
      std::string name = plan.signature->name.empty() ? "" : " of '" + plan.signature->name + "'";
      return invalidArgument(message + ": dimension " + std::to_string(d) + name + limitsText(extents[d], d, min, max));
    }
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
