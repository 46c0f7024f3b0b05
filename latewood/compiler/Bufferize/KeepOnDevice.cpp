// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An engine that feeds another one does so on the device. Where a buffer is follows from who looks at it: if engines
// write it and nobody else reads it, it has no business on the host, and two copies through the host's memory are not
// made. The runtime gives such memory (lw_api::allocate_device), and engines find it by its address.
//
// In:  bufferized host functions with slots and owners.
// Out: the same, where buffers between engines have the memory space of the device.

#include "latewood/compiler/Bufferize/Passes.h"
#include "latewood/compiler/Dialect/Plan/MemorySpaces.h"
#include "latewood/compiler/Dialect/TensorRTRuntime/TensorRTRuntime.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace latewood::bufferize {

#define GEN_PASS_DEF_KEEPONDEVICEPASS
#include "latewood/compiler/Bufferize/Passes.h.inc"

namespace {

bool isView(Operation *op) {
  return isa<plan::WithShapeOp, memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp>(op);
}

// The buffer and its views, if engines write it and nobody but engines reads it.
SmallVector<Value> findViewsOfEngines(Value buffer) {
  SmallVector<Value> views{buffer};
  bool isWritten = isa<OpResult>(buffer) && isa<tensorrt_runtime::EnqueueAllocOp>(buffer.getDefiningOp());
  bool isRead = false;
  for (size_t i = 0; i < views.size(); ++i)
    for (OpOperand &use : views[i].getUses()) {
      Operation *user = use.getOwner();
      if (isView(user) && use.getOperandNumber() == 0)
        views.push_back(user->getResult(0));
      else if (auto run = dyn_cast<tensorrt_runtime::EnqueueOp>(user))
        (run.isDpsInit(&use) ? isWritten : isRead) = true;
      else if (isa<tensorrt_runtime::EnqueueAllocOp>(user))
        isRead = true;
      else if (!isa<memref::DeallocOp, memref::DimOp>(user))
        return {};
    }
  return isWritten && isRead ? views : SmallVector<Value>();
}

class KeepOnDevicePass : public impl::KeepOnDevicePassBase<KeepOnDevicePass> {
public:
  void runOnOperation() override {
    auto device = plan::MemorySpaceAttr::get(&getContext(), plan::MemorySpace::Device);
    auto keep = [&](Value buffer) {
      for (Value view : findViewsOfEngines(buffer)) {
        auto type = cast<MemRefType>(view.getType());
        view.setType(MemRefType::get(type.getShape(), type.getElementType(), type.getLayout(), device));
      }
    };
    getOperation().walk([&](Operation *op) {
      if (auto alloc = dyn_cast<memref::AllocOp>(op))
        keep(alloc);
      else if (auto run = dyn_cast<tensorrt_runtime::EnqueueAllocOp>(op))
        for (auto [slot, result] : llvm::zip(run.getSlots(), run.getResults()))
          if (slot == -1)
            keep(result);
    });
  }
};

} // namespace
} // namespace latewood::bufferize
