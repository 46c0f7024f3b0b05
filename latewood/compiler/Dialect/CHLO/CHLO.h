// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `chlo` dialect in C++. CHLOOps.td says what it is for.

#ifndef LATEWOOD_COMPILER_DIALECT_CHLO_CHLO_H
#define LATEWOOD_COMPILER_DIALECT_CHLO_CHLO_H

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"

#include "latewood/compiler/Dialect/CHLO/CHLODialect.h.inc"

namespace latewood::chlo {

/// What the elements of a broadcasting op's result are: the operands', complex numbers of them, or booleans.
enum class BroadcastResult { Same, Complex, Predicate };

/// The result type of a broadcasting op. `dimensions` are those of the operand of lower rank in the result; without
/// them they are the last ones.
llvm::LogicalResult inferBroadcasting(llvm::StringRef op, std::optional<mlir::Location> location, mlir::Type lhs,
                                      mlir::Type rhs, std::optional<llvm::ArrayRef<int64_t>> dimensions,
                                      BroadcastResult result, llvm::SmallVectorImpl<mlir::Type> &types);

} // namespace latewood::chlo

#define GET_ATTRDEF_CLASSES
#include "latewood/compiler/Dialect/CHLO/CHLOAttributes.h.inc"

#define GET_OP_CLASSES
#include "latewood/compiler/Dialect/CHLO/CHLOOps.h.inc"

#endif // LATEWOOD_COMPILER_DIALECT_CHLO_CHLO_H
