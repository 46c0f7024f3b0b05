// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Phase 0: the bytes of a program become a verified module, or diagnostics.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace latewood::import {

/// Whether a program is MLIR bytecode; everything else is taken for text.
inline bool isBytecode(llvm::StringRef program) { return program.starts_with("ML\xefR"); }

/// Reads and verifies a program. Null after an error, which was reported as a diagnostic; damaged programs included,
/// see Rehearsal.h. `name` is the file name that locations show.
mlir::OwningOpRef<mlir::ModuleOp> readProgram(llvm::StringRef program, llvm::StringRef name,
                                              mlir::MLIRContext *context);

} // namespace latewood::import
