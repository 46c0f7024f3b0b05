// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `check` dialect.

#include "latewood/compiler/Dialect/Check/Check.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace latewood::check;

#include "latewood/compiler/Dialect/Check/CheckDialect.cpp.inc"

#define GET_OP_CLASSES
#include "latewood/compiler/Dialect/Check/CheckOps.cpp.inc"

void CheckDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "latewood/compiler/Dialect/Check/CheckOps.cpp.inc"
      >();
}
