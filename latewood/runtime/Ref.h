// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared ownership with the count inside the object. Everything that a user holds is one of these: copying a Ref
// shares, the last one to go disposes. Compared with std::shared_ptr it is one allocation, one pointer wide, can be
// handed through a C interface as that pointer, and lets an object decide what disposal means (result memory goes back
// to its pool). Counting is atomic: Refs may be copied and dropped on any thread.

#ifndef LATEWOOD_RUNTIME_REF_H
#define LATEWOOD_RUNTIME_REF_H

#include "latewood/runtime/Export.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace latewood::runtime {

class LATEWOOD_API RefCounted {
public:
  void retain() const { references.fetch_add(1, std::memory_order_relaxed); }
  void release() const {
    // The only holder may skip the atomic subtraction: nobody else can take a reference meanwhile.
    if (references.load(std::memory_order_acquire) == 1)
      references.store(0, std::memory_order_relaxed);
    else if (references.fetch_sub(1, std::memory_order_acq_rel) != 1)
      return;
    const_cast<RefCounted *>(this)->dispose();
  }
  /// For tests and for people; it may have changed when it is read.
  int64_t referenceCount() const { return references.load(std::memory_order_relaxed); }

protected:
  RefCounted() = default;
  RefCounted(const RefCounted &) = delete;
  RefCounted &operator=(const RefCounted &) = delete;
  virtual ~RefCounted();
  /// Called when the last reference has gone.
  virtual void dispose();
  /// Makes a disposed object live again, with one reference.
  void revive() { references.store(1, std::memory_order_relaxed); }

private:
  mutable std::atomic<int32_t> references{1};
};

template <typename T>
class Ref {
public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  Ref(const Ref &other) : pointer(other.pointer) {
    if (pointer)
      pointer->retain();
  }
  Ref(Ref &&other) noexcept : pointer(std::exchange(other.pointer, nullptr)) {}
  template <typename U>
  Ref(const Ref<U> &other) : pointer(other.get()) {
    if (pointer)
      pointer->retain();
  }
  template <typename U>
  Ref(Ref<U> &&other) noexcept : pointer(other.leak()) {}
  Ref &operator=(Ref other) noexcept {
    std::swap(pointer, other.pointer);
    return *this;
  }
  ~Ref() {
    if (pointer)
      pointer->release();
  }

  /// Takes over the reference that the caller holds (a new object comes with one).
  static Ref adopt(T *object) {
    Ref ref;
    ref.pointer = object;
    return ref;
  }
  /// Adds a reference.
  static Ref share(T *object) {
    if (object)
      object->retain();
    return adopt(object);
  }
  /// Gives the reference to the caller, who must release it.
  [[nodiscard]] T *leak() { return std::exchange(pointer, nullptr); }

  void reset() { Ref().swap(*this); }
  void swap(Ref &other) noexcept { std::swap(pointer, other.pointer); }

  T *get() const { return pointer; }
  T *operator->() const { return pointer; }
  T &operator*() const { return *pointer; }
  explicit operator bool() const { return pointer != nullptr; }
  friend bool operator==(const Ref &a, const Ref &b) { return a.pointer == b.pointer; }

private:
  T *pointer = nullptr;
};

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_REF_H
