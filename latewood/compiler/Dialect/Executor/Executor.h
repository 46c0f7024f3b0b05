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
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "latewood/compiler/Dialect/Executor/ExecutorDialect.h.inc"

#define GET_OP_CLASSES
#include "latewood/compiler/Dialect/Executor/ExecutorOps.h.inc"

namespace latewood::executor {

/// Bytes that a buffer of this type takes: sub-byte elements and i1 take one byte each. Fails for dynamic shapes, layouts
/// other than the identity, and sizes that do not fit in 63 bits.
mlir::FailureOr<int64_t> getByteSize(mlir::MemRefType type);

/// Bytes of one element in memory, or 0 for a type that has no memory form.
int64_t getElementBytes(mlir::Type element);

} // namespace latewood::executor
