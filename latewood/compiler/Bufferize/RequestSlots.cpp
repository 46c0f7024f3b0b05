// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ties results to output slots, before bufferization, where "this value is computed into that memory" is still a matter
// of replacing a destination operand. A reshape between the operation and the return is no obstacle: the destination
// becomes the slot in the shape before it. Neither is a branch: each path asks for the memory, with the extents that it
// has.
//
// In:  public functions whose results are tensors.
// Out: each returned tensor is the memory of its slot, by destination or by copy.

#include "latewood/compiler/Bufferize/Passes.h"
#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Dialect/TensorRTRuntime/TensorRTRuntime.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;

namespace latewood::bufferize {

#define GEN_PASS_DEF_REQUESTSLOTSPASS
#include "latewood/compiler/Bufferize/Passes.h.inc"

namespace {

// Marks of JAX and TensorFlow on arguments whose memory the caller gives up: for a certain result, or for any.
constexpr StringLiteral aliasingOutputAttrName = "tf.aliasing_output", bufferDonorAttrName = "jax.buffer_donor";

class RequestSlotsPass : public impl::RequestSlotsPassBase<RequestSlotsPass> {
public:
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || function.isPrivate())
      return;
    if (failed(recordSignature(function)))
      return signalPassFailure();

    pushed.clear();
    Operation *terminator = function.getBody().front().getTerminator();
    OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
    OpBuilder atBegin = builder;
    SmallVector<Value> slots;
    for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
      if (giveSlotToEngine(value, index) || requestInBranches(value, index, function.getBody().front())) {
        slots.push_back(nullptr);
        continue;
      }
      SmallVector<Value> sizes = getSizes(value, builder);
      OpBuilder &place = sizes.empty() ? atBegin : builder;
      if (!sizes.empty())
        setRequestPoint(function.getBody().front(), sizes, builder);
      slots.push_back(executor::RequestOp::create(place, terminator->getLoc(), value.getType(), index, sizes));
    }
    for (OpOperand &operand : terminator->getOpOperands()) {
      Value slot = slots[operand.getOperandNumber()];
      if (!slot)
        continue;
      // Behind the requests, so that it dominates what the slot may be for.
      builder.setInsertionPointAfter(slot.getDefiningOp());
      if (cast<RankedTensorType>(slot.getType()).hasStaticShape())
        builder.restoreInsertionPoint(atBegin.saveInsertionPoint());
      if (placeInSlot(operand.get(), slot, builder))
        continue;
      mlir::emitRemark(operand.get().getLoc())
          << "result " << operand.getOperandNumber() << " is copied into its slot: " << whyCopied(operand.get());
      builder.setInsertionPoint(terminator);
      operand.set(bufferization::MaterializeInDestinationOp::create(builder, terminator->getLoc(), operand.get(), slot)
                      .getResult());
    }
  }

private:
  // An engine that allocates its results asks the slot for memory itself, when it knows the shape. False: `value` is
  // made by none, or is another result, too.
  static bool giveSlotToEngine(Value value, int64_t slot) {
    if (auto shaped = value.getDefiningOp<plan::WithShapeOp>())
      value = shaped.getOperand();
    auto run = value.getDefiningOp<tensorrt_runtime::EnqueueAllocOp>();
    if (!run)
      return false;
    SmallVector<int64_t> slots(run.getSlots());
    int64_t &own = slots[cast<OpResult>(value).getResultNumber()];
    if (own != -1)
      return false;
    own = slot;
    run.setSlots(slots);
    return true;
  }

  // Lets the branches that give `value` ask for its memory, each with its extents. False: no branches in `around` do,
  // or they have asked for other memory already.
  bool requestInBranches(Value value, int64_t slot, Block &around) {
    if (auto shaped = value.getDefiningOp<plan::WithShapeOp>())
      value = shaped.getOperand();
    Operation *branches = value.getDefiningOp();
    if (!isa_and_present<scf::IfOp, scf::IndexSwitchOp>(branches) || branches->getBlock() != &around ||
        !pushed.insert(value).second)
      return false;
    for (Region &region : branches->getRegions()) {
      Block &block = region.front();
      OpOperand &given = block.getTerminator()->getOpOperand(cast<OpResult>(value).getResultNumber());
      if (requestInBranches(given.get(), slot, block))
        continue;
      OpBuilder builder = OpBuilder::atBlockBegin(&block);
      SmallVector<Value> sizes = getSizes(given.get(), builder);
      if (!sizes.empty())
        setRequestPoint(block, sizes, builder);
      auto request = executor::RequestOp::create(builder, value.getLoc(), given.get().getType(), slot, sizes);
      builder.setInsertionPointAfter(request);
      // What is computed in front of the branches is computed elsewhere.
      if (given.get().getParentBlock() == &block && placeInSlot(given.get(), request, builder))
        continue;
      mlir::emitRemark(given.get().getLoc())
          << "result " << slot << " is copied into its slot in a branch: " << whyCopied(given.get());
      builder.setInsertionPoint(block.getTerminator());
      given.set(
          bufferization::MaterializeInDestinationOp::create(builder, value.getLoc(), given.get(), request).getResult());
    }
    return true;
  }

  static StringRef whyCopied(Value value) {
    if (isa<BlockArgument>(value))
      return "it is an argument";
    if (isa<plan::WithShapeOp, scf::WhileOp, scf::IfOp, scf::IndexSwitchOp>(value.getDefiningOp()))
      return "control flow of the host gives it";
    return "it is a constant, or the same value as another, or not computed there";
  }

  // The dynamic extents of a returned value.
  static SmallVector<Value> getSizes(Value value, OpBuilder &builder) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.hasStaticShape())
      return {};
    if (auto op = value.getDefiningOp<DestinationStyleOpInterface>())
      if (auto empty = op.getTiedOpOperand(cast<OpResult>(value))->get().getDefiningOp<tensor::EmptyOp>())
        return llvm::to_vector(ValueRange(empty.getDynamicSizes()));
    if (auto shaped = value.getDefiningOp<plan::WithShapeOp>())
      return llvm::to_vector(ValueRange(shaped.getExtents()));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(value);
    SmallVector<Value> sizes;
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
      if (type.isDynamicDim(dimension))
        sizes.push_back(tensor::DimOp::create(builder, value.getLoc(), value, dimension));
    return sizes;
  }

  // Where all sizes are known, and not before the assertions of the host that are made there: before the first call
  // behind.
  static void setRequestPoint(Block &block, ValueRange sizes, OpBuilder &builder) {
    Operation *last = nullptr;
    for (Value size : sizes)
      if (Operation *op = size.getDefiningOp(); op && op->getBlock() == &block && (!last || last->isBeforeInBlock(op)))
        last = op;
    Operation *point = last ? last->getNextNode() : &block.front();
    while (!isa<plan::CallOp, tensorrt_runtime::EnqueueOp, tensorrt_runtime::EnqueueAllocOp>(point) &&
           !point->hasTrait<OpTrait::IsTerminator>())
      point = point->getNextNode();
    builder.setInsertionPoint(point);
  }

  // Keeps what the signature needs, and that bufferization would lose.
  LogicalResult recordSignature(func::FuncOp function) {
    OpBuilder builder(&getContext());
    for (unsigned index = 0; index < function.getNumArguments(); ++index)
      function.setArgAttr(index, bufferization::BufferizationDialect::kWritableAttrName, builder.getBoolAttr(false));
    SmallVector<Attribute> types, attributes;
    for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
      auto tensor = cast<RankedTensorType>(type);
      types.push_back(TypeAttr::get(MemRefType::get(tensor.getShape(), tensor.getElementType())));
      auto dictionary = function.getResultAttrDict(index);
      attributes.push_back(dictionary ? dictionary : builder.getDictionaryAttr({}));
    }
    function->setAttr(executor::ExecutorDialect::getResultsAttrName(), builder.getArrayAttr(types));
    function->setAttr(executor::ExecutorDialect::getResultAttrsAttrName(), builder.getArrayAttr(attributes));
    return recordDonations(function);
  }

  LogicalResult recordDonations(func::FuncOp function) {
    SmallVector<int64_t> pairs;
    llvm::SmallDenseSet<int64_t> taken;
    for (unsigned index = 0; index < function.getNumArguments(); ++index) {
      auto alias = function.getArgAttrOfType<IntegerAttr>(index, aliasingOutputAttrName);
      if (!alias)
        continue;
      int64_t result = alias.getInt();
      if (result < 0 || result >= function.getNumResults() || !taken.insert(result).second ||
          function.getResultTypes()[result] != function.getArgumentTypes()[index])
        return function.emitError() << "argument " << index << " has '" << aliasingOutputAttrName << " = " << result
                                    << "', which is no result of its type, or that of another argument, too";
      pairs.append({index, result});
    }
    for (unsigned index = 0; index < function.getNumArguments(); ++index) {
      auto donor = function.getArgAttrOfType<BoolAttr>(index, bufferDonorAttrName);
      if (!donor || !donor.getValue())
        continue;
      auto isFree = [&](int64_t result) {
        return function.getResultTypes()[result] == function.getArgumentTypes()[index] && !taken.contains(result);
      };
      auto results = llvm::seq<int64_t>(0, function.getNumResults());
      auto found = llvm::find_if(results, isFree);
      if (found == results.end()) {
        function.emitRemark() << "the memory of argument " << index
                              << " is donated, but there is no result of its type";
        continue;
      }
      taken.insert(*found);
      pairs.append({index, *found});
    }
    if (!pairs.empty())
      function->setAttr(executor::ExecutorDialect::getDonatedAttrName(), DenseI64ArrayAttr::get(&getContext(), pairs));
    return success();
  }

  // The destination of the operation that computes `value`, if it is not yet taken by a slot.
  static OpOperand *getFreeDestination(Value value) {
    // A shape is written number by number.
    while (auto insert = value.getDefiningOp<tensor::InsertOp>()) {
      if (insert.getDest().getDefiningOp<tensor::EmptyOp>())
        break;
      value = insert.getDest();
    }
    auto op = value.getDefiningOp<DestinationStyleOpInterface>();
    if (!op || isa<bufferization::MaterializeInDestinationOp>(op.getOperation()))
      return nullptr;
    OpOperand *destination = op.getTiedOpOperand(cast<OpResult>(value));
    return destination->get().getDefiningOp<tensor::EmptyOp>() ? destination : nullptr;
  }

  // Makes the operation that computes `value`, through reshapes, write into the slot. False: it has no destination to
  // replace.
  static bool placeInSlot(Value value, Value slot, OpBuilder &builder) {
    SmallVector<Operation *> reshapes;
    while (Operation *op = value.getDefiningOp()) {
      if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op) ||
          !cast<RankedTensorType>(op->getOperand(0).getType()).hasStaticShape())
        break;
      reshapes.push_back(op);
      value = op->getOperand(0);
    }
    OpOperand *destination = getFreeDestination(value);
    if (!destination)
      return false;
    for (Operation *op : reshapes) {
      auto type = cast<RankedTensorType>(op->getOperand(0).getType());
      if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
        slot = tensor::ExpandShapeOp::create(builder, op->getLoc(), type, slot, collapse.getReassociationIndices());
      else
        slot = tensor::CollapseShapeOp::create(builder, op->getLoc(), type, slot,
                                               cast<tensor::ExpandShapeOp>(op).getReassociationIndices());
    }
    destination->set(slot);
    return true;
  }

  /// Results of branches whose memory the branches ask for.
  DenseSet<Value> pushed;
};

} // namespace
} // namespace latewood::bufferize
