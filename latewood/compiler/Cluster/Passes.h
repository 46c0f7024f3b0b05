// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Declarations of the passes of phase Cluster; each is described in Passes.td.
#pragma once
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace latewood::cluster {

#define GEN_PASS_DECL
#include "latewood/compiler/Cluster/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "latewood/compiler/Cluster/Passes.h.inc"

} // namespace latewood::cluster
