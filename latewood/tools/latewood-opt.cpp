// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// latewood-opt: reads a module, runs passes or a pipeline given by name, and writes the module.

#include "latewood/compiler/Driver/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/LogicalResult.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/Debug.h"
#include <cstdlib>

int main(int argc, char **argv) {
#ifndef NDEBUG
  // Debian's LLVM has no -debug-only; LATEWOOD_DEBUG=<type> shows our own debug output.
  if (const char *type = std::getenv("LATEWOOD_DEBUG")) {
    llvm::DebugFlag = true;
    llvm::setCurrentDebugType(type);
  }
#endif
  mlir::DialectRegistry registry;
  latewood::driver::registerDialects(registry);
  latewood::driver::registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Latewood optimizer driver\n", registry));
}
