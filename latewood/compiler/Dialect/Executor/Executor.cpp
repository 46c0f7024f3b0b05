// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `executor` dialect: verifiers, and how a request for an output slot becomes a buffer. The constraints are numbered in
// ExecutorOps.td.

#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace latewood::executor;

#include "latewood/compiler/Dialect/Executor/ExecutorDialect.cpp.inc"

#define GET_OP_CLASSES
#include "latewood/compiler/Dialect/Executor/ExecutorOps.cpp.inc"

void ExecutorDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "latewood/compiler/Dialect/Executor/ExecutorOps.cpp.inc"
      >();
}

int64_t latewood::executor::getElementBytes(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * getElementBytes(complex.getElementType());
  if (isa<IndexType>(element))
    return 8;
  if (!element.isIntOrFloat())
    return 0;
  return static_cast<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(element.getIntOrFloatBitWidth(), 8)));
}

FailureOr<int64_t> latewood::executor::getByteSize(MemRefType type) {
  if (!type.hasStaticShape() || !type.getLayout().isIdentity())
    return failure();
  int64_t bytes = getElementBytes(type.getElementType());
  if (bytes == 0)
    return failure();
  if (llvm::is_contained(type.getShape(), 0))
    return 0;
  for (int64_t extent : type.getShape())
    if (llvm::MulOverflow(bytes, extent, bytes))
      return failure();
  return bytes;
}

// A buffer of known size and canonical layout, as host operations need it.
static LogicalResult verifySized(Operation *op, Type type) {
  if (failed(getByteSize(cast<MemRefType>(type))))
    return op->emitOpError() << "needs a buffer with a static shape and the identity layout, got " << type;
  return success();
}

//===----------------------------------------------------------------------===//
// RequestOp
//===----------------------------------------------------------------------===//

LogicalResult RequestOp::verify() {
  auto shaped = cast<ShapedType>(getType());
  // (C1)
  if (!shaped.hasRank())
    return emitOpError() << "needs a ranked type, got " << shaped;
  if (auto memref = dyn_cast<MemRefType>(getType()); memref && !memref.getLayout().isIdentity())
    return emitOpError() << "needs the identity layout: results are row-major with offset 0, got " << memref;
  // (C2)
  if (static_cast<int64_t>(getSlot()) < 0)
    return emitOpError() << "has the negative slot " << static_cast<int64_t>(getSlot());
  // (C3)
  if (getSizes().size() != static_cast<size_t>(shaped.getNumDynamicDims()))
    return emitOpError() << "has " << getSizes().size() << " sizes for " << shaped.getNumDynamicDims()
                         << " dynamic dimensions";
  return success();
}

// Not pure, in either form: two requests must not be merged, and one must not be dropped or moved into a branch.
void RequestOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (isa<BaseMemRefType>(getType()))
    effects.emplace_back(MemoryEffects::Allocate::get(), getOperation()->getOpResult(0));
  else
    effects.emplace_back(MemoryEffects::Write::get());
}

// The contents are undefined, so nothing is lost by writing over them.
bool RequestOp::resultBufferizesToMemoryWrite(OpResult, const bufferization::AnalysisState &) { return false; }

// The memory belongs to the slot: bufferization must not free it, and it may leave a block.
bool RequestOp::bufferizesToAllocation(Value) { return false; }

FailureOr<bufferization::BufferLikeType> RequestOp::getBufferType(Value value,
                                                                  const bufferization::BufferizationOptions &,
                                                                  const bufferization::BufferizationState &,
                                                                  SmallVector<Value> &) {
  auto type = cast<RankedTensorType>(value.getType());
  return cast<bufferization::BufferLikeType>(MemRefType::get(type.getShape(), type.getElementType()));
}

LogicalResult RequestOp::bufferize(RewriterBase &rewriter, const bufferization::BufferizationOptions &options,
                                   bufferization::BufferizationState &state) {
  SmallVector<Value> invocationStack;
  auto type = getBufferType(getResult(), options, state, invocationStack);
  if (failed(type))
    return failure();
  Value buffer = RequestOp::create(rewriter, getLoc(), *type, getSlotAttr(), getSizes());
  bufferization::replaceOpWithBufferizedValues(rewriter, *this, buffer);
  return success();
}

//===----------------------------------------------------------------------===//
// Memory and launches
//===----------------------------------------------------------------------===//

LogicalResult GetConstantOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // (C1)
  auto constant = symbols.lookupNearestSymbolFrom<ConstantOp>(*this, getConstantAttr());
  if (!constant)
    return emitOpError() << "names " << getConstantAttr() << ", which is no executor.constant";
  auto type = cast<MemRefType>(getType());
  ShapedType value = constant.getValue().getShapedType();
  if (value.getShape() != type.getShape() || value.getElementType() != type.getElementType())
    return emitOpError() << "has type " << type << " where the constant is " << value;
  return success();
}

LogicalResult WorkspaceOp::verify() {
  // (C1)
  auto offset = static_cast<int64_t>(getOffset());
  if (offset < 0 || offset % 64 != 0)
    return emitOpError() << "needs an offset that is a multiple of 64, got " << offset;
  // (C2)
  return verifySized(*this, getType());
}

LogicalResult CopyOp::verify() {
  // (C1)
  return verifySized(*this, getSource().getType());
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // (C1)
  auto callee = symbols.lookupNearestSymbolFrom<LLVM::LLVMFuncOp>(*this, getCallee());
  if (!callee)
    return emitOpError() << "names " << getCallee() << ", which is no function of an image";
  auto isPointer = [](Type type) { return isa<LLVM::LLVMPointerType>(type); };
  if (callee.getNumArguments() != getBuffers().size() + 2 || !llvm::all_of(callee.getArgumentTypes(), isPointer))
    return emitOpError() << "has " << getBuffers().size() << " buffers where " << getCallee() << " has type "
                         << callee.getFunctionType() << "; it must take the call frame, the buffers and a workspace";
  return success();
}
