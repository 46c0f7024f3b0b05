// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builders for the structures of abi.h.

#include "latewood/compiler/Target/ABI.h"
#include "latewood/format/abi.h"
#include <cstddef>

using namespace mlir;

namespace latewood::abi {

// lw_api is {i32, i32, ptr...} and lw_call {ptr...}: entry n of the enumerations lies n pointers after the first.
static_assert(offsetof(lw_api, version) == 0 && offsetof(lw_api, size) == 4);
static_assert(offsetof(lw_api, parallel_for) == 8 + 8 * static_cast<int>(ApiEntry::ParallelFor));
static_assert(offsetof(lw_api, request) == 8 + 8 * static_cast<int>(ApiEntry::Request));
static_assert(offsetof(lw_api, shape) == 8 + 8 * static_cast<int>(ApiEntry::Shape));
static_assert(offsetof(lw_api, allocate) == 8 + 8 * static_cast<int>(ApiEntry::Allocate));
static_assert(offsetof(lw_api, release) == 8 + 8 * static_cast<int>(ApiEntry::Release));
static_assert(offsetof(lw_api, fail) == 8 + 8 * static_cast<int>(ApiEntry::Fail));
static_assert(offsetof(lw_api, fail_format) == 8 + 8 * static_cast<int>(ApiEntry::FailFormat));
static_assert(offsetof(lw_api, enqueue) == 8 + 8 * static_cast<int>(ApiEntry::Enqueue));
static_assert(offsetof(lw_api, enqueue_alloc) == 8 + 8 * static_cast<int>(ApiEntry::EnqueueAlloc));
static_assert(offsetof(lw_api, has_failed) == 8 + 8 * static_cast<int>(ApiEntry::HasFailed));
static_assert(offsetof(lw_api, allocate_device) == 8 + 8 * static_cast<int>(ApiEntry::AllocateDevice));
static_assert(sizeof(lw_operand) == 16 && offsetof(lw_operand, extents) == 8);
static_assert(offsetof(lw_call, api) == 8 * static_cast<int>(CallField::Api));
static_assert(offsetof(lw_call, arguments) == 8 * static_cast<int>(CallField::Arguments));
static_assert(offsetof(lw_call, argument_shapes) == 8 * static_cast<int>(CallField::ArgumentShapes));
static_assert(offsetof(lw_call, constants) == 8 * static_cast<int>(CallField::Constants));
static_assert(offsetof(lw_call, workspace) == 8 * static_cast<int>(CallField::Workspace));

static constexpr int kApiEntries = 11, kCallFields = 5, kApiHeader = 2;

LLVM::LLVMStructType getApiType(MLIRContext *context) {
  Type i32 = IntegerType::get(context, 32), pointer = LLVM::LLVMPointerType::get(context);
  SmallVector<Type> fields{i32, i32};
  fields.append(kApiEntries, pointer);
  return LLVM::LLVMStructType::getLiteral(context, fields);
}

LLVM::LLVMStructType getCallType(MLIRContext *context) {
  SmallVector<Type> fields(kCallFields, LLVM::LLVMPointerType::get(context));
  return LLVM::LLVMStructType::getLiteral(context, fields);
}

LLVM::LLVMFunctionType getFunctionType(MLIRContext *context) {
  return LLVM::LLVMFunctionType::get(IntegerType::get(context, 32), {LLVM::LLVMPointerType::get(context)});
}

LLVM::LLVMFunctionType getBodyType(MLIRContext *context) {
  Type i64 = IntegerType::get(context, 64), pointer = LLVM::LLVMPointerType::get(context);
  return LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {pointer, i64, i64, pointer});
}

LLVM::LLVMFunctionType getApiEntryType(MLIRContext *context, ApiEntry entry) {
  Type i32 = IntegerType::get(context, 32), i64 = IntegerType::get(context, 64);
  Type pointer = LLVM::LLVMPointerType::get(context), none = LLVM::LLVMVoidType::get(context);
  switch (entry) {
  case ApiEntry::ParallelFor:
    return LLVM::LLVMFunctionType::get(none, {pointer, pointer, pointer, i64, i64});
  case ApiEntry::Request:
    return LLVM::LLVMFunctionType::get(pointer, {pointer, i64, i64, i64, pointer});
  case ApiEntry::Shape:
    return LLVM::LLVMFunctionType::get(i32, {pointer, i64, pointer});
  case ApiEntry::Allocate:
    return LLVM::LLVMFunctionType::get(pointer, {pointer, i64, i64});
  case ApiEntry::Release:
    return LLVM::LLVMFunctionType::get(none, {pointer, pointer});
  case ApiEntry::Fail:
    return LLVM::LLVMFunctionType::get(i32, {pointer, i32, pointer, i64});
  case ApiEntry::FailFormat:
    return LLVM::LLVMFunctionType::get(i32, {pointer, pointer, i64, pointer, i64});
  case ApiEntry::Enqueue:
    return LLVM::LLVMFunctionType::get(i32, {pointer, i64, pointer, i64, pointer, i64});
  case ApiEntry::EnqueueAlloc:
    return LLVM::LLVMFunctionType::get(i32, {pointer, i64, pointer, i64, pointer, pointer, i64});
  case ApiEntry::HasFailed:
    return LLVM::LLVMFunctionType::get(i32, {pointer});
  case ApiEntry::AllocateDevice:
    return LLVM::LLVMFunctionType::get(pointer, {pointer, i64});
  }
  llvm_unreachable("no such entry");
}

// An invariant load of `type` at element `path` of `structure` behind `base`.
static Value loadInvariant(OpBuilder &builder, Location loc, Type type, Value base, Type structure,
                           ArrayRef<LLVM::GEPArg> path) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value address = LLVM::GEPOp::create(builder, loc, pointer, structure, base, path);
  unsigned alignment = 8;
  return LLVM::LoadOp::create(builder, loc, type, address, alignment, /*isVolatile=*/false, /*isNonTemporal=*/false,
                              /*isInvariant=*/true);
}

Value loadField(OpBuilder &builder, Location loc, Value call, CallField field) {
  MLIRContext *context = builder.getContext();
  return loadInvariant(builder, loc, LLVM::LLVMPointerType::get(context), call, getCallType(context),
                       {0, static_cast<int32_t>(field)});
}

Value loadApiEntry(OpBuilder &builder, Location loc, Value call, ApiEntry entry) {
  MLIRContext *context = builder.getContext();
  Value api = loadField(builder, loc, call, CallField::Api);
  return loadInvariant(builder, loc, LLVM::LLVMPointerType::get(context), api, getApiType(context),
                       {0, kApiHeader + static_cast<int32_t>(entry)});
}

LLVM::CallOp callApi(OpBuilder &builder, Location loc, Value call, ApiEntry entry, ValueRange operands) {
  Value callee = loadApiEntry(builder, loc, call, entry);
  SmallVector<Value> arguments{callee, call};
  llvm::append_range(arguments, operands);
  return LLVM::CallOp::create(builder, loc, getApiEntryType(builder.getContext(), entry), arguments);
}

// Element `index` of the array of pointers in `field`.
static Value loadPointer(OpBuilder &builder, Location loc, Value call, CallField field, int64_t index) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value array = loadField(builder, loc, call, field);
  return loadInvariant(builder, loc, pointer, array, pointer, {static_cast<int32_t>(index)});
}

Value loadArgument(OpBuilder &builder, Location loc, Value call, int64_t index) {
  return loadPointer(builder, loc, call, CallField::Arguments, index);
}

Value loadArgumentExtent(OpBuilder &builder, Location loc, Value call, int64_t index, int64_t dimension) {
  Value shape = loadPointer(builder, loc, call, CallField::ArgumentShapes, index);
  Type i64 = builder.getI64Type();
  return loadInvariant(builder, loc, i64, shape, i64, {static_cast<int32_t>(dimension)});
}

Value loadConstant(OpBuilder &builder, Location loc, Value call, int64_t index) {
  return loadPointer(builder, loc, call, CallField::Constants, index);
}

Value loadWorkspace(OpBuilder &builder, Location loc, Value call) {
  return loadField(builder, loc, call, CallField::Workspace);
}

} // namespace latewood::abi
