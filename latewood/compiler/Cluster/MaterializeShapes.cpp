// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Extents become scalars of the host. The operations of a function are visited in order; each result of dynamic shape
// is tied to scalars, which are made of the extents of arguments, of constants, and of integers that the host reads.
// What operations demand of their operands, that extents be equal, makes one class of two scalars; the first of a class
// stands for all, and an assertion of the host says what was taken for granted. Control flow in which extents are
// computed, or change, becomes the host's.
//
// In:  a public function of StableHLO, inlined.
// Out: every value of dynamic shape is used through plan.with_shape, and every operand that is a shape or several
//      indices is a plan.with_values. Equal extents are one value. Nothing computes shapes in tensors any more.

#include "latewood/compiler/Cluster/Passes.h"
#include "latewood/compiler/Cluster/ShapeMaterializer.h"
#include "latewood/compiler/Dialect/TensorRT/TensorRT.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace latewood::cluster {

#define GEN_PASS_DEF_MATERIALIZESHAPESPASS
#include "latewood/compiler/Cluster/Passes.h.inc"

static bool isDynamic(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && !shaped.hasStaticShape();
}

// The numbers of the operands that are shapes or indices, by which an operation is dynamic.
static SmallVector<unsigned> getIndexOperands(Operation *op) {
  return llvm::TypeSwitch<Operation *, SmallVector<unsigned>>(op)
      .Case<stablehlo::DynamicIotaOp>([](auto) { return SmallVector<unsigned>{0}; })
      .Case<stablehlo::DynamicBroadcastInDimOp, stablehlo::DynamicReshapeOp, stablehlo::SetDimensionSizeOp>(
          [](auto) { return SmallVector<unsigned>{1}; })
      .Case<stablehlo::DynamicGatherOp, stablehlo::DynamicConvOp>([](auto) { return SmallVector<unsigned>{2}; })
      .Case<stablehlo::DynamicPadOp>([](auto) { return SmallVector<unsigned>{2, 3, 4}; })
      .Case<stablehlo::RealDynamicSliceOp>([](auto) { return SmallVector<unsigned>{1, 2, 3}; })
      .Case([](stablehlo::CustomCallOp call) {
        SmallVector<unsigned> numbers;
        if (call.getCallTargetName() == "stablehlo.dynamic_top_k")
          numbers.push_back(1);
        else if (call.getCallTargetName() == "stablehlo.dynamic_reduce_window" && call->getNumOperands() > 5)
          llvm::append_range(numbers, llvm::seq(call->getNumOperands() - 5, call->getNumOperands()));
        return numbers;
      })
      .Default([](Operation *) { return SmallVector<unsigned>(); });
}

static bool isInvolved(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isDynamic) || llvm::any_of(op->getResultTypes(), isDynamic) ||
         !getIndexOperands(op).empty();
}

//===----------------------------------------------------------------------===//
// Classes of equal extents
//===----------------------------------------------------------------------===//

static bool isInside(Block *block, Block *scope) {
  return block == scope || scope->findAncestorOpInBlock(*block->getParentOp());
}

Value ShapeMaterializer::resolve(Value extent, Block *block) {
  while (true) {
    auto found = leaders.find(extent);
    if (found == leaders.end())
      return extent;
    auto leader = llvm::find_if(found->second,
                                [&](const Leader &leader) { return !leader.scope || isInside(block, leader.scope); });
    if (leader == found->second.end())
      return extent;
    extent = leader->value;
  }
}

void ShapeMaterializer::check(Value condition, const Twine &message, ValueRange values) {
  // What changes within a loop of an engine is not the host's to check.
  if (HostScalars::getConstant(condition).value_or(0) != 0 || !scalars.isOnHost(condition))
    return;
  Operation *anchor = scalars.getHostAnchor();
  for (Operation *op = anchor; op != function.getOperation(); op = op->getParentOp())
    if (checked.contains({condition, op->getBlock()}))
      return;
  checked.insert({condition, anchor->getBlock()});
  OpBuilder builder(anchor);
  plan::AssertOp::create(builder, scalars.getAnchor()->getLoc(), condition, message.str(), values);
}

void ShapeMaterializer::unify(Value lhs, Value rhs, const Twine &message) {
  lhs = resolve(lhs);
  rhs = resolve(rhs);
  if (lhs == rhs)
    return;
  check(scalars.compare(arith::CmpIPredicate::eq, lhs, rhs), message, {lhs, rhs});
  join(lhs, rhs);
}

void ShapeMaterializer::join(Value lhs, Value rhs) {
  // Constants lead, then what is there first.
  auto comesFirst = [&](Value a, Value b) {
    if (HostScalars::getConstant(a) || HostScalars::getConstant(b))
      return HostScalars::getConstant(a).has_value();
    if (scalars.isOnHost(a) != scalars.isOnHost(b))
      return scalars.isOnHost(a);
    if (a.getParentBlock() != b.getParentBlock())
      return a.getParentBlock()->findAncestorOpInBlock(*b.getParentBlock()->getParentOp()) != nullptr;
    Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
    return !first || (second && first->isBeforeInBlock(second));
  };
  // It holds where it is asserted, which in a branch says nothing of what is around it.
  auto follow = [&](Value value, Value leader) {
    Block *scope = scalars.getHostBlock();
    leaders[value].push_back({leader, isInside(value.getParentBlock(), scope) ? nullptr : scope});
  };
  if (comesFirst(lhs, rhs))
    follow(rhs, lhs);
  else if (comesFirst(rhs, lhs))
    follow(lhs, rhs);
}

Value ShapeMaterializer::checkNonNegative(Value extent) {
  if (!scalars.isNonNegative(extent))
    check(scalars.compare(arith::CmpIPredicate::sge, extent, scalars.index(0)), "a computed shape has extent {0}",
          extent);
  return extent;
}

//===----------------------------------------------------------------------===//
// Extents of values
//===----------------------------------------------------------------------===//

Value ShapeMaterializer::getExtent(Value tensor, int64_t dimension) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dimension))
    return scalars.index(type.getDimSize(dimension));
  return resolve(extents.at(tensor)[dimension]);
}

Extents ShapeMaterializer::getExtents(Value tensor) {
  return llvm::map_to_vector(llvm::seq<int64_t>(0, cast<RankedTensorType>(tensor.getType()).getRank()),
                             [&](int64_t dimension) { return getExtent(tensor, dimension); });
}

Value ShapeMaterializer::setExtents(Value value, ArrayRef<Value> all) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<Value> dynamic;
  Extents &known = extents[value] = Extents(all);
  for (auto [dimension, extent] : llvm::enumerate(known)) {
    extent = resolve(checkNonNegative(extent));
    if (type.isDynamicDim(dimension))
      dynamic.push_back(extent);
    else
      unify(extent, scalars.index(type.getDimSize(dimension)),
            "dimension " + Twine(dimension) + " of a computed tensor has {0} elements, but its type says {1}");
  }
  if (dynamic.empty())
    return value;
  // Engines know all extents before they begin.
  if (!llvm::all_of(dynamic, [&](Value extent) { return scalars.isOnHost(extent); }))
    plan.host(value.getParentBlock()->getParentOp());
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  // Behind the scalars that it uses: those of an argument stand at the beginning of its block.
  if (isa<BlockArgument>(value))
    builder.setInsertionPoint(scalars.getAnchor());
  auto shaped = plan::WithShapeOp::create(builder, value.getLoc(), type, value, dynamic);
  value.replaceUsesWithIf(shaped, [&](OpOperand &use) {
    return use.getOwner() != shaped.getOperation() && !isa<tensor::DimOp>(use.getOwner());
  });
  Extents copy = known;
  extents[shaped.getResult()] = std::move(copy);
  return shaped;
}

void ShapeMaterializer::setElements(OpOperand &operand) {
  Value tensor = operand.get();
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> elements;
  // A custom call keeps the types that it was written with.
  if (type.getRank() == 1 && !isa<stablehlo::CustomCallOp>(operand.getOwner())) {
    elements = llvm::map_to_vector(getElementsAsIndices(tensor), [&](Value extent) { return resolve(extent); });
    type = RankedTensorType::get(type.getShape(), IndexType::get(tensor.getContext()));
  } else {
    elements = getElements(tensor);
  }
  if (elements.empty())
    return;
  OpBuilder builder(operand.getOwner());
  Value place = tensor::EmptyOp::create(builder, tensor.getLoc(), type.getShape(), type.getElementType());
  operand.set(plan::WithValuesOp::create(builder, tensor.getLoc(), type, place, elements));
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

LogicalResult ShapeMaterializer::visitBlock(Block &block) {
  for (Operation *op : llvm::map_to_vector(block, [](Operation &op) { return &op; }))
    if (failed(visit(op)))
      return failure();
  return success();
}

LogicalResult ShapeMaterializer::visit(Operation *op) {
  scalars.setAnchor(op);
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
    return plan.isHosted(op) ? visitHostWhile(loop) : visitWhile(loop);
  if (isa<stablehlo::IfOp, stablehlo::CaseOp>(op))
    return plan.isHosted(op) ? visitHostBranches(op) : visitBranches(op);
  if (auto assertion = dyn_cast<plan::AssertOp>(op)) {
    visitAssert(assertion);
    return success();
  }
  // What this pass has made is not looked at again.
  if (op->hasTrait<OpTrait::IsTerminator>() || !isInvolved(op) ||
      isa<plan::PlanDialect, tensor::TensorDialect>(op->getDialect()))
    return success();
  if (isa<tensorrt::CallAllocOp>(op)) {
    visitAllocatingCall(op);
    return success();
  }
  auto results = computeExtents(op);
  if (failed(results)) {
    if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
      return op->emitError() << "what shape the results of the custom call '" << call.getCallTargetName()
                             << "' have is not known";
    return op->emitError() << "'" << op->getName() << "' has a dynamic shape, and no rule says which";
  }
  for (auto [value, all] : llvm::zip_equal(op->getResults(), *results))
    if (isa<RankedTensorType>(value.getType()))
      setExtents(value, all);
  for (unsigned number : getIndexOperands(op))
    setElements(op->getOpOperand(number));
  return success();
}

// Who allocates results says how large they are.
void ShapeMaterializer::visitAllocatingCall(Operation *call) {
  Operation *behind = call->getNextNode();
  scalars.setAnchor(behind);
  for (OpResult result : call->getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    Extents all;
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
      Value number = scalars.index(type.isDynamicDim(dimension) ? dimension : type.getDimSize(dimension));
      all.push_back(type.isDynamicDim(dimension) ? scalars.get<tensor::DimOp>(result, number) : number);
    }
    if (Value shaped = setExtents(result, all); shaped != result)
      shaped.getDefiningOp()->moveBefore(behind);
  }
}

void ShapeMaterializer::visitAssert(plan::AssertOp assertion) {
  auto tensor = dyn_cast<RankedTensorType>(assertion.getCondition().getType());
  if (!tensor)
    return;
  // A condition that engines compute stays a tensor.
  Value condition = getElements(assertion.getCondition()).front();
  SetVector<Value> worklist;
  worklist.insert(condition);
  for (size_t i = 0; i < worklist.size(); ++i)
    if (Operation *op = worklist[i].getDefiningOp()) {
      if (auto read = dyn_cast<tensor::ExtractOp>(op); read && !isa<BlockArgument>(read.getTensor()))
        return;
      worklist.insert(op->operand_begin(), op->operand_end());
    }
  assertion.getConditionMutable().assign(condition);
  for (OpOperand &value : assertion.getValuesMutable())
    if (isa<RankedTensorType>(value.get().getType()))
      value.set(getElements(value.get()).front());

  // Extents that the program itself demands to be equal are one from here on: JAX says so for each dimension variable.
  // The casts are exact, for values that do not fit have been refused. What comes before may run with other extents.
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq ||
      assertion->getBlock() != &function.getBody().front())
    return;
  for (Operation *op = assertion->getPrevNode(); op; op = op->getPrevNode())
    if (isInvolved(op) && !isa<stablehlo::GetDimensionSizeOp, plan::WithShapeOp, tensor::DimOp>(op))
      return;
  auto uncast = [](Value value) {
    while (isa_and_present<arith::ExtSIOp, arith::IndexCastOp>(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    return value;
  };
  Value lhs = uncast(compare.getLhs()), rhs = uncast(compare.getRhs());
  if (lhs.getDefiningOp<tensor::DimOp>() && rhs.getDefiningOp<tensor::DimOp>() && resolve(lhs) != resolve(rhs))
    join(resolve(lhs), resolve(rhs));
}

LogicalResult ShapeMaterializer::visitBranches(Operation *op) {
  for (Region &region : op->getRegions())
    if (failed(visitBlock(region.front())))
      return failure();
  scalars.setAnchor(op);
  for (OpResult result : op->getResults()) {
    if (!isDynamic(result.getType()))
      continue;
    SmallVector<Extents> branches;
    for (Region &region : op->getRegions())
      branches.push_back(getExtents(region.front().getTerminator()->getOperand(result.getResultNumber())));
    // An engine gives one buffer or another, and knows the shape of neither; what a branch computes nobody else knows.
    Extents all = branches.front();
    if (!llvm::all_equal(branches) ||
        llvm::any_of(all, [&](Value extent) { return op->isAncestor(extent.getParentBlock()->getParentOp()); })) {
      plan.host(op);
      all.assign(all.size(), scalars.index(0));
    }
    setExtents(result, all);
  }
  return success();
}

LogicalResult ShapeMaterializer::visitWhile(stablehlo::WhileOp loop) {
  // The extents that a loop begins with are taken for those of each iteration; its end is compared with them.
  for (Region *region : {&loop.getCond(), &loop.getBody()}) {
    Block &block = region->front();
    for (auto [argument, initial] : llvm::zip_equal(block.getArguments(), loop.getOperand()))
      if (isDynamic(argument.getType())) {
        scalars.setAnchor(&block.front());
        setExtents(argument, getExtents(initial));
      }
    if (failed(visitBlock(block)))
      return failure();
  }
  scalars.setAnchor(loop);
  for (auto [number, initial, next] :
       llvm::enumerate(loop.getOperand(), loop.getBody().front().getTerminator()->getOperands())) {
    if (!isDynamic(initial.getType()))
      continue;
    for (auto [dimension, before, after] : llvm::enumerate(getExtents(initial), getExtents(next))) {
      if (before != after)
        plan.carryExtent(loop, number, dimension);
    }
    setExtents(loop.getResult(number), getExtents(initial));
  }
  return success();
}

void ShapeMaterializer::finish() {
  for (auto &[value, list] : leaders)
    for (const Leader &leader : list) {
      Block *scope = leader.scope ? leader.scope : &function.getBody().front();
      Value representative = resolve(leader.value, scope), replaced = value;
      // Conditions keep what they are about: that two extents are equal is what some of them ask. They compare scalars,
      // or begin with a cast to the integers of a program.
      replaced.replaceUsesWithIf(representative, [&](OpOperand &use) {
        return !isa<arith::CmpIOp, arith::IndexCastOp, arith::IndexCastUIOp, plan::AssertOp>(use.getOwner()) &&
               isInside(use.getOwner()->getBlock(), scope);
      });
    }
  // The tensors that computed shapes have lost their uses, as have scalars that turned out not to be needed.
  auto eraseUnused = [&] {
    function.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isOpTriviallyDead(op))
        op->erase();
    });
  };
  eraseUnused();
  dropUnusedCarried(function);
  eraseUnused();
}

LogicalResult ShapeMaterializer::run() {
  Block &block = function.getBody().front();
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || type.hasStaticShape())
      continue;
    scalars.setAnchor(&block.front());
    while (isa<arith::ConstantOp, tensor::DimOp, plan::WithShapeOp>(scalars.getAnchor()))
      scalars.setAnchor(scalars.getAnchor()->getNextNode());
    Extents all;
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
      all.push_back(type.isDynamicDim(dimension) ? scalars.get<tensor::DimOp>(argument, scalars.index(dimension))
                                                 : scalars.index(type.getDimSize(dimension)));
    setExtents(argument, all);
  }
  if (failed(visitBlock(block)))
    return failure();
  if (!plan.hasChanged())
    finish();
  return success();
}

// The bounds that a type has beside its extents.
static stablehlo::BoundsAttr getBoundsOfType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<stablehlo::BoundsAttr>(tensor.getEncoding()) : stablehlo::BoundsAttr();
}

static Type withoutBounds(Type type) {
  if (!getBoundsOfType(type))
    return type;
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType());
}

// Extents are exact from here on: what types say of the largest ones is checked where arguments come in.
static void dropBoundsOfTypes(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  StringRef name = plan::PlanDialect::getBoundsAttrName();
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    stablehlo::BoundsAttr extensions = getBoundsOfType(type);
    if (!extensions || function.getArgAttr(index, name))
      continue;
    SmallVector<int64_t> min, max;
    for (auto [extent, bound] : llvm::zip_equal(cast<RankedTensorType>(type).getShape(), extensions.getBounds())) {
      min.push_back(ShapedType::isDynamic(extent) ? 0 : extent);
      max.push_back(!ShapedType::isDynamic(extent) ? extent
                    : ShapedType::isDynamic(bound) ? std::numeric_limits<int64_t>::max()
                                                   : bound);
    }
    auto largest = DenseI64ArrayAttr::get(context, max);
    function.setArgAttr(index, name,
                        plan::BoundsAttr::get(context, DenseI64ArrayAttr::get(context, min), largest, largest));
  }
  function.walk([](Operation *op) {
    for (Value result : op->getResults())
      result.setType(withoutBounds(result.getType()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setType(withoutBounds(argument.getType()));
  });
  function.setType(FunctionType::get(context, llvm::map_to_vector(function.getArgumentTypes(), withoutBounds),
                                     llvm::map_to_vector(function.getResultTypes(), withoutBounds)));
}

namespace {

class MaterializeShapesPass : public impl::MaterializeShapesPassBase<MaterializeShapesPass> {
public:
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || function.isPrivate() || !llvm::hasSingleElement(function.getBody()))
      return;
    dropBoundsOfTypes(function);
    WalkResult found = function.walk([](Operation *op) {
      bool isDynamicOp =
          isa<func::FuncOp>(op) ? llvm::any_of(cast<func::FuncOp>(op).getArgumentTypes(), isDynamic) : isInvolved(op);
      return isDynamicOp ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (found.wasInterrupted() && failed(materialize(function)))
      signalPassFailure();
  }

private:
  // Attempts work on copies until one gives a result; each knows more than those before.
  static LogicalResult materialize(func::FuncOp function) {
    HostPlan plan;
    while (true) {
      IRMapping mapping;
      OwningOpRef<func::FuncOp> attempt(function.clone(mapping));
      plan.begin(function, mapping);
      if (failed(ShapeMaterializer(*attempt, plan).run()))
        return failure();
      if (plan.hasChanged())
        continue;
      function.getBody().takeBody(attempt->getBody());
      return success();
    }
  }
};

} // namespace
} // namespace latewood::cluster
