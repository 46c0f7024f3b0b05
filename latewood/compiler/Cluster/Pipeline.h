// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Phase Cluster: public functions become host programs that call cluster functions of the engines.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace latewood::cluster {

/// Clusters of the engines in `allocating` allocate their results.
void buildClusterPipeline(mlir::OpPassManager &pipeline, const std::vector<std::string> &engines,
                          const std::vector<std::string> &allocating);

/// No cluster has a region any more, and host functions compute nothing themselves.
mlir::LogicalResult verifyPostcondition(mlir::ModuleOp module);

} // namespace latewood::cluster
