// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations of the `cpu` dialect that stand for loops: verifiers, and how a group on tensors becomes one on buffers.
// The constraints are numbered in GroupOps.td.

#include "latewood/compiler/Dialect/CPU/CPU.h"
#include "latewood/compiler/Dialect/DestinationStyleBufferization.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::cpu;

//===----------------------------------------------------------------------===//
// GroupOp
//===----------------------------------------------------------------------===//

static bool isBuffer(Value value) { return isa<BaseMemRefType>(value.getType()); }
static bool isTensor(Value value) { return isa<TensorType>(value.getType()); }

LogicalResult GroupOp::verify() {
  bool buffers = llvm::any_of(getOuts(), isBuffer); // (C3)
  if (buffers ? getNumResults() != 0 : getResultTypes() != getOuts().getTypes())
    return emitOpError() << "must have "
                         << (buffers ? "no results on buffers" : "the types of its destinations as results");
  return success();
}

LogicalResult GroupOp::verifyRegions() {
  Block &block = getBody().front();
  if (block.getNumArguments() != getNumOperands()) // (C1)
    return emitOpError() << "has " << getNumOperands() << " operands and " << block.getNumArguments()
                         << " arguments of its region";
  for (auto [operand, argument] : llvm::zip(getOperands(), block.getArguments())) {
    Type expected = operand.getType();
    if (auto buffer = dyn_cast<MemRefType>(expected))
      expected = RankedTensorType::get(buffer.getShape(), buffer.getElementType());
    if (argument.getType() != expected)
      return emitOpError() << "argument " << argument.getArgNumber() << " of the region is " << argument.getType()
                           << " where the operand is " << operand.getType();
  }
  auto yield = dyn_cast<GroupYieldOp>(block.getTerminator()); // (C2)
  auto outTypes = llvm::map_to_vector(block.getArguments().take_back(getOuts().size()),
                                      [](BlockArgument argument) { return argument.getType(); });
  if (!yield || yield.getValues().getTypes() != TypeRange(outTypes))
    return emitOpError() << "must end with cpu.group_yield of one value per destination, of its type";
  return success();
}

void GroupOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand &operand : (*this)->getOpOperands()) {
    if (!isBuffer(operand.get()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand, SideEffects::DefaultResource::get());
    if (isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand, SideEffects::DefaultResource::get());
  }
}

bool GroupOp::hasTensorSemantics() { return llvm::any_of(getOperands(), isTensor); }

// A destination is read when an operation in the region does more with it than to overwrite it.
bool GroupOp::bufferizesToMemoryRead(OpOperand &operand, const bufferization::AnalysisState &) {
  if (!isDpsInit(&operand))
    return isTensor(operand.get());
  BlockArgument argument = getBody().getArgument(operand.getOperandNumber());
  return llvm::any_of(argument.getUses(), [](OpOperand &use) {
    auto destination = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
    if (!destination || !destination.isDpsInit(&use) || use.getOwner()->getNumRegions() != 1)
      return true;
    return !use.getOwner()->getRegion(0).getArgument(use.getOperandNumber()).use_empty();
  });
}

// True for one elementwise operation that uses each of the operands at the place of its result: then an element is read
// before it is written, and they may be the same buffer.
bool GroupOp::bufferizesToElementwiseAccess(const bufferization::AnalysisState &, ArrayRef<OpOperand *> operands) {
  auto generics = getBody().getOps<linalg::GenericOp>();
  if (!llvm::hasSingleElement(generics))
    return false;
  linalg::GenericOp op = *generics.begin();
  if (op.getNumReductionLoops() != 0)
    return false;
  for (OpOperand *operand : operands)
    for (OpOperand &use : getBody().getArgument(operand->getOperandNumber()).getUses())
      if (use.getOwner() != op || !op.getMatchingIndexingMap(&use).isIdentity())
        return false;
  return true;
}

bool GroupOp::bufferizesToMemoryWrite(OpOperand &operand, const bufferization::AnalysisState &) {
  return isDpsInit(&operand);
}

bufferization::AliasingValueList GroupOp::getAliasingValues(OpOperand &operand, const bufferization::AnalysisState &) {
  if (!isDpsInit(&operand))
    return {};
  return {{getTiedOpResult(&operand), bufferization::BufferRelation::Equivalent}};
}

LogicalResult GroupOp::bufferize(RewriterBase &rewriter, const bufferization::BufferizationOptions &options,
                                 bufferization::BufferizationState &state) {
  SmallVector<Value> inputs, outs;
  rewriter.setInsertionPoint(*this);
  if (failed(getBuffers(getInputs(), rewriter, options, state, inputs)) ||
      failed(getBuffers(getOuts(), rewriter, options, state, outs)))
    return failure();
  auto onBuffers = GroupOp::create(rewriter, getLoc(), TypeRange(), inputs, outs);
  onBuffers->setDiscardableAttrs((*this)->getDiscardableAttrDictionary());
  onBuffers.getBody().takeBody(getBody());
  bufferization::replaceOpWithBufferizedValues(rewriter, *this, outs);
  return success();
}

//===----------------------------------------------------------------------===//
// ParallelForOp
//===----------------------------------------------------------------------===//

// (C1)
LogicalResult ParallelForOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto function = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getBodyAttr());
  if (!function)
    return emitOpError() << "body @" << getBody() << " is not a function";
  ArrayRef<Type> types = function.getArgumentTypes();
  size_t captured = getCaptured().size();
  bool matches =
      (types.size() == 2 + captured || types.size() == 3 + captured) && types[0].isIndex() && types[1].isIndex();
  for (size_t i = 0; matches && i < captured; ++i)
    matches = types[2 + i] == getCaptured()[i].getType();
  if (!matches)
    return emitOpError() << "body @" << getBody() << " must take (index, index), then the " << captured
                         << " captured values, then at most its scratch";
  return success();
}
