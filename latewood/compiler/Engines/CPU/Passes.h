// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Declarations of the CPU engine's passes; each is described in Passes.td.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace latewood::cpu {

#define GEN_PASS_DECL
#include "latewood/compiler/Engines/CPU/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "latewood/compiler/Engines/CPU/Passes.h.inc"

} // namespace latewood::cpu
