// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The last step: a lowered module becomes the bytes of an executable file.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include <cstdint>
#include <string>
#include <vector>

namespace latewood::translate {

/// Translates a module that has finished phase Lower. The module is not changed. Failures are reported as diagnostics.
/// The bytes depend on the module only: target and options are attributes of it.
mlir::FailureOr<std::vector<uint8_t>> translateToExecutable(mlir::ModuleOp module);

/// The same with an image for each of several variants of a program, which were compiled for different targets in one
/// context. The file is the program of the first; the runtime takes the best image that the machine can run.
mlir::FailureOr<std::vector<uint8_t>> translateToExecutable(mlir::ArrayRef<mlir::ModuleOp> variants);

/// The code of such a module as LLVM IR, host program and engines' functions together, before it is optimized.
mlir::FailureOr<std::string> translateToLLVMIRText(mlir::ModuleOp module);

/// The host program of such a module as Lua source, whichever backend the module asks for.
mlir::FailureOr<std::string> translateToLua(mlir::ModuleOp module);

} // namespace latewood::translate
