// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `plan` dialect: verifiers, and how a call of a cluster becomes one on buffers. The constraints are numbered in
// PlanOps.td.

#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace latewood::plan;

#include "latewood/compiler/Dialect/Plan/PlanAttrInterfaces.cpp.inc"
#include "latewood/compiler/Dialect/Plan/PlanDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "latewood/compiler/Dialect/Plan/PlanAttributes.cpp.inc"

#define GET_OP_CLASSES
#include "latewood/compiler/Dialect/Plan/PlanOps.cpp.inc"

void PlanDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "latewood/compiler/Dialect/Plan/PlanAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "latewood/compiler/Dialect/Plan/PlanOps.cpp.inc"
      >();
}

TargetAttr latewood::plan::getTarget(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto target = op->getAttrOfType<TargetAttr>(PlanDialect::getTargetAttrName()))
      return target;
  return nullptr;
}

static std::string toText(TypeRange types) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '(';
  llvm::interleaveComma(types, os);
  os << ')';
  return text;
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

// (C1) of all three forms.
static LogicalResult verifyYield(Operation *cluster) {
  auto yield = cast<YieldOp>(cluster->getRegion(0).front().getTerminator());
  if (yield.getOperandTypes() != cluster->getResultTypes())
    return yield.emitOpError() << "gives " << toText(yield.getOperandTypes()) << " where the cluster's results are "
                               << toText(cluster->getResultTypes());
  return success();
}

// (C2) of the closed forms.
static LogicalResult verifyArguments(Operation *cluster) {
  TypeRange arguments = cluster->getRegion(0).front().getArgumentTypes();
  if (arguments != TypeRange(cluster->getOperandTypes()))
    return cluster->emitOpError() << "has region arguments " << toText(arguments) << " where its operands are "
                                  << toText(cluster->getOperandTypes());
  return success();
}

LogicalResult ClusterOp::verifyRegions() { return verifyYield(*this); }

LogicalResult AllocClusterOp::verifyRegions() {
  if (failed(verifyYield(*this)))
    return failure();
  return verifyArguments(*this);
}

LogicalResult DPSClusterOp::verify() {
  // (C3)
  if (TypeRange(getOuts().getTypes()) != TypeRange(getResultTypes()))
    return emitOpError() << "has destinations " << toText(getOuts().getTypes()) << " where its results are "
                         << toText(getResultTypes());
  return success();
}

LogicalResult DPSClusterOp::verifyRegions() {
  if (failed(verifyYield(*this)) || failed(verifyArguments(*this)))
    return failure();
  // (C4)
  llvm::SmallDenseSet<Value> seen;
  for (auto [index, value] : llvm::enumerate(getBody().front().getTerminator()->getOperands())) {
    if (isa<BlockArgument>(value) && cast<BlockArgument>(value).getOwner() == &getBody().front())
      return emitOpError() << "result " << index << " is an argument of the cluster";
    if (!seen.insert(value).second)
      return emitOpError() << "result " << index << " is the same value as an earlier result";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

// (C1) of both calls. A lowered function also takes the call frame and the workspace.
static LogicalResult verifyCallee(Operation *call, SymbolRefAttr callee, SymbolTableCollection &symbols) {
  auto *function = symbols.lookupNearestSymbolFrom(call, callee);
  auto interface = dyn_cast_or_null<FunctionOpInterface>(function);
  if (!interface)
    return call->emitOpError() << "calls " << callee << ", which is no function";
  size_t expected = interface.getNumArguments(), got = call->getNumOperands(), dynamicExtents = 0;
  for (Type type : call->getOperandTypes())
    if (auto shaped = dyn_cast<ShapedType>(type); shaped && shaped.hasRank())
      dynamicExtents += shaped.getNumDynamicDims();
  if (expected != got && expected != got + 2 + dynamicExtents)
    return call->emitOpError() << "has " << got << " operands where " << callee << " takes " << expected
                               << " arguments";
  return success();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyCallee(*this, getCallee(), symbols);
}

LogicalResult CallAllocOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyCallee(*this, getCallee(), symbols);
}

LogicalResult CallOp::verify() {
  // (C2)
  bool onTensors = llvm::any_of(getOuts().getTypes(), llvm::IsaPred<TensorType>);
  if (onTensors && TypeRange(getOuts().getTypes()) != TypeRange(getResultTypes()))
    return emitOpError() << "has destinations " << toText(getOuts().getTypes()) << " where its results are "
                         << toText(getResultTypes());
  if (!onTensors && getNumResults() != 0)
    return emitOpError() << "has " << getNumResults() << " results; on buffers the destinations are the results";
  return success();
}

void CallOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand &operand : getInputsMutable())
    if (isa<BaseMemRefType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  for (OpOperand &operand : getOutsMutable())
    if (isa<BaseMemRefType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
}

bool CallOp::bufferizesToMemoryRead(OpOperand &operand, const bufferization::AnalysisState &) {
  return !isDpsInit(&operand);
}

bool CallOp::bufferizesToMemoryWrite(OpOperand &operand, const bufferization::AnalysisState &) {
  return isDpsInit(&operand);
}

bufferization::AliasingValueList CallOp::getAliasingValues(OpOperand &operand, const bufferization::AnalysisState &) {
  if (!isDpsInit(&operand))
    return {};
  return {{getTiedOpResult(&operand), bufferization::BufferRelation::Equivalent}};
}

LogicalResult CallOp::bufferize(RewriterBase &rewriter, const bufferization::BufferizationOptions &options,
                                bufferization::BufferizationState &state) {
  SmallVector<Value> inputs, outs;
  auto convert = [&](OperandRange values, SmallVectorImpl<Value> &buffers) {
    for (Value value : values) {
      FailureOr<Value> buffer = bufferization::getBuffer(rewriter, value, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    return success();
  };
  if (failed(convert(getInputs(), inputs)) || failed(convert(getOuts(), outs)))
    return failure();
  CallOp::create(rewriter, getLoc(), TypeRange(), getCallee(), inputs, outs);
  bufferization::replaceOpWithBufferizedValues(rewriter, *this, outs);
  return success();
}

//===----------------------------------------------------------------------===//
// WithShapeOp, WithValuesOp
//===----------------------------------------------------------------------===//

LogicalResult WithShapeOp::verify() {
  // (C1)
  int64_t expected = cast<ShapedType>(getOperand().getType()).getNumDynamicDims(), got = getExtents().size();
  if (got != expected)
    return emitOpError() << "has " << got << " extents for " << getOperand().getType() << ", which has " << expected
                         << " dynamic dimensions";
  return success();
}

OpFoldResult WithShapeOp::fold(FoldAdaptor) {
  return getExtents().empty() ? OpFoldResult(getOperand()) : OpFoldResult();
}

SmallVector<OpFoldResult> WithShapeOp::getMixedExtents() {
  return getMixedValues(cast<ShapedType>(getOperand().getType()).getShape(), getExtents(), getContext());
}

LogicalResult WithValuesOp::verify() {
  // (C1)
  auto type = cast<ShapedType>(getOperand().getType());
  Type element = type.getElementType();
  if (!element.isIntOrIndex())
    return emitOpError() << "needs integers or indices, got " << type;
  if (auto integer = dyn_cast<IntegerType>(element))
    element = IntegerType::get(getContext(), integer.getWidth());
  if (int64_t(getElements().size()) != type.getNumElements())
    return emitOpError() << "has " << getElements().size() << " scalars for " << type << ", which has "
                         << type.getNumElements() << " elements";
  for (Value scalar : getElements())
    if (scalar.getType() != element)
      return emitOpError() << "has a scalar of type " << scalar.getType() << " for " << type;
  return success();
}

OpFoldResult WithValuesOp::fold(FoldAdaptor) {
  return getElements().empty() ? OpFoldResult(getOperand()) : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// AssertOp
//===----------------------------------------------------------------------===//

LogicalResult AssertOp::verify() {
  // (C1)
  auto isScalar = [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return shaped && shaped.hasRank() && shaped.getRank() == 0 && shaped.getElementType().isInteger();
  };
  if (!isScalar(getCondition().getType()) || !getElementTypeOrSelf(getCondition()).isInteger(1))
    return emitOpError() << "needs a 0-dimensional i1 as its condition, got " << getCondition().getType();
  for (Value value : getValues())
    if (!isScalar(value.getType()))
      return emitOpError() << "needs 0-dimensional integers as values, got " << value.getType();
  return success();
}

bool AssertOp::bufferizesToMemoryRead(OpOperand &, const bufferization::AnalysisState &) { return true; }
bool AssertOp::bufferizesToMemoryWrite(OpOperand &, const bufferization::AnalysisState &) { return false; }
bufferization::AliasingValueList AssertOp::getAliasingValues(OpOperand &, const bufferization::AnalysisState &) {
  return {};
}

LogicalResult AssertOp::bufferize(RewriterBase &rewriter, const bufferization::BufferizationOptions &options,
                                  bufferization::BufferizationState &state) {
  SmallVector<Value> buffers;
  for (Value value : getOperands()) {
    FailureOr<Value> buffer = bufferization::getBuffer(rewriter, value, options, state);
    if (failed(buffer))
      return failure();
    buffers.push_back(*buffer);
  }
  bufferization::replaceOpWithNewBufferizedOp<AssertOp>(rewriter, *this, buffers.front(), getMessage(),
                                                        ValueRange(buffers).drop_front());
  return success();
}
