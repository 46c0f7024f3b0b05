// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a Module holds, for the parts of the driver that work on it.
#pragma once
#include "latewood/compiler/Driver/Compiler.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace latewood::driver {

struct Module::Impl {
  std::shared_ptr<mlir::MLIRContext> context;
  std::shared_ptr<const std::string> source;
  std::string name;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Diagnostic> diagnostics;

  void keep(std::vector<Diagnostic> more) {
    diagnostics.insert(diagnostics.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
};

/// A failed compilation, from what was collected.
inline llvm::Error makeCompilationError(std::string summary, std::vector<Diagnostic> diagnostics) {
  return llvm::make_error<CompilationError>(std::move(summary), std::move(diagnostics));
}

} // namespace latewood::driver
