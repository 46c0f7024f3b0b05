// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Declarations of the passes of phase Input; each is described in Passes.td.
#pragma once
#include "latewood/compiler/Dialect/CHLO/CHLO.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace latewood::input {

#define GEN_PASS_DECL
#include "latewood/compiler/Input/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "latewood/compiler/Input/Passes.h.inc"

} // namespace latewood::input
