// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bytes of constants. MLIR keeps elements in their memory form already, but for three cases: booleans may be packed
// to bits, splats are stored once, and external blobs have no element access.

#include "latewood/compiler/Translate/ConstantData.h"
#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/TypeUtilities.h"
#include <cstring>
#include <unistd.h>

using namespace mlir;

// What the machine has.
static uint64_t bytesOfMemory() { return uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE)); }

FailureOr<std::vector<uint8_t>> latewood::translate::getConstantData(ElementsAttr value) {
  ShapedType type = value.getShapedType();
  auto memory = MemRefType::get(type.getShape(), type.getElementType());
  auto size = executor::getByteSize(memory);
  // All equal elements make a large constant of a small attribute.
  if (failed(size) || uint64_t(*size) > bytesOfMemory())
    return failure();
  std::vector<uint8_t> bytes(*size);
  if (bytes.empty())
    return bytes;
  size_t elementBytes = executor::getElementBytes(type.getElementType());

  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || blob->getData().size() != bytes.size())
      return failure();
    std::memcpy(bytes.data(), blob->getData().data(), bytes.size());
    return bytes;
  }
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense)
    return failure();
  if (type.getElementType().isInteger(1)) {
    for (auto [index, element] : llvm::enumerate(dense.getValues<bool>()))
      bytes[index] = element ? 1 : 0;
    return bytes;
  }
  ArrayRef<char> raw = dense.getRawData();
  if (dense.isSplat()) {
    if (raw.size() != elementBytes)
      return failure();
    for (size_t offset = 0; offset < bytes.size(); offset += elementBytes)
      std::memcpy(bytes.data() + offset, raw.data(), elementBytes);
    return bytes;
  }
  if (raw.size() != bytes.size())
    return failure();
  std::memcpy(bytes.data(), raw.data(), raw.size());
  return bytes;
}
