// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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
