// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Drops the results of host functions once their values are in the slots. Bufferization may have decided to compute a
// value elsewhere; a copy then brings it home, so that no slot is ever left unwritten.
//
// In:  bufferized public functions that return memrefs.
// Out: public functions without results, whose result types have the identity layout.

#include "latewood/compiler/Bufferize/Passes.h"
#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Dialect/TensorRTRuntime/TensorRTRuntime.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace latewood::bufferize {

#define GEN_PASS_DEF_FINISHSLOTSPASS
#include "latewood/compiler/Bufferize/Passes.h.inc"

namespace {

// The buffer that `value` shows in another shape.
Value stripReshapes(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

// Whether `value` lies in the memory that slot `slot` was asked for, on every path.
bool isInSlot(Value value, int64_t slot) {
  value = stripReshapes(value);
  Operation *op = value.getDefiningOp();
  if (auto shaped = dyn_cast_if_present<plan::WithShapeOp>(op))
    return isInSlot(shaped.getOperand(), slot);
  if (auto request = dyn_cast_if_present<executor::RequestOp>(op))
    return static_cast<int64_t>(request.getSlot()) == slot;
  return isa_and_present<scf::IfOp, scf::IndexSwitchOp>(op) && llvm::all_of(op->getRegions(), [&](Region &region) {
           return isInSlot(region.front().getTerminator()->getOperand(cast<OpResult>(value).getResultNumber()), slot);
         });
}

// Whether an engine asks slot `slot` for the memory of `value`.
bool isEnginesOwn(Value value, int64_t slot) {
  if (auto shaped = value.getDefiningOp<plan::WithShapeOp>())
    value = shaped.getOperand();
  auto run = value.getDefiningOp<tensorrt_runtime::EnqueueAllocOp>();
  return run && run.getSlots()[cast<OpResult>(value).getResultNumber()] == slot;
}

class FinishSlotsPass : public impl::FinishSlotsPassBase<FinishSlotsPass> {
public:
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || function.isPrivate())
      return;
    DenseMap<int64_t, executor::RequestOp> requests;
    function.walk([&](executor::RequestOp request) { requests[request.getSlot()] = request; });

    Operation *terminator = function.getBody().front().getTerminator();
    OpBuilder builder(terminator);
    for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
      executor::RequestOp request = requests.lookup(index);
      if (!request && isEnginesOwn(value, index))
        continue;
      if (!request) {
        terminator->emitError() << "result " << index << " has no output slot";
        return signalPassFailure();
      }
      auto type = cast<MemRefType>(value.getType());
      auto normal = executor::normalizeLayout(type);
      if (failed(normal)) {
        terminator->emitError() << "result " << index << " has type " << type
                                << ", but results are row-major with offset 0";
        return signalPassFailure();
      }
      if (isInSlot(value, index))
        continue;
      request.emitRemark() << "result " << index << " is copied into its slot: it was computed elsewhere";
      if (type != *normal)
        value = memref::CastOp::create(builder, terminator->getLoc(), *normal, value);
      memref::CopyOp::create(builder, terminator->getLoc(), value, request.getResult());
    }
    terminator->setOperands({});
    function.setFunctionType(builder.getFunctionType(function.getArgumentTypes(), {}));
    function.removeResAttrsAttr();
    for (unsigned index = 0; index < function.getNumArguments(); ++index)
      function.removeArgAttr(index, bufferization::BufferizationDialect::kWritableAttrName);
    normalizeResults(function);
  }

private:
  // The signature knows one layout.
  void normalizeResults(func::FuncOp function) {
    StringRef name = executor::ExecutorDialect::getResultsAttrName();
    auto types = function->getAttrOfType<ArrayAttr>(name);
    if (!types)
      return;
    SmallVector<Attribute> normal;
    for (Type type : types.getAsValueRange<TypeAttr>())
      normal.push_back(TypeAttr::get(*executor::normalizeLayout(cast<MemRefType>(type))));
    function->setAttr(name, ArrayAttr::get(&getContext(), normal));
  }
};

} // namespace
} // namespace latewood::bufferize
