// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Phase Import: a module of a framework becomes one that the compiler accepts.

#ifndef LATEWOOD_COMPILER_IMPORT_PASSES
#define LATEWOOD_COMPILER_IMPORT_PASSES

include "mlir/Pass/PassBase.td"

def CheckSignaturesPass : Pass<"latewood-check-signatures", "::mlir::ModuleOp"> {
  let summary = "Checks that the public functions are ones that an executable can have";
  let description = [{
    A public function is an entry of the executable. Its arguments and results become buffers, so their types must be ranked tensors
    of element types that have a form in memory.

    Postcondition: there is a public function, and all of them have such types.
    Refuses a module without one, and any other type of an argument or result.
  }];
}

#endif // LATEWOOD_COMPILER_IMPORT_PASSES
