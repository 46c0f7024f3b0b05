// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `cpu` dialect: verifiers, memory effects and bufferization. The constraints are numbered in CPUOps.td.

#include "latewood/compiler/Dialect/CPU/CPU.h"
#include "latewood/compiler/Dialect/DestinationStyleBufferization.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::cpu;

#include "latewood/compiler/Dialect/CPU/CPUDialect.cpp.inc"

#define GET_OP_CLASSES
#include "latewood/compiler/Dialect/CPU/CPUOps.cpp.inc"

void CPUDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "latewood/compiler/Dialect/CPU/CPUOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Linear maps
//===----------------------------------------------------------------------===//

static bool collectTerms(AffineExpr expression, int64_t factor, SmallVectorImpl<std::pair<unsigned, int64_t>> &terms) {
  if (auto dim = dyn_cast<AffineDimExpr>(expression)) {
    terms.emplace_back(dim.getPosition(), factor);
    return factor > 0;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return collectTerms(binary.getLHS(), factor, terms) && collectTerms(binary.getRHS(), factor, terms);
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return binary.getKind() == AffineExprKind::Mul && constant &&
         collectTerms(binary.getLHS(), factor * constant.getValue(), terms);
}

std::optional<SmallVector<std::pair<unsigned, int64_t>>> latewood::cpu::getLinearTerms(AffineExpr expression) {
  SmallVector<std::pair<unsigned, int64_t>> terms;
  if (!collectTerms(expression, 1, terms))
    return std::nullopt;
  return terms;
}

bool latewood::cpu::isLinearMap(AffineMap map) {
  llvm::SmallDenseSet<unsigned> seen;
  return map.getNumSymbols() == 0 && llvm::all_of(map.getResults(), [&](AffineExpr expression) {
           auto terms = getLinearTerms(expression);
           return terms && llvm::all_of(*terms, [&](auto term) { return seen.insert(term.first).second; });
         });
}

//===----------------------------------------------------------------------===//
// ContractOp: structure
//===----------------------------------------------------------------------===//

void ContractOp::build(OpBuilder &builder, OperationState &state, Value lhs, Value rhs, Value init,
                       ArrayRef<AffineMap> maps, Type accumulator) {
  SmallVector<Type, 1> results;
  if (isa<TensorType>(init.getType()))
    results.push_back(init.getType());
  build(builder, state, results, lhs, rhs, ValueRange(), init, builder.getAffineMapArrayAttr(maps),
        /*lhs_unsigned=*/UnitAttr(), /*rhs_unsigned=*/UnitAttr());
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(state.regions.front().get(), {}, {accumulator}, {state.location});
  YieldOp::create(builder, state.location, block->getArgument(0));
}

SmallVector<AffineMap> ContractOp::getMaps() {
  return llvm::map_to_vector(getIndexingMaps(), [](Attribute map) { return cast<AffineMapAttr>(map).getValue(); });
}

SmallVector<ContractOp::DimKind> ContractOp::getDimKinds() {
  SmallVector<DimKind> kinds;
  for (unsigned dim = 0, e = getNumDims(); dim < e; ++dim) {
    bool inLhs = getLhsMap().isFunctionOfDim(dim), inRhs = getRhsMap().isFunctionOfDim(dim);
    kinds.push_back(!getInitMap().isFunctionOfDim(dim) ? DimKind::Reduced
                    : inLhs && inRhs                   ? DimKind::Batch
                    : inLhs                            ? DimKind::Row
                                                       : DimKind::Column);
  }
  return kinds;
}

SmallVector<int64_t> ContractOp::getExtents() {
  SmallVector<int64_t> extents(getNumDims(), ShapedType::kDynamic);
  for (auto [operand, map] : llvm::zip_equal(getOperands(), getMaps())) {
    auto type = dyn_cast<ShapedType>(operand.getType());
    if (!type)
      continue;
    for (auto [expression, extent] : llvm::zip_equal(map.getResults(), type.getShape()))
      if (auto dim = dyn_cast<AffineDimExpr>(expression); dim && !ShapedType::isDynamic(extent))
        extents[dim.getPosition()] = extent;
  }
  return extents;
}

bool ContractOp::hasIdentityEpilogue() {
  return cast<YieldOp>(getBody().getTerminator()).getValue() == getBody().getArgument(0);
}

static bool isShaped(Type type) { return isa<RankedTensorType, MemRefType>(type); }

LogicalResult ContractOp::verify() {
  // (C1)
  bool onTensors = isa<RankedTensorType>(getInit().getType());
  for (Value operand : getOperands())
    if (isShaped(operand.getType()) && isa<RankedTensorType>(operand.getType()) != onTensors)
      return emitOpError() << "has tensors and buffers among its operands";
  if (onTensors != (getResult() != nullptr) || (onTensors && getResult().getType() != getInit().getType()))
    return emitOpError() << (onTensors ? "on tensors must have one result of init's type" : "on buffers has no result");

  // (C2)
  if (getIndexingMaps().size() != getNumOperands())
    return emitOpError() << "has " << getIndexingMaps().size() << " indexing maps for " << getNumOperands()
                         << " operands";
  for (auto [i, operand, map] : llvm::enumerate(getOperands(), getMaps())) {
    auto type = dyn_cast<ShapedType>(operand.getType());
    if (i == 0 ? !isLinearMap(map) : !map.isProjectedPermutation() || map.getNumDims() != getLhsMap().getNumDims())
      return emitOpError() << "indexing map " << i << " must be "
                           << (i == 0 ? "linear" : "a projected permutation of the dimensions of map 0") << ", is "
                           << AffineMapAttr::get(map);
    if (map.getNumResults() != (type ? type.getRank() : 0))
      return emitOpError() << "indexing map " << i << " has " << map.getNumResults() << " results for an operand with "
                           << (type ? type.getRank() : 0) << " dimensions";
  }

  // (C3)
  SmallVector<int64_t> extents = getExtents();
  for (auto [i, operand, map] : llvm::enumerate(getOperands(), getMaps())) {
    auto type = dyn_cast<ShapedType>(operand.getType());
    if (!type)
      continue;
    for (auto [expression, extent] : llvm::zip_equal(map.getResults(), type.getShape())) {
      if (!isa<AffineDimExpr>(expression)) {
        int64_t last = 0;
        auto terms = *getLinearTerms(expression);
        for (auto [dim, factor] : terms) {
          if (ShapedType::isDynamic(extents[dim]) || extents[dim] == 0)
            last = std::numeric_limits<int64_t>::min();
          else if (last >= 0)
            last += factor * (extents[dim] - 1);
        }
        if (!ShapedType::isDynamic(extent) && last >= extent)
          return emitOpError() << "reads lhs at position " << last << " of a dimension of extent " << extent;
        continue;
      }
      unsigned dim = cast<AffineDimExpr>(expression).getPosition();
      if (!ShapedType::isDynamic(extent) && extent != extents[dim])
        return emitOpError() << "operand " << i << " has extent " << extent << " for dimension " << dim
                             << " of the iteration space, another operand has " << extents[dim];
    }
  }

  // (C4)
  for (unsigned dim = 0, e = getNumDims(); dim < e; ++dim)
    if (getLhsMap().isFunctionOfDim(dim) + getRhsMap().isFunctionOfDim(dim) + getInitMap().isFunctionOfDim(dim) < 2)
      return emitOpError() << "dimension " << dim << " must index at least two of lhs, rhs and init";

  // (C5)
  for (unsigned i = 0, e = getExtras().size(); i < e; ++i)
    for (AffineExpr expression : getExtraMap(i).getResults())
      if (!getInitMap().isFunctionOfDim(cast<AffineDimExpr>(expression).getPosition()))
        return emitOpError() << "extra operand " << i << " is indexed by a dimension that the result does not have";
  return success();
}

LogicalResult ContractOp::verifyRegions() {
  // (C6)
  Block &body = getBody();
  if (body.getNumArguments() != 1 + getExtras().size())
    return emitOpError() << "has " << body.getNumArguments() << " region arguments for an accumulator and "
                         << getExtras().size() << " extra operands";
  for (auto [i, extra] : llvm::enumerate(getExtras()))
    if (body.getArgument(i + 1).getType() != getElementTypeOrSelf(extra.getType()))
      return emitOpError() << "region argument " << i + 1 << " is " << body.getArgument(i + 1).getType()
                           << " where the extra operand has elements of type " << getElementTypeOrSelf(extra.getType());
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getValue().getType() != getElementTypeOrSelf(getInit().getType()))
    return emitOpError() << "must end with cpu.yield of an element of init, "
                         << getElementTypeOrSelf(getInit().getType());

  // (C7)
  Type lhs = getElementTypeOrSelf(getLhs().getType()), rhs = getElementTypeOrSelf(getRhs().getType());
  Type accumulator = getAccumulatorType();
  bool floats = isa<FloatType>(lhs) && isa<FloatType>(rhs) && isa<FloatType>(accumulator);
  bool integers = isa<IntegerType>(lhs) && isa<IntegerType>(rhs) && isa<IntegerType>(accumulator);
  if (!floats && !integers)
    return emitOpError() << "needs lhs, rhs and accumulator of one kind, integer or float, has " << lhs << ", " << rhs
                         << " and " << accumulator;
  unsigned bits = accumulator.getIntOrFloatBitWidth();
  if (lhs.getIntOrFloatBitWidth() > bits || rhs.getIntOrFloatBitWidth() > bits)
    return emitOpError() << "has an accumulator of type " << accumulator << " that is narrower than a factor (" << lhs
                         << ", " << rhs << ")";

  // (C8)
  for (Operation &op : body.without_terminator())
    if (op.getNumRegions() || !isPure(&op))
      return op.emitOpError() << "cannot stand in the epilogue of '" << getOperationName()
                              << "': it has side effects or regions";
  return success();
}

void ContractOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}

//===----------------------------------------------------------------------===//
// ContractOp: bufferization
//===----------------------------------------------------------------------===//

bool ContractOp::bufferizesToMemoryRead(OpOperand &operand, const bufferization::AnalysisState &) {
  return !isDpsInit(&operand);
}

bool ContractOp::bufferizesToMemoryWrite(OpOperand &operand, const bufferization::AnalysisState &) {
  return isDpsInit(&operand);
}

// An extra that is read exactly where the result is written can share its buffer. lhs and rhs never can: other points
// of the result still need them.
bool ContractOp::bufferizesToElementwiseAccess(const bufferization::AnalysisState &, ArrayRef<OpOperand *> operands) {
  return llvm::all_of(operands, [&](OpOperand *operand) {
    unsigned position = operand->getOperandNumber();
    return position >= 2 && getMap(position) == getInitMap() && operand->get().getType() == getInit().getType();
  });
}

bufferization::AliasingValueList ContractOp::getAliasingValues(OpOperand &operand,
                                                               const bufferization::AnalysisState &) {
  if (!isDpsInit(&operand))
    return {};
  return {{getOperation()->getResult(0), bufferization::BufferRelation::Equivalent}};
}

LogicalResult ContractOp::bufferize(RewriterBase &rewriter, const bufferization::BufferizationOptions &options,
                                    bufferization::BufferizationState &state) {
  if (!isa<TensorType>(getInit().getType()))
    return success();
  SmallVector<Value> operands;
  if (failed(getBuffers(getOperands(), rewriter, options, state, operands)))
    return failure();
  auto onBuffers = ContractOp::create(rewriter, getLoc(), TypeRange(), operands, (*this)->getAttrs());
  onBuffers.getEpilogue().takeBody(getEpilogue());
  bufferization::replaceOpWithBufferizedValues(rewriter, *this, operands.back());
  return success();
}

//===----------------------------------------------------------------------===//
// LibraryCallOp
//===----------------------------------------------------------------------===//

LogicalResult LibraryCallOp::verify() {
  OperandRange arguments = getArguments();
  // (C1)
  if (arguments.empty() || !isa<MemRefType>(arguments.front().getType()))
    return emitOpError() << "needs a buffer as its first operand";
  // (C2); (C3) is the operand type.
  for (unsigned i = 0, e = arguments.size(); i < e; ++i)
    if (isa<MemRefType>(arguments[i].getType()) && (i + 1 == e || !arguments[i + 1].getType().isIndex()))
      return emitOpError() << "operand " << i << ", a buffer, must be followed by an index";
  return success();
}

void LibraryCallOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand &operand : getArgumentsMutable()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (operand.getOperandNumber() == 0)
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}
