// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `check` dialect: see CheckOps.td.
#pragma once
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

#include "latewood/compiler/Dialect/Check/CheckDialect.h.inc"

#define GET_OP_CLASSES
#include "latewood/compiler/Dialect/Check/CheckOps.h.inc"
