// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which arguments of a cluster function are inputs of its network: not the destinations, and no extent that nothing
// reads. Asked by what builds the network and by what calls the engine.

#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Engines/TensorRT/EngineBuilder.h"

using namespace mlir;

SmallVector<unsigned> latewood::tensorrt::getNetworkInputs(func::FuncOp function) {
  SmallVector<unsigned> inputs;
  for (BlockArgument argument : function.getArguments())
    if (!function.getArgAttr(argument.getArgNumber(), plan::PlanDialect::getOutAttrName()) &&
        (isa<TensorType>(argument.getType()) || !argument.use_empty()))
      inputs.push_back(argument.getArgNumber());
  return inputs;
}
