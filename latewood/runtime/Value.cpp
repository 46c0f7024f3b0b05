// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows on storage. `create` is the only door for shapes and strides from outside: it bounds the lowest and the
// highest element, in arithmetic that cannot overflow unseen, and everything derived from a checked window stays inside
// it.

#include "latewood/runtime/Value.h"

#include "latewood/runtime/Exceptions.h"
#include "latewood/runtime/ResultMaker.h"
#include "latewood/runtime/TraceEvents.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace latewood::runtime {

MemRefValue::MemRefValue(Ref<Storage> storage, uint8_t *first, ElementType type, int64_t rank)
    : Value(Kind::memref, type), owner(std::move(storage)), first(first), rankOfValue(static_cast<int32_t>(rank)),
      extents(rank <= inlineRank ? inlined : new int64_t[2 * static_cast<size_t>(rank)]) {}

MemRefValue::~MemRefValue() {
  if (extents != inlined)
    delete[] extents;
}

/// Derives the element count and whether the strides are canonical from extents and strides.
void MemRefValue::finish() {
  const int64_t *stridesOfValue = extents + rankOfValue;
  count = 1;
  canonical = true;
  for (int64_t d = rankOfValue - 1; d >= 0; --d) {
    if (extents[d] != 1 && stridesOfValue[d] != count)
      canonical = false;
    count *= extents[d];
  }
  if (count == 0)
    canonical = true;
}

Ref<MemRefValue> ResultMaker::make(Ref<Storage> storage, ElementType type, const int64_t *extents, int64_t rank) {
  uint8_t *data = storage->data();
  auto *value = new MemRefValue(std::move(storage), data, type, rank);
  int64_t count = 1, stride = 1;
  for (int64_t d = rank - 1; d >= 0; --d) {
    value->extents[d] = extents[d];
    value->extents[rank + d] = stride;
    count *= extents[d];
    stride *= std::max<int64_t>(extents[d], 1);
  }
  value->count = count;
  value->canonical = true;
  return Ref<MemRefValue>::adopt(value);
}

namespace {
constexpr int64_t maxRank = 1024;

bool multiply(int64_t a, int64_t b, int64_t &result) { return !__builtin_mul_overflow(a, b, &result); }
bool add(int64_t a, int64_t b, int64_t &result) { return !__builtin_add_overflow(a, b, &result); }

Status tooLarge(std::span<const int64_t> shape) {
  return invalidArgument("shape " + shapeText(shape) + " has more bytes than can be counted");
}
} // namespace

Status checkShape(ElementType type, std::span<const int64_t> shape, int64_t &bytes) {
  if (bytesOf(type) == 0)
    return invalidArgument("element type " + std::to_string(static_cast<int>(type)) + " is unknown");
  if (static_cast<int64_t>(shape.size()) > maxRank)
    return invalidArgument("rank " + std::to_string(shape.size()) + " is more than " + std::to_string(maxRank));
  bool isEmpty = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return invalidArgument("shape " + shapeText(shape) + " has a negative extent");
    isEmpty |= extent == 0;
  }
  // The product over the nonzero extents is bounded, so that canonical strides are, too.
  int64_t product = bytesOf(type);
  for (int64_t extent : shape)
    if (extent != 0 && !multiply(product, extent, product))
      return tooLarge(shape);
  bytes = isEmpty ? 0 : product;
  return okStatus();
}

Status byteRange(ElementType type, std::span<const int64_t> shape, std::span<const int64_t> strides, int64_t &low,
                 int64_t &high) {
  low = high = 0;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    return okStatus();
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t reach = 0;
    if (!multiply(strides[d], shape[d] - 1, reach) || !multiply(reach, bytesOf(type), reach) ||
        !add(reach < 0 ? low : high, reach, reach < 0 ? low : high))
      return tooLarge(shape);
  }
  if (!add(high, bytesOf(type), high))
    return tooLarge(shape);
  return okStatus();
}

StatusOr<Ref<MemRefValue>> MemRefValue::create(Ref<Storage> storage, int64_t offset, ElementType type,
                                               std::span<const int64_t> shape, std::span<const int64_t> strides) {
  return withoutExceptions([&]() -> StatusOr<Ref<MemRefValue>> {
    int64_t bytes = 0, low = 0, high = 0;
    LATEWOOD_RETURN_IF_ERROR(checkShape(type, shape, bytes));
    if (strides.size() != shape.size())
      return invalidArgument("expected " + std::to_string(shape.size()) + " strides for shape " + shapeText(shape) +
                             ", got " + std::to_string(strides.size()));
    LATEWOOD_RETURN_IF_ERROR(byteRange(type, shape, strides, low, high));
    int64_t size = storage->sizeInBytes();
    if (offset < 0 || offset > size || (high != 0 && (low < -offset || high > size - offset)))
      return invalidArgument("shape " + shapeText(shape) + " with strides " + shapeText(strides) + " of " +
                             std::string(elementTypeName(type)) + " at byte " + std::to_string(offset) +
                             " does not lie in a storage of " + std::to_string(size) + " bytes");
    uint8_t *first = storage->data() + offset;
    if (high != 0 && reinterpret_cast<uintptr_t>(first) % static_cast<uintptr_t>(alignmentOf(type)) != 0)
      return invalidArgument("data of element type " + std::string(elementTypeName(type)) + " must be aligned to " +
                             std::to_string(alignmentOf(type)) + " bytes");
    auto *value = new MemRefValue(std::move(storage), first, type, static_cast<int64_t>(shape.size()));
    std::copy(shape.begin(), shape.end(), value->extents);
    std::copy(strides.begin(), strides.end(), value->extents + shape.size());
    value->finish();
    return Ref<MemRefValue>::adopt(value);
  });
}

StatusOr<Ref<MemRefValue>> MemRefValue::create(Ref<Storage> storage, int64_t offset, ElementType type,
                                               std::span<const int64_t> shape) {
  return withoutExceptions([&]() -> StatusOr<Ref<MemRefValue>> {
    int64_t bytes = 0;
    LATEWOOD_RETURN_IF_ERROR(checkShape(type, shape, bytes));
    return create(std::move(storage), offset, type, shape, canonicalStrides(shape));
  });
}

Status MemRefValue::waitUntilReady() const {
  return withoutExceptions([&]() -> Status {
    if (isDonated())
      return failedPrecondition("the value was donated to a call, which took its memory; it cannot be used again");
    return owner->waitUntilReady();
  });
}

StatusOr<Ref<MemRefValue>> MemRefValue::slice(std::span<const int64_t> start, std::span<const int64_t> limit,
                                              std::span<const int64_t> step) const {
  return withoutExceptions([&]() -> StatusOr<Ref<MemRefValue>> {
    if (isDonated())
      return waitUntilReady();
    auto rank = static_cast<size_t>(rankOfValue);
    if (start.size() != rank || limit.size() != rank || step.size() != rank)
      return invalidArgument("slice: expected " + std::to_string(rank) + " starts, limits and steps, got " +
                             std::to_string(start.size()) + ", " + std::to_string(limit.size()) + " and " +
                             std::to_string(step.size()));
    std::vector<int64_t> newShape(rank), newStrides(rank);
    int64_t offset = offsetInBytes();
    bool isEmpty = count == 0;
    for (size_t d = 0; d < rank; ++d) {
      if (start[d] < 0 || start[d] > limit[d] || limit[d] > extents[d] || step[d] < 1)
        return invalidArgument("slice: [" + std::to_string(start[d]) + ":" + std::to_string(limit[d]) + ":" +
                               std::to_string(step[d]) + "] in dimension " + std::to_string(d) +
                               " does not lie in an extent of " + std::to_string(extents[d]));
      newShape[d] = limit[d] == start[d] ? 0 : (limit[d] - start[d] - 1) / step[d] + 1;
      newStrides[d] = newShape[d] > 1 ? strides()[d] * step[d] : strides()[d];
      isEmpty |= newShape[d] == 0;
    }
    if (!isEmpty)
      for (size_t d = 0; d < rank; ++d)
        offset += start[d] * strides()[d] * bytesOf(type);
    return create(owner, offset, type, newShape, newStrides);
  });
}

StatusOr<Ref<MemRefValue>> MemRefValue::reshape(std::span<const int64_t> newShape) const {
  return withoutExceptions([&]() -> StatusOr<Ref<MemRefValue>> {
    if (isDonated())
      return waitUntilReady();
    int64_t bytes = 0;
    LATEWOOD_RETURN_IF_ERROR(checkShape(type, newShape, bytes));
    if (bytes != sizeInBytes())
      return invalidArgument("reshape: " + shapeText(newShape) + " has not as many elements as " + shapeText(shape()));
    if (!canonical)
      return invalidArgument("reshape: Given strides " + shapeText(strides()) + " do not match canonical strides " +
                             shapeText(canonicalStrides(shape())) + " for shape " + shapeText(shape()));
    return create(owner, offsetInBytes(), type, newShape);
  });
}

std::string MemRefValue::str() const {
  std::string text = "memref<";
  for (int64_t extent : shape())
    text += std::to_string(extent) + "x";
  text += elementTypeName(type);
  if (!canonical)
    text += ", strided<" + shapeText(strides()) + ">";
  if (space() != MemorySpace::host)
    text += ", " + std::string(memorySpaceName(space()));
  return text + ">";
}

StatusOr<Ref<ScalarValue>> ScalarValue::create(ElementType type, const void *bytes) {
  return withoutExceptions([&]() -> StatusOr<Ref<ScalarValue>> {
    if (bytesOf(type) == 0)
      return invalidArgument("element type " + std::to_string(static_cast<int>(type)) + " is unknown");
    auto scalar = Ref<ScalarValue>::adopt(new ScalarValue(type));
    std::memcpy(scalar->payload, bytes, static_cast<size_t>(bytesOf(type)));
    return scalar;
  });
}

namespace {
/// Copies dimension d and those inside it. The innermost loop is a memcpy where both sides are dense there.
void copyDimension(const MemRefValue &from, const MemRefValue &to, size_t d, const uint8_t *source, uint8_t *target) {
  int64_t bytes = bytesOf(from.elementType());
  if (d == from.shape().size()) {
    std::memcpy(target, source, static_cast<size_t>(bytes));
    return;
  }
  int64_t extent = from.shape()[d], sourceStride = from.strides()[d] * bytes, targetStride = to.strides()[d] * bytes;
  if (d + 1 == from.shape().size()) {
    if (sourceStride == bytes && targetStride == bytes) {
      std::memcpy(target, source, static_cast<size_t>(extent * bytes));
      return;
    }
    auto run = [&]<typename T>(T) {
      for (int64_t i = 0; i < extent; ++i)
        std::memcpy(target + i * targetStride, source + i * sourceStride, sizeof(T));
    };
    switch (bytes) {
    case 1:
      return run(uint8_t());
    case 2:
      return run(uint16_t());
    case 4:
      return run(uint32_t());
    case 8:
      return run(uint64_t());
    default:
      break;
    }
  }
  for (int64_t i = 0; i < extent; ++i)
    copyDimension(from, to, d + 1, source + i * sourceStride, target + i * targetStride);
}
} // namespace

Status copyElements(const MemRefValue &from, const MemRefValue &to) {
  return withoutExceptions([&]() -> Status {
    if (from.elementType() != to.elementType() ||
        !std::equal(from.shape().begin(), from.shape().end(), to.shape().begin(), to.shape().end()))
      return invalidArgument("copy: expected " + from.str() + ", got " + to.str());
    if (to.isReadOnly())
      return invalidArgument("copy: the destination is read-only");
    for (const MemRefValue *value : {&from, &to})
      if (value->space() == MemorySpace::device)
        return unimplemented("copy: memory of a device is out of reach for this build");
    LATEWOOD_RETURN_IF_ERROR(from.waitUntilReady());
    LATEWOOD_RETURN_IF_ERROR(to.waitUntilReady());
    if (from.elementCount() == 0)
      return okStatus();
    trace::Span span("copy", "copy", {"bytes", from.sizeInBytes()});
    if (from.hasCanonicalStrides() && to.hasCanonicalStrides())
      std::memmove(to.data(), from.data(), static_cast<size_t>(from.sizeInBytes()));
    else
      copyDimension(from, to, 0, static_cast<const uint8_t *>(from.data()), static_cast<uint8_t *>(to.data()));
    return okStatus();
  });
}

} // namespace latewood::runtime
