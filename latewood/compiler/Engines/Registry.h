// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The engines that this compiler has: the one place where they are listed.
#pragma once
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "llvm/ADT/ArrayRef.h"

namespace latewood::engines {

/// Names of all engines. Which is preferred, their benefits say.
llvm::ArrayRef<llvm::StringRef> getNames();

/// The engine of that name, or null.
plan::EngineAttrInterface lookup(mlir::MLIRContext *context, llvm::StringRef name);

/// The dialects that engines try conversions in when they are asked what they take.
void insertDialects(mlir::DialectRegistry &registry);

/// Attaches the implementations of the engines' interfaces.
void registerModels(mlir::DialectRegistry &registry);

} // namespace latewood::engines
