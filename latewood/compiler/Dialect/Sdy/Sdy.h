// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reduced form of the `sdy` dialect, in which frameworks annotate how tensors are spread over devices.
//
// Programs for one device carry such annotations too. They are kept as they were written: attributes verbatim, without
// a look inside, so that a module with them parses and prints back, and a later phase can drop what one device does not
// need.

#ifndef LATEWOOD_COMPILER_DIALECT_SDY_SDY_H
#define LATEWOOD_COMPILER_DIALECT_SDY_SDY_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "latewood/compiler/Dialect/Sdy/SdyDialect.h.inc"

#define GET_OP_CLASSES
#include "latewood/compiler/Dialect/Sdy/SdyOps.h.inc"

#endif // LATEWOOD_COMPILER_DIALECT_SDY_SDY_H
