// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// latewood-opt: reads a module, runs passes or a pipeline given by name, and writes the module.

#include "latewood/compiler/Driver/Registration.h"
#include "latewood/compiler/Import/ReadProgram.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/Debug.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include <cstdlib>

using namespace mlir;

namespace {

LogicalResult run(int argc, char **argv, StringRef inputName, StringRef outputName, DialectRegistry &registry) {
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  // These read nothing.
  if (config.shouldShowDialects() || config.shouldListPasses())
    return MlirOptMain(argc, argv, inputName, outputName, registry);
  llvm::InitLLVM initialized(argc, argv);
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(inputName, &message);
  if (!input) {
    llvm::errs() << "latewood-opt: " << message << "\n";
    return failure();
  }
  // MLIR's reader does not survive damaged bytecode.
  if (latewood::import::isBytecode(input->getBuffer())) {
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    context.allowUnregisteredDialects(config.shouldAllowUnregisteredDialects());
    llvm::SourceMgr sources;
    SourceMgrDiagnosticHandler handler(sources, &context);
    if (failed(latewood::import::checkBytecode(input->getBuffer(), inputName, &context)))
      return failure();
  }
  std::unique_ptr<llvm::ToolOutputFile> output = openOutputFile(outputName, &message);
  if (!output) {
    llvm::errs() << "latewood-opt: " << message << "\n";
    return failure();
  }
  if (failed(MlirOptMain(output->os(), std::move(input), registry, config)))
    return failure();
  output->os().flush();
  if (std::error_code error = output->os().error()) {
    output->os().clear_error();
    llvm::errs() << "latewood-opt: cannot write '" << outputName << "': " << error.message() << "\n";
    return failure();
  }
  output->keep();
  return success();
}

} // namespace

int main(int argc, char **argv) {
#ifndef NDEBUG
  // Debian's LLVM has no -debug-only; LATEWOOD_DEBUG=<type> shows our own debug output.
  if (const char *type = std::getenv("LATEWOOD_DEBUG")) {
    llvm::DebugFlag = true;
    llvm::setCurrentDebugType(type);
  }
#endif
  DialectRegistry registry;
  latewood::driver::registerDialects(registry);
  latewood::driver::registerPasses();
  auto [input, output] = registerAndParseCLIOptions(argc, argv, "Latewood optimizer driver\n", registry);
  return asMainReturnCode(run(argc, argv, input, output, registry));
}
