// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU engine's pipeline.

#include "latewood/compiler/Engines/CPU/Pipeline.h"
#include "latewood/compiler/Engines/CPU/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

void latewood::cpu::buildCPUPipeline(OpPassManager &nestedModule) {
  nestedModule.addNestedPass<func::FuncOp>(createConvertStableHLOToLinalgPass());
  nestedModule.addNestedPass<func::FuncOp>(createFormContractionsPass());
}
