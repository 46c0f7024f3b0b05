// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a verifier of this dialect says which constraint of a layer does not hold. Results are inferred before there is
// an op, so what is reported has a name and a location.

#ifndef LATEWOOD_COMPILER_DIALECT_TENSORRT_CONSTRAINTREPORT_H
#define LATEWOOD_COMPILER_DIALECT_TENSORRT_CONSTRAINTREPORT_H

#include "latewood/compiler/Dialect/StableHLO/Shapes.h"

namespace latewood::tensorrt {

/// `fail("C1", "requires …")`: always a failure.
struct ConstraintReport {
  std::optional<mlir::Location> location;
  llvm::StringRef op;

  template <typename... Args>
  llvm::LogicalResult operator()(llvm::StringRef constraint, Args &&...message) const {
    return stablehlo::emitConstraint(location, op, constraint, std::forward<Args>(message)...);
  }
};

} // namespace latewood::tensorrt

#endif // LATEWOOD_COMPILER_DIALECT_TENSORRT_CONSTRAINTREPORT_H
