// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the memory of a buffer is, by its type.
#pragma once
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "mlir/IR/BuiltinTypes.h"

namespace latewood::plan {

/// Whether buffers of `type` are memory of the device, which only engines look at.
inline bool isOnDevice(mlir::Type type) {
  auto memref = mlir::dyn_cast<mlir::MemRefType>(type);
  auto space = memref ? mlir::dyn_cast_or_null<MemorySpaceAttr>(memref.getMemorySpace()) : MemorySpaceAttr();
  return space && space.getValue() == MemorySpace::Device;
}

} // namespace latewood::plan
