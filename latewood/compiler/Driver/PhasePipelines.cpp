// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Phases by name. A textual pipeline may say `latewood-cluster{engines=cpu}` for all passes of a phase, its
// finish-phase included. Reading such a name expands it: the two textual forms of a pipeline are the same pipeline.

#include "latewood/compiler/Driver/OptionText.h"
#include "latewood/compiler/Driver/Options.h"
#include "latewood/compiler/Driver/Passes.h"
#include "latewood/compiler/Driver/Phases.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace latewood::driver {

namespace {

// The options of a compilation as those of a registered pipeline. A phase ignores the ones that it does not depend on.
struct PhaseOptions : PassPipelineOptions<PhaseOptions> {
  Option<std::string> target{*this, "target", llvm::cl::desc("The machine that code is made for (percent-encoded)"),
                             llvm::cl::init("native")};
  ListOption<std::string> engines{*this, "engines", llvm::cl::desc("Engines that the program is divided among")};

  Option<std::string> host{*this, "host", llvm::cl::desc("What the host program becomes: native or lua"),
                           llvm::cl::init("native")};

  Option<std::string> bounds{*this, "bounds", llvm::cl::desc("Limits of arguments' extents (percent-encoded)")};

  Option<std::string> input{*this, "input", llvm::cl::desc("The dialect of the program: stablehlo or tensorrt"),
                            llvm::cl::init("stablehlo")};

  Option<std::string> tensorrt{*this, "tensorrt", llvm::cl::desc("How engines of TensorRT are made (percent-encoded)")};

  StableHLOToExecutableOptions get() const {
    StableHLOToExecutableOptions result;
    // What is no option of TensorRT's is refused where options are read; a pipeline's text has none.
    if (auto parsed = TensorRTOptions::parse(decodeOptionText(tensorrt)))
      result.tensorrt = *parsed;
    else
      llvm::consumeError(parsed.takeError());
    result.input = input;
    result.host = host;
    result.bounds = decodeOptionText(bounds);
    result.target = decodeOptionText(target);
    if (!engines.empty())
      result.engines.assign(engines.begin(), engines.end());
    return result;
  }
};

} // namespace

void registerPhasePipelines() {
  for (const Phase &phase : getPhases())
    PassPipelineRegistration<PhaseOptions>(("latewood-" + phase.name).str(), phase.summary,
                                           [&phase](OpPassManager &passes, const PhaseOptions &options) {
                                             phase.build(passes, options.get());
                                             passes.addPass(createFinishPhasePass({phase.name.str()}));
                                           });
}

std::string getPhasesText(const StableHLOToExecutableOptions &options) {
  // Where the target cannot be resolved, the phase import says so when it runs.
  std::string target = options.target;
  if (auto canonical = options.canonical())
    target = StringRef(canonical->back()).split('=').second.str();
  else
    llvm::consumeError(canonical.takeError());
  std::string engines = "engines=" + llvm::join(options.engines, ",");
  std::string tensorrt = options.tensorrt.text();
  if (!tensorrt.empty())
    tensorrt = " tensorrt=" + encodeOptionText(tensorrt);
  std::string text = "builtin.module(";
  for (const Phase &phase : getPhases()) {
    if (&phase != getPhases().begin())
      text += ",";
    text += ("latewood-" + phase.name).str();
    std::string bounds = options.bounds.empty() ? "" : "bounds=" + encodeOptionText(options.bounds) + " ";
    if (phase.name == "import")
      text += "{" + bounds + engines + " host=" + options.host + " target=" + encodeOptionText(target) + tensorrt + "}";
    else if (phase.name == "input" && options.input != "stablehlo")
      text += "{" + engines + " input=" + options.input + "}";
    else if (phase.name == "cluster" || phase.name == "engines")
      text += "{" + engines + tensorrt + "}";
  }
  return text + ")";
}

} // namespace latewood::driver
