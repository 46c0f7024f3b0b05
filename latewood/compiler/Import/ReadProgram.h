// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Phase 0: the bytes of a program become a verified module, or diagnostics.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <optional>
#include <string>

namespace latewood::import {

/// Whether a program is MLIR bytecode; everything else is taken for text.
inline bool isBytecode(llvm::StringRef program) { return program.starts_with("ML\xefR"); }

/// Reads and verifies a program. Null after an error, which was reported as a diagnostic; damaged programs included,
/// see Rehearsal.h. `name` is the file name that locations show.
mlir::OwningOpRef<mlir::ModuleOp> readProgram(llvm::StringRef program, llvm::StringRef name,
                                              mlir::MLIRContext *context);

/// For those who read bytecode with MLIR's own means afterwards: fails, with diagnostics, on what that would refuse,
/// would not survive, or would take wrongly. Text is left to it.
llvm::LogicalResult checkBytecode(llvm::StringRef program, llvm::StringRef name, mlir::MLIRContext *context);

/// Reads bytecode in a child process, into `context`. Returns what became of the child if it did not survive. `report`
/// becomes the errors that the child found, of bytecode that cannot be read.
std::optional<std::string> rehearseReading(llvm::StringRef program, llvm::StringRef name, mlir::MLIRContext *context,
                                           std::string &report);

/// Puts another function in the place of rehearseReading, for the whole process. A process that reads very many
/// programs, and is large, can have a small one at hand that makes the children (test/fuzz/BytecodeFuzzer.cpp).
void replaceRehearsal(std::optional<std::string> (*rehearsal)(llvm::StringRef program, llvm::StringRef name,
                                                              mlir::MLIRContext *context, std::string &report));

} // namespace latewood::import
