// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that were written in layers, and whose extents only TensorRT knows, are not divided: the function is the
// network. This is the way for results whose shape depends on data (non_zero), which the host could not give memory to.
//
// In:  a program in the `tensorrt` dialect. Out: functions with dynamic shapes are networks, and calls of them that
// allocate the results; the others are as they were.

#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Dialect/TensorRT/TensorRT.h"
#include "latewood/compiler/Engines/TensorRT/Passes.h"

using namespace mlir;

namespace latewood::tensorrt {

#define GEN_PASS_DEF_OUTLINETENSORRTNETWORKSPASS
#include "latewood/compiler/Engines/TensorRT/Passes.h.inc"

namespace {

bool isDynamic(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && !type.hasStaticShape();
}

/// Whether the function is layers, some of dynamic shape, and nothing else.
bool isDynamicNetwork(func::FuncOp function) {
  bool hasDynamic = false;
  WalkResult result = function.getBody().walk([&](Operation *op) -> WalkResult {
    bool isLayer = isa<TensorRTDialect>(op->getDialect()) && !isa<CallOp, CallAllocOp>(op);
    if (!isLayer && !isa<func::ReturnOp>(op))
      return WalkResult::interrupt();
    hasDynamic |= isLayer && llvm::any_of(op->getResults(), isDynamic);
    return WalkResult::advance();
  });
  return hasDynamic && !result.wasInterrupted();
}

class OutlineTensorRTNetworksPass : public impl::OutlineTensorRTNetworksPassBase<OutlineTensorRTNetworksPass> {
public:
  void runOnOperation() override {
    ModuleOp networks;
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (function.isExternal() || function.isPrivate() || !isDynamicNetwork(function))
        continue;
      if (!networks) {
        // Something else may have the name.
        OpBuilder builder(&getContext());
        networks = ModuleOp::create(builder, function.getLoc(), "networks");
        SymbolTable(getOperation()).insert(networks, getOperation().getBody()->begin());
      }
      outline(function, networks);
    }
  }

private:
  static void outline(func::FuncOp function, ModuleOp networks) {
    auto network = cast<func::FuncOp>(function->clone());
    Block &body = networks.getBodyRegion().front();
    body.push_back(network);
    network.removeResAttrsAttr();
    // Its engine will stand beside the function.
    network.setSymName((function.getSymName() + "_network").str());

    Block &block = function.getBody().front();
    while (!block.empty())
      block.back().erase();
    OpBuilder builder = OpBuilder::atBlockEnd(&block);
    auto callee = SymbolRefAttr::get(networks.getSymNameAttr(), FlatSymbolRefAttr::get(network.getSymNameAttr()));
    auto call = CallAllocOp::create(builder, function.getLoc(), function.getResultTypes(), callee,
                                    ValueRange(function.getArguments()));
    func::ReturnOp::create(builder, function.getLoc(), call.getResults());
  }
};

} // namespace
} // namespace latewood::tensorrt
