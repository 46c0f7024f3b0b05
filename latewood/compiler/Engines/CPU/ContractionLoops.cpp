// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product as plain loops over loads and stores: for layouts that are dynamic, and where one factor is empty and the
// result is the epilogue of zeros. Right for every type; nobody should have to wait for it.

#include "latewood/compiler/Engines/CPU/ContractionEmitter.h"
#include "latewood/compiler/Engines/CPU/SymbolicShapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace latewood::cpu;

void latewood::cpu::emitContractionLoops(ContractOp op, OpBuilder &b) {
  OpBuilder::InsertionGuard guard(b);
  Location loc = op.getLoc();
  SmallVector<ContractOp::DimKind> kinds = op.getDimKinds();
  SmallVector<Value> indices(kinds.size());
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  auto extentOf = [&](unsigned dim) -> Value {
    for (auto [operand, map] : llvm::zip_equal(op->getOperands(), op.getMaps()))
      for (auto [position, expression] : llvm::enumerate(map.getResults()))
        if (auto plain = dyn_cast<AffineDimExpr>(expression); plain && plain.getPosition() == dim) {
          if (auto shape = getSymbolicShape(operand))
            return (*shape)[position].materialize(b, loc);
          else
            return memref::DimOp::create(b, loc, operand, position);
        }
    return one;
  };
  auto load = [&](unsigned operand) -> Value {
    if (!isa<MemRefType>(op->getOperand(operand).getType()))
      return op->getOperand(operand);
    SmallVector<Value> at;
    for (AffineExpr expression : op.getMap(operand).getResults()) {
      Value sum;
      auto terms = *getLinearTerms(expression);
      for (auto [dim, factor] : terms) {
        Value term = indices[dim];
        if (factor != 1)
          term = arith::MulIOp::create(b, loc, term, arith::ConstantIndexOp::create(b, loc, factor));
        sum = sum ? arith::AddIOp::create(b, loc, sum, term).getResult() : term;
      }
      at.push_back(sum);
    }
    return memref::LoadOp::create(b, loc, op->getOperand(operand), at);
  };
  Type accumulator = op.getAccumulatorType();
  auto extend = [&](Value value, bool isUnsigned) -> Value {
    if (value.getType() == accumulator)
      return value;
    if (isa<FloatType>(accumulator))
      return arith::ExtFOp::create(b, loc, accumulator, value);
    return isUnsigned ? arith::ExtUIOp::create(b, loc, accumulator, value).getResult()
                      : arith::ExtSIOp::create(b, loc, accumulator, value).getResult();
  };

  for (auto [dim, kind] : llvm::enumerate(kinds)) {
    if (kind == ContractOp::DimKind::Reduced)
      continue;
    auto loop = scf::ForOp::create(b, loc, zero, extentOf(dim), one);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    indices[dim] = loop.getInductionVar();
  }
  Value sum = arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(accumulator)));
  SmallVector<scf::ForOp> loops;
  for (auto [dim, kind] : llvm::enumerate(kinds)) {
    if (kind != ContractOp::DimKind::Reduced)
      continue;
    auto loop = scf::ForOp::create(b, loc, zero, extentOf(dim), one, sum);
    b.setInsertionPointToStart(loop.getBody());
    indices[dim] = loop.getInductionVar();
    sum = loop.getRegionIterArg(0);
    loops.push_back(loop);
  }
  Value lhs = extend(load(0), op.getLhsUnsigned()), rhs = extend(load(1), op.getRhsUnsigned());
  if (isa<FloatType>(accumulator))
    sum = arith::AddFOp::create(b, loc, sum, arith::MulFOp::create(b, loc, lhs, rhs));
  else
    sum = arith::AddIOp::create(b, loc, sum, arith::MulIOp::create(b, loc, lhs, rhs));
  for (scf::ForOp loop : llvm::reverse(loops)) {
    scf::YieldOp::create(b, loc, sum);
    sum = loop.getResult(0);
    b.setInsertionPointAfter(loop);
  }

  IRMapping mapping;
  mapping.map(op.getBody().getArgument(0), sum);
  for (unsigned i = 0, e = op.getExtras().size(); i < e; ++i)
    mapping.map(op.getBody().getArgument(1 + i), load(2 + i));
  for (Operation &inner : op.getBody().without_terminator())
    b.clone(inner, mapping);
  SmallVector<Value> at;
  for (AffineExpr expression : op.getInitMap().getResults())
    at.push_back(indices[cast<AffineDimExpr>(expression).getPosition()]);
  memref::StoreOp::create(b, loc, mapping.lookupOrDefault(op.getBody().getTerminator()->getOperand(0)), op.getInit(),
                          at);
}
