// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `cpu` dialect: see CPUOps.td.
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

#include "latewood/compiler/Dialect/CPU/CPUDialect.h.inc"

#define GET_OP_CLASSES
#include "latewood/compiler/Dialect/CPU/CPUOps.h.inc"

namespace latewood::cpu {

/// A sum of different dimensions times positive constants, as pairs of dimension and factor; nothing if it is not one.
std::optional<llvm::SmallVector<std::pair<unsigned, int64_t>>> getLinearTerms(mlir::AffineExpr expression);

/// Whether each result is such a sum, and no dimension occurs twice.
bool isLinearMap(mlir::AffineMap map);

} // namespace latewood::cpu
