// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `plan` dialect: verifiers, and how a call of a cluster becomes one on buffers. The constraints are numbered in
// PlanOps.td.

#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Dialect/DestinationStyleBufferization.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::plan;

#include "latewood/compiler/Dialect/Plan/PlanAttrInterfaces.cpp.inc"
#include "latewood/compiler/Dialect/Plan/PlanDialect.cpp.inc"
#include "latewood/compiler/Dialect/Plan/PlanEnums.cpp.inc"

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

LogicalResult BoundsAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, DenseI64ArrayAttr min,
                                 DenseI64ArrayAttr opt, DenseI64ArrayAttr max) {
  // (C1)
  if (min.size() != opt.size() || min.size() != max.size())
    return emitError() << "bounds need as many entries in min, opt and max, got " << min.size() << ", " << opt.size()
                       << " and " << max.size();
  for (int64_t i = 0; i < min.size(); ++i)
    if (min[i] > opt[i] || opt[i] > max[i])
      return emitError() << "bounds need min <= opt <= max, got " << min[i] << ", " << opt[i] << " and " << max[i]
                         << " in entry " << i;
  return success();
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

// (C5) of the closed forms.
static LogicalResult verifyExtents(Operation *cluster, ArrayAttr extents) {
  if (!extents)
    return success();
  if (extents.size() != cluster->getNumOperands())
    return cluster->emitOpError() << "has extents of " << extents.size() << " operands where it has "
                                  << cluster->getNumOperands();
  for (auto [index, entry, type] : llvm::enumerate(extents, cluster->getOperandTypes())) {
    auto numbers = dyn_cast<DenseI64ArrayAttr>(entry);
    auto tensor = dyn_cast<RankedTensorType>(type);
    int64_t expected = tensor ? tensor.getNumDynamicDims() : 0;
    if (!numbers || numbers.size() != expected)
      return cluster->emitOpError() << "has extents " << entry << " of operand " << index << ", which has " << expected
                                    << " dynamic dimensions";
    for (int64_t number : numbers.asArrayRef())
      if (number < 0 || number >= static_cast<int64_t>(extents.size()) ||
          !cluster->getOperand(number).getType().isIndex())
        return cluster->emitOpError() << "has extent " << number << " of operand " << index
                                      << ", which is no operand of type index";
  }
  return success();
}

LogicalResult ClusterOp::verifyRegions() { return verifyYield(*this); }

LogicalResult AllocClusterOp::verify() { return verifyExtents(*this, getExtentsAttr()); }

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
  return verifyExtents(*this, getExtentsAttr());
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
  size_t expected = interface.getNumArguments(), got = call->getNumOperands();
  if (expected != got && expected != got + 2)
    return call->emitOpError() << "has " << got << " operands where " << callee << " takes " << expected
                               << " arguments";
  return success();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyCallee(*this, getCallee(), symbols);
}

LogicalResult CallAllocOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // What an engine allocates is row-major with offset 0: a memref with the identity layout says so, and engines promise
  // no more. `strided<[?, ?], offset: ?>` would be strides that only the call finds out.
  for (auto [index, type] : llvm::enumerate(getResultTypes()))
    if (auto memref = dyn_cast<MemRefType>(type); memref && !memref.getLayout().isIdentity())
      return emitOpError() << "result " << index << " needs the identity layout: allocated results are row-major with "
                           << "offset 0, got " << memref;
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
  addEffects(getInputsMutable(), MemoryEffects::Read::get(), effects);
  addEffects(getOutsMutable(), MemoryEffects::Write::get(), effects);
}

bool CallOp::bufferizesToMemoryRead(OpOperand &operand, const bufferization::AnalysisState &) {
  return !isDpsInit(&operand);
}

bool CallOp::bufferizesToMemoryWrite(OpOperand &operand, const bufferization::AnalysisState &) {
  return isDpsInit(&operand);
}

bufferization::AliasingValueList CallOp::getAliasingValues(OpOperand &operand, const bufferization::AnalysisState &) {
  return getAliasingResult(*this, operand);
}

LogicalResult CallOp::bufferize(RewriterBase &rewriter, const bufferization::BufferizationOptions &options,
                                bufferization::BufferizationState &state) {
  return bufferizeCall(*this, getCallee(), rewriter, options, state);
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

bool WithShapeOp::bufferizesToMemoryRead(OpOperand &, const bufferization::AnalysisState &) { return false; }
bool WithShapeOp::bufferizesToMemoryWrite(OpOperand &, const bufferization::AnalysisState &) { return false; }
bufferization::AliasingValueList WithShapeOp::getAliasingValues(OpOperand &operand,
                                                                const bufferization::AnalysisState &) {
  if (operand.getOperandNumber() != 0)
    return {};
  return {{getResult(), bufferization::BufferRelation::Equivalent}};
}

LogicalResult WithShapeOp::bufferize(RewriterBase &rewriter, const bufferization::BufferizationOptions &options,
                                     bufferization::BufferizationState &state) {
  FailureOr<Value> buffer = bufferization::getBuffer(rewriter, getOperand(), options, state);
  if (failed(buffer))
    return failure();
  bufferization::replaceOpWithNewBufferizedOp<WithShapeOp>(rewriter, *this, buffer->getType(), *buffer, getExtents());
  return success();
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
  auto getScalar = [](Type type) -> Type {
    auto shaped = dyn_cast<ShapedType>(type);
    if (shaped && (!shaped.hasRank() || shaped.getRank() != 0))
      return {};
    Type element = shaped ? shaped.getElementType() : type;
    return element.isIntOrIndex() && !(shaped && element.isIndex()) ? element : Type();
  };
  if (Type condition = getScalar(getCondition().getType()); !condition || !condition.isInteger(1))
    return emitOpError() << "needs an i1 or a 0-dimensional one as its condition, got " << getCondition().getType();
  for (Value value : getValues())
    if (!getScalar(value.getType()))
      return emitOpError() << "needs integers or 0-dimensional ones as values, got " << value.getType();
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
  if (failed(getBuffers(getOperands(), rewriter, options, state, buffers)))
    return failure();
  bufferization::replaceOpWithNewBufferizedOp<AssertOp>(rewriter, *this, buffers.front(), getMessage(),
                                                        ValueRange(buffers).drop_front());
  return success();
}

//===----------------------------------------------------------------------===//
// TransferOp, OptimizationBarrierOp
//===----------------------------------------------------------------------===//

LogicalResult TransferOp::verify() {
  // (C1)
  auto from = cast<RankedTensorType>(getOperand().getType()), to = cast<RankedTensorType>(getType());
  for (Attribute encoding : {from.getEncoding(), to.getEncoding()})
    if (encoding && !isa<MemorySpaceAttr>(encoding))
      return emitOpError() << "moves a tensor with encoding " << encoding << ", which is no memory space";
  if (from.getShape() != to.getShape() || from.getElementType() != to.getElementType())
    return emitOpError() << "makes " << to << " of " << from << "; it may change nothing but the memory space";
  return success();
}

OpFoldResult TransferOp::fold(FoldAdaptor) {
  return getOperand().getType() == getType() ? OpFoldResult(getOperand()) : OpFoldResult();
}

void OptimizationBarrierOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Write::get());
}
