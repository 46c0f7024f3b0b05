// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `chlo` dialect in C++. CHLOOps.td says what it is for.

#ifndef LATEWOOD_COMPILER_DIALECT_CHLO_CHLO_H
#define LATEWOOD_COMPILER_DIALECT_CHLO_CHLO_H

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"

#include "latewood/compiler/Dialect/CHLO/CHLODialect.h.inc"

#define GET_OP_CLASSES
#include "latewood/compiler/Dialect/CHLO/CHLOOps.h.inc"

#endif // LATEWOOD_COMPILER_DIALECT_CHLO_CHLO_H
