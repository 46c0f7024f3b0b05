// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of a compilation.

#include "latewood/compiler/Driver/Phases.h"
#include "latewood/compiler/Bufferize/Pipeline.h"
#include "latewood/compiler/Cluster/Pipeline.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Dialect/TensorRT/TensorRT.h"
#include "latewood/compiler/Driver/OptionText.h"
#include "latewood/compiler/Driver/Options.h"
#include "latewood/compiler/Driver/Passes.h"
#include "latewood/compiler/Engines/CPU/Pipeline.h"
#include "latewood/compiler/Engines/TensorRT/Passes.h"
#include "latewood/compiler/Engines/TensorRT/Pipeline.h"
#include "latewood/compiler/Import/Passes.h"
#include "latewood/compiler/Input/Passes.h"
#include "latewood/compiler/Input/Pipeline.h"
#include "latewood/compiler/Lower/Pipeline.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace latewood::driver {

static void buildImport(OpPassManager &pipeline, const StableHLOToExecutableOptions &options) {
  RecordOptionsPassOptions record;
  record.host = options.host;
  record.bounds = encodeOptionText(options.bounds);
  // An unresolvable target is reported when the options are made canonical; the pass refuses it again.
  if (auto canonical = options.canonical()) {
    record.optionText = encodeOptionText(llvm::join(*canonical, " "));
    record.target = encodeOptionText(StringRef(canonical->back()).split('=').second);
  } else {
    llvm::consumeError(canonical.takeError());
    record.target = encodeOptionText(options.target);
  }
  pipeline.addPass(createRecordOptionsPass(record));
  pipeline.addPass(import::createCheckSignaturesPass());
}

static LogicalResult verifyImport(ModuleOp module) {
  if (!plan::getTarget(module))
    return module.emitError("has no target after phase import");
  return success();
}

static void buildInput(OpPassManager &pipeline, const StableHLOToExecutableOptions &options) {
  // Whom nobody builds a network for computes the layers itself.
  if (options.input == "tensorrt" && !llvm::is_contained(options.engines, "tensorrt"))
    pipeline.addPass(input::createConvertTensorRTToStableHLOPass());
  else if (options.input == "tensorrt")
    pipeline.addPass(tensorrt::createOutlineTensorRTNetworksPass());
  input::buildInputPipeline(pipeline);
}

static void buildCluster(OpPassManager &pipeline, const StableHLOToExecutableOptions &options) {
  std::vector<std::string> allocating;
  if (options.tensorrt.allocate)
    allocating.push_back("tensorrt");
  cluster::buildClusterPipeline(pipeline, options.engines, allocating);
}

// Engines of TensorRT leave the modules of their clusters, before other engines' passes see these.
static void buildTensorRT(OpPassManager &pipeline, const TensorRTOptions &options) {
  // Networks that the program came with, and those that are clusters still.
  tensorrt::buildNetworkPipeline(pipeline.nest<tensorrt::ModuleOp>());
  tensorrt::buildNetworkPipeline(pipeline.nest<ModuleOp>());
  pipeline.addPass(tensorrt::createConvertPlanToTensorRTPass());
  tensorrt::BuildTensorRTEnginesPassOptions build;
  build.directory = encodeOptionText(options.engines);
  build.exportTo = encodeOptionText(options.exportTo);
  build.timingCache = encodeOptionText(options.timingCache);
  build.level = options.level;
  build.capability = options.capability;
  build.workspace = options.workspace;
  build.stripWeights = options.stripWeights;
  build.refit = options.refit;
  pipeline.addPass(tensorrt::createBuildTensorRTEnginesPass(build));
  pipeline.addPass(tensorrt::createConvertTensorRTToRuntimePass());
}

// Each engine's passes run on the nested modules of clusters, and leave those of other engines alone.
static void buildEngines(OpPassManager &pipeline, const StableHLOToExecutableOptions &options) {
  if (llvm::is_contained(options.engines, "tensorrt"))
    buildTensorRT(pipeline, options.tensorrt);
  if (llvm::is_contained(options.engines, "cpu"))
    cpu::buildCPUPipeline(pipeline.nest<ModuleOp>());
}

static LogicalResult verifyEngines(ModuleOp module) {
  for (auto nested : module.getOps<ModuleOp>())
    for (auto function : nested.getOps<func::FuncOp>())
      return function.emitError() << "cluster function '" << function.getName() << "' was not compiled by its engine";
  return success();
}

static void buildBufferize(OpPassManager &pipeline, const StableHLOToExecutableOptions &) {
  bufferize::buildBufferizePipeline(pipeline);
}

static void buildLower(OpPassManager &pipeline, const StableHLOToExecutableOptions &) {
  lower::buildLowerPipeline(pipeline);
}

ArrayRef<Phase> getPhases() {
  static constexpr Phase phases[] = {
      {"import", "records options and target, checks the signatures", buildImport, verifyImport},
      {"input", "inlines, expands and simplifies the program", buildInput, input::verifyInputPostcondition},
      {"cluster", "divides the program among engines", buildCluster, cluster::verifyPostcondition},
      {"engines", "compiles the clusters", buildEngines, verifyEngines},
      {"bufferize", "gives the host functions buffers and output slots", buildBufferize,
       bufferize::verifyPostcondition},
      {"lower", "turns host functions into executor programs", buildLower, lower::verifyPostcondition},
  };
  return phases;
}

const Phase *findPhase(StringRef name) {
  for (const Phase &phase : getPhases())
    if (phase.name == name)
      return &phase;
  return nullptr;
}

} // namespace latewood::driver
