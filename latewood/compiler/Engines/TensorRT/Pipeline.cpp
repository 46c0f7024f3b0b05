// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of the TensorRT engine's passes.

#include "latewood/compiler/Engines/TensorRT/Pipeline.h"
#include "latewood/compiler/Engines/TensorRT/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void latewood::tensorrt::buildNetworkPipeline(OpPassManager &module) {
  OpPassManager &function = module.nest<func::FuncOp>();
  function.addPass(createConvertStableHLOToTensorRTPass());
  // Equal constants and broadcasts must be one value before patterns compare operands.
  function.addPass(createCSEPass());
  // Before movements are merged: patterns know the form in which the conversion writes them.
  function.addPass(createRaiseTensorRTPatternsPass());
  function.addPass(createSimplifyTensorRTPass());
  // The simplification makes equal layers out of different ones.
  function.addPass(createCSEPass());
}
