// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `tensorrt_runtime` dialect: see TensorRTRuntimeOps.td.
#ifndef LATEWOOD_COMPILER_DIALECT_TENSORRTRUNTIME_TENSORRTRUNTIME_H
#define LATEWOOD_COMPILER_DIALECT_TENSORRTRUNTIME_TENSORRTRUNTIME_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "latewood/compiler/Dialect/TensorRTRuntime/TensorRTRuntimeDialect.h.inc"

#define GET_OP_CLASSES
#include "latewood/compiler/Dialect/TensorRTRuntime/TensorRTRuntimeOps.h.inc"

#endif // LATEWOOD_COMPILER_DIALECT_TENSORRTRUNTIME_TENSORRTRUNTIME_H
