// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shapes of results without the results. What the host needs for them is a slice of the program: scalars that are
// made of the extents of arguments and of small integers in arguments. That slice becomes a function of its own, with
// the same arguments, so that a caller can ask before it calls.
//
// In:  public functions whose extents are scalars.
// Out: for each with dynamic results of which some are known beforehand, a function that computes their extents;
// results
//      whose extents are read from what engines compute are marked.

#include "latewood/compiler/Cluster/Passes.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace latewood::cluster {

#define GEN_PASS_DEF_CREATESHAPEFUNCTIONSPASS
#include "latewood/compiler/Cluster/Passes.h.inc"

namespace {

class CreateShapeFunctionsPass : public impl::CreateShapeFunctionsPassBase<CreateShapeFunctionsPass> {
public:
  void runOnOperation() override {
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (!function.isExternal() && !function.isPrivate() && llvm::hasSingleElement(function.getBody()))
        create(function);
  }

private:
  // Adds to `slice` what computes `value` from the arguments. False: an engine has a part in it.
  static bool addToSlice(Value value, SetVector<Operation *> &slice) {
    Operation *op = value.getDefiningOp();
    if (!op || slice.contains(op))
      return true;
    if (!isa<arith::ArithDialect>(op->getDialect()) && !isa<tensor::DimOp, tensor::ExtractOp>(op))
      return false;
    for (Value operand : op->getOperands())
      if (!addToSlice(operand, slice))
        return false;
    return slice.insert(op);
  }
  static bool addToSlice(ValueRange values, SetVector<Operation *> &slice) {
    SetVector<Operation *> more = slice;
    if (!llvm::all_of(values, [&](Value value) { return addToSlice(value, more); }))
      return false;
    slice = std::move(more);
    return true;
  }

  void create(func::FuncOp function) {
    Operation *terminator = function.getBody().front().getTerminator();
    SetVector<Operation *> slice;
    SmallVector<plan::WithShapeOp> known;
    for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type || type.hasStaticShape())
        continue;
      auto shaped = value.getDefiningOp<plan::WithShapeOp>();
      if (shaped && addToSlice(shaped.getExtents(), slice))
        known.push_back(shaped);
      else
        function.setResultAttr(index, plan::PlanDialect::getDataDependentAttrName(), UnitAttr::get(&getContext()));
    }
    if (known.empty())
      return;

    // A shape that the call would refuse is no shape.
    SmallVector<plan::AssertOp> assertions;
    for (auto assertion : function.getBody().front().getOps<plan::AssertOp>())
      if (addToSlice(assertion->getOperands(), slice))
        assertions.push_back(assertion);

    OpBuilder builder(function);
    builder.setInsertionPointAfter(function);
    Location loc = function.getLoc();
    Type i64 = builder.getI64Type();
    SmallVector<Type> types = llvm::map_to_vector(known, [&](plan::WithShapeOp shaped) -> Type {
      return RankedTensorType::get({cast<RankedTensorType>(shaped.getType()).getRank()}, i64);
    });
    auto result = func::FuncOp::create(builder, loc, (function.getName() + ".shapes").str(),
                                       builder.getFunctionType(function.getArgumentTypes(), types));
    SymbolTable(getOperation()).insert(result);
    function->setAttr(plan::PlanDialect::getShapeFunctionAttrName(), FlatSymbolRefAttr::get(result.getSymNameAttr()));
    for (unsigned index = 0; index < function.getNumArguments(); ++index)
      for (StringRef name : {plan::PlanDialect::getBoundsAttrName(), plan::PlanDialect::getValueBoundsAttrName()})
        if (Attribute bounds = function.getArgAttr(index, name))
          result.setArgAttr(index, name, bounds);
    Block *body = result.addEntryBlock();
    IRMapping mapping;
    for (auto [from, to] : llvm::zip_equal(function.getArguments(), body->getArguments())) {
      to.setLoc(from.getLoc());
      mapping.map(from, to);
    }
    builder.setInsertionPointToEnd(body);
    for (Operation &op : function.getBody().front())
      if (slice.contains(&op) || llvm::is_contained(assertions, &op))
        builder.clone(op, mapping);
    SmallVector<Value> shapes;
    for (plan::WithShapeOp shaped : known) {
      auto type = cast<RankedTensorType>(shaped.getType());
      Value shape = tensor::EmptyOp::create(builder, loc, {type.getRank()}, i64);
      for (auto [dimension, extent] : llvm::enumerate(shaped.getMixedExtents())) {
        Value scalar;
        if (auto dynamic = dyn_cast<Value>(extent))
          scalar = arith::IndexCastOp::create(builder, loc, i64, mapping.lookup(dynamic));
        else
          scalar = arith::ConstantIntOp::create(builder, loc, i64, type.getDimSize(dimension));
        Value place = arith::ConstantIndexOp::create(builder, loc, dimension);
        shape = tensor::InsertOp::create(builder, loc, scalar, shape, place);
      }
      shapes.push_back(shape);
    }
    func::ReturnOp::create(builder, loc, shapes);
  }
};

} // namespace
} // namespace latewood::cluster
