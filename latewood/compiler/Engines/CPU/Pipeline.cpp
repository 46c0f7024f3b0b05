// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of the CPU engine's passes, and why it is this one.

#include "latewood/compiler/Engines/CPU/Pipeline.h"
#include "latewood/compiler/Engines/CPU/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void latewood::cpu::buildCPUPipeline(OpPassManager &module) {
  auto function = [&]() -> OpPassManager & { return module.nest<func::FuncOp>(); };
  // Everything after it knows linalg only.
  function().addPass(createConvertStableHLOToLinalgPass());
  // Scalar code that changes nothing (x or x) makes its operation a copy, which must be gone before it becomes part of
  // a group.
  function().addPass(createCanonicalizerPass());
  // Duplicate values hide that two operations have the same producer; fusion counts users.
  function().addPass(createCSEPass());
  // Before contractions: what follows a product must be one operation to become its epilogue.
  function().addPass(createFuseElementwisePass());
  // Before groups: a group takes whatever is left.
  function().addPass(createFormContractionsPass());
  // After contractions, which sum in their own way; before groups, where the parts become rows.
  function().addPass(createSplitReductionsPass());
  // Fused code may have turned out to change nothing. Such copies are gone before a group takes them for results of its
  // own.
  function().addPass(createCanonicalizerPass());
  function().addPass(createFormGroupsPass());
  // Slices and reshapes of arguments that nobody uses any more would be copied.
  function().addPass(createCanonicalizerPass());
  // Last on tensors: it looks at what is really computed.
  function().addPass(createPlaceResultsPass());
  // On the module: signatures change.
  module.addPass(createBufferizeClustersPass());
  // The first makes equal views equal, so that the second sees copies of a buffer to itself.
  function().addPass(createCSEPass());
  function().addPass(createCanonicalizerPass());
  // After copies of a buffer to itself are gone, which would look like buffers that are handed over; before everything
  // that needs to know where a buffer is. The casts that it leaves fold into the views behind them.
  function().addPass(createSettleCarriedBuffersPass());
  function().addPass(createCanonicalizerPass());
  // Before they are lowered: what a program repeats is lowered once.
  module.addPass(createOutlineKernelsPass());
  // Both need strides, and leave parallel loops.
  function().addPass(createLowerContractionsPass());
  function().addPass(createLowerGroupsPass());
  // Before memory is planned: scratch of a task belongs to the body, not to the function around it. Before the code is
  // cleaned: equal loops become one function first.
  module.addPass(createOutlineParallelLoopsPass());
  // Address arithmetic was written without regard to what is computed already.
  function().addPass(createCSEPass());
  function().addPass(createCanonicalizerPass());
  module.addPass(createPlanMemoryPass());
  // After planning: from here on no analysis sees which buffer a call touches.
  module.addPass(createLowerLibraryCallsPass());
  // Adds declarations, so it is on the module; before LLVM, which would call the C library.
  module.addPass(createLowerMathPass());
  module.addPass(createConvertCPUToLLVMPass());
  // Nothing is left for anybody else to trip over.
  module.addPass(createCheckCPUCodePass());
}
