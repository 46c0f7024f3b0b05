// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `executor` dialect: see ExecutorOps.td.
#pragma once
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "latewood/compiler/Dialect/Executor/ExecutorDialect.h.inc"
#include "latewood/compiler/Dialect/Executor/ExecutorEnums.h.inc"

#define GET_OP_CLASSES
#include "latewood/compiler/Dialect/Executor/ExecutorOps.h.inc"

namespace latewood::executor {

/// Bytes that a buffer of this type takes: sub-byte elements and i1 take one byte each. Fails for dynamic shapes,
/// layouts other than the identity, and sizes that do not fit in 63 bits.
mlir::FailureOr<int64_t> getByteSize(mlir::MemRefType type);

/// Bytes of one element in memory, or 0 for a type that has no memory form.
int64_t getElementBytes(mlir::Type element);

/// The type with the identity layout, if it describes the same memory: strides are those of the row-major order, where
/// an extent of 1, or no element at all, leaves them free, and the offset is 0.
mlir::FailureOr<mlir::MemRefType> normalizeLayout(mlir::MemRefType type);

/// Width of a scalar in bits; `index` has 64.
unsigned getScalarWidth(mlir::Type type);

/// What the extents of a buffer of dynamic shape are: the operands of the operation that made it, or those of an
/// argument.
struct Extents {
  mlir::BlockArgument argument;
  mlir::ValueRange sizes;
};
/// Fails for a buffer whose extents are not visible, which has come through control flow.
mlir::FailureOr<Extents> getExtents(mlir::Value buffer);

/// The smallest repeated pattern that executor.fill writes: the bits of its value, and their bytes.
mlir::FailureOr<std::pair<uint64_t, int64_t>> getFillPattern(mlir::TypedAttr value);

} // namespace latewood::executor
