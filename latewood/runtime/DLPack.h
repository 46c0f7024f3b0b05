// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exchange of arrays with other libraries without a copy, by the DLPack protocol (versions 0.x and 1.x). The
// structures have the layout that the protocol fixes; they are declared here because the runtime needs nothing else of
// it.
//
// Export keeps the value's storage alive until the consumer calls the deleter. Import takes the tensor over: its
// deleter is called when the last value on it has gone, and at once on failure.

#ifndef LATEWOOD_RUNTIME_DLPACK_H
#define LATEWOOD_RUNTIME_DLPACK_H

#include "latewood/runtime/Value.h"

namespace latewood::runtime::dlpack {

struct Version {
  uint32_t major;
  uint32_t minor;
};

struct Device {
  int32_t type;
  int32_t id;
};
inline constexpr int32_t deviceCPU = 1, deviceCUDA = 2, deviceCUDAHost = 3, deviceCUDAManaged = 13;

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void *data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t *shape;
  /// In elements; null: canonical.
  int64_t *strides;
  uint64_t byteOffset;
};

/// Up to version 0.8 ("dltensor" capsules).
struct ManagedTensor {
  Tensor tensor;
  void *context;
  void (*deleter)(ManagedTensor *self);
};

/// From version 1.0 ("dltensor_versioned" capsules).
struct ManagedTensorVersioned {
  Version version;
  void *context;
  void (*deleter)(ManagedTensorVersioned *self);
  uint64_t flags;
  Tensor tensor;
};
inline constexpr uint64_t flagReadOnly = 1, flagIsCopied = 2;

/// The protocol's code for an element type; fails for types that it has none for.
LATEWOOD_API StatusOr<DataType> dataType(ElementType type);
LATEWOOD_API StatusOr<ElementType> elementType(DataType type);

/// A tensor that shares the value's memory. The unversioned form cannot say that memory is read-only, and refuses it.
LATEWOOD_API StatusOr<ManagedTensor *> exportTensor(const Ref<MemRefValue> &value);
LATEWOOD_API StatusOr<ManagedTensorVersioned *> exportTensorVersioned(const Ref<MemRefValue> &value,
                                                                      bool isCopied = false);

/// A value on the tensor's memory, which is taken over. `assertCanonicalStrides` refuses other strides.
LATEWOOD_API StatusOr<Ref<MemRefValue>> importTensor(ManagedTensor *tensor, bool assertCanonicalStrides = false);
LATEWOOD_API StatusOr<Ref<MemRefValue>> importTensor(ManagedTensorVersioned *tensor,
                                                     bool assertCanonicalStrides = false);

} // namespace latewood::runtime::dlpack

#endif // LATEWOOD_RUNTIME_DLPACK_H
