// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Declarations of the TensorRT engine's passes; each is described in Passes.td.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace latewood::tensorrt {

#define GEN_PASS_DECL
#include "latewood/compiler/Engines/TensorRT/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "latewood/compiler/Engines/TensorRT/Passes.h.inc"

} // namespace latewood::tensorrt
