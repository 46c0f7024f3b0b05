// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `tensorrt_runtime` dialect: verifiers, and how a run of an engine becomes one on buffers. The constraints are
// numbered in TensorRTRuntimeOps.td.

#include "latewood/compiler/Dialect/TensorRTRuntime/TensorRTRuntime.h"
#include "latewood/compiler/Dialect/DestinationStyleBufferization.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::tensorrt_runtime;

#include "latewood/compiler/Dialect/TensorRTRuntime/TensorRTRuntimeDialect.cpp.inc"

#define GET_OP_CLASSES
#include "latewood/compiler/Dialect/TensorRTRuntime/TensorRTRuntimeOps.cpp.inc"

void TensorRTRuntimeDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "latewood/compiler/Dialect/TensorRTRuntime/TensorRTRuntimeOps.cpp.inc"
      >();
}

LogicalResult EngineOp::verify() {
  // (C1)
  auto type = getSerialized().getShapedType();
  if (type.getRank() != 1 || !type.getElementType().isInteger(8))
    return emitOpError() << "needs a serialized form of type tensor<?xi8>, got " << type;
  return success();
}

//===----------------------------------------------------------------------===//
// Constraints of both runs
//===----------------------------------------------------------------------===//

// Tensors, and buffers of the same element type and compatible shape.
static bool agree(Type given, Type expected) {
  auto shaped = dyn_cast<ShapedType>(given), other = dyn_cast<ShapedType>(expected);
  if (!shaped || !other)
    return given == expected;
  return shaped.getElementType() == other.getElementType() &&
         succeeded(verifyCompatibleShape(shaped.getShape(), other.getShape()));
}

static LogicalResult verifyEngine(Operation *op, FlatSymbolRefAttr name, TypeRange inputs, TypeRange results,
                                  SymbolTableCollection &symbols) {
  // (C1)
  auto engine = symbols.lookupNearestSymbolFrom<EngineOp>(op, name);
  if (!engine)
    return op->emitOpError() << "runs " << name << ", which is no engine";
  auto type = cast<FunctionType>(engine.getFunctionType());
  auto check = [&](StringRef what, TypeRange given, TypeRange expected) -> LogicalResult {
    if (given.size() != expected.size())
      return op->emitOpError() << "has " << given.size() << ' ' << what << "s where " << name << " has "
                               << expected.size();
    for (auto [index, types] : llvm::enumerate(llvm::zip(given, expected)))
      if (!agree(std::get<0>(types), std::get<1>(types)))
        return op->emitOpError() << "has " << what << ' ' << index << " of type " << std::get<0>(types) << " where "
                                 << name << " has " << std::get<1>(types);
    return success();
  };
  if (failed(check("input", inputs, type.getInputs())))
    return failure();
  return check("result", results, type.getResults());
}

// (C3) of enqueue, (C2) of enqueue_alloc.
static LogicalResult verifyLayouts(Operation *op, StringRef what, TypeRange types) {
  for (auto [index, type] : llvm::enumerate(types))
    if (auto buffer = dyn_cast<MemRefType>(type); buffer && !buffer.getLayout().isIdentity())
      return op->emitOpError() << "has " << what << ' ' << index << " of type " << type
                               << ": TensorRT's linear format is row-major without gaps, with offset 0";
  return success();
}

//===----------------------------------------------------------------------===//
// EnqueueOp
//===----------------------------------------------------------------------===//

LogicalResult EnqueueOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyEngine(*this, getEngineAttr(), getInputs().getTypes(), getOuts().getTypes(), symbols);
}

LogicalResult EnqueueOp::verify() {
  // (C2)
  bool onTensors = llvm::any_of(getOuts().getTypes(), llvm::IsaPred<TensorType>);
  if (onTensors ? TypeRange(getOuts().getTypes()) != TypeRange(getResultTypes()) : getNumResults() != 0)
    return emitOpError() << "needs one result per destination on tensors, of the same type, and none on buffers";
  if (failed(verifyLayouts(*this, "input", getInputs().getTypes())))
    return failure();
  return verifyLayouts(*this, "destination", getOuts().getTypes());
}

void EnqueueOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addEffects(getInputsMutable(), MemoryEffects::Read::get(), effects);
  addEffects(getOutsMutable(), MemoryEffects::Write::get(), effects);
}

bool EnqueueOp::bufferizesToMemoryRead(OpOperand &operand, const bufferization::AnalysisState &) {
  return !isDpsInit(&operand);
}

bool EnqueueOp::bufferizesToMemoryWrite(OpOperand &operand, const bufferization::AnalysisState &) {
  return isDpsInit(&operand);
}

bufferization::AliasingValueList EnqueueOp::getAliasingValues(OpOperand &operand,
                                                              const bufferization::AnalysisState &) {
  return getAliasingResult(*this, operand);
}

LogicalResult EnqueueOp::bufferize(RewriterBase &rewriter, const bufferization::BufferizationOptions &options,
                                   bufferization::BufferizationState &state) {
  return bufferizeCall(*this, getEngineAttr(), rewriter, options, state);
}

//===----------------------------------------------------------------------===//
// EnqueueAllocOp
//===----------------------------------------------------------------------===//

LogicalResult EnqueueAllocOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyEngine(*this, getEngineAttr(), getInputs().getTypes(), getResultTypes(), symbols);
}

LogicalResult EnqueueAllocOp::verify() {
  // (C2)
  if (failed(verifyLayouts(*this, "input", getInputs().getTypes())) ||
      failed(verifyLayouts(*this, "result", getResultTypes())))
    return failure();
  // (C3)
  if (getSlots().size() != getNumResults())
    return emitOpError() << "has " << getSlots().size() << " slots for " << getNumResults() << " results";
  llvm::SmallDenseSet<int64_t> taken;
  for (int64_t slot : getSlots())
    if (slot < -1 || (slot >= 0 && !taken.insert(slot).second))
      return emitOpError() << "needs slots that are -1, or a slot each, got " << slot;
  return success();
}

void EnqueueAllocOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addEffects(getInputsMutable(), MemoryEffects::Read::get(), effects);
  for (OpResult result : getResults())
    if (isa<BaseMemRefType>(result.getType()))
      effects.emplace_back(MemoryEffects::Write::get(), result);
}

bool EnqueueAllocOp::bufferizesToMemoryRead(OpOperand &, const bufferization::AnalysisState &) { return true; }
bool EnqueueAllocOp::bufferizesToMemoryWrite(OpOperand &, const bufferization::AnalysisState &) { return false; }
bool EnqueueAllocOp::bufferizesToAllocation(Value) { return true; }
bool EnqueueAllocOp::resultBufferizesToMemoryWrite(OpResult, const bufferization::AnalysisState &) { return true; }
bufferization::AliasingValueList EnqueueAllocOp::getAliasingValues(OpOperand &, const bufferization::AnalysisState &) {
  return {};
}

FailureOr<bufferization::BufferLikeType> EnqueueAllocOp::getBufferType(Value value,
                                                                       const bufferization::BufferizationOptions &,
                                                                       const bufferization::BufferizationState &,
                                                                       SmallVector<Value> &) {
  auto type = cast<RankedTensorType>(value.getType());
  return cast<bufferization::BufferLikeType>(MemRefType::get(type.getShape(), type.getElementType()));
}

LogicalResult EnqueueAllocOp::bufferize(RewriterBase &rewriter, const bufferization::BufferizationOptions &options,
                                        bufferization::BufferizationState &state) {
  SmallVector<Value> inputs;
  if (failed(getBuffers(getInputs(), rewriter, options, state, inputs)))
    return failure();
  SmallVector<Type> types;
  for (Type type : getResultTypes())
    types.push_back(MemRefType::get(cast<RankedTensorType>(type).getShape(), getElementTypeOrSelf(type)));
  auto op = EnqueueAllocOp::create(rewriter, getLoc(), types, getEngineAttr(), inputs, getSlotsAttr());
  bufferization::replaceOpWithBufferizedValues(rewriter, *this, op.getResults());
  return success();
}
