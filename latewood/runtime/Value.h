// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runtime values: what goes into a call and comes out of it. A MemRefValue is a typed, shaped, strided window on a
// storage; a ScalarValue is one number. Compiled functions take and give memrefs with canonical layout; a scalar is
// accepted where a function takes rank 0. Strided values exist for the outside (slices, NumPy, DLPack): `copy` makes
// them canonical.
//
//   identity   the object
//   ownership  a memref shares its storage, and keeps its memory alive whatever happens to sessions and clients
//   threads    immutable; the elements are the caller's to synchronize
//   streams    the results of a call on a stream exist at once, and their elements when the call has run: wait for
//              the value, or synchronize the stream, before looking at them

#ifndef LATEWOOD_RUNTIME_VALUE_H
#define LATEWOOD_RUNTIME_VALUE_H

#include "latewood/runtime/Storage.h"

#include <span>

namespace latewood::runtime {

class LATEWOOD_API Value : public RefCounted {
public:
  enum class Kind : uint8_t { memref, scalar };
  Kind kind() const { return valueKind; }
  ElementType elementType() const { return type; }

protected:
  Value(Kind kind, ElementType type) : valueKind(kind), type(type) {}

  Kind valueKind;
  ElementType type;
};

class LATEWOOD_API MemRefValue final : public Value {
public:
  /// A window on `storage` that begins at byte `offset` and has these extents and strides (in elements; may be
  /// negative). Fails unless every element lies in the storage and is aligned.
  static StatusOr<Ref<MemRefValue>> create(Ref<Storage> storage, int64_t offset, ElementType type,
                                           std::span<const int64_t> shape, std::span<const int64_t> strides);
  /// The same with canonical strides.
  static StatusOr<Ref<MemRefValue>> create(Ref<Storage> storage, int64_t offset, ElementType type,
                                           std::span<const int64_t> shape);

  /// Address of the element with index 0 in every dimension. Not null, even without elements.
  void *data() const { return first; }
  int64_t rank() const { return rankOfValue; }
  std::span<const int64_t> shape() const { return {extents, static_cast<size_t>(rankOfValue)}; }
  /// In elements.
  std::span<const int64_t> strides() const { return {extents + rankOfValue, static_cast<size_t>(rankOfValue)}; }
  int64_t elementCount() const { return count; }
  /// Bytes of the elements, without gaps between them.
  int64_t sizeInBytes() const { return count * bytesOf(type); }
  /// Bytes from the start of the storage to `data()`.
  int64_t offsetInBytes() const { return static_cast<uint8_t *>(first) - owner->data(); }
  /// Row-major without gaps. Strides of dimensions with extent 1, and all strides of a value without elements, are
  /// free.
  bool hasCanonicalStrides() const { return canonical; }
  MemorySpace space() const { return owner->space(); }
  bool isReadOnly() const { return owner->isReadOnly(); }
  /// False while a call on a stream is going to write the storage, and after the value was donated.
  bool isReady() const { return !donated.load(std::memory_order_acquire) && owner->isReady(); }
  /// Blocks until the elements are there. Fails if they never will be: the call failed, or the value was donated.
  Status waitUntilReady() const;

  /// The value was given away to a call (see Session.h): no function of this library takes it any more. Other values on
  /// the same storage are not concerned.
  bool isDonated() const { return donated.load(std::memory_order_acquire); }
  /// For sessions. False if it was donated before.
  bool donate() { return !donated.exchange(true, std::memory_order_acq_rel); }
  void undoDonation() { donated.store(false, std::memory_order_release); }
  const Ref<Storage> &storage() const { return owner; }

  /// The elements start[d] + i * step[d] below limit[d] in each dimension, as StableHLO's `slice`; shares the storage.
  /// Steps are at least 1, and 0 <= start <= limit <= extent.
  StatusOr<Ref<MemRefValue>> slice(std::span<const int64_t> start, std::span<const int64_t> limit,
                                   std::span<const int64_t> step) const;
  /// The same elements in row-major order with another shape; shares the storage. Needs canonical strides.
  StatusOr<Ref<MemRefValue>> reshape(std::span<const int64_t> shape) const;

  /// "memref<4x8xf32, strided<[1, 4]>>".
  std::string str() const;

private:
  friend class ResultMaker;
  static constexpr int64_t inlineRank = 6;

  MemRefValue(Ref<Storage> storage, uint8_t *first, ElementType type, int64_t rank);
  ~MemRefValue() override;
  void finish();

  Ref<Storage> owner;
  uint8_t *first;
  int64_t count = 0;
  int32_t rankOfValue;
  bool canonical = false;
  std::atomic<bool> donated{false};
  /// Extents, then strides; `inlined` where they fit.
  int64_t *extents;
  int64_t inlined[2 * inlineRank];
};

class LATEWOOD_API ScalarValue final : public Value {
public:
  /// `bytes` has the size of one element (`bytesOf`).
  static StatusOr<Ref<ScalarValue>> create(ElementType type, const void *bytes);

  const void *data() const { return payload; }

private:
  ScalarValue(ElementType type) : Value(Kind::scalar, type) {}

  alignas(16) uint8_t payload[16] = {};
};

/// Copies the elements of `from` to `to`: same element type and shape, any strides, host memory, regions that do not
/// overlap or are equal.
LATEWOOD_API Status copyElements(const MemRefValue &from, const MemRefValue &to);

/// Casts that test the kind; null when it is the other one.
inline MemRefValue *asMemRef(Value *value) {
  return value && value->kind() == Value::Kind::memref ? static_cast<MemRefValue *>(value) : nullptr;
}
inline ScalarValue *asScalar(Value *value) {
  return value && value->kind() == Value::Kind::scalar ? static_cast<ScalarValue *>(value) : nullptr;
}

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_VALUE_H
