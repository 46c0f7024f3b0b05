// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Both forms of the protocol: the tensor of version 1, and the older one without flags. A tensor that is exported holds
// its value; one that is imported becomes the storage of a value.

#include "latewood/runtime/DLPack.h"

#include "latewood/runtime/Exceptions.h"
#include "latewood/runtime/ResultMaker.h"

#include <algorithm>

namespace latewood::runtime::dlpack {

namespace {
/// The protocol's type codes.
enum Code : uint8_t {
  codeInt = 0,
  codeUInt = 1,
  codeFloat = 2,
  codeBFloat = 4,
  codeComplex = 5,
  codeBool = 6,
  codeFloat8E3M4 = 7,
  codeFloat8E4M3 = 8,
  codeFloat8E4M3B11FNUZ = 9,
  codeFloat8E4M3FN = 10,
  codeFloat8E4M3FNUZ = 11,
  codeFloat8E5M2 = 12,
  codeFloat8E5M2FNUZ = 13,
  codeFloat8E8M0FNU = 14,
};

// Sub-byte types are not listed: the protocol packs them, and our buffers do not.
constexpr struct {
  ElementType type;
  uint8_t code, bits;
} codes[] = {
    {ElementType::i1, codeBool, 8},
    {ElementType::i8, codeInt, 8},
    {ElementType::i16, codeInt, 16},
    {ElementType::i32, codeInt, 32},
    {ElementType::i64, codeInt, 64},
    {ElementType::ui8, codeUInt, 8},
    {ElementType::ui16, codeUInt, 16},
    {ElementType::ui32, codeUInt, 32},
    {ElementType::ui64, codeUInt, 64},
    {ElementType::f8E3M4, codeFloat8E3M4, 8},
    {ElementType::f8E4M3, codeFloat8E4M3, 8},
    {ElementType::f8E4M3B11FNUZ, codeFloat8E4M3B11FNUZ, 8},
    {ElementType::f8E4M3FN, codeFloat8E4M3FN, 8},
    {ElementType::f8E4M3FNUZ, codeFloat8E4M3FNUZ, 8},
    {ElementType::f8E5M2, codeFloat8E5M2, 8},
    {ElementType::f8E5M2FNUZ, codeFloat8E5M2FNUZ, 8},
    {ElementType::f8E8M0FNU, codeFloat8E8M0FNU, 8},
    {ElementType::bf16, codeBFloat, 16},
    {ElementType::f16, codeFloat, 16},
    {ElementType::f32, codeFloat, 32},
    {ElementType::f64, codeFloat, 64},
    {ElementType::complex_f32, codeComplex, 64},
    {ElementType::complex_f64, codeComplex, 128},
};

/// What an exported tensor owns: the value, and the lists that the tensor points to.
template <typename Managed>
struct Export {
  Managed managed{};
  Ref<MemRefValue> value;
  /// Held as well: memory that is looked at from outside is not taken by a donation.
  Ref<Storage> storage;
  std::vector<int64_t> shape, strides;
};

template <typename Managed>
StatusOr<Managed *> exportAs(const Ref<MemRefValue> &value) {
  if (value->space() == MemorySpace::device)
    return unimplemented("DLPack: memory of a device is out of reach for this build");
  LATEWOOD_RETURN_IF_ERROR(value->waitUntilReady());
  LATEWOOD_ASSIGN_OR_RETURN(DataType type, dataType(value->elementType()));
  auto holder = std::make_unique<Export<Managed>>();
  Export<Managed> *owner = holder.get();
  owner->value = value;
  owner->storage = value->storage();
  owner->shape.assign(value->shape().begin(), value->shape().end());
  owner->strides.assign(value->strides().begin(), value->strides().end());
  owner->managed.context = owner;
  owner->managed.deleter = [](Managed *self) { delete static_cast<Export<Managed> *>(self->context); };
  Tensor &tensor = owner->managed.tensor;
  // The protocol wants a null pointer where there are no elements.
  tensor.data = value->elementCount() == 0 ? nullptr : value->data();
  tensor.device = {deviceCPU, 0};
  tensor.ndim = static_cast<int32_t>(value->rank());
  tensor.dtype = type;
  tensor.shape = owner->shape.data();
  tensor.strides = owner->strides.data();
  tensor.byteOffset = 0;
  return &holder.release()->managed;
}

template <typename Managed>
StatusOr<Ref<MemRefValue>> importFrom(Managed *managed, bool isReadOnly, bool assertCanonicalStrides) {
  const Tensor &tensor = managed->tensor;
  bool isTakenOver = false;
  auto build = [&]() -> StatusOr<Ref<MemRefValue>> {
    if (tensor.device.type != deviceCPU && tensor.device.type != deviceCUDAHost)
      return unimplemented("DLPack: expected memory of the host, got device type " +
                           std::to_string(tensor.device.type));
    LATEWOOD_ASSIGN_OR_RETURN(ElementType type, elementType(tensor.dtype));
    if (tensor.ndim < 0 || (tensor.ndim > 0 && !tensor.shape))
      return invalidArgument("DLPack: the tensor has no shape");
    std::span<const int64_t> shape(tensor.shape, static_cast<size_t>(tensor.ndim));
    int64_t bytes = 0, low = 0, high = 0;
    LATEWOOD_RETURN_IF_ERROR(checkShape(type, shape, bytes));
    std::vector<int64_t> strides = canonicalStrides(shape);
    if (tensor.strides)
      std::copy_n(tensor.strides, shape.size(), strides.begin());
    LATEWOOD_RETURN_IF_ERROR(byteRange(type, shape, strides, low, high));
    if (!tensor.data && bytes != 0)
      return invalidArgument("DLPack: the tensor has no data");
    alignas(64) static uint8_t nothing[64];
    uint8_t *first = tensor.data ? static_cast<uint8_t *>(tensor.data) + tensor.byteOffset : nothing;
    // Without a release function: on failure the tensor is given back below.
    Ref<Storage> probe = Storage::view(first + low, high - low, MemorySpace::host, isReadOnly, {});
    LATEWOOD_ASSIGN_OR_RETURN(Ref<MemRefValue> value, MemRefValue::create(probe, -low, type, shape, strides));
    if (assertCanonicalStrides && !value->hasCanonicalStrides())
      return invalidArgument("Given strides " + shapeText(strides) + " do not match canonical strides " +
                             shapeText(canonicalStrides(shape)) + " for shape " + shapeText(shape));
    isTakenOver = true;
    Ref<Storage> storage = Storage::view(first + low, high - low, MemorySpace::host, isReadOnly, [managed] {
      if (managed->deleter)
        managed->deleter(managed);
    });
    return MemRefValue::create(std::move(storage), -low, type, shape, strides);
  };
  StatusOr<Ref<MemRefValue>> result = withoutExceptions(build);
  if (!isTakenOver && managed->deleter)
    managed->deleter(managed);
  return result;
}
} // namespace

StatusOr<DataType> dataType(ElementType type) {
  for (const auto &entry : codes)
    if (entry.type == type)
      return DataType{entry.code, entry.bits, 1};
  return unimplemented("DLPack has no code for element type " + std::string(elementTypeName(type)));
}

StatusOr<ElementType> elementType(DataType type) {
  for (const auto &entry : codes)
    if (entry.code == type.code && entry.bits == type.bits && type.lanes == 1)
      return entry.type;
  return unimplemented("DLPack: no element type for type code " + std::to_string(type.code) + " with " +
                       std::to_string(type.bits) + " bits and " + std::to_string(type.lanes) + " lanes");
}

StatusOr<ManagedTensor *> exportTensor(const Ref<MemRefValue> &value) {
  return withoutExceptions([&]() -> StatusOr<ManagedTensor *> {
    if (value->isReadOnly())
      return invalidArgument("DLPack: read-only memory needs the versioned protocol");
    return exportAs<ManagedTensor>(value);
  });
}

StatusOr<ManagedTensorVersioned *> exportTensorVersioned(const Ref<MemRefValue> &value, bool isCopied) {
  return withoutExceptions([&]() -> StatusOr<ManagedTensorVersioned *> {
    LATEWOOD_ASSIGN_OR_RETURN(ManagedTensorVersioned * managed, exportAs<ManagedTensorVersioned>(value));
    managed->version = {1, 0};
    managed->flags = (value->isReadOnly() ? flagReadOnly : 0) | (isCopied ? flagIsCopied : 0);
    return managed;
  });
}

StatusOr<Ref<MemRefValue>> importTensor(ManagedTensor *tensor, bool assertCanonicalStrides) {
  return importFrom(tensor, false, assertCanonicalStrides);
}

StatusOr<Ref<MemRefValue>> importTensor(ManagedTensorVersioned *tensor, bool assertCanonicalStrides) {
  if (tensor->version.major > 1) {
    uint32_t major = tensor->version.major;
    if (tensor->deleter)
      tensor->deleter(tensor);
    return unimplemented("DLPack: expected protocol version 1, got version " + std::to_string(major));
  }
  return importFrom(tensor, (tensor->flags & flagReadOnly) != 0, assertCanonicalStrides);
}

} // namespace latewood::runtime::dlpack
