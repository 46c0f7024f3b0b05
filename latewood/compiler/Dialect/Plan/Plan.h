// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `plan` dialect: see PlanOps.td.
#pragma once
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <string>

#include "latewood/compiler/Dialect/Plan/PlanAttrInterfaces.h.inc"
#include "latewood/compiler/Dialect/Plan/PlanDialect.h.inc"
#include "latewood/compiler/Dialect/Plan/PlanEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "latewood/compiler/Dialect/Plan/PlanAttributes.h.inc"

#define GET_OP_CLASSES
#include "latewood/compiler/Dialect/Plan/PlanOps.h.inc"

namespace latewood::plan {

/// The target that `op`'s module, or the nearest enclosing module that has one, was given; null if there is none.
TargetAttr getTarget(mlir::Operation *op);

} // namespace latewood::plan
