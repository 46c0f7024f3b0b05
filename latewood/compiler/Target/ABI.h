// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contract of latewood/format/abi.h, for code that builds LLVM-dialect operations.
//
// Structures are built here once, with the same fields in the same order as the C header; ABI.cpp asserts at compile
// time that the offsets agree. Everything that is read through `lw_call` stays unchanged during a call, so the loads
// are marked invariant and may be hoisted and merged.
#ifndef LATEWOOD_COMPILER_TARGET_ABI_H
#define LATEWOOD_COMPILER_TARGET_ABI_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace latewood::abi {

/// Entries of lw_api, in order.
enum class ApiEntry {
  ParallelFor,
  Request,
  Shape,
  Allocate,
  Release,
  Fail,
  FailFormat,
  Enqueue,
  EnqueueAlloc,
  HasFailed,
  AllocateDevice
};

/// Fields of lw_call, in order.
enum class CallField { Api, Arguments, ArgumentShapes, Constants, Workspace };

mlir::LLVM::LLVMStructType getApiType(mlir::MLIRContext *context);
mlir::LLVM::LLVMStructType getCallType(mlir::MLIRContext *context);

/// `i32 (ptr call)`: a public function of an image.
mlir::LLVM::LLVMFunctionType getFunctionType(mlir::MLIRContext *context);
/// `void (ptr frame, i64 begin, i64 end, ptr scratch)`: the body of a parallel loop.
mlir::LLVM::LLVMFunctionType getBodyType(mlir::MLIRContext *context);
/// The type of a callback. All take the call first.
mlir::LLVM::LLVMFunctionType getApiEntryType(mlir::MLIRContext *context, ApiEntry entry);

/// Reads a field of the call, a pointer.
mlir::Value loadField(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value call, CallField field);
/// Reads the address of a callback.
mlir::Value loadApiEntry(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value call, ApiEntry entry);
/// Calls a callback with `(call, operands...)`. The operation has a result unless the callback returns void.
mlir::LLVM::CallOp callApi(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value call, ApiEntry entry,
                           mlir::ValueRange operands);

/// Data of argument `index`.
mlir::Value loadArgument(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value call, int64_t index);
/// Extent `dimension` of argument `index`, an i64.
mlir::Value loadArgumentExtent(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value call, int64_t index,
                               int64_t dimension);
/// Data of constant `index` of the file.
mlir::Value loadConstant(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value call, int64_t index);
/// The function's workspace.
mlir::Value loadWorkspace(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value call);

} // namespace latewood::abi

#endif // LATEWOOD_COMPILER_TARGET_ABI_H
